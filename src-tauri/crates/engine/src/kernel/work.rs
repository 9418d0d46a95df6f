//! Carries out what steps return as commands (kernel page, "Commands").
//!
//! A workflow is a set of steps; work begins with one of them and goes where the commands lead. A
//! step's output and its commands are one entry of the journal, and every command has an address
//! below it, so that walking the same way again after a restart repeats nothing: finished steps
//! return their entries, emitted topics stay emitted, and what waits for somebody still waits.
//!
//! Deliberately not here: what a person sees. [`Driver::resolve_review`] and [`Driver::resume_work`]
//! take their word.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use contract::event::{RunEvent, Unblocked};
use contract::hash::Hash;
use contract::ids::Key;
use contract::ports::journal::{Durability, JournalError};
use contract::step::{StepError, code};
use contract::value_ref::{Artifact, ValueRef};
use serde_json::{Value, json};

use super::command::{self, Command};
use super::driver::{Driver, Halt, Outcome};
use super::layers::Layers;
use super::run_step::{NO_VERSION, run_step};
use super::snapshot::unnamed;
use super::step::{Place, Step, StepResult};

/// Steps that may call for one another by name.
pub struct Workflow {
    id: String,
    version: String,
    steps: HashMap<String, Box<dyn Step>>,
    most_steps: usize,
}

impl Workflow {
    /// A workflow without a version.
    ///
    /// # Errors
    /// `conflict`: two steps have one name.
    pub fn new(id: impl Into<String>, steps: Vec<Box<dyn Step>>) -> Result<Self, StepError> {
        let mut by_name = HashMap::with_capacity(steps.len());
        for step in steps {
            let name = step.name().to_owned();
            if by_name.contains_key(&name) {
                let message = format!("the workflow has two steps named \"{name}\"");
                return Err(StepError::new(code::CONFLICT, message));
            }
            by_name.insert(name, step);
        }
        Ok(Self {
            id: id.into(),
            version: NO_VERSION.to_owned(),
            steps: by_name,
            most_steps: 100_000,
        })
    }

    /// The same in this version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The same with at most this many steps run, so that commands cannot go on for ever.
    #[must_use]
    pub fn at_most(mut self, steps: usize) -> Self {
        self.most_steps = steps;
        self
    }
}

/// Where work stands.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkStatus {
    /// All that was asked for is done.
    Finished,
    /// A person is to look at what a step made, which holds for now only.
    PendingReview,
    /// A step waits for data from outside.
    Suspended,
    /// A person rejected what a step made.
    Rejected,
    /// A step failed.
    Failed(StepError),
}

/// A step that waits for somebody, at the address that [`Driver::resolve_review`] and
/// [`Driver::resume_work`] are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocked {
    /// The step's address.
    pub key: Key,
    /// Its name.
    pub step: String,
    /// `review` or `suspend`, with its reason and payload or checkpoint.
    pub command: Command,
    /// The step that goes on after a suspension.
    pub resume_step: Option<String>,
}

/// What work has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Where it stands.
    pub status: WorkStatus,
    /// The state in its layers.
    pub state: Layers,
    /// Carried out, in the order of the walk.
    pub executed: Vec<Command>,
    /// Waiting for a review.
    pub deferred: Vec<Command>,
    /// Never to be carried out: beside a suspension, or after a rejection.
    pub discarded: Vec<Command>,
    /// Delivered twice, and carried out once.
    pub repeated: Vec<Command>,
    /// Who waits for somebody.
    pub blocked: Vec<Blocked>,
}

/// What a person says to a review.
#[derive(Debug, Clone, PartialEq)]
pub enum Review {
    /// As it is.
    Approve,
    /// Not at all.
    Reject,
    /// With these fields written over what was computed.
    Override(Value),
}

struct Call {
    key: Key,
    step: String,
    input: Value,
    /// The place of its command among those that are carried out; none for who begins and for who goes on.
    command: Option<usize>,
}

