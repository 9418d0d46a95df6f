//! What the judge found (seed *tepa-pipeline-in-detail*, "EvaluationResult"; per criterion as the
//! criteria page says).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::criterion::DecidedBy;

/// Whether a cycle's results are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every required criterion passes.
    Pass,
    /// At least one does not.
    Fail,
}

/// What became of one criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CriterionVerdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// The judge could not tell, or its evidence was not found; never counts as passed.
    Unknown,
    /// Nobody looked, because a required check had failed already.
    NotJudged,
}

/// One criterion's result, with the evidence for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CriterionResult {
    /// The criterion's id.
    pub id: String,
    /// What was found.
    pub verdict: CriterionVerdict,
    /// The place or the quotation that shows it.
    pub evidence: String,
    /// Who decided.
    pub by: DecidedBy,
    /// The value that a check saw.
    pub observed: Option<Value>,
}

/// The judge's answer for one cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    /// Pass or fail.
    pub verdict: Verdict,
    /// 0 to 1; 1 when a check decided.
    pub confidence: f64,
    /// What to change; always there on a fail, and exactly what the next planner reads.
    pub feedback: Option<String>,
    /// What was accomplished; always there on a pass.
    pub summary: Option<String>,
    /// One result for every criterion, in the task's order.
    pub criteria: Vec<CriterionResult>,
    /// The weighted mean of what passed, 0 to 1.
    pub score: f64,
    /// What the judge cost.
    pub tokens_used: u64,
}
