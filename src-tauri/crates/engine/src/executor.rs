//! The executor: the steps of an approved plan in the seed's order, each with the outputs of its
//! declared dependencies and nothing else; a failed dependency skips what needs it (seed
//! *tepa-pipeline-in-detail*, "Executor"). One step at a time so far.

use std::collections::{BTreeMap, HashMap};

use contract::event::{NamedHash, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::plan::{Plan, PlanStep};
use contract::ports::journal::Durability;
use contract::step::{StepError, StepStatus, code};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::keys;
use crate::kernel::run_step::run_step;
use crate::order;
use crate::step_work::StepWork;

/// How a step of a plan ended (the seed's `ExecutionResult`).
#[derive(Debug, Clone, PartialEq)]
pub struct StepOutcome {
    /// Which step.
    pub step_id: String,
    /// Done, failed or skipped.
    pub status: StepStatus,
    /// Its output; null when it failed.
    pub output: Value,
    /// The output's address.
    pub hash: Option<Hash>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// What its model calls cost.
    pub tokens_used: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// Results of earlier cycles under names such as `cycle_1.step_3`.
pub type Earlier = IndexMap<String, (Value, Hash)>;

/// Runs all steps of a plan, in order.
pub async fn execute(driver: &Driver, cycle: u32, plan: &Plan, earlier: &Earlier) -> Outcome<Vec<StepOutcome>> {
    let sorted = match order::order(&plan.steps) {
        Ok(sorted) => sorted,
        Err(circle) => {
            let message = format!("Circular dependency detected in plan steps: {}", circle.join(", "));
            return Ok(Err(StepError::new(code::PLAN_INVALID, message)));
        }
    };
    let mut outcomes: Vec<StepOutcome> = Vec::with_capacity(sorted.len());
    let mut place: HashMap<&str, usize> = HashMap::new();
    for step in sorted.into_iter().map(|index| &plan.steps[index]) {
        let failed = step.dependencies.iter().find(|id| {
            place
                .get(id.as_str())
                .is_some_and(|&index| outcomes[index].status != StepStatus::Done)
        });
        let outcome = match failed {
            Some(dependency) => skip(driver, cycle, step, dependency).await?,
            None => {
                let given = given(step, &place, &outcomes, earlier);
                run(driver, cycle, step, &given).await?
            }
        };
        place.insert(&step.id, outcomes.len());
        outcomes.push(outcome);
    }
    Ok(Ok(outcomes))
}

/// What a step is given: values with their addresses, by name.
fn given(step: &PlanStep, place: &HashMap<&str, usize>, outcomes: &[StepOutcome], earlier: &Earlier) -> Earlier {
    let mut given = Earlier::new();
    for id in &step.dependencies {
        if let Some(outcome) = place.get(id.as_str()).map(|&index| &outcomes[index])
            && let Some(hash) = &outcome.hash
        {
            given.insert(id.clone(), (outcome.output.clone(), hash.clone()));
        }
    }
    for name in &step.inputs {
        if let Some(found) = earlier.get(name) {
            given.insert(name.clone(), found.clone());
        }
    }
    given
}

async fn skip(driver: &Driver, cycle: u32, step: &PlanStep, dependency: &str) -> Result<StepOutcome, Halt> {
    let error = StepError::new(code::SKIPPED, format!("Skipped: dependency \"{dependency}\" failed"));
    let key = keys::attempt(&keys::step(cycle, &step.id), 0);
    finish(driver, &key, cycle, step, StepStatus::Skipped, Err(error), 0, 0).await
}

async fn run(driver: &Driver, cycle: u32, step: &PlanStep, given: &Earlier) -> Result<StepOutcome, Halt> {
    let address = keys::step(cycle, &step.id);
    let mut n = 0;
    loop {
        let key = keys::attempt(&address, n);
        let outcome = attempt(driver, &key, cycle, step, given).await?;
        let Some(error) = outcome.error.as_ref().filter(|error| may_repeat(driver, step, error)) else {
            return Ok(outcome);
        };
        if n >= driver.header.task.limits.retry_attempts {
            return Ok(outcome);
        }
        n += 1;
        let opened = RunEvent::AttemptOpened {
            of: address.clone(),
            n,
            why: error.message.clone(),
        };
        driver
            .journal
            .record(address.mark(format!("attempt-{n}")), opened)
            .await?;
    }
}

/// Only what left no trace, and only failures of tools: models have their own retries.
fn may_repeat(driver: &Driver, step: &PlanStep, error: &StepError) -> bool {
    error.retryable
        && (error.code == code::TOOL_FAILED || error.code == code::TOOL_TIMEOUT)
        && step.tools.iter().all(|tool| {
            driver
                .world
                .tools
                .get(tool)
                .is_some_and(|tool| !tool.info().has_effects)
        })
}

async fn attempt(
    driver: &Driver,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    given: &Earlier,
) -> Result<StepOutcome, Halt> {
    let started_at_ms = driver.world.clock.now_ms();
    let inputs = given
        .iter()
        .map(|(name, (_, hash))| NamedHash {
            name: name.clone(),
            hash: hash.clone(),
        })
        .collect();
    let started = RunEvent::StepStarted {
        cycle,
        step: step.id.clone(),
        inputs,
    };
    driver.journal.record(key.mark("started"), started).await?;
    let values: IndexMap<String, Value> = given
        .iter()
        .map(|(name, (value, _))| (name.clone(), value.clone()))
        .collect();
    let hashes: BTreeMap<String, Hash> = given
        .iter()
        .map(|(name, (_, hash))| (name.clone(), hash.clone()))
        .collect();
    let input = json!(values);
    let work = StepWork::new(step, cycle, values, hashes);
    let result = match run_step(&work, input, key, driver).await {
        Ok(result) => result.map(|mut result| result.output.get_mut("output").map(Value::take).unwrap_or_default()),
        Err(halt) => {
            if let Some(error) = halt.as_step_error() {
                let duration_ms = driver.since(started_at_ms);
                finish(
                    driver,
                    key,
                    cycle,
                    step,
                    StepStatus::Failed,
                    Err(error),
                    work.tokens_used(),
                    duration_ms,
                )
                .await?;
            }
            return Err(halt);
        }
    };
    let status = if result.is_ok() {
        StepStatus::Done
    } else {
        StepStatus::Failed
    };
    finish(
        driver,
        key,
        cycle,
        step,
        status,
        result,
        work.tokens_used(),
        driver.since(started_at_ms),
    )
    .await
}

#[allow(
    clippy::too_many_arguments,
    reason = "one call site's worth of facts about how a step ended"
)]
async fn finish(
    driver: &Driver,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    status: StepStatus,
    result: Result<Value, StepError>,
    tokens_used: u64,
    duration_ms: u64,
) -> Result<StepOutcome, Halt> {
    let mut artifacts = Vec::new();
    let named = result.and_then(|value| Ok((Driver::name_value("tool-output", &value, &mut artifacts)?, value)));
    let (status, output, value, error) = match named {
        Ok((named, value)) => (status, Some(named), value, None),
        Err(error) if status == StepStatus::Skipped => (status, None, Value::Null, Some(error)),
        Err(error) => (StepStatus::Failed, None, Value::Null, Some(error)),
    };
    let event = RunEvent::StepFinished {
        cycle,
        step: step.id.clone(),
        status,
        output: output.clone(),
        error: error.clone(),
        tokens_used,
        duration_ms,
    };
    driver
        .journal
        .record_all(vec![(key.clone(), event)], artifacts, Durability::Commit)
        .await?;
    // What was recorded first counts: the judge is told the same after a restart.
    let (tokens_used, duration_ms) = match driver.journal.recorded(key).as_deref() {
        Some(RunEvent::StepFinished {
            tokens_used,
            duration_ms,
            ..
        }) => (*tokens_used, *duration_ms),
        _ => (tokens_used, duration_ms),
    };
    let hash = output.map(|output| output.hash);
    Ok(StepOutcome {
        step_id: step.id.clone(),
        status,
        output: value,
        hash,
        error,
        tokens_used,
        duration_ms,
    })
}
