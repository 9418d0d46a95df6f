//! The world of a workload's run: one model server, a journal, a clock, and nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ids::{Key, RunId};
use contract::llm::{LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use engine::{Registry, Unwatched, World};
use providers::openai_compatible::{NAME, OpenAiCompatible};

use crate::missing_folder::MissingFolder;

/// The world of the run of this number.
pub(super) fn of_run(
    journal: &Arc<dyn Journal>,
    server: &Arc<OpenAiCompatible>,
    clock: &Arc<dyn Clock>,
    run: u32,
) -> World {
    World {
        journal: Arc::clone(journal),
        providers: vec![Arc::new(Labelled {
            server: Arc::clone(server),
            run,
        })],
        tools: Registry::of_tools(Vec::new()),
        checks: Registry::of_checks(Vec::new()),
        hooks: Vec::new(),
        files: Arc::new(MissingFolder(String::new())),
        clock: Arc::clone(clock),
        people: Arc::new(Nobody),
        watcher: Arc::new(Unwatched),
    }
}

/// The address of a step, without its attempt. Whoever looks at requests reads the step's name from it.
pub(super) fn step_key(step: u32) -> Key {
    Key::new(format!("step/s{step}"))
}

/// The name of the step that a key lies below.
fn step_of(key: &Key) -> &str {
    let below = key.as_str().strip_prefix("step/").unwrap_or_default();
    below.split(['#', '/', ':']).next().unwrap_or_default()
}

/// Says with each request which step asks, and of which run.
struct Labelled {
    server: Arc<OpenAiCompatible>,
    run: u32,
}

#[async_trait]
impl LlmProvider for Labelled {
    fn name(&self) -> &str {
        NAME
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let headers = [
            ("x-step", step_of(&request.key).to_owned()),
            ("x-run", format!("r{}", self.run)),
        ];
        self.server.complete_under(request, &headers, sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        self.server.models().await
    }
}

/// Nobody is asked anything.
struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_named_after_its_step() {
        let call = Key::new(format!("{}#2", step_key(17))).child("call/0");
        assert_eq!(step_of(&call), "s17");
        assert_eq!(step_of(&call.mark("started")), "s17");
    }
}
