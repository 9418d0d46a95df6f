//! The executor: the steps of an approved plan, each with the outputs of its declared dependencies and
//! nothing else; a failed dependency skips what needs it (seed *tepa-pipeline-in-detail*, "Executor").
//!
//! Results come in the seed's order however the steps overlapped; what may overlap is
//! [`crate::schedule`]'s to decide.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use contract::event::{NamedHash, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::plan::{Plan, PlanStep};
use contract::ports::hook::HookEvent;
use contract::ports::journal::Durability;
use contract::step::{StepError, StepStatus, code};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::keys;
use crate::reuse::{self, Kept};
use crate::schedule::{self, Item, Turn, Use};
use crate::step_work::StepWork;
use crate::{hooks, order, uses};

/// How a step of a plan ended (the seed's `ExecutionResult`).
#[derive(Debug, Clone, PartialEq)]
pub struct StepOutcome {
    /// Which step.
    pub step_id: String,
    /// Done, failed or skipped.
    pub status: StepStatus,
    /// Its output; null when it failed. Whoever needs it shares it.
    pub output: Arc<Value>,
    /// The output's address.
    pub hash: Option<Hash>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// What its model calls cost.
    pub tokens_used: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Where it was really done, such as `cycle_1.step_3`, when it was taken over.
    pub kept_from: Option<String>,
}

impl StepOutcome {
    /// Whether there is an output that others can use: the seed's success.
    pub fn succeeded(&self) -> bool {
        self.status.is_success()
    }
}

/// Results of earlier cycles under names such as `cycle_1.step_3`. Values are shared, never copied.
pub type Earlier = IndexMap<String, (Arc<Value>, Hash)>;

/// Runs all steps of a plan; the results are in the seed's order.
pub async fn execute(driver: &Driver, cycle: u32, plan: &Plan, earlier: &Earlier) -> Outcome<Vec<StepOutcome>> {
    let steps = &plan.steps;
    let needs = order::needs(steps);
    let sorted = match order::kahn(&needs) {
        Ok(sorted) => sorted,
        Err(circle) => {
            let circle: Vec<&str> = circle.into_iter().map(|place| steps[place].id.as_str()).collect();
            let message = format!("Circular dependency detected in plan steps: {}", circle.join(", "));
            return Ok(Err(StepError::new(code::PLAN_INVALID, message)));
        }
    };
    let items: Vec<Item> = steps
        .iter()
        .zip(needs)
        .map(|(step, after)| item(driver, step, after))
        .collect();
    let limit = driver.steps_at_once();
    let start = |place: usize, turn: Turn, done: &[Option<StepOutcome>]| {
        let step = &steps[place];
        work(
            driver,
            cycle,
            step,
            given(step, &items[place].after, done, earlier),
            turn,
        )
    };
    driver.reusable.forget_blamed(driver, cycle);
    let around = driver.turn.as_ref();
    let go_on = |_: usize, _: &StepOutcome| ControlFlow::Continue(());
    let ran = schedule::run_within(around, &items, &sorted, limit, start, go_on).await;
    let mut results = ran.map_err(|halt| driver.told_later(halt))?;
    if let Some(turn) = around {
        // What is judged now is what whoever comes before has left, and not what they are about to.
        turn.to_read().await?;
    }
    driver.reusable.note_plan(plan);
    Ok(Ok(sorted
        .into_iter()
        .filter_map(|place| results[place].take())
        .collect()))
}

fn item(driver: &Driver, step: &PlanStep, after: Vec<usize>) -> Item {
    let tools = &driver.world.tools;
    Item {
        after,
        // Where a hook may change the step, what it does is known only after the hook.
        uses: if !driver.hooks_of(HookEvent::PreStep).is_empty() {
            Use::Writes
        } else {
            uses::of_tools(step, tools).into_iter().max().unwrap_or_default()
        },
        alone: uses::may_write_scratchpad(step, tools),
    }
}

