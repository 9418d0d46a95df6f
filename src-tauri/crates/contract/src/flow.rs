//! A flow: steps with fixed routes (flows page; seeds *latent-pipeline-agents* and
//! *agntz-pipeline-steps*). Plain data as a file or a journal holds it: templates and conditions are
//! still text here, and are parsed by the engine.
//!
//! Deliberately not here: reading files, rules between fields (unknown targets, forward references),
//! and everything that happens when a flow runs.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::task::ExpectedOutput;

mod run;
mod shape;

pub use run::{ChatMessage, ChatRole, FlowRun, GuardrailResult};
pub use shape::{AgentMode, DEFAULT_MAX_ROUNDS, GroupMode, GuardrailRule, RouteTarget, StepKind};

/// Steps in their declared order, and what they are given and give back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Flow {
    /// What it is called by a `ref` and in a trace.
    pub id: String,
    /// What a person calls it; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// For the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// What it does, for people and for a model that may call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// Whose rules it follows where they differ.
    #[serde(default, skip_serializing_if = "Dialect::is_flow")]
    #[ts(as = "Option<Dialect>", optional)]
    pub dialect: Dialect,
    /// Where its output lands in a flow that refers to it (agntz `stateKey` of an agent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key: Option<String>,
    /// `provider:model` for every step that names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The key of the step it begins with; the first that is not an answer when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub initial: Option<String>,
    /// JSON Schema of what it is given, an object; without one it is given one value, `userQuery`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub input: Option<Value>,
    /// The steps.
    pub steps: Vec<FlowStep>,
    /// How the steps follow each other.
    #[serde(flatten)]
    pub mode: GroupMode,
    /// Templates of what it gives back, nested as they please; the last output when absent, or of
    /// parallel steps all of them by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub output: Option<Value>,
    /// Where a run of it stops.
    #[serde(default, skip_serializing_if = "FlowLimits::is_default")]
    #[ts(as = "Option<FlowLimits>", optional)]
    pub limits: FlowLimits,
    /// What decides which step is next.
    #[serde(default, skip_serializing_if = "Order::is_chain")]
    #[ts(as = "Option<Order>", optional)]
    pub order: Order,
    /// What a failed step means for the others.
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    #[ts(as = "Option<OnFailure>", optional)]
    pub on_failure: OnFailure,
    /// Rules around the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<Guardrail>>", optional)]
    pub guardrails: Vec<Guardrail>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// One step: what it does, what it is given, and where it leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FlowStep {
    /// Names the step in a trace; its key when it has no other.
    pub id: String,
    /// Where its output lands (agntz `stateKey`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key: Option<String>,
    /// A few words for the graph; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What it does, under the kind's own name: `ask: {…}`, `ref: other-flow`.
    #[serde(flatten)]
    pub kind: StepKind,
    /// What it is given: templates by name, against the state around it. Absent is not empty: a step
    /// without any is given the output before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "{ [name: string]: unknown }", optional)]
    pub reads: Option<IndexMap<String, Value>>,
    /// Runs the step only when this condition holds; otherwise its output is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub when: Option<String>,
    /// Where to go afterwards, first match wins; absent: to the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub routes: Option<Vec<Route>>,
    /// Templates to write to the metadata when the step is done; `output` is its own output.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [name: string]: unknown }", optional)]
    pub set: IndexMap<String, Value>,
    /// JSON Schema of what the step itself sees: exactly the keys that are declared here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub input: Option<Value>,
    /// JSON Schema that its output must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub output: Option<Value>,
    /// `provider:model` for this step alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

impl FlowStep {
    /// What the graph writes on the node.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// Its routes; an empty list is none, so that the step goes on to the next (latent).
    pub fn ways(&self) -> Option<&[Route]> {
        self.routes.as_deref().filter(|routes| !routes.is_empty())
    }

    /// Where its output lands: the step's own key, else the key of what it refers to, else its id; the
    /// id of an agntz manifest is camelCased.
    pub fn state_key(&self, dialect: Dialect, referred: Option<&Flow>) -> String {
        let named = self.key.clone().or_else(|| referred.and_then(|flow| flow.key.clone()));
        match dialect {
            Dialect::Manifest => named.unwrap_or_else(|| camel_case(&self.id)),
            Dialect::Flow | Dialect::Plan => named.unwrap_or_else(|| self.id.clone()),
        }
    }
}

