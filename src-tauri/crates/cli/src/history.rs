//! Runs of the past: the list, and one of them from its beginning.

use std::sync::Arc;

use app::commands::runs::{ListRuns, list as runs};
use app::{App, Config};
use contract::dates::moment;
use contract::found::{Found, FoundIn};
use contract::run::{RunStatus, RunSummary, StopReason};
use contract::{AppError, RunId};
use tokio::sync::Mutex;

use crate::Exit;
use crate::arguments::{HistoryArguments, ShowArguments};
use crate::desk::catch_up;
use crate::estimate_words::amount;
use crate::narrator::Narrator;
use crate::paint::{Screen, clean, count, number};

/// `tepa history`.
pub(crate) async fn list(arguments: HistoryArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let text = Some(arguments.words.join(" ")).filter(|text| !text.is_empty());
    let ended = arguments.ended.as_deref().map(reason).transpose()?;
    let filtered = text.is_some()
        || ended.is_some()
        || arguments.model.is_some()
        || arguments.cost_from.is_some()
        || arguments.cost_below.is_some();
    let page = runs(
        &app,
        ListRuns {
            limit: arguments.limit,
            text,
            ended,
            model: arguments.model,
            cost_from: arguments.cost_from,
            cost_below: arguments.cost_below,
            ..ListRuns::default()
        },
    )
    .await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&page);
    } else {
        for summary in &page.runs {
            tell(screen, summary);
            let found = page.found.iter().find(|found| found.run_id == summary.run_id);
            if let Some(found) = found.filter(|found| found.place != FoundIn::Title) {
                screen.line(&format!("  {}", marked(screen, found)));
            }
        }
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
        "  {} UTC, {cycles}, {} tokens, {}{}",
        moment(summary.started_at_ms),
        number(summary.tokens_used),
        cost_words(summary).map(|cost| cost + ", ").unwrap_or_default(),
        clean(&summary.folder)
    );
    screen.line(&facts);
    screen.line(&screen.dim(&format!("  {}", summary.run_id)));
}

/// What a run cost, as far as it is known; a price that is not known is said.
fn cost_words(summary: &RunSummary) -> Option<String> {
    let cost = summary.cost.as_ref().filter(|cost| !cost.currency.is_empty())?;
    let least = if cost.unpriced.is_empty() { "" } else { "at least " };
    Some(format!("{least}{} {}", amount(cost.amount), clean(&cost.currency)))
}

/// Where the words were found, with those words in bold.
fn marked(screen: Screen, found: &Found) -> String {
    let units: Vec<u16> = found.text.encode_utf16().collect();
    let piece = |from: usize, to: usize| clean(&String::from_utf16_lossy(units.get(from..to).unwrap_or_default()));
    let mut line = String::new();
    let mut at = 0;
    for mark in &found.marks {
        let (from, to) = (mark.from as usize, mark.to as usize);
        line += &screen.dim(&piece(at, from));
        line += &screen.bold(&piece(from, to));
        at = to;
    }
    line + &screen.dim(&piece(at, units.len()))
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
            limit: 1,
            ..ListRuns::default()
        },
    )
    .await?;
    let newest = page.runs.into_iter().next();
    newest
        .map(|summary| summary.run_id)
        .ok_or_else(|| AppError::new("not_found", "there are no runs yet").hint("Start with: tepa sample"))
}
