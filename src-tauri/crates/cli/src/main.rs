//! The terminal: the same engine as the window, without one.
//!
//! Read in this order: [`arguments`] with [`options`] and [`permissions`] (what can be asked), [`run`] (a task or the sample, to its plan or
//! its verdict) and [`flow`] (steps with fixed routes) on their [`desk`], [`steer`] (one that goes on), [`undo`] (what it
//! changed taken back), [`person`] (who approves plans here), [`narrator`] with [`plan_words`] (what a run looks like in
//! words), [`history`], [`mod@compare`], [`archive`] and [`replays`] (runs of the past), [`checks`] and [`models`] (what
//! there is), [`grants`] (what was allowed for good), [`servers`] (MCP servers), [`search`] (the search service), [`bench`],
//! and [`paint`].
//!
//! Deliberately not here: what a run does. It is all in the app.

mod again;
mod archive;
mod arguments;
mod bench;
mod checks;
mod compare;
mod desk;
mod diagnostics;
mod envelope_words;
mod estimate_words;
mod flow;
mod form;
mod grants;
mod history;
mod models;
mod narrator;
mod options;
mod paint;
mod permissions;
mod person;
mod plan_words;
mod record;
mod replays;
mod run;
mod search;
mod servers;
mod steer;
mod undo;
mod wrap;

use std::process::ExitCode;

use clap::Parser;
use contract::AppError;

use crate::arguments::{Arguments, Command, FlowCommand};
use crate::paint::{Screen, clean};

/// How the program ends, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The criteria hold, or what was asked was done.
    Pass = 0,
    /// They do not.
    Fail = 1,
    /// It could not start as asked.
    Usage = 2,
    /// A limit or a person ended it, or it was left in the middle.
    Stopped = 3,
    /// A person has to say something first.
    Waiting = 4,
}

fn main() -> ExitCode {
    if let Some(ended) = app::serve_if_asked() {
        return ended;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refused) => return ExitCode::from(misspelt(&refused) as u8),
    };
    let json = arguments.command.json();
    let exit = match runtime(&arguments.command) {
        Ok(runtime) => {
            let done = runtime.block_on(work(arguments.command));
            // A thread that still waits for a line of the keyboard must not keep the program.
            runtime.shutdown_background();
            done.unwrap_or_else(|error| report(&error, json))
        }
        Err(error) => report(
            &AppError::new("internal", format!("the program cannot start: {error}")),
            json,
        ),
    };
    ExitCode::from(exit as u8)
}

/// What is measured runs on one thread: more would only hand the same work around.
fn runtime(command: &Command) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match command {
        Command::Bench(_) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}

async fn work(command: Command) -> Result<Exit, AppError> {
    match command {
        Command::Run(arguments) => run::task(arguments).await,
        Command::Sample(arguments) => run::sample(arguments).await,
        Command::Plan(arguments) => run::plan(arguments).await,
        Command::Continue(arguments) => steer::go_on(arguments).await,
        Command::Guide(arguments) => steer::guide(arguments).await,
        Command::Accept(arguments) => steer::accept(arguments).await,
        Command::Undo(arguments) => undo::undo(arguments).await,
        Command::History(arguments) => history::list(arguments).await,
        Command::Show(arguments) => history::show(arguments).await,
        Command::Diagnostics(arguments) => diagnostics::write(arguments).await,
        Command::Bench(arguments) => bench::run(arguments).await,
        Command::Compare(arguments) => compare::runs(arguments).await,
        Command::Export(arguments) => archive::export(arguments).await,
        Command::Import(arguments) => archive::import(arguments).await,
        Command::Record(arguments) => record::run(arguments).await,
        Command::Replay(arguments) => replays::replay(arguments).await,
        Command::Recompute(arguments) => replays::recompute(arguments).await,
        Command::Flow(FlowCommand::Check(arguments)) => flow::check(&arguments),
        Command::Flow(FlowCommand::Run(arguments)) => flow::run(*arguments).await,
        Command::Flow(FlowCommand::Save(arguments)) => flow::save(arguments).await,
        Command::Checks(arguments) => checks::list(&arguments),
        Command::Models(arguments) => models::list(arguments).await,
        Command::Grants(arguments) => grants::list(arguments).await,
        Command::Mcp(arguments) => servers::work(arguments).await,
        Command::Search(arguments) => search::work(arguments).await,
    }
}

/// Says what is wrong with the words that were typed; or shows the help or the version that they asked for.
fn misspelt(refused: &clap::Error) -> Exit {
    let is_asked = !refused.use_stderr();
    if is_asked || !std::env::args_os().any(|argument| argument == "--json") {
        // Nobody is there to hear that nobody could be told.
        let _ = refused.print();
        return if is_asked { Exit::Pass } else { Exit::Usage };
    }
    let words = refused.render().to_string();
    let first = words.lines().take_while(|line| !line.trim().is_empty());
    let message = first.map(str::trim).collect::<Vec<_>>().join(" ");
    let message = message.trim_start_matches("error: ").to_owned();
    report(
        &AppError::new("usage", message).hint("What can be asked: tepa --help"),
        true,
    )
}

/// Says what went wrong before or instead of a run.
fn report(error: &AppError, json: bool) -> Exit {
    if json {
        Screen::out().json(&serde_json::json!({ "error": error }));
        return Exit::Usage;
    }
    let screen = Screen::err();
    // An error may quote a file, a server or a program.
    screen.line(&format!("{} {}", screen.red("error:"), clean(&error.to_string())));
    for problem in &error.problems {
        screen.wrapped(2, &clean(&problem.to_string()));
    }
    if let Some(hint) = &error.hint {
        screen.wrapped(0, &clean(hint));
    }
    let said = format!("{error} {}", error.hint.as_deref().unwrap_or_default());
    if let Some(here) = run::settings_here(&said) {
        screen.wrapped(0, &screen.dim(here));
    }
    Exit::Usage
}
