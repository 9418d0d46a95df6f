//! What a task brings by itself is carried out: a command or a webhook as a rule, a command as a check (tools page,
//! "Permissions").
//!
//! A person allows each by its content, before the first step; the answer is a leaf, so it is the same after a restart, and
//! what was refused is not asked about again. Carrying out is a tool's execution like any other: held to the envelope,
//! intended before it begins, its changes pictured, and never done again by a resumed run or a replay.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use contract::access::{Access, Decision, Preset};
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::check::{CheckCommandOutput, CheckCommands, NoCommand};
use contract::step::{StepError, code};
use contract::task_effect::TaskEffect;
use serde_json::{Value, json};

use super::driver::{Driver, Halt, Outcome};
use super::keys;
use super::tool_call::ToolCall;
use crate::schedule::Turn;
use crate::{effects, permissions};

/// Something to carry out.
pub(crate) struct Performance<'a> {
    /// Its address.
    pub(crate) key: Key,
    /// Which cycle.
    pub(crate) cycle: u32,
    /// What.
    pub(crate) effect: &'a TaskEffect,
    /// What it is told.
    pub(crate) input: String,
    /// The turn of the work that it belongs to.
    pub(crate) turn: Option<&'a Turn>,
}

impl Driver {
    /// Asks about everything that the task brings and nobody allowed or refused yet, one after the other.
    pub(crate) async fn ask_about_effects(&self) -> Result<(), Halt> {
        for effect in effects::of(&self.header.rules, &self.header.task, &self.world.checks) {
            // What is refused is not done; the run goes on without it.
            let _ = self.permit_effect(self.turn.as_ref(), &effect).await?;
        }
        Ok(())
    }

    /// Whether a person allowed exactly this.
    pub(crate) fn is_allowed(&self, effect: &TaskEffect) -> bool {
        let access = Access::TaskEffect { effect: effect.clone() };
        let decided = permissions::decide(&self.held_against(), &self.journal.allowed(), &access);
        decided == Decision::Allow
    }

    /// Whether this may be done, asking a person who was not asked yet; the inner error says why not.
    pub(crate) async fn permit_effect(
        &self,
        turn: Option<&Turn>,
        effect: &TaskEffect,
    ) -> Result<Result<(), String>, Halt> {
        if self.is_allowed(effect) {
            return Ok(Ok(()));
        }
        let hash = effect.hash();
        let key = keys::task_effect(&hash);
        if self.header.envelope.preset == Preset::HandsOff {
            return Ok(Err(
                "it was not allowed before the run, which asks about nothing".to_owned()
            ));
        }
        let ask = Ask::AllowEffect {
            wants: effect.wants(),
            effect: effect.clone(),
            hash,
        };
        Ok(match self.ask_person_in(turn, &key, ask).await? {
            Answer::Allow { .. } => Ok(()),
            Answer::Reject { reason } => {
                let reason = reason.map(|reason| reason.trim().to_owned());
                Err(match reason.filter(|reason| !reason.is_empty()) {
                    Some(reason) => format!("you did not allow it: {reason}"),
                    None => "you did not allow it".to_owned(),
                })
            }
            Answer::StopRun => return Err(Halt::Cancelled),
            Answer::Approve { .. }
            | Answer::ApproveEdited { .. }
            | Answer::AskForChanges { .. }
            | Answer::MarkDone
            | Answer::RunAgain
            | Answer::AllowedMeanwhile
            | Answer::Reply { .. } => Err("the answer does not belong to this question".to_owned()),
        })
    }

    /// Carries it out, or returns what came of it before. Only what a person allowed is.
    pub(crate) async fn perform(&self, performance: Performance<'_>) -> Outcome<Value> {
        let effect = performance.effect;
        if let Err(reason) = self.permit_effect(performance.turn, effect).await? {
            return Ok(Err(StepError::new(code::PERMISSION_DENIED, reason)));
        }
        let name = match effect {
            TaskEffect::Check { .. } | TaskEffect::Command(_) => "task_command",
            TaskEffect::Webhook(_) => "task_webhook",
        };
        let Some(tool) = self.world.own_tools.get(name) else {
            let message = "there is nothing here that could carry it out";
            return Ok(Err(StepError::new(code::TOOL_NOT_FOUND, message)));
        };
        let call = ToolCall {
            key: performance.key,
            cycle: performance.cycle,
            step: String::new(),
            tool: Arc::clone(tool),
            name: name.to_owned(),
            args: json!({ "effect": effect, "input": performance.input }),
            inputs: BTreeMap::new(),
            turn: performance.turn.cloned(),
        };
        self.call_tool(call).await
    }

    /// What runs the commands of a check at this address.
    pub(super) fn commands_of_check(&self, key: &Key, cycle: u32) -> Arc<CommandsOfCheck> {
        Arc::new(CommandsOfCheck {
            driver: self.branch(),
            key: key.clone(),
            cycle,
            begun: AtomicU32::new(0),
            halted: OnceLock::new(),
        })
    }
}

/// Runs the commands of one check, one after the other.
pub(super) struct CommandsOfCheck {
    driver: Driver,
    key: Key,
    cycle: u32,
    /// How many were begun.
    begun: AtomicU32,
    halted: OnceLock<Halt>,
}

impl std::fmt::Debug for CommandsOfCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("CommandsOfCheck").field(&self.key).finish()
    }
}

impl CommandsOfCheck {
    /// Why the drive could not go on while one of them was at work.
    pub(super) fn halted(&self) -> Option<Halt> {
        self.halted.get().cloned()
    }

    async fn carry_out(&self, effect: &TaskEffect) -> Result<Result<Value, NoCommand>, Halt> {
        let turn = self.driver.turn.as_ref();
        if let Err(reason) = self.driver.permit_effect(turn, effect).await? {
            return Ok(Err(NoCommand::NotAllowed(reason)));
        }
        let performance = Performance {
            // One that is not allowed has no number, so that those that are done have theirs without gaps.
            key: keys::performed(&self.key, self.begun.fetch_add(1, Ordering::Relaxed)),
            cycle: self.cycle,
            effect,
            input: String::new(),
            turn,
        };
        let done = self.driver.perform(performance).await?;
        Ok(done.map_err(|error| NoCommand::Failed(error.message)))
    }
}

#[async_trait]
impl CheckCommands for CommandsOfCheck {
    async fn run(&self, command: &str) -> Result<CheckCommandOutput, NoCommand> {
        let effect = TaskEffect::Check {
            run: command.to_owned(),
        };
        match self.carry_out(&effect).await {
            Ok(Ok(output)) => Ok(read(&output)),
            Ok(Err(refused_or_failed)) => Err(refused_or_failed),
            Err(halt) => {
                // The first is the reason for those that follow.
                let _ = self.halted.set(halt);
                Err(NoCommand::Failed("the run was interrupted".to_owned()))
            }
        }
    }
}

fn read(output: &Value) -> CheckCommandOutput {
    let text = |name: &str| output[name].as_str().unwrap_or_default().to_owned();
    CheckCommandOutput {
        exit_code: output["exitCode"].as_i64(),
        stdout: text("stdout"),
        stderr: text("stderr"),
        timed_out: output["timedOut"].as_bool().unwrap_or_default(),
        containment: text("containment"),
    }
}
