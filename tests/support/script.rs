//! A model that answers by the leaf that asks, and people who answer by a list.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use contract::llm::{
    AttemptStatus, Delta, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, ToolUse, Usage,
};
use contract::person::{Answer, Ask};
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use contract::{Key, RunId};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

/// One answer of a scripted model.
#[derive(Clone)]
pub enum Reply {
    /// JSON as text.
    Json(Value),
    /// Words.
    Text(&'static str),
    /// Words that were cut off.
    Cut(&'static str),
    /// A tool call.
    Tool(&'static str, Value),
    /// Anything, with the words on the way too.
    Said {
        /// The words.
        text: String,
        /// The tool calls.
        tool_uses: Vec<ToolUse>,
        /// Why it stopped.
        finish_reason: FinishReason,
    },
    /// No answer.
    Error(LlmError),
}

/// What stands between a question and its answer.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Returns when the question at this key may be answered.
    async fn pass(&self, key: &str);
}

/// Doors that a test opens. A key without a door passes.
pub struct Doors {
    doors: HashMap<String, Semaphore>,
    came: watch::Sender<Vec<String>>,
}

impl Doors {
    /// Closed doors at these keys.
    pub fn at<const N: usize>(keys: [&str; N]) -> Arc<Self> {
        Arc::new(Self {
            doors: keys.map(|key| (key.to_owned(), Semaphore::new(0))).into(),
            came: watch::channel(Vec::new()).0,
        })
    }

    /// Returns when all of these have been asked.
    pub async fn came<const N: usize>(&self, keys: [&str; N]) {
        let all = |came: &Vec<String>| keys.iter().all(|key| came.iter().any(|known| known == key));
        self.came.subscribe().wait_for(all).await.unwrap();
    }

    /// Opens a door for good.
    pub fn open(&self, key: &str) {
        self.doors[key].add_permits(1);
    }
}

#[async_trait]
impl Gate for Doors {
    async fn pass(&self, key: &str) {
        self.came.send_modify(|came| came.push(key.to_owned()));
        if let Some(door) = self.doors.get(key) {
            let _open = door.acquire().await.unwrap();
        }
    }
}

/// What each call costs.
pub const TOKENS: u64 = 15;

/// Answers what has no answer of its own.
type Otherwise = Box<dyn Fn(&LlmRequest) -> Reply + Send + Sync>;

/// Answers by key, and remembers every request. What has no answer is a judge that passes everything
/// by quoting the first line of the results.
#[derive(Default)]
pub struct Script {
    replies: HashMap<String, Reply>,
    otherwise: Option<Otherwise>,
    gate: Option<Arc<dyn Gate>>,
    /// The requests, in the order in which they came.
    pub asked: Mutex<Vec<LlmRequest>>,
}

impl Script {
    /// A script of these answers.
    pub fn new(replies: impl IntoIterator<Item = (&'static str, Reply)>) -> Arc<Self> {
        let replies = replies
            .into_iter()
            .map(|(key, reply)| (key.to_owned(), reply))
            .collect();
        Arc::new(Self {
            replies,
            ..Self::default()
        })
    }

    /// A script that makes its answers of the questions, and remembers none of these.
    pub fn answering(answer: impl Fn(&LlmRequest) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            otherwise: Some(Box::new(answer)),
            ..Self::default()
        })
    }

    /// The same behind a gate.
    pub fn behind(gate: Arc<dyn Gate>, replies: impl IntoIterator<Item = (&'static str, Reply)>) -> Arc<Self> {
        let script = Arc::into_inner(Self::new(replies)).unwrap();
        Arc::new(Self {
            gate: Some(gate),
            ..script
        })
    }

    /// The keys of the requests, in the order in which they came.
    pub fn keys(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .map(|request| request.key.as_str().to_owned())
            .collect()
    }

    /// All that the request at this key said.
    pub fn prompt(&self, key: &str) -> String {
        let asked = self.asked.lock().unwrap();
        let request = asked
            .iter()
            .find(|request| request.key.as_str() == key)
            .unwrap_or_else(|| panic!("{key} was not asked"));
        serde_json::to_value(&request.messages).unwrap().to_string()
    }
}

#[async_trait]
impl LlmProvider for Script {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        if self.otherwise.is_none() {
            self.asked.lock().unwrap().push(request.clone());
        }
        if let Some(gate) = &self.gate {
            gate.pass(request.key.as_str()).await;
        }
        let written = self.replies.get(request.key.as_str()).cloned();
        let reply = written.unwrap_or_else(|| match &self.otherwise {
            Some(answer) => answer(&request),
            None => passing(&request),
        });
        let (text, tool_uses, finish_reason) = match reply {
            Reply::Json(value) => (value.to_string(), Vec::new(), FinishReason::EndTurn),
            Reply::Text(text) => (text.to_owned(), Vec::new(), FinishReason::EndTurn),
            Reply::Cut(text) => (text.to_owned(), Vec::new(), FinishReason::MaxTokens),
            Reply::Tool(name, input) => (
                String::new(),
                vec![ToolUse {
                    id: "call_1".to_owned(),
                    name: name.to_owned(),
                    input,
                    carried: None,
                    made_by: None,
                }],
                FinishReason::ToolUse,
            ),
            Reply::Said {
                text,
                tool_uses,
                finish_reason,
            } => {
                sink.delta(Delta::Text { text: text.clone() });
                (text, tool_uses, finish_reason)
            }
            Reply::Error(error) => {
                sink.attempt(attempt(AttemptStatus::Error, None));
                return Err(error);
            }
        };
        let usage = Usage {
            input: TOKENS - 5,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(attempt(AttemptStatus::Success, Some(usage)));
        Ok(LlmResponse {
            text,
            tool_uses,
            finish_reason,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

fn attempt(status: AttemptStatus, usage: Option<Usage>) -> LlmAttempt {
    LlmAttempt {
        status,
        duration_ms: 0,
        usage,
        ..LlmAttempt::default()
    }
}

/// Passes every criterion that is asked for, with the first line of the results as evidence.
pub fn passing(request: &LlmRequest) -> Reply {
    assert!(
        request.key.as_str().contains("/judge#"),
        "nobody wrote an answer to {}",
        request.key
    );
    let message = serde_json::to_value(&request.messages[0].content).unwrap();
    let [question, shown] = [0, 1].map(|part| message[part]["text"].as_str().unwrap_or_default().to_owned());
    let quote = shown.lines().nth(1).unwrap_or_default().to_owned();
    let listed = question.split("Criteria to judge:").nth(1).unwrap_or_default();
    let lines = listed.lines().skip(1).take_while(|line| line.starts_with("- "));
    let results: Vec<Value> = lines
        .map(|line| {
            let id = line
                .trim_start_matches("- ")
                .split([':', ' '])
                .next()
                .unwrap_or_default();
            json!({ "id": id, "verdict": "pass", "evidence": quote })
        })
        .collect();
    Reply::Json(json!({ "verdict": "pass", "confidence": 1, "summary": "Done.", "criteria": results }))
}

/// A plan of these steps.
pub fn plan(steps: Value) -> Reply {
    Reply::Json(plan_value(steps))
}

/// The same as a value.
pub fn plan_value(steps: Value) -> Value {
    json!({ "reasoning": "Because.", "estimatedTokens": 1, "steps": steps })
}

/// A step that thinks.
pub fn thought(id: &str, dependencies: &[&str]) -> Value {
    json!({ "id": id, "description": format!("Think {id}"), "tools": [], "expectedOutcome": "words", "dependencies": dependencies })
}

/// A step that calls a tool with these arguments.
pub fn tool(id: &str, name: &str, args: Value, dependencies: &[&str]) -> Value {
    json!({ "id": id, "description": format!("Use {name}"), "tools": [name], "expectedOutcome": "a result",
        "dependencies": dependencies, "args": { name: args } })
}

/// Gives these answers one after the other, then approves; remembers the questions.
#[derive(Default)]
pub struct Answers {
    left: Mutex<VecDeque<Answer>>,
    /// What was asked.
    pub asked: Mutex<Vec<Ask>>,
}

impl Answers {
    /// These answers first.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            left: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl People for Answers {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        self.asked.lock().unwrap().push(ask.clone());
        Some(
            self.left
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or(Answer::Approve { revisions: false }),
        )
    }
}
