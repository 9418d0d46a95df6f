//! A plan that passed, as a flow that can be run again (flows page, "Files"): a step reads the results that it depended
//! on, and what came from the task's context becomes an input, which has the value of then as its default. So the flow
//! does the same again when nothing is given, and the same for another month when another month is given.
//!
//! Deliberately not here: whether the plan passed, and where the flow is kept.

use std::collections::HashMap;

use contract::error::Problem;
use contract::flow::{
    AgentMode, AgentStep, AskStep, DEFAULT_MAX_ROUNDS, Dialect, Flow, FlowLimits, FlowStep, GroupMode, OnFailure,
    Order, StepKind, ToolStep,
};
use contract::plan::{Mode, Plan, PlanStep, Tier};
use contract::task::Task;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::template::is_name_character;

/// Results of earlier cycles that the plan uses, under their names, such as `cycle_1.step_3`.
pub type Results = IndexMap<String, Value>;

/// The name under which the fixed arguments of a step's later tools refer to the result of this one, from 1.
pub(crate) fn result_name(number: usize) -> String {
    format!("tool_{number}")
}

/// The flow of a plan.
///
/// # Errors
/// Each result of an earlier cycle that the plan uses and that is not there.
pub fn plan_to_flow(plan: &Plan, task: &Task, results: &Results) -> Result<Flow, Vec<Problem>> {
    let missing: Vec<Problem> = plan
        .steps
        .iter()
        .flat_map(|step| step.inputs.iter().map(move |name| (step, name)))
        .filter(|(_, name)| !results.contains_key(*name))
        .map(|(step, name)| {
            Problem::new(
                step.id.clone(),
                format!("the result \"{name}\" that it was given is not there"),
            )
        })
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let names = Names::new(plan, task, results);
    Ok(Flow {
        id: id_of(&task.title()),
        name: Some(task.title()),
        version: None,
        description: Some(task.goal.clone()),
        dialect: Dialect::Plan,
        key: None,
        model: None,
        initial: None,
        input: names.schema(),
        steps: plan.steps.iter().map(|step| names.step(step, task)).collect(),
        mode: GroupMode::default(),
        output: None,
        limits: FlowLimits {
            max_tokens: Some(task.limits.max_tokens),
            tool_timeout: Some(task.limits.tool_timeout),
            max_parallel: Some(task.limits.max_parallel),
            ..FlowLimits::default()
        },
        order: Order::Reads,
        on_failure: OnFailure::SkipDependents,
        guardrails: Vec::new(),
        extra: Map::new(),
    })
}

/// A title as an id: small letters, digits and hyphens.
fn id_of(title: &str) -> String {
    let words: Vec<String> = title
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    match words.is_empty() {
        true => "plan".to_owned(),
        false => words.join("-"),
    }
}

/// What the flow is given: values of the context, and results that no step of it makes.
struct Names<'a> {
    /// The input that has this value in the context; longer texts first.
    context: Vec<(&'a Value, String)>,
    /// The input that holds this earlier result.
    earlier: HashMap<&'a str, String>,
    defaults: IndexMap<String, &'a Value>,
}

impl<'a> Names<'a> {
    fn new(plan: &'a Plan, task: &'a Task, results: &'a Results) -> Self {
        let mut names = Self {
            context: Vec::new(),
            earlier: HashMap::new(),
            defaults: IndexMap::new(),
        };
        let taken: std::collections::HashSet<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
        for (key, value) in &task.context {
            if value.is_string() || value.is_number() {
                let name = names.free(key, &taken);
                names.defaults.insert(name.clone(), value);
                names.context.push((value, name));
            }
        }
        names
            .context
            .sort_by_key(|(value, _)| std::cmp::Reverse(value.as_str().map_or(0, str::len)));
        let used: indexmap::IndexSet<&str> = plan
            .steps
            .iter()
            .flat_map(|step| &step.inputs)
            .map(String::as_str)
            .collect();
        for name in used {
            if let Some((name, value)) = results.get_key_value(name) {
                let input = names.free(name, &taken);
                names.defaults.insert(input.clone(), value);
                names.earlier.insert(name, input);
            }
        }
        names
    }

