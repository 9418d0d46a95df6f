//! A folder for commands, with another beside it that they must not touch.
#![cfg(target_os = "linux")]
#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]

use std::path::PathBuf;
use std::time::Duration;

use contract::ports::commands::{CommandRequest, Commands as _, Containment};
use sandbox::Sandbox;
use sandbox::order::Ways;
use tempfile::TempDir;

/// A working folder, and what lies beside it.
pub struct Place {
    pub all: TempDir,
    pub folder: PathBuf,
    pub outside: PathBuf,
}

pub fn place() -> Place {
    let all = tempfile::tempdir().unwrap();
    let real = all.path().canonicalize().unwrap();
    let (folder, outside) = (real.join("folder"), real.join("outside"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(&outside).unwrap();
    Place { all, folder, outside }
}

pub fn sandbox(ways: Ways) -> Sandbox {
    Sandbox::new(PathBuf::from(env!("CARGO_BIN_EXE_sandbox_helper")), Vec::new()).with_ways(ways)
}

impl Place {
    /// A command that may change the folder and nothing else.
    pub fn request(&self, command: &str) -> CommandRequest {
        let folder = self.folder.display().to_string();
        CommandRequest {
            command: command.to_owned(),
            folder: folder.clone(),
            input: String::new(),
            timeout: Duration::from_secs(60),
            read: Vec::new(),
            write: vec![folder],
            network: false,
            uncontained: false,
        }
    }

    /// The processes that are at work in the folder.
    pub fn at_work(&self) -> Vec<String> {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let here = processes.filter(|process| {
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.folder))
        });
        here.map(|process| process.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

/// Every way of holding commands that this system has, by name.
pub async fn ways() -> Vec<(String, Ways, Containment)> {
    let all = (1..=7).map(|landlock| Ways {
        landlock,
        bubblewrap: false,
        system_calls: true,
    });
    let without_landlock = Ways {
        landlock: 0,
        bubblewrap: true,
        system_calls: true,
    };
    let mut had: Vec<(String, Ways, Containment)> = Vec::new();
    for ways in all.chain([without_landlock]) {
        let containment = sandbox(ways).containment().await;
        // A kernel with older rules says its own version for every newer one.
        if containment != Containment::None && had.iter().all(|(_, _, other)| *other != containment) {
            had.push((containment.words(), ways, containment));
        }
    }
    assert!(!had.is_empty(), "nothing on this system holds a command");
    had
}

pub const NOTHING: Ways = Ways {
    landlock: 0,
    bubblewrap: false,
    system_calls: false,
};
