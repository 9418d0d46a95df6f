//! MCP servers as a person keeps them: how each is reached, and its tools as they were approved. The values of `env` and
//! `headers` are in the keychain under the server's name; here are only their names.
//!
//! Deliberately not here: talking to servers (`mcp`), and whether a tool may be used (the engine, by the envelope).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use contract::AppError;
use contract::hash::Hash;
use contract::run::RunHeader;
use contract::secret::KeySource;
use contract::server_tool::ServerTool;
use engine::requests;
use mcp::{Book, Launch, McpError, Server, ServerConfig};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Store;

use crate::app::{App, Rooms};
use crate::commands::servers::AddedServers;
use crate::error::{ToAppError, internal};
use crate::key_ring::{KeyRing, OF_A_SERVER};
use crate::logging;

/// The name under which servers are kept.
const NAME: &str = "mcp_servers";
/// The most servers that are kept.
const MOST: usize = 100;

/// A server as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept {
    /// How it is reached.
    pub(crate) config: ServerConfig,
    /// Milliseconds since 1970, UTC.
    pub(crate) added_at_ms: i64,
    /// Its tools, as a person approved them; none when nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved: Option<Approved>,
}

/// Tools as a person approved them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Approved {
    /// The definitions.
    pub(crate) tools: Vec<ServerTool>,
    /// Milliseconds since 1970, UTC.
    pub(crate) at_ms: i64,
}

/// All servers, in the order in which they were added. One that this version cannot read is passed over, and stays kept.
pub(crate) async fn read(store: &Store) -> Result<Vec<Kept>, AppError> {
    Ok(raw(store).await?.into_iter().filter_map(readable).collect())
}

async fn write(store: &Store, servers: &[Kept]) -> Result<(), AppError> {
    let named = |server: &Value| server["config"]["name"].as_str().map(str::to_owned);
    let mut all = raw(store).await?;
    all.retain(|server| {
        let replaced = servers
            .iter()
            .any(|kept| named(server).as_ref() == Some(&kept.config.name));
        !replaced && readable(server.clone()).is_none()
    });
    for server in servers {
        all.push(serde_json::to_value(server).map_err(|error| internal(error.to_string()))?);
    }
    let kept = store.settings().set(NAME, &Value::Array(all)).await;
    kept.map_err(ToAppError::to_app_error)
}

/// The servers as they are kept, each by itself: what cannot be read of one must not lose the others.
async fn raw(store: &Store) -> Result<Vec<Value>, AppError> {
    match store.settings().get(NAME).await.map_err(ToAppError::to_app_error)? {
        None => Ok(Vec::new()),
        Some(Value::Array(servers)) => Ok(servers),
        Some(_) => {
            let error = AppError::new("mcp_unreadable", "the kept MCP servers cannot be read");
            Err(error.hint(
                "They were kept by another version of Tepa. Open them with that one; nothing of them was changed.",
            ))
        }
    }
}

fn readable(server: Value) -> Option<Kept> {
    serde_json::from_value(server)
        .inspect_err(|error| tracing::warn!(%error, "a kept MCP server cannot be read"))
        .ok()
}

/// Under which name a server's values are in the keychain.
fn account(server: &str) -> String {
    format!("{OF_A_SERVER}{server}")
}

/// The address of all that a server offers: what a person approves is what they were shown.
pub(crate) fn address(tools: &[ServerTool]) -> Hash {
    let hashes: BTreeSet<&str> = tools.iter().map(|tool| tool.hash.as_str()).collect();
    Hash::of_bytes(hashes.into_iter().collect::<Vec<_>>().join("\n").as_bytes())
}

