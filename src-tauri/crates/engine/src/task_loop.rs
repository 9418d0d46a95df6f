//! A task is a loop: plan, run the plan, judge, until the verdict passes, the cycles run out or the
//! tokens do (seed *tepa-how-it-works*; goal-pipeline page).
//!
//! The loop is ordinary code. It survives a crash because everything that matters in it is a leaf:
//! driving a run again walks the same way through recorded results to the place where it stopped.

use contract::evaluation::{Evaluation, Verdict};
use contract::event::{ApprovedBy, NamedValue, RunEvent};
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::person::{Answer, Ask};
use contract::plan::Plan;
use contract::ports::hook::{Hook, HookEvent};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::run::{RunHeader, RunResult, StopReason};
use contract::step::{StepError, code};
use contract::task::Approval as ApprovalMode;
use contract::value_ref::Artifact;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::{Approval, CHANGES_REQUESTED};
use crate::executor::{self, Earlier, StepOutcome};
use crate::flow::{self, FlowOutcome};
use crate::kernel::driver::{Driver, Halt, Outcome, budget_message};
use crate::kernel::keys;
use crate::planner::{self, Planning};
use crate::world::World;
use crate::{evaluator, hooks, outputs, plan_rules, scratchpad};

/// How a drive ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    /// The run is at its end.
    Finished(RunResult),
    /// A person has to say something, and nobody was there to.
    Waiting,
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
/// The caller holds the run's lock. Cancelling `stop` ends the run as `cancelled`; dropping the
/// future leaves it interrupted, to be driven again.
pub async fn drive(run: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    match Driver::open(run, world, stop).await {
        Ok(driver) => drive_with(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

/// As [`drive`], with everything that the outside says taken from another run's journal: models,
/// tools, checks, hooks and people. Nothing is asked, executed or changed; where the other run has no
/// answer, this one ends as an error that names the place. A run that was not reopened comes to the
/// same [final hash](crate::final_hash).
pub async fn replay(run: &RunId, source: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    match Driver::open_replay(run, source, world, stop).await {
        Ok(driver) => drive_with(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

async fn drive_with(driver: Driver) -> Driven {
    let reopened = driver.journal.count(1, keys::run_reopened);
    if let Some(RunEvent::RunFinished { result }) = driver.journal.recorded(&keys::run_finished(reopened)).as_deref() {
        return Driven::Finished(result.clone());
    }
    if driver.header.flow.is_some() {
        return match end_flow(&driver, reopened).await {
            Ok((_, result)) => Driven::Finished(result),
            Err(Halt::Journal(error)) => Driven::Stopped(error),
            Err(_) => Driven::Waiting,
        };
    }
    let mut task = TaskLoop::new(&driver);
    let (stop_reason, feedback) = match task.run().await {
        Ok(end) => end,
        Err(halt) => match end_of(halt) {
            Ok(end) => end,
            Err(Halt::Journal(error)) => return Driven::Stopped(error),
            Err(_) => return Driven::Waiting,
        },
    };
    match task.finish(stop_reason, feedback, reopened).await {
        Ok(result) => Driven::Finished(result),
        Err(error) => Driven::Stopped(error),
    }
}

/// The end of a run that a halt means; the halt itself when the run merely goes on later.
fn end_of(halt: Halt) -> Result<End, Halt> {
    match halt {
        Halt::Cancelled => Ok((StopReason::Cancelled, "You stopped the run.".to_owned())),
        Halt::Budget { used, budget } => Ok((StopReason::Budget, budget_message(used, budget))),
        Halt::Failed(error) => Ok((StopReason::Error, error.message)),
        Halt::Journal(_) | Halt::Waiting => Err(halt),
    }
}

/// Takes a flow's run from where its journal stands to its end, and tells what the flow came to.
///
/// # Errors
/// What the run waits for, or why its journal cannot be written.
pub async fn drive_flow(run: &RunId, world: &World, stop: &CancellationToken) -> Result<FlowOutcome, Halt> {
    let driver = Driver::open(run, world, stop).await?;
    let reopened = driver.journal.count(1, keys::run_reopened);
    Ok(end_flow(&driver, reopened).await?.0)
}

/// Runs the flow of a run and writes the run's end.
async fn end_flow(driver: &Driver, reopened: u32) -> Result<(FlowOutcome, RunResult), Halt> {
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
        keys::run_finished(reopened),
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

/// Opens a run again that ended because a planner or a judge failed, for another try at just that.
///
/// # Errors
/// `None` in the result when the run is not one of those.
pub async fn reopen(run: &RunId, world: &World, why: &str) -> Result<bool, JournalError> {
    let driver = Driver::open(run, world, &CancellationToken::new()).await?;
    let reopened = driver.journal.count(1, keys::run_reopened);
    let ended = driver.journal.recorded(&keys::run_finished(reopened));
    let Some(RunEvent::RunFinished { result }) = ended.as_deref() else {
        return Ok(false);
    };
    if result.stop_reason != StopReason::Error || result.cycles == 0 {
        return Ok(false);
    }
    let judging = driver
        .journal
        .recorded(&keys::attempt(&keys::judge(result.cycles), 0).mark("started"))
        .is_some();
    let of = if judging {
        keys::judge(result.cycles)
    } else {
        keys::planner(result.cycles)
    };
    let n = driver.journal.count(1, |n| of.mark(format!("attempt-{n}"))) + 1;
    let entries = vec![
        (
            keys::run_reopened(reopened + 1),
            RunEvent::RunReopened { why: why.to_owned() },
        ),
        (
            of.mark(format!("attempt-{n}")),
            RunEvent::AttemptOpened {
                of,
                n,
                why: why.to_owned(),
            },
        ),
    ];
    driver
        .journal
        .record_all(entries, Vec::new(), Durability::Barrier)
        .await?;
    Ok(true)
}

/// Why and with which words a run ends.
type End = (StopReason, String);

struct TaskLoop<'a> {
    driver: &'a Driver,
    /// Whether a person has allowed plans inside this envelope without being asked again.
    consent: bool,
    earlier: Earlier,
    cycles: u32,
    last: Option<(Plan, Vec<StepOutcome>)>,
}

impl<'a> TaskLoop<'a> {
    fn new(driver: &'a Driver) -> Self {
        Self {
            driver,
            consent: false,
            earlier: Earlier::new(),
            cycles: 0,
            last: None,
        }
    }

    async fn run(&mut self) -> Result<End, Halt> {
        let mut feedback: Option<String> = None;
        let mut tried: Option<(Plan, Option<String>)> = None;
        let most = self.driver.header.task.limits.max_cycles;
        for cycle in 1..=most {
            self.cycles = cycle;
            self.driver
                .journal
                .record(keys::cycle(cycle).mark("started"), RunEvent::CycleStarted { cycle })
                .await?;
            let plan = match self.plan(cycle, feedback.take()).await? {
                Ok(plan) => plan,
                Err(end) => return Ok(end),
            };
            let outcomes = match executor::execute(self.driver, cycle, &plan, &self.earlier).await? {
                Ok(outcomes) => outcomes,
                Err(error) => return Ok((StopReason::Error, error.message)),
            };
            self.remember(cycle, &plan, &outcomes).await?;
            let evaluation = match self.judge(cycle, &plan, &outcomes).await? {
                Ok(evaluation) => evaluation,
                Err(error) => return Ok((StopReason::Error, error.message)),
            };
            match evaluation.verdict {
                Verdict::Pass => return Ok((StopReason::Passed, evaluation.summary.unwrap_or_default())),
                Verdict::Fail => feedback = evaluation.feedback,
            }
            // The same plan failed in the same way before: another cycle would cost and not help.
            let now = (plan, feedback.clone());
            if cycle < most && tried.as_ref() == Some(&now) {
                return Ok((StopReason::NoProgress, feedback.unwrap_or_default()));
            }
            tried = Some(now);
        }
        Ok((
            StopReason::MaxCycles,
            feedback.unwrap_or_else(|| format!("Max cycles ({most}) reached without passing.")),
        ))
    }

    /// Plans until there is an approved plan, or an end.
    async fn plan(&mut self, cycle: u32, mut feedback: Option<String>) -> Result<Result<Plan, End>, Halt> {
        let of = keys::planner(cycle);
        let mut previous = self.last.as_ref().map(|(plan, _)| plan.clone());
        let mut n = 0;
        loop {
            let key = keys::attempt(&of, n);
            let earlier = self.earlier.keys().cloned().collect();
            let planning = Planning {
                cycle,
                feedback: feedback.clone(),
                previous: previous.clone(),
                earlier,
            };
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
                Err((plan, error)) if error.code == CHANGES_REQUESTED => {
                    n += 1;
                    let opened = RunEvent::AttemptOpened {
                        of: of.clone(),
                        n,
                        why: error.message.clone(),
                    };
                    self.driver
                        .journal
                        .record(of.mark(format!("attempt-{n}")), opened)
                        .await?;
                    feedback = Some(error.message);
                    previous = Some(plan);
                }
                Err((_, error)) if error.code == code::REJECTED => {
                    return Ok(Err((StopReason::Rejected, error.message)));
                }
                Err((_, error)) => return Ok(Err((StopReason::Error, error.message))),
            }
        }
    }

    /// Lets the hooks see a plan, shows it, and gets it approved.
    async fn propose(&mut self, cycle: u32, key: &Key, plan: Plan) -> Result<Result<Plan, (Plan, StepError)>, Halt> {
        let world = &self.driver.world;
        let registered: Vec<&dyn Hook> = world.hooks.iter().map(AsRef::as_ref).collect();
        let data = serde_json::to_value(&plan).unwrap_or_default();
        let hooked = match hooks::fire(self.driver, key, HookEvent::PostPlanner, cycle, data, &registered).await? {
            Ok(hooked) => hooked,
            Err(error) => return Ok(Err((plan, error))),
        };
        let plan = match self.read_again(hooked) {
            Ok(plan) => plan,
            Err(error) => return Ok(Err((plan, error))),
        };
        let plan_hash = match plan.hash() {
            Ok(hash) => hash,
            Err(error) => return Ok(Err((plan, StepError::new(code::PLAN_INVALID, error.to_string())))),
        };
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
        match self.approve(cycle, key, &plan, &plan_hash).await? {
            Ok(()) => Ok(Ok(plan)),
            Err(error) => Ok(Err((plan, error))),
        }
    }

    /// A hook may have changed the plan: the same rules hold.
    fn read_again(&self, value: Value) -> Result<Plan, StepError> {
        let models = planner::models(self.driver);
        let earlier: Vec<String> = self.earlier.keys().cloned().collect();
        plan_rules::read(&value, &planner::known(self.driver, &models, &earlier))
            .map_err(|problems| StepError::new(code::PLAN_INVALID, problems.join("; ")))
    }

    async fn approve(&mut self, cycle: u32, key: &Key, plan: &Plan, plan_hash: &Hash) -> Outcome<()> {
        let header = &self.driver.header;
        let by = match header.task.approval {
            ApprovalMode::Never => ApprovedBy::NoApprovalNeeded,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan if self.consent => ApprovedBy::EarlierApproval,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan => ApprovedBy::Person,
        };
        let ask = (by == ApprovedBy::Person).then(|| Ask::ApprovePlan {
            cycle,
            plan_hash: plan_hash.clone(),
            envelope: header.envelope.clone(),
        });
        let approval = Approval { ask };
        let data = serde_json::to_value(plan).unwrap_or_default();
        if let Err(error) = hooks::fire(self.driver, key, HookEvent::PostPlanner, cycle, data, &[&approval]).await? {
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

    fn revisions_allowed(&self, key: &Key) -> bool {
        let ask = key.child("hook/postPlanner/approval/ask/0");
        matches!(
            self.driver.journal.recorded(&ask).as_deref(),
            Some(RunEvent::PersonAnswered {
                answer: Answer::Approve { revisions: true }
            })
        )
    }

    /// Writes what happened to the scratchpad and keeps results for later cycles.
    async fn remember(&mut self, cycle: u32, plan: &Plan, outcomes: &[StepOutcome]) -> Result<(), Halt> {
        let name = scratchpad::EXECUTION_SUMMARY;
        let summary = scratchpad::execution_summary(self.driver.scratchpad().get(name), cycle, outcomes);
        let mut artifacts: Vec<Artifact> = Vec::new();
        let value = Driver::name_value("tool-output", &summary, &mut artifacts).map_err(Halt::Failed)?;
        let entry = NamedValue {
            name: name.to_owned(),
            value,
        };
        let event = RunEvent::ScratchpadWritten { entry };
        let key = keys::cycle(cycle).mark("summary");
        self.driver
            .journal
            .record_all(vec![(key, event)], artifacts, Durability::Commit)
            .await?;
        self.driver.write_scratchpad(name.to_owned(), summary);
        for outcome in outcomes.iter().filter(|outcome| outcome.succeeded()) {
            if let Some(hash) = &outcome.hash {
                let named = format!("cycle_{cycle}.{}", outcome.step_id);
                self.earlier.insert(named, (outcome.output.clone(), hash.clone()));
            }
        }
        self.last = Some((plan.clone(), outcomes.to_vec()));
        Ok(())
    }

    async fn judge(&self, cycle: u32, plan: &Plan, outcomes: &[StepOutcome]) -> Outcome<Evaluation> {
        let of = keys::judge(cycle);
        let mut n = 0;
        loop {
            let key = keys::attempt(&of, n);
            match evaluator::judge(self.driver, &key, cycle, plan, outcomes).await? {
                Ok(evaluation) => {
                    let judged = RunEvent::CycleJudged {
                        cycle,
                        evaluation: evaluation.clone(),
                    };
                    self.driver.journal.record(key, judged).await?;
                    return Ok(Ok(evaluation));
                }
                Err(_) if self.driver.is_opened(&of, n + 1) => n += 1,
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    async fn finish(
        &self,
        stop_reason: StopReason,
        feedback: String,
        reopened: u32,
    ) -> Result<RunResult, JournalError> {
        let (result, artifacts) = self.result(stop_reason, feedback).await;
        let entry = (
            keys::run_finished(reopened),
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
            feedback,
            outputs,
            error: None,
        };
        (result, artifacts)
    }
}
