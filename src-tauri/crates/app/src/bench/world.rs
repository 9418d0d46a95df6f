//! The world of a workload's run: one model server, the journal and the signals that every run of the app has, and
//! nothing else.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use contract::ids::{Key, RunId};
use contract::llm::{LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use engine::{Registry, World};
use futures::future::pending;
use providers::openai_compatible::{NAME, OpenAiCompatible};
use tokio_util::sync::CancellationToken;

use crate::announced_journal::AnnouncedJournal;
use crate::bench::workload::step_of;
use crate::event_log::EventLog;
use crate::missing_folder::MissingFolder;

/// What all runs of a workload share.
pub(super) struct Shared {
    server: Arc<OpenAiCompatible>,
    journal: Arc<dyn Journal>,
    events: Arc<EventLog>,
    clock: Arc<dyn Clock>,
    said: Arc<Said>,
}

/// What the server said so far.
#[derive(Default)]
struct Said {
    answers: AtomicU32,
    /// Cancelled by the first refusal.
    refused: CancellationToken,
    why: Mutex<Option<LlmError>>,
}

impl Said {
    fn note(&self, error: LlmError) {
        self.why
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.refused.cancel();
    }
}

impl Shared {
    pub(super) fn new(server: OpenAiCompatible, journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        let events = Arc::new(EventLog::default());
        Self {
            server: Arc::new(server),
            journal: Arc::new(AnnouncedJournal {
                journal,
                events: Arc::clone(&events),
            }),
            events,
            clock,
            said: Arc::default(),
        }
    }

    /// How many steps were answered.
    pub(super) fn answered(&self) -> u32 {
        self.said.answers.load(Ordering::Relaxed)
    }

    /// Returns when the server has given no answer to a step, with the reason.
    pub(super) async fn refused(&self) -> Option<LlmError> {
        self.said.refused.cancelled().await;
        self.said.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The world of the run of this number.
    pub(super) fn of_run(&self, run: u32) -> World {
        World {
            journal: Arc::clone(&self.journal),
            providers: vec![Arc::new(Labelled {
                server: Arc::clone(&self.server),
                said: Arc::clone(&self.said),
                run,
            })],
            tools: Registry::of_tools(Vec::new()),
            own_tools: Registry::of_tools(Vec::new()),
            checks: Registry::of_checks(Vec::new()),
            hooks: Vec::new(),
            files: Arc::new(MissingFolder(String::new())),
            clock: Arc::clone(&self.clock),
            people: Arc::new(Nobody),
            watcher: Arc::clone(&self.events) as _,
        }
    }
}

/// Says with each request which step asks, and of which run. A server that gives no answer leaves the call open: the
/// run is left where it stands, and the next start asks again.
struct Labelled {
    server: Arc<OpenAiCompatible>,
    said: Arc<Said>,
    run: u32,
}

#[async_trait]
impl LlmProvider for Labelled {
    fn name(&self) -> &str {
        NAME
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let headers = [
            ("x-step", step_of(&request.key).unwrap_or_default()),
            ("x-run", format!("r{}", self.run)),
        ];
        match self.server.complete_under(request, &headers, sink).await {
            Ok(response) => {
                self.said.answers.fetch_add(1, Ordering::Relaxed);
                Ok(response)
            }
            Err(error) => {
                self.said.note(error);
                pending().await
            }
        }
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        self.server.models().await
    }
}

/// Nobody is asked anything.
struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}
