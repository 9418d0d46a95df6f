//! The tools that a flow names, step by step: what a task does with `tools:`, a flow does by using them.

use std::collections::BTreeSet;

use contract::flow::{FlowRun, FlowStep, StepKind};

/// Every tool that a flow, or one that it refers to, names. What an agent names may also be another agent.
pub(crate) fn of(run: &FlowRun) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for flow in run.refs.values().chain([&run.flow]) {
        steps(&flow.steps, &mut found);
    }
    found
}

fn steps<'a>(steps_of: &'a [FlowStep], found: &mut BTreeSet<&'a str>) {
    for step in steps_of {
        match &step.kind {
            StepKind::Tool(tool) => drop(found.insert(&tool.tool)),
            StepKind::Agent(agent) => found.extend(agent.tools.iter().map(String::as_str)),
            StepKind::Group(group) => steps(&group.steps, found),
            StepKind::Ask(_) | StepKind::Gate(_) | StepKind::Answer(_) | StepKind::Task(_) | StepKind::Ref(_) => {}
        }
    }
}
