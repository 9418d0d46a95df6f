//! What a step may touch: the envelope that a person approves, and what a tool asks for.

use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::task_effect::TaskEffect;

mod envelope;
pub mod key_stores;

pub use envelope::{CommandGrant, Envelope, FolderGrant, Preset, Requests};

/// One thing that a tool call would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Access {
    /// Reads this path: relative to the working folder, or absolute and outside it.
    Read {
        /// As the tool was given it.
        path: String,
    },
    /// Changes or makes this path: relative to the working folder, or absolute and outside it.
    Write {
        /// As the tool was given it.
        path: String,
    },
    /// Writes to the run's scratchpad.
    WriteScratchpad,
    /// Runs a command, which may do whatever its sandbox lets it.
    Execute {
        /// The command line as the tool was given it.
        command: String,
    },
    /// Sends a request to another computer, or to this one.
    Network {
        /// The host's name or address in lower case, with `:port` where it is not the scheme's own.
        host: String,
        /// Whether the request may change something there.
        effect: bool,
    },
    /// Asks the search service that a person set up for pages of the web.
    Search,
    /// Calls a tool of an MCP server, which does whatever its program does: nobody can tell from outside what.
    Server {
        /// The server's name here.
        server: String,
        /// The tool, as the server calls it.
        tool: String,
    },
    /// Carries out what the task's file asks for by itself, as a rule or as a check.
    TaskEffect {
        /// Exactly this.
        effect: TaskEffect,
    },
}

impl Access {
    /// Whether the call leaves a trace in the world, so that repeating it is not harmless.
    pub fn is_effect(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Execute { .. } | Self::Server { .. } | Self::TaskEffect { .. } => true,
            Self::Network { effect, .. } => *effect,
            Self::Read { .. } | Self::WriteScratchpad | Self::Search => false,
        }
    }

    /// What it does, in words that go on after "may" or "wants to".
    pub fn wants(&self) -> String {
        match self {
            Self::Read { path } => format!("read \"{path}\""),
            Self::Write { path } => format!("change \"{path}\""),
            Self::WriteScratchpad => "write to the scratchpad".to_owned(),
            Self::Execute { command } => format!("run \"{command}\""),
            Self::Network { host, .. } if host == "*" => "use the network in a command".to_owned(),
            Self::Network { host, effect: false } => format!("read from \"{host}\""),
            Self::Network { host, effect: true } => format!("send something to \"{host}\""),
            Self::Search => "search the web".to_owned(),
            Self::Server { server, tool } => format!("use \"{tool}\" of the MCP server \"{server}\""),
            Self::TaskEffect { effect } => effect.wants(),
        }
    }
}

/// A host that may be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HostGrant {
    /// Its name or address as [`Access::Network`] writes it; `*.example.org` is every name below `example.org`.
    pub host: String,
    /// Whether requests may change something there (POST and the like).
    #[serde(default)]
    pub change: bool,
    /// Whether it may lie on this computer or in its own network: such addresses are blocked otherwise, whatever name
    /// leads to them.
    #[serde(default)]
    pub private: bool,
}

/// What the envelope and a person's answers allow for one call. The ports of files, commands and requests enforce it;
/// [`Default`] allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Granted {
    /// The working folder, absolute.
    pub folder: String,
    /// Absolute paths of files and folders that may be read, the working folder among them.
    pub read: Vec<String>,
    /// Absolute paths of files and folders that may be changed, and read; the working folder among them unless the run
    /// only reads.
    pub write: Vec<String>,
    /// Whether a command may use the network: all of it or none, since no kernel filter knows hosts.
    pub network: bool,
    /// Whether a person allowed exactly this command although nothing may hold it to the rest.
    pub uncontained: bool,
    /// The hosts that may be asked.
    pub hosts: Vec<HostGrant>,
    /// The host of the search service, where the run may search.
    pub search: Option<String>,
}

/// The path as it is written, without `.` and `..`; one that climbs above the root stays there. Where links lead is not
/// looked at: whoever decides and whoever opens read a path alike.
pub fn lexical(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(place.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => place.push(component),
        }
    }
    place
}

/// Whether a host says by itself that it is this computer or one of its network. A name that merely leads there is
/// found out when it is looked up.
pub fn is_private(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|digit| digit.is_ascii_digit()) && !name.ends_with(':') => name,
        Some(_) | None => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    match name.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local"),
    }
}

/// What the envelope says about one access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Inside the envelope.
    Allow,
    /// A person is asked, with the reason in words.
    Ask(String),
    /// Not done, and nobody is asked; with the reason in words.
    Deny(String),
}