    /// A name like this one that can stand in a path and is nobody else's.
    fn free(&self, like: &str, taken: &std::collections::HashSet<&str>) -> String {
        let plain: String = like
            .chars()
            .map(|character| if is_name_character(character) { character } else { '_' })
            .collect();
        let is_free = |name: &str| {
            !taken.contains(name)
                && !self.defaults.contains_key(name)
                && !super::validate::is_own_name(name)
                && !name.is_empty()
        };
        let numbered = (1..).map(|number| match number {
            1 => plain.clone(),
            2 => format!("input_{plain}"),
            more => format!("input_{plain}_{more}"),
        });
        numbered.into_iter().find(|name| is_free(name)).unwrap_or_default()
    }

    fn schema(&self) -> Option<Value> {
        let property = |value: &Value| match value {
            Value::String(_) => json!({ "type": "string", "default": value }),
            Value::Number(_) => json!({ "type": "number", "default": value }),
            other => json!({ "default": other }),
        };
        let properties: Map<String, Value> = self
            .defaults
            .iter()
            .map(|(name, value)| (name.clone(), property(value)))
            .collect();
        (!properties.is_empty()).then(|| json!({ "type": "object", "properties": properties }))
    }

    fn step(&self, step: &PlanStep, task: &Task) -> FlowStep {
        let mut reads: IndexMap<String, Value> = step
            .dependencies
            .iter()
            .map(|id| (id.clone(), Value::from(format!("{{{{{id}}}}}"))))
            .collect();
        for name in &step.inputs {
            if let Some(input) = self.earlier.get(name.as_str()) {
                reads.insert(input.clone(), Value::from(format!("{{{{{input}}}}}")));
            }
        }
        FlowStep {
            id: step.id.clone(),
            key: None,
            name: Some(step.title().to_owned()),
            kind: self.kind(step),
            reads: Some(reads),
            when: None,
            routes: None,
            set: IndexMap::new(),
            input: None,
            output: None,
            model: step.model.clone().or_else(|| model_of(step.tier, task)),
            extra: Map::new(),
        }
    }

    fn kind(&self, step: &PlanStep) -> StepKind {
        let instructions = self.words(&format!(
            "{}\n\nExpected outcome: {}",
            step.description, step.expected_outcome
        ));
        let args: IndexMap<String, Value> = step
            .args
            .iter()
            .map(|(tool, args)| (tool.clone(), self.value(args, step)))
            .collect();
        match step.tools.as_slice() {
            [] if step.mode == Mode::EachOnce => StepKind::Ask(AskStep {
                instructions,
                prompt: None,
                temperature: 0.0,
                max_tokens: 4096,
                extra: Map::new(),
            }),
            [tool] if step.mode == Mode::EachOnce && args.get(tool).is_some_and(Value::is_object) => {
                StepKind::Tool(ToolStep {
                    tool: tool.clone(),
                    args: args
                        .get(tool)
                        .and_then(Value::as_object)
                        .cloned()
                        .unwrap_or_default()
                        .into_iter()
                        .collect(),
                    extra: Map::new(),
                })
            }
            tools => StepKind::Agent(AgentStep {
                instructions,
                tools: tools.to_vec(),
                mode: match step.mode {
                    Mode::EachOnce => AgentMode::EachOnce,
                    Mode::Free => AgentMode::Free {
                        max_rounds: step.max_rounds.unwrap_or(DEFAULT_MAX_ROUNDS),
                    },
                },
                args: match step.mode {
                    Mode::EachOnce => args,
                    Mode::Free => IndexMap::new(),
                },
                temperature: 0.0,
                max_tokens: 4096,
                extra: Map::new(),
            }),
        }
    }

