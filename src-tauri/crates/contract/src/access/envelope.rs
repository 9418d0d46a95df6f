//! The envelope of a run: what it may touch without asking, as a person approved it (tools page, "Permissions"). And what
//! a task's file asks for, which grants nothing.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Access, HostGrant};
use crate::task_effect::AskedEffect;

/// What a run may touch, shown with the plan and approved with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// The working folder, absolute.
    pub folder: String,
    /// Whether files in it may be changed; reading it is always part of the grant.
    pub write: bool,
    /// The most tokens the run may use.
    pub max_tokens: u64,
    /// The most cycles it may take.
    pub max_cycles: u32,
    /// The most money, in the currency of the settings; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_cost: Option<f64>,
    /// The most minutes at work, without what it waits for a person; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_minutes: Option<u32>,
    /// When a person is asked.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Preset>", optional)]
    pub preset: Preset,
    /// Files and folders beside the working folder.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Vec<FolderGrant>>", optional)]
    pub folders: Vec<FolderGrant>,
    /// Which commands may be run.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<CommandGrant>", optional)]
    pub commands: CommandGrant,
    /// Whether commands may use the network: all of it or none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<bool>", optional)]
    pub command_network: bool,
    /// The hosts that may be asked.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Vec<HostGrant>>", optional)]
    pub hosts: Vec<HostGrant>,
    /// The host of the search service that may be asked, as [`Access::Network`] writes it; none where none is set up or
    /// the run does not search.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(optional)]
    pub search: Option<String>,
    /// The MCP servers whose tools may be used, by name.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub mcp_servers: Vec<String>,
    /// What the task's file has the app do by itself: commands and requests as rules, commands as checks.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Vec<AskedEffect>>", optional)]
    pub effects: Vec<AskedEffect>,
    /// What a person allowed for this task in an earlier run of it.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(as = "Option<Vec<Access>>", optional)]
    pub kept: Vec<Access>,
}

/// When a person is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Preset {
    /// Before every effect, also inside the envelope.
    Careful,
    /// Before what lies outside it.
    #[default]
    Normal,
    /// Never: what lies outside is refused, and the planner is told.
    HandsOff,
}

/// Which commands may be run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CommandGrant {
    /// None, and nobody is asked.
    Off,
    /// Each is asked about.
    #[default]
    Ask,
    /// These without asking, each a command line in which `*` stands for plain words; others are asked about.
    Listed {
        /// The command lines.
        patterns: Vec<String>,
    },
}

/// A file or folder beside the working folder, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderGrant {
    /// Absolute.
    pub path: String,
    /// Whether it may be changed too.
    #[serde(default)]
    pub write: bool,
}

/// What a task's file asks for beside its working folder (`permissions`): a wish, until a person grants it. It is also
/// how a person says what a run may touch besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Requests {
    /// Files and folders.
    pub folders: Vec<FolderGrant>,
    /// Command lines, with `*` for plain words.
    pub commands: Vec<String>,
    /// The network for commands.
    pub command_network: bool,
    /// Hosts.
    pub hosts: Vec<HostGrant>,
    /// MCP servers, by name.
    pub mcp_servers: Vec<String>,
}

impl Requests {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Envelope {
    /// The same with all of this granted too.
    #[must_use]
    pub fn with(mut self, granted: Requests) -> Self {
        self.folders.extend(granted.folders);
        self.hosts.extend(granted.hosts);
        self.mcp_servers.extend(granted.mcp_servers);
        self.command_network |= granted.command_network;
        if !granted.commands.is_empty() {
            let mut patterns = match self.commands {
                CommandGrant::Listed { patterns } => patterns,
                CommandGrant::Off | CommandGrant::Ask => Vec::new(),
            };
            patterns.extend(granted.commands);
            self.commands = CommandGrant::Listed { patterns };
        }
        self
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
