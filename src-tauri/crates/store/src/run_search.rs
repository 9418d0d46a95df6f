//! The `run_search` table: the words of runs. It holds no text, only where words occur; the texts are
//! read from the journal when they have to be indexed anew.

use contract::event::RunEvent;
use contract::found::{Found, FoundIn};
use contract::ids::RunId;
use rusqlite::{Connection, params};
use sqlx::{SqliteConnection, SqlitePool};

use crate::error::StoreError;
use crate::run::RunRow;
use crate::snippet::{Piece, Wanted};
use crate::{event, payload};

/// A run's first entry and its last end, packed.
type Texts = (Option<Vec<u8>>, Option<Vec<u8>>);

const WRITE: &str = "INSERT OR REPLACE INTO run_search (rowid, title, goal, feedback) VALUES (?, ?, ?, ?)";

/// Indexes a run whose events of these kinds have just been inserted: its title and goal when it
/// starts, its feedback when it ends.
pub(crate) fn write<'a>(
    connection: &Connection,
    run: i64,
    events: impl Iterator<Item = &'a RunEvent> + Clone,
) -> Result<(), StoreError> {
    let Some(feedback) = worth_indexing(events) else {
        return Ok(());
    };
    let Some(first) = event::beginning(connection, run)? else {
        return Ok(());
    };
    let (title, goal) = words(&first);
    connection
        .prepare_cached(WRITE)?
        .execute(params![run, title, goal, feedback])?;
    Ok(())
}

/// Indexes a run anew, from its first event and its last end.
pub(crate) async fn index(connection: &mut SqliteConnection, run: i64, events: &[&RunEvent]) -> Result<(), StoreError> {
    let (Some(feedback), Some(first)) = (worth_indexing(events.iter().copied()), events.first()) else {
        return Ok(());
    };
    let (title, goal) = words(first);
    sqlx::query(WRITE)
        .bind(run)
        .bind(title)
        .bind(goal)
        .bind(feedback)
        .execute(connection)
        .await?;
    Ok(())
}

/// The feedback to index; none when nothing that is indexed has changed.
fn worth_indexing<'a>(events: impl Iterator<Item = &'a RunEvent> + Clone) -> Option<&'a str> {
    let ends = events.clone().filter_map(|event| match event {
        RunEvent::RunFinished { result } => Some(result.feedback.as_str()),
        _ => None,
    });
    let mut begins = events.filter(|event| matches!(event, RunEvent::RunStarted { .. }));
    ends.last().or_else(|| begins.next().map(|_| ""))
}

/// The title and the goal in a run's first event.
fn words(first: &RunEvent) -> (&str, &str) {
    match first {
        RunEvent::RunStarted { header } => (header.title.as_str(), header.task.goal.as_str()),
        _ => ("", ""),
    }
}

/// Forgets all words.
pub(crate) async fn clear(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM run_search").execute(connection).await?;
    Ok(())
}

/// The first event of a run and its last end, if it is at an end.
const TEXTS: &str = "SELECT
        (SELECT payload FROM event WHERE event.run = run.id AND event.seq = 1),
        CASE WHEN run.ended_at_ms IS NOT NULL THEN (
            SELECT payload FROM event WHERE event.run = run.id AND event.kind = 3 ORDER BY event.seq DESC LIMIT 1
        ) END
    FROM run WHERE run.id = ?";

/// Where the words that a person typed stand in runs that were found by them. What cannot be read is passed over: the
/// run is in the list without it.
pub(crate) async fn found(readers: &SqlitePool, typed: &str, runs: &[RunRow]) -> Result<Vec<Found>, StoreError> {
    let wanted = Wanted::new(typed);
    let mut all = Vec::new();
    if wanted.parts() == 0 {
        return Ok(all);
    }
    for run in runs {
        let texts: Option<Texts> = sqlx::query_as(TEXTS).bind(run.id).fetch_optional(readers).await?;
        let Some((first, end)) = texts else { continue };
        let read = |payload: Option<Vec<u8>>| payload.and_then(|payload| payload::read(&payload).ok());
        let (first, end) = (read(first), read(end));
        let (title, goal) = first.as_ref().map(words).unwrap_or_default();
        let feedback = end.as_ref().and_then(|end| worth_indexing([end].into_iter()));
        all.extend(
            best(&wanted, title, goal, feedback.unwrap_or_default()).map(|(place, piece)| Found {
                run_id: RunId::new(run.run_id.as_str()),
                place,
                text: piece.text,
                marks: piece.marks,
            }),
        );
    }
    Ok(all)
}

/// The piece with most of what is wanted. The title is in sight anyway: it is enough where it has all of it.
fn best(wanted: &Wanted, title: &str, goal: &str, feedback: &str) -> Option<(FoundIn, Piece)> {
    let title = wanted.piece(title).map(|piece| (FoundIn::Title, piece));
    if title.as_ref().is_some_and(|(_, piece)| piece.parts == wanted.parts()) {
        return title;
    }
    let goal = wanted.piece(goal).map(|piece| (FoundIn::Goal, piece));
    let feedback = wanted.piece(feedback).map(|piece| (FoundIn::Feedback, piece));
    // Of several that are as good, the last.
    [title, feedback, goal]
        .into_iter()
        .flatten()
        .max_by_key(|(_, piece)| piece.parts)
}

