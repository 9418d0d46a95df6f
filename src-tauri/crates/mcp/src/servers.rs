//! The servers that are at work, each started when it is first needed, and called through here.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use contract::server_tool::ServerTool;
use sandbox::Sandbox;
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::definition::{self, ToolChange};
use crate::error::McpError;
use crate::log::Log;

/// How long a person waits for a server that they look at: packages may have to be fetched first.
const LOOKING: Duration = Duration::from_secs(120);

/// A server with everything that belongs to it.
pub struct Server {
    /// How it is reached.
    pub config: ServerConfig,
    /// Its values by name.
    pub values: BTreeMap<String, SecretString>,
}

/// Where servers are kept.
#[async_trait]
pub trait Book: Send + Sync {
    /// A server by its name, to be started.
    ///
    /// # Errors
    /// `Unknown` when there is none, `NotReady` when what belongs to it cannot be read.
    async fn server(&self, name: &str) -> Result<Server, McpError>;

    /// Its tools as a person approved them; none when nobody did.
    ///
    /// # Errors
    /// `Unknown` when there is none.
    async fn approved(&self, name: &str) -> Result<Option<Vec<ServerTool>>, McpError>;
}

/// What came of looking at a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// What it offers.
    pub offered: Vec<ServerTool>,
    /// The names of what it offers that cannot be used: too large, not an object, more than 200.
    pub left_out: Vec<String>,
    /// The version of the protocol that both speak.
    pub protocol: String,
}

/// How a server stands, as far as this process knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Whether it is at work now.
    pub running: bool,
    /// Why it could not be talked to when that was last tried.
    pub problem: Option<McpError>,
    /// What it offered when it was last listed.
    pub offered: Option<Arc<Vec<ServerTool>>>,
    /// The last lines that it said about itself.
    pub log: Vec<String>,
}

/// One server's place: the talk that is open or being opened, and what is known of it.
#[derive(Default)]
struct Place {
    talk: Arc<OnceCell<Arc<Connection>>>,
    problem: Option<McpError>,
    offered: Option<Arc<Vec<ServerTool>>>,
    log: Log,
    /// Whether a step called it since it was started.
    is_called: bool,
    /// Cancelled when the person who looks at it does not want to wait any more.
    leave: CancellationToken,
}

/// The servers of an app.
pub struct Servers {
    book: Arc<dyn Book>,
    sandbox: Arc<Sandbox>,
    logs: PathBuf,
    places: Mutex<HashMap<String, Place>>,
}

impl Servers {
    /// Servers of which none is at work. `logs` is the folder of their logs.
    pub fn new(book: Arc<dyn Book>, sandbox: Arc<Sandbox>, logs: PathBuf) -> Self {
        Self {
            book,
            sandbox,
            logs,
            places: Mutex::default(),
        }
    }

    /// Starts a server if it is not at work, and says what it offers. Nothing is approved by that.
    pub async fn look(&self, name: &str) -> Result<Look, McpError> {
        let looking = async {
            let connection = self.connected(name).await?;
            let offered = self.offered(name, &connection).await?;
            Ok(Look {
                offered: offered.to_vec(),
                left_out: connection.left_out.clone(),
                protocol: connection.protocol.clone(),
            })
        };
        let left = self.place(name).2;
        tokio::select! {
            looked = timeout(LOOKING, looking) => match looked {
                Ok(looked) => looked,
                Err(_) => Err(self.timed_out(name, LOOKING).await),
            },
            () = left.cancelled() => Err(McpError::Left(name.to_owned())),
        }
    }

    /// Waits no more for a server that is looked at. A step that calls it goes on.
    pub fn leave(&self, name: &str) {
        if let Some(place) = self.places().get_mut(name) {
            std::mem::take(&mut place.leave).cancel();
        }
    }

    /// Ends a server that was looked at, unless a step has called it since it was started.
    pub fn end_unless_called(&self, name: &str) {
        if let Some(place) = self.places().get_mut(name).filter(|place| !place.is_called) {
            place.end();
        }
    }

    /// Calls a tool as a run knows it, within a time. The server is started if it is not at work. Nothing is called when
    /// anything that it offers is not as it was approved.
    pub async fn call(&self, tool: &ServerTool, args: Map<String, Value>, limit: Duration) -> Result<Value, McpError> {
        let name = tool.server.as_str();
        let calling = async {
            // What nobody approved is not even started.
            let approved = self.book.approved(name).await?;
            let approved = approved.ok_or_else(|| McpError::NotApproved(name.to_owned()))?;
            self.is_called(name);
            // A server that went away since the last call is started again; one that goes away during it is not.
            let connection = self.connected(name).await?;
            let offered = self.offered(name, &connection).await?;
            if !definition::changes(&approved, &offered).is_empty() {
                return Err(McpError::Changed(name.to_owned()));
            }
            if !offered
                .iter()
                .any(|offer| offer.tool == tool.tool && offer.hash == tool.hash)
            {
                return Err(McpError::NotOfThisRun {
                    server: name.to_owned(),
                    tool: tool.tool.clone(),
                });
            }
            connection.call(&tool.tool, args).await
        };
        match timeout(limit, calling).await {
            Ok(done) => done,
            // Let go of, the call tells the server that nobody waits for it any more.
            Err(_) => Err(self.timed_out(name, limit).await),
        }
    }