    /// An argument, with what a plan refers to as a flow refers to it.
    fn value(&self, value: &Value, step: &PlanStep) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.value(item, step)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), self.value(value, step)))
                .collect(),
            Value::String(text) => Value::String(self.text(text, step)),
            Value::Number(_) => match self.context.iter().find(|(other, _)| *other == value) {
                Some((_, name)) => Value::from(format!("{{{{{name}}}}}")),
                None => value.clone(),
            },
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    fn text(&self, text: &str, step: &PlanStep) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            if let Some(before) = rest[..open].strip_suffix('\\') {
                out.push_str(&self.words(before));
                out.push_str("\\{{");
                rest = &rest[open + 2..];
                continue;
            }
            out.push_str(&self.words(&rest[..open]));
            let close = rest[open..].find("}}").map(|close| open + close);
            let reference = close.and_then(|close| self.reference(rest[open + 2..close].trim(), step));
            match (close, reference) {
                (Some(close), Some(reference)) => {
                    out.push_str(&reference);
                    rest = &rest[close + 2..];
                }
                _ => {
                    out.push_str("\\{{");
                    rest = &rest[open + 2..];
                }
            }
        }
        out.push_str(&self.words(rest));
        out
    }

    /// A reference of the plan as one of the flow; none when the plan means it as text.
    fn reference(&self, path: &str, step: &PlanStep) -> Option<String> {
        let results: Vec<String> = (1..step.tools.len()).map(result_name).collect();
        let names = step.dependencies.iter().chain(&step.inputs).chain(&results);
        let root = names
            .filter(|name| {
                let rest = path.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            })
            .max_by_key(|name| name.len())?;
        let name = self.earlier.get(root.as_str()).unwrap_or(root);
        let whole = format!("{name}{}", &path[root.len()..]);
        crate::template::Path::parse(&whole)
            .ok()
            .map(|path| format!("{{{{{path}}}}}"))
    }

    /// Words that are no reference, with the values of the context as inputs. Only whole words count.
    fn words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let begins = !out.chars().next_back().is_some_and(char::is_alphanumeric);
            let found = self.context.iter().find(|(value, _)| {
                let word = value.as_str().unwrap_or_default();
                let after = rest.strip_prefix(word).and_then(|after| after.chars().next());
                word.chars().count() > 2
                    && begins
                    && rest.starts_with(word)
                    && !after.is_some_and(char::is_alphanumeric)
            });
            // A backslash before an input would keep its braces as text.
            match found.filter(|_| !out.ends_with('\\')) {
                Some((value, name)) => {
                    out.push_str(&format!("{{{{{name}}}}}"));
                    rest = &rest[value.as_str().unwrap_or_default().len()..];
                }
                None if rest.starts_with("{{") || rest.starts_with("}}") => {
                    out.push('\\');
                    out.push_str(&rest[..2]);
                    rest = &rest[2..];
                }
                None => {
                    out.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        out
    }
}

