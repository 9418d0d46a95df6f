//! agntz manifests: `llm`, `tool`, `sequential`, `parallel`, inline or by `ref`, read as flows and written back (seed
//! *agntz-pipeline-steps*; flows page, "Files").
//!
//! A sequential or parallel agent is a flow; an `llm` or `tool` agent is a flow of one step, which is given what the flow
//! is given. What flows have no place for (MCP servers, skills, spawnable, resources, retention, …) is kept under
//! [`KEPT`], warned about, and written back as it was.
//!
//! Deliberately not here: rules between steps (`validate`), and hosted kinds, which run on agntz's own servers only.

mod agent;
mod write;

use contract::error::Problem;
use contract::flow::{Dialect, Flow, FlowLimits, FlowStep, GroupMode, OnFailure, Order, StepKind, camel_case};
use indexmap::IndexMap;
use serde_json::{Map, Value};

use self::agent::Agent;
use super::join;
use super::reading::FlowReading;
use super::validate::DEEPEST;

pub use self::write::write;

/// Where the fields of a manifest stand that a flow has no place for.
pub const KEPT: &str = "manifest";

const STEP_KEYS: [&str; 5] = ["ref", "agent", "input", "stateKey", "when"];

/// Reads a manifest as a flow, without the rules between its steps.
pub fn read(value: &Value) -> FlowReading {
    let mut reader = Reader { problems: Vec::new() };
    let flow = reader.manifest(value);
    let broken = reader.problems.iter().any(|problem| !problem.warning);
    FlowReading {
        flow: flow.filter(|_| !broken),
        problems: reader.problems,
    }
}

