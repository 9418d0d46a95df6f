//! The parts of a flow that are one of several things: in a file each thing stands under its own
//! name, and exactly one of them does.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{AgentStep, AnswerStep, AskStep, Finish, GateStep, GroupStep, TaskStep, ToolStep};

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", try_from = "StepParts")]
pub enum StepKind {
    /// Asks a model once.
    Ask(AskStep),
    /// Calls a tool.
    Tool(ToolStep),
    /// Lets a model use tools.
    Agent(AgentStep),
    /// Holds steps of its own.
    Group(Box<GroupStep>),
    /// Waits for a person.
    Gate(GateStep),
    /// Says the last word.
    Answer(AnswerStep),
    /// Carries a whole task out.
    Task(Box<TaskStep>),
    /// Runs a saved flow or agent with this id.
    Ref(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StepParts {
    ask: Option<AskStep>,
    tool: Option<ToolStep>,
    agent: Option<AgentStep>,
    group: Option<GroupStep>,
    gate: Option<GateStep>,
    answer: Option<AnswerStep>,
    task: Option<TaskStep>,
    r#ref: Option<String>,
}

impl TryFrom<StepParts> for StepKind {
    type Error = String;

    fn try_from(parts: StepParts) -> Result<Self, String> {
        let given = [
            parts.ask.map(Self::Ask),
            parts.tool.map(Self::Tool),
            parts.agent.map(Self::Agent),
            parts.group.map(|group| Self::Group(Box::new(group))),
            parts.gate.map(Self::Gate),
            parts.answer.map(Self::Answer),
            parts.task.map(|task| Self::Task(Box::new(task))),
            parts.r#ref.map(Self::Ref),
        ];
        exactly_one(
            given,
            "a step is one of ask, tool, agent, group, gate, answer, task and ref",
        )
    }
}

/// How steps follow each other; a sequence when a file says nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "mode",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    try_from = "GroupParts"
)]
pub enum GroupMode {
    /// One after the other; again and again when there is an `until`.
    Sequence {
        /// Repeats the steps until this condition holds after a pass.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        until: Option<String>,
        /// The most passes; an `until` needs it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        max: Option<u32>,
    },
    /// All at once; they do not see each other.
    Parallel,
    /// All steps once for each item, items at once.
    ForEach {
        /// A template of the list. The steps see `item` and `index`.
        #[ts(type = "unknown")]
        items: Value,
        /// How many items are worked on at once; as many as the run allows when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        concurrency: Option<u32>,
    },
}

impl Default for GroupMode {
    fn default() -> Self {
        Self::Sequence { until: None, max: None }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupParts {
    mode: Option<GroupWord>,
    until: Option<String>,
    max: Option<u32>,
    items: Option<Value>,
    concurrency: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum GroupWord {
    Sequence,
    Parallel,
    ForEach,
}

impl TryFrom<GroupParts> for GroupMode {
    type Error = String;

    fn try_from(parts: GroupParts) -> Result<Self, String> {
        let word = parts.mode.unwrap_or(GroupWord::Sequence);
        let (loops, items) = (
            parts.until.is_some() || parts.max.is_some(),
            parts.items.is_some() || parts.concurrency.is_some(),
        );
        match word {
            GroupWord::Sequence if items => Err("items and concurrency belong to mode forEach".to_owned()),
            GroupWord::Parallel if items => Err("items and concurrency belong to mode forEach".to_owned()),
            GroupWord::Parallel | GroupWord::ForEach if loops => Err("until and max belong to a sequence".to_owned()),
            GroupWord::Sequence => Ok(Self::Sequence {
                until: parts.until,
                max: parts.max,
            }),
            GroupWord::Parallel => Ok(Self::Parallel),
            GroupWord::ForEach => Ok(Self::ForEach {
                items: parts.items.ok_or("mode forEach needs items")?,
                concurrency: parts.concurrency,
            }),
        }
    }
}

/// How an agent uses its tools; freely when a file says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "mode",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    try_from = "AgentParts"
)]
pub enum AgentMode {
    /// Each tool once, in order; the model makes the arguments.
    EachOnce,
    /// As the model likes.
    Free {
        /// The most rounds of asking and calling.
        max_rounds: u32,
    },
}

/// The most rounds of an agent that says nothing else (latent, agntz).
pub const DEFAULT_MAX_ROUNDS: u32 = 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentParts {
    mode: Option<AgentWord>,
    max_rounds: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum AgentWord {
    EachOnce,
    Free,
}

impl TryFrom<AgentParts> for AgentMode {
    type Error = String;

    fn try_from(parts: AgentParts) -> Result<Self, String> {
        match parts.mode.unwrap_or(AgentWord::Free) {
            AgentWord::EachOnce if parts.max_rounds.is_some() => Err("maxRounds belongs to mode free".to_owned()),
            AgentWord::EachOnce => Ok(Self::EachOnce),
            AgentWord::Free => Ok(Self::Free {
                max_rounds: parts.max_rounds.unwrap_or(DEFAULT_MAX_ROUNDS),
            }),
        }
    }
}

/// Where a route leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", try_from = "RouteParts")]
pub enum RouteTarget {
    /// To the step with this key.
    To(String),
    /// To the end, with an answer.
    Finish(Finish),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RouteParts {
    to: Option<String>,
    finish: Option<Finish>,
}

impl TryFrom<RouteParts> for RouteTarget {
    type Error = String;

    fn try_from(parts: RouteParts) -> Result<Self, String> {
        exactly_one(
            [parts.to.map(Self::To), parts.finish.map(Self::Finish)],
            "a route has either to or finish",
        )
    }
}

/// When a guardrail is violated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", try_from = "RuleParts")]
pub enum GuardrailRule {
    /// When this condition holds; it sees `prompt`, `answer` and `messages`.
    Condition(String),
    /// When the text that it looks at contains these words, in large letters or small ones.
    Contains(String),
    /// When a model that is told this gives a score that reaches the threshold.
    Judged(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleParts {
    condition: Option<String>,
    contains: Option<String>,
    judged: Option<String>,
}

impl TryFrom<RuleParts> for GuardrailRule {
    type Error = String;

    fn try_from(parts: RuleParts) -> Result<Self, String> {
        exactly_one(
            [
                parts.condition.map(Self::Condition),
                parts.contains.map(Self::Contains),
                parts.judged.map(Self::Judged),
            ],
            "a guardrail is one of condition, contains and judged",
        )
    }
}

fn exactly_one<T, const N: usize>(given: [Option<T>; N], otherwise: &str) -> Result<T, String> {
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(otherwise.to_owned()),
    }
}
