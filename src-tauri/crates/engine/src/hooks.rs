//! Hooks as leaves: each callback's result is recorded, and a hook that has to wait for a person is
//! called again with the answer (kernel page, "Hooks in the journal").
//!
//! Only `postPlanner` is fired so far.

use std::panic::AssertUnwindSafe;

use contract::event::{HookResult, RunEvent};
use contract::ids::Key;
use contract::person::Answer;
use contract::ports::hook::{Hook, HookEvent, HookReply};
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use futures::future::FutureExt;
use serde_json::Value;

use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::keys;

/// Calls hooks in their order, each with what the one before it left.
///
/// # Errors
/// The failure of the first hook that does not let the run go on.
pub async fn fire(
    driver: &Driver,
    owner: &Key,
    event: HookEvent,
    cycle: u32,
    mut data: Value,
    hooks: &[&dyn Hook],
) -> Outcome<Value> {
    for hook in hooks.iter().filter(|hook| hook.event() == event) {
        let key = owner.child("hook").child(event.name()).child(keys::safe(hook.id()));
        match result(driver, &key, *hook, cycle, &data).await? {
            HookResult::Unchanged => {}
            HookResult::Replaced { value } => data = driver.journal.value(&value).await?,
            HookResult::Failed { .. } if hook.continue_on_error() => {}
            HookResult::Failed { error } => return Ok(Err(error)),
        }
    }
    Ok(Ok(data))
}

async fn result(driver: &Driver, key: &Key, hook: &dyn Hook, cycle: u32, data: &Value) -> Result<HookResult, Halt> {
    driver.take_over(key, None).await?;
    if let Some(RunEvent::HookFinished { result, .. }) = driver.journal.recorded(key).as_deref() {
        return Ok(result.clone());
    }
    let mut artifacts = Vec::new();
    let result = match call(driver, key, hook, cycle, data).await? {
        Ok(None) => HookResult::Unchanged,
        Ok(Some(value)) => match Driver::name_value("tool-output", &value, &mut artifacts) {
            Ok(value) => HookResult::Replaced { value },
            Err(error) => HookResult::Failed { error },
        },
        Err(error) => HookResult::Failed { error },
    };
    let event = RunEvent::HookFinished {
        hook: hook.id().to_owned(),
        event: hook.event(),
        result: result.clone(),
    };
    driver
        .journal
        .record_all(vec![(key.clone(), event)], artifacts, Durability::Commit)
        .await?;
    Ok(result)
}

/// Calls one hook until it no longer waits; each question has its own address.
async fn call(driver: &Driver, key: &Key, hook: &dyn Hook, cycle: u32, data: &Value) -> Outcome<Option<Value>> {
    let mut answer: Option<Answer> = None;
    for question in 0_u32.. {
        let work = AssertUnwindSafe(hook.call(data, driver.metadata(cycle), answer.as_ref())).catch_unwind();
        let reply = match driver.or_stop(work).await? {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => return Ok(Err(error)),
            Err(_panic) => {
                return Ok(Err(StepError::new(
                    code::CALLBACK_ERROR,
                    format!("the hook \"{}\" broke down", hook.id()),
                )));
            }
        };
        match reply {
            HookReply::Unchanged => return Ok(Ok(None)),
            HookReply::Replaced(value) => return Ok(Ok(Some(value))),
            HookReply::Wait(ask) => answer = Some(driver.ask_person(&key.child(format!("ask/{question}")), ask).await?),
        }
    }
    Ok(Ok(None))
}
