//! A flow from a file: which dialect it is written in, and everything that is wrong with it.
//!
//! Each part is read on its own, so that one that is wrong does not hide what is wrong with the others. What a part must
//! hold is said by its type in `contract::flow`; the rules between parts are those of [`super::validate`].

use contract::error::Problem;
use contract::flow::{Dialect, Flow, FlowStep, Guardrail, Route};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::validate::{self, DEEPEST};
use super::{join, manifest};

/// The flows and agents that a `ref` may name, by id.
pub type Refs = IndexMap<String, Flow>;

/// What became of reading a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowReading {
    /// The flow, as far as every part of it could be read; it may still have problems between its parts.
    pub flow: Option<Flow>,
    /// Everything that must be put right, and the warnings.
    pub problems: Vec<Problem>,
}

impl FlowReading {
    /// Whether it may run.
    pub fn is_good(&self) -> bool {
        self.flow.is_some() && self.problems.iter().all(|problem| problem.warning)
    }
}

/// What a file's object is written in: an agntz manifest has a kind, an instruction or branches.
pub fn dialect(value: &Value) -> Dialect {
    let has = |key: &str| value.get(key).is_some();
    let steps = value.get("steps").and_then(Value::as_array).into_iter().flatten();
    let is_manifest_step = |step: &Value| {
        step.get("stateKey").is_some() || step.get("agent").is_some_and(|agent| agent.get("kind").is_some())
    };
    if has("dialect") {
        return match value["dialect"].as_str() {
            Some("plan") => Dialect::Plan,
            _ => Dialect::Flow,
        };
    }
    if has("kind")
        || has("instruction")
        || has("branches")
        || has("inputSchema")
        || steps.into_iter().any(is_manifest_step)
    {
        Dialect::Manifest
    } else {
        Dialect::Flow
    }
}

/// Reads a flow in either dialect and lists every problem at once. Without `refs`, whether what a `ref` names is there
/// is not looked at.
pub fn read(value: &Value, refs: Option<&Refs>) -> FlowReading {
    let mut reading = match dialect(value) {
        Dialect::Manifest => manifest::read(value),
        Dialect::Flow | Dialect::Plan => read_flow(value),
    };
    if let Some(flow) = &reading.flow {
        reading.problems.extend(validate::problems(flow, refs));
    }
    reading
}

/// Reads a flow in our own dialect, without the rules between its parts.
pub fn read_flow(value: &Value) -> FlowReading {
    let mut reader = Reader::default();
    let flow = reader.flow(value);
    let broken = reader.problems.iter().any(|problem| !problem.warning);
    FlowReading {
        flow: flow.filter(|_| !broken),
        problems: reader.problems,
    }
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

/// Every name under which a step says what it does.
const KINDS: [&str; 8] = ["ask", "tool", "agent", "group", "gate", "answer", "task", "ref"];

/// Those of them that have named values of their own.
const NAMED: [&str; 7] = ["ask", "tool", "agent", "group", "gate", "answer", "task"];

/// How one of them is written.
fn example(kind: &str) -> &'static str {
    match kind {
        "ask" => "{ instructions: \"…\" }",
        "tool" => "{ tool: file_read, args: { path: \"…\" } }",
        "agent" => "{ instructions: \"…\", tools: [file_read] }",
        "group" => "{ mode: parallel, steps: […] }",
        "task" => "{ goal: \"…\", expectedOutput: \"…\" }",
        _ => "{ text: \"…\" }",
    }
}

/// What a part should have been, in words: `this is a number, and should be a list`.
fn in_words(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    let Some((is, should)) = said
        .strip_prefix("invalid type: ")
        .and_then(|said| said.split_once(", expected "))
    else {
        return said
            .replace("unknown variant", "unknown word")
            .replace("missing field", "there is no");
    };
    let should = match should {
        "a sequence" => "a list",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a map" => "named values",
        other if other.starts_with("struct ") || other.contains(" enum ") => "named values",
        other if other.starts_with('u') || other.starts_with('i') => "a whole number",
        other if other.starts_with('f') => "a number",
        other => other,
    };
    let is = is
        .replace("sequence", "a list")
        .replace("map", "named values")
        .replace("string", "the text");
    format!("this is {is}, and should be {should}")
}

impl Reader {
    fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    fn flow(&mut self, value: &Value) -> Option<Flow> {
        let Some(map) = value.as_object() else {
            self.wrong("", "a flow is a list of named fields: id, steps, …");
            return None;
        };
        self.id(map, "");
        let mut map = map.clone();
        let steps = self.steps(map.shift_remove("steps"), "", 1);
        if let Some(Value::Array(guardrails)) = map.get("guardrails") {
            for (index, guardrail) in guardrails.iter().enumerate() {
                let _: Option<Guardrail> = self.part(guardrail.clone(), &format!("guardrails[{index}]"));
            }
        }
        map.insert("steps".to_owned(), Value::Array(Vec::new()));
        if !map.get("id").is_some_and(Value::is_string) {
            map.insert("id".to_owned(), Value::from("?"));
        }
        let already = self.problems.len();
        let mut flow: Flow = match serde_json::from_value(Value::Object(map)) {
            Ok(flow) => flow,
            // A wrong guardrail was named already, at its place.
            Err(_) if already > 0 => return None,
            Err(error) => {
                self.wrong("", in_words(&error));
                return None;
            }
        };
        flow.steps = steps?;
        Some(flow)
    }

