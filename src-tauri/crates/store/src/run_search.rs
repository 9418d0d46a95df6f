//! The `run_search` table: the words of runs. It holds no text, only where words occur; the texts are
//! read from the journal when they have to be indexed anew.

use contract::event::RunEvent;
use rusqlite::{Connection, params};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::event;

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

    use crate::open::Store;
    use crate::run_list::RunFilter;
    use crate::testing::{append, finished, open, reopened, started};

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
