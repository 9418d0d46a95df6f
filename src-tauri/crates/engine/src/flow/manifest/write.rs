//! From a flow back to a manifest.

use contract::error::Problem;
use contract::flow::{Flow, FlowStep, GroupMode, Order, StepKind};
use serde_json::{Map, Value, json};

use super::KEPT;
use crate::flow::input::InputSchema;
use crate::flow::join;

/// The manifest of a flow, with everything that was kept.
///
/// # Errors
/// Each step that agntz has no kind for.
pub fn write(flow: &Flow) -> Result<Value, Vec<Problem>> {
    let mut writer = Writer { problems: Vec::new() };
    let value = writer.flow(flow);
    if writer.problems.is_empty() {
        Ok(Value::Object(value))
    } else {
        Err(writer.problems)
    }
}

struct Writer {
    problems: Vec<Problem>,
}

fn kept(extra: &Map<String, Value>) -> Map<String, Value> {
    extra.get(KEPT).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Writes a text when there is one.
fn put(map: &mut Map<String, Value>, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        map.insert(key.to_owned(), Value::from(text));
    }
}

impl Writer {
    fn flow(&mut self, flow: &Flow) -> Map<String, Value> {
        let mut kept = kept(&flow.extra);
        let single = kept.shift_remove("kind");
        let mut out = Map::from_iter([("id".to_owned(), Value::from(flow.id.clone()))]);
        put(&mut out, "name", flow.name.as_deref());
        put(&mut out, "description", flow.description.as_deref());
        put(&mut out, "stateKey", flow.key.as_deref());
        match (single, flow.steps.as_slice()) {
            (Some(_), [step]) => {
                let mut body = self.body(step, &mut kept, "");
                if let Some(schema) = &flow.input {
                    body.insert("inputSchema".to_owned(), schema.clone());
                }
                out.extend(body);
            }
            _ => out.extend(self.group(
                &flow.steps,
                &flow.mode,
                flow.order,
                flow.output.as_ref(),
                flow.input.as_ref(),
                "",
            )),
        }
        if !flow.guardrails.is_empty() {
            self.problems
                .push(Problem::new("guardrails", "agntz has no guardrails"));
        }
        out.extend(kept);
        out
    }

    fn group(
        &mut self,
        steps: &[FlowStep],
        mode: &GroupMode,
        order: Order,
        output: Option<&Value>,
        input: Option<&Value>,
        path: &str,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        let (kind, list) = match mode {
            GroupMode::Sequence { .. } => ("sequential", "steps"),
            GroupMode::Parallel => ("parallel", "branches"),
            GroupMode::ForEach { .. } => {
                self.problems
                    .push(Problem::new(join(path, "mode"), "agntz has no steps for each item"));
                ("sequential", "steps")
            }
        };
        if order == Order::Reads {
            self.problems.push(Problem::new(
                join(path, "order"),
                "agntz runs steps in their order only",
            ));
        }
        out.insert("kind".to_owned(), Value::from(kind));
        if let Some(schema) = input {
            out.insert("inputSchema".to_owned(), schema.clone());
        }
        if let GroupMode::Sequence { until, max } = mode {
            put(&mut out, "until", until.as_deref());
            if let Some(max) = max {
                out.insert("maxIterations".to_owned(), Value::from(*max));
            }
        }
        let written: Vec<Value> = steps
            .iter()
            .enumerate()
            .map(|(index, step)| Value::Object(self.step(step, &join(path, &format!("{list}[{index}]")))))
            .collect();
        out.insert(list.to_owned(), Value::Array(written));
        if let Some(output) = output {
            out.insert("output".to_owned(), output.clone());
        }
        out
    }

