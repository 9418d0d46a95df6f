//! Hooks as leaves: each callback's result is recorded, and a hook that has to wait for a person is
//! called again with the answer (kernel page, "Hooks in the journal"; seed *tepa-pipeline-in-detail*,
//! "Pipeline lifecycle events").
//!
//! Callbacks are called in the order of their registration, each with what the one before it left. One that returns
//! nothing passes the data through; one that fails and may fail leaves the data as it was before it, by value. The
//! failure of any other ends the run, and is tried anew when the run is opened again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::event::{HookResult, RunEvent};
use contract::ids::Key;
use contract::person::Answer;
use contract::plan::PlanStep;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use futures::future::FutureExt;
use serde_json::{Value, json};

use crate::approval::{CHANGES_REQUESTED, ask_for_step, must_see};
use crate::executor::StepOutcome;
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::keys;
use crate::kernel::perform::Performance;
use crate::schedule::Turn;
use crate::{plan_rules, results};

/// Data that hooks put in the place of what was there.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// The data.
    pub data: Value,
    /// The hooks that replaced it, in order.
    pub by: Vec<String>,
    /// Whether a person allowed each of them to change plans without being asked.
    pub trusted: bool,
}

impl Replaced {
    /// The failure of data that cannot be used.
    pub fn refuse(&self, event: HookEvent, problems: &[String]) -> StepError {
        let (by, problems) = (self.by.join("\", \""), problems.join("; "));
        let message = format!(
            "what the hook \"{by}\" returned at {} cannot be used: {problems}",
            event.name()
        );
        StepError::new(code::CALLBACK_ERROR, message)
    }
}

/// Calls all hooks of an event. `data` is only made when there is one.
///
/// # Errors
/// The inner error is a decision: a plan that goes back to the planner, or a run that is rejected.
pub async fn fire(
    driver: &Driver,
    owner: &Key,
    event: HookEvent,
    cycle: u32,
    data: impl FnOnce() -> Value + Send,
) -> Outcome<Option<Replaced>> {
    fire_in(driver, driver.turn.as_ref(), owner, event, cycle, data).await
}

