//! What a person does with a run that has ended or stands still: let it go on, with words or with other limits, or
//! accept what it made (goal-pipeline page, "Ends"; kernel page: "anything after the end is preceded by
//! `RunReopened`").

use contract::evaluation::{Evaluation, Verdict};
use contract::event::RunEvent;
use contract::ids::{Key, RunId};
use contract::ports::journal::{Durability, JournalError};
use contract::run::{RunResult, StopReason};
use contract::task::Limits;
use tokio_util::sync::CancellationToken;

use crate::kernel::driver::Driver;
use crate::kernel::keys;
use crate::kernel::run_journal::RunJournal;
use crate::world::World;

/// How a run goes on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoOn {
    /// Why, in words, for the record.
    pub why: String,
    /// What the next planner is told. A run that ended between two cycles gets one more.
    pub words: Option<String>,
    /// Where it stops from now on.
    pub limits: Option<Limits>,
}

/// Whether a run that ended for this reason ended between two cycles, so that it goes on with another one. The others
/// ended inside a cycle, and go on there.
pub fn is_between_cycles(reason: StopReason) -> bool {
    match reason {
        StopReason::Passed
        | StopReason::Accepted
        | StopReason::MaxCycles
        | StopReason::NoProgress
        | StopReason::Rejected => true,
        StopReason::Error | StopReason::Budget | StopReason::Cancelled => false,
    }
}

/// Whether a run that ended like this goes on with another cycle: it ended between two, or without a plan. The planner
/// of the next one is told what was wrong with it (goal-pipeline page, "Planner").
pub(crate) fn goes_on_in_another_cycle(journal: &RunJournal, result: &RunResult) -> bool {
    is_between_cycles(result.stop_reason)
        || (result.stop_reason == StopReason::Error && is_unplanned(journal, result.cycles))
}

/// The latest attempt at planning a cycle.
pub(crate) fn last_planner(journal: &RunJournal, cycle: u32) -> Key {
    let of = keys::planner(cycle);
    let opened = journal.count(1, |n| of.mark(format!("attempt-{n}")));
    keys::attempt(&of, opened)
}

/// Whether no plan of a cycle's last planner could be run. One that was given another attempt inside its cycle, as older
/// journals have it, is not meant.
fn is_unplanned(journal: &RunJournal, cycle: u32) -> bool {
    journal.is_recorded(&last_planner(journal, cycle).mark("refused-1"))
}

/// Writes that a run goes on; the caller holds its lock and drives it afterwards. False when there is nothing that
/// could go on: a run that ended with its verdict needs words or another cycle, one without tokens needs more.
///
/// # Errors
/// Those of the journal.
pub async fn go_on(run: &RunId, world: &World, how: &GoOn) -> Result<bool, JournalError> {
    let driver = Driver::open(run, world, &CancellationToken::new()).await?;
    let journal = &driver.journal;
    let mut entries = Vec::new();
    let mut limits = how.limits.clone();
    let ended = journal.recorded(&keys::run_finished(driver.reopened));
    if let Some(RunEvent::RunFinished { result }) = ended.as_deref() {
        let now = limits.as_ref().unwrap_or(&driver.header.task.limits);
        if !can_go_on(&driver, result, how, now) {
            return Ok(false);
        }
        let why = how.why.clone();
        entries.push((keys::run_reopened(driver.reopened + 1), RunEvent::RunReopened { why }));
        let next_cycle = goes_on_in_another_cycle(journal, result);
        if result.stop_reason == StopReason::Error && !next_cycle && driver.flow.is_none() {
            entries.extend(another_attempt(&driver, result, &how.why));
        }
        if next_cycle && now.max_cycles <= result.cycles {
            let max_cycles = result.cycles + 1;
            limits = Some(Limits {
                max_cycles,
                ..now.clone()
            });
        }
    } else {
        let continued = journal.count(0, keys::run_continued);
        if journal.count(0, keys::run_paused) > continued {
            entries.push((keys::run_continued(continued), RunEvent::RunContinued));
        }
    }
    if let Some(limits) = limits {
        let key = keys::limits_raised(journal.count(0, keys::limits_raised));
        entries.push((key, RunEvent::LimitsRaised { limits }));
    }
    // With the rest: a run that went on without a person's words would do as before.
    if let Some(words) = how.words.clone() {
        let key = keys::guidance(journal.count(0, keys::guidance));
        entries.push((key, RunEvent::GuidanceGiven { words }));
    }
    journal.record_all(entries, Vec::new(), Durability::Barrier).await?;
    Ok(true)
}

