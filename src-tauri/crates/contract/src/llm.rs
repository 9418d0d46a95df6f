//! What passes between the engine and a model (models page).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::cost::ListedPrice;
use crate::ids::Key;
use crate::step::{StepError, code};

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LlmRequest {
    /// The leaf that asks; a recording answers by it. Never sent.
    #[serde(skip, default = "no_key")]
    pub key: Key,
    /// The provider's own name of the model.
    pub model: String,
    /// What the model is told about its part; the stable beginning of every prompt.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it must.
    pub tool_choice: ToolChoice,
    /// The shape its text must have.
    pub response_schema: Option<ResponseSchema>,
    /// The most tokens it may answer with; the provider's default when absent.
    pub max_tokens: Option<u32>,
    /// 0 for the same answer each time, as far as the provider keeps that promise.
    pub temperature: Option<f32>,
    /// How much the model should think; as the provider has it when absent, and where the model cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

/// A question that says nothing yet; what a caller leaves out is as here.
impl Default for LlmRequest {
    fn default() -> Self {
        Self {
            key: no_key(),
            model: String::new(),
            system: String::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            response_schema: None,
            max_tokens: None,
            temperature: None,
            effort: None,
        }
    }
}

fn no_key() -> Key {
    Key::new("")
}

/// How much a model should think before it answers (models page, "One trait": reasoning effort). Each provider has more
/// words for it; these three are the ones that all of them have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little: quick and cheap.
    Low,
    /// Some.
    Medium,
    /// Much: slow and dear.
    High,
}

impl Effort {
    /// The word, as every provider writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Whose turn.
    pub role: Role,
    /// What was said.
    pub content: Vec<ContentBlock>,
}

impl Message {
    /// Words of the person's side.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: vec![ContentBlock::Text { text: text.into() }],
        }
    }

    /// Words of the model's side.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![ContentBlock::Text { text: text.into() }],
        }
    }
}

/// Whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The app.
    User,
    /// The model.
    Assistant,
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A tool call that the model made.
    ToolUse(ToolUse),
    /// What the tool returned.
    ToolResult {
        /// The call it answers.
        tool_use_id: String,
        /// The tool.
        name: String,
        /// The value, or the error's text.
        result: Value,
        /// Whether it is an error.
        is_error: bool,
    },
}

/// A tool call that a model made, its arguments already parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The provider's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
    /// What the provider wants to have back with this call in the next request, unread: thoughts that led to it, or a
    /// signature. Only the account and the model that wrote it understand it, and nobody else is sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub carried: Option<Value>,
    /// Who made the call; absent in what was written down before this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub made_by: Option<MadeBy>,
}

/// The model that made a tool call, and the account that it was asked through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MadeBy {
    /// The account, which stands before the colon in `provider:model`.
    pub provider: String,
    /// The model's name as it was asked for.
    pub model: String,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Whether and which tool a model must call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// At least one.
    Any,
    /// None.
    None,
    /// Exactly this one.
    Tool(String),
}

/// The shape that a text answer must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseSchema {
    /// A name for the shape, letters and underscores.
    pub name: String,
    /// JSON Schema 2020-12.
    pub schema: Value,
}

/// A model's whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LlmResponse {
    /// Its words.
    pub text: String,
    /// The tools it called.
    pub tool_uses: Vec<ToolUse>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, in the provider's own words.
    pub model: String,
    /// The provider's id of the request, for its support.
    pub request_id: Option<String>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    EndTurn,
    /// It ran out of room.
    MaxTokens,
    /// It came to a stop word.
    StopSequence,
    /// It called a tool.
    ToolUse,
    /// It refused.
    Refusal,
    /// The provider took the answer away.
    ContentFilter,
    /// The provider did not say.
    Unknown,
}

/// Tokens of one attempt; each is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All that was read, cache reads and writes included.
    pub input: u64,
    /// All that was written, reasoning included.
    pub output: u64,
    /// Of the input, what came from the provider's cache.
    pub cache_read: u64,
    /// Of the input, what was put into it.
    pub cache_write: u64,
    /// Of the output, what was thought and not said.
    pub reasoning: u64,
    /// Whether these are the app's own guess, because the server did not say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub estimated: bool,
}

