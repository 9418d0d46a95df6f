//! A judge's reply: its shape, and what is left of it when the evidence is looked up.

use contract::criterion::DecidedBy;
use contract::evaluation::{CriterionResult, CriterionVerdict, Verdict};
use contract::event::JudgeWords;
use contract::llm::{FinishReason, LlmResponse};
use serde_json::{Value, json};

use crate::evidence::Quotable;
use crate::json_reply;
use crate::judged_before::Reused;

/// Why a pass without evidence is none.
pub const NO_EVIDENCE: &str = "the judge gave no evidence";

/// Why a criterion that a reply does not mention is unknown.
const NOT_SAID: &str = "the judge did not say";

/// What a judge says about the criteria that it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Overall.
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
    /// What to change.
    pub feedback: Option<String>,
    /// What was accomplished.
    pub summary: Option<String>,
    /// One result for each criterion.
    pub criteria: Vec<CriterionResult>,
    /// What it cost.
    pub tokens_used: u64,
    /// The criteria about which the judge's own words say nothing: it did not mention them, or they passed in its eyes.
    pub unheard: Vec<String>,
    // The places in `criteria` whose evidence is something that must be absent.
    absent: Vec<bool>,
}

/// The shape that a judge is asked for.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["verdict", "confidence", "criteria"],
        "properties": {
            "verdict": { "enum": ["pass", "fail"] },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "feedback": { "type": "string" },
            "summary": { "type": "string" },
            "criteria": { "type": "array", "items": {
                "type": "object",
                "required": ["id", "verdict", "evidence"],
                "properties": {
                    "id": { "type": "string" },
                    "verdict": { "enum": ["pass", "fail", "unknown"] },
                    "evidence": { "type": "string" },
                    "absent": { "type": "boolean" },
                },
            } },
        },
    })
}

/// What a judge accomplished who passes without a word (the public implementation's text).
const NO_SUMMARY: &str = "Pipeline completed successfully.";

/// Reads a reply about these criteria. One that the reply does not mention is `unknown`.
///
/// # Errors
/// Everything that is wrong with it, for the one retry.
pub fn read(response: &LlmResponse, ids: &[&str]) -> Result<Judgement, Vec<String>> {
    if response.finish_reason == FinishReason::MaxTokens {
        return Err(vec![
            "The reply was cut off before it was complete; quote shorter passages".to_owned(),
        ]);
    }
    let value = json_reply::object_in(&response.text, "verdict").map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let verdict = match value.get("verdict").and_then(Value::as_str) {
        Some("pass") => Verdict::Pass,
        Some("fail") => Verdict::Fail,
        _ => {
            problems.push("\"verdict\" must be \"pass\" or \"fail\"".to_owned());
            Verdict::Fail
        }
    };
    let confidence = value
        .get("confidence")
        .and_then(Value::as_f64)
        .filter(|number| (0.0..=1.0).contains(number));
    if confidence.is_none() {
        problems.push("\"confidence\" must be a number between 0 and 1".to_owned());
    }
    let feedback = text("feedback");
    if verdict == Verdict::Fail && feedback.is_none() {
        problems.push("\"feedback\" must say what to change when the verdict is \"fail\"".to_owned());
    }
    // Optional on a pass (seed tepa-pipeline-in-detail, "Evaluator"); a passing cycle always has one.
    let summary = text("summary").or_else(|| (verdict == Verdict::Pass).then(|| NO_SUMMARY.to_owned()));
    let Some(entries) = value.get("criteria").and_then(Value::as_array) else {
        problems.push("\"criteria\" must be an array with one entry for each criterion".to_owned());
        return Err(problems);
    };
    let (criteria, absent): (Vec<CriterionResult>, _) = ids.iter().map(|id| result(id, entries, &mut problems)).unzip();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Judgement {
        verdict,
        confidence: confidence.unwrap_or(0.0),
        feedback,
        summary,
        unheard: criteria
            .iter()
            .filter(|result| result.evidence == NOT_SAID)
            .map(|result| result.id.clone())
            .collect(),
        criteria,
        tokens_used: 0,
        absent,
    })
}

