//! A person's approval of a plan: a hook like any other, the last one after the planner. It binds
//! the plan's hash; exactly that plan is run (goal-pipeline page, "Approval").
//!
//! A person may hand back another plan with the approval: then that one runs, if it fits the rules of plans. One that
//! does not is asked about again, as it was shown; nothing that breaks the rules is ever run.

use async_trait::async_trait;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::plan::PlanStep;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::run::RunHeader;
use contract::step::{StepError, code};
use contract::task::Approval as Mode;
use serde_json::Value;

use crate::kernel::driver::{Driver, Halt};
use crate::plan_rules::{self, Known};
use crate::schedule::Turn;
use crate::{hooks, rules};

/// The code of a plan that goes back to the planner with a person's words.
pub const CHANGES_REQUESTED: &str = "changes_requested";

/// Whether a person must see a plan, or a step of one that a hook changed, before it runs. `allowed` says that a person
/// let it pass unseen: earlier, or by trusting the hook. A rule that asks about every plan goes before that and before
/// a run in which nothing is asked.
pub(crate) fn must_see(header: &RunHeader, allowed: bool) -> bool {
    rules::asks_for_every_plan(&header.rules) || (header.task.approval != Mode::Never && !allowed)
}

/// Asks for the approval of one plan.
pub struct Approval<'a> {
    /// `approval`, or `approval_of_change` for a plan that a hook changed.
    pub id: &'static str,
    /// After the planner, or after a hook before the executor.
    pub event: HookEvent,
    /// The question; none when this plan needs no answer.
    pub ask: Option<Ask>,
    /// What a plan that a person changed may refer to.
    pub known: Known<'a>,
}

#[async_trait]
impl Hook for Approval<'_> {
    fn id(&self) -> &str {
        self.id
    }

    fn event(&self) -> HookEvent {
        self.event
    }

    async fn call(&self, _plan: &Value, context: &HookContext<'_>) -> Result<HookReply, StepError> {
        let Some(ask) = &self.ask else {
            return Ok(HookReply::Unchanged);
        };
        match context.answer {
            None => Ok(HookReply::Wait(ask.clone())),
            Some(Answer::Approve { .. }) => Ok(HookReply::Unchanged),
            Some(Answer::ApproveEdited { plan, .. }) => {
                let edited = serde_json::to_value(plan).unwrap_or_default();
                Ok(match plan_rules::read(&edited, &self.known) {
                    Ok(_) => HookReply::Replaced(edited),
                    Err(_) => HookReply::Wait(ask.clone()),
                })
            }
            Some(Answer::AskForChanges { words }) => Err(StepError::new(CHANGES_REQUESTED, words.clone())),
            Some(Answer::Reject { reason }) => Err(rejected(reason.as_deref(), "the plan")),
            Some(
                Answer::MarkDone
                | Answer::RunAgain
                | Answer::StopRun
                | Answer::Allow { .. }
                | Answer::AllowedMeanwhile
                | Answer::Reply { .. },
            ) => Err(StepError::new(
                code::REJECTED,
                "The answer does not belong to this question.",
            )),
        }
    }
}

/// What ends a run whose plan or step a person refused.
pub(crate) fn rejected(reason: Option<&str>, what: &str) -> StepError {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let message = reason.map_or(format!("You rejected {what}."), |reason| {
        format!("You rejected {what}: {reason}")
    });
    StepError::new(code::REJECTED, message)
}

/// Asks whether a step may run as a hook changed it.
pub(crate) async fn ask_for_step(
    driver: &Driver,
    turn: &Turn,
    key: &Key,
    cycle: u32,
    step: &PlanStep,
    by: &[String],
) -> Result<(), Halt> {
    let ask = Ask::RunStep {
        cycle,
        step: step.id.clone(),
        title: step.title().to_owned(),
        tools: step.tools.clone(),
        rule: format!(
            "\"{}\" changed this step after the plan was approved",
            by.join("\", \"")
        ),
    };
    let answer = driver
        .ask_person_in(Some(turn), &key.child("changed/ask/0"), ask)
        .await?;
    hooks::allowed(&answer).map_err(Halt::Failed)
}
