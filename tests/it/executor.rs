//! The executor with a scripted model on the real store, files and tools: what overlaps, what is kept, what an agent
//! step may do, and what a person is asked.

mod agents;
mod hanging;
mod keeping;
mod overlapping;
mod retrying;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::{App, Config};
use async_trait::async_trait;
use contract::RunId;
use contract::event::{RunEvent, RunEventRecord};
use contract::llm::{ContentBlock, LlmError, LlmErrorCode, LlmRequest};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolOutput};
use contract::run::StopReason;
use contract::run_state::{RunState, StepState};
use contract::step::{StepStatus, code};
use serde_json::{Value, json};
use support::around::{Around, AroundTool, builtin};
use support::script::{Answers, Doors, Gate, Reply, Script, TOKENS, plan, thought, tool};
use support::{Place, call};

const ANSWER: &str =
    "goal: Say something\ncontext: {}\nexpectedOutput: A few words\nmodels: { planner: 'scripted:m' }\n";
const GOOD: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file, criteria: [{ text: Says good, \
    check: { contains: good } }] }]\nlimits: { maxCycles: 2 }\nmodels: { planner: 'scripted:m' }\n";
const PLAN_1: &str = "cycle/1/plan#0/call/0";
const PLAN_2: &str = "cycle/2/plan#0/call/0";

struct Started {
    place: Place,
    app: App,
    run: RunId,
}

struct Ran {
    place: Place,
    app: App,
    run: RunId,
    state: RunState,
}

async fn start(task: &str, place: Place, config: Config) -> Started {
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": task, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    Started { place, app, run }
}

impl Started {
    async fn end(self) -> Ran {
        self.app.outcome(&self.run).await.unwrap();
        let state = self.app.state(&self.run).await.unwrap();
        let Self { place, app, run } = self;
        Ran { place, app, run, state }
    }
}

fn config(place: &Place, script: &Arc<Script>) -> Config {
    Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Answers::new([]) as _),
        ..place.config()
    }
}

async fn run(task: &str, place: Place, script: &Arc<Script>) -> Ran {
    let config = config(&place, script);
    start(task, place, config).await.end().await
}

impl Ran {
    fn step(&self, cycle: usize, id: &str) -> &StepState {
        &self.state.cycles[cycle].steps[id]
    }

    fn statuses(&self, cycle: usize) -> Vec<(&str, StepStatus)> {
        let steps = self.state.cycles[cycle].steps.iter();
        steps.map(|(id, step)| (id.as_str(), step.status)).collect()
    }

    fn stop_reason(&self) -> StopReason {
        self.state.result.as_ref().unwrap().stop_reason
    }

    fn error(&self, id: &str) -> (&str, &str) {
        let error = self.step(0, id).error.as_ref().unwrap();
        (&error.code, &error.message)
    }

    fn written(&self, path: &str) -> String {
        std::fs::read_to_string(self.place.work().join(path)).unwrap()
    }

    async fn events(&self) -> Vec<RunEventRecord> {
        let request = json!({ "runId": self.run, "fromSeq": 1, "limit": 500 });
        let events = call(&self.app, "run_events", request).await.unwrap();
        serde_json::from_value(events["events"].clone()).unwrap()
    }
}

fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::default();
    for (path, text) in files {
        let path = place.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

fn write(id: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": "out.txt", "content": content }),
        dependencies,
    )
}

fn append(id: &str, content: &str, dependencies: &[&str]) -> Value {
    let args = json!({ "path": "out.txt", "content": content, "mode": "append" });
    tool(id, "file_write", args, dependencies)
}

fn read(id: &str, path: &str, dependencies: &[&str]) -> Value {
    tool(id, "file_read", json!({ "path": path }), dependencies)
}

/// The same step without its arguments, which a model makes then.
fn open(mut step: Value) -> Value {
    step.as_object_mut().unwrap().remove("args");
    step
}

fn asked(script: &Script, part: &str) -> usize {
    script.keys().iter().filter(|key| key.contains(part)).count()
}
