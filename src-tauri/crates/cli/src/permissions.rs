//! What a person lets a run do besides, for a task as for a flow.

use std::path::PathBuf;

use app::RunOptions;
use clap::{Args, ValueEnum};
use contract::access::{FolderGrant, HostGrant, Preset, Requests, is_private};

/// The permission options of a run.
#[derive(Debug, Default, Args)]
pub(crate) struct Permissions {
    /// Let the run read this file or folder too; with :rw after it, change it too. May be given several times.
    #[arg(long, value_name = "PATH[:rw]")]
    allow_folder: Vec<PathBuf>,
    /// Let the run execute this command line without asking; a `*` stands for plain words. May be given several times.
    #[arg(long, value_name = "COMMAND")]
    allow_command: Vec<String>,
    /// Let the run's commands use the network.
    #[arg(long)]
    allow_network: bool,
    /// Let the run read from this host; with :rw after it, send to it too. May be given several times.
    #[arg(long, value_name = "HOST[:rw]")]
    allow_host: Vec<String>,
    /// Let the run use the tools of this MCP server, which `tepa mcp` lists. May be given several times.
    #[arg(long, value_name = "NAME")]
    allow_server: Vec<String>,
    /// When the run asks: careful, before everything that it changes; normal, before what is not granted; hands-off,
    /// never: what is not granted is refused.
    #[arg(long, value_name = "PRESET")]
    preset: Option<When>,
}

/// When a run asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    /// Before everything that it changes.
    Careful,
    /// Before what is not granted.
    Normal,
    /// Never: what is not granted is refused.
    HandsOff,
}

impl Permissions {
    /// What the person grants besides.
    pub(crate) fn granted(&self) -> RunOptions {
        RunOptions {
            grant: Some(self.allowed()),
            preset: self.preset.map(|when| match when {
                When::Careful => Preset::Careful,
                When::Normal => Preset::Normal,
                When::HandsOff => Preset::HandsOff,
            }),
            ..RunOptions::default()
        }
    }

    /// What the person grants by name.
    fn allowed(&self) -> Requests {
        let folder = |path: &PathBuf| {
            let text = path.display().to_string();
            let (path, write) = writable(&text);
            FolderGrant {
                path: std::path::absolute(path).map_or(path.to_owned(), |path| path.display().to_string()),
                write,
            }
        };
        let host = |host: &String| {
            let (host, change) = writable(host);
            HostGrant {
                host: host.to_lowercase(),
                change,
                // Whoever types the address of their own computer or network means it.
                private: is_private(host),
            }
        };
        Requests {
            folders: self.allow_folder.iter().map(folder).collect(),
            commands: self.allow_command.clone(),
            command_network: self.allow_network,
            hosts: self.allow_host.iter().map(host).collect(),
            mcp_servers: self.allow_server.clone(),
        }
    }
}

/// What is meant, and whether `:rw` stands after it.
fn writable(text: &str) -> (&str, bool) {
    text.strip_suffix(":rw").map_or((text, false), |text| (text, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_is_named() {
        let options = Permissions {
            allow_folder: vec!["/data".into(), "/out:rw".into()],
            allow_host: vec!["A.org:rw".to_owned(), "localhost:8080".to_owned()],
            ..Permissions::default()
        };
        let allowed = options.allowed();
        let folders: Vec<_> = allowed.folders.iter().map(|folder| folder.write).collect();
        assert_eq!((folders, allowed.folders[1].path.as_str()), (vec![false, true], "/out"));
        assert_eq!(
            (
                allowed.hosts[0].host.as_str(),
                allowed.hosts[0].change,
                allowed.hosts[0].private
            ),
            ("a.org", true, false)
        );
        assert!(allowed.hosts[1].private && !allowed.hosts[1].change);
    }
}
