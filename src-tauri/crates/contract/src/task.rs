//! A task: what a person wants and what counts as success (seed *tepa-pipeline-in-detail*, "Prompt
//! structure"). The same files that Tepa reads, in camelCase.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::criterion::{Criterion, CriterionSpec};
use crate::llm::Effort;
use crate::run::PerRole;

/// A goal, its context and the expected results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// What should be done, in plain words.
    pub goal: String,
    /// Anything worth knowing: paths, values, rules.
    #[serde(default)]
    #[ts(type = "{ [key: string]: unknown }")]
    pub context: Map<String, Value>,
    /// What success looks like.
    pub expected_output: ExpectedOutput,
    /// What the task is called; the beginning of the goal when it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// The folder it asks to work in, relative to the task's file. A request: the person grants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub working_folder: Option<String>,
    /// Which model does what; the settings decide where this is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<TaskModels>,
    /// Where a run stops.
    #[serde(default, skip_serializing_if = "Limits::is_default")]
    #[ts(as = "Option<Limits>", optional)]
    pub limits: Limits,
    /// When a plan waits for a person.
    #[serde(default, skip_serializing_if = "Approval::is_default")]
    #[ts(as = "Option<Approval>", optional)]
    pub approval: Approval,
    /// The tools the planner may use; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
    /// The rules it asks for, as they are written; [`crate::rule::HookRule`] reads each. Requests: they are off until
    /// a person allows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hooks: Option<Vec<Value>>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// One sentence, or a list of results that are checked one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum ExpectedOutput {
    /// A sentence: one judged criterion.
    Text(String),
    /// Files and answers, each with its own criteria.
    Items(Vec<ExpectedItem>),
}

/// One expected result: a file when it has a path, otherwise an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedItem {
    /// Where the file should be, relative to the working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// What it is, in words.
    pub description: String,
    /// What must hold for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<CriterionSpec>>", optional)]
    pub criteria: Vec<CriterionSpec>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// The models a task asks for; each a `provider:model` or a model of the default provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskModels {
    /// Makes the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub planner: Option<String>,
    /// Judges the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub judge: Option<String>,
    /// Does the steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub executor: Option<ExecutorModels>,
    /// How much each thinks.
    #[serde(default, skip_serializing_if = "PerRole::is_empty")]
    #[ts(as = "Option<PerRole<Effort>>", optional)]
    pub reasoning: PerRole<Effort>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// The two models that do steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExecutorModels {
    /// For simple steps, such as making a tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub low: Option<String>,
    /// For steps that need thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub high: Option<String>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

/// Where a run stops (seed *tepa-how-it-works*: 5 cycles, 64,000 tokens).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct Limits {
    /// The most cycles of plan, run and judge.
    pub max_cycles: u32,
    /// The most tokens; strictly more ends the run.
    pub max_tokens: u64,
    /// How long one tool execution may take, in milliseconds.
    pub tool_timeout: u64,
    /// How many steps may run at once.
    pub max_parallel: u32,
    /// How often a step without effects is repeated after a passing error.
    pub retry_attempts: u32,
    /// The most money, in the currency of the settings; strictly more ends the run. No limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_cost: Option<f64>,
    /// The most minutes at work; more ends the run. What it waits for a person does not count. No limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_minutes: Option<u32>,
    /// Keys that this version does not know; kept as they are.
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Map<String, Value>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_cycles: 5,
            max_tokens: 64_000,
            tool_timeout: 30_000,
            max_parallel: 4,
            retry_attempts: 1,
            max_cost: None,
            max_minutes: None,
            extra: Map::new(),
        }
    }
}

impl Limits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When a plan waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Every plan, revisions too.
    #[default]
    EveryPlan,
    /// The first plan; revisions inside the same envelope run without asking.
    FirstPlan,
    /// No plan.
    Never,
}

impl Approval {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Task {
    /// The name to show: the task's own, or the beginning of its goal.
    pub fn title(&self) -> String {
        const LENGTH: usize = 60;
        if let Some(name) = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let line = self.goal.trim().lines().next().unwrap_or_default();
        match line.char_indices().nth(LENGTH) {
            None => line.to_owned(),
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
        }
    }

    /// Every criterion of the task in order, with the ones that are always there (criteria page):
    /// each file exists and is not empty, and the goal is achieved. A result without criteria of its
    /// own is one judged criterion: its description.
    pub fn criteria(&self) -> Vec<Criterion> {
        self.expected_output.criteria()
    }
}

impl ExpectedOutput {
    /// The criteria of a task that expects this: [`Task::criteria`].
    pub fn criteria(&self) -> Vec<Criterion> {
        let mut all = Vec::new();
        match self {
            Self::Text(text) => all.push(judged("answer/0", None, text.clone())),
            Self::Items(items) => {
                for (number, item) in items.iter().enumerate() {
                    item.push_criteria(number, &mut all);
                }
            }
        }
        all.push(judged(
            "goal",
            None,
            "The goal is achieved and every result matches its description".to_owned(),
        ));
        all
    }
}

impl ExpectedItem {
    fn push_criteria(&self, number: usize, all: &mut Vec<Criterion>) {
        let place = match &self.path {
            Some(path) => path.clone(),
            None => format!("answer_{}", number + 1),
        };
        if self.path.is_some() {
            all.push(Criterion {
                id: format!("{place}/exists"),
                path: self.path.clone(),
                text: format!("{place} exists and is not empty"),
                check: Some(crate::criterion::CheckSpec {
                    name: "not_empty".to_owned(),
                    args: Value::Null,
                }),
                required: true,
                weight: 1.0,
            });
        }
        if self.criteria.is_empty() {
            all.push(judged(
                &format!("{place}/0"),
                self.path.clone(),
                self.description.clone(),
            ));
        }
        for (index, spec) in self.criteria.iter().enumerate() {
            let id = format!("{place}/{index}");
            all.push(match spec {
                CriterionSpec::Text(text) => judged(&id, self.path.clone(), text.clone()),
                CriterionSpec::Full(full) => Criterion {
                    id,
                    path: self.path.clone(),
                    text: full.text.clone(),
                    check: full.check.clone(),
                    required: full.required,
                    weight: full.weight,
                },
            });
        }
    }
}

fn judged(id: &str, path: Option<String>, text: String) -> Criterion {
    Criterion {
        id: id.to_owned(),
        path,
        text,
        check: None,
        required: true,
        weight: 1.0,
    }
}
