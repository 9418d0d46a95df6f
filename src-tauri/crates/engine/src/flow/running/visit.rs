//! One visit of a step, from its beginning to its end in the journal.

use contract::event::{NamedValue, RunEvent};
use contract::ids::Key;
use contract::ports::journal::{Durability, JournalError};
use contract::step::StepError;
use contract::value_ref::Artifact;
use serde_json::{Value, json};

use super::prepared::{Prepared, prepare, resolve};
use super::program::{Body, Stage};
use super::runner::{Place, Runner};
use super::state::{State, With};
use super::work::{self, Done};
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::keys;
use crate::template::Scope;

/// The entries at the end of a visit, with the values that they name.
type End = (Vec<(Key, RunEvent)>, Vec<Artifact>);

/// A visit: the step, and its address.
#[derive(Clone)]
pub(super) struct Visit<'a> {
    pub(super) stage: &'a Stage,
    /// The address of this attempt.
    pub(super) key: Key,
    /// The address of the first one. What lies inside a visit keeps it, so that another attempt repeats nothing that
    /// was done there.
    pub(super) inside: Key,
    /// The address without an attempt.
    of: Key,
    pub(super) path: String,
    pub(super) number: u32,
}

impl<'a> Visit<'a> {
    pub(super) fn of(place: &Place, stage: &'a Stage, number: u32) -> Self {
        let of = place.visit(stage, number);
        let first = keys::attempt(&of, 0);
        Self {
            key: first.clone(),
            inside: first,
            of,
            path: place.path(stage),
            stage,
            number,
        }
    }

    /// The attempt that counts now: another one when this visit failed before the run was opened again.
    pub(super) async fn anew(mut self, runner: &Runner<'_>) -> Result<Self, JournalError> {
        let driver = runner.driver;
        let mut n = 0;
        while driver.is_opened(&self.of, n + 1) {
            n += 1;
        }
        self.key = keys::attempt(&self.of, n);
        // At most one attempt each time the run is opened: nothing is repeated that nobody asked for.
        let why = match driver.journal.recorded(&self.key).as_deref() {
            Some(RunEvent::PhaseFinished { error: Some(error), .. }) if n < driver.reopened => error.message.clone(),
            Some(RunEvent::PhaseSkipped {
                failed: Some(failed), ..
            }) if n < driver.reopened => {
                format!("\"{failed}\" had failed")
            }
            _ => return Ok(self),
        };
        let (of, n) = (self.of.clone(), n + 1);
        self.key = keys::attempt(&of, n);
        let opened = of.mark(format!("attempt-{n}"));
        driver
            .journal
            .record(opened, RunEvent::AttemptOpened { of, n, why })
            .await?;
        Ok(self)
    }

    /// Whether the step's condition lets it run.
    pub(super) fn is_wanted(&self, state: &State) -> bool {
        self.stage.when.as_ref().is_none_or(|when| when.holds(state))
    }

    /// Records that the step is not run.
    pub(super) async fn skip(&self, runner: &Runner<'_>, failed: Option<String>) -> Result<(), Halt> {
        runner.driver.reach(&self.key)?;
        let event = RunEvent::PhaseSkipped {
            phase: self.path.clone(),
            visit: self.number,
            failed,
        };
        runner.driver.journal.record(self.key.clone(), event).await?;
        Ok(())
    }

    /// Records the beginning and does the work. What it came to is not recorded yet.
    pub(super) async fn carry_out(
        &self,
        runner: &Runner<'a>,
        prepared: Result<Prepared<'a>, StepError>,
    ) -> Outcome<Done> {
        let done = self.begin_and_work(runner, prepared).await?;
        runner.driver.reach_end(&self.key)?;
        Ok(done)
    }

    async fn begin_and_work(&self, runner: &Runner<'a>, prepared: Result<Prepared<'a>, StepError>) -> Outcome<Done> {
        runner.driver.reach_begun(&self.key)?;
        if let Err(error) = runner.steps.count(&self.path) {
            return Ok(Err(error));
        }
        let (inputs, job) = match prepared {
            Ok(Prepared { inputs, job }) => (inputs, Ok(job)),
            Err(error) => (None, Err(error)),
        };
        let mut artifacts = Vec::new();
        let inputs = match inputs {
            Some(inputs) => match Driver::name_value("tool-input", &inputs, &mut artifacts) {
                Ok(inputs) => Some(inputs),
                Err(error) => return Ok(Err(error)),
            },
            None => None,
        };
        let event = RunEvent::PhaseStarted {
            phase: self.path.clone(),
            id: self.stage.id.clone(),
            kind: self.stage.kind.to_owned(),
            visit: self.number,
            inputs,
        };
        // What the step does first is written at once, and this with it.
        let journal = &runner.driver.journal;
        journal.record_with_next(vec![(self.key.mark("started"), event)], artifacts);
        match job {
            Ok(job) => work::perform(runner, self, job).await,
            Err(error) => Ok(Err(error)),
        }
    }

