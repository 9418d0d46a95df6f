//! Every attempt to ask a model as a line of JSON (the reference's `LlmLogEntry`). What was asked and answered is not
//! in it: only how large the two are.

use contract::ids::RunId;
use contract::run_state::RunState;
use serde_json::{Value, json};

/// The lines, in the order in which the calls began.
pub(super) fn lines(run: &RunId, state: &RunState) -> String {
    let mut out = String::new();
    for (key, call) in &state.calls {
        for attempt in &call.attempts {
            let asked = attempt.asked(&call.model);
            let (provider, model) = asked.split_once(':').unwrap_or(("", asked));
            let line = json!({
                "run": run.as_str(),
                "call": key,
                "cycle": call.cycle,
                "purpose": call.purpose,
                "step": call.step,
                "provider": provider,
                "model": model,
                "requestBytes": call.request.bytes,
                "responseBytes": call.response.as_ref().map(|response| response.bytes),
                "attempt": serde_json::to_value(attempt).unwrap_or(Value::Null),
            });
            out.push_str(&line.to_string());
            out.push('\n');
        }
    }
    out
}