impl App {
    /// Adds the servers that were pasted. One of the same name is replaced; its approval stays only when it is reached as
    /// before.
    pub(crate) async fn add_servers(&self, text: &str) -> Result<AddedServers, AppError> {
        let pasted = mcp::paste::read(text).map_err(|problems| {
            let error = AppError::new("mcp_paste", "this cannot be read as the settings of MCP servers")
                .hint("Copy them again from where the server is described: all of the block with mcpServers in it.");
            AppError { problems, ..error }
        })?;
        let rooms = &self.rooms;
        let mut servers = read(&rooms.store).await?;
        let now = rooms.clock.now_ms();
        let mut added = AddedServers::default();
        for one in pasted {
            let name = one.config.name.clone();
            let source = keep_values(&rooms.keys, &name, &one.values, now).await?;
            if source == Some(KeySource::Session) {
                added.forgotten_at_close.push(name.clone());
            }
            let before = servers.iter().position(|server| server.config.name == name);
            let same = before
                .map(|place| servers.remove(place))
                .filter(|before| before.config.launch == one.config.launch);
            if same.is_none() {
                self.revoke_server(&name).await?;
            }
            let approved = same.and_then(|same| same.approved);
            rooms.servers.forget(&name);
            servers.push(Kept {
                config: one.config,
                added_at_ms: now,
                approved,
            });
            added.names.push(name);
        }
        if servers.len() > MOST {
            return Err(
                AppError::new("mcp_too_many", format!("more than {MOST} servers cannot be kept"))
                    .hint("Remove those that you do not use."),
            );
        }
        write(&rooms.store, &servers).await?;
        Ok(added)
    }

    /// Approves what a server offers, if that is still what the person was shown.
    pub(crate) async fn approve_server(&self, name: &str, shown: &Hash) -> Result<(), AppError> {
        let rooms = &self.rooms;
        let mut servers = read(&rooms.store).await?;
        let server = servers
            .iter_mut()
            .find(|server| server.config.name == name)
            .ok_or_else(|| McpError::Unknown(name.to_owned()).to_app_error())?;
        let offered = rooms.servers.standing(name).offered;
        let Some(offered) = offered.filter(|offered| address(offered) == *shown) else {
            return Err(AppError::new(
                "mcp_changed",
                "the server offers something else by now than you were shown",
            )
            .hint("Connect it again, and look at what it offers."));
        };
        server.approved = Some(Approved {
            tools: offered.to_vec(),
            at_ms: rooms.clock.now_ms(),
        });
        write(&rooms.store, &servers).await
    }

    /// Forgets a server with all that belongs to it. Runs that have begun fail where they call it.
    pub(crate) async fn remove_server(&self, name: &str) -> Result<(), AppError> {
        let rooms = &self.rooms;
        rooms.servers.forget(name);
        let mut servers = read(&rooms.store).await?;
        servers.retain(|server| server.config.name != name);
        write(&rooms.store, &servers).await?;
        self.revoke_server(name).await?;
        rooms.keys.delete(account(name)).await
    }

    /// The header with the tools of MCP servers that its run is offered: those that the task names, and all of the
    /// servers that it asks for or a person granted.
    pub(crate) async fn with_server_tools(&self, mut header: RunHeader) -> Result<RunHeader, AppError> {
        let asked: BTreeSet<String> = requests::of(&header.task)
            .mcp_servers
            .into_iter()
            .chain(header.envelope.mcp_servers.iter().cloned())
            .collect();
        let named = named_tools(&header);
        header.server_tools = Vec::new();
        if asked.is_empty() && named.is_empty() {
            return Ok(header);
        }
        let servers = read(&self.rooms.store).await?;
        if let Some(missing) = asked.iter().find(|name| {
            !servers
                .iter()
                .any(|server| server.config.name == **name && server.approved.is_some())
        }) {
            return Err(not_set_up(
                missing,
                servers.iter().any(|server| server.config.name == *missing),
            ));
        }
        let approved = servers.into_iter().filter_map(|server| server.approved);
        header.server_tools = approved
            .flat_map(|approved| approved.tools)
            .filter(|tool| asked.contains(&tool.server) || named.contains(&tool.name))
            .collect();
        let is_there = |name: &&String| header.server_tools.iter().any(|tool| tool.name == **name);
        // A flow may hold such words for other reasons; what a task lists as a tool is one.
        let mut listed = header.task.tools.iter().flatten().filter(|name| name.contains("__"));
        if let Some(missing) = listed.find(|name| !is_there(name)) {
            let message = format!("the task names the tool \"{missing}\", which no MCP server here is allowed");
            return Err(AppError::new("mcp_not_set_up", message)
                .hint("Add its server in Settings, under MCP servers, or take the tool out of the task."));
        }
        Ok(header)
    }
}

