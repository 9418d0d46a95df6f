//! A model server on this machine that answers at once, or after a while, and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::Failed;

/// What is answered to a request's body.
pub type Reply = Arc<dyn Fn(&Value) -> String + Send + Sync>;

/// A server, until it is dropped.
pub struct Server {
    /// Where it is.
    pub url: String,
    asked: Arc<Asked>,
    task: JoinHandle<()>,
}

struct Asked {
    delay: Duration,
    reply: Reply,
    characters: AtomicU64,
    steps: Mutex<Vec<(String, Instant)>>,
}

impl Server {
    /// Starts one that answers after `delay`.
    pub async fn start(delay: Duration, reply: Reply) -> Result<Self, Failed> {
        let failed = |error: std::io::Error| Failed::at("the model server cannot start", error);
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .await
            .map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let asked = Arc::new(Asked {
            delay,
            reply,
            characters: AtomicU64::new(0),
            steps: Mutex::default(),
        });
        let routes = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { url, asked, task })
    }

    /// How many characters all messages had together so far.
    pub fn characters(&self) -> u64 {
        self.asked.characters.load(Ordering::Relaxed)
    }

    /// The steps that asked so far, in order, each with its time.
    pub fn steps(&self) -> Vec<(String, Instant)> {
        self.asked.steps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(asked): State<Arc<Asked>>, headers: HeaderMap, Json(body): Json<Value>) -> Json<Value> {
    let step = headers
        .get("x-step")
        .and_then(|step| step.to_str().ok())
        .unwrap_or_default();
    asked
        .steps
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push((step.to_owned(), Instant::now()));
    asked.characters.fetch_add(characters(&body), Ordering::Relaxed);
    if !asked.delay.is_zero() {
        tokio::time::sleep(asked.delay).await;
    }
    let content = (asked.reply)(&body);
    Json(json!({
        "id": "answer",
        "object": "chat.completion",
        "model": "bench",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200 },
    }))
}

fn characters(body: &Value) -> u64 {
    let messages = body["messages"].as_array();
    let contents = messages.into_iter().flatten().map(|message| &message["content"]);
    contents
        .map(|content| match content {
            Value::String(text) => text.chars().count() as u64,
            other => other.to_string().chars().count() as u64,
        })
        .sum()
}

const WORDS: &[&str] = &[
    "the", "report", "of", "each", "month", "shows", "that", "travel", "and", "meals", "grew", "while", "software",
    "fell", "by", "a", "third", "because", "licences", "were", "merged", "in", "august", "two", "expenses", "have",
    "no", "receipt", "one", "is", "above", "limit", "it", "was", "approved", "later", "nobody", "noted", "why", "so",
    "check", "with", "team",
];

/// Prose of about this many characters, another one for every seed.
pub fn prose(seed: u64, characters: usize) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::with_capacity(characters + 16);
    while text.len() < characters {
        text.push_str(WORDS[random.usize(..WORDS.len())]);
        match random.u8(..12) {
            0 => text.push_str(&format!(" {}. ", random.u16(..))),
            _ => text.push(' '),
        }
    }
    text
}

/// Answers with prose that nothing was answered with before.
pub fn new_prose(characters: usize) -> Reply {
    let count = AtomicU64::new(1);
    Arc::new(move |_: &Value| prose(count.fetch_add(1, Ordering::Relaxed), characters))
}

/// Answers with the same text always.
pub fn same(text: String) -> Reply {
    Arc::new(move |_: &Value| text.clone())
}
