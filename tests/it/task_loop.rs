//! The task loop with a scripted model on the real store, tools and checks: the seed's rules and ends.

mod approving;
mod ending;
mod interrupted;
mod planning;
mod results;
mod stepping;

use std::sync::{Arc, Mutex};

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::evaluation::{CriterionVerdict, Verdict};
use contract::event::{ApprovedBy, RunEvent, RunEventRecord};
use contract::llm::{LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo};
use contract::person::{Answer, Ask};
use contract::ports::journal::{Journal, JournalError};
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolOutput};
use contract::run::{RunStatus, StopReason};
use contract::run_state::RunState;
use contract::step::StepStatus;
use contract::{Hash, RunId};
use serde_json::{Value, json};
use support::around::{Append, Around, AroundJournal, AroundTool, builtin};
use support::script::{Answers, Reply, Script, TOKENS, plan, plan_value, thought, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

pub(crate) use self::interrupted::full_once;

pub(crate) const ANSWER: &str =
    "goal: Say something\ncontext: {}\nexpectedOutput: A few words\nmodels: { planner: 'scripted:m' }\n";
pub(crate) const FILE: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\nlimits: { maxCycles: 2 }\nmodels: { planner: 'scripted:m' }\n";
pub(crate) const PLAN_1: &str = "cycle/1/plan#0/call/0";
pub(crate) const PLAN_2: &str = "cycle/2/plan#0/call/0";

pub(crate) struct Ran {
    pub(crate) place: Place,
    pub(crate) app: App,
    pub(crate) run: RunId,
    pub(crate) state: RunState,
}

pub(crate) async fn run(task: &str, script: &Arc<Script>, people: &Arc<Answers>) -> Ran {
    run_with(task, script, people, |config| config).await
}

pub(crate) async fn run_with(
    task: &str,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    run_as(task, json!({}), script, people, change).await
}

/// The same, with what a person wants to be different for this run.
pub(crate) async fn run_as(
    task: &str,
    options: Value,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    run_in(Place::default(), task, options, script, people, change).await
}

/// The same in a folder that holds something already.
pub(crate) async fn run_in(
    place: Place,
    task: &str,
    options: Value,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    let config = Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Arc::clone(people) as _),
        ..place.config()
    };
    let app = App::open(change(config)).await.unwrap();
    let request = json!({ "source": task, "folder": place.folder(), "options": options });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    Ran { place, app, run, state }
}

impl Ran {
    /// Waits until the run's latest drive ended, and looks at the run anew.
    pub(crate) async fn again(mut self) -> Self {
        self.app.outcome(&self.run).await.unwrap();
        self.state = self.app.state(&self.run).await.unwrap();
        self
    }

    /// A call about this run, as the window makes it.
    pub(crate) async fn call(&self, name: &str, mut request: Value) -> Result<Value, contract::AppError> {
        request["runId"] = json!(self.run);
        call(&self.app, name, request).await
    }

    pub(crate) fn stop_reason(&self) -> StopReason {
        self.state.result.as_ref().unwrap().stop_reason
    }

    pub(crate) fn feedback(&self) -> &str {
        &self.state.result.as_ref().unwrap().feedback
    }

    pub(crate) fn statuses(&self, cycle: usize) -> Vec<(&str, StepStatus)> {
        self.state.cycles[cycle]
            .steps
            .iter()
            .map(|(id, step)| (id.as_str(), step.status))
            .collect()
    }

    pub(crate) fn error(&self, step: &str) -> String {
        self.state.cycles[0].steps[step].error.as_ref().unwrap().message.clone()
    }

    pub(crate) fn verdict_of(&self, cycle: usize, id: &str) -> CriterionVerdict {
        let evaluation = self.state.cycles[cycle].evaluation.as_ref().unwrap();
        evaluation
            .criteria
            .iter()
            .find(|result| result.id == id)
            .unwrap()
            .verdict
    }

    pub(crate) async fn events(&self) -> Vec<RunEventRecord> {
        let events = call(
            &self.app,
            "run_events",
            json!({ "runId": self.run, "fromSeq": 1, "limit": 500 }),
        )
        .await
        .unwrap();
        serde_json::from_value(events["events"].clone()).unwrap()
    }
}

pub(crate) fn write(id: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": "out.txt", "content": content }),
        dependencies,
    )
}
