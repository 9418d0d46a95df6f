//! What a tool call touches is held against the envelope, and a person is asked about the rest (tools page,
//! "Permissions").
//!
//! The question is a leaf below the call's: it waits durably, and a resumed run finds its answer. What is allowed for the
//! run is a fold of the journal, so that it is the same after a restart; whoever waits for the same meanwhile goes on.

use std::pin::pin;
use std::sync::Arc;

use contract::access::{Access, Decision, Envelope, Granted};
use contract::event::RunEvent;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use futures::future::{Either, select};
use serde_json::{Value, json};

use super::controls::AtWork;
use super::driver::{Driver, Halt, Outcome};
use super::tool_call::ToolCall;
use crate::permissions;
use crate::schedule::Turn;

/// Where a call's question lies.
pub(super) fn question(call: &Key) -> Key {
    call.child("permission")
}

/// What is not inside, with the first reason; an error says why a part of it is not even asked about.
fn missing(
    envelope: &Envelope,
    allowed: &[Access],
    wanted: Vec<Access>,
) -> Result<Option<(Vec<Access>, String)>, String> {
    let mut missing = Vec::new();
    let mut why = None;
    for access in wanted {
        match permissions::decide(envelope, allowed, &access) {
            Decision::Allow => {}
            Decision::Deny(reason) => return Err(reason),
            Decision::Ask(reason) => {
                why.get_or_insert(reason);
                missing.push(access);
            }
        }
    }
    Ok(why.map(|why| (missing, why)))
}

/// Whoever allowed what a task brings allowed all that it touches: a webhook's own host is asked about with it, as a whole.
fn with_all_of_effects(envelope: &Envelope, allowed: Arc<Vec<Access>>, wanted: &[Access]) -> Arc<Vec<Access>> {
    let is_effect = |access: &&Access| matches!(access, Access::TaskEffect { .. });
    let mut effects = wanted.iter().filter(is_effect);
    match effects.any(|effect| permissions::decide(envelope, &allowed, effect) == Decision::Allow) {
        true => Arc::new(allowed.iter().chain(wanted).cloned().collect()),
        false => allowed,
    }
}

/// What this call reaches. A command runs without anything that holds it only when a person allowed exactly it.
fn granted(envelope: &Envelope, allowed: &[Access], wanted: &[Access]) -> Arc<Granted> {
    let by_a_person = |access: &Access| envelope.kept.contains(access) || allowed.contains(access);
    let is_command = |access: &&Access| matches!(access, Access::Execute { .. } | Access::TaskEffect { .. });
    Arc::new(Granted {
        uncontained: wanted.iter().filter(is_command).any(by_a_person),
        ..permissions::granted(envelope, allowed)
    })
}

/// Whether a failure is a person's no, which ends a step: asked again, they would say it again.
pub(crate) fn is_a_persons_no(error: &StepError) -> bool {
    let by = |cause: &Value| cause.get("by").and_then(Value::as_str) == Some("person");
    error.code == code::PERMISSION_DENIED && error.cause.as_deref().is_some_and(by)
}

fn refused(wants: &str, reason: Option<&str>) -> StepError {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let message = match reason {
        Some(reason) => format!("a person did not allow this step to {wants}: {reason}"),
        None => format!("a person did not allow this step to {wants}"),
    };
    StepError::new(code::PERMISSION_DENIED, message).cause(json!({ "by": "person" }))
}

