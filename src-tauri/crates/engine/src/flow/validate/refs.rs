//! What a `ref` names: it is there, and does not lead back to where it came from.

use std::collections::HashMap;

use contract::flow::{Flow, FlowStep, GroupMode, StepKind};

use super::{Checker, DEEPEST};
use crate::flow::join;
use crate::flow::reading::Refs;

/// Every `ref` of a flow, and what these lead to.
pub(super) fn check(checker: &mut Checker, flow: &Flow, refs: &Refs) {
    let mut heights = HashMap::new();
    // The flow itself is above all others.
    let mut open = vec![flow.id.as_str()];
    for (path, step, depth) in named(flow) {
        let StepKind::Ref(id) = &step.kind else { continue };
        let Some(other) = refs.get(id).filter(|_| id != &flow.id) else {
            match id == &flow.id {
                true => checker.wrong(&path, circular(id, &format!("{id} → {id}"))),
                false => checker.wrong(
                    &path,
                    format!("unknown ref \"{id}\": no saved flow or agent has this id"),
                ),
            }
            continue;
        };
        match height(other, refs, &mut heights, &mut open) {
            Ok(height) if depth + height > DEEPEST => {
                checker.wrong(
                    &path,
                    format!("with \"{id}\", steps lie inside each other more than {DEEPEST} times"),
                );
            }
            Ok(_) => {}
            Err(circle) => checker.wrong(&path, circular(id, &circle)),
        }
    }
}

fn circular(id: &str, circle: &str) -> String {
    format!("circular: \"{id}\" runs itself without end, in a cycle: {circle}")
}

/// How deep a flow goes, its refs included; the error is a circle.
fn height<'r>(
    flow: &'r Flow,
    refs: &'r Refs,
    heights: &mut HashMap<&'r str, usize>,
    open: &mut Vec<&'r str>,
) -> Result<usize, String> {
    if let Some(height) = heights.get(flow.id.as_str()) {
        return Ok(*height);
    }
    if let Some(begin) = open.iter().position(|id| *id == flow.id) {
        return Err([&open[begin..], &[flow.id.as_str()]].concat().join(" → "));
    }
    // Deeper is too deep in any case, and a circle of many flows is too deep before it closes.
    if open.len() > 4 * DEEPEST {
        return Ok(open.len());
    }
    open.push(&flow.id);
    let mut deepest = 1;
    for (_, step, depth) in named(flow) {
        if let StepKind::Ref(id) = &step.kind
            && let Some(other) = refs.get(id)
        {
            match height(other, refs, heights, open) {
                Ok(height) => deepest = deepest.max(depth + height),
                Err(circle) => {
                    open.pop();
                    return Err(circle);
                }
            }
        }
    }
    open.pop();
    heights.insert(&flow.id, deepest);
    Ok(deepest)
}

/// Every step at every depth, with its path and depth.
fn named(flow: &Flow) -> Vec<(String, &FlowStep, usize)> {
    let manifest = flow.dialect == contract::flow::Dialect::Manifest;
    let mut found = Vec::new();
    collect(&flow.steps, &flow.mode, manifest, "", 1, &mut found);
    found
}

fn collect<'f>(
    steps: &'f [FlowStep],
    mode: &GroupMode,
    manifest: bool,
    path: &str,
    depth: usize,
    found: &mut Vec<(String, &'f FlowStep, usize)>,
) {
    let list = if manifest && *mode == GroupMode::Parallel {
        "branches"
    } else {
        "steps"
    };
    for (index, step) in steps.iter().enumerate() {
        let place = join(path, &format!("{list}[{index}]"));
        match &step.kind {
            StepKind::Group(group) => {
                let inner = join(&place, if manifest { "agent" } else { "group" });
                collect(&group.steps, &group.mode, manifest, &inner, depth + 1, found);
            }
            StepKind::Ref(_) => found.push((join(&place, "ref"), step, depth)),
            _ => {}
        }
    }
}