    /// How a server stands.
    pub fn standing(&self, name: &str) -> Standing {
        let places = self.places();
        let Some(place) = places.get(name) else {
            return Standing::default();
        };
        Standing {
            running: place.talk.get().is_some_and(|talk| !talk.is_closed()),
            problem: place.problem.clone(),
            offered: place.offered.clone(),
            log: place.log.tail(40),
        }
    }

    /// What is not as it was approved, of what was listed last.
    pub fn changes(&self, name: &str, approved: &[ServerTool]) -> Vec<ToolChange> {
        let offered = self.places().get(name).and_then(|place| place.offered.clone());
        offered.map_or(Vec::new(), |offered| definition::changes(approved, &offered))
    }

    /// Ends a server if it is at work.
    pub fn end(&self, name: &str) {
        if let Some(place) = self.places().get_mut(name) {
            place.end();
        }
    }

    /// Ends a server, and forgets all that is known of it.
    pub fn forget(&self, name: &str) {
        self.end(name);
        self.places().remove(name);
    }

    /// Ends all that are at work.
    pub fn end_all(&self) {
        self.places().values_mut().for_each(Place::end);
    }

    /// Others may be in the middle of calls that it works on: only a server that does not say either that it is there is
    /// ended, and the next call begins anew.
    async fn timed_out(&self, name: &str, limit: Duration) -> McpError {
        let talk = self.places().get(name).map(|place| Arc::clone(&place.talk));
        if let Some(talk) = talk
            && let Some(connection) = talk.get()
            && !connection.is_there().await
        {
            self.end_talk(name, &talk);
        }
        let error = McpError::TimedOut {
            server: name.to_owned(),
            seconds: limit.as_secs(),
        };
        self.note(name, Some(error.clone()));
        error
    }

    /// Ends this talk with a server, if it has not been followed by another one.
    fn end_talk(&self, name: &str, talk: &Arc<OnceCell<Arc<Connection>>>) {
        let mut places = self.places();
        if let Some(place) = places.get_mut(name).filter(|place| Arc::ptr_eq(&place.talk, talk)) {
            place.end();
        }
    }

    fn is_called(&self, name: &str) {
        let _ = self.place(name);
        if let Some(place) = self.places().get_mut(name) {
            place.is_called = true;
        }
    }

    /// The open talk with a server, or a new one. Several who want it wait for one and the same.
    async fn connected(&self, name: &str) -> Result<Arc<Connection>, McpError> {
        let (talk, log, _) = self.place(name);
        let opening = async {
            let opened = match self.book.server(name).await {
                Ok(server) => Connection::open(&server.config, &server.values, &self.sandbox, log).await,
                Err(error) => Err(error),
            };
            self.note(name, opened.as_ref().err().cloned());
            opened.map(Arc::new)
        };
        talk.get_or_try_init(|| opening).await.map(Arc::clone)
    }

    async fn offered(&self, name: &str, connection: &Connection) -> Result<Arc<Vec<ServerTool>>, McpError> {
        let offered = connection.offered().await?;
        if let Some(place) = self.places().get_mut(name) {
            place.offered = Some(Arc::clone(&offered));
        }
        Ok(offered)
    }

    fn note(&self, name: &str, problem: Option<McpError>) {
        if let Some(place) = self.places().get_mut(name) {
            place.problem = problem;
        }
    }

    /// A server's cell; a new one when its talk is over.
    fn place(&self, name: &str) -> (Arc<OnceCell<Arc<Connection>>>, Log, CancellationToken) {
        let mut places = self.places();
        let place = places.entry(name.to_owned()).or_insert_with(|| Place {
            log: Log::at(self.logs.join(format!("{name}.log"))),
            ..Place::default()
        });
        if place.talk.get().is_some_and(|talk| talk.is_closed()) {
            place.talk = Arc::default();
        }
        (Arc::clone(&place.talk), place.log.clone(), place.leave.clone())
    }

    fn places(&self) -> MutexGuard<'_, HashMap<String, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn end(&mut self) {
        if let Some(talk) = self.talk.get() {
            talk.end();
        }
        self.is_called = false;
        self.talk = Arc::default();
    }
}
