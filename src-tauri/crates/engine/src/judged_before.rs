//! Judgements that need not be asked for again: the same criterion about the same results, by the same model, told the
//! same way (criteria page: "same inputs, same verdict"). Kept for one run; on resume it is filled from the journal.

use std::collections::HashMap;
use std::sync::Arc;

use contract::criterion::Criterion;
use contract::evaluation::{CriterionResult, CriterionVerdict};
use contract::event::{JudgeWords, NamedHash};
use contract::hash::Hash;
use serde_json::json;

/// What a run's judge said so far.
#[derive(Debug, Default)]
pub struct JudgedBefore {
    results: HashMap<Hash, Said>,
}

/// A judgement with what was said in the same breath.
#[derive(Debug)]
struct Said {
    result: CriterionResult,
    words: Arc<JudgeWords>,
}

/// Judgements that stand, with what was said with them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reused {
    /// One for each criterion that need not be asked for.
    pub results: Vec<CriterionResult>,
    /// As sure as the least sure of them was; the feedback of those that failed, the summary of those that passed.
    pub words: Option<JudgeWords>,
}

impl JudgedBefore {
    /// What was said about these criteria and these results.
    pub fn find(&self, criteria: &[&Criterion], shown: &[NamedHash], model: &str, prompt: &Hash) -> Reused {
        let mut reused = Reused::default();
        for criterion in criteria {
            let found = address(criterion, shown, model, prompt).and_then(|address| self.results.get(&address));
            let Some(Said { result, words }) = found else {
                continue;
            };
            reused.results.push(CriterionResult {
                id: criterion.id.clone(),
                ..result.clone()
            });
            let (feedback, summary) = match result.verdict {
                CriterionVerdict::Pass => (None, words.summary.as_deref()),
                _ => (words.feedback.as_deref(), None),
            };
            let all = reused.words.get_or_insert(JudgeWords {
                confidence: words.confidence,
                feedback: None,
                summary: None,
            });
            all.confidence = all.confidence.min(words.confidence);
            join(&mut all.feedback, feedback);
            join(&mut all.summary, summary);
        }
        reused
    }

    /// Remembers a judgement with what was said with it. One that is `unknown` says nothing that would be worth
    /// keeping.
    pub fn learn(
        &mut self,
        criterion: &Criterion,
        result: &CriterionResult,
        words: &Arc<JudgeWords>,
        shown: &[NamedHash],
        model: &str,
        prompt: &Hash,
    ) {
        match result.verdict {
            CriterionVerdict::Pass | CriterionVerdict::Fail => {}
            CriterionVerdict::Unknown | CriterionVerdict::NotJudged => return,
        }
        if let Some(address) = address(criterion, shown, model, prompt) {
            self.results.entry(address).or_insert_with(|| Said {
                result: result.clone(),
                words: Arc::clone(words),
            });
        }
    }
}

/// Adds what was not said yet.
fn join(all: &mut Option<String>, more: Option<&str>) {
    match (all, more) {
        (_, None) => {}
        (Some(all), Some(more)) if all.contains(more) => {}
        (Some(all), Some(more)) => *all = format!("{all}\n\n{more}"),
        (all @ None, Some(more)) => *all = Some(more.to_owned()),
    }
}

/// A criterion is about everything that the judge was shown: one of a file may speak of another, and its evidence may
/// stand in any.
fn address(criterion: &Criterion, shown: &[NamedHash], model: &str, prompt: &Hash) -> Option<Hash> {
    let of =
        json!({ "text": criterion.text, "path": criterion.path, "about": shown, "model": model, "prompt": prompt });
    Hash::of_value(&of).ok()
}

#[cfg(test)]
mod tests {
    use contract::criterion::DecidedBy;

    use super::*;

    const PASS: CriterionVerdict = CriterionVerdict::Pass;
    const FAIL: CriterionVerdict = CriterionVerdict::Fail;

    fn criterion(id: &str) -> Criterion {
        Criterion {
            id: id.to_owned(),
            path: Some("report.md".to_owned()),
            text: format!("{id}: the total agrees with flagged.csv"),
            check: None,
            required: true,
            weight: 1.0,
        }
    }

    fn shown(report: &str, flagged: &str) -> [NamedHash; 2] {
        [("report.md", report), ("flagged.csv", flagged)].map(|(name, text)| NamedHash {
            name: name.to_owned(),
            hash: Hash::of_bytes(text.as_bytes()),
        })
    }

    fn words(confidence: f64, feedback: &str) -> Arc<JudgeWords> {
        Arc::new(JudgeWords {
            confidence,
            feedback: Some(feedback.to_owned()),
            summary: Some("Half of it is done.".to_owned()),
        })
    }

    /// A judge that said this about `a` and `b` when both files held "1".
    fn judged(verdicts: [CriterionVerdict; 2]) -> JudgedBefore {
        let mut before = JudgedBefore::default();
        for (id, verdict) in ["a", "b"].into_iter().zip(verdicts) {
            let result = CriterionResult {
                id: id.to_owned(),
                verdict,
                evidence: "1".to_owned(),
                by: DecidedBy::Model,
                observed: None,
            };
            let said = words(0.4, "step_2 counts wrongly");
            before.learn(
                &criterion(id),
                &result,
                &said,
                &shown("1", "1"),
                "m",
                &Hash::of_bytes(b"p"),
            );
        }
        before
    }

    fn found(before: &JudgedBefore, shown: &[NamedHash]) -> Reused {
        before.find(&[&criterion("a"), &criterion("b")], shown, "m", &Hash::of_bytes(b"p"))
    }

    #[test]
    fn a_criterion_is_judged_again_when_a_result_that_it_speaks_of_has_changed() {
        let before = judged([PASS, FAIL]);
        assert_eq!(found(&before, &shown("1", "1")).results.len(), 2);
        assert_eq!(found(&before, &shown("1", "2")), Reused::default());
        assert_eq!(found(&before, &shown("2", "1")), Reused::default());
    }

    #[test]
    fn a_failure_that_stands_keeps_its_words_and_its_confidence() {
        let said = |verdicts| found(&judged(verdicts), &shown("1", "1")).words;
        let expected = |feedback: Option<&str>, summary: Option<&str>| {
            Some(JudgeWords {
                confidence: 0.4,
                feedback: feedback.map(str::to_owned),
                summary: summary.map(str::to_owned),
            })
        };
        assert_eq!(said([FAIL, FAIL]), expected(Some("step_2 counts wrongly"), None));
        assert_eq!(said([PASS, PASS]), expected(None, Some("Half of it is done.")));
        assert_eq!(said([CriterionVerdict::Unknown, CriterionVerdict::NotJudged]), None);
    }
}
