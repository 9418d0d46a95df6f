//! One talk with a server: begun in the newest way that both know, its tools listed, its tools called.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::server_tool::ServerTool;
use http::{HeaderName, HeaderValue};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, PingRequest, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use sandbox::program::Ending;
use sandbox::{Program, Sandbox};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::{Launch, ServerConfig};
use crate::definition::{self, Offered};
use crate::error::McpError;
use crate::hidden;
use crate::lines::Lines;
use crate::log::Log;
use crate::result;

/// The longest message of a server that is read, in bytes; `McpError::TooLong` names it.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// How many pages of tools are asked for.
const PAGES: usize = 50;
/// How long one that ended is given to say how.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long a server may take to say that it is there.
const IS_THERE: Duration = Duration::from_secs(5);

/// The version that is asked for where a server does not know the newest way of beginning.
const PREVIOUS: ProtocolVersion = ProtocolVersion::LATEST_WITH_INITIALIZE;

/// An open talk. Dropped, it ends, and the program with it.
pub(crate) struct Connection {
    server: String,
    service: RunningService<RoleClient, Ear>,
    /// What it offers that can be used, as it was listed last.
    offered: Mutex<Arc<Vec<ServerTool>>>,
    /// The names of what it offers besides.
    pub(crate) left_out: Vec<String>,
    /// The version of the protocol that both speak.
    pub(crate) protocol: String,
    stale: Arc<AtomicBool>,
    log: Log,
    program: Mutex<Option<Ending>>,
    reading: Option<JoinHandle<()>>,
    /// Whether it said a line that is longer than any.
    said_too_much: Arc<AtomicBool>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(reading) = &self.reading {
            reading.abort();
        }
    }
}

/// What hears the server between its answers. It offers the server nothing: no model, no folders, no questions.
struct Ear {
    stale: Arc<AtomicBool>,
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("tepa-desktop", env!("CARGO_PKG_VERSION")).with_title("Tepa Desktop");
        ClientConfig::new(ClientCapabilities::default(), own).with_protocol_version(PREVIOUS)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::SeqCst);
    }
}

/// A header, when it can be one.
pub(crate) fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

