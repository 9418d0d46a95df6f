//! From feedback to a plan that may run: the planner is asked until a plan of its is approved, or the run ends.

use contract::event::RunEvent;
use contract::ids::Key;
use contract::plan::Plan;
use contract::ports::hook::HookEvent;
use contract::run::StopReason;
use contract::step::{StepError, code};
use contract::task::Task;
use serde_json::{Value, json};

use super::{End, TaskLoop};
use crate::approval::CHANGES_REQUESTED;
use crate::hooks::{self, Replaced};
use crate::kernel::driver::Halt;
use crate::kernel::keys;
use crate::planner::{self, Planning};
use crate::task_data;

/// Why a planned step of the loop did not lead to a plan that runs.
pub(super) enum NoPlan {
    /// The planner makes another one, with these words.
    Again { plan: Plan, words: String, by_person: bool },
    /// The run ends.
    End(End),
}

impl TaskLoop<'_> {
    /// Plans until there is an approved plan, or an end.
    pub(super) async fn plan(&mut self, cycle: u32, mut feedback: Option<String>) -> Result<Result<Plan, End>, Halt> {
        let of = keys::planner(cycle);
        let mut previous = self.last.as_ref().map(|(plan, _)| plan.clone());
        let mut sent_back = false;
        let mut said = String::new();
        let mut n = 0;
        loop {
            let key = keys::attempt(&of, n);
            let guided = self.guided;
            let planning = self
                .planning(cycle, &key, feedback.clone(), &said, previous.clone())
                .await?;
            let (proposed, notes) = match planner::plan(self.driver, &key, &planning).await? {
                Ok(planned) => planned,
                Err(error) if self.driver.is_opened(&of, n + 1) => {
                    n += 1;
                    // No plan came of what a person said: the next planner is told it as well.
                    self.guided = guided;
                    // A planner that is tried again is told what was wrong; a server that was down says nothing.
                    if error.code == code::PLAN_INVALID {
                        feedback = Some(
                            feedback.map_or(error.message.clone(), |before| format!("{}\n\n{before}", error.message)),
                        );
                    }
                    continue;
                }
                Err(error) => return Ok(Err((StopReason::Error, error.message))),
            };
            match self.propose(cycle, &key, proposed, notes).await? {
                Ok(plan) => return Ok(Ok(plan)),
                // A rule's wish is told once: a planner that does not heed it would not the next time.
                Err(NoPlan::Again {
                    words,
                    by_person: false,
                    ..
                }) if sent_back => {
                    return Ok(Err((StopReason::Rejected, words)));
                }
                Err(NoPlan::Again { plan, words, by_person }) => {
                    sent_back |= !by_person;
                    said = if by_person { words.clone() } else { String::new() };
                    n += 1;
                    let opened = RunEvent::AttemptOpened {
                        of: of.clone(),
                        n,
                        why: words.clone(),
                    };
                    self.driver
                        .journal
                        .record(of.mark(format!("attempt-{n}")), opened)
                        .await?;
                    feedback = Some(words);
                    previous = Some(plan);
                }
                Err(NoPlan::End(end)) => return Ok(Err(end)),
            }
        }
    }

    /// What the planner starts from: the feedback, a person's words, and what hooks make of them. `said` is the feedback
    /// when a person gave it.
    pub(super) async fn planning(
        &mut self,
        cycle: u32,
        key: &Key,
        feedback: Option<String>,
        said: &str,
        previous: Option<Plan>,
    ) -> Result<Planning, Halt> {
        let journal = &self.driver.journal;
        let told_before = self.guided;
        let started = key.mark("started");
        self.driver.repeat(&started).await?;
        let feedback = match journal.recorded(&started).as_deref() {
            // What it was told before counts: words that came later are for the next planner.
            Some(RunEvent::PlanningStarted { feedback, guidance, .. }) => {
                self.guided = self.guided.max(*guidance);
                feedback.clone()
            }
            _ => {
                let mut parts: Vec<String> = feedback.into_iter().collect();
                while let Some(words) = self.guidance(self.guided) {
                    parts.push(words);
                    self.guided += 1;
                }
                let feedback = (!parts.is_empty()).then(|| parts.join("\n\n"));
                let event = RunEvent::PlanningStarted {
                    cycle,
                    feedback: feedback.clone(),
                    guidance: self.guided,
                };
                journal.record(started, event).await?;
                feedback
            }
        };
        let words = (told_before..self.guided).filter_map(|n| self.guidance(n));
        let said: Vec<String> = std::iter::once(said.to_owned())
            .filter(|said| !said.is_empty())
            .chain(words)
            .collect();
        let mut planning = Planning {
            cycle,
            task: self.driver.header.task.clone(),
            feedback,
            said: said.join("\n\n"),
            previous,
            earlier: self.earlier.keys().cloned().collect(),
            kept: self
                .last
                .as_ref()
                .map(|(_, outcomes)| planner::succeeded(self.last_cycle, outcomes))
                .unwrap_or_default(),
        };
        let event = HookEvent::PrePlanner;
        let data = || json!({ "prompt": task_data::of(&planning.task), "feedback": planning.feedback });
        if let Some(replaced) = hooks::fire(self.driver, key, event, cycle, data)
            .await?
            .map_err(Halt::Failed)?
        {
            planning.task = self.read_task(&replaced, event)?;
            planning.feedback = match &replaced.data["feedback"] {
                Value::Null => None,
                Value::String(words) => Some(words.clone()),
                _ => {
                    return Err(Halt::Failed(
                        replaced.refuse(event, &["\"feedback\" must be a text".to_owned()]),
                    ));
                }
            };
        }
        Ok(planning)
    }

    /// The `n`th of a person's words, as a planner is told them.
    fn guidance(&self, n: u32) -> Option<String> {
        match self.driver.journal.recorded(&keys::guidance(n)).as_deref() {
            Some(RunEvent::GuidanceGiven { words }) => Some(format!("The person says: {words}")),
            _ => None,
        }
    }

    /// The task as a hook left it.
    pub(super) fn read_task(&self, replaced: &Replaced, event: HookEvent) -> Result<Task, Halt> {
        task_data::read(
            &replaced.data["prompt"],
            &self.driver.header.task,
            &self.driver.world.checks,
        )
        .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))
    }
}

impl NoPlan {
    pub(super) fn of(plan: Plan, error: StepError, by_person: bool) -> Self {
        if error.code == CHANGES_REQUESTED {
            let words = error.message;
            return Self::Again { plan, words, by_person };
        }
        let reason = if error.code == code::REJECTED {
            StopReason::Rejected
        } else {
            StopReason::Error
        };
        Self::End((reason, error.message))
    }
}
