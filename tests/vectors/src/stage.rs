//! A flow on a stage: its models and tools say what a script says; all else is real, the store too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use contract::access::{Access, Envelope};
use contract::cost::Prices;
use contract::event::{RunEvent, RunEventRecord};
use contract::flow::{ChatMessage, Flow, FlowRun};
use contract::ids::{Key, RunId};
use contract::llm::{
    AttemptStatus, ContentBlock, FinishReason, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo,
    Role, ToolUse, Usage,
};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::run::{Roles, RunHeader};
use contract::task::{Approval, ExpectedOutput, Limits, Task};
use engine::flow::FlowOutcome;
use engine::flow::events::FlowEvent;
use engine::flow::session::Session;
use engine::{Registry, Unwatched, World};
use serde_json::{Map, Value, json};
use store::Store;
use tokio_util::sync::CancellationToken;
use workspace::Folder;

/// The provider whose models are the actors of a script.
pub const PROVIDER: &str = "script";

/// What an actor says on one call.
#[derive(Debug, Clone)]
enum Line {
    Say(Value),
    Throw { message: String, code: Option<String> },
    Use(Vec<(String, Value)>),
}

/// The lines of one actor; the last is said again and again.
#[derive(Debug)]
struct Part {
    lines: Vec<Line>,
    said: AtomicU32,
    /// Whether what it says is JSON, because somebody reads it as such.
    json: bool,
}

impl Part {
    fn next(&self) -> Option<Line> {
        let said = self.said.fetch_add(1, Ordering::SeqCst) as usize;
        self.lines.get(said.min(self.lines.len().saturating_sub(1))).cloned()
    }
}

/// How a line that throws reaches the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throws {
    /// As code that breaks off in the middle.
    AsPanic,
    /// As an error that says what happened.
    AsError,
    /// As work that never ends.
    AsTimeout,
}

impl Throws {
    /// The same for a line whose script names a code: what is expected has no say in it.
    fn with(self, code: Option<&str>) -> Throws {
        match code.map(str::to_lowercase).as_deref() {
            None => self,
            Some("tool_timeout" | "timeout") => Throws::AsTimeout,
            Some(_) => Throws::AsError,
        }
    }
}

/// All actors of a case.
pub struct Stage {
    parts: HashMap<String, Part>,
    throws: Throws,
    asked: Mutex<Vec<LlmRequest>>,
    executed: Mutex<Vec<(String, Value)>>,
    /// How many actors have to be on stage before one may speak.
    together: Option<Arc<tokio::sync::Barrier>>,
}

/// What became of a flow.
pub struct Played {
    /// The flow's end.
    pub outcome: FlowOutcome,
    /// Its events, in short.
    pub events: Vec<String>,
    /// The events themselves.
    pub told: Vec<FlowEvent>,
    /// The journal.
    pub journal: Vec<RunEventRecord>,
}

impl Stage {
    /// A stage without actors.
    pub fn new(throws: Throws) -> Self {
        Self {
            parts: HashMap::new(),
            throws,
            asked: Mutex::default(),
            executed: Mutex::default(),
            together: None,
        }
    }

    /// Lets nobody speak before so many are asked at once.
    pub fn together(&mut self, count: usize) {
        self.together = Some(Arc::new(tokio::sync::Barrier::new(count)));
    }

    /// Gives an actor its lines.
    ///
    /// # Errors
    /// A line that nobody knows how to say.
    pub fn cast(&mut self, actor: &str, lines: &[Value], json: bool) -> Result<(), String> {
        let lines: Result<Vec<Line>, String> = lines.iter().map(line).collect();
        let part = Part {
            lines: lines?,
            said: AtomicU32::new(0),
            json,
        };
        self.parts.insert(actor.to_owned(), part);
        Ok(())
    }

    /// Puts an actor back to where it has said so many lines: those that were heard.
    pub fn rewind(&self, actor: &str, said: u32) {
        if let Some(part) = self.parts.get(actor) {
            part.said.store(said, Ordering::SeqCst);
        }
    }

    /// The actors that are models and were asked, in order.
    pub fn asked(&self) -> Vec<LlmRequest> {
        lock(&self.asked).clone()
    }