impl Usage {
    /// What counts towards the budget.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// One attempt of a call, for the journal (the reference's `LlmLogEntry`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LlmAttempt {
    /// Counted from 0.
    pub attempt: u32,
    /// How it ended.
    pub status: AttemptStatus,
    /// How long it took.
    pub duration_ms: u64,
    /// What it cost; an attempt that failed half-way may have cost something too.
    pub usage: Option<Usage>,
    /// Why it failed.
    pub error: Option<LlmError>,
    /// How long the next attempt waits.
    pub wait_ms: Option<u64>,
    /// How much the model was told to think; absent where it was told nothing, or cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// The model that was asked in the place of the call's own, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instead: Option<Instead>,
}

impl LlmAttempt {
    /// The model that was asked, as `provider:model`; `own` is the call's.
    pub fn asked<'a>(&'a self, own: &'a str) -> &'a str {
        self.instead.as_ref().map_or(own, |instead| &instead.model)
    }
}

/// A model that is asked because the first choice did not answer (models page: fallbacks only where the user set one).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Instead {
    /// `provider:model`.
    pub model: String,
    /// What kept the first choice from answering.
    pub code: LlmErrorCode,
    /// The same in words.
    pub because: String,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// With an answer.
    #[default]
    Success,
    /// With an error, and another attempt follows.
    Retry,
    /// With an error, for good.
    Error,
    /// Nobody knows: the app ended, or the run did, while it was under way. It may have been billed.
    Interrupted,
}

/// What arrives while a model is still answering.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Delta {
    /// Words.
    Text {
        /// The next piece.
        text: String,
    },
    /// Thoughts.
    Reasoning {
        /// The next piece.
        text: String,
    },
    /// The arguments of a tool call, as text.
    ToolArguments {
        /// The next piece.
        text: String,
    },
    /// The attempt broke off; what arrived so far no longer counts.
    Restart,
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct LlmError {
    /// The kind, to decide by.
    pub code: LlmErrorCode,
    /// What happened, in words.
    pub message: String,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// What the server asked to wait before another try.
    pub retry_after_ms: Option<u64>,
    /// What helps, when something is known to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remedy: Option<Remedy>,
    /// The provider's id of the request that failed, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(as = "Option<String>", optional)]
    pub request_id: Option<Box<str>>,
}

/// What helps against a failure of a model call: each is one button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Another key.
    Key,
    /// Credit, bought from the provider.
    Credit,
    /// Another model.
    Model,
    /// Another provider, or a model on the person's own machine.
    Provider,
    /// Another address of the server.
    Address,
    /// The server program, started.
    Server,
    /// A network, or a sign-in to it.
    Network,
    /// This computer's clock, set.
    Clock,
    /// Less to read.
    Less,
    /// Another try later.
    Wait,
}

impl Remedy {
    /// What usually helps against a failure of this kind.
    pub fn of(code: LlmErrorCode) -> Option<Self> {
        match code {
            LlmErrorCode::Authentication => Some(Self::Key),
            LlmErrorCode::ModelNotFound => Some(Self::Model),
            LlmErrorCode::ContextLength => Some(Self::Less),
            LlmErrorCode::BadResponse => Some(Self::Address),
            LlmErrorCode::Timeout | LlmErrorCode::RateLimit | LlmErrorCode::Server | LlmErrorCode::StreamCut => {
                Some(Self::Wait)
            }
            LlmErrorCode::Connection | LlmErrorCode::InvalidRequest | LlmErrorCode::NotRecorded => None,
        }
    }
}

/// The kinds of failures of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LlmErrorCode {
    /// Nobody answers at this address.
    Connection,
    /// It took too long.
    Timeout,
    /// Too many requests.
    RateLimit,
    /// The key is missing or refused.
    Authentication,
    /// The server does not know the model.
    ModelNotFound,
    /// More than the model can read.
    ContextLength,
    /// The server refuses the request as it is.
    InvalidRequest,
    /// The server failed.
    Server,
    /// The stream broke off.
    StreamCut,
    /// What came back is not what the protocol says, such as a page of HTML.
    BadResponse,
    /// The recording has no answer to this request.
    NotRecorded,
}