    fn id(&mut self, map: &Map<String, Value>, path: &str) {
        match map.get("id") {
            Some(Value::String(id)) if !id.trim().is_empty() => {}
            Some(Value::String(_)) => self.wrong(&join(path, "id"), "\"id\" is empty"),
            Some(_) => self.wrong(&join(path, "id"), "\"id\" is a text"),
            None => self.wrong(
                &join(path, "id"),
                "\"id\" is missing: it names the step in what is shown, and is its key",
            ),
        }
    }

    /// The steps of a level; none when one of them could not be read.
    fn steps(&mut self, steps: Option<Value>, path: &str, depth: usize) -> Option<Vec<FlowStep>> {
        let place = join(path, "steps");
        let Some(Value::Array(steps)) = steps else {
            self.wrong(&place, "write \"steps\" as a list, with at least one step");
            return None;
        };
        if depth > DEEPEST {
            self.wrong(
                &place,
                format!("steps may lie inside each other {DEEPEST} times, not more"),
            );
            return None;
        }
        let read: Vec<Option<FlowStep>> = steps
            .into_iter()
            .enumerate()
            .map(|(index, step)| self.step(step, &format!("{place}[{index}]"), depth))
            .collect();
        read.into_iter().collect()
    }

    fn step(&mut self, step: Value, path: &str, depth: usize) -> Option<FlowStep> {
        let Value::Object(mut map) = step else {
            self.wrong(path, "a step is a list of named fields: id, and what it does");
            return None;
        };
        let before = self.problems.len();
        self.id(&map, path);
        self.one_kind(&map, path);
        for (key, value) in map.iter().filter(|(key, _)| NAMED.contains(&key.as_str())) {
            if !value.is_object() {
                let message = format!("write what \"{key}\" does as named values, such as {}", example(key));
                self.wrong(&join(path, key), message);
            }
        }
        if let Some(Value::Array(routes)) = map.get("routes") {
            for (index, route) in routes.iter().enumerate() {
                let _: Option<Route> = self.part(route.clone(), &format!("{path}.routes[{index}]"));
            }
        }
        let group = map.get_mut("group").and_then(Value::as_object_mut);
        let inner = group.map(|group| {
            let steps = group.insert("steps".to_owned(), Value::Array(Vec::new()));
            self.steps(steps, &join(path, "group"), depth + 1)
        });
        if self.problems.len() > before {
            return None;
        }
        let mut step: FlowStep = self.part(Value::Object(map), path)?;
        if let (contract::flow::StepKind::Group(group), Some(inner)) = (&mut step.kind, inner) {
            group.steps = inner?;
        }
        Some(step)
    }

    fn one_kind(&mut self, map: &Map<String, Value>, path: &str) {
        let given: Vec<&str> = KINDS.into_iter().filter(|kind| map.contains_key(*kind)).collect();
        match given.as_slice() {
            [_] => {}
            [] => self.wrong(
                path,
                format!(
                    "the step has neither a kind nor a \"ref\": write one of {}",
                    KINDS.join(", ")
                ),
            ),
            [first, .., last] => self.wrong(
                path,
                format!("the step has both \"{first}\" and \"{last}\": it does one thing"),
            ),
        }
    }

    fn part<T: DeserializeOwned>(&mut self, value: Value, path: &str) -> Option<T> {
        match serde_json::from_value(value) {
            Ok(part) => Some(part),
            Err(error) => {
                self.wrong(path, in_words(&error));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn tells_the_dialects_apart() {
        let step = json!({ "id": "a", "ask": { "instructions": "i" } });
        assert_eq!(dialect(&json!({ "id": "f", "steps": [step] })), Dialect::Flow);
        assert_eq!(
            dialect(&json!({ "id": "f", "dialect": "plan", "steps": [] })),
            Dialect::Plan
        );
        let agent = json!({ "id": "a", "agent": { "instructions": "i", "tools": [] } });
        assert_eq!(dialect(&json!({ "id": "f", "steps": [agent] })), Dialect::Flow);
        for manifest in [
            json!({ "id": "a", "kind": "llm" }),
            json!({ "id": "a", "branches": [] }),
            json!({ "id": "a", "steps": [{ "agent": { "id": "b", "kind": "llm" } }] }),
            json!({ "id": "a", "steps": [{ "ref": "b", "stateKey": "c" }] }),
        ] {
            assert_eq!(dialect(&manifest), Dialect::Manifest, "{manifest}");
        }
    }

    /// Something like a file: the words of both dialects in any order, with any values.
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c]|\\{\\{[a-c]\\}\\}|\\{\\{|sequential|parallel|llm|tool|reads|string|a == b".prop_map(Value::from),
        ];
        let word = "id|kind|steps|branches|agent|ref|ask|tool|group|answer|input|inputSchema|reads|when|until|max|\
                    maxIterations|routes|to|finish|text|instructions|instruction|model|provider|name|mode|order|output|\
                    key|stateKey|set|limits|guardrails|condition|params|tools";
        leaf.prop_recursive(6, 60, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((word, inner), 0..7)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_file_makes_the_reader_stumble(value in anything()) {
            let reading = read(&value, Some(&Refs::new()));
            prop_assert!(reading.flow.is_some() || !reading.problems.is_empty());
            let same = manifest::read(&value).flow.is_none_or(|flow| {
                // What was read as a manifest can be written as one, and says the same.
                manifest::write(&flow).is_ok_and(|written| manifest::read(&written).flow == Some(flow))
            });
            prop_assert!(same);
        }
    }
}