    /// The tools that were executed with their arguments, in order.
    pub fn executed(&self) -> Vec<(String, Value)> {
        lock(&self.executed).clone()
    }

    fn next(&self, actor: &str) -> Option<(Line, bool)> {
        let part = self.parts.get(actor)?;
        Some((part.next()?, part.json))
    }
}

/// Whether a script holds what is no text, so that it is read as JSON.
pub fn is_json(lines: &[Value]) -> bool {
    lines.iter().any(|line| match line {
        Value::String(_) => false,
        Value::Object(map) => !map.keys().any(|key| key.starts_with('$')),
        _ => true,
    })
}

fn line(value: &Value) -> Result<Line, String> {
    let Some(map) = value.as_object() else {
        return Ok(Line::Say(value.clone()));
    };
    let Some(word) = map.keys().find(|key| key.starts_with('$')) else {
        return Ok(Line::Say(value.clone()));
    };
    if map.len() > 1 {
        return Err(format!("nobody knows how to say {value}"));
    }
    match (word.as_str(), &map[word]) {
        ("$throw", Value::String(message)) => Ok(Line::Throw {
            message: message.clone(),
            code: None,
        }),
        ("$throw", Value::Object(thrown)) => {
            if let Some(unknown) = thrown
                .keys()
                .find(|key| !["message", "code", "name"].contains(&key.as_str()))
            {
                return Err(format!("nobody knows what `$throw.{unknown}` means"));
            }
            let text = |key: &str| thrown.get(key).and_then(Value::as_str).map(str::to_owned);
            Ok(Line::Throw {
                message: text("message").unwrap_or_default(),
                code: text("code"),
            })
        }
        ("$tool" | "$tool_call" | "$toolCall", used) => Ok(Line::Use(vec![used_tool(used)?])),
        ("$tools" | "$tool_calls" | "$toolCalls", Value::Array(used)) => {
            let used: Result<Vec<_>, String> = used.iter().map(used_tool).collect();
            Ok(Line::Use(used?))
        }
        _ => Err(format!("nobody knows how to say {value}")),
    }
}