impl Driver {
    /// What a call may touch, once everything that it wants is inside the envelope or allowed.
    pub(super) async fn permit(&self, call: &ToolCall, args: &Value, at_work: &mut AtWork) -> Outcome<Arc<Granted>> {
        let envelope = &*self.held_against();
        let wanted = call.tool.access(args);
        let allowed = with_all_of_effects(envelope, self.journal.allowed(), &wanted);
        let key = question(&call.key);
        let asked = self.journal.recorded(&key.mark("asked"));
        let (access, wants, reason) = match asked.as_deref() {
            // What was asked before the app ended is asked still.
            Some(RunEvent::PersonAsked {
                ask: Ask::Permission {
                    access, wants, reason, ..
                },
            }) => (access.clone(), wants.clone(), reason.clone()),
            _ => match missing(envelope, &allowed, wanted.clone()) {
                Ok(None) => return Ok(Ok(granted(envelope, &allowed, &wanted))),
                Err(reason) => return Ok(Err(StepError::new(code::PERMISSION_DENIED, reason))),
                Ok(Some((access, reason))) => {
                    let wants: Vec<String> = access.iter().map(Access::wants).collect();
                    (access, wants.join(" and "), reason)
                }
            },
        };
        let ask = Ask::Permission {
            cycle: call.cycle,
            step: call.step.clone(),
            tool: call.name.clone(),
            access: access.clone(),
            wants: wants.clone(),
            reason,
        };
        let turn = call.turn.as_ref().or(self.turn.as_ref());
        let answer = self
            .without_slot(at_work, self.ask_permission(turn, &key, ask, &access))
            .await??;
        match answer {
            Answer::Allow { .. } | Answer::AllowedMeanwhile => {}
            Answer::Reject { reason } => return Ok(Err(refused(&wants, reason.as_deref()))),
            Answer::StopRun => return Err(Halt::Cancelled),
            Answer::Approve { .. }
            | Answer::ApproveEdited { .. }
            | Answer::AskForChanges { .. }
            | Answer::MarkDone
            | Answer::RunAgain
            | Answer::Reply { .. } => return Ok(Err(refused(&wants, None))),
        }
        let allowed: Vec<Access> = self.journal.allowed().iter().cloned().chain(access).collect();
        // The tool may want something else than when it was asked about: another version of the app.
        match missing(envelope, &allowed, wanted.clone()) {
            Ok(None) => Ok(Ok(granted(envelope, &allowed, &wanted))),
            Ok(Some((_, reason))) | Err(reason) => Ok(Err(StepError::new(code::PERMISSION_DENIED, reason))),
        }
    }

    /// Asks, or returns what was said before.
    async fn ask_permission(
        &self,
        turn: Option<&Turn>,
        key: &Key,
        ask: Ask,
        wanted: &[Access],
    ) -> Result<Answer, Halt> {
        if let Some(RunEvent::PersonAnswered { answer }) = self.journal.recorded(key).as_deref() {
            return Ok(answer.clone());
        }
        self.journal
            .record(key.mark("asked"), RunEvent::PersonAsked { ask: ask.clone() })
            .await?;
        match turn {
            Some(turn) => turn.away(self.answer_or_allowed(key, &ask, wanted)).await?,
            None => self.answer_or_allowed(key, &ask, wanted).await,
        }
    }

    /// Waits for the answer, or for one to another question that allows the same.
    async fn answer_or_allowed(&self, key: &Key, ask: &Ask, wanted: &[Access]) -> Result<Answer, Halt> {
        let envelope = &*self.held_against();
        let meanwhile = async {
            let mut allowed = self.journal.watch_allowed();
            let is_covered =
                |allowed: &Arc<Vec<Access>>| matches!(missing(envelope, allowed, wanted.to_vec()), Ok(None));
            // The journal outlives whoever waits here.
            if allowed.wait_for(is_covered).await.is_err() {
                futures::future::pending::<()>().await;
            }
        };
        match select(pin!(self.wait_for_answer(key, ask)), pin!(meanwhile)).await {
            Either::Left((answer, _)) => return answer,
            Either::Right(_) => {}
        }
        let event = RunEvent::PersonAnswered {
            answer: Answer::AllowedMeanwhile,
        };
        self.journal
            .record_all(vec![(key.clone(), event)], Vec::new(), Durability::Barrier)
            .await?;
        match self.journal.recorded(key).as_deref() {
            // This question's own answer may have come first.
            Some(RunEvent::PersonAnswered { answer }) => Ok(answer.clone()),
            _ => Ok(Answer::AllowedMeanwhile),
        }
    }
}