/// The same for work with this turn: a hook that waits for a person keeps nobody from working.
async fn fire_in(
    driver: &Driver,
    turn: Option<&Turn>,
    owner: &Key,
    event: HookEvent,
    cycle: u32,
    data: impl FnOnce() -> Value + Send,
) -> Outcome<Option<Replaced>> {
    let called: Vec<Arc<dyn Hook>> = driver.hooks_of(event);
    if called.is_empty() {
        return Ok(Ok(None));
    }
    let mut data = data();
    let (mut by, mut trusted) = (Vec::new(), true);
    for hook in called {
        match fire_one_in(driver, turn, owner, cycle, &*hook, &data).await? {
            Ok(None) => {}
            Ok(Some(value)) => {
                data = value;
                by.push(hook.id().to_owned());
                trusted &= hook.may_change_plans();
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok((!by.is_empty()).then_some(Replaced { data, by, trusted })))
}

/// Calls one hook; what it puts in the place of the data, if anything.
pub async fn fire_one(
    driver: &Driver,
    owner: &Key,
    cycle: u32,
    hook: &dyn Hook,
    data: &Value,
) -> Outcome<Option<Value>> {
    fire_one_in(driver, driver.turn.as_ref(), owner, cycle, hook, data).await
}

async fn fire_one_in(
    driver: &Driver,
    turn: Option<&Turn>,
    owner: &Key,
    cycle: u32,
    hook: &dyn Hook,
    data: &Value,
) -> Outcome<Option<Value>> {
    let key = owner
        .child("hook")
        .child(hook.event().name())
        .child(keys::safe(hook.id()));
    match result(driver, turn, &key, hook, cycle, data).await? {
        HookResult::Unchanged => Ok(Ok(None)),
        HookResult::Replaced { value } => Ok(Ok(Some(driver.journal.value(&value).await?))),
        HookResult::Failed { error } if is_decision(&error) => Ok(Err(error)),
        HookResult::Failed { .. } if hook.continue_on_error() => Ok(Ok(None)),
        HookResult::Failed { error } => Err(Halt::Failed(error)),
    }
}

/// A word about the run, and no mistake of the hook.
fn is_decision(error: &StepError) -> bool {
    error.code == CHANGES_REQUESTED || error.code == code::REJECTED
}

async fn result(
    driver: &Driver,
    turn: Option<&Turn>,
    key: &Key,
    hook: &dyn Hook,
    cycle: u32,
    data: &Value,
) -> Result<HookResult, Halt> {
    driver.take_over(key, None).await?;
    let halted = keys::halted(key, driver.reopened);
    for place in [key, &halted] {
        if let Some(RunEvent::HookFinished { result, .. }) = driver.journal.recorded(place).as_deref() {
            return Ok(result.clone());
        }
    }
    let mut artifacts = Vec::new();
    let called = call(driver, turn, key, hook, cycle, data).await?;
    let result = match called.reply {
        Ok(None) => HookResult::Unchanged,
        Ok(Some(value)) => match Driver::name_value("tool-output", &value, &mut artifacts) {
            Ok(value) => HookResult::Replaced { value },
            Err(error) => HookResult::Failed { error },
        },
        Err(error) => HookResult::Failed { error },
    };
    let ends_the_run =
        matches!(&result, HookResult::Failed { error } if !is_decision(error) && !hook.continue_on_error());
    let event = RunEvent::HookFinished {
        hook: hook.id().to_owned(),
        event: hook.event(),
        result: result.clone(),
        prevent_default: called.prevent_default,
    };
    let place = if ends_the_run { halted } else { key.clone() };
    driver
        .journal
        .record_all(vec![(place, event)], artifacts, Durability::Commit)
        .await?;
    Ok(result)
}

/// How often a hook failed and ended the run: opened again, the run has it do everything anew.
fn failed_before(driver: &Driver, key: &Key) -> u32 {
    let failed = |n: &u32| driver.journal.recorded(&keys::halted(key, *n)).is_some();
    (0..=driver.reopened).filter(failed).count() as u32
}

struct Called {
    reply: Result<Option<Value>, StepError>,
    prevent_default: bool,
}

/// Calls one hook until it no longer waits and has nothing more done; each question and each thing that is done has its own
/// address.
async fn call(
    driver: &Driver,
    turn: Option<&Turn>,
    key: &Key,
    hook: &dyn Hook,
    cycle: u32,
    data: &Value,
) -> Result<Called, Halt> {
    let mut answer: Option<Answer> = None;
    let mut done: Option<Result<Value, StepError>> = None;
    let mut prevent_default = false;
    let mut question = 0_u32;
    let mut performed = failed_before(driver, key);
    loop {
        let at_work = driver.begin_leaf().await?;
        let context = HookContext::new(driver.metadata(cycle), answer.as_ref()).after(done.as_ref());
        let work = AssertUnwindSafe(hook.call(data, &context)).catch_unwind();
        let reply = driver.or_stop(work).await?;
        prevent_default |= context.is_default_prevented();
        drop(at_work);
        let reply = match reply {
            Ok(Ok(HookReply::Wait(ask))) => {
                let place = key.child(format!("ask/{question}"));
                answer = Some(driver.ask_person_in(turn, &place, ask).await?);
                question += 1;
                continue;
            }
            Ok(Ok(HookReply::Perform { effect, input })) => {
                let performance = Performance {
                    key: keys::performed(key, performed),
                    cycle,
                    effect: &effect,
                    input,
                    turn,
                };
                done = Some(driver.perform(performance).await?);
                performed += 1;
                continue;
            }
            Ok(Ok(HookReply::Unchanged)) => Ok(None),
            Ok(Ok(HookReply::Replaced(value))) => Ok(Some(value)),
            Ok(Err(error)) => Err(error),
            Err(_panic) => Err(StepError::new(
                code::CALLBACK_ERROR,
                format!("the hook \"{}\" broke down", hook.id()),
            )),
        };
        return Ok(Called { reply, prevent_default });
    }
}

/// Lets the hooks see a step before it runs; the step that runs in its place, when they changed it. It keeps its id
/// and what it depends on, fits the rules of plans, and is shown to a person unless the hooks may change plans.
pub async fn pre_step(
    driver: &Driver,
    turn: &Turn,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
) -> Result<Option<PlanStep>, Halt> {
    let event = HookEvent::PreStep;
    let data = || json!({ "step": step, "cycle": cycle });
    let fired = fire_in(driver, Some(turn), key, event, cycle, data).await?;
    let fired = fired.map_err(Halt::Failed)?;
    let Some(replaced) = fired else { return Ok(None) };
    let models = crate::planner::models(driver);
    let known = crate::planner::known(driver, &models, &[]);
    let changed = plan_rules::read_step(&replaced.data["step"], step, &known)
        .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))?;
    if changed == *step {
        return Ok(None);
    }
    let event = RunEvent::StepChanged {
        cycle,
        by: replaced.by.clone(),
        step: Box::new(changed.clone()),
    };
    driver.journal.record(key.mark("changed"), event).await?;
    if must_see(&driver.header, replaced.trusted) {
        ask_for_step(driver, turn, key, cycle, &changed, &replaced.by).await?;
    }
    Ok(Some(changed))
}

/// Lets the hooks see a step's result before anybody else does.
pub async fn post_step(
    driver: &Driver,
    turn: &Turn,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    outcome: StepOutcome,
) -> Result<StepOutcome, Halt> {
    let event = HookEvent::PostStep;
    let data = || json!({ "step": step, "result": results::to_value(&outcome), "cycle": cycle });
    let fired = fire_in(driver, Some(turn), key, event, cycle, data).await?;
    match fired.map_err(Halt::Failed)? {
        None => Ok(outcome),
        Some(replaced) => results::read(&replaced.data["result"], &outcome)
            .map_err(|problem| Halt::Failed(replaced.refuse(event, &[problem]))),
    }
}

/// What a person's answer to a question about a step means.
///
/// # Errors
/// `rejected`, which ends the run.
pub(crate) fn allowed(answer: &Answer) -> Result<(), StepError> {
    match answer {
        Answer::Approve { .. } => Ok(()),
        Answer::Reject { reason } => Err(crate::approval::rejected(reason.as_deref(), "the step")),
        Answer::AskForChanges { words } => Err(StepError::new(code::REJECTED, words.clone())),
        Answer::ApproveEdited { .. }
        | Answer::MarkDone
        | Answer::RunAgain
        | Answer::StopRun
        | Answer::Allow { .. }
        | Answer::AllowedMeanwhile
        | Answer::Reply { .. } => Err(StepError::new(
            code::REJECTED,
            "The answer does not belong to this question.",
        )),
    }
}