/// Where the output of a manifest's step lands: the step's `stateKey`, else that of its agent (of the one it refers to,
/// when `referred` is it), else the id, camelCased.
pub fn state_key(step: &Value, referred: Option<&Value>) -> Option<String> {
    let text = |value: Option<&Value>, key: &str| value?.get(key)?.as_str().map(str::to_owned);
    let agent = step.get("agent").or(referred);
    text(Some(step), "stateKey")
        .or_else(|| text(agent, "stateKey"))
        .or_else(|| Some(camel_case(&text(agent, "id").or_else(|| text(Some(step), "ref"))?)))
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    fn warn(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::warning(path, message));
    }

    fn manifest(&mut self, value: &Value) -> Option<Flow> {
        let agent = self.agent(value, "", 1)?;
        let mut kept = agent.kept;
        let (steps, mode, output) = match agent.kind {
            StepKind::Group(group) => (group.steps, group.mode, group.output),
            single => {
                kept.insert("kind".to_owned(), Value::from(agent.kind_word));
                let step = FlowStep {
                    id: agent.id.clone(),
                    key: None,
                    name: None,
                    kind: single,
                    reads: agent.input.as_ref().map(passed_on),
                    when: None,
                    routes: None,
                    set: IndexMap::new(),
                    input: agent.input.clone(),
                    output: agent.output,
                    model: agent.model,
                    extra: Map::new(),
                };
                (vec![step], GroupMode::default(), None)
            }
        };
        Some(Flow {
            id: agent.id,
            name: agent.name,
            version: None,
            description: agent.description,
            dialect: Dialect::Manifest,
            key: agent.key,
            model: None,
            initial: None,
            input: agent.input,
            steps,
            mode,
            output,
            limits: FlowLimits::default(),
            order: Order::Chain,
            on_failure: OnFailure::Stop,
            guardrails: Vec::new(),
            extra: kept_extra(kept),
        })
    }

    fn steps(&mut self, value: Option<&Value>, path: &str, depth: usize) -> Option<Vec<FlowStep>> {
        let is_branches = path.ends_with("branches");
        let (one, many) = if is_branches {
            ("branch", "branches")
        } else {
            ("step", "steps")
        };
        let Some(Value::Array(steps)) = value.filter(|steps| steps.as_array().is_none_or(|steps| !steps.is_empty()))
        else {
            self.wrong(path, format!("\"{many}\" must be a list with at least one {one}"));
            return None;
        };
        if depth > DEEPEST {
            self.wrong(
                path,
                format!("agents may lie inside each other {DEEPEST} times, not more"),
            );
            return None;
        }
        let steps = steps.iter().enumerate();
        let read: Vec<Option<FlowStep>> = steps
            .map(|(index, step)| self.step(step, &format!("{path}[{index}]"), depth))
            .collect();
        read.into_iter().collect()
    }

    fn step(&mut self, value: &Value, path: &str, depth: usize) -> Option<FlowStep> {
        let Some(map) = value.as_object() else {
            self.wrong(path, "a step is a list of named fields: \"ref\" or \"agent\", …");
            return None;
        };
        for (key, why) in [
            ("until", "an \"until\" belongs to a sequential agent, not to a step"),
            (
                "maxIterations",
                "\"maxIterations\" belongs to a sequential agent, not to a step",
            ),
        ] {
            if map.contains_key(key) {
                self.wrong(&join(path, key), why);
            }
        }
        let key = self.text(map, "stateKey", path);
        let when = match map.get("when") {
            None | Some(Value::Null) => None,
            Some(Value::String(when)) => Some(when.clone()),
            Some(Value::Bool(flag)) => Some(flag.to_string()),
            Some(_) => {
                self.wrong(
                    &join(path, "when"),
                    "\"when\" is a condition, such as \"{{language}} != en\"",
                );
                None
            }
        };
        let reads = match map.get("input") {
            None | Some(Value::Null) => None,
            Some(Value::Object(input)) => {
                self.only_texts(input, "input", &join(path, "input"));
                Some(input.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            Some(_) => {
                self.wrong(
                    &join(path, "input"),
                    "\"input\" names what the agent is given, such as { text: \"{{draft}}\" }",
                );
                None
            }
        };
        let mut extra = unknown(map, &STEP_KEYS);
        for key in extra
            .keys()
            .filter(|key| !matches!(key.as_str(), "until" | "maxIterations"))
        {
            self.warn(
                &join(path, key),
                format!("a step has no \"{key}\": it is kept, and does nothing"),
            );
        }
        let base = |id: String, kind: StepKind| FlowStep {
            id,
            key: key.clone(),
            name: None,
            kind,
            reads,
            when,
            routes: None,
            set: IndexMap::new(),
            input: None,
            output: None,
            model: None,
            extra: Map::new(),
        };
        match (map.get("ref"), map.get("agent")) {
            (Some(_), Some(_)) => {
                self.wrong(path, "the step has both \"ref\" and \"agent\": it runs one of them");
                None
            }
            (None, None) => {
                self.wrong(
                    path,
                    "the step must have either \"ref\" or \"agent\", and has neither \"ref\" nor \"agent\"",
                );
                None
            }
            (Some(Value::String(id)), None) if !id.trim().is_empty() => Some(FlowStep {
                extra,
                ..base(id.clone(), StepKind::Ref(id.clone()))
            }),
            (Some(_), None) => {
                self.wrong(&join(path, "ref"), "\"ref\" is the id of an agent");
                None
            }
            (None, Some(agent)) => {
                let agent = self.agent(agent, &join(path, "agent"), depth + 1)?;
                let mut step = base(agent.id, agent.kind);
                let mut kept = agent.kept;
                if let Some(own) = agent.key {
                    kept.insert("stateKey".to_owned(), Value::from(own.clone()));
                    step.key = step.key.or(Some(own));
                }
                if let Some(description) = agent.description {
                    kept.insert("description".to_owned(), Value::from(description));
                }
                if !kept.is_empty() {
                    extra.insert(KEPT.to_owned(), Value::Object(kept));
                }
                Some(FlowStep {
                    name: agent.name,
                    input: agent.input,
                    output: agent.output,
                    model: agent.model,
                    extra,
                    ..step
                })
            }
        }
    }

    fn agent(&mut self, value: &Value, path: &str, depth: usize) -> Option<Agent> {
        agent::read(self, value, path, depth)
    }

    /// A text that may be missing.
    fn text(&mut self, map: &Map<String, Value>, key: &str, path: &str) -> Option<String> {
        match map.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
            Some(_) => {
                self.wrong(&join(path, key), format!("\"{key}\" is a text"));
                None
            }
        }
    }

    /// Values that agntz wants to be texts with templates, at whatever depth they stand.
    fn only_texts(&mut self, map: &Map<String, Value>, what: &str, path: &str) {
        for (key, value) in map {
            let place = join(path, key);
            match value {
                Value::String(_) => {}
                Value::Object(inner) if what == "output" => self.only_texts(inner, what, &place),
                Value::Array(_) if what == "output" => {}
                Value::Object(_) | Value::Array(_) => self.wrong(
                    &place,
                    format!("values of \"{what}\" must be strings, template strings such as \"{{{{draft}}}}\", not a list or an object"),
                ),
                Value::Null | Value::Bool(_) | Value::Number(_) => self.wrong(
                    &place,
                    format!("values of \"{what}\" must be strings, template strings: write \"{value}\" between quotation marks"),
                ),
            }
        }
    }

    /// A text that must be there.
    fn needed(&mut self, map: &Map<String, Value>, key: &str, path: &str) -> Option<String> {
        if map.get(key).is_none_or(Value::is_null) {
            self.wrong(&join(path, key), format!("\"{key}\" is missing"));
            return None;
        }
        self.text(map, key, path)
    }
}

/// The fields that are none of these.
fn unknown(map: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let others = map.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    others.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn kept_extra(kept: Map<String, Value>) -> Map<String, Value> {
    match kept.is_empty() {
        true => Map::new(),
        false => Map::from_iter([(KEPT.to_owned(), Value::Object(kept))]),
    }
}

/// The one step of a single agent is given each key that the agent is given.
fn passed_on(schema: &Value) -> IndexMap<String, Value> {
    let keys = super::input::InputSchema::read(schema)
        .map(|schema| schema.keys)
        .unwrap_or_default();
    keys.into_iter()
        .map(|key| (key.name.clone(), Value::from(format!("{{{{{}}}}}", key.name))))
        .collect()
}

#[cfg(test)]
mod tests;
