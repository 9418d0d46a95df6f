//! A model that answers by the leaf that asks, the same in every process.

use std::sync::Arc;

use contract::llm::FinishReason;
use support::script::{Reply, Script, passing};

use super::log::Log;
use super::works;

/// The model of a piece of work. Every question is written to the log as it comes.
pub(crate) fn model(work: &str, log: Arc<Log>) -> Arc<Script> {
    let work = work.to_owned();
    Script::answering(move |request| {
        let key = request.key.as_str();
        log.line(&format!("model {key}"));
        if key.contains("/plan#") {
            return Reply::Json(works::plan(&work, works::cycle_of(key)));
        }
        if key.contains("/judge#") {
            return passing(request);
        }
        Reply::Said {
            text: format!("Thought of {key}."),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
        }
    })
}
