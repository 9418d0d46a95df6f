//! What the steps of one body have come to, and what templates and conditions see of it.
//!
//! The names are latent's: `outputs`, `retries`, `metadata`, `current_phase`, `phase_history`; every
//! output is also there under its own key. In a manifest there are the keys alone.

use std::collections::HashSet;
use std::sync::Arc;

use contract::flow::Dialect;
use serde_json::{Map, Value};

use super::declared::Given;
use super::program::{Body, Stage};
use crate::flow::input::USER_QUERY;
use crate::template::{LISTS_OF_STEPS, Scope};

/// The state of one body; fresh for every execution, and never copied while it runs.
pub(super) struct State {
    dialect: Dialect,
    /// What the body was given, as its own names.
    input: Map<String, Value>,
    /// The same as it came, for the first step.
    raw: Value,
    outputs: Value,
    metadata: Value,
    retries: Value,
    history: Value,
    current: Value,
    messages: Arc<Value>,
    /// The key of the output before.
    last: Option<String>,
    entered: Vec<u32>,
    ran: Vec<u32>,
    /// Up to which step's end outputs were forgotten.
    forgotten: usize,
}

impl State {
    pub(super) fn new(
        dialect: Dialect,
        input: Map<String, Value>,
        raw: Value,
        stages: &[Stage],
        messages: &Arc<Value>,
    ) -> Self {
        // A step that has not begun has been retried no time.
        let retries = match dialect {
            Dialect::Flow => stages.iter().map(|stage| (stage.key.clone(), Value::from(0))).collect(),
            Dialect::Manifest | Dialect::Plan => Map::new(),
        };
        Self {
            dialect,
            input,
            raw,
            outputs: Value::Object(Map::new()),
            metadata: Value::Object(Map::new()),
            retries: Value::Object(retries),
            history: Value::Array(Vec::new()),
            current: Value::Null,
            messages: Arc::clone(messages),
            last: None,
            entered: vec![0; stages.len()],
            ran: vec![0; stages.len()],
            forgotten: 0,
        }
    }

    /// Lets go of the outputs that nobody asks for once the step at `place` is over.
    pub(super) fn forget(&mut self, body: &Body, place: usize) {
        let Value::Object(outputs) = &mut self.outputs else {
            return;
        };
        // Steps that a route led past are over, too.
        let over = body.forgotten_after.iter().take(place + 1).skip(self.forgotten);
        for step in over.flatten() {
            if let Some(output) = outputs.get_mut(&body.stages[*step].key) {
                *output = Value::Null;
            }
        }
        self.forgotten = self.forgotten.max(place + 1);
    }

    /// Counts that a step was come to, whether it runs or not; from 1 on.
    pub(super) fn enter(&mut self, place: usize) -> u32 {
        self.entered[place] += 1;
        self.entered[place]
    }

    /// Notes that a step runs now.
    pub(super) fn begin(&mut self, place: usize, stage: &Stage) {
        let retries = self.ran[place];
        self.ran[place] += 1;
        self.current = Value::String(stage.key.clone());
        if let Value::Array(history) = &mut self.history {
            history.push(self.current.clone());
        }
        put(&mut self.retries, &stage.key, Value::from(retries));
    }

    /// Stores an output; it is the value before the next step.
    pub(super) fn store(&mut self, key: &str, output: Value) {
        put(&mut self.outputs, key, output);
        self.last = Some(key.to_owned());
    }

    /// Stores an output beside others of the same time.
    pub(super) fn store_beside(&mut self, key: &str, output: Value) {
        put(&mut self.outputs, key, output);
    }

    /// Writes to the metadata.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        put(&mut self.metadata, name, value);
    }

    /// The output before the next step; at the beginning, what the body was given.
    pub(super) fn upstream(&self) -> &Value {
        match &self.last {
            Some(key) => &self.outputs[key.as_str()],
            None => &self.raw,
        }
    }

    /// The output of a step.
    pub(super) fn output(&self, key: &str) -> Option<&Value> {
        self.outputs.get(key)
    }

    /// The same as something given.
    pub(super) fn given(&self) -> Given {
        Given::Upstream(self.upstream().clone())
    }

    /// The keys of the steps that ran, in order.
    pub(super) fn phase_history(&self) -> Vec<String> {
        let history = self.history.as_array().into_iter().flatten();
        history.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// How often each step that ran was run again.
    pub(super) fn retry_counts(&self) -> Map<String, Value> {
        let ran: HashSet<&str> = self
            .history
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let retries = self.retries.as_object().into_iter().flatten();
        retries
            .filter(|(key, _)| ran.contains(key.as_str()))
            .map(|(key, count)| (key.clone(), count.clone()))
            .collect()
    }

    /// What was given, every output by key, and everything that was set.
    pub(super) fn into_maps(self) -> (Map<String, Value>, Map<String, Value>, Map<String, Value>) {
        let map = |value| match value {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        (self.input, map(self.outputs), map(self.metadata))
    }
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value);
    }
}

impl Scope for State {
    fn root(&self, name: &str) -> Option<&Value> {
        if let Some(found) = self.outputs.get(name).or_else(|| self.input.get(name)) {
            return Some(found);
        }
        match (name, self.dialect) {
            ("messages", _) => Some(&self.messages),
            (_, Dialect::Manifest | Dialect::Plan) => None,
            ("outputs", _) => Some(&self.outputs),
            ("metadata", _) => Some(&self.metadata),
            ("retries" | "retry_counts", _) => Some(&self.retries),
            ("phase_history", _) => Some(&self.history),
            ("current_phase", _) => Some(&self.current),
            (USER_QUERY, _) => Some(self.upstream()),
            _ => None,
        }
    }

    fn by_id(&self, name: &str) -> Option<&Value> {
        self.outputs.get(name)
    }

    fn has_ids_below(&self, name: &str) -> bool {
        let is_own = self.outputs.get(name).or_else(|| self.input.get(name)).is_some();
        self.dialect == Dialect::Flow && !is_own && LISTS_OF_STEPS.contains(&name)
    }
}

/// A name put over a scope.
pub(super) struct With<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pub(super) scope: &'a dyn Scope,
}

impl Scope for With<'_> {
    fn root(&self, name: &str) -> Option<&Value> {
        if name == self.name {
            Some(self.value)
        } else {
            self.scope.root(name)
        }
    }

    fn by_id(&self, name: &str) -> Option<&Value> {
        if name == self.name {
            Some(self.value)
        } else {
            self.scope.by_id(name)
        }
    }

    fn has_ids_below(&self, name: &str) -> bool {
        // What a step alone sees of all outputs is its own.
        LISTS_OF_STEPS.contains(&name) && (name == self.name || self.scope.has_ids_below(name))
    }
}
