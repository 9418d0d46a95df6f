//! A task is a loop: plan, run the plan, judge, until the verdict passes, the cycles run out or the
//! tokens do (seed *tepa-how-it-works*; goal-pipeline page).
//!
//! The loop is ordinary code. It survives a crash because everything that matters in it is a leaf:
//! driving a run again walks the same way through recorded results to the place where it stopped.

use std::collections::HashSet;

use contract::evaluation::{Evaluation, Verdict};
use contract::event::RunEvent;
use contract::hash::Hash;
use contract::plan::Plan;
use contract::ports::journal::{Durability, JournalError};
use contract::run::{RunResult, StopReason};
use contract::step::{StepError, code};
use contract::value_ref::Artifact;
use serde_json::json;

use crate::executor::{self, Earlier, StepOutcome};
use crate::judged_before::JudgedBefore;
use crate::kernel::driver::{Driver, Halt};
use crate::kernel::keys;
use crate::{ending, outputs, verdict};

mod judging;
mod planning;
mod proposal;
mod remembering;

/// Carries a task out that lies in a flow, with the artifacts that its outputs name; what becomes of
/// them is the flow's to record.
pub(crate) async fn run_nested(driver: &Driver) -> Result<(RunResult, Vec<Artifact>), Halt> {
    let mut task = TaskLoop::new(driver);
    let (stop_reason, feedback) = Box::pin(task.run()).await?;
    Ok(task.result((stop_reason, feedback), None).await)
}

/// Why and with which words a run ends.
pub(crate) type End = (StopReason, String);

/// A task on its way: what its cycles have come to so far.
pub(crate) struct TaskLoop<'a> {
    driver: &'a Driver,
    /// Whether a person has allowed plans inside this envelope without being asked again.
    consent: bool,
    earlier: Earlier,
    cycles: u32,
    last: Option<(Plan, Vec<StepOutcome>)>,
    /// The cycle that these are of.
    last_cycle: u32,
    /// How many of a person's words planners were told.
    guided: u32,
    judged: JudgedBefore,
}

impl<'a> TaskLoop<'a> {
    pub(crate) fn new(driver: &'a Driver) -> Self {
        Self {
            driver,
            consent: false,
            earlier: Earlier::new(),
            cycles: 0,
            last: None,
            last_cycle: 0,
            guided: 0,
            judged: JudgedBefore::default(),
        }
    }

    pub(crate) async fn run(&mut self) -> Result<End, Halt> {
        let mut feedback: Option<String> = None;
        let mut tried: HashSet<Hash> = HashSet::new();
        let most = self.driver.header.task.limits.max_cycles;
        self.driver.ask_about_effects().await?;
        for cycle in 1.. {
            self.cycles = cycle;
            self.driver
                .journal
                .record(keys::cycle(cycle).mark("started"), RunEvent::CycleStarted { cycle })
                .await?;
            if let Some(words) = self.rejected_before(cycle) {
                feedback = Some(words);
                continue;
            }
            let end = match self.cycle(cycle, feedback.take()).await {
                Err(Halt::Failed(error)) if error.code == code::REJECTED => (StopReason::Rejected, error.message),
                Err(halt) => return Err(halt),
                Ok(ended) => match ended {
                    Err(end) => end,
                    Ok((_, evaluation)) if evaluation.verdict == Verdict::Pass => {
                        let accepted = self.driver.journal.recorded(&keys::changed_verdict(cycle)).is_some();
                        let reason = if accepted {
                            StopReason::Accepted
                        } else {
                            StopReason::Passed
                        };
                        (reason, evaluation.summary.unwrap_or_default())
                    }
                    Ok((plan, evaluation)) => {
                        let failed = verdict::failed_ids(&evaluation.criteria);
                        let now = Hash::of_value(&json!([plan.steps, failed, evaluation.feedback]));
                        let stuck = now.is_ok_and(|now| !tried.insert(now)) && !self.went_on_after(cycle);
                        let refused = verdict::only_refused(&self.driver.header.task.criteria(), &evaluation.criteria)
                            && !self.went_on_after(cycle);
                        let words = evaluation.feedback;
                        if cycle >= most {
                            let none = || format!("Max cycles ({most}) reached without passing.");
                            (StopReason::MaxCycles, words.unwrap_or_else(none))
                        } else if (stuck || refused) && !self.is_told_more() {
                            // The same plan failed in the same way before, or only what nobody allowed to be checked is
                            // missing: another cycle would cost and not help.
                            (StopReason::NoProgress, words.unwrap_or_default())
                        } else {
                            feedback = words;
                            continue;
                        }
                    }
                },
            };
            if !self.goes_on_after(cycle) {
                return Ok(end);
            }
            let unplanned = (end.0 == StopReason::Error)
                .then(|| self.told_to_planner(cycle))
                .flatten();
            let words: Vec<String> = unplanned
                .into_iter()
                .chain([end.1])
                .filter(|words| !words.is_empty())
                .collect();
            feedback = (!words.is_empty()).then(|| words.join("\n\n"));
        }
        Ok((StopReason::MaxCycles, String::new()))
    }

