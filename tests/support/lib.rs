//! What the tests share: the whole app on folders of its own, a model that says what it is told to, and people who
//! answer in a fixed way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod around;
pub mod recorded_sample;
pub mod script;

use std::path::Path;
use std::sync::Arc;

use app::{App, Config, KeyPlace, Pace, Signal, ipc};
use async_trait::async_trait;
use contract::llm::{
    AttemptStatus, Delta, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, Usage,
};
use contract::person::{Answer, Ask};
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use contract::run_state::{RunState, WaitingFor};
use contract::{AppError, Key, RunId};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A data folder and a working folder, gone when it is dropped.
pub struct Place {
    data: TempDir,
    work: TempDir,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            work: tempfile::tempdir().unwrap(),
        }
    }
}

impl Place {
    /// The data folder.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// The working folder.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// The working folder as requests name it.
    pub fn folder(&self) -> String {
        self.work().display().to_string()
    }

    /// What an app here is opened with, before anything else is wished.
    pub fn config(&self) -> Config {
        Config {
            data_folder: Some(self.data().to_owned()),
            keys: KeyPlace::Memory,
            pace: Pace::Instant,
            ..Config::default()
        }
    }

    /// An app here whose model greets.
    pub async fn open(&self) -> App {
        App::open(Config {
            providers: vec![greeter()],
            ..self.config()
        })
        .await
        .unwrap()
    }

    /// An app here whose questions are answered by these people.
    pub async fn open_with(&self, people: impl People + 'static) -> App {
        let config = Config {
            providers: vec![greeter()],
            people: Some(Arc::new(people)),
            ..self.config()
        };
        App::open(config).await.unwrap()
    }
}

/// A call as the window makes it.
pub async fn call(app: &App, name: &str, request: Value) -> Result<Value, AppError> {
    ipc::dispatch(app, name, request).await
}

/// Starts the greeting task as the window does.
pub async fn start(app: &App, place: &Place) -> RunId {
    let started = call(
        app,
        "run_start",
        json!({ "source": GREETING, "folder": place.folder() }),
    )
    .await
    .unwrap();
    RunId::new(started["runId"].as_str().unwrap())
}

/// Approves a plan as the window does.
pub async fn approve(app: &App, run: &RunId, key: &Key) -> Result<Value, AppError> {
    let answer = json!({ "kind": "approve", "revisions": false });
    call(app, "run_answer", json!({ "runId": run, "key": key, "answer": answer })).await
}

/// Returns when the run waits for a person, with the question.
pub async fn wait_for_question(app: &App, run: &RunId) -> WaitingFor {
    let mut signals = app.signals();
    loop {
        if let Some(waiting) = state(app, run).await.waiting {
            return waiting;
        }
        while !matches!(
            signals.next().await,
            Some(Signal::Advanced { .. } | Signal::RunsChanged)
        ) {}
    }
}

/// Everything that its events say about a run.
pub async fn state(app: &App, run: &RunId) -> RunState {
    app.state(run).await.unwrap()
}

/// A task that the greeter can do.
pub const GREETING: &str = "\
name: A greeting
goal: Greet the world in a file
context: {}
expectedOutput:
  - path: hello.txt
    description: A greeting
    criteria:
      - text: Says hello
        check: { contains: hello }
models: { planner: 'scripted:greeter' }
";

/// A model that plans, writes and passes the greeting.
pub fn greeter() -> Arc<dyn LlmProvider> {
    Arc::new(Scripted(|request: &LlmRequest| {
        let key = request.key.as_str();
        if key.contains("/plan#") {
            json!({ "reasoning": "One file is enough.", "estimatedTokens": 100, "steps": [{
                "id": "step_1", "name": "Write the greeting", "description": "Write hello.txt", "tools": ["file_write"],
                "expectedOutcome": "A greeting", "dependencies": [],
                "args": { "file_write": { "path": "hello.txt", "content": "hello, world\n" } },
            }] })
        } else {
            let goal = json!({ "id": "goal", "verdict": "pass", "evidence": "hello, world" });
            json!({ "verdict": "pass", "confidence": 1, "summary": "The world is greeted.", "criteria": [goal] })
        }
    }))
}

/// A model that answers what a function says.
pub struct Scripted<F>(pub F);

#[async_trait]
impl<F: Fn(&LlmRequest) -> Value + Send + Sync> LlmProvider for Scripted<F> {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let text = self.0(&request).to_string();
        sink.delta(Delta::Text { text: text.clone() });
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            duration_ms: 0,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            text,
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

/// Nobody is there; questions wait.
pub struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}

/// Every plan is approved.
pub struct Agreeable;

#[async_trait]
impl People for Agreeable {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        Some(Answer::Approve { revisions: false })
    }
}