    /// Records the end, together with what follows from it.
    pub(super) async fn close(
        &self,
        runner: &Runner<'_>,
        started_at_ms: i64,
        outcome: Result<&Value, &StepError>,
        set: &[(String, Value)],
    ) -> Outcome<()> {
        let (entries, artifacts) = match self.end(runner, started_at_ms, outcome, set, None, Vec::new()) {
            Ok(end) => end,
            Err(error) => return Ok(Err(error)),
        };
        let journal = &runner.driver.journal;
        journal.record_all(entries, artifacts, Durability::Commit).await?;
        Ok(Ok(()))
    }

    /// Records the end, and what follows from it, together with the beginning of what is next: something always is.
    pub(super) fn close_and_go_on(
        &self,
        runner: &Runner<'_>,
        started_at_ms: i64,
        outcome: Result<&Value, &StepError>,
        set: &[(String, Value)],
        also: Option<RunEvent>,
        artifacts: Vec<Artifact>,
    ) -> Result<(), StepError> {
        let (entries, artifacts) = self.end(runner, started_at_ms, outcome, set, also, artifacts)?;
        runner.driver.journal.record_with_next(entries, artifacts);
        Ok(())
    }

    fn end(
        &self,
        runner: &Runner<'_>,
        started_at_ms: i64,
        outcome: Result<&Value, &StepError>,
        set: &[(String, Value)],
        also: Option<RunEvent>,
        mut artifacts: Vec<Artifact>,
    ) -> Result<End, StepError> {
        let output = outcome.ok();
        let name = |value| Driver::name_value("tool-output", value, &mut artifacts);
        let output = output.map(name).transpose()?;
        let event = RunEvent::PhaseFinished {
            phase: self.path.clone(),
            output,
            error: outcome.err().cloned(),
            set: name_all(set, &mut artifacts)?,
            duration_ms: runner.driver.since(started_at_ms),
        };
        let mut entries = vec![(self.key.clone(), event)];
        entries.extend(also.map(|event| (self.key.mark("routed"), event)));
        Ok((entries, artifacts))
    }

    /// What the step writes to the metadata, its output being this: `output`, and what stands under its key.
    pub(super) fn sets(&self, state: &dyn Scope, output: &Value) -> Result<Vec<(String, Value)>, StepError> {
        let under_its_key = With {
            name: &self.stage.key,
            value: output,
            scope: state,
        };
        let scope = With {
            name: "output",
            value: output,
            scope: &under_its_key,
        };
        Ok(resolve(&self.stage.set, &scope)?.into_iter().collect())
    }

    /// The same beside other steps, whose outputs it does not see: of `outputs` there is its own.
    pub(super) fn sets_beside(&self, state: &State, output: &Value) -> Result<Vec<(String, Value)>, StepError> {
        if self.stage.set.is_empty() {
            return Ok(Vec::new());
        }
        let own = json!({ &self.stage.key: output });
        let scope = With {
            name: "outputs",
            value: &own,
            scope: state,
        };
        self.sets(&scope, output)
    }

    /// Everything the step needs of the state.
    pub(super) fn prepare(
        &self,
        runner: &Runner<'a>,
        body: &'a Body,
        state: &State,
    ) -> Result<Prepared<'a>, StepError> {
        prepare(runner, body, self.stage, state)
    }

    /// A whole visit beside others: the output and what it sets (`sets`, from the output), recorded.
    pub(super) async fn complete(
        &self,
        runner: Runner<'a>,
        prepared: Result<Prepared<'a>, StepError>,
        sets: impl Fn(&Value) -> Result<Vec<(String, Value)>, StepError>,
    ) -> Outcome<(Done, Vec<(String, Value)>)> {
        runner.driver.check_may_begin()?;
        if let (Some(turn), Some(uses)) = (&runner.turn, runner.effects.of_prepared(&prepared)) {
            turn.expect(uses);
        }
        let started_at_ms = runner.driver.world.clock.now_ms();
        let done = match self.carry_out(&runner, prepared).await {
            Ok(done) => done,
            Err(halt) => {
                runner.driver.repeat_broken_off(&self.key, &halt).await?;
                // Another branch failed: this one is over, and the journal says so.
                if let (Halt::Cancelled, Some(error)) = (&halt, runner.driver.interruption(&halt)) {
                    let closed = self.close(&runner, started_at_ms, Err(&error), &[]);
                    let _ = closed.await?;
                }
                return Err(halt);
            }
        };
        let with_sets = done.and_then(|done| {
            let sets = sets(&done.output)?;
            Ok((done, sets))
        });
        let (outcome, sets) = match &with_sets {
            Ok((done, sets)) => (Ok(&done.output), sets.as_slice()),
            Err(error) => (Err(error), &[][..]),
        };
        if let Err(error) = self.close(&runner, started_at_ms, outcome, sets).await? {
            return Ok(Err(error));
        }
        Ok(with_sets)
    }
}

/// Names values under their names.
pub(super) fn name_all(
    values: &[(String, Value)],
    artifacts: &mut Vec<Artifact>,
) -> Result<Vec<NamedValue>, StepError> {
    let named = |(name, value): &(String, Value)| {
        Ok(NamedValue {
            name: name.clone(),
            value: Driver::name_value("tool-output", value, artifacts)?,
        })
    };
    values.iter().map(named).collect()
}
