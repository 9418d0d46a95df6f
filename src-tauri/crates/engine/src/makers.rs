//! Which steps made a result, for feedback: a planner must know what to change, and nothing may be said that is not so
//! (seed *tepa-pipeline-in-detail*, "Evaluator": "referencing which steps"). Who wrote a file stands in the history; only
//! for a file that nobody wrote the plan is looked at.

use std::collections::{HashMap, HashSet};

use contract::plan::{Plan, PlanStep};
use serde_json::Value;

use crate::evaluator::Judging;
use crate::executor::StepOutcome;
use crate::kernel::driver::Driver;
use crate::prompts::{self, bound};

/// The steps that made or should have made a file, or the answer when there is no path, and what they made it from, as a
/// sentence behind a space.
pub(crate) fn sentence(driver: &Driver, judging: &Judging<'_>, path: Option<&str>) -> String {
    let Some(path) = path else {
        return made_by(&behind_answer(judging.plan), judging);
    };
    let relative = driver.world.files.relative(path).unwrap_or_else(|_| path.to_owned());
    let makers = of_file(driver, judging, path, &relative);
    if !makers.is_empty() {
        return made_by(&makers, judging);
    }
    let earlier = driver.writers_of(&relative);
    let earlier: Vec<String> = earlier
        .iter()
        .take(bound::MAKERS)
        .map(|(cycle, step)| format!("cycle_{cycle}.{step}"))
        .collect();
    if earlier.is_empty() {
        " No step makes this file.".to_owned()
    } else {
        format!(" Made by {}; no step of this plan makes it.", earlier.join(", "))
    }
}

/// The steps of this plan that wrote a file, or whose result was taken over from one that did, or that were to write it;
/// else those that speak of it.
fn of_file<'p>(driver: &Driver, judging: &Judging<'p>, path: &str, relative: &str) -> Vec<&'p PlanStep> {
    let written = driver.writers_of(relative);
    let origins: HashSet<String> = written
        .iter()
        .map(|(cycle, step)| format!("cycle_{cycle}.{step}"))
        .collect();
    let outcomes = by_id(judging);
    let wrote = |step: &PlanStep| {
        let here = format!("cycle_{}.{}", judging.cycle, step.id);
        let kept = outcomes
            .get(step.id.as_str())
            .and_then(|outcome| outcome.kept_from.as_ref());
        origins.contains(kept.unwrap_or(&here))
    };
    let was_to_write = |step: &PlanStep| {
        step.args.iter().any(|(tool, args)| {
            let named = args.get("path").and_then(Value::as_str);
            changes(driver, tool)
                && named.is_some_and(|named| driver.world.files.relative(named).as_deref() == Ok(relative))
        })
    };
    let steps = &judging.plan.steps;
    let makers: Vec<&PlanStep> = steps.iter().filter(|step| wrote(step) || was_to_write(step)).collect();
    if !makers.is_empty() || !written.is_empty() {
        return makers;
    }
    let speaks = |text: &str| text.contains(path) || text.contains(relative);
    let may_write = |step: &PlanStep| step.tools.iter().any(|tool| changes(driver, tool));
    steps
        .iter()
        .filter(|step| may_write(step) && (speaks(&step.description) || speaks(&step.expected_outcome)))
        .collect()
}

fn changes(driver: &Driver, tool: &str) -> bool {
    driver.world.tools.get(tool).is_some_and(|tool| tool.info().has_effects)
}

/// The steps that nothing else needs, and behind them those that they were made from.
fn behind_answer(plan: &Plan) -> Vec<&PlanStep> {
    let by_id: HashMap<&str, &PlanStep> = plan.steps.iter().map(|step| (step.id.as_str(), step)).collect();
    let needed: HashSet<&str> = plan
        .steps
        .iter()
        .flat_map(|step| step.dependencies.iter().map(String::as_str))
        .collect();
    let mut all: Vec<&PlanStep> = plan
        .steps
        .iter()
        .filter(|step| !needed.contains(step.id.as_str()))
        .collect();
    let mut known: HashSet<&str> = all.iter().map(|step| step.id.as_str()).collect();
    let mut next = 0;
    while let Some(step) = all.get(next).copied() {
        let behind = step.dependencies.iter().filter_map(|id| by_id.get(id.as_str()));
        all.extend(behind.filter(|step| known.insert(&step.id)));
        next += 1;
    }
    all
}

fn by_id<'j>(judging: &'j Judging<'_>) -> HashMap<&'j str, &'j StepOutcome> {
    let outcomes = judging.outcomes.iter();
    outcomes.map(|outcome| (outcome.step_id.as_str(), outcome)).collect()
}

fn made_by(makers: &[&PlanStep], judging: &Judging<'_>) -> String {
    if makers.is_empty() {
        return String::new();
    }
    let outcomes = by_id(judging);
    let named: Vec<String> = makers
        .iter()
        .take(bound::MAKERS)
        .map(|step| maker(step, outcomes.get(step.id.as_str()).copied()))
        .collect();
    let named = match makers.len().saturating_sub(bound::MAKERS) {
        0 => listed(&named),
        more => format!("{} and {more} more", named.join(", ")),
    };
    format!(" Made by {named}.")
}

/// Several steps, with a word before the last.
fn listed(steps: &[String]) -> String {
    match steps {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        steps => steps.concat(),
    }
}

fn maker(step: &PlanStep, outcome: Option<&StepOutcome>) -> String {
    let failure = outcome.and_then(|outcome| outcome.error.as_ref());
    let failure = failure.map(|error| format!("failed: {}", prompts::cut(&error.message, bound::EVIDENCE)));
    let from: Vec<&str> = step
        .dependencies
        .iter()
        .chain(&step.inputs)
        .map(String::as_str)
        .collect();
    let from = (!from.is_empty()).then(|| format!("from {}", prompts::cut(&from.join(", "), bound::EVIDENCE)));
    let about: Vec<String> = [failure, from].into_iter().flatten().collect();
    match about.is_empty() {
        true => step.id.clone(),
        false => format!("{} ({})", step.id, about.join("; ")),
    }
}
