//! Models as a person has them. Here is the server of these tests; what is tried with it is in the files below.

mod fitness;
mod key_places;
mod money;
mod recordings;
mod refusals;
mod waits;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use app::App;
use contract::RunId;
use serde_json::{Value, json};
use support::{Place, call};

const KEY: &str = "sk-canary-93d1a7b2c4e8";

/// What a server heard: the line and the headers of each request.
type Heard = Arc<Mutex<Vec<String>>>;

/// A status, a header line or nothing, and a body.
type Said = (u16, &'static str, String);

/// A server that answers as it is told; the first argument is the line of the request, such as `GET /v1/models`.
fn server(answer: impl Fn(&str, &Value) -> Said + Send + 'static) -> (String, Heard) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let heard = Heard::default();
    let noted = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                continue;
            }
            let line = head
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches(" HTTP/1.1")
                .to_owned();
            let (status, header, text) = answer(&line, &serde_json::from_slice(&body).unwrap_or_default());
            noted.lock().unwrap().push(head);
            let header = if header.is_empty() {
                String::new()
            } else {
                format!("{header}\r\n")
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{header}content-length: {}\r\n\r\n",
                text.len()
            );
            // Whoever asked may be gone.
            let _ = write!(stream.get_mut(), "{head}{text}");
        }
    });
    (url, heard)
}

fn error(code: &str, message: &str) -> String {
    json!({ "error": { "message": message, "type": code, "code": code } }).to_string()
}

fn says(message: &Value) -> String {
    json!({
        "id": "c", "model": "small", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
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
expectedOutput: [{ path: out.txt, description: A greeting }]
limits: { maxCycles: 1 }
";
