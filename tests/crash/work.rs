//! The victim of `tests/crash`: does one piece of work in the real app, in a process of its own, and says what it
//! is told is written. Started again on the same folders it goes on.
//!
//! `crash_work ROOT WORK [NAME=VALUE...]` works in `ROOT/data` and `ROOT/work` and writes every model call and tool
//! execution to `ROOT/log` as it begins. It exits with 0 when the run came to its end. The works
//! `undo` and `redo` take back what the newest run changed, and bring it again. What may go wrong is chosen
//! by name: `die=before|after` a tool's execution, `answer=mark|again|stop` to an uncertain change, and
//! `mutant=lazy|wordless|unsynced|blind|deaf`, an app that breaks its word.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the test that starts it listens to what it prints"
)]

mod victim;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use app::{App, Config, FlowInput, KeyPlace, Outcome, Pace, UndoWish};
use contract::RunId;
use contract::run::RunHeader;

use victim::journal::{self, Mutant};
use victim::log::Log;
use victim::model::model;
use victim::person::Person;
use victim::tools;

/// How often a run that stopped is continued before the process gives up.
const PATIENCE: usize = 5;

fn main() -> ExitCode {
    app::serve_if_asked().unwrap_or_else(work)
}

#[tokio::main]
async fn work() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Vec<String>) -> Result<(), String> {
    let [root, work, how @ ..] = args.as_slice() else {
        return Err("crash_work ROOT WORK [NAME=VALUE...]".to_owned());
    };
    let chosen = |name: &str| how.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let root = PathBuf::from(root);
    let log = Arc::new(Log(root.join("log")));
    let mutant = chosen("mutant").map(Mutant::named).transpose()?;
    let config = Config {
        data_folder: Some(root.join("data")),
        keys: KeyPlace::Memory,
        pace: Pace::Instant,
        people: Some(Arc::new(Person::named(chosen("answer"))?)),
        providers: vec![model(work, Arc::clone(&log))],
        tools: tools::all(&log, chosen("die"), mutant == Some(Mutant::Blind)),
        journal: Some(journal::telling(mutant)),
        ..Config::default()
    };
    let app = App::open(config).await.map_err(|error| error.to_string())?;
    if work == "undo" || work == "redo" {
        return undo(&app, work == "redo").await;
    }
    let folder = root.join("work").display().to_string();
    let header = match victim::works::flow(work) {
        Some(flow) => {
            let given = FlowInput::default();
            app.flow_header(&flow, &Default::default(), given, &folder, None).await
        }
        None => app.header(&victim::works::task(work)?, &folder, None).await,
    };
    drive(&app, header.map_err(|error| error.to_string())?).await
}

/// Undoes what the newest run changed, or brings it back; that there is nothing to do is an end too.
async fn undo(app: &App, redo: bool) -> Result<(), String> {
    let list = serde_json::json!({ "limit": 1 });
    let runs = app::ipc::dispatch(app, "run_list", list)
        .await
        .map_err(|error| error.to_string())?;
    let run = RunId::new(runs["runs"][0]["runId"].as_str().unwrap_or_default());
    let wish = UndoWish {
        redo,
        ..UndoWish::default()
    };
    match app.undo(&run, &wish).await {
        Ok(result) if !result.left.is_empty() => return Err(format!("files are left: {:?}", result.left)),
        Ok(_) => println!("undone"),
        Err(error) if error.code == "nothing_to_undo" => println!("nothing"),
        Err(error) => return Err(error.to_string()),
    }
    app.close().await.map_err(|error| error.to_string())
}

/// Starts the run, or goes on with it; a run that stops because nothing could be written is continued.
async fn drive(app: &App, header: RunHeader) -> Result<(), String> {
    for _ in 0..PATIENCE {
        let ended = match app.find_unfinished(&header).await {
            Ok(Some(summary)) => app.resume(&summary.run_id).await.map(|()| summary.run_id),
            Ok(None) => app.start(header.clone()).await,
            Err(error) => Err(error),
        };
        let outcome = match ended {
            Ok(run) => app.outcome(&run).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Outcome::Finished(result)) => {
                println!("finished {:?}", result.stop_reason);
                return app.close().await.map_err(|error| error.to_string());
            }
            Ok(Outcome::Waiting) => return Err("it waits for a person".to_owned()),
            Ok(Outcome::Paused) => return Err("it was paused".to_owned()),
            Ok(Outcome::Interrupted(error)) | Err(error) => println!("stopped {}: {}", error.code, error.message),
        }
    }
    Err("it stopped too often".to_owned())
}