impl LlmError {
    /// An error of this kind.
    pub fn new(code: LlmErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            remedy: Remedy::of(code),
            request_id: None,
        }
    }

    /// The same error with something else that helps.
    #[must_use]
    pub fn remedy(self, remedy: Remedy) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }

    /// Whether the same request may succeed later (models page, "Retry").
    pub fn retryable(&self) -> bool {
        match self.code {
            LlmErrorCode::Connection
            | LlmErrorCode::Timeout
            | LlmErrorCode::RateLimit
            | LlmErrorCode::Server
            | LlmErrorCode::StreamCut => true,
            LlmErrorCode::Authentication
            | LlmErrorCode::ModelNotFound
            | LlmErrorCode::ContextLength
            | LlmErrorCode::InvalidRequest
            | LlmErrorCode::BadResponse
            | LlmErrorCode::NotRecorded => false,
        }
    }

    /// Whether another model may answer what this one did not, so that a fallback is asked where a person set one: the
    /// server is down or overloaded, the account has no credit, the model or the provider is gone. Not where a person has
    /// something to mend (a key), nor where another model would be told the same (a request that is wrong or too long);
    /// and a refusal of the content is an answer, which never comes here.
    pub fn another_may_answer(&self) -> bool {
        match self.code {
            LlmErrorCode::Connection
            | LlmErrorCode::Timeout
            | LlmErrorCode::RateLimit
            | LlmErrorCode::Server
            | LlmErrorCode::StreamCut
            | LlmErrorCode::ModelNotFound
            | LlmErrorCode::BadResponse => true,
            LlmErrorCode::InvalidRequest => matches!(self.remedy, Some(Remedy::Credit | Remedy::Provider)),
            LlmErrorCode::Authentication | LlmErrorCode::ContextLength | LlmErrorCode::NotRecorded => false,
        }
    }

    /// The same failure in the words of a step.
    pub fn into_step_error(self) -> StepError {
        let name = match self.code {
            LlmErrorCode::RateLimit => code::RATE_LIMIT,
            LlmErrorCode::Authentication => code::AUTHENTICATION,
            LlmErrorCode::ContextLength => code::CONTEXT_LENGTH,
            LlmErrorCode::InvalidRequest | LlmErrorCode::ModelNotFound => code::INVALID_REQUEST,
            // An address that the server does not know: the request is at fault.
            LlmErrorCode::BadResponse if matches!(self.status, Some(400..=499)) => code::INVALID_REQUEST,
            LlmErrorCode::Connection
            | LlmErrorCode::Timeout
            | LlmErrorCode::Server
            | LlmErrorCode::StreamCut
            | LlmErrorCode::BadResponse
            | LlmErrorCode::NotRecorded => code::PROVIDER_ERROR,
        };
        let retryable = self.retryable();
        StepError::new(name, self.message.clone())
            .retryable(retryable)
            .cause(serde_json::to_value(&self).unwrap_or_default())
    }
}

/// A model that a provider offers: what the provider says of it, with what the catalog and the person add.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The provider's own name.
    pub id: String,
    /// What it is, when the provider says.
    pub description: Option<String>,
    /// How many tokens it can read, when the provider says.
    pub context_window: Option<u64>,
    /// How many tokens it can answer with, when the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_output: Option<u64>,
    /// How much it can do among its kind; not known of most models of local servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tier: Option<ModelTier>,
    /// What it can do besides writing.
    #[serde(default, skip_serializing_if = "Capabilities::is_unknown")]
    #[ts(as = "Option<Capabilities>", optional)]
    pub capabilities: Capabilities,
    /// What it costs; absent when nobody says, which is not the same as nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub price: Option<ListedPrice>,
}

impl ModelInfo {
    /// A model of which only the name is known.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// The same model with what `other` knows where this one is silent.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            id: self.id,
            description: self.description.or(other.description),
            context_window: self.context_window.or(other.context_window),
            max_output: self.max_output.or(other.max_output),
            tier: self.tier.or(other.tier),
            capabilities: self.capabilities.or(other.capabilities),
            price: self.price.or(other.price),
        }
    }
}

/// How much a model can do among those of its provider, and so what it costs (models page, "One trait").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ModelTier {
    /// Quick and cheap: a tool's arguments, extracts, small texts.
    Fast,
    /// For most work.
    Balanced,
    /// For the hardest work.
    Advanced,
}

/// What a model can do besides writing; what is absent is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields = nullable)]
pub struct Capabilities {
    /// It calls tools through the provider's own tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// It keeps to a JSON schema that is sent along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shapes: Option<bool>,
    /// It can be told how much to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<bool>,
}

impl Capabilities {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    fn or(self, other: Self) -> Self {
        Self {
            tools: self.tools.or(other.tools),
            shapes: self.shapes.or(other.shapes),
            effort: self.effort.or(other.effort),
        }
    }
}
