//! What must not be there is looked for: the judge names the words, the app looks in all of the result (criteria page:
//! "for something that must be absent it names what was looked for, and the app looks too").
//!
//! Only a criterion that asks for an absence can be shown to hold by one; otherwise any words that nobody wrote would be
//! evidence for everything.

use std::collections::HashMap;

use contract::criterion::{Criterion, DecidedBy};
use contract::evaluation::{CriterionResult, CriterionVerdict};

use crate::artifacts::Shown;
use crate::evidence::{self, Searchable};
use crate::judgement::NO_EVIDENCE;

/// The criterion that speaks of the goal, which asks for whatever the goal asks for.
const GOAL: &str = "goal";

/// Whether a criterion can be shown to hold by what is not there.
pub fn may_show(criterion: &Criterion, goal: &str) -> bool {
    let text = if criterion.id == GOAL { goal } else { &criterion.text };
    evidence::speaks_of_absence(text)
}

/// Results to look in; each is made ready once.
pub struct Search<'a> {
    shown: &'a [Shown],
    ready: HashMap<&'a str, Searchable>,
}

impl<'a> Search<'a> {
    /// In these results.
    pub fn new(shown: &'a [Shown]) -> Self {
        Self {
            shown,
            ready: HashMap::new(),
        }
    }

    /// What comes of looking for these words, for a criterion that they would show to hold: in its file, or in all
    /// results when it has none.
    pub fn look(&mut self, criterion: &Criterion, goal: &str, words: &str) -> CriterionResult {
        let (verdict, evidence) = match self.problem(criterion, goal, words) {
            Some(problem) => (CriterionVerdict::Unknown, problem),
            None => (CriterionVerdict::Pass, format!("\"{words}\" does not occur")),
        };
        CriterionResult {
            id: criterion.id.clone(),
            verdict,
            evidence,
            by: DecidedBy::App,
            observed: None,
        }
    }

    fn problem(&mut self, criterion: &Criterion, goal: &str, words: &str) -> Option<String> {
        if words.is_empty() {
            return Some(NO_EVIDENCE.to_owned());
        }
        if !may_show(criterion, goal) {
            return Some(format!(
                "the judge says that \"{words}\" is absent, which shows nothing about this criterion"
            ));
        }
        let path = criterion.path.as_deref();
        let shown = self.shown;
        let mut places = shown
            .iter()
            .filter(|shown| path.is_none_or(|path| path == shown.name))
            .peekable();
        if places.peek().is_none() {
            return Some(format!("there is nothing in which \"{words}\" could be looked for"));
        }
        for place in places {
            let Some(whole) = &place.whole else {
                return Some(format!(
                    "\"{words}\" cannot be looked for in {}: it cannot be looked through, or has changed since",
                    place.name
                ));
            };
            let ready = self.ready.entry(&place.name).or_insert_with(|| Searchable::new(whole));
            if ready.holds(words) {
                return Some(format!("the judge says that \"{words}\" is absent, but it is there"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use contract::hash::Hash;

    use super::*;

    fn shown(name: &str, whole: Option<String>) -> Shown {
        Shown {
            name: name.to_owned(),
            text: String::new(),
            more: 0,
            remark: None,
            whole,
            hash: Hash::of_bytes(b""),
        }
    }

    fn check(text: &str, path: Option<&str>, words: &str, expected: &str) {
        let criterion = Criterion {
            id: "a".to_owned(),
            path: path.map(str::to_owned),
            text: text.to_owned(),
            check: None,
            required: true,
            weight: 1.0,
        };
        let long = format!("{}one TODO", "words ".repeat(20_000));
        let results = [
            shown("long.md", Some(long)),
            shown("short.md", Some("done".to_owned())),
            shown("picture.png", None),
        ];
        let result = Search::new(&results).look(&criterion, "Sing", words);
        assert_eq!(result.evidence, expected);
        assert_eq!(
            result.verdict == CriterionVerdict::Pass,
            expected.ends_with("does not occur")
        );
    }

    #[test]
    fn words_are_looked_for_in_all_of_a_file() {
        check("No TODO is left", Some("short.md"), "TODO", "\"TODO\" does not occur");
        let there = "the judge says that \"TODO\" is absent, but it is there";
        check("No TODO is left", Some("long.md"), "TODO", there);
        check("No TODO is left", None, "TODO", there);
    }

    #[test]
    fn what_cannot_be_looked_through_shows_nothing() {
        let closed = "\"TODO\" cannot be looked for in picture.png: it cannot be looked through, or has changed since";
        check("No TODO is left", Some("picture.png"), "TODO", closed);
        let nowhere = "there is nothing in which \"TODO\" could be looked for";
        check("No TODO is left", Some("gone.md"), "TODO", nowhere);
        check("No TODO is left", Some("short.md"), "", NO_EVIDENCE);
    }

    #[test]
    fn an_absence_is_no_evidence_for_something_else() {
        let nothing = "the judge says that \"zzz\" is absent, which shows nothing about this criterion";
        check("Names every month", Some("short.md"), "zzz", nothing);
    }
}