impl Connection {
    /// Begins a talk and lists what there is. A server that cannot be begun with in the newest way is begun with anew in
    /// the one before.
    pub(crate) async fn open(
        config: &ServerConfig,
        values: &BTreeMap<String, SecretString>,
        sandbox: &Sandbox,
        log: Log,
    ) -> Result<Self, McpError> {
        log.hide(values.values());
        log.say(&format!("-- starting {}", config.name));
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(PREVIOUS),
        };
        let first = Self::begin(config, values, sandbox, &log, newest).await;
        let opened = match first {
            Err(Begun::Failed(_)) => {
                log.say("-- it did not begin; trying the way of older versions");
                Self::begin(config, values, sandbox, &log, ClientLifecycleMode::Initialize).await
            }
            done => done,
        };
        match opened {
            Ok(connection) => Ok(connection),
            Err(Begun::Failed(error) | Begun::Final(error)) => {
                log.say(&format!("-- {error}"));
                Err(error)
            }
        }
    }

    async fn begin(
        config: &ServerConfig,
        values: &BTreeMap<String, SecretString>,
        sandbox: &Sandbox,
        log: &Log,
        how: ClientLifecycleMode,
    ) -> Result<Self, Begun> {
        let stale = Arc::new(AtomicBool::new(false));
        let ear = Ear {
            stale: Arc::clone(&stale),
        };
        let server = config.name.clone();
        let (service, program, reading, said_too_much) = match &config.launch {
            Launch::Program {
                command,
                args,
                folder,
                variables,
                ..
            } => {
                let program = Program {
                    program: command.clone(),
                    args: args.iter().map(|word| hidden::filled(word, values)).collect(),
                    variables: exposed(values, variables).collect(),
                    folder: folder.clone().unwrap_or_else(home),
                };
                let talk = sandbox.talk(program).await.map_err(|error| {
                    Begun::Final(McpError::NotStarted {
                        server: server.clone(),
                        reason: error.to_string(),
                    })
                })?;
                let reading = tokio::spawn(log.clone().read(talk.errors));
                let output = Lines::new(talk.output, LONGEST_MESSAGE);
                let said_too_much = Arc::clone(&output.is_over);
                let transport = AsyncRwTransport::new(output, talk.input).with_max_line_length(LONGEST_MESSAGE);
                match ear.serve_with_lifecycle(transport, how).await {
                    Ok(service) => (service, Some(talk.ending), Some(reading), said_too_much),
                    Err(_) if said_too_much.load(Ordering::SeqCst) => {
                        return Err(Begun::Final(McpError::TooLong(server)));
                    }
                    Err(error) => return Err(not_begun(&server, &error, Some((talk.ending, reading)), log).await),
                }
            }
            Launch::Address { url, headers, .. } => {
                let url = hidden::filled(url, values);
                let client = web::client_of(&url).map_err(|error| {
                    Begun::Final(McpError::NotReady {
                        server: server.clone(),
                        reason: error.to_string(),
                    })
                })?;
                let headers: HashMap<_, _> = exposed(values, headers)
                    .filter_map(|(name, value)| header(&name, &value))
                    .collect();
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers)
                    .max_sse_event_size(LONGEST_MESSAGE);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                match ear.serve_with_lifecycle(transport, how).await {
                    Ok(service) => (service, None, None, Arc::default()),
                    Err(error) => return Err(not_begun(&server, &error, None, log).await),
                }
            }
        };
        let protocol = service.peer_info().map(|info| info.protocol_version.to_string());
        let mut connection = Self {
            server,
            service,
            offered: Mutex::default(),
            left_out: Vec::new(),
            protocol: protocol.unwrap_or_default(),
            stale,
            log: log.clone(),
            program: Mutex::new(program),
            reading,
            said_too_much,
        };
        connection.left_out = connection.list().await.map_err(Begun::Final)?;
        Ok(connection)
    }

    /// Whether nobody is at the other end any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Ends the talk, also for those who are in the middle of a call.
    pub(crate) fn end(&self) {
        self.service.cancellation_token().cancel();
    }

    /// Whether it still answers: in whatever way, so that one that does not know the question is there too.
    pub(crate) async fn is_there(&self) -> bool {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        match timeout(IS_THERE, self.service.send_request(ping)).await {
            Ok(Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)) => true,
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// What it offers, listed anew where it has said that this changed.
    pub(crate) async fn offered(&self) -> Result<Arc<Vec<ServerTool>>, McpError> {
        if self.stale.swap(false, Ordering::SeqCst)
            && let Err(error) = self.list().await
        {
            self.stale.store(true, Ordering::SeqCst);
            return Err(error);
        }
        Ok(Arc::clone(&self.offered.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Lists the tools; returns the names of those that cannot be used.
    async fn list(&self) -> Result<Vec<String>, McpError> {
        let mut offered = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let page = match self.service.list_tools(Some(page(cursor))).await {
                Ok(page) => page,
                Err(error) => return Err(self.failed(error).await),
            };
            offered.extend(page.tools.into_iter().map(|tool| Offered {
                says_read_only: tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true),
                description: tool.description.unwrap_or_default().into_owned(),
                parameters: Value::Object((*tool.input_schema).clone()),
                tool: tool.name.into_owned(),
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || offered.len() > 2 * definition::MOST {
                break;
            }
        }
        let (tools, left_out) = definition::definitions(&self.server, offered);
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        Ok(left_out)
    }

    /// Calls a tool. Dropped, the server is told that nobody waits any more.
    pub(crate) async fn call(&self, tool: &str, args: Map<String, Value>) -> Result<Value, McpError> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        match self.service.call_tool_once(request).await {
            Ok(CallToolResponse::Complete(result)) => result::value(result),
            Ok(CallToolResponse::InputRequired(_)) => Err(McpError::Failed(
                "the tool asks for more than its arguments, which steps cannot give".to_owned(),
            )),
            Ok(CallToolResponse::Task(_)) => Err(McpError::Failed(
                "the tool wants to answer later, which this version does not wait for".to_owned(),
            )),
            Ok(_) => Err(McpError::Failed(
                "the tool answered in a way that this version does not know".to_owned(),
            )),
            Err(error) => Err(self.failed(error).await),
        }
    }

    async fn failed(&self, error: ServiceError) -> McpError {
        if self.said_too_much.load(Ordering::SeqCst) {
            self.end();
            return McpError::TooLong(self.server.clone());
        }
        match error {
            ServiceError::McpError(said) => McpError::Failed(format!(
                "the MCP server \"{}\" refused the call: {}",
                self.server, said.message
            )),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } | ServiceError::TransportSend(_) => {
                let program = self.program.lock().unwrap_or_else(PoisonError::into_inner).take();
                let reason = match program {
                    Some(program) => last_words(program, &self.log).await,
                    None => String::new(),
                };
                self.end();
                let reason = if reason.is_empty() {
                    reason
                } else {
                    format!(": {reason}")
                };
                McpError::Ended {
                    server: self.server.clone(),
                    reason,
                }
            }
            other => McpError::Failed(format!(
                "the MCP server \"{}\" answered with something that is no answer: {other}",
                self.server
            )),
        }
    }
}

/// How a talk did not begin.
enum Begun {
    /// Another way may.
    Failed(McpError),
    /// No other way will.
    Final(McpError),
}

async fn not_begun(
    server: &str,
    error: &ClientInitializeError,
    program: Option<(Ending, JoinHandle<()>)>,
    log: &Log,
) -> Begun {
    if error.is_authorization_required() {
        return Begun::Final(McpError::SignIn(server.to_owned()));
    }
    let not_started = |reason: String| McpError::NotStarted {
        server: server.to_owned(),
        reason,
    };
    if let Some((ending, reading)) = program {
        // What it said before it ended is read first.
        let ended = timeout(LAST_WORDS, ending.wait()).await;
        let _ = timeout(LAST_WORDS, reading).await;
        return match ended {
            Ok(Err(reason)) => Begun::Final(not_started(reason)),
            Ok(Ok(Some(code))) if matches!(error, ClientInitializeError::ConnectionClosed(_)) => {
                Begun::Failed(not_started(format!("it ended with {code}{}", said(log))))
            }
            _ => Begun::Failed(not_started(format!("{}{}", words(error), said(log)))),
        };
    }
    Begun::Failed(not_started(words(error)))
}

/// How a program ended, with the last thing that it said.
async fn last_words(program: Ending, log: &Log) -> String {
    match timeout(LAST_WORDS, program.wait()).await {
        Ok(Ok(Some(code))) => format!("it ended with {code}{}", said(log)),
        Ok(Err(reason)) => reason,
        Ok(Ok(None)) | Err(_) => said(log).trim_start_matches([';', ' ']).to_owned(),
    }
}

fn said(log: &Log) -> String {
    match log.last() {
        line if line.is_empty() || line.starts_with("-- ") => String::new(),
        line => format!("; the last thing it said was \"{line}\""),
    }
}

/// The innermost reason: the outer ones only say where it was noticed.
fn words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(said) => format!("it refused: {}", said.message),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => words(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of the protocol that this app speaks".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => {
            let mut reason = error.to_string();
            let mut source: Option<&dyn std::error::Error> = Some(error.error.as_ref());
            while let Some(inner) = source {
                reason = inner.to_string();
                source = inner.source();
            }
            reason
        }
        other => other.to_string(),
    }
}

fn page(cursor: Option<String>) -> PaginatedRequestParams {
    PaginatedRequestParams::default().with_cursor(cursor)
}

fn exposed(values: &BTreeMap<String, SecretString>, names: &[String]) -> impl Iterator<Item = (String, String)> {
    let named = values.iter().filter(|(name, _)| names.contains(name));
    named.map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
}

/// Where a program starts that says nothing else: where a person's own programs do.
fn home() -> String {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    let home = home.map(PathBuf::from).filter(|home| home.is_dir());
    home.unwrap_or_else(std::env::temp_dir).display().to_string()
}
