//! Servers for tests: from a book that a test writes, started by the helper of this crate.
#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use contract::server_tool::ServerTool;
use mcp::{Book, Launch, McpError, Server, ServerConfig, Servers};
use sandbox::Sandbox;
use secrecy::SecretString;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// What is known of servers.
#[derive(Default)]
pub struct Shelf(Mutex<BTreeMap<String, Entry>>);

/// What is known of one.
struct Entry {
    config: ServerConfig,
    values: BTreeMap<String, String>,
    approved: Option<Vec<ServerTool>>,
}

#[async_trait]
impl Book for Shelf {
    async fn server(&self, name: &str) -> Result<Server, McpError> {
        let shelf = self.0.lock().unwrap();
        let entry = shelf.get(name).ok_or_else(|| McpError::Unknown(name.to_owned()))?;
        let secret = |(name, value): (&String, &String)| (name.clone(), SecretString::from(value.clone()));
        Ok(Server {
            config: entry.config.clone(),
            values: entry.values.iter().map(secret).collect(),
        })
    }

    async fn approved(&self, name: &str) -> Result<Option<Vec<ServerTool>>, McpError> {
        let shelf = self.0.lock().unwrap();
        Ok(shelf.get(name).and_then(|entry| entry.approved.clone()))
    }
}

/// Servers with their book, and a folder for what they do.
pub struct Stand {
    pub servers: Arc<Servers>,
    pub shelf: Arc<Shelf>,
    pub folder: TempDir,
}

pub fn stand() -> Stand {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Arc::new(Shelf::default());
    let sandbox = Sandbox::new(PathBuf::from(env!("CARGO_BIN_EXE_mcp_helper")), Vec::new());
    let logs = folder.path().join("logs");
    Stand {
        servers: Arc::new(Servers::new(Arc::clone(&shelf) as _, Arc::new(sandbox), logs)),
        shelf,
        folder,
    }
}

impl Stand {
    pub fn add(&self, name: &str, launch: Launch, values: &[(&str, &str)]) {
        let config = ServerConfig {
            name: name.to_owned(),
            launch,
        };
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let entry = Entry {
            config,
            values,
            approved: None,
        };
        self.shelf.0.lock().unwrap().insert(name.to_owned(), entry);
    }

    /// A server that is a script of this crate's tests, behaving as it is told.
    pub fn add_odd(&self, name: &str, how: &[&str], values: &[(&str, &str)]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/odd.py");
        let args = [script.display().to_string()].into_iter();
        let launch = Launch::Program {
            command: "python3".to_owned(),
            args: args.chain(how.iter().map(|word| (*word).to_owned())).collect(),
            variables: values.iter().map(|(name, _)| (*name).to_owned()).collect(),
            folder: Some(self.folder.path().display().to_string()),
            hidden: Vec::new(),
        };
        self.add(name, launch, values);
    }

    /// Looks at a server and approves what it offers.
    pub async fn approve(&self, name: &str) -> Vec<ServerTool> {
        let offered = self.servers.look(name).await.unwrap().offered;
        self.set_approved(name, offered.clone());
        offered
    }

    pub fn set_approved(&self, name: &str, approved: Vec<ServerTool>) {
        self.shelf.0.lock().unwrap().get_mut(name).unwrap().approved = Some(approved);
    }

    /// Calls a tool that was approved.
    pub async fn call(&self, tool: &ServerTool, args: Value) -> Result<Value, McpError> {
        let args: Map<String, Value> = serde_json::from_value(args).unwrap();
        self.servers.call(tool, args, std::time::Duration::from_secs(60)).await
    }
}

/// The tool of this name.
pub fn named<'t>(tools: &'t [ServerTool], name: &str) -> &'t ServerTool {
    tools.iter().find(|tool| tool.tool == name).unwrap()
}
