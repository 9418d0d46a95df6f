//! The app: all rooms wired together, in the one place where that happens.

use std::path::PathBuf;
use std::sync::Arc;

use contract::AppError;
use contract::access::key_stores;
use contract::ports::check::Check;
use contract::ports::clock::Clock;
use contract::ports::documents::Documents;
use contract::ports::hook::Hook;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::LlmProvider;
use contract::ports::search::Search;
use contract::ports::tool::Tool;
use contract::ports::web::Web;
use contract::secret::KeyStore;
use engine::Registry;
use sandbox::Sandbox;
use secrets::{Keychain, MemoryStore};
use store::Store;
use tokio::task::AbortHandle;

use crate::accounts::Gates;
use crate::active_runs::ActiveRuns;
use crate::announced_journal::AnnouncedJournal;
use crate::approvals::Approvals;
use crate::clock::SystemClock;
use crate::commands::settings::Endpoint;
use crate::config::{Config, KeyPlace, Pace};
use crate::error::ToAppError;
use crate::event_log::{EventLog, Signal, Signals};
use crate::handed::Handed;
use crate::key_ring::KeyRing;
use crate::paths::Places;
use crate::searching::SearchDesk;
use crate::servers;

/// The app, opened. Cheap to clone; clones are the same app.
#[derive(Clone)]
pub struct App {
    pub(crate) rooms: Arc<Rooms>,
}

/// The rooms of the app.
pub(crate) struct Rooms {
    pub(crate) places: Places,
    pub(crate) store: Store,
    pub(crate) webview: Option<String>,
    pub(crate) handed: Handed,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) keys: KeyRing,
    pub(crate) events: Arc<EventLog>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) active: ActiveRuns,
    pub(crate) people: Arc<dyn People>,
    pub(crate) providers: Vec<Arc<dyn LlmProvider>>,
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) gates: Gates,
    pub(crate) documents: Arc<dyn Documents>,
    pub(crate) tools: Registry<dyn Tool>,
    pub(crate) search: Arc<dyn Search>,
    /// What carries out the effects that tasks bring by themselves.
    pub(crate) own_tools: Registry<dyn Tool>,
    pub(crate) servers: Arc<mcp::Servers>,
    pub(crate) checks: Registry<dyn Check>,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pace: Pace,
    /// Brings the list of runs up to date that an earlier version of the app kept.
    refreshing: AbortHandle,
}

impl App {
    /// Opens the app on its data folder, making it if there is none. Nothing is driven by itself: a run that was
    /// interrupted waits to be continued.
    pub async fn open(config: Config) -> Result<Self, AppError> {
        secrets::core_dumps::forbid();
        let places = Places::find(config.data_folder)?;
        let store = Store::open(&places.data).await.map_err(ToAppError::to_app_error)?;
        let events = Arc::new(EventLog::default());
        let approvals = Arc::new(Approvals::default());
        let stored: Arc<dyn Journal> = Arc::new(store.clone());
        let journal = config.journal.map_or(Arc::clone(&stored), |decorate| decorate(stored));
        let keeper = config.keeper.unwrap_or_else(Sandbox::this_program);
        let sandbox = Arc::new(Sandbox::new(keeper.clone(), never_reached(&places)));
        let keys = key_ring(config.keys, config.keychain);
        let servers = servers::of(
            &store,
            &keys,
            Arc::clone(&sandbox),
            places.data.join("logs").join("mcp"),
        );
        let web: Arc<dyn Web> = Arc::new(web::Guard::default());
        let search: Arc<dyn Search> = Arc::new(SearchDesk {
            store: store.clone(),
            keys: keys.clone(),
            web: Arc::clone(&web),
        });
        let doors = tools::Doors {
            commands: sandbox,
            web,
            search: Arc::clone(&search),
        };
        let rooms = Rooms {
            places,
            refreshing: refresh(store.clone(), Arc::clone(&events)),
            store,
            webview: config.webview,
            handed: Handed::default(),
            journal: Arc::new(AnnouncedJournal {
                journal,
                events: Arc::clone(&events),
            }),
            keys,
            events,
            people: config.people.unwrap_or_else(|| Arc::clone(&approvals) as _),
            approvals,
            active: ActiveRuns::default(),
            providers: config.providers,
            endpoint: config.endpoint,
            gates: Gates::default(),
            documents: Arc::new(documents::Reader::new(keeper)),
            servers: Arc::new(servers),
            tools: Registry::of_tools(tools::with(&doors).into_iter().chain(config.tools).collect()),
            search,
            own_tools: Registry::of_tools(tools::of_tasks(&doors)),
            checks: Registry::of_checks(checks::all()),
            hooks: config.hooks,
            clock: config.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            pace: config.pace,
        };
        Ok(Self { rooms: Arc::new(rooms) })
    }

    /// Hears everything from now on.
    pub fn signals(&self) -> Signals {
        self.rooms.events.subscribe()
    }

    /// The data folder.
    pub fn data_folder(&self) -> &std::path::Path {
        &self.rooms.places.data
    }

    /// Leaves every run where it stands, and returns when everything is written.
    pub async fn close(&self) -> Result<(), AppError> {
        self.rooms.active.leave_all().await;
        self.rooms.servers.end_all();
        self.rooms.refreshing.abort();
        self.rooms.store.close().await.map_err(ToAppError::to_app_error)
    }
}

/// How many runs are brought up to date before lists are told.
const AT_ONCE: u32 = 50;

/// Beside everything else: nobody waits for it, and it goes on where it was when the app is opened again.
fn refresh(store: Store, events: Arc<EventLog>) -> AbortHandle {
    let refreshing = tokio::spawn(async move {
        loop {
            match store.refresh_runs(AT_ONCE).await {
                Ok(0) => break,
                Ok(_) => events.say(Signal::RunsChanged),
                Err(error) => {
                    tracing::warn!(%error, "the list of runs is not up to date yet");
                    break;
                }
            }
        }
    });
    refreshing.abort_handle()
}

/// What no tool and no command may reach, whatever was granted: the app's own data, and where people keep their keys.
pub(crate) fn never_reached(places: &Places) -> Vec<PathBuf> {
    let keys = dirs::home_dir()
        .map(|home| key_stores::of_home(&home))
        .unwrap_or_default();
    let real = |place: PathBuf| place.canonicalize().unwrap_or(place);
    std::iter::once(places.data.clone()).chain(keys).map(real).collect()
}

fn key_ring(place: KeyPlace, instead: Option<Arc<dyn KeyStore>>) -> KeyRing {
    let session: Arc<dyn KeyStore> = Arc::new(MemoryStore::default());
    let lasting: Arc<dyn KeyStore> = match (instead, place) {
        (Some(instead), _) => instead,
        (None, KeyPlace::Keychain) => Arc::new(Keychain::default()),
        (None, KeyPlace::Memory) => Arc::clone(&session),
    };
    KeyRing { lasting, session }
}
