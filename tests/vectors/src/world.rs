//! A run to drive: a real store in a folder of its own, and nobody else.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ids::{Key, RunId};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::people::People;
use engine::kernel::Driver;
use engine::{Registry, Unwatched, World};
use serde_json::json;
use store::Store;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Waits for a future on a runtime of its own.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    use std::sync::OnceLock;
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let built = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        #[allow(clippy::panic, reason = "without a runtime no vector can be run")]
        built.unwrap_or_else(|error| panic!("no runtime: {error}"))
    });
    runtime.block_on(future)
}

/// A store with one run in it; gone when it is dropped.
pub struct Place {
    _folder: TempDir,
    world: World,
    run: RunId,
}

impl Place {
    /// A run that has just begun.
    ///
    /// # Errors
    /// The store cannot be made.
    pub async fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let work = folder.path().join("work");
        std::fs::create_dir(&work).map_err(|error| error.to_string())?;
        let store = Store::open(&folder.path().join("data"))
            .await
            .map_err(|error| error.to_string())?;
        let world = World {
            journal: Arc::new(store),
            providers: Vec::new(),
            tools: Registry::of_tools(Vec::new()),
            own_tools: Registry::of_tools(Vec::new()),
            checks: Registry::of_checks(Vec::new()),
            hooks: Vec::new(),
            files: Arc::new(workspace::Folder::open(&work).map_err(|error| error.to_string())?),
            clock: Arc::new(Still),
            people: Arc::new(Nobody),
            watcher: Arc::new(Unwatched),
        };
        let header = json!({
            "task": { "goal": "run vectors", "expectedOutput": [] }, "title": "vectors",
            "envelope": { "folder": work, "write": false, "maxTokens": 1000, "maxCycles": 1 },
            "roles": { "planner": "", "judge": "", "executorLow": "", "executorHigh": "" },
            "hooks": [], "recording": null, "appVersion": "0",
        });
        let header = serde_json::from_value(header).map_err(|error| error.to_string())?;
        let run = RunId::new("vectors");
        engine::start(world.journal.as_ref(), &run, header, 0)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Self {
            _folder: folder,
            world,
            run,
        })
    }

    /// The outside world of the run.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Opens the run to drive it, as after a restart: only the journal is known.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub async fn driver(&self) -> Result<Driver, String> {
        let opened = Driver::open(&self.run, &self.world, &CancellationToken::new()).await;
        opened.map_err(|error| error.to_string())
    }
}

/// Time stands still.
pub struct Still;

#[async_trait]
impl Clock for Still {
    fn now_ms(&self) -> i64 {
        0
    }

    async fn sleep(&self, _duration: std::time::Duration) {
        std::future::pending::<()>().await;
    }
}

/// Nobody is there; questions wait.
pub struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}