fn not_set_up(name: &str, is_added: bool) -> AppError {
    let (message, hint) = if is_added {
        (
            format!("the task asks for the MCP server \"{name}\", whose tools nobody approved yet"),
            "Open Settings, under MCP servers, connect it and look at what it offers.",
        )
    } else {
        (
            format!("the task asks for the MCP server \"{name}\", which is not set up here"),
            "Add it in Settings, under MCP servers, or take it out of the task.",
        )
    };
    AppError::new("mcp_not_set_up", message).hint(hint)
}

/// The names of tools in a task, or anywhere in a flow, that can be those of a server.
fn named_tools(header: &RunHeader) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |text: &str| {
        if text.contains("__") && text.len() <= 64 {
            names.insert(text.to_owned());
        }
    };
    header.task.tools.iter().flatten().for_each(|name| add(name));
    if let Some(flow) = &header.flow {
        each_text(&json!(flow), &mut add);
    }
    names
}

fn each_text(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, add)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, add)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts a server's values into the keychain, all as one entry, and says where they are. Its last characters, which a keychain may show, say
/// nothing.
async fn keep_values(
    keys: &KeyRing,
    server: &str,
    values: &BTreeMap<String, SecretString>,
    now_ms: i64,
) -> Result<Option<KeySource>, AppError> {
    let account = account(server);
    if values.is_empty() {
        return keys.delete(account).await.map(|()| None);
    }
    values.values().for_each(logging::hide);
    let exposed: BTreeMap<&str, &str> = values
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose_secret()))
        .collect();
    let entry = SecretString::from(json!({ "values": exposed, "version": 1 }).to_string());
    let kept = keys.set(account, entry, now_ms, false).await;
    kept.map(|info| Some(info.source))
        .map_err(|error| match error.code.as_str() {
            "key_unusable" => AppError::new(
                "mcp_values",
                format!("the values of \"{server}\" are too long to be kept in the keychain"),
            )
            .hint("Together they may have about 8,000 characters."),
            _ => error,
        })
}

/// Which of a server's values are kept: all of them or none. No lock is opened to tell.
pub(crate) async fn value_names(rooms: &Rooms, config: &ServerConfig) -> Vec<String> {
    if config.launch.names().is_empty() {
        return Vec::new();
    }
    match rooms.keys.info(account(&config.name)).await {
        Ok(None) => Vec::new(),
        // A keychain that is locked may have them.
        Ok(Some(_)) | Err(_) => config.launch.names(),
    }
}

async fn values_of(keys: &KeyRing, server: &str) -> Result<BTreeMap<String, SecretString>, AppError> {
    #[derive(Deserialize)]
    struct Entry {
        values: BTreeMap<String, SecretString>,
    }
    let Some((entry, _)) = keys.find(&account(server)).await? else {
        return Ok(BTreeMap::new());
    };
    let entry: Entry = serde_json::from_str(entry.expose_secret())
        .map_err(|_| AppError::new("mcp_values", "what is kept for it in the keychain cannot be read"))?;
    entry.values.values().for_each(logging::hide);
    Ok(entry.values)
}

/// The servers and their values, for whoever starts them.
pub(crate) struct Shelf {
    pub(crate) store: Store,
    pub(crate) keys: KeyRing,
}

impl Shelf {
    async fn kept(&self, name: &str) -> Result<Kept, McpError> {
        let servers = read(&self.store).await.map_err(|error| not_ready(name, error))?;
        let found = servers.into_iter().find(|server| server.config.name == name);
        found.ok_or_else(|| McpError::Unknown(name.to_owned()))
    }
}

fn not_ready(name: &str, error: AppError) -> McpError {
    McpError::NotReady {
        server: name.to_owned(),
        reason: error.message,
    }
}

