//! Runs the sample in a process of its own, which kills itself at one commit of the journal: what a
//! power button or an impatient person does to the app. `it/resume.rs` starts it again and compares.
//!
//! `crash_run DATA FOLDER LOG [before|after N | hold]` exits with 0 when the run passed. Every model
//! call and tool execution is written to LOG as it begins.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the test that starts it listens to what it prints"
)]

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use app::{App, Config, KeyPlace, Outcome, Pace};
use async_trait::async_trait;
use contract::llm::{LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::person::{Answer, Ask};
use contract::ports::journal::{Journal, JournalError};
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolOutput};
use contract::run::RunStatus;
use contract::{Hash, Key, RunId};
use providers::recording::Recording;
use providers::replay::{self, Replay};
use serde_json::Value;
use support::around::{Append, Around, AroundJournal, AroundTool};

const RECORDING: &str = include_str!("../../prompts/samples/expenses.recording.json");

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Vec<String>) -> Result<(), String> {
    let [data, folder, log, how @ ..] = args.as_slice() else {
        return Err("crash_run DATA FOLDER LOG [before|after N | hold]".to_owned());
    };
    let log = Arc::new(Log(PathBuf::from(log)));
    let config = Config {
        data_folder: Some(data.into()),
        keys: KeyPlace::Memory,
        pace: Pace::Instant,
        people: Some(Arc::new(Person { hold: how == ["hold"] })),
        providers: vec![Arc::new(LoggedModel {
            replay: replay()?,
            log: Arc::clone(&log),
        })],
        tools: tools::all()
            .into_iter()
            .map(|tool| {
                Arc::new(Around(LoggedTool {
                    tool,
                    log: Arc::clone(&log),
                })) as _
            })
            .collect(),
        journal: match how {
            [moment, n] => Some(killing(moment == "before", n.parse().map_err(|_| "N is a number")?)),
            _ => None,
        },
        ..Config::default()
    };
    let app = App::open(config).await.map_err(|error| error.to_string())?;
    let header = app
        .sample_in(folder.as_ref())
        .await
        .map_err(|error| error.to_string())?;
    let unfinished = app.find_unfinished(&header).await.map_err(|error| error.to_string())?;
    let run = match unfinished {
        Some(summary) => {
            app.resume(&summary.run_id).await.map_err(|error| error.code)?;
            summary.run_id
        }
        None => app.start(header).await.map_err(|error| error.to_string())?,
    };
    match app.outcome(&run).await.map_err(|error| error.to_string())? {
        Outcome::Finished(result) if result.status == RunStatus::Pass => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn replay() -> Result<Replay, String> {
    let recording = Recording::from_json(RECORDING).map_err(|error| error.to_string())?;
    Ok(Replay::new(recording, replay::Pace::Instant))
}

struct Log(PathBuf);

impl Log {
    fn line(&self, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{line}");
        }
    }
}

/// Approves every plan, or never says anything.
struct Person {
    hold: bool,
}

#[async_trait]
impl People for Person {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        if self.hold {
            println!("waiting");
            std::future::pending::<()>().await;
        }
        match ask {
            Ask::ApprovePlan { .. } | Ask::RunStep { .. } => Some(Answer::Approve { revisions: false }),
            // Must not be asked: every change of the sample can be looked at.
            Ask::UncertainEffect { .. } | Ask::Gate { .. } | Ask::Permission { .. } | Ask::AllowEffect { .. } => {
                Some(Answer::StopRun)
            }
        }
    }
}

struct LoggedModel {
    replay: Replay,
    log: Arc<Log>,
}

#[async_trait]
impl LlmProvider for LoggedModel {
    fn name(&self) -> &str {
        self.replay.name()
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.log.line(&format!("model {}", request.key));
        self.replay.complete(request, sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        self.replay.models().await
    }
}

struct LoggedTool {
    tool: Arc<dyn Tool>,
    log: Arc<Log>,
}

#[async_trait]
impl AroundTool for LoggedTool {
    fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let hash = Hash::of_value(&args).map_err(|error| ToolError::new(error.to_string()))?;
        self.log
            .line(&format!("tool {} {}", self.tool.info().name, hash.as_str()));
        self.tool.execute(args, context).await
    }
}

/// Kills this process at the `n`th commit: before it is made, or right after.
fn killing(before: bool, n: u64) -> app::JournalDecorator {
    Box::new(move |journal| {
        Arc::new(Around(Killing {
            journal,
            before,
            left: AtomicU64::new(n),
        }))
    })
}

struct Killing {
    journal: Arc<dyn Journal>,
    before: bool,
    left: AtomicU64,
}

#[async_trait]
impl AroundJournal for Killing {
    fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        let last = self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && self.before {
            kill_myself();
        }
        let appended = append.to(self.journal(), run).await;
        if last {
            kill_myself();
        }
        appended
    }
}

/// SIGKILL: no destructor runs, nothing is flushed.
fn kill_myself() -> ! {
    let _ = Command::new("kill")
        .args(["-9", &std::process::id().to_string()])
        .status();
    std::process::abort()
}
