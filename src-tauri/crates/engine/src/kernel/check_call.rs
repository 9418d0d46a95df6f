//! The leaves in which the app itself looks: the check of a criterion, and the look for what must be absent.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::criterion::{CheckSpec, Criterion, DecidedBy};
use contract::evaluation::{CriterionResult, CriterionVerdict};
use contract::event::RunEvent;
use contract::ids::Key;
use contract::ports::check::{CheckOutcome, CheckTarget};
use contract::ports::journal::Durability;
use futures::future::FutureExt;

use super::driver::{Driver, Halt};
use super::keys;
use crate::effects;

impl Driver {
    /// Checks a criterion, or returns what was found before. A check that cannot run has failed; of one that nobody
    /// allowed to run, nothing is known.
    pub async fn check(
        &self,
        judge: &Key,
        cycle: u32,
        criterion: &Criterion,
        check: &CheckSpec,
        target: &CheckTarget,
    ) -> Result<CriterionResult, Halt> {
        let key = judge.child("check").child(keys::safe(&criterion.id));
        self.take_over(&key, None).await?;
        if let Some(RunEvent::CheckFinished { result, .. }) = self.journal.recorded(&key).as_deref() {
            return Ok(result.clone());
        }
        let started_at_ms = self.world.clock.now_ms();
        let outcome = if effects::commands_of(check, &self.world.checks).is_empty() {
            let _at_work = self.begin_leaf().await?;
            self.or_stop(self.look(check, target)).await?
        } else {
            self.look_with_commands(&key, cycle, check, target).await?
        };
        let result = CriterionResult {
            id: criterion.id.clone(),
            verdict: if outcome.pass {
                CriterionVerdict::Pass
            } else if outcome.refused {
                CriterionVerdict::Unknown
            } else {
                CriterionVerdict::Fail
            },
            evidence: outcome.evidence,
            by: DecidedBy::App,
            observed: outcome.observed,
        };
        let event = RunEvent::CheckFinished {
            cycle,
            result: result.clone(),
            duration_ms: self.since(started_at_ms),
        };
        self.journal
            .record_all(vec![(key, event)], Vec::new(), Durability::Commit)
            .await?;
        Ok(result)
    }

    /// Looks for something that must be absent, or returns what came of it before; none in the replay of a run that
    /// looked no further than what the judge was shown.
    pub async fn look_for_absence(
        &self,
        judge: &Key,
        cycle: u32,
        criterion: &str,
        look: impl FnOnce() -> CriterionResult,
    ) -> Result<Option<CriterionResult>, Halt> {
        let key = judge.child("absent").child(keys::safe(criterion));
        self.repeat(&key).await?;
        if let Some(RunEvent::CheckFinished { result, .. }) = self.journal.recorded(&key).as_deref() {
            return Ok(Some(result.clone()));
        }
        if self.replays() {
            return Ok(None);
        }
        let started_at_ms = self.world.clock.now_ms();
        let result = look();
        let event = RunEvent::CheckFinished {
            cycle,
            result: result.clone(),
            duration_ms: self.since(started_at_ms),
        };
        self.journal.record(key, event).await?;
        Ok(Some(result))
    }

    /// The same for a check that runs commands: each of them is a leaf of its own.
    async fn look_with_commands(
        &self,
        key: &Key,
        cycle: u32,
        check: &CheckSpec,
        target: &CheckTarget,
    ) -> Result<CheckOutcome, Halt> {
        let commands = self.commands_of_check(key, cycle);
        let target = CheckTarget {
            commands: Some(Arc::clone(&commands) as _),
            ..target.clone()
        };
        let outcome = self.look(check, &target).await;
        match commands.halted() {
            Some(halt) => Err(halt),
            None => Ok(outcome),
        }
    }

    async fn look(&self, check: &CheckSpec, target: &CheckTarget) -> CheckOutcome {
        let Some(found) = self.world.checks.get(&check.name) else {
            return CheckOutcome::could_not_run(format!("this version has no check \"{}\"", check.name));
        };
        let work = AssertUnwindSafe(found.run(&check.args, target, &self.world.files)).catch_unwind();
        match work.await {
            Ok(outcome) => outcome,
            Err(_panic) => CheckOutcome::could_not_run(format!("\"{}\" broke down", check.name)),
        }
    }
}