fn can_go_on(driver: &Driver, result: &RunResult, how: &GoOn, limits: &Limits) -> bool {
    match result.stop_reason {
        // A flow tries again what failed; what had been done stays done.
        StopReason::Error => result.cycles > 0 || driver.flow.is_some(),
        StopReason::Cancelled => result.cycles > 0 && (how.words.is_some() || how.limits.is_some()),
        StopReason::Budget => how.limits.is_some(),
        StopReason::MaxCycles => how.words.is_some() || limits.max_cycles > result.cycles,
        StopReason::Passed | StopReason::Accepted | StopReason::NoProgress | StopReason::Rejected => {
            how.words.is_some()
        }
    }
}

/// Another attempt at what failed: the planner, or the judge. A hook that failed needs none: it is called anew.
fn another_attempt(driver: &Driver, result: &RunResult, why: &str) -> Option<(Key, RunEvent)> {
    let last = |of: &Key| {
        let attempts = driver.journal.count(1, |n| of.mark(format!("attempt-{n}")));
        (keys::attempt(of, attempts), attempts + 1)
    };
    let (judge, planner) = (keys::judge(result.cycles), keys::planner(result.cycles));
    let judging = driver.journal.recorded(&last(&judge).0.mark("started")).is_some();
    let of = if judging { judge } else { planner };
    let (key, n) = last(&of);
    // The last entry of a planner and of a judge that succeeded stands at its own address.
    if driver.journal.recorded(&key).is_some() {
        return None;
    }
    let why = why.to_owned();
    Some((of.mark(format!("attempt-{n}")), RunEvent::AttemptOpened { of, n, why }))
}

/// Accepts the results of a run that ended, whatever the judge said; its verdict stays in the history. None when the
/// run is not at its end, or has passed anyway.
///
/// # Errors
/// Those of the journal.
pub async fn accept(run: &RunId, world: &World, words: Option<&str>) -> Result<Option<RunResult>, JournalError> {
    let driver = Driver::open(run, world, &CancellationToken::new()).await?;
    let ended = driver.journal.recorded(&keys::run_finished(driver.reopened));
    let Some(RunEvent::RunFinished { result }) = ended.as_deref() else {
        return Ok(None);
    };
    if result.stop_reason.status() == StopReason::Accepted.status() {
        return Ok(None);
    }
    let said = words.map(str::trim).filter(|words| !words.is_empty());
    let why = said.unwrap_or("You accepted the results as they are.").to_owned();
    let reopened = driver.reopened + 1;
    let accepted = RunResult {
        status: StopReason::Accepted.status(),
        stop_reason: StopReason::Accepted,
        feedback: why.clone(),
        ..result.clone()
    };
    let mut entries = vec![(keys::run_reopened(reopened), RunEvent::RunReopened { why: why.clone() })];
    if result.cycles > 0 {
        let changed = RunEvent::VerdictChanged {
            cycle: result.cycles,
            by: vec!["person".to_owned()],
            evaluation: overlay(&driver, result.cycles, why),
        };
        entries.push((keys::changed_verdict(result.cycles).child(reopened), changed));
    }
    entries.push((
        keys::run_finished(reopened),
        RunEvent::RunFinished {
            result: accepted.clone(),
        },
    ));
    driver
        .journal
        .record_all(entries, Vec::new(), Durability::Barrier)
        .await?;
    Ok(Some(accepted))
}

/// The judge's verdict with a person's word over it; what was found for each criterion stays as it was found.
fn overlay(driver: &Driver, cycle: u32, summary: String) -> Evaluation {
    let judge = keys::judge(cycle);
    let last = driver.journal.count(1, |n| judge.mark(format!("attempt-{n}")));
    let judged = (0..=last).rev().find_map(
        |n| match driver.journal.recorded(&keys::attempt(&judge, n)).as_deref() {
            Some(RunEvent::CycleJudged { evaluation, .. }) => Some(evaluation.clone()),
            _ => None,
        },
    );
    let found = judged.unwrap_or(Evaluation {
        verdict: Verdict::Fail,
        confidence: 1.0,
        feedback: None,
        summary: None,
        criteria: Vec::new(),
        score: 0.0,
        tokens_used: 0,
    });
    Evaluation {
        verdict: Verdict::Pass,
        summary: Some(summary),
        ..found
    }
}