    /// Whether a person let the run go on after it had ended with this cycle. A run that ended because something
    /// failed or ran out goes on inside the cycle, not after it.
    fn goes_on_after(&self, cycle: u32) -> bool {
        (0..self.driver.reopened).any(|n| {
            let ended = self.driver.journal.recorded(&keys::run_finished(n));
            matches!(ended.as_deref(), Some(RunEvent::RunFinished { result })
                if result.cycles == cycle && ending::goes_on_in_another_cycle(&self.driver.journal, result))
        })
    }

    /// What the last planner of a cycle was told: one that made no plan has not heeded it yet.
    fn told_to_planner(&self, cycle: u32) -> Option<String> {
        let journal = &self.driver.journal;
        let started = ending::last_planner(journal, cycle).mark("started");
        match journal.recorded(&started).as_deref() {
            Some(RunEvent::PlanningStarted { feedback, .. }) => feedback.clone(),
            _ => None,
        }
    }

    /// What was said about a cycle whose plan or step was rejected before the run was opened again. There is nothing
    /// in it to go on with.
    fn rejected_before(&mut self, cycle: u32) -> Option<String> {
        let journal = &self.driver.journal;
        if journal.recorded(&keys::attempt(&keys::judge(cycle), 0)).is_some() {
            return None;
        }
        let ended =
            (0..self.driver.reopened).find_map(|n| match journal.recorded(&keys::run_finished(n)).as_deref() {
                Some(RunEvent::RunFinished { result }) if result.cycles == cycle => {
                    (result.stop_reason == StopReason::Rejected).then(|| result.feedback.clone())
                }
                _ => None,
            })?;
        let of = keys::planner(cycle);
        for n in 0.. {
            match journal.recorded(&keys::attempt(&of, n).mark("started")).as_deref() {
                Some(RunEvent::PlanningStarted { guidance, .. }) => self.guided = self.guided.max(*guidance),
                _ => break,
            }
        }
        Some(ended)
    }

    /// Whether the history goes on behind this cycle, as that of an older version may.
    fn went_on_after(&self, cycle: u32) -> bool {
        let next = keys::cycle(cycle + 1).mark("started");
        self.driver.journal.recorded(&next).is_some() || self.driver.replayed(&next).is_some()
    }

    /// Whether a person said something that no planner was told yet.
    fn is_told_more(&self) -> bool {
        self.driver.journal.count(self.guided, keys::guidance) > 0
    }

    /// One cycle: an approved plan, its steps, a verdict.
    async fn cycle(&mut self, cycle: u32, feedback: Option<String>) -> Result<Result<(Plan, Evaluation), End>, Halt> {
        let plan = match self.plan(cycle, feedback).await? {
            Ok(plan) => plan,
            Err(end) => return Ok(Err(end)),
        };
        let outcomes = match executor::execute(self.driver, cycle, &plan, &self.earlier).await? {
            Ok(outcomes) => outcomes,
            Err(error) => return Ok(Err((StopReason::Error, error.message))),
        };
        let (outcomes, new) = self.post_executor(cycle, outcomes).await?;
        self.remember(cycle, &plan, &outcomes, new).await?;
        match self.judge(cycle, &plan, &outcomes).await? {
            Ok(evaluation) => Ok(Ok((plan, evaluation))),
            Err(error) if error.code == code::REJECTED => Ok(Err((StopReason::Rejected, error.message))),
            Err(error) => Ok(Err((StopReason::Error, error.message))),
        }
    }

    pub(crate) async fn finish(&self, end: End, error: Option<StepError>) -> Result<RunResult, JournalError> {
        let (result, artifacts) = self.result(end, error).await;
        let entry = (
            keys::run_finished(self.driver.reopened),
            RunEvent::RunFinished { result: result.clone() },
        );
        self.driver
            .journal
            .record_all(vec![entry], artifacts, Durability::Barrier)
            .await?;
        Ok(result)
    }

    async fn result(&self, (stop_reason, feedback): End, error: Option<StepError>) -> (RunResult, Vec<Artifact>) {
        let last = self.last.as_ref().map(|(plan, outcomes)| (plan, outcomes.as_slice()));
        let (outputs, artifacts) = outputs::collect(self.driver, last).await;
        let result = RunResult {
            status: stop_reason.status(),
            stop_reason,
            cycles: self.cycles,
            tokens_used: self.driver.journal.tokens_used(),
            cost: (self.driver.header.recording.is_none()).then(|| self.driver.journal.cost()),
            feedback,
            outputs,
            error,
        };
        (result, artifacts)
    }
}
