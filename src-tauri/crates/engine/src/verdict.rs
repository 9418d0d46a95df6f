//! The verdict over all criteria: pure decisions (criteria page).

use contract::criterion::{Criterion, DecidedBy};
use contract::evaluation::{CriterionResult, CriterionVerdict, Evaluation, Verdict};
use serde_json::Value;

/// Pass only if every required criterion passes; `unknown` never does.
pub fn verdict(criteria: &[Criterion], results: &[CriterionResult]) -> Verdict {
    if missing(criteria, results).is_empty() {
        Verdict::Pass
    } else {
        Verdict::Fail
    }
}

/// The required criteria that do not pass, with what was found.
pub fn missing<'c>(
    criteria: &'c [Criterion],
    results: &'c [CriterionResult],
) -> Vec<(&'c Criterion, Option<&'c CriterionResult>)> {
    criteria
        .iter()
        .filter(|criterion| criterion.required)
        .map(|criterion| (criterion, results.iter().find(|result| result.id == criterion.id)))
        .filter(|(_, result)| result.is_none_or(|result| result.verdict != CriterionVerdict::Pass))
        .collect()
}

/// Whether a required criterion was checked and does not hold. One that nobody allowed to be checked decides nothing.
pub fn fails_a_check(criteria: &[Criterion], results: &[CriterionResult]) -> bool {
    let missing = missing(criteria, results);
    missing
        .iter()
        .any(|(_, result)| result.is_none_or(|result| !is_refused(result)))
}

/// Whether everything that keeps results from passing is that a person did not allow it to be checked: no other plan
/// could change that.
pub fn only_refused(criteria: &[Criterion], results: &[CriterionResult]) -> bool {
    let missing = missing(criteria, results);
    !missing.is_empty() && missing.iter().all(|(_, result)| result.is_some_and(is_refused))
}

/// Only a check that a person did not allow is undecided by the app.
fn is_refused(result: &CriterionResult) -> bool {
    result.by == DecidedBy::App && result.verdict == CriterionVerdict::Unknown
}

/// The ids of criteria that do not pass, in order.
pub fn failed_ids(results: &[CriterionResult]) -> Vec<String> {
    let failed = results.iter().filter(|result| result.verdict != CriterionVerdict::Pass);
    failed.map(|result| result.id.clone()).collect()
}

/// A verdict as a hook left it.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(value: &Value) -> Result<Evaluation, String> {
    let evaluation: Evaluation = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    if !(0.0..=1.0).contains(&evaluation.confidence) {
        return Err("\"confidence\" must be a number between 0 and 1".to_owned());
    }
    let says = |words: &Option<String>| words.as_ref().is_some_and(|words| !words.trim().is_empty());
    match evaluation.verdict {
        Verdict::Fail if !says(&evaluation.feedback) => {
            Err("\"feedback\" must say what to change when the verdict is \"fail\"".to_owned())
        }
        Verdict::Pass if !says(&evaluation.summary) => Ok(Evaluation {
            summary: Some("Passed by a hook.".to_owned()),
            ..evaluation
        }),
        Verdict::Pass | Verdict::Fail => Ok(evaluation),
    }
}

/// The weighted mean of what passed, 0 to 1; 1 when nothing has any weight.
pub fn score(criteria: &[Criterion], results: &[CriterionResult]) -> f64 {
    let total: f64 = criteria.iter().map(|criterion| criterion.weight).sum();
    if total <= 0.0 {
        return 1.0;
    }
    let passed = criteria.iter().filter(|criterion| {
        results
            .iter()
            .any(|result| result.id == criterion.id && result.verdict == CriterionVerdict::Pass)
    });
    passed.map(|criterion| criterion.weight).sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(id: &str, required: bool, weight: f64) -> Criterion {
        Criterion {
            id: id.to_owned(),
            path: None,
            text: id.to_owned(),
            check: None,
            required,
            weight,
        }
    }

    fn found(id: &str, verdict: CriterionVerdict) -> CriterionResult {
        CriterionResult {
            id: id.to_owned(),
            verdict,
            evidence: String::new(),
            by: DecidedBy::Model,
            observed: None,
        }
    }

    fn check(results: &[CriterionResult], expected: Verdict, expected_score: f64) {
        let criteria = [criterion("must", true, 3.0), criterion("nice", false, 1.0)];
        assert_eq!(verdict(&criteria, results), expected);
        assert!(
            (score(&criteria, results) - expected_score).abs() < 1e-9,
            "{}",
            score(&criteria, results)
        );
    }

    #[test]
    fn passes_without_what_is_nice_to_have() {
        check(
            &[
                found("must", CriterionVerdict::Pass),
                found("nice", CriterionVerdict::Fail),
            ],
            Verdict::Pass,
            0.75,
        );
    }

    #[test]
    fn unknown_and_unanswered_never_pass() {
        check(
            &[
                found("must", CriterionVerdict::Unknown),
                found("nice", CriterionVerdict::Pass),
            ],
            Verdict::Fail,
            0.25,
        );
        check(&[], Verdict::Fail, 0.0);
    }

    #[test]
    fn what_nobody_allowed_to_be_checked_keeps_from_passing_and_decides_nothing_else() {
        let criteria = [criterion("one", true, 1.0), criterion("other", true, 1.0)];
        let refused = CriterionResult {
            by: DecidedBy::App,
            ..found("one", CriterionVerdict::Unknown)
        };
        let with = |other| [refused.clone(), found("other", other)];
        let passes = with(CriterionVerdict::Pass);
        assert_eq!(verdict(&criteria, &passes), Verdict::Fail);
        assert!(!fails_a_check(&criteria, &passes) && only_refused(&criteria, &passes));
        let fails = with(CriterionVerdict::Fail);
        assert!(fails_a_check(&criteria, &fails) && !only_refused(&criteria, &fails));
        // A judge that cannot tell is another matter: the next plan may help it.
        let unsure = with(CriterionVerdict::Unknown);
        assert!(!only_refused(&criteria, &unsure));
        let nice = [criterion("one", false, 1.0)];
        assert!(!only_refused(&nice, &[refused]));
    }
}