/// What a step is given: values with their addresses, by name.
///
/// # Errors
/// The first of its dependencies that failed.
fn given(step: &PlanStep, after: &[usize], done: &[Option<StepOutcome>], earlier: &Earlier) -> Result<Earlier, String> {
    let mut given = Earlier::new();
    for outcome in after.iter().filter_map(|&place| done[place].as_ref()) {
        if !outcome.succeeded() {
            return Err(outcome.step_id.clone());
        }
        if let Some(hash) = &outcome.hash {
            given.insert(outcome.step_id.clone(), (Arc::clone(&outcome.output), hash.clone()));
        }
    }
    for name in &step.inputs {
        if let Some(found) = earlier.get(name) {
            given.insert(name.clone(), found.clone());
        }
    }
    Ok(given)
}

/// All there is to do about one step.
async fn work(
    driver: &Driver,
    cycle: u32,
    step: &PlanStep,
    given: Result<Earlier, String>,
    turn: Turn,
) -> Result<StepOutcome, Halt> {
    driver.check_may_begin()?;
    let outcome = match given {
        Ok(given) => run(driver, cycle, step, &given, &turn).await,
        Err(dependency) => skip(driver, cycle, step, &dependency, &turn).await,
    };
    outcome.map_err(|halt| {
        driver.halt(&halt);
        driver.told_beside(halt)
    })
}

async fn skip(
    driver: &Driver,
    cycle: u32,
    step: &PlanStep,
    dependency: &str,
    turn: &Turn,
) -> Result<StepOutcome, Halt> {
    let error = StepError::new(code::SKIPPED, format!("Skipped: dependency \"{dependency}\" failed"));
    let key = keys::attempt(&keys::step(cycle, &step.id), 0);
    driver.reach(&key)?;
    if let Some(outcome) = ended_before(driver, &key, step).await? {
        return Ok(outcome);
    }
    let ended = Ended {
        status: StepStatus::Skipped,
        result: Err(error),
        tokens_used: 0,
        duration_ms: 0,
        kept_from: None,
    };
    let ended = post_step(driver, turn, &key, cycle, step, ended).await?;
    finish(driver, &key, cycle, step, ended).await
}

