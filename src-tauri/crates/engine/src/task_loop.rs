//! A task is a loop: plan, run the plan, judge, until the verdict passes, the cycles run out or the
//! tokens do (seed *tepa-how-it-works*; goal-pipeline page).
//!
//! The loop is ordinary code. It survives a crash because everything that matters in it is a leaf:
//! driving a run again walks the same way through recorded results to the place where it stopped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use contract::evaluation::{Evaluation, Verdict};
use contract::event::{ApprovedBy, NamedValue, RunEvent};
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::person::{Answer, Ask};
use contract::plan::{Plan, PlanStep};
use contract::ports::hook::HookEvent;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::run::{RunHeader, RunResult, StopReason};
use contract::step::{StepError, code};
use contract::task::{Approval as ApprovalMode, Task};
use contract::value_ref::Artifact;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::approval::{Approval, CHANGES_REQUESTED};
use crate::evaluator::Judging;
use crate::executor::{self, Earlier, StepOutcome};
use crate::flow::{self, FlowOutcome};
use crate::hooks::Replaced;
use crate::judged_before::JudgedBefore;
use crate::kernel::controls::Controls;
use crate::kernel::driver::{Driver, Halt, Outcome, budget_message, cost_message};
use crate::kernel::keys;
use crate::planner::{self, Planning};
use crate::world::World;
use crate::{ending, evaluator, hooks, outputs, plan_rules, prompts, results, rules, scratchpad, task_data, verdict};

/// How a drive ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    /// The run is at its end.
    Finished(RunResult),
    /// A person has to say something, and nobody was there to.
    Waiting,
    /// A person paused it.
    Paused,
    /// The journal could not be written or read; what is in it is safe, and the run can go on later.
    Stopped(JournalError),
}

/// Writes the first event of a run.
pub async fn start(journal: &dyn Journal, run: &RunId, header: RunHeader, at_ms: i64) -> Result<(), JournalError> {
    let event = RunEvent::RunStarted {
        header: Box::new(header),
    };
    let entry = NewEntry {
        key: keys::run_started(),
        at_ms,
        event,
    };
    journal
        .append(run, 1, vec![entry], Vec::new(), Durability::Barrier)
        .await
}