fn used_tool(value: &Value) -> Result<(String, Value), String> {
    if let Some(name) = value.as_str() {
        return Ok((name.to_owned(), json!({})));
    }
    let name = value["name"].as_str().or(value["tool"].as_str());
    let args = ["args", "arguments", "input", "params"]
        .iter()
        .find_map(|key| value.get(*key));
    let name = name.ok_or_else(|| format!("a tool call needs a name: {value}"))?;
    Ok((name.to_owned(), args.cloned().unwrap_or_else(|| json!({}))))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Actors(Arc<Stage>);

#[async_trait]
impl LlmProvider for Actors {
    fn name(&self) -> &str {
        PROVIDER
    }

    async fn complete(&self, mut request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let stage = &self.0;
        // A guardrail has no model of its own: its rule names who plays it.
        let words: Vec<&str> = request.system.split_whitespace().collect();
        if let Some(guard) = words.iter().find(|word| word.starts_with("guard-")) {
            request.model = (*guard).to_owned();
        }
        lock(&stage.asked).push(request.clone());
        if let Some(together) = &stage.together {
            together.wait().await;
        }
        let Some((line, json)) = stage.next(&request.model) else {
            let message = format!("the script has no lines for {}", request.model);
            return Err(LlmError::new(LlmErrorCode::NotRecorded, message));
        };
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        let (text, tool_uses) = match line {
            Line::Say(Value::String(text)) if !json => (text, Vec::new()),
            Line::Say(value) => (value.to_string(), Vec::new()),
            Line::Use(used) => {
                let with_ids = used.into_iter().enumerate().map(|(index, (name, input))| ToolUse {
                    id: format!("call_{index}"),
                    name,
                    input,
                    carried: None,
                    made_by: None,
                });
                (String::new(), with_ids.collect())
            }
            Line::Throw { message, code } => match stage.throws.with(code.as_deref()) {
                Throws::AsPanic => std::panic::resume_unwind(Box::new(message)),
                // No clock of the engine runs while a model is asked: its connector has one.
                Throws::AsTimeout => return Err(LlmError::new(LlmErrorCode::Timeout, message)),
                Throws::AsError => return Err(LlmError::new(error_code(code.as_deref()), message)),
            },
        };
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            duration_ms: 1,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            finish_reason: if tool_uses.is_empty() {
                FinishReason::EndTurn
            } else {
                FinishReason::ToolUse
            },
            text,
            tool_uses,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

fn error_code(code: Option<&str>) -> LlmErrorCode {
    match code.unwrap_or_default().to_lowercase().as_str() {
        "rate_limit" => LlmErrorCode::RateLimit,
        "context_length" => LlmErrorCode::ContextLength,
        "invalid_request" => LlmErrorCode::InvalidRequest,
        "authentication" => LlmErrorCode::Authentication,
        _ => LlmErrorCode::BadResponse,
    }
}

/// A tool that returns its lines.
struct Prop {
    stage: Arc<Stage>,
    name: String,
    actor: String,
}

#[async_trait]
impl Tool for Prop {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: self.name.clone(),
            description: "returns what its script says".to_owned(),
            parameters: json!({ "type": "object" }),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        lock(&self.stage.executed).push((self.name.clone(), args));
        match self.stage.next(&self.actor) {
            Some((Line::Say(value), _)) => Ok(ToolOutput::value(value)),
            Some((Line::Throw { message, code }, _)) => match self.stage.throws.with(code.as_deref()) {
                Throws::AsPanic => std::panic::resume_unwind(Box::new(message)),
                Throws::AsTimeout => std::future::pending().await,
                Throws::AsError => Err(ToolError::new(message)),
            },
            Some((Line::Use(_), _)) => Err(ToolError::new("a tool calls no tools")),
            None => Err(ToolError::new(format!("the script has no lines for {}", self.actor))),
        }
    }
}

/// A person who never answers.
struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}

/// Time passes only where somebody waits for it.
struct Hours;

#[async_trait]
impl Clock for Hours {
    fn now_ms(&self) -> i64 {
        1_790_000_000_000
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A theatre for one case: a store, a folder, and the world around a flow.
pub struct Theatre {
    stage: Arc<Stage>,
    world: World,
    store: Arc<Store>,
    runs: AtomicU32,
    _folder: tempfile::TempDir,
}

impl Theatre {
    /// Opens a theatre for a stage, with these tools by name and actor.
    ///
    /// # Errors
    /// The store or the folder cannot be opened.
    pub async fn open(stage: Stage, tools: &[(String, String)]) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (data, work) = (folder.path().join("data"), folder.path().join("work"));
        std::fs::create_dir(&work).map_err(|error| error.to_string())?;
        let store = Arc::new(Store::open(&data).await.map_err(|error| error.to_string())?);
        let files = Folder::open(work).map_err(|error| error.to_string())?;
        let stage = Arc::new(stage);
        let props = tools.iter().map(|(name, actor)| {
            Arc::new(Prop {
                stage: Arc::clone(&stage),
                name: name.clone(),
                actor: actor.clone(),
            }) as Arc<dyn Tool>
        });
        let world = World {
            journal: Arc::clone(&store) as Arc<dyn Journal>,
            providers: vec![Arc::new(Actors(Arc::clone(&stage)))],
            tools: Registry::of_tools(props.collect()),
            own_tools: Registry::of_tools(Vec::new()),
            checks: Registry::of_checks(Vec::new()),
            hooks: Vec::new(),
            files: Arc::new(files),
            clock: Arc::new(Hours),
            people: Arc::new(Nobody),
            watcher: Arc::new(Unwatched),
        };
        Ok(Self {
            stage,
            world,
            store,
            runs: AtomicU32::new(0),
            _folder: folder,
        })
    }

    /// The stage.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The world around the flow.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// A new run's id.
    pub fn new_run(&self) -> RunId {
        RunId::new(format!("run-{}", self.runs.fetch_add(1, Ordering::SeqCst)))
    }

    /// Plays a flow once, with its events; and once more from its own journal, as the app drives flows, with nothing held
    /// that is not needed.
    ///
    /// # Errors
    /// The drive halted, or the second play came to another end.
    pub async fn play(&self, flow: FlowRun) -> Result<Played, String> {
        let messages = flow.messages.clone();
        let header = header(flow);
        let session = Session::new(header.clone());
        let run = self.new_run();
        let told: Arc<Mutex<Vec<FlowEvent>>> = Arc::default();
        let hear = {
            let told = Arc::clone(&told);
            move |event| lock(&told).push(event)
        };
        let stop = CancellationToken::new();
        let outcome = session.stream(&self.world, &run, messages, &stop, hear).await;
        let outcome = outcome.map_err(|halt| format!("the drive halted: {halt:?}"))?;
        let journal = self
            .store
            .read(&run, 1, 100_000)
            .await
            .map_err(|error| error.to_string())?;
        self.play_again(&run, header, &journal).await?;
        let told = lock(&told).clone();
        Ok(Played {
            outcome,
            events: told.iter().map(ToString::to_string).collect(),
            told,
            journal,
        })
    }
}

impl Theatre {
    async fn play_again(&self, run: &RunId, header: RunHeader, journal: &[RunEventRecord]) -> Result<(), String> {
        let again = RunId::new(format!("{run}-again"));
        let words = |error: &dyn std::fmt::Display| error.to_string();
        engine::start(&*self.world.journal, &again, header, 0)
            .await
            .map_err(|error| words(&error))?;
        let driven = engine::replay(&again, run, &self.world, &CancellationToken::new()).await;
        let second = self
            .store
            .read(&again, 1, 100_000)
            .await
            .map_err(|error| words(&error))?;
        let hash = |events: &[RunEventRecord]| engine::final_hash(events).map_err(|error| words(&error));
        match hash(journal)? == hash(&second)? {
            true => Ok(()),
            false => Err(format!("played again it came to another end: {driven:?}")),
        }
    }
}

/// How a run of a flow on stage begins.
pub fn header(flow: FlowRun) -> RunHeader {
    let model = format!("{PROVIDER}:nobody");
    RunHeader {
        task: Task {
            goal: flow.flow.id.clone(),
            context: Map::new(),
            expected_output: ExpectedOutput::Text(String::new()),
            name: None,
            working_folder: None,
            models: None,
            limits: Limits {
                max_tokens: 10_000_000,
                tool_timeout: 50,
                ..Limits::default()
            },
            approval: Approval::default(),
            tools: None,
            hooks: None,
            extra: Map::new(),
        },
        title: flow.flow.id.clone(),
        envelope: Envelope {
            folder: "/".to_owned(),
            write: true,
            max_tokens: 10_000_000,
            max_cycles: 1,
            ..Envelope::default()
        },
        roles: Roles::all(model),
        hooks: Vec::new(),
        rules: Vec::new(),
        prices: Prices::default(),
        recording: None,
        app_version: "0".to_owned(),
        server_tools: Vec::new(),
        models: Vec::new(),
        flow: Some(Box::new(flow)),
    }
}

/// A flow with what it is given.
pub fn run_of(flow: Flow, input: Value, messages: Vec<ChatMessage>) -> FlowRun {
    FlowRun {
        flow,
        refs: indexmap::IndexMap::new(),
        input,
        messages,
    }
}

/// What was said to a model, as `role:words`.
pub fn words_of(request: &LlmRequest) -> Vec<String> {
    let said = request.messages.iter().map(|message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let words: String = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text.as_str()),
                ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. } => None,
            })
            .collect();
        format!("{role}:{words}")
    });
    said.collect()
}

/// How often guardrails looked.
pub fn guardrails_judged(journal: &[RunEventRecord]) -> usize {
    let judged = |record: &&RunEventRecord| matches!(record.event, RunEvent::GuardrailJudged { .. });
    journal.iter().filter(judged).count()
}

/// How long a case may take. Most take a few milliseconds, those that wait for a tool's time some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a case's work to its end.
///
/// # Errors
/// The work's own, no runtime, or no end in a minute.
pub fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let work = async { tokio::time::timeout(PATIENCE, work).await };
    runtime
        .block_on(work)
        .map_err(|_elapsed| "it did not come to an end".to_owned())?
}
