//! The leaf that asks a model.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

use contract::event::{LlmResponseRef, Purpose, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::{AttemptStatus, Delta, Instead, LlmAttempt, LlmRequest, LlmResponse};
use contract::ports::journal::Durability;
use contract::ports::provider::Sink;
use contract::run::Part;
use contract::step::{StepError, code};
use contract::value_ref::{Artifact, ValueRef};
use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::{Either, FutureExt, select};
use serde_json::{Value, json};

use super::driver::{Driver, Halt, Outcome};
use super::run_step::broke_down;
use super::{estimate, history_differs, keys};

/// A question to a model, with what it means.
pub struct ModelCall {
    /// The leaf's address.
    pub key: Key,
    /// Which cycle.
    pub cycle: u32,
    /// Which part of the work asks.
    pub purpose: Purpose,
    /// Which step, for a step's call.
    pub step: Option<String>,
    /// `provider:model`.
    pub model: String,
    /// In which role it is asked; none for a step of a flow. What is asked when it does not answer, and how much it is
    /// told to think, was set for the role.
    pub part: Option<Part>,
    /// The question; its `key` and `model` are filled in here.
    pub request: LlmRequest,
    /// The address of the prompt template, for the record.
    pub prompt_hash: Hash,
    /// What is being done, apart from its inputs.
    pub definition: Value,
    /// The address of each input by name.
    pub inputs: BTreeMap<String, Hash>,
    /// Whether more is recorded as soon as there is an answer, so that both can be written together.
    pub goes_on: bool,
}

/// An answer, with the question as it was really sent.
pub struct ModelAnswer {
    /// The question.
    pub request: LlmRequest,
    /// The answer.
    pub response: LlmResponse,
}

impl Driver {
    /// Asks a model, or returns the recorded answer. The budget is checked after either.
    pub async fn ask_model(&self, call: ModelCall) -> Outcome<ModelAnswer> {
        let answer = self.ask_or_recall(call).await?;
        self.check_budget()?;
        Ok(answer)
    }

    async fn ask_or_recall(&self, mut call: ModelCall) -> Outcome<ModelAnswer> {
        let (_, model) = call.model.split_once(':').unwrap_or((call.model.as_str(), ""));
        call.request.key = call.key.clone();
        call.request.model = model.to_owned();
        call.request.effort = call.part.and_then(|part| self.header.roles.reasoning.of(part)).copied();
        let input_hash = match hash_of(&call.definition, &call.model, &call.inputs) {
            Ok(hash) => hash,
            Err(error) => return Ok(Err(error)),
        };
        if !self.journal.is_recorded(&call.key) && self.replayed(&call.key).is_none() {
            self.check_price(&call.model)?;
        }
        // What only a replay or a resumed run has to do lies in boxes: hundreds of questions may be under way, each as
        // large as the largest of what it may come to.
        if self.source.is_some() {
            Box::pin(self.take_over(&call.key, Some(&input_hash))).await?;
        }
        if let Some(halt) = self.broken_off(&call.key) {
            return Err(halt);
        }
        let at_work = match self.journal.recorded(&call.key) {
            Some(_) => None,
            None => Some(self.begin_leaf().await?),
        };
        let before = match self.journal.is_recorded(&call.key.mark("started")) {
            true => Box::pin(self.recall_request(&call, &input_hash)).await?,
            false => None,
        };
        let recalled = before.is_some();
        let request = match before {
            Some(request) => request,
            None => {
                self.check_halted()?;
                self.check_budget()?;
                match self.begin(&call, input_hash).await? {
                    Ok(()) => std::mem::take(&mut call.request),
                    Err(error) => return Ok(Err(error)),
                }
            }
        };
        match self.journal.recorded(&call.key).as_deref() {
            Some(RunEvent::ModelCallFinished {
                response: Some(response),
                ..
            }) => {
                let value = self.journal.value(&response.value).await?;
                let response = serde_json::from_value(value).map_err(unreadable)?;
                Ok(Ok(ModelAnswer { request, response }))
            }
            Some(RunEvent::ModelCallFinished { error: Some(error), .. }) => self.recalled(error),
            _ => {
                if recalled {
                    Box::pin(self.count_dangling(&call, &request)).await?;
                }
                self.check_budget()?;
                let answer = self.send(&call, request).await;
                drop(at_work);
                answer
            }
        }
    }

    /// The question as it was asked before, when it was; it must mean the same.
    async fn recall_request(&self, call: &ModelCall, input_hash: &Hash) -> Result<Option<LlmRequest>, Halt> {
        let recorded = self.journal.recorded(&call.key.mark("started"));
        let Some(RunEvent::ModelCallStarted {
            input_hash: before,
            request,
            ..
        }) = recorded.as_deref()
        else {
            return Ok(None);
        };
        if before != input_hash {
            return Err(history_differs("question", &call.key.mark("started")));
        }
        let value = self.journal.value(request).await?;
        let mut request: LlmRequest = serde_json::from_value(value).map_err(unreadable)?;
        request.key = call.key.clone();
        Ok(Some(request))
    }

    async fn begin(&self, call: &ModelCall, input_hash: Hash) -> Outcome<()> {
        let mut artifacts = Vec::new();
        let value = serde_json::to_value(&call.request).unwrap_or_default();
        let request = match Self::name_value("llm-input", &value, &mut artifacts) {
            Ok(named) => named,
            Err(error) => return Ok(Err(error)),
        };
        let event = RunEvent::ModelCallStarted {
            cycle: call.cycle,
            purpose: call.purpose,
            step: call.step.clone(),
            model: call.model.clone(),
            input_hash,
            request,
            prompt_hash: call.prompt_hash.clone(),
        };
        self.journal
            .record_all(vec![(call.key.mark("started"), event)], artifacts, Durability::Commit)
            .await?;
        Ok(Ok(()))
    }

    /// Counts a call that was under way when the app or the run ended, as if all of its question had been read: it may
    /// have been billed (kernel page, "Journal"). One whose last attempt is known left nothing open.
    async fn count_dangling(&self, call: &ModelCall, request: &LlmRequest) -> Result<(), Halt> {
        let key = &call.key;
        let n = self.journal.count(0, |n| keys::model_attempt(key, n));
        let last = n.checked_sub(1).map(|last| keys::model_attempt(key, last));
        let last = last.and_then(|last| self.journal.recorded(&last));
        if let Some(RunEvent::ModelAttempted { attempt }) = last.as_deref()
            && matches!(attempt.status, AttemptStatus::Success | AttemptStatus::Error)
        {
            return Ok(());
        }
        let usage = estimate::of_request(request);
        self.count_reported(&call.model, &usage);
        let attempt = LlmAttempt {
            attempt: n,
            status: AttemptStatus::Interrupted,
            usage: Some(usage),
            ..LlmAttempt::default()
        };
        self.journal
            .record(keys::model_attempt(key, n), RunEvent::ModelAttempted { attempt })
            .await?;
        Ok(())
    }

    /// Sends a question, and records what came of it; with what is recorded next, when more is (`goes_on`).
    async fn send(&self, call: &ModelCall, request: LlmRequest) -> Outcome<ModelAnswer> {
        let key = &call.key;
        let started_at_ms = self.world.clock.now_ms();
        let first_attempt = self.journal.count(0, |n| keys::model_attempt(key, n));
        let (attempts, mut reported) = mpsc::unbounded();
        let place = self.journal.at(key);
        let sink = LeafSink {
            driver: self,
            key: &place,
            model: &call.model,
            instead: Mutex::default(),
            attempts,
        };
        let asked = AssertUnwindSafe(self.complete(call, request.clone(), &sink)).catch_unwind();
        let mut work = std::pin::pin!(self.or_stop(asked));
        let mut count = first_attempt;
        let mut uncounted: Option<(u32, LlmAttempt)> = None;
        // Attempts are recorded while the call goes on: a wait of two minutes must be visible.
        let ended = loop {
            match select(work.as_mut(), reported.next()).await {
                Either::Left((ended, _)) => break ended,
                Either::Right((Some(attempt), _)) => {
                    if estimate::is_uncounted(&attempt) {
                        uncounted = Some((count, attempt));
                    } else {
                        self.journal
                            .record(keys::model_attempt(key, count), RunEvent::ModelAttempted { attempt })
                            .await?;
                    }
                    count += 1;
                }
                Either::Right((None, _)) => break work.as_mut().await,
            }
        };
        let mut entries = Vec::new();
        while let Ok(attempt) = reported.try_recv() {
            if estimate::is_uncounted(&attempt) {
                uncounted = Some((count, attempt));
            } else {
                entries.push((keys::model_attempt(key, count), RunEvent::ModelAttempted { attempt }));
            }
            count += 1;
        }
        let mut outcome = match ended {
            Ok(Ok(Ok(response))) => Ok(response),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(panic)) => Err(broke_down("the model's connector", panic.as_ref())),
            Err(halt) => {
                let Some(error) = self.interruption(&halt) else {
                    return Err(halt);
                };
                let error = Some(error);
                if let Some((n, mut attempt)) = uncounted {
                    attempt.usage = Some(estimate::of_request(&request));
                    entries.push((keys::model_attempt(key, n), RunEvent::ModelAttempted { attempt }));
                }
                let event = RunEvent::ModelCallFinished {
                    response: None,
                    error,
                    duration_ms: self.since(started_at_ms),
                };
                entries.push((keys::halted(key, self.reopened), event));
                self.journal.record_all(entries, Vec::new(), Durability::Commit).await?;
                return Err(halt);
            }
        };
        // A server that does not say what it used is guessed at, so that the budget binds all the same.
        if let Some((n, mut attempt)) = uncounted {
            let mut usage = estimate::of_request(&request);
            if let Ok(response) = &mut outcome {
                usage.output = estimate::of_response(response);
                response.usage = usage;
            }
            attempt.usage = Some(usage);
            self.count_reported(attempt.asked(&call.model), &usage);
            entries.push((keys::model_attempt(key, n), RunEvent::ModelAttempted { attempt }));
        }
        let mut artifacts = Vec::new();
        let outcome = outcome.and_then(|response| Ok((name_response(&response, &mut artifacts)?, response)));
        let (response, error) = match &outcome {
            Ok((named, response)) => (Some(LlmResponseRef::of(response, named.clone())), None),
            Err(error) => (None, Some(error.clone())),
        };
        let event = RunEvent::ModelCallFinished {
            response,
            error,
            duration_ms: self.since(started_at_ms),
        };
        entries.push((key.clone(), event));
        match call.goes_on {
            true => self.journal.record_paid_with_next(entries, artifacts),
            false => self.journal.record_all(entries, artifacts, Durability::Commit).await?,
        }
        Ok(outcome.map(|(_, response)| ModelAnswer { request, response }))
    }

    /// Milliseconds since then; none pass backwards when the clock is set.
    pub(crate) fn since(&self, then_ms: i64) -> u64 {
        u64::try_from(self.world.clock.now_ms() - then_ms).unwrap_or(0)
    }
}