fn result(id: &str, entries: &[Value], problems: &mut Vec<String>) -> (CriterionResult, bool) {
    let entry = entries
        .iter()
        .find(|entry| entry.get("id").and_then(Value::as_str) == Some(id));
    let Some(entry) = entry else {
        return (judged(id, CriterionVerdict::Unknown, NOT_SAID), false);
    };
    let verdict = match entry.get("verdict").and_then(Value::as_str) {
        Some("pass") => CriterionVerdict::Pass,
        Some("fail") => CriterionVerdict::Fail,
        Some("unknown") => CriterionVerdict::Unknown,
        _ => {
            problems.push(format!(
                "the \"verdict\" of criterion \"{id}\" must be \"pass\", \"fail\" or \"unknown\""
            ));
            CriterionVerdict::Unknown
        }
    };
    let evidence = entry.get("evidence").and_then(Value::as_str).unwrap_or_default().trim();
    let absent = entry.get("absent").and_then(Value::as_bool).unwrap_or(false);
    (judged(id, verdict, evidence), absent)
}

fn judged(id: &str, verdict: CriterionVerdict, evidence: &str) -> CriterionResult {
    CriterionResult {
        id: id.to_owned(),
        verdict,
        evidence: evidence.to_owned(),
        by: DecidedBy::Model,
        observed: None,
    }
}

impl Judgement {
    /// What is known already; alone, it passes when all of it passes.
    pub fn of(known: Reused) -> Self {
        let passes = known
            .results
            .iter()
            .all(|result| result.verdict == CriterionVerdict::Pass);
        let words = known.words.unwrap_or(JudgeWords {
            confidence: 1.0,
            feedback: None,
            summary: None,
        });
        Self {
            verdict: if passes { Verdict::Pass } else { Verdict::Fail },
            confidence: words.confidence,
            feedback: words.feedback,
            summary: words.summary,
            absent: vec![false; known.results.len()],
            criteria: known.results,
            tokens_used: 0,
            unheard: Vec::new(),
        }
    }

    /// Two judgements as one: as sure as the less sure of them, and passed only if both are.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
            match (one, other) {
                (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
                (one, other) => one.or(other),
            }
        }
        if other.verdict == Verdict::Fail {
            self.verdict = Verdict::Fail;
        }
        self.confidence = self.confidence.min(other.confidence);
        self.feedback = joined(self.feedback, other.feedback);
        self.summary = joined(self.summary, other.summary);
        self.criteria.extend(other.criteria);
        self.absent.extend(other.absent);
        self.unheard.extend(other.unheard);
        self.tokens_used += other.tokens_used;
        self
    }

    /// The seed's synthetic fail for a judge that answered unusably twice.
    pub fn unparseable(reply: &str, ids: &[&str]) -> Self {
        let shown: String = reply.chars().take(500).collect();
        Self {
            verdict: Verdict::Fail,
            confidence: 0.0,
            feedback: Some(format!("Evaluator produced unparseable response after retry: {shown}")),
            summary: None,
            criteria: ids
                .iter()
                .map(|id| judged(id, CriterionVerdict::Unknown, "the judge's answer could not be read"))
                .collect(),
            tokens_used: 0,
            unheard: Vec::new(),
            absent: vec![false; ids.len()],
        }
    }

    /// The passes that rest on something that must be absent: the criterion's id, and what was looked for.
    pub fn absences(&self) -> Vec<(String, String)> {
        let claims = self.criteria.iter().zip(&self.absent);
        claims
            .filter(|(result, absent)| **absent && result.verdict == CriterionVerdict::Pass)
            .map(|(result, _)| (result.id.clone(), result.evidence.clone()))
            .collect()
    }

    /// Looks the evidence of every pass and every fail up in what the judge was sent; not found there, the criterion is
    /// `unknown`. For a pass on something that must be absent counts what came of looking for it; a fail may say that
    /// something is missing, which cannot be quoted.
    #[must_use]
    pub fn verified(mut self, sent: &str, looked: &[CriterionResult]) -> Self {
        let quotable = Quotable::new(sent);
        for (result, absent) in self.criteria.iter_mut().zip(&self.absent) {
            let decided = match result.verdict {
                CriterionVerdict::Pass => {
                    let looked = looked.iter().find(|looked| *absent && looked.id == result.id);
                    verified_pass(result, *absent, looked, &quotable)
                }
                CriterionVerdict::Fail => verified_fail(result, *absent, &quotable),
                CriterionVerdict::Unknown | CriterionVerdict::NotJudged => None,
            };
            let Some((verdict, evidence)) = decided else { continue };
            if result.verdict == CriterionVerdict::Pass && verdict != CriterionVerdict::Pass {
                self.unheard.push(result.id.clone());
            }
            result.verdict = verdict;
            result.evidence = evidence;
        }
        self
    }

    /// Notes what the judge cost.
    #[must_use]
    pub fn costing(mut self, tokens: u64) -> Self {
        self.tokens_used = tokens;
        self
    }
}