/// The walk through commands, breadth first.
struct Walk<'a> {
    driver: &'a Driver,
    workflow: &'a Workflow,
    calls: VecDeque<Call>,
    seen: HashSet<Hash>,
    work: Work,
    left: usize,
    /// Why nothing more is begun. What is recorded is folded all the same.
    failed: Option<StepError>,
    rejected: bool,
    /// The inputs that are not run, by the places of their commands.
    dropped: BTreeMap<usize, Vec<Value>>,
}

impl Driver {
    /// Takes work from where the journal has it to its end, or to where somebody has to say
    /// something. `root` is the work's address in the run.
    ///
    /// # Errors
    /// The journal, or a stop; failures of steps are in the [`Work`].
    pub async fn work(&self, workflow: &Workflow, root: &Key, step: &str, input: Value) -> Result<Work, Halt> {
        let mut walk = Walk {
            driver: self,
            workflow,
            calls: VecDeque::from([Call {
                key: root.clone(),
                step: step.to_owned(),
                input,
                command: None,
            }]),
            seen: HashSet::new(),
            work: Work {
                status: WorkStatus::Finished,
                state: Layers::default(),
                executed: Vec::new(),
                deferred: Vec::new(),
                discarded: Vec::new(),
                repeated: Vec::new(),
                blocked: Vec::new(),
            },
            left: workflow.most_steps,
            failed: None,
            rejected: false,
            dropped: BTreeMap::new(),
        };
        walk.go().await?;
        walk.settle();
        self.repeat_corrections(root).await?;
        for n in 0..self.journal.count(0, |n| overlay_key(root, n)) {
            self.write_over(&overlay_key(root, n), &mut walk.work.state).await?;
        }
        Ok(walk.work)
    }

    /// Takes a person's word on a review; the first word counts.
    ///
    /// # Errors
    /// `not_found`: nothing is reviewed at this address. `conflict`: it was answered before.
    pub async fn resolve_review(&self, key: &Key, review: Review) -> Outcome<()> {
        let mut artifacts = Vec::new();
        let mut entries = Vec::new();
        let how = match review {
            Review::Approve => Unblocked::Approved,
            Review::Reject => Unblocked::Rejected,
            Review::Override(values) => {
                let values = match Self::name_value("overlay", &values, &mut artifacts) {
                    Ok(values) => values,
                    Err(error) => return Ok(Err(error)),
                };
                entries.push((key.mark("overlay"), RunEvent::OverlayWritten { values }));
                Unblocked::Overridden
            }
        };
        self.unblock(key, "review", how, entries, artifacts).await
    }

