//! Where steps lead: routes, the chain, the start, and whether an answer can be reached (seed *latent-pipeline-agents*,
//! "Transitions and Routing"); and for the order of reading, that nothing waits for itself.

use std::collections::VecDeque;

use contract::flow::{Flow, FlowStep, GroupMode, Order, RouteTarget, StepKind};

use super::scope::Scope;
use super::{Checker, Level};
use crate::flow::join;

/// The routes of one level.
pub(super) fn check_level(checker: &mut Checker, level: Level, scope: &Scope, path: &str, list: &str) {
    let chained = level.order == Order::Chain && !matches!(level.mode, GroupMode::Parallel);
    if level.steps.iter().all(|step| step.ways().is_none()) {
        return;
    }
    for (index, step) in level.steps.iter().enumerate() {
        let Some(routes) = step.ways() else { continue };
        let place = join(path, &format!("{list}[{index}].routes"));
        if !chained {
            checker.wrong(&place, "routes need steps that follow each other: here the order comes from what the steps read, or they run at once");
        }
        if matches!(step.kind, StepKind::Answer(_)) {
            checker.warn(&place, "an answer ends the run, so that its routes are never taken");
        }
        for (number, route) in routes.iter().enumerate() {
            let place = format!("{place}[{number}]");
            if let RouteTarget::To(key) = &route.target
                && scope.step(key).is_none()
            {
                checker.wrong(
                    &join(&place, "to"),
                    format!("unknown target \"{key}\": no step here has this key"),
                );
            }
            super::texts::route(checker, route, &scope.after(index), &place);
        }
        match routes.iter().position(|route| route.when.is_none()) {
            Some(always) if always + 1 < routes.len() => checker.warn(
                &format!("{place}[{}]", always + 1),
                "this route is never taken: the one before it has no condition",
            ),
            None => checker.warn(
                &format!("{place}[{}].when", routes.len() - 1),
                "the last route has a condition: when none holds, the run ends with an error",
            ),
            Some(_) => {}
        }
    }
}

/// The start, and that an answer can be reached from it.
pub(super) fn check_flow(checker: &mut Checker, flow: &Flow) {
    if flow.steps.is_empty() {
        return;
    }
    let keys: Vec<String> = flow
        .steps
        .iter()
        .map(|step| step.state_key(checker.dialect, checker.referred(step)))
        .collect();
    let scope = Scope::new(None, Vec::new(), super::Seen::Always, keys);
    let is_answer = |index: usize| flow.steps.get(index).is_some_and(ends);
    let start = match &flow.initial {
        Some(key) => match scope.step(key) {
            None => return checker.wrong("initial", format!("no start: no step has the key \"{key}\"")),
            Some(index) if is_answer(index) => {
                return checker.wrong(
                    "initial",
                    format!("no start: \"{key}\" is an answer, and a flow never begins with one"),
                );
            }
            Some(index) => index,
        },
        None => match flow.steps.iter().position(|step| !ends(step)) {
            Some(index) => index,
            None => {
                return checker.wrong(
                    "steps",
                    "no start: every step is an answer, and a flow never begins with one",
                );
            }
        },
    };
    if flow.order == Order::Reads || flow.mode == GroupMode::Parallel {
        if !flow.steps.iter().any(ends) {
            no_answer(checker);
        }
        return;
    }
    let reached = reach(flow, &scope, start);
    if !reached.answers {
        no_answer(checker);
    }
    let mut answers = flow.steps.iter().filter(|step| ends(step)).peekable();
    if answers.peek().is_some() && answers.all(|answer| answer.when.is_some()) {
        checker.warn(
            "steps",
            "every answer has a condition: when none holds, the run ends with an error",
        );
    }
    for (index, _) in reached.steps.iter().enumerate().filter(|(_, reached)| !**reached) {
        let key = scope.own_keys.get(index).map_or("", String::as_str);
        checker.warn(
            &format!("steps[{index}]"),
            format!("nothing leads to \"{key}\", so that it never runs"),
        );
    }
}

fn no_answer(checker: &mut Checker) {
    checker.wrong(
        "steps",
        "no reachable answer: a flow needs at least one \"answer\" step, or a route to \"finish\", that can be reached from \
         its start",
    );
}

fn ends(step: &FlowStep) -> bool {
    matches!(step.kind, StepKind::Answer(_))
}

struct Reached {
    steps: Vec<bool>,
    answers: bool,
}

fn reach(flow: &Flow, scope: &Scope, start: usize) -> Reached {
    let steps = &flow.steps;
    let first_answer = steps.iter().position(ends);
    let next = {
        // For each step the next one that is an answer as it is, or none as it is.
        let mut next = vec![None; steps.len()];
        let (mut work, mut answer) = (None, None);
        for (index, step) in steps.iter().enumerate().rev() {
            let after = if ends(step) { &mut answer } else { &mut work };
            next[index] = after.replace(index);
        }
        next
    };
    let mut reached = Reached {
        steps: vec![false; steps.len()],
        answers: false,
    };
    let mut waiting = VecDeque::from([start]);
    while let Some(index) = waiting.pop_front() {
        let Some(step) = steps.get(index) else { continue };
        if std::mem::replace(&mut reached.steps[index], true) {
            continue;
        }
        if ends(step) {
            reached.answers = true;
            // One that is not wanted leaves the word to the next.
            waiting.extend(next[index].filter(|_| step.when.is_some()));
            continue;
        }
        match step.ways() {
            None => waiting.extend(next[index].or(first_answer)),
            Some(routes) => {
                for route in routes {
                    match &route.target {
                        RouteTarget::To(key) => waiting.extend(scope.step(key)),
                        RouteTarget::Finish(_) => reached.answers = true,
                    }
                    if route.when.is_none() {
                        break;
                    }
                }
            }
        }
    }
    reached
}

/// In the order of reading, a step that waits for itself never runs. What its texts refer to was noted when they were
/// looked at.
pub(super) fn check_circles(checker: &mut Checker, level: Level, scope: &Scope, path: &str) {
    let mut waits: Vec<usize> = vec![0; level.steps.len()];
    let mut waited_for: Vec<Vec<usize>> = vec![Vec::new(); level.steps.len()];
    for (index, other) in scope.reads() {
        waits[index] += 1;
        waited_for[other].push(index);
    }
    let mut ready: Vec<usize> = (0..waits.len()).filter(|index| waits[*index] == 0).collect();
    while let Some(index) = ready.pop() {
        for &next in &waited_for[index] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(next);
            }
        }
    }
    let circle: Vec<String> = waits
        .iter()
        .zip(&scope.own_keys)
        .filter(|(waits, _)| **waits > 0)
        .map(|(_, key)| format!("\"{key}\""))
        .take(8)
        .collect();
    if !circle.is_empty() {
        checker.wrong(
            &join(path, "steps"),
            format!(
                "circular: steps wait for each other in a circle (a cycle): {}",
                circle.join(", ")
            ),
        );
    }
}
