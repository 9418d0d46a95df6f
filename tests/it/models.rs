//! Models as a person has them. Here is what the servers of these tests say; what is tried with them is in the files
//! below.

mod canary;
mod fallbacks;
mod fitness;
mod key_places;
mod local_servers;
mod money;
mod recordings;
mod refusals;
mod step_models;
mod waits;

use app::App;
use contract::RunId;
use serde_json::{Value, json};
use support::{Place, call};

use crate::http::{Heard, Said, server};

const KEY: &str = "sk-canary-93d1a7b2c4e8";

fn error(code: &str, message: &str) -> String {
    json!({ "error": { "message": message, "type": code, "code": code } }).to_string()
}

fn says(message: &Value) -> String {
    json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "small", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100 },
    })
    .to_string()
}

/// A plan of one step whose arguments are complete.
fn plan() -> String {
    let step = json!({
        "id": "write", "description": "Write", "tools": ["file_write"], "expectedOutcome": "a file", "dependencies": [],
        "args": { "file_write": { "path": "out.txt", "content": "hello" } },
    });
    let plan = json!({ "steps": [step], "estimatedTokens": 10, "reasoning": "it is short" });
    says(&json!({ "role": "assistant", "content": plan.to_string() }))
}

async fn open(place: &Place) -> App {
    App::open(place.config()).await.unwrap()
}

async fn keep(app: &App, change: impl FnOnce(&mut Value)) {
    let mut settings = call(app, "settings_get", Value::Null).await.unwrap();
    change(&mut settings);
    call(app, "settings_set", settings).await.unwrap();
}

async fn keep_server(app: &App, url: &str) {
    keep(app, |settings| {
        settings["endpoint"] = json!({ "baseUrl": url, "model": "small" })
    })
    .await;
}

async fn test(app: &App, url: &str) -> Value {
    call(app, "provider_test", json!({ "baseUrl": url, "model": "small" }))
        .await
        .unwrap()
}

async fn begin(app: &App, place: &Place, task: &str) -> Result<RunId, contract::AppError> {
    let started = call(app, "run_start", json!({ "source": task, "folder": place.folder() })).await?;
    Ok(RunId::new(started["runId"].as_str().unwrap()))
}

const TASK: &str = "\
goal: Say hello in a file
context: {}
expectedOutput: [{ path: out.txt, description: A greeting }]
limits: { maxCycles: 1 }
";