fn name_response(response: &LlmResponse, artifacts: &mut Vec<Artifact>) -> Result<ValueRef, StepError> {
    let value = serde_json::to_value(response).unwrap_or_default();
    Driver::name_value("llm-output", &value, artifacts)
}

fn unreadable(error: serde_json::Error) -> Halt {
    Halt::Journal(contract::ports::journal::JournalError::Corrupted(error.to_string()))
}

/// The address of a leaf's meaning: what is done, by which model, to which inputs.
pub(super) fn hash_of(definition: &Value, model: &str, inputs: &BTreeMap<String, Hash>) -> Result<Hash, StepError> {
    Hash::of_value(&json!({ "definition": definition, "model": model, "inputs": inputs }))
        .map_err(|error| StepError::new(code::INPUT_VALIDATION, error.to_string()))
}

/// Where the attempts and pieces of one call go.
pub(super) struct LeafSink<'a> {
    driver: &'a Driver,
    key: &'a Key,
    /// `provider:model`.
    model: &'a str,
    /// What is asked in its place, from the time on at which it is.
    pub(super) instead: Mutex<Option<Instead>>,
    attempts: mpsc::UnboundedSender<LlmAttempt>,
}

impl Sink for LeafSink<'_> {
    fn delta(&self, delta: Delta) {
        let driver = self.driver;
        driver.world.watcher.delta(driver.journal.run(), self.key, &delta);
    }

    fn attempt(&self, attempt: LlmAttempt) {
        let instead = self.instead.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let attempt = LlmAttempt { instead, ..attempt };
        if let Some(usage) = &attempt.usage {
            self.driver.count_reported(attempt.asked(self.model), usage);
        }
        // The receiver lives as long as the call.
        let _ = self.attempts.unbounded_send(attempt);
    }
}
