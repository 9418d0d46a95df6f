//! A run's past, gone through once more.

use app::commands::settings::Endpoint;
use app::replays::{RecomputeStatus, RecomputedCall, Replayed, path_text};
use app::{App, Config};
use contract::AppError;
use contract::run::RunStatus;

use crate::Exit;
use crate::arguments::{RecomputeArguments, ReplayArguments};
use crate::history::find;
use crate::paint::{Screen, clean, duration, number};
use crate::run::for_terminals;

/// `tepa replay RUN`.
pub(crate) async fn replay(arguments: ReplayArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let replayed = app.replay(&run).await?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&replayed);
    } else {
        tell_replay(screen, &replayed);
    }
    Ok(if replayed.same { Exit::Pass } else { Exit::Fail })
}

fn tell_replay(screen: Screen, replayed: &Replayed) {
    let ended = match replayed.status {
        RunStatus::Pass => "passed",
        RunStatus::Fail => "failed",
        RunStatus::Terminated => "was stopped",
        RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => "did not come to an end",
    };
    if replayed.same {
        screen.line(&format!(
            "{}  the replay {ended} and came to the same, {}",
            screen.green("SAME"),
            replayed.final_hash.as_str()
        ));
    } else {
        screen.line(&format!("{}  the replay {ended}", screen.red("DIFFERENT")));
        screen.line(&format!("  then  {}", replayed.source_hash.as_str()));
        screen.line(&format!("  now   {}", replayed.final_hash.as_str()));
        screen.wrapped(2, &clean(&replayed.feedback));
        if replayed.reopened {
            screen.wrapped(
                2,
                "The run went on after it had ended once, which a replay does not: the difference may be only that.",
            );
        }
    }
    screen.line(&screen.dim(&format!("To look at it: tepa show {}", replayed.run_id)));
}

/// `tepa recompute RUN STEP`.
pub(crate) async fn recompute(arguments: RecomputeArguments) -> Result<Exit, AppError> {
    let endpoint = arguments.url.zip(arguments.model.clone());
    let config = Config {
        endpoint: endpoint.map(|(base_url, model)| Endpoint { base_url, model }),
        ..Config::default()
    };
    let app = App::open(config).await?;
    let run = find(&app, &arguments.run).await?;
    let calls = app
        .recompute(&run, &arguments.step, arguments.model.as_deref())
        .await
        .map_err(for_terminals)?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&calls);
    } else {
        calls.iter().for_each(|call| tell_call(screen, call));
    }
    let same = calls.iter().all(|call| call.status == Some(RecomputeStatus::Clean));
    Ok(if same { Exit::Pass } else { Exit::Fail })
}

fn tell_call(screen: Screen, call: &RecomputedCall) {
    let status = match call.status {
        None => screen.red("failed"),
        Some(status @ RecomputeStatus::SchemaViolation) => screen.red(&status.to_string()),
        Some(status @ RecomputeStatus::ValueChanged) => screen.yellow(&status.to_string()),
        Some(status @ RecomputeStatus::Clean) => screen.green(&status.to_string()),
    };
    let model = match call.model_before == call.model_after {
        true => call.model_after.clone(),
        false => format!("{} instead of {}", call.model_after, call.model_before),
    };
    screen.line(&format!("{}  {status}", screen.bold(&clean(call.key.as_str()))));
    if let Some(error) = &call.error {
        screen.wrapped(2, &clean(&error.message));
        screen.wrapped(2, "Nothing was asked after it; what was answered before stands above.");
        return;
    }
    let tokens = number(call.usage.total());
    let facts = format!("  {}, {tokens} tokens, {}", clean(&model), duration(call.duration_ms));
    screen.line(&screen.dim(&facts));
    for violation in &call.violations {
        let place = path_text(&violation.path);
        screen.wrapped(2, &clean(&format!("{place} does not fit: {}", violation.message)));
    }
    if !call.comparable {
        screen.line("  There is no answer of then to compare it with.");
    }
    if call.diff.is_equal() {
        return;
    }
    for line in call.diff.to_string().lines() {
        screen.line(&format!("  {}", clean(line)));
    }
}