/// An id with hyphens as one word: only a hyphen before a small letter is folded (agntz).
pub fn camel_case(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    let mut characters = id.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('-', Some(next)) if next.is_ascii_lowercase() => {
                out.push(next.to_ascii_uppercase());
                characters.next();
            }
            _ => out.push(character),
        }
    }
    out
}

/// Asks a model once (latent `@phase`, agntz `llm`, a reasoning step of a plan).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskStep {
    /// What the model is told about its part: a template.
    pub instructions: String,
    /// What the person says to it: a template; the run's messages when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub prompt: Option<String>,
    /// 0 for the same answer each time, as far as the provider keeps that promise.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<f32>", optional)]
    pub temperature: f32,
    /// The most tokens of an answer.
    #[serde(default = "default_max_tokens", skip_serializing_if = "is_default_max_tokens")]
    #[ts(as = "Option<u32>", optional)]
    pub max_tokens: u32,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// Calls a tool (latent `@tool`, agntz `tool`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolStep {
    /// Its name.
    pub tool: String,
    /// Templates of its arguments.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [name: string]: unknown }", optional)]
    pub args: IndexMap<String, Value>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// A model with tools (latent `@subagent`, a tool step of a plan).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentStep {
    /// What the model is told: a template.
    pub instructions: String,
    /// The tools it has: names of tools, or of flows that the run knows.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Each tool once in order, or as the model likes.
    #[serde(flatten)]
    pub mode: AgentMode,
    /// Templates of complete arguments by tool name: where each tool is called once, no model is asked for them.
    /// `tool_1` and so on are the results of the tools before.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [tool: string]: unknown }", optional)]
    pub args: IndexMap<String, Value>,
    /// 0 for the same answer each time, as far as the provider keeps that promise.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<f32>", optional)]
    pub temperature: f32,
    /// The most tokens of an answer.
    #[serde(default = "default_max_tokens", skip_serializing_if = "is_default_max_tokens")]
    #[ts(as = "Option<u32>", optional)]
    pub max_tokens: u32,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// Steps inside a step, with a state of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GroupStep {
    /// The steps.
    pub steps: Vec<FlowStep>,
    /// How they follow each other.
    #[serde(flatten)]
    pub mode: GroupMode,
    /// What decides which of them is next.
    #[serde(default, skip_serializing_if = "Order::is_chain")]
    #[ts(as = "Option<Order>", optional)]
    pub order: Order,
    /// Templates of what the group gives back, against its own state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub output: Option<Value>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// A person answers before the run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GateStep {
    /// What the person reads: a template.
    pub text: String,
    /// JSON Schema of the answer; without one it is yes or no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub question: Option<Value>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// Says the last word (latent `@respond`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerStep {
    /// The answer, or with the step's `model` what the model is told to answer: a template.
    pub text: String,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

