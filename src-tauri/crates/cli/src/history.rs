//! Runs of the past: the list, and one of them from its beginning.

use std::sync::Arc;

use app::commands::runs::{ListRuns, list as runs};
use app::{App, Config};
use contract::dates::moment;
use contract::run::{RunStatus, RunSummary, StopReason};
use contract::{AppError, RunId};
use tokio::sync::Mutex;

use crate::Exit;
use crate::arguments::{HistoryArguments, ShowArguments};
use crate::desk::catch_up;
use crate::narrator::Narrator;
use crate::paint::{Screen, clean, count, number};

/// `tepa history`.
pub(crate) async fn list(arguments: HistoryArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let text = Some(arguments.words.join(" ")).filter(|text| !text.is_empty());
    let ended = arguments.ended.as_deref().map(reason).transpose()?;
    let filtered = text.is_some() || ended.is_some();
    let page = runs(
        &app,
        ListRuns {
            cursor: None,
            limit: arguments.limit,
            status: None,
            text,
            ended,
        },
    )
    .await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&page);
    } else {
        page.runs.iter().for_each(|summary| tell(screen, summary));
    }
    if !arguments.json && page.runs.is_empty() {
        screen.line(match filtered {
            true => "No run is like this.",
            false => "There are no runs yet. Start with: tepa sample",
        });
    }
    if !arguments.json && page.next.is_some() {
        screen.line(&screen.dim(&format!(
            "There are more: --limit {}",
            arguments.limit.saturating_mul(2)
        )));
    }
    app.close().await?;
    Ok(Exit::Pass)
}

/// The reason of this name.
fn reason(name: &str) -> Result<StopReason, AppError> {
    serde_json::from_value(serde_json::Value::from(name)).map_err(|_| {
        AppError::new("invalid_reason", format!("no run ends for \"{name}\""))
            .hint("Write passed, accepted, max_cycles, no_progress, rejected, error, budget or cancelled.")
    })
}

fn tell(screen: Screen, summary: &RunSummary) {
    let status = match (summary.status, summary.driven) {
        (RunStatus::Pass, _) => screen.green("passed"),
        (RunStatus::Fail, _) => screen.red("failed"),
        (RunStatus::Terminated, _) => screen.yellow("stopped"),
        (RunStatus::Waiting, _) => screen.yellow("waits for you"),
        (RunStatus::Paused, _) => screen.yellow("paused"),
        (RunStatus::Running, true) => "at work".to_owned(),
        (RunStatus::Running, false) => screen.yellow("interrupted"),
    };
    let cycles = count(u64::from(summary.cycles), "cycle", "cycles");
    screen.line(&format!("{}  {status}", screen.bold(&clean(&summary.title))));
    let facts = format!(
        "  {} UTC, {cycles}, {} tokens, {}",
        moment(summary.started_at_ms),
        number(summary.tokens_used),
        clean(&summary.folder)
    );
    screen.line(&facts);
    screen.line(&screen.dim(&format!("  {}", summary.run_id)));
}

/// `tepa show RUN`.
pub(crate) async fn show(arguments: ShowArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let summary = app.summary(&run).await?;
    let narrator = Arc::new(Mutex::new(Narrator::new(Screen::out(), arguments.json)));
    catch_up(&app, &run, &narrator).await?;
    let narrator = narrator.lock().await;
    if narrator.state().result.is_none() {
        narrator.aside(match (summary.status, summary.driven) {
            (_, true) => "\nIt is at work now.",
            (RunStatus::Waiting, false) => "\nIt waits for you.",
            (_, false) => "\nIt was interrupted, and can be continued.",
        });
    }
    app.close().await?;
    Ok(Exit::Pass)
}

/// The run of this id, or the newest.
pub(crate) async fn find(app: &App, named: &str) -> Result<RunId, AppError> {
    if named != "last" {
        let run = RunId::new(named);
        return match app.summary(&run).await {
            Ok(_) => Ok(run),
            Err(error) if error.code == "not_found" => Err(error.hint("All runs with their ids: tepa history")),
            Err(error) => Err(error),
        };
    }
    let page = runs(
        app,
        ListRuns {
            cursor: None,
            limit: 1,
            status: None,
            text: None,
            ended: None,
        },
    )
    .await?;
    let newest = page.runs.into_iter().next();
    newest
        .map(|summary| summary.run_id)
        .ok_or_else(|| AppError::new("not_found", "there are no runs yet").hint("Start with: tepa sample"))
}