/// The model that the task names for such steps.
fn model_of(tier: Tier, task: &Task) -> Option<String> {
    let executor = task.models.as_ref()?.executor.as_ref()?;
    match tier {
        Tier::Low => executor.low.clone(),
        Tier::High => executor.high.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{input, reading};
    use crate::references;
    use crate::template::{Mapping, Template};

    fn task() -> Task {
        let task = json!({ "goal": "Add up May 2026", "expectedOutput": "a sum", "context": { "month": "May", "year": 2026, "step_1": "taken", "list": [1] } });
        serde_json::from_value(task).unwrap()
    }

    fn plan() -> Plan {
        let plan = json!({ "reasoning": "r", "estimatedTokens": 1.0, "steps": [
            { "id": "step_1", "description": "Read May", "tools": ["file_read"], "expectedOutcome": "rows", "dependencies": [],
              "args": { "file_read": { "path": "in/May.csv", "year": 2026 } } },
            { "id": "step_2", "description": "Write {{x}} }}", "tools": ["a", "file_write"], "expectedOutcome": "May", "dependencies": ["step_1"], "inputs": ["cycle_1.step_3"],
              "args": { "file_write": { "content": "{{step_1.rows[0]}} {{cycle_1.step_3.sum}} {{other}} \\{{step_1}} {{ a }} b}} Maybe May", "n": "{{step_1}}" } } },
            { "id": "step_3", "description": "Think", "tools": [], "expectedOutcome": "words", "dependencies": ["step_2", "step_1"], "tier": "high" }
        ] });
        serde_json::from_value(plan).unwrap()
    }

    fn results() -> Results {
        Results::from([("cycle_1.step_3".to_owned(), json!({ "sum": 7 }))])
    }

    #[test]
    fn the_flow_has_no_problems_and_runs_in_the_order_of_reading() {
        let flow = plan_to_flow(&plan(), &task(), &results()).unwrap();
        let written = serde_json::to_value(&flow).unwrap();
        let reading = reading::read(&written, Some(&reading::Refs::new()));
        assert_eq!(reading.problems, []);
        assert_eq!(reading.flow.unwrap(), flow);
        assert_eq!(
            (flow.order, flow.on_failure, flow.id.as_str()),
            (Order::Reads, OnFailure::SkipDependents, "add-up-may-2026")
        );
        let reads: Vec<_> = flow.steps[1]
            .reads
            .iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(reads, ["step_1", "cycle_1_step_3"]);
    }

    #[test]
    fn what_varied_becomes_an_input() {
        let flow = plan_to_flow(&plan(), &task(), &results()).unwrap();
        let schema = input::InputSchema::read(flow.input.as_ref().unwrap()).unwrap();
        let names: Vec<_> = schema.keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["month", "year", "input_step_1", "cycle_1_step_3"]);
        let StepKind::Tool(tool) = &flow.steps[0].kind else {
            panic!()
        };
        assert_eq!(tool.args["path"], json!("in/{{month}}.csv"));
        let june = input::initial_state(Some(&schema), &json!({ "month": "June" }));
        let args = Mapping::parse(&json!(tool.args)).unwrap().value(&june).unwrap();
        assert_eq!(args, json!({ "path": "in/June.csv", "year": 2026 }));
    }

    #[test]
    fn with_nothing_given_the_arguments_are_those_of_the_plan() {
        let (plan, results) = (plan(), results());
        let flow = plan_to_flow(&plan, &task(), &results).unwrap();
        let schema = input::InputSchema::read(flow.input.as_ref().unwrap()).unwrap();
        let mut state = input::initial_state(Some(&schema), &json!({}));
        let rows = json!({ "rows": [1.5] });
        state.insert("step_1".to_owned(), rows.clone());
        let StepKind::Agent(agent) = &flow.steps[1].kind else {
            panic!()
        };
        let as_flow = Mapping::parse(&agent.args["file_write"])
            .unwrap()
            .value(&state)
            .unwrap();
        let given = IndexMap::from([
            ("step_1".to_owned(), std::sync::Arc::new(rows)),
            (
                "cycle_1.step_3".to_owned(),
                std::sync::Arc::new(results["cycle_1.step_3"].clone()),
            ),
        ]);
        assert_eq!(
            as_flow,
            references::substitute(&plan.steps[1].args["file_write"], &given).unwrap()
        );
        let said = Template::parse(&agent.instructions).unwrap().render(&state).unwrap();
        assert_eq!(said, "Write {{x}} }}\n\nExpected outcome: May");
    }

    #[test]
    fn a_result_that_is_gone_is_named() {
        let problems = plan_to_flow(&plan(), &task(), &Results::new()).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].to_string().contains("\"cycle_1.step_3\""),
            "{}",
            problems[0]
        );
    }
}
