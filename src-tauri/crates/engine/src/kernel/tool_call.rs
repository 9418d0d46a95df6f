//! The leaf that executes a tool, and the effect protocol around it: intend, act, record.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use contract::access::{Access, Granted};
use contract::event::{NamedHash, NamedValue, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::files::Files;
use contract::ports::journal::Durability;
use contract::ports::tool::{Question, Tool, ToolContext, ToolError, ToolOutput};
use contract::step::{StepError, code};
use contract::value_ref::{Artifact, ValueRef};
use futures::future::{Either, FutureExt, select};
use serde_json::{Value, json};

use super::controls::AtWork;
use super::driver::{Driver, Halt, Outcome};
use super::model_call::hash_of;
use super::run_step::broke_down;
use super::{history_differs, keys};
use crate::depth;
use crate::schedule::{Turn, Use};
use crate::uses;

/// A call of a tool with complete arguments.
pub struct ToolCall {
    /// The leaf's address.
    pub key: Key,
    /// Which cycle.
    pub cycle: u32,
    /// Which step.
    pub step: String,
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its name.
    pub name: String,
    /// Its arguments: validated, references resolved.
    pub args: Value,
    /// The address of each input by name.
    pub inputs: BTreeMap<String, Hash>,
    /// The turn to wait for before it is executed; none when nothing runs beside it.
    pub turn: Option<Turn>,
}

/// An intended change that stands in the journal.
struct Intent {
    /// The file's path, or what else was to be done, in words.
    what: String,
    /// The file before and after; none when it is no file, and nothing can be looked up.
    file: Option<(Option<Hash>, Option<Hash>)>,
    output: ValueRef,
}

/// What to do about a change that was intended before the app ended.
enum Settled {
    /// It was made; this is what the tool returns.
    Done(Value),
    /// It was not.
    NotDone,
    /// It is to be intended, by this number: for the first time, or again because a person said so.
    Intend(u32),
}

/// What a tool returned, and what it read.
type Done = (Result<ToolOutput, StepError>, Option<Vec<NamedHash>>);

/// The address of the `asked`th question about a change, counted from 0.
pub(super) fn uncertain(call: &Key, asked: u32) -> Key {
    let first = call.child("uncertain");
    if asked == 0 { first } else { first.child(asked) }
}

/// How long a change that has begun is waited for when its run is stopped or its time is over.
const GRACE: Duration = Duration::from_secs(5);

fn in_words(
    call: &ToolCall,
    done: std::thread::Result<Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, StepError> {
    match done {
        Ok(Ok(output)) => match depth::bounded(output.value) {
            Ok(value) => Ok(ToolOutput { value, ..output }),
            Err(reason) => {
                let message = format!("the tool \"{}\" failed: {reason}", call.name);
                Err(StepError::new(code::TOOL_FAILED, message))
            }
        },
        Ok(Err(error)) => Err(error.into_step_error()),
        Err(panic) => Err(broke_down(&format!("the tool \"{}\"", call.name), panic.as_ref())),
    }
}

/// The folders around a file that are not there yet, the outermost first.
async fn folders_to_make(files: &dyn Files, path: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut rest = path;
    while let Some((folder, _)) = rest.rsplit_once('/') {
        if !matches!(files.stat(folder).await, Ok(None)) {
            break;
        }
        missing.push(folder.to_owned());
        rest = folder;
    }
    missing.reverse();
    missing
}

/// The address of a call's meaning: the tool, its arguments by their address, and its inputs.
fn meaning(call: &ToolCall) -> Result<Hash, StepError> {
    let args = Hash::of_value(&call.args).map_err(|error| StepError::new(code::TOOL_FAILED, error.to_string()))?;
    hash_of(&json!({ "tool": call.name, "args": args }), "", &call.inputs)
}

impl Driver {
    /// Executes a tool, or returns the recorded result. What it wrote to the scratchpad is written
    /// in either case.
    pub async fn call_tool(&self, call: ToolCall) -> Outcome<Value> {
        if self.replays() {
            let meaning = match meaning(&call) {
                Ok(meaning) => meaning,
                Err(error) => return Ok(Err(error)),
            };
            self.take_over(&call.key, Some(&meaning)).await?;
        }
        if let Some(RunEvent::ToolStarted { input_hash: before, .. }) =
            self.journal.recorded(&call.key.mark("started")).as_deref()
            && meaning(&call).is_ok_and(|now| now != *before)
        {
            return Err(history_differs("call", &call.key.mark("started")));
        }
        if self.journal.recorded(&call.key).is_none()
            && let Err(error) = self.execute_and_record(&call).await?
        {
            return Ok(Err(error));
        }
        let recorded = self.journal.recorded(&call.key);
        let Some(RunEvent::ToolFinished {
            output,
            error,
            scratchpad,
            ..
        }) = recorded.as_deref()
        else {
            return Ok(Err(StepError::new(
                code::MISSING_OUTPUT,
                format!("nothing is recorded at {}", call.key),
            )));
        };
        for entry in scratchpad {
            self.write_scratchpad(entry.name.clone(), self.journal.value(&entry.value).await?);
        }
        if let (None, Some(intent)) = (error, self.last_intent(&call.key))
            && intent.file.is_some()
        {
            self.note_change(intent.what, call.cycle, call.step.clone());
        }
        match (output, error) {
            (_, Some(error)) => self.recalled(error),
            (Some(output), None) => Ok(Ok(self.journal.value(output).await?)),
            (None, None) => Ok(Ok(Value::Null)),
        }
    }

    async fn execute_and_record(&self, call: &ToolCall) -> Outcome<()> {
        let uses = uses::of_call(call.tool.as_ref(), &call.args);
        if let Some(turn) = &call.turn {
            self.journal.write_paid().await?;
            match uses {
                Use::Nothing | Use::Reads => turn.to_read().await?,
                Use::Writes => turn.to_write().await?,
            }
        }
        self.check_halted()?;
        if let Some(halt) = self.broken_off(&call.key) {
            return Err(halt);
        }
        self.check_time()?;
        let mut at_work = self.begin_leaf().await?;
        let started_at_ms = self.world.clock.now_ms();
        let args = match self.begin_tool(call).await? {
            Ok(args) => args,
            Err(error) => return Ok(Err(error)),
        };
        let granted = match self.permit(call, &args, &mut at_work).await? {
            Ok(granted) => granted,
            Err(error) => {
                let place = call.key.clone();
                self.record_tool(call, place, Err(error), None, started_at_ms).await?;
                return Ok(Ok(()));
            }
        };
        if let Some(question) = call.tool.asks(&args) {
            let answer = self.ask_for_call(call, &question, &mut at_work).await?;
            let place = call.key.clone();
            self.record_tool(call, place, answer.map(ToolOutput::value), None, started_at_ms)
                .await?;
            return Ok(Ok(()));
        }
        let context = self.context(started_at_ms, granted);
        let (outcome, observed) = match self.settle_or_intend(call, &args, &context, &mut at_work).await? {
            Ok(Some(value)) => (Ok(ToolOutput::value(value)), None),
            Ok(None) => match self.look_and_execute(call, uses, args, &context, &mut at_work).await {
                Ok(done) => done,
                Err(halt) => {
                    // What was intended stays intended: whether it happened is settled on resume.
                    let has_intent = self.last_intent(&call.key).is_some();
                    if let (false, Some(error)) = (has_intent, self.interruption(&halt)) {
                        let place = keys::halted(&call.key, self.reopened);
                        self.record_tool(call, place, Err(error), None, started_at_ms).await?;
                    }
                    return Err(halt);
                }
            },
            Err(error) => (Err(error), None),
        };
        self.record_tool(call, call.key.clone(), outcome, observed, started_at_ms)
            .await?;
        Ok(Ok(()))
    }

    /// What a person answers to the question of a call. Asked again they would say the same, so a no ends the step.
    async fn ask_for_call(&self, call: &ToolCall, question: &Question, at_work: &mut AtWork) -> Outcome<Value> {
        let turn = call.turn.as_ref().or(self.turn.as_ref());
        let of = (call.cycle, call.step.as_str());
        let asking = self.ask_until_it_fits(turn, &call.key, of, &question.text, Some(&question.answer));
        let answer = self.without_slot(at_work, asking).await??;
        Ok(answer.map_err(|error| {
            let message = format!("a person did not answer the question. {}", error.message);
            StepError::new(code::PERMISSION_DENIED, message).cause(json!({ "by": "person" }))
        }))
    }

    /// Executes a tool; of one that only reads, what it reads is looked at before: what changes while it
    /// reads is seen to have changed.
    async fn look_and_execute(
        &self,
        call: &ToolCall,
        uses: Use,
        args: Value,
        context: &ToolContext,
        at_work: &mut AtWork,
    ) -> Result<Done, Halt> {
        let mut observed = None;
        if uses <= Use::Reads {
            let limit = Duration::from_millis(self.header.task.limits.tool_timeout);
            let looked = select(call.tool.observe(&args, context), self.world.clock.sleep(limit));
            if let Either::Left((seen, _)) = self.or_stop(looked).await? {
                observed = seen;
            }
        }
        let before = self.picture_before(call, &args).await;
        let done = self.execute_tool(call, args, context, at_work).await;
        let recorded = match &before {
            Some(before) => self.record_changes(call, before).await,
            None => Ok(()),
        };
        let done = done?;
        recorded?;
        Ok((done, observed))
    }

    /// Writes that the tool was called, or finds that it was, with which arguments.
    async fn begin_tool(&self, call: &ToolCall) -> Outcome<Value> {
        if let Some(RunEvent::ToolStarted { args, .. }) = self.journal.recorded(&call.key.mark("started")).as_deref() {
            return Ok(Ok(self.journal.value(args).await?));
        }
        let mut artifacts = Vec::new();
        let named =
            Self::name_value("tool-input", &call.args, &mut artifacts).and_then(|args| Ok((args, meaning(call)?)));
        let (args, input_hash) = match named {
            Ok(named) => named,
            Err(error) => return Ok(Err(error)),
        };
        let event = RunEvent::ToolStarted {
            cycle: call.cycle,
            step: call.step.clone(),
            tool: call.name.clone(),
            args,
            access: call.tool.access(&call.args),
            input_hash,
        };
        self.journal
            .record_all(vec![(call.key.mark("started"), event)], artifacts, Durability::Commit)
            .await?;
        Ok(Ok(call.args.clone()))
    }

    /// What a call reaches with what is granted to it.
    fn context(&self, now_ms: i64, granted: Arc<Granted>) -> ToolContext {
        let files = self.world.files.reaching(&granted);
        ToolContext {
            files: files.unwrap_or_else(|| Arc::clone(&self.world.files)),
            scratchpad: self.scratchpad(),
            now_ms,
            limit_ms: self.header.task.limits.tool_timeout,
            granted,
        }
    }

    /// Keeps the old bytes of a file that is about to change. A value means that the change was already made before the
    /// app ended.
    async fn settle_or_intend(
        &self,
        call: &ToolCall,
        args: &Value,
        context: &ToolContext,
        at_work: &mut AtWork,
    ) -> Outcome<Option<Value>> {
        match self.settle(call, context, at_work).await? {
            Settled::Done(value) => Ok(Ok(Some(value))),
            Settled::NotDone => Ok(Ok(None)),
            Settled::Intend(number) => Ok(self.intend(call, number, args, context).await?.map(|()| None)),
        }
    }

    /// Records the `number`th intention of a call, with the bytes that are there now, when it changes a file.
    async fn intend(&self, call: &ToolCall, number: u32, args: &Value, context: &ToolContext) -> Outcome<()> {
        let effect = match call.tool.file_effect(args, context).await {
            Ok(Some(effect)) => effect,
            Ok(None) => return self.intend_outside(call, number, args).await,
            Err(error) => return Ok(Err(error.into_step_error())),
        };
        let mut artifacts = Vec::new();
        let mut keep = |kind, bytes| {
            let artifact = Artifact::new(kind, bytes);
            let hash = artifact.hash.clone();
            artifacts.push(artifact);
            hash
        };
        let folders = match effect.before {
            Some(_) => Vec::new(),
            None => folders_to_make(context.files.as_ref(), &effect.path).await,
        };
        let before = effect.before.map(|bytes| keep("file-before", bytes));
        // What a person does to the file later is told from what the run did by these bytes.
        let after = keep("file-after", effect.after);
        let output = match Self::name_value("tool-output", &effect.output, &mut artifacts) {
            Ok(output) => output,
            Err(error) => return Ok(Err(error)),
        };
        let event = RunEvent::EffectIntended {
            path: effect.path,
            before,
            after: Some(after),
            output,
            folders,
        };
        let entry = (keys::intended(&call.key, number), event);
        // The barrier of the effect protocol: this is on the disk before anything happens.
        self.journal
            .record_all(vec![entry], artifacts, Durability::Barrier)
            .await?;
        Ok(Ok(()))
    }

    /// The same for what cannot be looked up afterwards.
    async fn intend_outside(&self, call: &ToolCall, number: u32, args: &Value) -> Outcome<()> {
        let Some(effect) = call.tool.outside_effect(args) else {
            return Ok(Ok(()));
        };
        let mut artifacts = Vec::new();
        let output = match Self::name_value("tool-output", &effect.output, &mut artifacts) {
            Ok(output) => output,
            Err(error) => return Ok(Err(error)),
        };
        let what = effect.what;
        let event = RunEvent::OutsideEffectIntended { what, output };
        let entry = (keys::intended(&call.key, number), event);
        self.journal
            .record_all(vec![entry], artifacts, Durability::Barrier)
            .await?;
        Ok(Ok(()))
    }

    fn recorded_intent(&self, leaf: &Key, number: u32) -> Option<Intent> {
        match self.journal.recorded(&keys::intended(leaf, number)).as_deref() {
            Some(RunEvent::EffectIntended {
                path,
                before,
                after,
                output,
                ..
            }) => Some(Intent {
                what: path.clone(),
                file: Some((before.clone(), after.clone())),
                output: output.clone(),
            }),
            Some(RunEvent::OutsideEffectIntended { what, output }) => Some(Intent {
                what: what.clone(),
                file: None,
                output: output.clone(),
            }),
            _ => None,
        }
    }

    /// What a call meant to do when it was last allowed to.
    fn last_intent(&self, leaf: &Key) -> Option<Intent> {
        let number = self.journal.count(0, |n| keys::intended(leaf, n)).checked_sub(1)?;
        self.recorded_intent(leaf, number)
    }

    /// Finds out whether an intended change was made; asks the person when that cannot be told. What a
    /// person said about it before comes first: each "run again" is an intention of its own, because the
    /// file was then in another state.
    async fn settle(&self, call: &ToolCall, context: &ToolContext, at_work: &mut AtWork) -> Result<Settled, Halt> {
        let mut asked = 0;
        while let Some(RunEvent::PersonAnswered { answer }) =
            self.journal.recorded(&uncertain(&call.key, asked)).as_deref()
        {
            let Some(intent) = self.last_intent(&call.key) else {
                break;
            };
            match self.understood(answer, &intent, asked + 1).await? {
                Settled::Intend(_) | Settled::NotDone => asked += 1,
                done @ Settled::Done(_) => return Ok(done),
            }
        }
        let Some(intent) = self.recorded_intent(&call.key, asked) else {
            return Ok(Settled::Intend(asked));
        };
        if let Some((before, after)) = &intent.file {
            // A folder that cannot be read says nothing about what happened in it.
            let now = context.files.hash(&intent.what).await.ok();
            if now.as_ref() == Some(after) {
                return Ok(Settled::Done(self.journal.value(&intent.output).await?));
            }
            if now.as_ref() == Some(before) {
                return Ok(Settled::NotDone);
            }
        }
        self.ask_what_happened(call, &intent, asked, at_work).await
    }

    /// A change that hangs may still be made later, whatever the file looks like now, unless it was made.
    async fn settle_hanging(
        &self,
        call: &ToolCall,
        intent: &Intent,
        context: &ToolContext,
        at_work: &mut AtWork,
    ) -> Result<Settled, Halt> {
        if let Some((_, after)) = &intent.file
            && context.files.hash(&intent.what).await.as_ref() == Ok(after)
        {
            return Ok(Settled::Done(self.journal.value(&intent.output).await?));
        }
        let asked = self.journal.count(0, |n| uncertain(&call.key, n));
        self.ask_what_happened(call, intent, asked, at_work).await
    }

    async fn ask_what_happened(
        &self,
        call: &ToolCall,
        intent: &Intent,
        asked: u32,
        at_work: &mut AtWork,
    ) -> Result<Settled, Halt> {
        let ask = Ask::UncertainEffect {
            cycle: call.cycle,
            step: call.step.clone(),
            tool: call.name.clone(),
            path: intent.what.clone(),
        };
        let key = uncertain(&call.key, asked);
        let turn = call.turn.as_ref().or(self.turn.as_ref());
        let answer = self
            .without_slot(at_work, self.ask_person_in(turn, &key, ask))
            .await??;
        self.understood(&answer, intent, asked + 1).await
    }

    /// What an answer means; `next` is the number of the intention that it allows.
    async fn understood(&self, answer: &Answer, intent: &Intent, next: u32) -> Result<Settled, Halt> {
        match answer {
            Answer::MarkDone => Ok(Settled::Done(self.journal.value(&intent.output).await?)),
            Answer::RunAgain => Ok(Settled::Intend(next)),
            Answer::StopRun
            | Answer::Approve { .. }
            | Answer::ApproveEdited { .. }
            | Answer::Reject { .. }
            | Answer::AskForChanges { .. }
            | Answer::Allow { .. }
            | Answer::AllowedMeanwhile
            | Answer::Reply { .. } => Err(Halt::Cancelled),
        }
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        args: Value,
        context: &ToolContext,
        at_work: &mut AtWork,
    ) -> Outcome<ToolOutput> {
        let started_at_ms = self.world.clock.now_ms();
        let limit = self.header.task.limits.tool_timeout;
        let mut work = std::pin::pin!(AssertUnwindSafe(call.tool.execute(args, context)).catch_unwind());
        let more = if call.tool.ends_itself() {
            GRACE * 3
        } else {
            Duration::ZERO
        };
        let timeout = self
            .world
            .clock
            .sleep(Duration::from_millis(limit).saturating_add(more));
        let stopped = match self.or_stop(select(work.as_mut(), timeout)).await {
            Ok(Either::Left((done, _))) => return Ok(in_words(call, done)),
            Ok(Either::Right(_)) => None,
            Err(halt) => Some(halt),
        };
        // A change that has begun may still be made, whoever has stopped waiting: it is seen through.
        let has_intent = self.last_intent(&call.key).is_some();
        let done = if has_intent {
            match select(work.as_mut(), self.world.clock.sleep(GRACE)).await {
                Either::Left((done, _)) => Some(in_words(call, done)),
                Either::Right(_) => None,
            }
        } else {
            None
        };
        match (stopped, done) {
            (Some(halt), None) => Err(halt),
            (Some(halt), Some(done)) => {
                self.record_tool(call, call.key.clone(), done, None, started_at_ms)
                    .await?;
                Err(halt)
            }
            (None, Some(done)) => Ok(done),
            (None, None) if has_intent => self.after_hanging(call, context, at_work).await,
            (None, None) => {
                let message = format!("the tool \"{}\" took longer than {limit} ms", call.name);
                Ok(Err(StepError::new(code::TOOL_TIMEOUT, message).retryable(true)))
            }
        }
    }

    /// A change that did not end in its time: done after all, or a person's to decide.
    async fn after_hanging(&self, call: &ToolCall, context: &ToolContext, at_work: &mut AtWork) -> Outcome<ToolOutput> {
        let Some(intent) = self.last_intent(&call.key) else {
            return Ok(Err(StepError::new(
                code::MISSING_OUTPUT,
                "the change that was intended is not recorded",
            )));
        };
        let number = match self.settle_hanging(call, &intent, context, at_work).await? {
            Settled::Done(value) => return Ok(Ok(ToolOutput::value(value))),
            Settled::NotDone => None,
            Settled::Intend(number) => Some(number),
        };
        let args = match self.begin_tool(call).await? {
            Ok(args) => args,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(number) = number
            && let Err(error) = self.intend(call, number, &args, context).await?
        {
            return Ok(Err(error));
        }
        Box::pin(self.execute_tool(call, args, context, at_work)).await
    }

    async fn record_tool(
        &self,
        call: &ToolCall,
        place: Key,
        outcome: Result<ToolOutput, StepError>,
        observed: Option<Vec<NamedHash>>,
        started_at_ms: i64,
    ) -> Result<(), Halt> {
        let mut artifacts = Vec::new();
        let said_so = call.tool.access(&call.args).contains(&Access::WriteScratchpad);
        let named = outcome.and_then(|output| {
            if !output.scratchpad.is_empty() && !said_so {
                let message = format!(
                    "the tool \"{}\" wrote to the scratchpad without saying that it would",
                    call.name
                );
                return Err(StepError::new(code::TOOL_FAILED, message));
            }
            let value = Self::name_value("tool-output", &output.value, &mut artifacts)?;
            let mut scratchpad = Vec::new();
            for (name, written) in output.scratchpad {
                let value = Self::name_value("tool-output", &written, &mut artifacts)?;
                scratchpad.push(NamedValue { name, value });
            }
            Ok((value, scratchpad, output.logs))
        });
        let duration_ms = self.since(started_at_ms);
        let event = match named {
            Ok((value, scratchpad, logs)) => RunEvent::ToolFinished {
                output: Some(value),
                error: None,
                scratchpad,
                logs,
                observed,
                duration_ms,
            },
            Err(error) => RunEvent::ToolFinished {
                output: None,
                error: Some(error),
                scratchpad: Vec::new(),
                logs: Vec::new(),
                observed: None,
                duration_ms,
            },
        };
        self.journal
            .record_all(vec![(place, event)], artifacts, Durability::Commit)
            .await?;
        Ok(())
    }
}
