//! What a person does with a run that stands still or has ended: let it go on, tell it something, accept what it made.

use app::commands::settings::Endpoint;
use app::{App, Config, LimitsChange};
use contract::{AppError, RunId};

use crate::Exit;
use crate::arguments::{AcceptArguments, ContinueArguments, GoOnHow, GuideArguments};
use crate::desk::{Desk, answering_as};
use crate::history::find;
use crate::narrator::ending;
use crate::paint::{Screen, clean};
use crate::run::for_terminals;

/// `tepa continue RUN`.
pub(crate) async fn go_on(arguments: ContinueArguments) -> Result<Exit, AppError> {
    let desk = open(&arguments.how).await?;
    let run = find(&desk.app, &arguments.run).await?;
    let limits = LimitsChange {
        max_cycles: arguments.max_cycles,
        max_tokens: arguments.max_tokens,
        max_cost: arguments.max_cost,
        without_max_cost: arguments.no_max_cost,
        max_minutes: arguments.max_minutes,
        without_max_minutes: arguments.no_max_minutes,
        ..LimitsChange::default()
    };
    let run = match arguments.fork {
        true => desk.app.fork(&run).await.map_err(for_terminals)?,
        false => run,
    };
    if limits != LimitsChange::default() {
        desk.app.raise(&run, &limits).await.map_err(for_terminals)?;
    } else if !arguments.fork {
        desk.app.resume(&run).await.map_err(for_terminals)?;
    }
    to_its_end(&desk, &run).await
}

/// `tepa guide RUN WORDS`.
pub(crate) async fn guide(arguments: GuideArguments) -> Result<Exit, AppError> {
    let desk = open(&arguments.how).await?;
    let run = find(&desk.app, &arguments.run).await?;
    let words = arguments.words.join(" ");
    desk.app.guide(&run, &words).await.map_err(in_terminal_words)?;
    to_its_end(&desk, &run).await
}

/// `tepa accept RUN [WORDS]`.
pub(crate) async fn accept(arguments: AcceptArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let words = arguments.words.join(" ");
    let result = app
        .accept(&run, Some(words.as_str()).filter(|words| !words.is_empty()))
        .await?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&result);
    } else {
        screen.line(&screen.green(&ending(&result)));
        screen.wrapped(0, &clean(&result.feedback));
        screen.line(&format!("The whole run: tepa show {run}"));
    }
    Ok(Exit::Pass)
}

async fn open(how: &GoOnHow) -> Result<Desk, AppError> {
    let endpoint = how.url.clone().zip(how.model.clone());
    let endpoint = endpoint.map(|(base_url, model)| Endpoint { base_url, model });
    Desk::open(answering_as(how.yes, how.json), how.json, endpoint).await
}

async fn to_its_end(desk: &Desk, run: &RunId) -> Result<Exit, AppError> {
    let outcome = desk.follow(run).await?;
    let exit = desk.end(run, &outcome, &format!("tepa continue {run}")).await;
    desk.app.close().await?;
    Ok(exit)
}

fn in_terminal_words(error: AppError) -> AppError {
    match error.code.as_str() {
        "no_budget" => error.hint("Give it more: tepa continue RUN --max-tokens N, or --max-cost AMOUNT."),
        _ => for_terminals(error),
    }
}