/// What becomes of a pass; none when it stands as it is.
fn verified_pass(
    result: &CriterionResult,
    absent: bool,
    looked: Option<&CriterionResult>,
    quotable: &Quotable,
) -> Option<(CriterionVerdict, String)> {
    if let Some(looked) = looked {
        return Some((looked.verdict, looked.evidence.clone()));
    }
    if result.evidence.is_empty() {
        return Some((CriterionVerdict::Unknown, NO_EVIDENCE.to_owned()));
    }
    match (quotable.holds(&result.evidence), absent) {
        (true, false) => None,
        // An older run, which looked in what the judge was shown and nowhere else.
        (false, true) => Some((
            CriterionVerdict::Pass,
            format!("\"{}\" does not occur", result.evidence),
        )),
        (true, true) | (false, false) => Some(not_found(&result.evidence)),
    }
}

/// What becomes of a fail; none when it stands as it is.
fn verified_fail(result: &CriterionResult, absent: bool, quotable: &Quotable) -> Option<(CriterionVerdict, String)> {
    let stands = result.evidence.is_empty() || absent != quotable.holds(&result.evidence);
    (!stands).then(|| not_found(&result.evidence))
}

fn not_found(quotation: &str) -> (CriterionVerdict, String) {
    (
        CriterionVerdict::Unknown,
        format!("the judge quoted \"{quotation}\", which stands in no result"),
    )
}

#[cfg(test)]
mod tests {
    use contract::llm::Usage;

    use super::*;

    fn reply(value: &Value) -> LlmResponse {
        LlmResponse {
            text: value.to_string(),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage: Usage::default(),
            model: "m".to_owned(),
            request_id: None,
        }
    }

