//! What a flow could change, read from its steps before it runs: what a person is shown and asked about (product page,
//! "Rules of the house"; goal-pipeline page: "a file brings requests, never grants").
//!
//! A tool whose arguments are fixed is asked what they touch. Where a model or a template makes them, the most that the
//! tool may do counts. The scratchpad is the run's own and no change.

use std::collections::HashSet;

use contract::access::Access;
use contract::flow::{AgentStep, Flow, FlowRun, FlowStep, StepKind, ToolStep};
use contract::ports::tool::Tool;
use engine::Registry;
use serde_json::{Map, Value};

/// Something that a step of a flow could change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowChange {
    /// The step, as the graph writes it.
    pub step: String,
    /// The tool; none for a whole task, whose plan decides.
    pub tool: Option<String>,
    /// The files as the flow names them, templates unfilled; empty when only the run will tell.
    pub paths: Vec<String>,
}

/// All that a run of this flow could change, in the order of its steps; those of the flows that it refers to come where
/// they are referred to first.
pub fn of(run: &FlowRun, tools: &Registry<dyn Tool>) -> Vec<FlowChange> {
    let mut walk = Walk {
        run,
        tools,
        seen: HashSet::new(),
        found: Vec::new(),
    };
    walk.flow(&run.flow);
    walk.found
}

struct Walk<'r> {
    run: &'r FlowRun,
    tools: &'r Registry<dyn Tool>,
    /// Flows that were walked or are being walked.
    seen: HashSet<&'r str>,
    found: Vec<FlowChange>,
}

impl<'r> Walk<'r> {
    fn flow(&mut self, flow: &'r Flow) {
        self.steps(&flow.steps);
    }

    fn referred(&mut self, id: &'r str) {
        if let Some(flow) = self.run.refs.get(id)
            && self.seen.insert(id)
        {
            self.flow(flow);
        }
    }

    fn steps(&mut self, steps: &'r [FlowStep]) {
        for step in steps {
            match &step.kind {
                StepKind::Tool(tool) => self.tool(step, tool),
                StepKind::Agent(agent) => self.agent(step, agent),
                StepKind::Group(group) => self.steps(&group.steps),
                StepKind::Task(_) => self.found.push(FlowChange {
                    step: step.title().to_owned(),
                    tool: None,
                    paths: Vec::new(),
                }),
                StepKind::Ref(id) => self.referred(id),
                StepKind::Ask(_) | StepKind::Gate(_) | StepKind::Answer(_) => {}
            }
        }
    }

    fn tool(&mut self, step: &FlowStep, called: &ToolStep) {
        let Some(tool) = self.tools.get(&called.tool) else {
            return;
        };
        let args: Map<String, Value> = called
            .args
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let args = Value::Object(args);
        let touched = tool.access(&args);
        let paths: Vec<String> = touched.iter().filter_map(written).collect();
        let is_open = tool.info().has_effects && !tool.writes_scratchpad() && has_template(&args);
        if is_open || touched.iter().any(Access::is_effect) {
            self.add(step, &called.tool, paths);
        }
    }

    fn agent(&mut self, step: &FlowStep, agent: &'r AgentStep) {
        for name in &agent.tools {
            match self.tools.get(name) {
                Some(tool) if tool.info().has_effects && !tool.writes_scratchpad() => self.add(step, name, Vec::new()),
                Some(_) => {}
                None => self.referred(name),
            }
        }
    }

    fn add(&mut self, step: &FlowStep, tool: &str, paths: Vec<String>) {
        self.found.push(FlowChange {
            step: step.title().to_owned(),
            tool: Some(tool.to_owned()),
            paths,
        });
    }
}

fn written(access: &Access) -> Option<String> {
    match access {
        Access::Write { path } => Some(path.clone()),
        Access::Read { .. }
        | Access::WriteScratchpad
        | Access::Execute { .. }
        | Access::Network { .. }
        | Access::Search
        | Access::Server { .. }
        | Access::TaskEffect { .. } => None,
    }
}

fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{{"),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(fields) => fields.values().any(has_template),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(flow: Value, refs: Value) -> Vec<String> {
        let run: FlowRun = serde_json::from_value(json!({ "flow": flow, "refs": refs })).unwrap();
        let tools = Registry::of_tools(tools::all());
        let line = |change: &FlowChange| {
            let tool = change.tool.as_deref().unwrap_or("task");
            format!("{} {tool} {}", change.step, change.paths.join(","))
        };
        of(&run, &tools).iter().map(line).collect()
    }

    #[test]
    fn a_flow_that_only_reads_and_asks_changes_nothing() {
        let flow = json!({ "id": "f", "steps": [
            { "id": "read", "tool": { "tool": "file_read", "args": { "path": "a.txt" } } },
            { "id": "note", "tool": { "tool": "scratchpad", "args": { "action": "write", "key": "{{k}}", "value": 1 } } },
            { "id": "think", "ask": { "instructions": "Think." } },
            { "id": "look", "agent": { "instructions": "Look.", "tools": ["file_read", "scratchpad"] } },
            { "id": "say", "answer": { "text": "{{think}}" } },
        ] });
        // A flow that stands in the same folder and is not referred to does nothing.
        let beside = json!({ "id": "beside", "steps": [
            { "id": "w", "tool": { "tool": "file_write", "args": { "path": "b.txt", "content": "x" } } } ] });
        assert_eq!(changes(flow, json!({ "beside": beside })), [""; 0]);
    }

    #[test]
    fn names_every_step_that_could_write_wherever_it_stands() {
        let write = |id: &str, path: &str| json!({ "id": id, "tool": { "tool": "file_write", "args": { "path": path, "content": "x" } } });
        let inner = json!({ "id": "inner", "steps": [write("deep", "deep.txt"), { "id": "back", "ref": "inner" }] });
        let helper = json!({ "id": "helper", "steps": [write("help", "help.txt")] });
        let flow = json!({ "id": "f", "steps": [
            { "id": "all", "group": { "mode": "parallel", "steps": [write("one", "{{where}}.txt")] } },
            { "id": "into", "ref": "inner" },
            { "id": "again", "ref": "inner" },
            { "id": "free", "agent": { "instructions": "Do it.", "tools": ["file_read", "file_edit", "helper"] } },
            { "id": "whole", "task": { "goal": "g", "expectedOutput": "o" } },
        ] });
        let refs = json!({ "inner": inner, "helper": helper });
        let expected = [
            "one file_write {{where}}.txt",
            "deep file_write deep.txt",
            "free file_edit ",
            "help file_write help.txt",
            "whole task ",
        ];
        assert_eq!(changes(flow, refs), expected);
    }
}