    fn step(&mut self, step: &FlowStep, path: &str) -> Map<String, Value> {
        let mut out = Map::new();
        let mut kept = kept(&step.extra);
        let own_key = kept.shift_remove("stateKey");
        if step.routes.is_some() || !step.set.is_empty() {
            self.problems
                .push(Problem::new(path, "agntz has no routes and no \"set\""));
        }
        let key = step
            .key
            .as_deref()
            .filter(|key| own_key.as_ref().is_none_or(|own| own != key));
        if let StepKind::Ref(id) = &step.kind {
            out.insert("ref".to_owned(), Value::from(id.clone()));
        } else {
            let mut agent = Map::from_iter([("id".to_owned(), Value::from(step.id.clone()))]);
            put(&mut agent, "name", step.name.as_deref());
            if let Some(own) = own_key {
                agent.insert("stateKey".to_owned(), own);
            }
            let body = self.body(step, &mut kept, &join(path, "agent"));
            agent.extend(body);
            if let (Some(schema), false) = (&step.input, agent.contains_key("inputSchema")) {
                agent.insert("inputSchema".to_owned(), schema.clone());
            }
            agent.extend(kept);
            out.insert("agent".to_owned(), Value::Object(agent));
        }
        if let Some(reads) = &step.reads {
            let reads: Map<String, Value> = reads.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            out.insert("input".to_owned(), Value::Object(reads));
        }
        put(&mut out, "stateKey", key);
        put(&mut out, "when", step.when.as_deref());
        out.extend(
            step.extra
                .iter()
                .filter(|(key, _)| *key != KEPT)
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        out
    }

    /// What a kind has of its own. What it takes from `kept` is no longer there.
    fn body(&mut self, step: &FlowStep, kept: &mut Map<String, Value>, path: &str) -> Map<String, Value> {
        let mut out = Map::new();
        match &step.kind {
            StepKind::Ask(ask) => {
                self.llm(step, &ask.instructions, &[], kept, &mut out);
                put(&mut out, "prompt", ask.prompt.as_deref());
            }
            StepKind::Agent(agent) => self.llm(step, &agent.instructions, &agent.tools, kept, &mut out),
            StepKind::Tool(tool) => {
                out.insert("kind".to_owned(), Value::from("tool"));
                let mut written = kept
                    .shift_remove("tool")
                    .and_then(|rest| rest.as_object().cloned())
                    .unwrap_or_else(|| Map::from_iter([("kind".to_owned(), Value::from("local"))]));
                written.insert("name".to_owned(), Value::from(tool.tool.clone()));
                if !tool.args.is_empty() {
                    let args: Map<String, Value> = tool
                        .args
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect();
                    written.insert("params".to_owned(), Value::Object(args));
                }
                out.insert("tool".to_owned(), Value::Object(written));
                output_schema(step, kept, &mut out);
            }
            StepKind::Group(group) => {
                out = self.group(
                    &group.steps,
                    &group.mode,
                    group.order,
                    group.output.as_ref(),
                    step.input.as_ref(),
                    path,
                );
            }
            StepKind::Gate(_) | StepKind::Answer(_) | StepKind::Task(_) | StepKind::Ref(_) => {
                let message = format!("agntz has no kind for the step \"{}\"", step.id);
                self.problems.push(Problem::new(path, message));
            }
        }
        out
    }

    fn llm(
        &mut self,
        step: &FlowStep,
        instructions: &str,
        tools: &[String],
        kept: &mut Map<String, Value>,
        out: &mut Map<String, Value>,
    ) {
        out.insert("kind".to_owned(), Value::from("llm"));
        let (provider, name) = step
            .model
            .as_deref()
            .and_then(|model| model.split_once(':'))
            .unwrap_or_default();
        let mut model = match kept.shift_remove("model") {
            Some(Value::Object(model)) => model,
            _ => Map::new(),
        };
        model.insert("provider".to_owned(), Value::from(provider));
        model.insert("name".to_owned(), Value::from(name));
        out.insert("model".to_owned(), Value::Object(model));
        out.insert("instruction".to_owned(), Value::from(instructions));
        output_schema(step, kept, out);
        match kept.shift_remove("tools") {
            Some(written) => {
                out.insert("tools".to_owned(), written);
            }
            None if tools.is_empty() => {}
            None => {
                let tools: Vec<Value> = tools
                    .iter()
                    .map(|name| json!({ "kind": "local", "name": name }))
                    .collect();
                out.insert("tools".to_owned(), Value::Array(tools));
            }
        }
    }
}

/// The schema in the spelling of the file, as long as it still says the same.
fn output_schema(step: &FlowStep, kept: &mut Map<String, Value>, out: &mut Map<String, Value>) {
    let written = kept.shift_remove("outputSchema");
    let Some(schema) = &step.output else { return };
    let written = written.filter(|written| InputSchema::to_json_schema(written) == *schema);
    out.insert("outputSchema".to_owned(), written.unwrap_or_else(|| schema.clone()));
}
