//! One address for all that a run came to: equal for a run that was killed on the way and one that
//! was not (quality page, R1).

use contract::event::{RunEvent, RunEventRecord};
use contract::hash::{Hash, NotCanonical};
use serde_json::{Value, json};

/// The address over key, status and output of everything that finished, sorted by key.
pub fn final_hash(events: &[RunEventRecord]) -> Result<Hash, NotCanonical> {
    Hash::of_value(&json!(finished(events)))
}

/// What the address is made of: whatever finished by its key, with what came of it.
pub fn finished(events: &[RunEventRecord]) -> Vec<(&str, Value)> {
    let mut finished: Vec<(&str, Value)> = events
        .iter()
        .filter_map(|record| Some((record.key.as_str(), outcome(&record.event)?)))
        .collect();
    finished.sort_by(|left, right| left.0.cmp(right.0));
    finished
}

/// A call that was under way when the app was killed is made again, and counts twice: what things cost is no part of
/// what they came to.
fn free_of_cost(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, _| name != "tokensUsed" && name != "cost");
    }
    value
}

fn outcome(event: &RunEvent) -> Option<Value> {
    match event {
        RunEvent::PlanProposed { plan_hash, .. } => Some(json!(plan_hash)),
        RunEvent::PersonAnswered { answer } => Some(json!(answer)),
        RunEvent::StepFinished {
            status, output, error, ..
        } => Some(json!([
            status,
            output.as_ref().map(|output| &output.hash),
            error.as_ref().map(|error| &error.code)
        ])),
        RunEvent::ModelCallFinished { response, error, .. } => Some(json!([
            response.as_ref().map(|response| &response.value.hash),
            error.as_ref().map(|error| &error.code)
        ])),
        RunEvent::ToolFinished { output, error, .. } => Some(json!([
            output.as_ref().map(|output| &output.hash),
            error.as_ref().map(|error| &error.code)
        ])),
        RunEvent::HookFinished { result, .. } => Some(json!(result)),
        RunEvent::CheckFinished { result, .. } => Some(json!(result)),
        RunEvent::CycleJudged { evaluation, .. } => Some(free_of_cost(json!(evaluation))),
        RunEvent::WorkFinished { result, error, .. } => Some(json!([
            result.as_ref().map(|result| &result.hash),
            error.as_ref().map(|error| &error.code)
        ])),
        RunEvent::TopicEmitted { topic, payload } => Some(json!([topic, payload.hash])),
        RunEvent::WorkUnblocked { how } => Some(json!(how)),
        RunEvent::OverlayWritten { values } => Some(json!(values.hash)),
        RunEvent::RunFinished { result } => Some(free_of_cost(json!(result))),
        RunEvent::PhaseFinished { output, error, .. } => Some(json!([
            output.as_ref().map(|output| &output.hash),
            error.as_ref().map(|error| &error.code)
        ])),
        RunEvent::AnswerGiven { text, instead_of } => {
            Some(json!([&text.hash, instead_of.as_ref().map(|text| &text.hash)]))
        }
        RunEvent::GuardrailJudged { result } => Some(json!(result)),
        RunEvent::PhaseSkipped { .. } => Some(json!("skipped")),
        RunEvent::PlanChanged { plan_hash, .. } => Some(json!(plan_hash)),
        RunEvent::StepChanged { step, .. } => Some(json!(step)),
        RunEvent::VerdictChanged { evaluation, .. } => Some(free_of_cost(json!(evaluation))),
        RunEvent::RunStarted { .. }
        | RunEvent::RunReopened { .. }
        | RunEvent::CycleStarted { .. }
        | RunEvent::AttemptOpened { .. }
        | RunEvent::PlanningStarted { .. }
        | RunEvent::PlanRefused { .. }
        | RunEvent::PersonAsked { .. }
        | RunEvent::PlanApproved { .. }
        | RunEvent::StepStarted { .. }
        | RunEvent::ModelCallStarted { .. }
        | RunEvent::ModelAttempted { .. }
        | RunEvent::ToolStarted { .. }
        | RunEvent::EffectIntended { .. }
        | RunEvent::FolderChanged { .. }
        | RunEvent::UndoIntended { .. }
        | RunEvent::UndoFinished { .. }
        | RunEvent::OutsideEffectIntended { .. }
        | RunEvent::ScratchpadWritten { .. }
        | RunEvent::JudgingStarted { .. }
        | RunEvent::PhaseStarted { .. }
        | RunEvent::PhaseRouted { .. }
        | RunEvent::JudgeAsked { .. }
        | RunEvent::GuidanceGiven { .. }
        | RunEvent::LimitsRaised { .. }
        | RunEvent::RunPaused
        | RunEvent::RunContinued => None,
    }
}