impl Flow {
    /// What the tasks that are steps of it expect, in the order of the file.
    pub fn expected_outputs(&self) -> Vec<&ExpectedOutput> {
        fn collect<'a>(steps: &'a [FlowStep], found: &mut Vec<&'a ExpectedOutput>) {
            for step in steps {
                match &step.kind {
                    StepKind::Task(task) => found.push(&task.expected_output),
                    StepKind::Group(group) => collect(&group.steps, found),
                    StepKind::Ask(_)
                    | StepKind::Tool(_)
                    | StepKind::Agent(_)
                    | StepKind::Gate(_)
                    | StepKind::Answer(_)
                    | StepKind::Ref(_) => {}
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.steps, &mut found);
        found
    }
}

/// A whole task, from plan to verdict, as one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskStep {
    /// What should be done: a template.
    pub goal: String,
    /// Anything worth knowing: templates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "{ [key: string]: unknown }", optional)]
    pub context: Map<String, Value>,
    /// What success looks like.
    pub expected_output: ExpectedOutput,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// A way on from a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Route {
    /// Where it leads: `to: key`, or `finish: {…}`.
    #[serde(flatten)]
    pub target: RouteTarget,
    /// Taken when this condition holds; null always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub when: Option<String>,
    /// Templates to write to the metadata when it is taken.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [name: string]: unknown }", optional)]
    pub set: IndexMap<String, Value>,
    /// A line for the run's log when it is taken: a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub log: Option<String>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// An answer that ends the run (latent `Respond`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Finish {
    /// The answer: a template.
    pub text: String,
    /// Lets a model say it in other words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rewrite: Option<Rewrite>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// How a model is to say an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rewrite {
    /// What the model is told: a template.
    pub instructions: String,
    /// `provider:model`; the flow's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// A rule around the whole run, never around a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Guardrail {
    /// Names it in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
    /// Before the run or after it.
    #[serde(default)]
    pub timing: Timing,
    /// What a violation does.
    #[serde(default)]
    pub outcome: GuardrailOutcome,
    /// When it is violated: `condition: …`, `contains: …` or `judged: …`.
    #[serde(flatten)]
    pub rule: GuardrailRule,
    /// A score from here on is a violation.
    #[serde(default = "default_threshold")]
    pub threshold: f64,
    /// What is said in place of the answer.
    #[serde(default = "default_message")]
    pub message: String,
    /// What it means when the rule itself fails.
    #[serde(default, skip_serializing_if = "OnError::is_ignore")]
    #[ts(as = "Option<OnError>", optional)]
    pub on_error: OnError,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// What a guardrail says when it has no words of its own (latent).
pub const BLOCKED: &str = "Request blocked by guardrail.";

/// Where a run of a flow stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct FlowLimits {
    /// The most steps that run, in a flow that has an answer or a route (latent: 20).
    pub max_total_phases: u32,
    /// The most tokens; strictly more ends the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How long one tool execution may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_timeout: Option<u64>,
    /// How many branches run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

impl Default for FlowLimits {
    fn default() -> Self {
        Self {
            max_total_phases: 20,
            max_tokens: None,
            tool_timeout: None,
            max_parallel: None,
            extra: Map::new(),
        }
    }
}

impl FlowLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Makes a closed choice with a default that a file need not write.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident, $is_default:ident, { $(#[$first_doc:meta])* $first:ident, $($(#[$other_doc:meta])* $other:ident),+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$other_doc])* $other),+
        }

        impl $name {
            /// Whether it is what a file need not write.
            pub fn $is_default(&self) -> bool {
                *self == Self::$first
            }
        }
    };
}

choice!(
    /// Whose rules a flow follows where they differ.
    Dialect, is_flow, {
        /// Our own, which are latent's.
        Flow,
        /// Those of an agntz manifest: children see their inputs only, and the last step just ends.
        Manifest,
        /// Those of a plan.
        Plan
    }
);

choice!(
    /// What decides which step is next.
    Order, is_chain, {
        /// Routes, and where there are none the declared order.
        Chain,
        /// What the steps read: each runs as soon as all that it reads is there.
        Reads
    }
);

choice!(
    /// What a failed step means for the others.
    OnFailure, is_stop, {
        /// The flow ends.
        Stop,
        /// Those that read it are skipped; the others go on.
        SkipDependents
    }
);

choice!(
    /// When a guardrail looks.
    Timing, is_pre, {
        /// At what comes in.
        Pre,
        /// At what goes out.
        Post
    }
);

choice!(
    /// What a violation does.
    GuardrailOutcome, is_active, {
        /// It stops the run, or takes the answer back.
        Active,
        /// It is noted.
        Passive
    }
);

choice!(
    /// What it means when a rule fails itself.
    OnError, is_ignore, {
        /// Nothing.
        Ignore,
        /// The run ends with its error.
        Raise
    }
);

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

fn default_max_tokens() -> u32 {
    4096
}

fn is_default_max_tokens(value: &u32) -> bool {
    *value == default_max_tokens()
}

fn default_threshold() -> f64 {
    0.5
}

fn default_message() -> String {
    BLOCKED.to_owned()
}

#[cfg(test)]
mod tests;