#[async_trait]
impl Book for Shelf {
    async fn server(&self, name: &str) -> Result<Server, McpError> {
        let config = self.kept(name).await?.config;
        let names = config.launch.names();
        let values = match names.is_empty() {
            true => BTreeMap::new(),
            false => values_of(&self.keys, name)
                .await
                .map_err(|error| not_ready(name, error))?,
        };
        if let Some(missing) = names.iter().find(|name| !values.contains_key(name.as_str())) {
            return Err(McpError::NotReady {
                server: name.to_owned(),
                reason: format!("the value of {missing} is not kept any more; add the server again with it"),
            });
        }
        Ok(Server { config, values })
    }

    async fn approved(&self, name: &str) -> Result<Option<Vec<ServerTool>>, McpError> {
        let approved = self.kept(name).await?.approved;
        Ok(approved.map(|approved| approved.tools))
    }
}

impl ToAppError for McpError {
    fn to_app_error(self) -> AppError {
        let (code, hint) = match &self {
            Self::Unknown(_) => ("mcp_unknown", "Add it again if you still need it."),
            Self::NotReady { .. } => ("mcp_not_ready", "Add it again, with its values."),
            Self::NotStarted { .. } => (
                "mcp_not_started",
                "What it said about itself may tell why. A command npx needs Node.js on this computer, uvx needs uv.",
            ),
            Self::SignIn(_) => (
                "mcp_sign_in",
                "Get a token from whoever runs it, and add it again with that token in its headers.",
            ),
            Self::NotApproved(_) | Self::Changed(_) => ("mcp_changed", "Look at what it offers, and approve that."),
            Self::NotOfThisRun { .. } => ("mcp_changed", "Start the task again."),
            Self::Left(_) => ("mcp_left", "Connect it again when you want to look at what it offers."),
            Self::Ended { .. } | Self::TimedOut { .. } | Self::TooLong(_) => {
                ("mcp_ended", "Try again; what it said about itself may tell why.")
            }
            Self::Failed(_) => ("mcp_failed", "What it said about itself may tell why."),
        };
        AppError::new(code, self.to_string()).hint(hint)
    }
}

/// The servers of an app, none of them at work.
pub(crate) fn of(
    store: &Store,
    keys: &KeyRing,
    sandbox: Arc<sandbox::Sandbox>,
    logs: std::path::PathBuf,
) -> mcp::Servers {
    let shelf = Shelf {
        store: store.clone(),
        keys: keys.clone(),
    };
    mcp::Servers::new(Arc::new(shelf), sandbox, logs)
}

/// How a server is reached, in a few words.
pub fn reached(launch: &Launch) -> String {
    match launch {
        Launch::Program { command, args, .. } => {
            let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
            words.join(" ")
        }
        Launch::Address { url, .. } => url.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str) -> Kept {
        let pasted = mcp::paste::read(&json!({ "mcpServers": { name: { "command": "serve" } } }).to_string()).unwrap();
        Kept {
            config: pasted[0].config.clone(),
            added_at_ms: 1,
            approved: None,
        }
    }

    #[tokio::test]
    async fn a_server_that_cannot_be_read_stays_kept_and_loses_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        let of_later = json!({ "config": { "name": "later", "launch": { "carrierPigeon": true } }, "addedAtMs": 2 });
        let good = serde_json::to_value(kept("notes")).unwrap();
        store.settings().set(NAME, &json!([of_later, good])).await.unwrap();
        assert_eq!(read(&store).await.unwrap(), [kept("notes")]);
        write(&store, &[kept("notes"), kept("time")]).await.unwrap();
        let all = raw(&store).await.unwrap();
        assert_eq!((all.len(), &all[0]), (3, &of_later));
        // Added anew under its name, it is the new one.
        write(&store, &[kept("later")]).await.unwrap();
        assert_eq!(
            raw(&store).await.unwrap(),
            [serde_json::to_value(kept("later")).unwrap()]
        );
        store.settings().set(NAME, &json!("lost")).await.unwrap();
        assert_eq!(read(&store).await.unwrap_err().code, "mcp_unreadable");
    }
}
