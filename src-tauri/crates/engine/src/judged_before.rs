//! Judgements that need not be asked for again: the same criterion about the same results, by the same model, told the
//! same way (criteria page: "same inputs, same verdict"). Kept for one run; on resume it is filled from the journal.

use std::collections::HashMap;

use contract::criterion::Criterion;
use contract::evaluation::{CriterionResult, CriterionVerdict};
use contract::event::NamedHash;
use contract::hash::Hash;
use serde_json::json;

/// What a run's judge said so far.
#[derive(Debug, Default)]
pub struct JudgedBefore {
    results: HashMap<Hash, CriterionResult>,
}

impl JudgedBefore {
    /// What was said about this criterion and these results.
    pub fn find(
        &self,
        criterion: &Criterion,
        shown: &[NamedHash],
        model: &str,
        prompt: &Hash,
    ) -> Option<CriterionResult> {
        let found = self.results.get(&address(criterion, shown, model, prompt)?)?;
        Some(CriterionResult {
            id: criterion.id.clone(),
            ..found.clone()
        })
    }

    /// Remembers a judgement. One that is `unknown` says nothing that would be worth keeping.
    pub fn learn(
        &mut self,
        criterion: &Criterion,
        result: &CriterionResult,
        shown: &[NamedHash],
        model: &str,
        prompt: &Hash,
    ) {
        match result.verdict {
            CriterionVerdict::Pass | CriterionVerdict::Fail => {}
            CriterionVerdict::Unknown | CriterionVerdict::NotJudged => return,
        }
        if let Some(address) = address(criterion, shown, model, prompt) {
            self.results.entry(address).or_insert_with(|| result.clone());
        }
    }
}

/// A criterion is about everything that the judge was shown: one of a file may speak of another, and its evidence may
/// stand in any.
fn address(criterion: &Criterion, shown: &[NamedHash], model: &str, prompt: &Hash) -> Option<Hash> {
    let of =
        json!({ "text": criterion.text, "path": criterion.path, "about": shown, "model": model, "prompt": prompt });
    Hash::of_value(&of).ok()
}
