//! Who asks the model: `tepa bench`, and the floor beside it. Each run is a process of its own on a database of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

use crate::Failed;

/// The programs that are measured.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The terminal program, built for release.
    pub tepa: PathBuf,
    /// The floor, built for release.
    pub floor: PathBuf,
}

/// One way to carry a workload out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Only the questions: nothing is kept.
    Asking,
    /// The floor.
    Floor,
    /// Ours.
    Tepa,
    /// Ours, every step synced.
    Strict,
}

impl Engine {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asking => "asking alone",
            Self::Floor => "floor",
            Self::Tepa => "tepa",
            Self::Strict => "tepa --strict",
        }
    }
}

/// What a program prints about its run.
#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    /// Milliseconds in all.
    pub wall_ms: f64,
    /// How many steps.
    pub steps: u32,
    /// Milliseconds a step.
    pub ms_step: f64,
    /// The most memory, in kB.
    pub rss_kb: f64,
    /// Bytes on disk a step.
    pub db_b_step: f64,
}

impl Programs {
    /// What starts this workload.
    pub fn command(&self, engine: Engine, workload: &str, width: Option<u32>, url: &str, db: &Path) -> Command {
        let mut command = match engine {
            Engine::Asking | Engine::Floor => Command::new(&self.floor),
            Engine::Tepa | Engine::Strict => {
                let mut command = Command::new(&self.tepa);
                command.args(["bench", "--json"]);
                command
            }
        };
        command
            .args(["--workload", workload, "--model-url", url, "--db"])
            .arg(db);
        if let Some(width) = width {
            command.args(["--width", &width.to_string()]);
        }
        match engine {
            Engine::Asking => {
                command.arg("--no-store");
            }
            Engine::Strict => {
                command.arg("--strict");
            }
            Engine::Floor | Engine::Tepa => {}
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Carries a workload out, on a new database.
    pub async fn run(&self, engine: Engine, workload: &str, width: Option<u32>, url: &str) -> Result<Line, Failed> {
        let folder = tempfile::tempdir().map_err(|error| Failed::at("a folder for the database", error))?;
        let db = folder.path().join("bench.db");
        let done = self.command(engine, workload, width, url, &db).output().await;
        let done = done.map_err(|error| Failed::at(engine.name(), error))?;
        let said = String::from_utf8_lossy(&done.stdout);
        if !done.status.success() {
            let complaint = String::from_utf8_lossy(&done.stderr);
            return Err(Failed(format!("{} ended badly: {said}{complaint}", engine.name())));
        }
        serde_json::from_str(&said).map_err(|error| Failed::at(&format!("{} said {said}", engine.name()), error))
    }
}