async fn run(driver: &Driver, cycle: u32, step: &PlanStep, given: &Earlier, turn: &Turn) -> Result<StepOutcome, Halt> {
    if let Some(outcome) = keep(driver, cycle, step, given, turn).await? {
        return Ok(outcome);
    }
    let address = keys::step(cycle, &step.id);
    let mut n = 0;
    loop {
        let key = keys::attempt(&address, n);
        let is_last = n >= driver.header.task.limits.retry_attempts;
        let outcome = match attempt(driver, &key, cycle, step, given, turn, is_last).await {
            Ok(Attempted::Done(outcome)) => return Ok(outcome),
            Ok(Attempted::Again(outcome)) => outcome,
            Err(halt) => {
                driver.repeat_broken_off(&key, &halt).await?;
                return Err(halt);
            }
        };
        let Some(error) = &outcome.error else {
            return Ok(outcome);
        };
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

/// How a step that nothing was done for ended, when the history has it: no hook is called about it again.
async fn ended_before(driver: &Driver, key: &Key, step: &PlanStep) -> Result<Option<StepOutcome>, Halt> {
    let recorded = driver.journal.recorded(key);
    let Some(RunEvent::StepFinished {
        status,
        output,
        error,
        tokens_used,
        duration_ms,
        kept_from,
        ..
    }) = recorded.as_deref()
    else {
        return Ok(None);
    };
    let value = match output {
        Some(output) => Arc::new(driver.journal.value(output).await?),
        None => Arc::default(),
    };
    Ok(Some(StepOutcome {
        step_id: step.id.clone(),
        status: *status,
        output: value,
        hash: output.as_ref().map(|output| output.hash.clone()),
        error: error.clone(),
        tokens_used: *tokens_used,
        duration_ms: *duration_ms,
        kept_from: kept_from.clone(),
    }))
}

/// Takes over the result of an earlier cycle, when one stands for this step. A step that began before
/// the app ended goes on instead.
async fn keep(
    driver: &Driver,
    cycle: u32,
    step: &PlanStep,
    given: &Earlier,
    turn: &Turn,
) -> Result<Option<StepOutcome>, Halt> {
    let key = keys::attempt(&keys::step(cycle, &step.id), 0);
    let meaning = reuse::meaning(driver, step, given);
    // In a replay the other run says what was kept: the files are not as they were then.
    let recorded = driver.journal.recorded(&key).or_else(|| driver.replayed(&key));
    let kept = match recorded.as_deref() {
        // Also one that a hook failed afterwards.
        Some(RunEvent::StepFinished {
            output,
            kept_from: Some(origin),
            ..
        }) => Some(Kept {
            origin: origin.clone(),
            output: match output {
                Some(output) => Arc::new(driver.journal.value(output).await?),
                None => Arc::default(),
            },
        }),
        None if !driver.replays() && driver.journal.recorded(&key.mark("started")).is_none() => {
            reuse::find(driver, &meaning, turn).await?
        }
        Some(_) | None => None,
    };
    let Some(kept) = kept else { return Ok(None) };
    driver.reusable.note_kept(&meaning, cycle, &step.id);
    if let Some(outcome) = ended_before(driver, &key, step).await? {
        return Ok(Some(outcome));
    }
    let ended = Ended {
        status: StepStatus::Kept,
        result: Ok(kept.output),
        tokens_used: 0,
        duration_ms: 0,
        kept_from: Some(kept.origin),
    };
    let ended = post_step(driver, turn, &key, cycle, step, ended).await?;
    finish(driver, &key, cycle, step, ended).await.map(Some)
}

/// Only what left no trace. What a model's server failed in was repeated already, by its connector,
/// and a reply that is no JSON has a retry of its own.
fn may_repeat(uses: Use, error: &StepError) -> bool {
    const HAVE_THEIR_OWN: [&str; 7] = [
        code::RATE_LIMIT,
        code::CONTEXT_LENGTH,
        code::INVALID_REQUEST,
        code::PROVIDER_ERROR,
        code::AUTHENTICATION,
        code::JSON_ERROR,
        code::BUDGET_EXCEEDED,
    ];
    error.retryable && uses <= Use::Reads && !HAVE_THEIR_OWN.contains(&error.code.as_str())
}

/// What an attempt at a step came to.
enum Attempted {
    /// This is the step's result.
    Done(StepOutcome),
    /// It failed and left no trace: there is another attempt.
    Again(StepOutcome),
}

async fn attempt(
    driver: &Driver,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    given: &Earlier,
    turn: &Turn,
    is_last: bool,
) -> Result<Attempted, Halt> {
    driver.reach(&key.mark("started"))?;
    let started_at_ms = driver.world.clock.now_ms();
    let hashes: BTreeMap<String, Hash> = given
        .iter()
        .map(|(name, (_, hash))| (name.clone(), hash.clone()))
        .collect();
    let inputs = given.iter().map(|(name, (_, hash))| NamedHash {
        name: name.clone(),
        hash: hash.clone(),
    });
    let started = RunEvent::StepStarted {
        cycle,
        step: step.id.clone(),
        inputs: inputs.collect(),
    };
    driver.journal.record(key.mark("started"), started).await?;
    // Before the step's effects are classified: a hook may change what it does. It is asked once for a step, and with it a
    // person, however many attempts there are.
    let first = keys::attempt(&keys::step(cycle, &step.id), 0);
    let changed = hooks::pre_step(driver, turn, &first, cycle, step).await?;
    let step = changed.as_ref().unwrap_or(step);
    // Values go to the work itself; what the step is checked by and known by are their addresses.
    let input = json!(hashes);
    let values = given.iter().map(|(name, (value, _))| (name.clone(), Arc::clone(value)));
    let work = StepWork::new(step, cycle, values.collect(), hashes, &driver.world.tools, turn.clone());
    turn.expect(work.uses());
    if uses::may_write_scratchpad(step, &driver.world.tools) && !turn.is_alone() {
        // Others run beside it already, and would see more or less of the scratchpad by chance.
        let message = "a hook made this step write to the scratchpad; only a plan can, because such a step runs alone";
        let ended = Ended {
            status: StepStatus::Failed,
            result: Err(StepError::new(code::CALLBACK_ERROR, message)),
            tokens_used: 0,
            duration_ms: driver.since(started_at_ms),
            kept_from: None,
        };
        return Ok(Attempted::Done(finish(driver, key, cycle, step, ended).await?));
    }
    let (result, halt) = match driver.run_step(&work, input, key).await {
        Ok(result) => {
            let output = |mut result: crate::kernel::run_step::StepResult| {
                result.output.get_mut("output").map(Value::take).unwrap_or_default()
            };
            (result.map(output), None)
        }
        Err(halt) => match halt.as_step_error() {
            Some(error) => (Err(error), Some(halt)),
            None => return Err(halt),
        },
    };
    let ended = Ended {
        status: if result.is_ok() {
            StepStatus::Done
        } else {
            StepStatus::Failed
        },
        result: result.map(Arc::new),
        tokens_used: work.tokens_used(),
        duration_ms: driver.since(started_at_ms),
        kept_from: None,
    };
    let uses = work.uses();
    // A step that was broken off is no result yet: it goes on where it stopped when the run is opened again. One that
    // had come to nothing yet has not begun, as far as anybody is concerned.
    if let Some(halt) = halt {
        if work.has_begun() {
            finish(driver, &keys::halted(key, driver.reopened), cycle, step, ended).await?;
        }
        return Err(halt);
    }
    driver.reach(key)?;
    if !is_last && ended.result.as_ref().is_err_and(|error| may_repeat(uses, error)) {
        return Ok(Attempted::Again(finish(driver, key, cycle, step, ended).await?));
    }
    let ended = post_step(driver, turn, key, cycle, step, ended).await?;
    let outcome = finish(driver, key, cycle, step, ended).await?;
    if outcome.succeeded() {
        let meaning = reuse::meaning(driver, step, given);
        driver
            .reusable
            .note_done(meaning, cycle, &step.id, &outcome.output, work.into_traces());
    }
    Ok(Attempted::Done(outcome))
}

/// How a step ended.
struct Ended {
    status: StepStatus,
    result: Result<Arc<Value>, StepError>,
    tokens_used: u64,
    duration_ms: u64,
    kept_from: Option<String>,
}

/// What hooks make of how a step ended.
async fn post_step(
    driver: &Driver,
    turn: &Turn,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    ended: Ended,
) -> Result<Ended, Halt> {
    let (output, error) = match ended.result {
        Ok(output) => (output, None),
        Err(error) => (Arc::default(), Some(error)),
    };
    let outcome = StepOutcome {
        step_id: step.id.clone(),
        status: ended.status,
        output,
        hash: None,
        error,
        tokens_used: ended.tokens_used,
        duration_ms: ended.duration_ms,
        kept_from: ended.kept_from,
    };
    let outcome = hooks::post_step(driver, turn, key, cycle, step, outcome).await?;
    Ok(Ended {
        status: outcome.status,
        result: outcome.error.map_or(Ok(outcome.output), Err),
        tokens_used: outcome.tokens_used,
        duration_ms: outcome.duration_ms,
        kept_from: outcome.kept_from,
    })
}

/// Records how a step ended.
async fn finish(driver: &Driver, key: &Key, cycle: u32, step: &PlanStep, ended: Ended) -> Result<StepOutcome, Halt> {
    let mut artifacts = Vec::new();
    let named = ended
        .result
        .and_then(|value| Ok((Driver::name_value("tool-output", &value, &mut artifacts)?, value)));
    let (status, output, value, error) = match named {
        Ok((named, value)) => (ended.status, Some(named), value, None),
        Err(error) if ended.status == StepStatus::Skipped => (ended.status, None, Arc::default(), Some(error)),
        Err(error) => (StepStatus::Failed, None, Arc::default(), Some(error)),
    };
    let event = RunEvent::StepFinished {
        cycle,
        step: step.id.clone(),
        status,
        output: output.clone(),
        error: error.clone(),
        tokens_used: ended.tokens_used,
        duration_ms: ended.duration_ms,
        kept_from: ended.kept_from.clone(),
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
        _ => (ended.tokens_used, ended.duration_ms),
    };
    Ok(StepOutcome {
        step_id: step.id.clone(),
        status,
        output: value,
        hash: output.map(|output| output.hash),
        error,
        tokens_used,
        duration_ms,
        kept_from: ended.kept_from,
    })
}