    fn check(entry: Value, expected: CriterionVerdict) {
        let value = json!({ "verdict": "pass", "confidence": 1, "summary": "Done.", "criteria": [entry] });
        let sent = "<data name=\"a.md\">\nTravel rose in May.\n</data>";
        let found = read(&reply(&value), &["a"]).map(|judgement| judgement.verified(sent, &[]).criteria[0].verdict);
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn a_pass_needs_evidence_that_is_really_there() {
        check(
            json!({ "id": "a", "verdict": "pass", "evidence": "Travel rose" }),
            CriterionVerdict::Pass,
        );
        check(
            json!({ "id": "a", "verdict": "pass", "evidence": "Travel fell" }),
            CriterionVerdict::Unknown,
        );
        check(
            json!({ "id": "a", "verdict": "pass", "evidence": "" }),
            CriterionVerdict::Unknown,
        );
        check(
            json!({ "id": "b", "verdict": "pass", "evidence": "Travel rose" }),
            CriterionVerdict::Unknown,
        );
    }

    #[test]
    fn a_fail_needs_evidence_that_is_really_there_or_none() {
        let fails = |evidence: &str| json!({ "id": "a", "verdict": "fail", "evidence": evidence });
        check(fails("Travel rose"), CriterionVerdict::Fail);
        check(fails(""), CriterionVerdict::Fail);
        check(fails("Travel fell"), CriterionVerdict::Unknown);
        let missing = |evidence: &str| json!({ "id": "a", "verdict": "fail", "evidence": evidence, "absent": true });
        check(missing("Food"), CriterionVerdict::Fail);
        check(missing("Travel"), CriterionVerdict::Unknown);
    }

    #[test]
    fn what_the_judges_own_words_are_not_about_is_kept_apart() {
        let says =
            |id: &str, verdict: &str, evidence: &str| json!({ "id": id, "verdict": verdict, "evidence": evidence });
        let entries = [
            says("a", "fail", "Travel"),
            says("b", "pass", "Travel fell"),
            says("c", "pass", "Travel rose"),
        ];
        let value = json!({ "verdict": "fail", "confidence": 1, "feedback": "a is wrong", "criteria": entries });
        let sent = "<data name=\"a.md\">\nTravel rose in May.\n</data>";
        let judgement = read(&reply(&value), &["a", "b", "c", "d"]).unwrap().verified(sent, &[]);
        assert_eq!(judgement.unheard, ["d", "b"]);
    }

    #[test]
    fn of_what_must_be_absent_counts_what_came_of_looking_for_it() {
        let entry =
            |id: &str, absent: bool| json!({ "id": id, "verdict": "pass", "evidence": "TODO", "absent": absent });
        let value = json!({ "verdict": "pass", "confidence": 1, "summary": "Done.", "criteria": [entry("a", true), entry("b", true), entry("c", false)] });
        let judgement = read(&reply(&value), &["a", "b", "c"]).unwrap();
        let claims = judgement.absences();
        assert_eq!(claims, ["a", "b"].map(|id| (id.to_owned(), "TODO".to_owned())));
        let looked = |id: &str, verdict| judged(id, verdict, "looked");
        let (pass, unknown) = (CriterionVerdict::Pass, CriterionVerdict::Unknown);
        let after = judgement.verified("", &[looked("a", pass), looked("b", unknown), looked("c", pass)]);
        let verdicts: Vec<_> = after.criteria.iter().map(|result| result.verdict).collect();
        assert_eq!(verdicts, [pass, unknown, unknown], "c is no claim of absence");
    }

    #[test]
    fn a_verdict_that_fails_without_feedback_is_none() {
        let failed = |feedback: Option<&str>| {
            let mut value = json!({ "verdict": "fail", "confidence": 1, "criteria": [{ "id": "a", "verdict": "fail", "evidence": "e" }] });
            value["feedback"] = json!(feedback);
            read(&reply(&value), &["a"]).map(|judgement| judgement.feedback)
        };
        let problem = "\"feedback\" must say what to change when the verdict is \"fail\"";
        for silent in [None, Some(""), Some(" \n")] {
            assert_eq!(failed(silent), Err(vec![problem.to_owned()]), "{silent:?}");
        }
        assert_eq!(failed(Some("Write more.")), Ok(Some("Write more.".to_owned())));
    }

    #[test]
    fn lists_everything_that_is_wrong() {
        let value = json!({ "verdict": "maybe", "confidence": 2, "criteria": [{ "id": "a", "verdict": "yes" }] });
        assert_eq!(read(&reply(&value), &["a"]).map_err(|problems| problems.len()), Err(4));
        let silent = |summary: &str| {
            let value = json!({ "verdict": "pass", "confidence": 1, "summary": summary, "criteria": [] });
            read(&reply(&value), &[]).map_err(|problems| problems.concat())
        };
        let summary = |words| silent(words).map(|judgement| judgement.summary.unwrap_or_default());
        assert_eq!(summary(" ").as_deref(), Ok("Pipeline completed successfully."));
        assert_eq!(summary("All is done.").as_deref(), Ok("All is done."));
    }
}