/// What a person typed, as an expression of FTS5: every word must occur, or begin one that does. None
/// when there is no word in it.
///
/// Each word is quoted, so nothing in it is syntax.
pub(crate) fn expression(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"*", word.replace('"', "\"\"")))
        .collect();
    if words.is_empty() { None } else { Some(words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use contract::run::StopReason;
    use proptest::prelude::*;

    use super::{FoundIn, TEXTS};
    use crate::open::Store;
    use crate::run_list::RunFilter;
    use crate::testing::{append, execute, explain, finished, open, reopened, started};

    async fn found(store: &Store, text: &str) -> Vec<String> {
        let filter = RunFilter {
            text: Some(text.to_owned()),
            ..RunFilter::default()
        };
        let page = store.runs().list(&filter, None, 100).await.unwrap();
        page.runs.into_iter().map(|run| run.title).collect()
    }

    #[tokio::test]
    async fn finds_words_of_title_goal_and_feedback_by_their_beginnings() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("Expenses of Zoë")]).await.unwrap();
        append(
            &store,
            2,
            1,
            vec![started("Travel"), finished(StopReason::Passed, "two flights match")],
        )
        .await
        .unwrap();
        for (text, expected) in [
            ("expenses", vec!["Expenses of Zoë"]),
            ("EXP", vec!["Expenses of Zoë"]),
            ("zoe", vec!["Expenses of Zoë"]),
            ("zo exp", vec!["Expenses of Zoë"]),
            ("flight", vec!["Travel"]),
            ("goal of", vec!["Travel", "Expenses of Zoë"]),
            ("flight expenses", vec![]),
            ("penses", vec![]),
            (" ", vec!["Travel", "Expenses of Zoë"]),
        ] {
            assert_eq!(found(&store, text).await, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn forgets_the_feedback_that_a_later_end_replaces() {
        let (_folder, store) = open().await;
        append(
            &store,
            1,
            1,
            vec![started("Travel"), finished(StopReason::MaxCycles, "wrong sum")],
        )
        .await
        .unwrap();
        append(
            &store,
            1,
            3,
            vec![reopened(), finished(StopReason::Passed, "right total")],
        )
        .await
        .unwrap();
        assert_eq!(found(&store, "wrong").await, Vec::<String>::new());
        assert_eq!(found(&store, "total travel").await, ["Travel"]);
    }

    #[tokio::test]
    async fn takes_the_syntax_of_queries_for_words() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("C++ AND \"quotes\" NEAR(the) end: a-b*")])
            .await
            .unwrap();
        for text in [
            "\"quotes",
            "AND",
            "NEAR(the)",
            "end:",
            "a-b*",
            "c++ \"",
            "title:",
            "^c",
            "{title}",
            "-",
        ] {
            let expected = usize::from(!matches!(text, "title:" | "{title}"));
            assert_eq!(found(&store, text).await.len(), expected, "{text}");
        }
    }

    /// Where a word was found, the words around it, and the marks in them.
    type Expected<'e> = (FoundIn, &'e str, &'e [(u32, u32)]);

    async fn check_found(text: &str, expected: &[Expected<'_>]) {
        let (_folder, store) = open().await;
        let ended = vec![
            started("Expenses of Zoë"),
            finished(StopReason::Passed, "two flights\nmatch"),
        ];
        append(&store, 1, 1, ended).await.unwrap();
        let filter = RunFilter {
            text: Some(text.to_owned()),
            ..RunFilter::default()
        };
        let page = store.runs().list(&filter, None, 100).await.unwrap();
        let mut shown = Vec::new();
        for found in &page.found {
            assert_eq!(found.run_id, page.runs[0].run_id);
            let marks: Vec<_> = found.marks.iter().map(|mark| (mark.from, mark.to)).collect();
            shown.push((found.place, found.text.clone(), marks));
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(place, text, marks)| (*place, (*text).to_owned(), marks.to_vec()))
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[tokio::test]
    async fn says_where_the_words_stand() {
        check_found("flight", &[(FoundIn::Feedback, "two flights match", &[(4, 11)])]).await;
        check_found("every", &[(FoundIn::Goal, "The goal of everything", &[(12, 22)])]).await;
        check_found("zoe exp", &[(FoundIn::Title, "Expenses of Zoë", &[(0, 8), (12, 15)])]).await;
        check_found(
            "zoe flights match",
            &[(FoundIn::Feedback, "two flights match", &[(4, 11), (12, 17)])],
        )
        .await;
        check_found("of", &[(FoundIn::Title, "Expenses of Zoë", &[(9, 11)])]).await;
        check_found("", &[]).await;
    }

    #[tokio::test]
    async fn what_is_shown_is_read_by_its_key() {
        let (_folder, store) = open().await;
        let plan = explain(&store, TEXTS, &["1"]).await;
        assert!(!plan.contains("SCAN event") && !plan.contains("B-TREE"), "{plan}");
        assert!(
            plan.contains("SEARCH event USING PRIMARY KEY (run=? AND seq=?)"),
            "{plan}"
        );
    }

    #[tokio::test]
    async fn a_run_that_cannot_be_read_is_found_without_its_words() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("Travel")]).await.unwrap();
        execute(&store, "UPDATE event SET payload = x'00' WHERE seq = 1").await;
        let filter = RunFilter {
            text: Some("goal".to_owned()),
            ..RunFilter::default()
        };
        let page = store.runs().list(&filter, None, 100).await.unwrap();
        assert_eq!((page.runs.len(), page.found.len()), (1, 0));
    }

    #[test]
    fn anything_typed_is_a_valid_query() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (_folder, store) = runtime.block_on(open());
        proptest!(ProptestConfig::with_cases(200), |(text in "(?s).{0,40}")| {
            runtime.block_on(found(&store, &text));
        });
    }
}
