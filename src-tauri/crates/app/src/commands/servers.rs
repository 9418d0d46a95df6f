//! MCP servers: add them, look at what they offer, approve it, remove them. Values go in; only their names come out.

use contract::AppError;
use contract::hash::Hash;
use contract::server_tool::ServerTool;
use mcp::{Launch, ToolChange};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::error::ToAppError;
use crate::servers::{self, Kept};

/// The settings of servers as they were pasted; what lies in them may be secret.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AddServers {
    /// JSON with `mcpServers`.
    #[ts(type = "string")]
    pub text: SecretString,
}

/// A server by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OneServer {
    /// Its name here.
    pub name: String,
}

/// What a person approves of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApproveServer {
    /// Its name here.
    pub name: String,
    /// The address of what they were shown.
    pub offered: Hash,
}

/// What came of adding servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AddedServers {
    /// Their names here.
    pub names: Vec<String>,
    /// Those of them whose values are kept only until the app closes, since there is no keychain.
    pub forgotten_at_close: Vec<String>,
}

/// A server as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// Its name here.
    pub name: String,
    /// How it is reached.
    pub launch: Launch,
    /// The names of the values that are kept for it, which nobody is shown.
    pub values: Vec<String>,
    /// When it was added: milliseconds since 1970, UTC.
    #[ts(type = "number")]
    pub added_at_ms: i64,
    /// Its tools as they were approved.
    pub approved: Option<Vec<ServerTool>>,
    /// When: milliseconds since 1970, UTC.
    #[ts(type = "number | null")]
    pub approved_at_ms: Option<i64>,
    /// What it offered when it was last asked in this process.
    pub offered: Option<Offer>,
    /// Whether it is at work now.
    pub running: bool,
    /// Why it could not be talked to when that was last tried.
    pub problem: Option<AppError>,
    /// The last lines that it said about itself.
    pub log: Vec<String>,
}

/// What a server offers.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The tools.
    pub tools: Vec<ServerTool>,
    /// Their address.
    pub hash: Hash,
    /// What is not as it was approved; everything where nothing was.
    pub changes: Vec<ToolChange>,
}

/// All servers.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerList {
    /// In the order in which they were added.
    pub servers: Vec<McpServer>,
}

/// All servers. None is started.
pub async fn list(app: &App, (): ()) -> Result<ServerList, AppError> {
    let mut servers = Vec::new();
    for kept in servers::read(&app.rooms.store).await? {
        servers.push(shown(app, kept).await);
    }
    Ok(ServerList { servers })
}

/// Adds servers. None is started.
pub async fn add(app: &App, request: AddServers) -> Result<AddedServers, AppError> {
    app.add_servers(request.text.expose_secret()).await
}

/// Starts a server, and says what it offers. It ends again, unless a run at work has called it.
pub async fn connect(app: &App, request: OneServer) -> Result<McpServer, AppError> {
    let kept = one(app, &request.name).await?;
    // What came of it is told with the server.
    let looked = app.rooms.servers.look(&request.name).await;
    match app.rooms.active.any() {
        true => app.rooms.servers.end_unless_called(&request.name),
        false => app.rooms.servers.end(&request.name),
    }
    if let Err(error) = looked {
        tracing::info!(server = %request.name, %error, "an MCP server could not be connected");
    }
    Ok(shown(app, kept).await)
}

/// Waits no more for a server that is being connected.
pub async fn leave(app: &App, request: OneServer) -> Result<(), AppError> {
    app.rooms.servers.leave(&request.name);
    Ok(())
}

/// Approves what a server offers.
pub async fn approve(app: &App, request: ApproveServer) -> Result<McpServer, AppError> {
    app.approve_server(&request.name, &request.offered).await?;
    Ok(shown(app, one(app, &request.name).await?).await)
}

/// Forgets a server.
pub async fn remove(app: &App, request: OneServer) -> Result<(), AppError> {
    app.remove_server(&request.name).await
}

async fn one(app: &App, name: &str) -> Result<Kept, AppError> {
    let servers = servers::read(&app.rooms.store).await?;
    let found = servers.into_iter().find(|server| server.config.name == name);
    found.ok_or_else(|| mcp::McpError::Unknown(name.to_owned()).to_app_error())
}

async fn shown(app: &App, kept: Kept) -> McpServer {
    let Kept {
        config,
        added_at_ms,
        approved,
    } = kept;
    let standing = app.rooms.servers.standing(&config.name);
    let (approved, approved_at_ms) = approved.map(|approved| (approved.tools, approved.at_ms)).unzip();
    let before = approved.as_deref().unwrap_or_default();
    let offered = standing.offered.map(|tools| Offer {
        hash: servers::address(&tools),
        changes: mcp::definition::changes(before, &tools),
        tools: tools.to_vec(),
    });
    McpServer {
        values: servers::value_names(&app.rooms, &config).await,
        name: config.name,
        launch: config.launch,
        added_at_ms,
        approved,
        approved_at_ms,
        offered,
        running: standing.running,
        problem: standing.problem.map(ToAppError::to_app_error),
        log: standing.log,
    }
}
