//! What a flow in our own dialect asks of tools and checks, held against those that there are: a tool that is not there,
//! arguments that it does not take, a task that could not begin. What holds a template is known only when it runs.
//!
//! Not here: the tools of a manifest, which are its own system's, and those of a server that is connected to.

use std::collections::BTreeMap;

use contract::error::Problem;
use engine::flow::reading::Refs;
use engine::schema;
use serde_json::{Map, Value, json};

use crate::task_files;

/// Between a server's name and the name of its tool.
const OF_A_SERVER: &str = "__";

/// Everything that is wrong, in the order of the file.
pub(super) fn problems(flow: &Value, refs: &Refs) -> Vec<Problem> {
    let tools = tools::all().into_iter().map(|tool| tool.info());
    let mut look = Look {
        tools: tools.map(|info| (info.name, info.parameters)).collect(),
        refs,
        problems: Vec::new(),
    };
    look.steps(flow, "");
    look.problems
}

struct Look<'a> {
    /// The schemas of the arguments, by name.
    tools: BTreeMap<String, Value>,
    refs: &'a Refs,
    problems: Vec<Problem>,
}

impl Look<'_> {
    fn wrong(&mut self, path: String, message: String) {
        self.problems.push(Problem::new(path, message));
    }

    fn steps(&mut self, of: &Value, path: &str) {
        let steps = of.get("steps").and_then(Value::as_array);
        for (index, step) in steps.into_iter().flatten().enumerate() {
            let path = match path {
                "" => format!("steps[{index}]"),
                path => format!("{path}.steps[{index}]"),
            };
            if let Some(tool) = step.get("tool") {
                self.tool(tool, &format!("{path}.tool"));
            }
            if let Some(agent) = step.get("agent") {
                self.agent(agent, &format!("{path}.agent"));
            }
            if let Some(task) = step.get("task") {
                self.task(task, &format!("{path}.task"));
            }
            if let Some(group) = step.get("group") {
                self.steps(group, &format!("{path}.group"));
            }
        }
    }

    fn tool(&mut self, step: &Value, path: &str) {
        let Some(name) = step.get("tool").and_then(Value::as_str) else {
            return;
        };
        if self.is_elsewhere(name) {
            return;
        }
        let Some(schema) = self.tools.get(name).cloned() else {
            self.unknown(name, &format!("{path}.tool"));
            return;
        };
        // Without arguments the step takes those that it is handed.
        let Some(given) = step.get("args").and_then(Value::as_object) else {
            return;
        };
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        for (argument, value) in given {
            let at = format!("{path}.args.{argument}");
            let Some(property) = properties.get(argument) else {
                let takes: Vec<&str> = properties.keys().map(String::as_str).collect();
                let message = format!("{name} takes no \"{argument}\"; it takes {}", takes.join(", "));
                self.wrong(at, message);
                continue;
            };
            if has_template(value) {
                continue;
            }
            // Alone, with what it refers to.
            let mut alone = json!({ "type": "object", "properties": { argument: property } });
            if let (Value::Object(alone), Some(defs)) = (&mut alone, schema.get("$defs")) {
                alone.insert("$defs".to_owned(), defs.clone());
            }
            if let Err(problems) = schema::normalise(&alone, json!({ argument: value })) {
                self.wrong(at, problems.join("; "));
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required
            .filter_map(Value::as_str)
            .filter(|name| !given.contains_key(*name));
        for argument in missing {
            self.wrong(format!("{path}.args"), format!("{name} needs \"{argument}\""));
        }
    }

    fn agent(&mut self, agent: &Value, path: &str) {
        let tools = agent.get("tools").and_then(Value::as_array).into_iter().flatten();
        for (index, name) in tools
            .enumerate()
            .filter_map(|(index, name)| Some((index, name.as_str()?)))
        {
            if !self.is_elsewhere(name) && !self.tools.contains_key(name) && !self.refs.contains_key(name) {
                self.unknown(name, &format!("{path}.tools[{index}]"));
            }
        }
    }

    /// A task as a step: by the rules of a task's file, as far as it is written out.
    fn task(&mut self, step: &Value, path: &str) {
        let Some(written) = step.as_object() else { return };
        let mut task = written.clone();
        task.entry("context").or_insert_with(|| json!({}));
        for field in ["goal", "expectedOutput"] {
            // Whatever it comes to, it will be there.
            if task.get(field).is_some_and(has_template) {
                task.insert(field.to_owned(), json!("known when it runs"));
            }
        }
        let problems = task_files::read(&Value::Object(task)).problems;
        let severe = problems.into_iter().filter(|problem| !problem.warning);
        self.problems.extend(severe.map(|problem| Problem {
            path: format!("{path}.{}", problem.path),
            ..problem
        }));
    }

    /// Whether it is the tool of a server that is connected to, or is known only when it runs.
    fn is_elsewhere(&self, name: &str) -> bool {
        name.contains(OF_A_SERVER) || name.contains("{{")
    }

    fn unknown(&mut self, name: &str, path: &str) {
        let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        let message = format!("there is no tool \"{name}\"; there are {}", known.join(", "));
        self.wrong(path.to_owned(), message);
    }
}

/// Whether a template stands anywhere in it.
fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{{"),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(fields) => fields.values().any(has_template),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