/// Takes a run from where its journal stands to its end, or to a question that nobody answers.
///
/// The caller holds the run's lock. Cancelling `controls.stop` ends the run as `cancelled`; dropping the
/// future leaves it interrupted, to be driven again.
pub async fn drive_with(run: &RunId, world: &World, controls: &Arc<Controls>) -> Driven {
    match Driver::open_with(run, world, controls).await {
        Ok(driver) => carry_on(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

/// As [`drive_with`], for whoever only ever stops a run.
pub async fn drive(run: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    drive_with(run, world, &Arc::new(Controls::with_stop(stop.clone()))).await
}

/// As [`drive`], with everything that the outside says taken from another run's journal: models,
/// tools, checks, hooks and people. Nothing is asked, executed or changed; where the other run has no
/// answer, this one ends as an error that names the place. A run that was not reopened comes to the
/// same [final hash](crate::final_hash).
pub async fn replay(run: &RunId, source: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    match Driver::open_replay(run, source, world, stop).await {
        Ok(driver) => carry_on(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

async fn carry_on(driver: Driver) -> Driven {
    driver.controls.attach(&driver.journal);
    let finished = keys::run_finished(driver.reopened);
    if let Some(RunEvent::RunFinished { result }) = driver.journal.recorded(&finished).as_deref() {
        return Driven::Finished(result.clone());
    }
    if driver.header.flow.is_some() {
        return match end_flow(&driver).await {
            Ok((_, result)) => Driven::Finished(result),
            Err(halt) => interrupted(&driver, halt).await,
        };
    }
    let mut task = TaskLoop::new(&driver);
    let (stop_reason, feedback) = match task.run().await {
        Ok(end) => end,
        Err(halt) => match end_of(halt) {
            Ok(end) => end,
            Err(halt) => return interrupted(&driver, halt).await,
        },
    };
    match task.finish(stop_reason, feedback).await {
        Ok(result) => Driven::Finished(result),
        Err(error) => Driven::Stopped(error),
    }
}

/// The end of a run that a halt means; the halt itself when the run merely goes on later.
fn end_of(halt: Halt) -> Result<End, Halt> {
    match halt {
        Halt::Cancelled => Ok((StopReason::Cancelled, "You stopped the run.".to_owned())),
        Halt::Budget { used, budget } => Ok((StopReason::Budget, budget_message(used, budget))),
        Halt::Cost { used, budget, currency } => Ok((StopReason::Budget, cost_message(used, budget, &currency))),
        Halt::Failed(error) if error.code == code::REJECTED => Ok((StopReason::Rejected, error.message)),
        Halt::Failed(error) => Ok((StopReason::Error, error.message)),
        Halt::Journal(_) | Halt::Waiting | Halt::Paused => Err(halt),
    }
}

/// A drive that is not at the run's end.
async fn interrupted(driver: &Driver, halt: Halt) -> Driven {
    match halt {
        Halt::Journal(error) => Driven::Stopped(error),
        Halt::Paused => paused(driver).await,
        _ => Driven::Waiting,
    }
}

async fn paused(driver: &Driver) -> Driven {
    let key = keys::run_paused(driver.journal.count(0, keys::run_paused));
    match driver.journal.record(key, RunEvent::RunPaused).await {
        Ok(()) => Driven::Paused,
        Err(error) => Driven::Stopped(error),
    }
}

/// Takes a flow's run from where its journal stands to its end, and tells what the flow came to.
///
/// # Errors
/// What the run waits for, or why its journal cannot be written.
pub async fn drive_flow(run: &RunId, world: &World, stop: &CancellationToken) -> Result<FlowOutcome, Halt> {
    let driver = Driver::open(run, world, stop).await?;
    Ok(end_flow(&driver).await?.0)
}

/// Runs the flow of a run and writes the run's end.
async fn end_flow(driver: &Driver) -> Result<(FlowOutcome, RunResult), Halt> {
    let (outcome, ended) = match flow::run(driver).await {
        Ok(outcome) => (outcome.clone(), Ok(outcome)),
        Err(halt) => {
            let error = halt.as_step_error();
            let outcome = FlowOutcome {
                error,
                ..FlowOutcome::default()
            };
            (outcome, Err(end_of(halt)?))
        }
    };
    let (result, artifacts) = flow::running::result(driver, ended).await?;
    let entry = (
        keys::run_finished(driver.reopened),
        RunEvent::RunFinished { result: result.clone() },
    );
    driver
        .journal
        .record_all(vec![entry], artifacts, Durability::Barrier)
        .await?;
    Ok((outcome, result))
}

/// Carries a task out that lies in a flow, with the artifacts that its outputs name; what becomes of
/// them is the flow's to record.
pub(crate) async fn run_nested(driver: &Driver) -> Result<(RunResult, Vec<Artifact>), Halt> {
    let mut task = TaskLoop::new(driver);
    let (stop_reason, feedback) = Box::pin(task.run()).await?;
    Ok(task.result(stop_reason, feedback).await)
}

/// Why and with which words a run ends.
type End = (StopReason, String);

/// Why a planned step of the loop did not lead to a plan that runs.
enum NoPlan {
    /// The planner makes another one, with these words.
    Again { plan: Plan, words: String, by_person: bool },
    /// The run ends.
    End(End),
}

struct TaskLoop<'a> {
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
    fn new(driver: &'a Driver) -> Self {
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

    async fn run(&mut self) -> Result<End, Halt> {
        let mut feedback: Option<String> = None;
        let mut tried: Option<(Vec<PlanStep>, Vec<String>, Option<String>)> = None;
        let most = self.driver.header.task.limits.max_cycles;
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
                        let now = (plan.steps, failed, evaluation.feedback.clone());
                        let stuck = tried.as_ref() == Some(&now);
                        tried = Some(now);
                        let words = evaluation.feedback;
                        if cycle >= most {
                            let none = || format!("Max cycles ({most}) reached without passing.");
                            (StopReason::MaxCycles, words.unwrap_or_else(none))
                        } else if stuck && !self.is_told_more() {
                            // The same plan failed in the same way before: another cycle would cost and not help.
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
            feedback = Some(end.1).filter(|words| !words.is_empty());
        }
        Ok((StopReason::MaxCycles, String::new()))
    }

    /// Whether a person let the run go on after it had ended with this cycle. A run that ended because something
    /// failed or ran out goes on inside the cycle, not after it.
    fn goes_on_after(&self, cycle: u32) -> bool {
        (0..self.driver.reopened).any(|n| {
            let ended = self.driver.journal.recorded(&keys::run_finished(n));
            matches!(ended.as_deref(), Some(RunEvent::RunFinished { result })
                if result.cycles == cycle && ending::is_between_cycles(result.stop_reason))
        })
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
        let outcomes = self.post_executor(cycle, outcomes).await?;
        self.remember(cycle, &plan, &outcomes).await?;
        match self.judge(cycle, &plan, &outcomes).await? {
            Ok(evaluation) => Ok(Ok((plan, evaluation))),
            Err(error) if error.code == code::REJECTED => Ok(Err((StopReason::Rejected, error.message))),
            Err(error) => Ok(Err((StopReason::Error, error.message))),
        }
    }

    /// Plans until there is an approved plan, or an end.
    async fn plan(&mut self, cycle: u32, mut feedback: Option<String>) -> Result<Result<Plan, End>, Halt> {
        let of = keys::planner(cycle);
        let mut previous = self.last.as_ref().map(|(plan, _)| plan.clone());
        let mut sent_back = false;
        let mut n = 0;
        loop {
            let key = keys::attempt(&of, n);
            let planning = self.planning(cycle, &key, feedback.clone(), previous.clone()).await?;
            let proposed = match planner::plan(self.driver, &key, &planning).await? {
                Ok(plan) => plan,
                Err(error) if self.driver.is_opened(&of, n + 1) => {
                    n += 1;
                    // A planner that is tried again is told what was wrong; a server that was down says nothing.
                    if error.code == code::PLAN_INVALID {
                        feedback = Some(
                            feedback.map_or(error.message.clone(), |before| format!("{before}\n\n{}", error.message)),
                        );
                    }
                    continue;
                }
                Err(error) => return Ok(Err((StopReason::Error, error.message))),
            };
            match self.propose(cycle, &key, proposed).await? {
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

    /// What the planner starts from: the feedback, a person's words, and what hooks make of them.
    async fn planning(
        &mut self,
        cycle: u32,
        key: &Key,
        feedback: Option<String>,
        previous: Option<Plan>,
    ) -> Result<Planning, Halt> {
        let journal = &self.driver.journal;
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
                while let Some(RunEvent::GuidanceGiven { words }) =
                    journal.recorded(&keys::guidance(self.guided)).as_deref()
                {
                    parts.push(format!("The person says: {words}"));
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
        let mut planning = Planning {
            cycle,
            task: self.driver.header.task.clone(),
            feedback,
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

    /// The task as a hook left it.
    fn read_task(&self, replaced: &Replaced, event: HookEvent) -> Result<Task, Halt> {
        task_data::read(
            &replaced.data["prompt"],
            &self.driver.header.task,
            &self.driver.world.checks,
        )
        .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))
    }

    /// Lets the hooks see a plan, shows it, and gets it approved.
    async fn propose(&mut self, cycle: u32, key: &Key, plan: Plan) -> Result<Result<Plan, NoPlan>, Halt> {
        let event = HookEvent::PostPlanner;
        let data = || serde_json::to_value(&plan).unwrap_or_default();
        let plan = match hooks::fire(self.driver, key, event, cycle, data).await? {
            Ok(None) => plan,
            Ok(Some(replaced)) => self.read_plan(&replaced.data, &replaced, event)?,
            Err(error) => return Ok(Err(NoPlan::of(plan, error, false))),
        };
        let plan_hash = hash_of(&plan)?;
        // What a person saw and approved stands in the journal; another plan must not take its place.
        if let Some(RunEvent::PlanProposed { plan_hash: shown, .. }) = self.driver.journal.recorded(key).as_deref()
            && *shown != plan_hash
        {
            let message = format!("the history holds another plan at {key}");
            return Err(Halt::Failed(StepError::new(code::INPUT_HASH_MISMATCH, message)));
        }
        let proposed = RunEvent::PlanProposed {
            cycle,
            plan: plan.clone(),
            plan_hash: plan_hash.clone(),
        };
        self.driver.journal.record(key.clone(), proposed).await?;
        if let Err(error) = self.approve(cycle, key, &plan, &plan_hash).await? {
            return Ok(Err(NoPlan::of(plan, error, true)));
        }
        self.pre_executor(cycle, key, plan).await
    }

    /// A hook may have changed the plan: the same rules hold.
    fn read_plan(&self, value: &Value, replaced: &Replaced, event: HookEvent) -> Result<Plan, Halt> {
        let models = planner::models(self.driver);
        let earlier: Vec<String> = self.earlier.keys().cloned().collect();
        plan_rules::read(value, &planner::known(self.driver, &models, &earlier))
            .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))
    }

    async fn approve(&mut self, cycle: u32, key: &Key, plan: &Plan, plan_hash: &Hash) -> Outcome<()> {
        let header = &self.driver.header;
        let always = rules::asks_for_every_plan(&header.rules);
        let by = match header.task.approval {
            _ if always => ApprovedBy::Person,
            ApprovalMode::Never => ApprovedBy::NoApprovalNeeded,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan if self.consent => ApprovedBy::EarlierApproval,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan => ApprovedBy::Person,
        };
        let approval = Approval {
            id: "approval",
            event: HookEvent::PostPlanner,
            ask: (by == ApprovedBy::Person).then(|| self.question(cycle, plan_hash)),
        };
        let data = serde_json::to_value(plan).unwrap_or_default();
        if let Err(error) = hooks::fire_one(self.driver, key, cycle, &approval, &data).await? {
            return Ok(Err(error));
        }
        self.consent |= by == ApprovedBy::Person
            && (header.task.approval == ApprovalMode::FirstPlan || self.revisions_allowed(key));
        let approved = RunEvent::PlanApproved {
            cycle,
            plan_hash: plan_hash.clone(),
            by,
        };
        self.driver
            .journal
            .record_all(vec![(key.mark("approved"), approved)], Vec::new(), Durability::Barrier)
            .await?;
        Ok(Ok(()))
    }

    fn question(&self, cycle: u32, plan_hash: &Hash) -> Ask {
        Ask::ApprovePlan {
            cycle,
            plan_hash: plan_hash.clone(),
            envelope: self.driver.envelope(),
        }
    }

    fn revisions_allowed(&self, key: &Key) -> bool {
        let ask = key.child("hook/postPlanner/approval/ask/0");
        matches!(
            self.driver.journal.recorded(&ask).as_deref(),
            Some(RunEvent::PersonAnswered {
                answer: Answer::Approve { revisions: true }
            })
        )
    }

    /// Lets the hooks see what is about to run. Another plan is held against the rules, recorded with what differs,
    /// and asked about again, unless a person allowed these hooks to change plans.
    async fn pre_executor(&mut self, cycle: u32, key: &Key, plan: Plan) -> Result<Result<Plan, NoPlan>, Halt> {
        let driver = self.driver;
        let event = HookEvent::PreExecutor;
        let data = || {
            let before = self
                .last
                .as_ref()
                .map(|(_, outcomes)| outcomes.iter().map(results::to_value).collect::<Vec<_>>());
            json!({ "plan": plan, "prompt": task_data::of(&driver.header.task), "cycle": cycle,
                "scratchpad": *driver.scratchpad(), "previousResults": before })
        };
        driver.show_task(driver.header.task.clone());
        let replaced = match hooks::fire(driver, key, event, cycle, data).await? {
            Ok(None) => return Ok(Ok(plan)),
            Ok(Some(replaced)) => replaced,
            Err(error) => return Ok(Err(NoPlan::of(plan, error, false))),
        };
        driver.show_task(self.read_task(&replaced, event)?);
        self.write_changed_pad(key, &replaced, event).await?;
        let changed = self.read_plan(&replaced.data["plan"], &replaced, event)?;
        if changed == plan {
            return Ok(Ok(plan));
        }
        let plan_hash = hash_of(&changed)?;
        let event = RunEvent::PlanChanged {
            cycle,
            by: replaced.by.clone(),
            plan: changed.clone(),
            plan_hash: plan_hash.clone(),
            steps: differing(&plan, &changed),
        };
        driver.journal.record(key.mark("changed"), event).await?;
        if !replaced.trusted && driver.header.task.approval != ApprovalMode::Never {
            let approval = Approval {
                id: "approval_of_change",
                event: HookEvent::PreExecutor,
                ask: Some(self.question(cycle, &plan_hash)),
            };
            let data = serde_json::to_value(&changed).unwrap_or_default();
            if let Err(error) = hooks::fire_one(driver, key, cycle, &approval, &data).await? {
                return Ok(Err(NoPlan::of(changed, error, true)));
            }
            let approved = RunEvent::PlanApproved {
                cycle,
                plan_hash,
                by: ApprovedBy::Person,
            };
            driver
                .journal
                .record_all(
                    vec![(key.mark("change-approved"), approved)],
                    Vec::new(),
                    Durability::Barrier,
                )
                .await?;
        }
        Ok(Ok(changed))
    }

    /// Writes to the scratchpad what a hook put there.
    async fn write_changed_pad(&self, key: &Key, replaced: &Replaced, event: HookEvent) -> Result<(), Halt> {
        let Some(entries) = replaced.data["scratchpad"].as_object() else {
            let problem = "\"scratchpad\" must be an object".to_owned();
            return Err(Halt::Failed(replaced.refuse(event, &[problem])));
        };
        let before = self.driver.scratchpad();
        for (name, value) in entries.iter().filter(|(name, value)| before.get(*name) != Some(*value)) {
            let mark = format!("scratchpad-{}", keys::safe(name));
            self.write(key.mark(mark), name, name, value.clone()).await?;
        }
        Ok(())
    }

    /// Lets the hooks see all results before they are remembered and judged.
    async fn post_executor(&self, cycle: u32, outcomes: Vec<StepOutcome>) -> Result<Vec<StepOutcome>, Halt> {
        let event = HookEvent::PostExecutor;
        let data = || {
            let logs: Vec<Value> = outcomes.iter().map(|outcome| log_line(cycle, outcome)).collect();
            let results: Vec<Value> = outcomes.iter().map(results::to_value).collect();
            let tokens: u64 = outcomes.iter().map(|outcome| outcome.tokens_used).sum();
            json!({ "results": results, "logs": logs, "tokensUsed": tokens })
        };
        let fired = hooks::fire(self.driver, &keys::execution(cycle), event, cycle, data).await?;
        match fired.map_err(Halt::Failed)? {
            None => Ok(outcomes),
            Some(replaced) => results::read_all(&replaced.data["results"], &outcomes)
                .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems))),
        }
    }

    /// Writes what happened to the scratchpad and keeps results for later cycles. Each cycle's part is an entry of
    /// its own, so that the history does not hold the first cycle again for every later one.
    async fn remember(&mut self, cycle: u32, plan: &Plan, outcomes: &[StepOutcome]) -> Result<(), Halt> {
        let name = scratchpad::EXECUTION_SUMMARY;
        let summary = scratchpad::execution_summary(cycle, outcomes);
        let entry = scratchpad::summary_name(cycle);
        let key = keys::cycle(cycle).mark("summary");
        self.write(key, &entry, "", Value::Array(summary.clone())).await?;
        let all = scratchpad::joined(self.driver.scratchpad().get(name), summary);
        self.driver.write_scratchpad(name.to_owned(), all);
        for outcome in outcomes.iter().filter(|outcome| outcome.succeeded()) {
            if let Some(hash) = &outcome.hash {
                let named = format!("cycle_{cycle}.{}", outcome.step_id);
                self.earlier.insert(named, (outcome.output.clone(), hash.clone()));
            }
        }
        self.last = Some((plan.clone(), outcomes.to_vec()));
        self.last_cycle = cycle;
        Ok(())
    }

    /// Writes an entry of the scratchpad to the journal, and under `shown` to what steps read; nowhere else when that
    /// is empty.
    async fn write(&self, key: Key, name: &str, shown: &str, value: Value) -> Result<(), Halt> {
        let mut artifacts: Vec<Artifact> = Vec::new();
        let named = Driver::name_value("tool-output", &value, &mut artifacts).map_err(Halt::Failed)?;
        let entry = NamedValue {
            name: name.to_owned(),
            value: named,
        };
        self.driver
            .journal
            .record_all(
                vec![(key, RunEvent::ScratchpadWritten { entry })],
                artifacts,
                Durability::Commit,
            )
            .await?;
        if !shown.is_empty() {
            self.driver.write_scratchpad(shown.to_owned(), value);
        }
        Ok(())
    }

    async fn judge(&mut self, cycle: u32, plan: &Plan, outcomes: &[StepOutcome]) -> Outcome<Evaluation> {
        let of = keys::judge(cycle);
        let mut n = 0;
        let (key, evaluation) = loop {
            let key = keys::attempt(&of, n);
            let started = RunEvent::JudgingStarted { cycle };
            self.driver.journal.record(key.mark("started"), started).await?;
            let judging = self.judging(cycle, &key, plan, outcomes).await?;
            match evaluator::judge(self.driver, &key, &judging, &mut self.judged).await? {
                Ok(evaluation) => break (key, evaluation),
                Err(_) if self.driver.is_opened(&of, n + 1) => n += 1,
                Err(error) => return Ok(Err(error)),
            }
        };
        let judged = RunEvent::CycleJudged {
            cycle,
            evaluation: evaluation.clone(),
        };
        self.driver.journal.record(key.clone(), judged).await?;
        self.post_evaluator(cycle, &key, evaluation).await
    }

    /// What is judged: the results, as hooks left them.
    async fn judging<'j>(
        &self,
        cycle: u32,
        key: &Key,
        plan: &'j Plan,
        outcomes: &'j [StepOutcome],
    ) -> Result<Judging<'j>, Halt> {
        let mut judging = Judging {
            cycle,
            plan,
            task: self.driver.header.task.clone(),
            outcomes: Cow::Borrowed(outcomes),
            scratchpad: self.driver.scratchpad(),
        };
        let event = HookEvent::PreEvaluator;
        let data = || {
            let results: Vec<Value> = outcomes.iter().map(results::to_value).collect();
            json!({ "prompt": task_data::of(&judging.task), "results": results, "scratchpad": *judging.scratchpad })
        };
        if let Some(replaced) = hooks::fire(self.driver, key, event, cycle, data)
            .await?
            .map_err(Halt::Failed)?
        {
            judging.task = self.read_task(&replaced, event)?;
            let refuse = |problems: Vec<String>| Halt::Failed(replaced.refuse(event, &problems));
            judging.outcomes = Cow::Owned(results::read_all(&replaced.data["results"], outcomes).map_err(refuse)?);
            let pad = serde_json::from_value(replaced.data["scratchpad"].clone());
            judging.scratchpad =
                Arc::new(pad.map_err(|_| refuse(vec!["\"scratchpad\" must be an object".to_owned()]))?);
        }
        Ok(judging)
    }

    /// Lets the hooks see the verdict. Another one counts in its place, and the judge's stays in the history.
    async fn post_evaluator(&self, cycle: u32, key: &Key, evaluation: Evaluation) -> Outcome<Evaluation> {
        let event = HookEvent::PostEvaluator;
        let data = || serde_json::to_value(&evaluation).unwrap_or_default();
        let replaced = match hooks::fire(self.driver, key, event, cycle, data).await? {
            Ok(None) => return Ok(Ok(evaluation)),
            Ok(Some(replaced)) => replaced,
            Err(error) => return Ok(Err(error)),
        };
        let changed =
            verdict::read(&replaced.data).map_err(|problem| Halt::Failed(replaced.refuse(event, &[problem])))?;
        if changed == evaluation {
            return Ok(Ok(evaluation));
        }
        let overlaid = changed.verdict != evaluation.verdict && changed.verdict == Verdict::Pass;
        let event = RunEvent::VerdictChanged {
            cycle,
            by: replaced.by,
            evaluation: changed.clone(),
        };
        let place = if overlaid {
            keys::changed_verdict(cycle)
        } else {
            key.mark("changed")
        };
        self.driver.journal.record(place, event).await?;
        Ok(Ok(changed))
    }

    async fn finish(&self, stop_reason: StopReason, feedback: String) -> Result<RunResult, JournalError> {
        let (result, artifacts) = self.result(stop_reason, feedback).await;
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

    async fn result(&self, stop_reason: StopReason, feedback: String) -> (RunResult, Vec<Artifact>) {
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
            error: None,
        };
        (result, artifacts)
    }
}

impl NoPlan {
    fn of(plan: Plan, error: StepError, by_person: bool) -> Self {
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

fn hash_of(plan: &Plan) -> Result<Hash, Halt> {
    plan.hash()
        .map_err(|error| Halt::Failed(StepError::new(code::PLAN_INVALID, error.to_string())))
}

/// The ids of steps that are new, other or gone.
fn differing(before: &Plan, after: &Plan) -> Vec<String> {
    let by_id = |plan: &'_ Plan| -> HashMap<String, PlanStep> {
        plan.steps.iter().map(|step| (step.id.clone(), step.clone())).collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let changed = after.steps.iter().filter(|step| old.get(&step.id) != Some(step));
    let gone = before.steps.iter().filter(|step| !new.contains_key(&step.id));
    changed.chain(gone).map(|step| step.id.clone()).collect()
}

/// The seed's line about a step: `Step "id" completed: …`.
fn log_line(cycle: u32, outcome: &StepOutcome) -> Value {
    let message = match &outcome.error {
        Some(error) => format!("Step \"{}\" failed: {}", outcome.step_id, error.message),
        None => {
            let output = prompts::excerpt(&prompts::text_of(&outcome.output), 200);
            format!("Step \"{}\" completed: {output}", outcome.step_id)
        }
    };
    json!({ "cycle": cycle, "step": outcome.step_id, "message": message,
        "durationMs": outcome.duration_ms, "tokensUsed": outcome.tokens_used })
}
