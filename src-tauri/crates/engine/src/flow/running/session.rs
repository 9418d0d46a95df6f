//! Calling a flow (seed *latent-pipeline-agents*, "Calling Conventions"): once with a conversation,
//! again and again in one, or each time anew. Only the messages last; the state never does.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use contract::event::RunEventRecord;
use contract::flow::ChatMessage;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::llm::Delta;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::run::RunHeader;
use contract::value_ref::Artifact;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::FlowOutcome;
use super::events::{FlowEvent, FlowEvents};
use crate::driving;
use crate::kernel::driver::Halt;
use crate::world::{Watcher, World};

/// A flow that is called, with the conversation so far.
pub struct Session {
    header: RunHeader,
    messages: Vec<ChatMessage>,
}

impl Session {
    /// A conversation with the flow of this header, from its beginning.
    pub fn new(header: RunHeader) -> Self {
        Self {
            header,
            messages: Vec::new(),
        }
    }

    /// The conversation so far.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Runs the flow once with this conversation, under a new run's id.
    ///
    /// # Errors
    /// What halted the drive; a failure of the flow is in the outcome.
    pub async fn run(
        &self,
        world: &World,
        run: &RunId,
        messages: Vec<ChatMessage>,
        stop: &CancellationToken,
    ) -> Result<FlowOutcome, Halt> {
        let mut header = self.header.clone();
        if let Some(flow) = &mut header.flow {
            flow.messages = messages;
        }
        driving::start(world.journal.as_ref(), run, header, world.clock.now_ms()).await?;
        driving::drive_flow(run, world, stop).await
    }

    /// Says something, and keeps what was said and answered.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn ask(
        &mut self,
        world: &World,
        run: &RunId,
        text: &str,
        stop: &CancellationToken,
    ) -> Result<FlowOutcome, Halt> {
        let mut messages = self.messages.clone();
        messages.push(ChatMessage::user(text));
        let outcome = self.run(world, run, messages.clone(), stop).await?;
        // A failed answer is none: the next question is asked as if this one had not been.
        if let Some(text) = answer(&outcome) {
            messages.push(ChatMessage::assistant(text));
            self.messages = messages;
        }
        Ok(outcome)
    }

    /// Says something as if nothing had been said before, for evaluation; the conversation is forgotten.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn call(
        &mut self,
        world: &World,
        run: &RunId,
        text: &str,
        stop: &CancellationToken,
    ) -> Result<FlowOutcome, Halt> {
        self.messages.clear();
        self.run(world, run, vec![ChatMessage::user(text)], stop).await
    }

    /// Runs the flow once, and tells each event as soon as it is in the journal, and the words of models as they come.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn stream(
        &self,
        world: &World,
        run: &RunId,
        messages: Vec<ChatMessage>,
        stop: &CancellationToken,
        hear: impl Fn(FlowEvent) + Send + Sync + 'static,
    ) -> Result<FlowOutcome, Halt> {
        let told = Arc::new(Told {
            events: Mutex::default(),
            hear: Box::new(hear),
        });
        let world = World {
            journal: Arc::new(Telling {
                journal: Arc::clone(&world.journal),
                told: Arc::clone(&told),
            }),
            watcher: Arc::new(Listening {
                watcher: Arc::clone(&world.watcher),
                told,
            }),
            ..world.clone()
        };
        self.run(&world, run, messages, stop).await
    }
}

fn answer(outcome: &FlowOutcome) -> Option<String> {
    match (&outcome.text, &outcome.error) {
        (Some(text), _) => Some(text.clone()),
        (None, None) => Some(super::prepared::text_of(&outcome.output)),
        (None, Some(_)) => None,
    }
}

/// Events, and who hears them.
struct Told {
    events: Mutex<FlowEvents>,
    hear: Box<dyn Fn(FlowEvent) + Send + Sync>,
}

/// A journal that tells what was written to it.
struct Telling {
    journal: Arc<dyn Journal>,
    told: Arc<Told>,
}

/// Hears what models say while they say it.
struct Listening {
    watcher: Arc<dyn Watcher>,
    told: Arc<Told>,
}

impl Watcher for Listening {
    fn advanced(&self, run: &RunId, seq: u64) {
        self.watcher.advanced(run, seq);
    }

    fn delta(&self, run: &RunId, key: &Key, delta: &Delta) {
        self.watcher.delta(run, key, delta);
        if let Delta::Text { text } = delta {
            let mut events = self.told.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.say(key, text).into_iter().for_each(&self.told.hear);
        }
    }
}

#[async_trait]
impl Journal for Telling {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let kept = artifacts.clone();
        self.journal
            .append(run, first_seq, entries.clone(), artifacts, durability)
            .await?;
        let value = |named: &contract::ValueRef| {
            let artifact = kept.iter().find(|artifact| artifact.hash == named.hash)?;
            serde_json::from_slice::<Value>(&artifact.bytes).ok()
        };
        let mut events = self.told.events.lock().unwrap_or_else(PoisonError::into_inner);
        for (entry, seq) in entries.into_iter().zip(first_seq..) {
            let record = RunEventRecord {
                run_id: run.clone(),
                seq,
                at_ms: entry.at_ms,
                key: entry.key,
                event: Arc::unwrap_or_clone(entry.event),
            };
            events.take(&record, &value).into_iter().for_each(&self.told.hear);
        }
        Ok(())
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal.artifact(hash).await
    }
}