    /// Goes on after a suspension with data from outside; once.
    ///
    /// # Errors
    /// `not_found`: nothing is suspended at this address. `conflict`: it was resumed before.
    pub async fn resume_work(&self, key: &Key, data: &Value) -> Outcome<()> {
        let mut artifacts = Vec::new();
        match Self::name_value("resume-data", data, &mut artifacts) {
            Ok(data) => {
                self.unblock(key, "suspend", Unblocked::Resumed { data }, Vec::new(), artifacts)
                    .await
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Writes a person's correction over what the work at `root` computed, at any time.
    ///
    /// # Errors
    /// A value without a canonical form.
    pub async fn correct(&self, root: &Key, values: &Value) -> Outcome<()> {
        let mut artifacts = Vec::new();
        let values = match Self::name_value("overlay", values, &mut artifacts) {
            Ok(values) => values,
            Err(error) => return Ok(Err(error)),
        };
        loop {
            let key = overlay_key(root, self.journal.count(0, |n| overlay_key(root, n)));
            let entry = (key.clone(), RunEvent::OverlayWritten { values: values.clone() });
            let entries = vec![entry];
            let recorded = self
                .journal
                .record_first(&key, entries, artifacts.clone(), Durability::Barrier);
            // Somebody else's correction may have taken the place.
            if recorded.await? {
                return Ok(Ok(()));
            }
        }
    }

    /// Takes the corrections over of a run that is replayed.
    async fn repeat_corrections(&self, root: &Key) -> Result<(), Halt> {
        for n in 0.. {
            let key = overlay_key(root, n);
            if self.replayed(&key).is_none() {
                break;
            }
            self.repeat(&key).await?;
        }
        Ok(())
    }

    async fn unblock(
        &self,
        key: &Key,
        kind: &str,
        how: Unblocked,
        mut entries: Vec<(Key, RunEvent)>,
        artifacts: Vec<Artifact>,
    ) -> Outcome<()> {
        let waits = match self.recorded_result(key).await? {
            Some(Ok(result)) => {
                let commands = result.commands.unwrap_or_default();
                commands.iter().any(|command| json!(command)["type"] == kind)
            }
            Some(Err(_)) | None => false,
        };
        if !waits {
            let message = format!("no {kind} waits at {key}");
            return Ok(Err(StepError::new(code::NOT_FOUND, message)));
        }
        entries.push((key.mark("unblocked"), RunEvent::WorkUnblocked { how }));
        let word = key.mark("unblocked");
        let recorded = self
            .journal
            .record_first(&word, entries, artifacts, Durability::Barrier);
        match recorded.await {
            Ok(true) => Ok(Ok(())),
            // Somebody else's word came first.
            Ok(false) | Err(JournalError::Conflict) => {
                let message = format!("the {kind} at {key} was answered before");
                Ok(Err(StepError::new(code::CONFLICT, message)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What a step of a workflow came to, when it is recorded.
    async fn recorded_result(&self, key: &Key) -> Result<Option<Result<StepResult, StepError>>, Halt> {
        match self.journal.recorded(key).as_deref() {
            Some(RunEvent::WorkFinished {
                result: Some(result), ..
            }) => {
                let value = self.journal.value(result).await?;
                let result = serde_json::from_value(value);
                Ok(Some(Ok(
                    result.map_err(|error| JournalError::Corrupted(error.to_string()))?
                )))
            }
            Some(RunEvent::WorkFinished { error, .. }) => Ok(Some(Err(error
                .clone()
                .unwrap_or_else(|| StepError::new(code::MISSING_OUTPUT, format!("nothing is recorded at {key}")))))),
            _ => Ok(None),
        }
    }

    async fn write_over(&self, key: &Key, state: &mut Layers) -> Result<(), Halt> {
        if let Some(RunEvent::OverlayWritten { values }) = self.journal.recorded(key).as_deref() {
            state.write_over(&self.journal.value(values).await?);
        }
        Ok(())
    }
}

fn overlay_key(root: &Key, n: u32) -> Key {
    root.mark(format!("corrected-{n}"))
}

impl Walk<'_> {
    async fn go(&mut self) -> Result<(), Halt> {
        while let Some(call) = self.calls.pop_front() {
            if self.failed.is_some() && self.driver.journal.recorded(&call.key).is_none() {
                self.drop_call(call);
                continue;
            }
            let followed = match self.result_of(&call).await? {
                Ok(result) => {
                    self.work.state.compute(&result.output);
                    self.follow(&call, result.commands.unwrap_or_default()).await?
                }
                Err(error) => Err(error),
            };
            if let Err(error) = followed {
                self.failed.get_or_insert(error);
            }
        }
        Ok(())
    }

    /// Keeps a call that nobody runs any more among what is discarded.
    fn drop_call(&mut self, call: Call) {
        if let Some(place) = call.command {
            self.dropped.entry(place).or_default().push(call.input);
        }
    }

    /// Says where the work stands, and moves what was not run from the carried out to the discarded.
    fn settle(&mut self) {
        let mut executed: Vec<Option<Command>> = self.work.executed.drain(..).map(Some).collect();
        for (place, inputs) in std::mem::take(&mut self.dropped) {
            let Some(slot) = executed.get_mut(place) else { continue };
            match slot {
                Some(Command::Fanout { step, inputs: all }) if all.len() > inputs.len() => {
                    let step = step.clone();
                    self.work.discarded.push(Command::Fanout { step, inputs });
                }
                _ => self.work.discarded.extend(slot.take()),
            }
        }
        self.work.executed = executed.into_iter().flatten().collect();
        self.work.status = match (self.failed.take(), self.work.blocked.first()) {
            (Some(error), _) => WorkStatus::Failed(error),
            (None, Some(blocked)) if matches!(blocked.command, Command::Review { .. }) => WorkStatus::PendingReview,
            (None, Some(_)) => WorkStatus::Suspended,
            (None, None) if self.rejected => WorkStatus::Rejected,
            (None, None) => WorkStatus::Finished,
        };
    }

    /// Runs the step, or returns what it came to before.
    async fn result_of(&mut self, call: &Call) -> Outcome<StepResult> {
        // Counted whether it is recorded or not: after a restart the work comes to the same end.
        let Some(left) = self.left.checked_sub(1) else {
            let message = format!(
                "the work ran {} steps without coming to an end",
                self.workflow.most_steps
            );
            return Ok(Err(StepError::new(code::LOOP_LIMIT, message)));
        };
        self.left = left;
        self.driver.take_over(&call.key, None).await?;
        if let Some(recorded) = self.driver.recorded_result(&call.key).await? {
            return Ok(recorded);
        }
        let Some(step) = self.workflow.steps.get(&call.step) else {
            let message = format!("the workflow \"{}\" has no step \"{}\"", self.workflow.id, call.step);
            return Ok(Err(StepError::new(code::NOT_FOUND, message)));
        };
        let place = Place {
            workflow_id: &self.workflow.id,
            workflow_version: &self.workflow.version,
            run_id: self.driver.journal.run(),
            key: &call.key,
            adapters: self.driver,
            cancel: &self.driver.stop,
            on_artifact: None,
        };
        let started_at_ms = self.driver.world.clock.now_ms();
        let outcome = run_step(step.as_ref(), call.input.clone(), place).await?;
        let outcome = outcome.and_then(at_most_one_blocks);
        self.record(call, outcome, self.driver.since(started_at_ms)).await
    }

    /// Output, events, commands and artifacts, in one transaction. A result that cannot be recorded has failed.
    async fn record(
        &self,
        call: &Call,
        outcome: Result<StepResult, StepError>,
        duration_ms: u64,
    ) -> Outcome<StepResult> {
        let mut artifacts = Vec::new();
        let (outcome, result, error) = match outcome {
            Err(error) => (Err(error.clone()), None, Some(error)),
            Ok(made) => match ValueRef::of("step-output", &json!(made)) {
                Ok((named, artifact)) => {
                    artifacts.extend(artifact);
                    (Ok(made), Some(named), None)
                }
                Err(error) => {
                    let error = StepError::new(code::OUTPUT_VALIDATION, error.to_string());
                    (Err(error.clone()), None, Some(error))
                }
            },
        };
        let event = RunEvent::WorkFinished {
            step: call.step.clone(),
            workflow_id: self.workflow.id.clone(),
            workflow_version: self.workflow.version.clone(),
            result,
            error,
            duration_ms,
        };
        let entry = vec![(call.key.clone(), event)];
        self.driver
            .journal
            .record_all(entry, artifacts, Durability::Commit)
            .await?;
        Ok(outcome)
    }

    /// Goes where a result's commands lead.
    async fn follow(&mut self, call: &Call, commands: Vec<Command>) -> Outcome<()> {
        let Some(place) = commands
            .iter()
            .position(|command| matches!(command, Command::Review { .. } | Command::Suspend { .. }))
        else {
            return self.carry_out(call, commands, None).await;
        };
        for word in ["overlay", "unblocked"] {
            self.driver.repeat(&call.key.mark(word)).await?;
        }
        let said = match self.driver.journal.recorded(&call.key.mark("unblocked")).as_deref() {
            Some(RunEvent::WorkUnblocked { how }) => Some(how.clone()),
            _ => None,
        };
        let mut siblings = commands.clone();
        let blocking = siblings.remove(place);
        match (&blocking, said) {
            (
                Command::Suspend {
                    checkpoint,
                    resume_step,
                    ..
                },
                said,
            ) => {
                self.work.discarded.extend(siblings);
                let resume_step = resume_step.clone().unwrap_or_else(|| call.step.clone());
                if let Some(Unblocked::Resumed { data }) = said {
                    let data = self.driver.journal.value(&data).await?;
                    self.calls.push_back(Call {
                        key: call.key.child("resumed"),
                        step: resume_step,
                        input: json!({ "checkpoint": checkpoint, "resumeData": data }),
                        command: None,
                    });
                } else {
                    self.block(call, blocking, Some(resume_step));
                }
                Ok(Ok(()))
            }
            (_, Some(Unblocked::Rejected)) => {
                self.work.discarded.extend(siblings);
                self.rejected = true;
                Ok(Ok(()))
            }
            (_, Some(_)) => {
                self.driver
                    .write_over(&call.key.mark("overlay"), &mut self.work.state)
                    .await?;
                self.carry_out(call, commands, Some(place)).await
            }
            (_, None) => {
                self.work.deferred.extend(siblings);
                self.block(call, blocking, None);
                Ok(Ok(()))
            }
        }
    }

    fn block(&mut self, call: &Call, command: Command, resume_step: Option<String>) {
        self.work.blocked.push(Blocked {
            key: call.key.clone(),
            step: call.step.clone(),
            command,
            resume_step,
        });
    }

    /// Carries commands out, but for the one that blocked.
    async fn carry_out(&mut self, call: &Call, commands: Vec<Command>, but: Option<usize>) -> Outcome<()> {
        for (index, command) in commands.into_iter().enumerate() {
            if Some(index) == but {
                continue;
            }
            match command.dedupe(&self.workflow.id, self.driver.journal.run(), &call.step) {
                Ok(hash) => {
                    if !self.seen.insert(hash) {
                        self.work.repeated.push(command);
                        continue;
                    }
                }
                Err(error) => return Ok(Err(unnamed(error))),
            }
            let key = call.key.child(format!("command/{index}"));
            match &command {
                Command::Invoke { step, input } => self.call(key, step, input.clone()),
                Command::Fanout { step, inputs } => {
                    for (place, input) in inputs.iter().enumerate() {
                        self.call(key.child(place.to_string()), step, input.clone());
                    }
                }
                Command::Emit { .. } if self.failed.is_some() && self.driver.journal.recorded(&key).is_none() => {
                    self.work.discarded.push(command);
                    continue;
                }
                Command::Emit { topic, payload } => match self.emit(&key, topic, payload).await? {
                    Ok(()) => {}
                    Err(error) => return Ok(Err(error)),
                },
                Command::Review { .. } | Command::Suspend { .. } => {}
            }
            self.work.executed.push(command);
        }
        Ok(Ok(()))
    }

    fn call(&mut self, key: Key, step: &str, input: Value) {
        self.calls.push_back(Call {
            key,
            step: step.to_owned(),
            input,
            command: Some(self.work.executed.len()),
        });
    }

    /// Tells the outside through the journal, once: whoever listens reads it there.
    async fn emit(&self, key: &Key, topic: &str, payload: &Value) -> Outcome<()> {
        self.driver.take_over(key, None).await?;
        let mut artifacts = Vec::new();
        let payload: ValueRef = match Driver::name_value("emitted", payload, &mut artifacts) {
            Ok(payload) => payload,
            Err(error) => return Ok(Err(error)),
        };
        let event = RunEvent::TopicEmitted {
            topic: topic.to_owned(),
            payload,
        };
        let entry = vec![(key.clone(), event)];
        self.driver
            .journal
            .record_all(entry, artifacts, Durability::Commit)
            .await?;
        Ok(Ok(()))
    }
}

fn at_most_one_blocks(result: StepResult) -> Result<StepResult, StepError> {
    match command::blocking(result.commands.as_deref().unwrap_or_default()) {
        Ok(_) => Ok(result),
        Err(message) => Err(StepError::new(code::OUTPUT_VALIDATION, message)),
    }
}
