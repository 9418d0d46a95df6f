//! A task, or the sample, from its file to its verdict.

use std::path::Path;

use app::{Outcome, task_files};
use contract::AppError;
use contract::rule::HookRule;
use contract::run::{RunHeader, RunSummary};
use contract::task::{Approval, Task};
use serde_json::json;

use crate::Exit;
use crate::arguments::{How, RunArguments, SampleArguments};
use crate::desk::{Desk, answering_as};
use crate::paint::{Screen, clean, number};
use crate::person::Answering;
use crate::{again, envelope_words, estimate_words};

/// `tepa run FILE`.
pub(crate) async fn task(arguments: RunArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(
        answering(&arguments.how),
        arguments.how.json,
        arguments.options.endpoint()?,
    )
    .await?;
    let (unfinished, header) = beginning(&desk, &arguments).await?;
    let again = again::command();
    desk.carry_out(unfinished, || async { Ok(header) }, &again).await
}

/// `tepa plan FILE`: as far as the question whether the plan may run, which nobody answers here.
pub(crate) async fn plan(arguments: RunArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(Answering::Nobody, arguments.how.json, arguments.options.endpoint()?).await?;
    let (unfinished, mut header) = beginning(&desk, &arguments).await?;
    // A plan that nobody is asked about would run.
    if header.task.approval == Approval::Never {
        header.task.approval = Approval::EveryPlan;
    }
    let again = again::command().replacen("tepa plan", "tepa run", 1);
    let run = desk.begin(unfinished, || async { Ok(header) }).await?;
    let outcome = desk.follow(&run).await?;
    let narrator = desk.narrator.lock().await;
    let exit = match &outcome {
        Outcome::Waiting => {
            let used = narrator.state().tokens_used;
            narrator.aside(&format!("\nPlanning took {} tokens.", number(used)));
            if let Some(estimate) = desk.app.estimate(&run).await? {
                match arguments.how.json {
                    // The last of the lines, after the events.
                    true => Screen::out().json(&json!({ "type": "estimate", "estimate": estimate })),
                    false => narrator.aside(&estimate_words::of(&estimate)),
                }
            }
            narrator.aside(&format!(
                "Nothing was done yet, and the run waits. To go on with this plan: {again}"
            ));
            Exit::Pass
        }
        Outcome::Finished(_) | Outcome::Paused | Outcome::Interrupted(_) => {
            drop(narrator);
            desk.end(&run, &outcome, &again).await
        }
    };
    desk.app.close().await?;
    Ok(exit)
}

/// How the run of a task's file begins, or the one that began like that and is not at its end.
async fn beginning(desk: &Desk, arguments: &RunArguments) -> Result<(Option<RunSummary>, RunHeader), AppError> {
    let file = app::task_files::load(&arguments.file).map_err(app::explain)?;
    let value = arguments.options.over(&file.value);
    let reading = task_files::read(&value);
    // A task that cannot run says them with its other problems.
    if !arguments.how.json && reading.task.is_some() {
        for warning in reading.problems.iter().filter(|problem| problem.warning) {
            Screen::err().wrapped(0, &clean(&format!("note: {warning}")));
        }
    }
    let mut granted = arguments.options.granted();
    if !granted.allow_hooks && !arguments.how.json {
        rules_off(reading.task.as_ref());
    }
    if !granted.allow_permissions && !arguments.how.json {
        permissions_off(reading.task.as_ref());
    }
    let asked = reading.task.as_ref().and_then(|task| task.working_folder.as_deref());
    let folder = match &arguments.how.folder {
        Some(folder) => absolute(folder)?,
        None => task_files::folder_of(&file.path, asked).map_err(|outside| folder_outside(&outside))?,
    };
    if let (true, Some(task)) = (arguments.options.allow_effects, &reading.task) {
        let brought = desk.app.effects_of(task, None).await?;
        granted.allow_effects = brought.into_iter().map(|asked| asked.hash).collect();
    }
    let (folder, recording) = (folder.display().to_string(), arguments.recording.as_deref());
    let mut header = match recording {
        Some(recording) => desk.app.header_played(&value, &folder, &granted, recording).await,
        None => desk.app.header_with(&value, &folder, None, &granted).await,
    }
    .map_err(for_terminals)?;
    match arguments.options.approval() {
        Some(approval) => header.task.approval = approval,
        // A file asks; only a person grants.
        None if header.task.approval != Approval::EveryPlan && !arguments.how.yes => {
            header.task.approval = Approval::EveryPlan;
        }
        None => {}
    }
    let unfinished = match arguments.how.new {
        true => None,
        false => desk.app.find_unfinished(&header).await?,
    };
    Ok((unfinished, header))
}

/// Says what a file asks for that nobody granted.
fn permissions_off(task: Option<&Task>) {
    let Some(asked) = task.and_then(|task| envelope_words::asked(&task_files::requests(task))) else {
        return;
    };
    let words = format!(
        "note: the file asks for more than its folder ({asked}); you are asked when it comes to that. To grant all of \
         it: --allow-permissions"
    );
    Screen::err().wrapped(0, &clean(&words));
}

/// Says which rules of a file are not followed, because nobody allowed them.
fn rules_off(task: Option<&Task>) {
    let asked = task.and_then(|task| task.hooks.as_deref()).unwrap_or_default();
    let rules: Vec<String> = asked
        .iter()
        .filter_map(|rule| HookRule::read(rule).ok())
        // Those that reach out are asked about, one by one.
        .filter(|rule| rule.effect().is_none())
        .map(|rule| rule.words())
        .collect();
    if rules.is_empty() {
        return;
    }
    let words = format!(
        "note: the file's rules are off ({}). To follow them: --allow-hooks",
        rules.join("; ")
    );
    Screen::err().wrapped(0, &clean(&words));
}

/// `tepa sample`.
pub(crate) async fn sample(arguments: SampleArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(answering(&arguments.how), arguments.how.json, None).await?;
    let folder = arguments.how.folder.as_deref().map(absolute).transpose()?;
    let unfinished = match arguments.how.new {
        true => None,
        false => desk.app.find_unfinished_sample(folder.as_deref()).await?,
    };
    let again = match &arguments.how.folder {
        Some(folder) => format!("tepa sample --folder {}", again::quoted(folder)),
        None => "tepa sample".to_owned(),
    };
    let header = || async {
        match &folder {
            Some(folder) => desk.app.sample_in(folder).await,
            None => desk.app.new_sample().await,
        }
    };
    desk.carry_out(unfinished, header, &again).await
}

fn answering(how: &How) -> Answering {
    answering_as(how.yes, how.json)
}

/// A folder as it was typed, absolute.
pub(crate) fn absolute(folder: &Path) -> Result<std::path::PathBuf, AppError> {
    std::path::absolute(folder).map_err(|error| {
        AppError::new(
            "no_folder",
            format!("\"{}\" cannot be a folder: {error}", folder.display()),
        )
    })
}

fn folder_outside(outside: &Path) -> AppError {
    let message = format!(
        "the task asks to work in \"{}\", which is outside its own folder",
        outside.display()
    );
    AppError::new("folder_outside", message).hint("If that is right, say so: --folder DIR.")
}

/// Where the settings that an error speaks of are; none when it speaks of none.
pub(crate) fn settings_here(said: &str) -> Option<&'static str> {
    let here = "Settings are in Tepa's window. Here: --url and --model, and keys in the environment (see tepa --help).";
    said.contains("Settings").then_some(here)
}

/// What a person does in a window, they do otherwise here.
pub(crate) fn for_terminals(error: AppError) -> AppError {
    if error.code != "no_model" {
        return error;
    }
    error.hint("Name one: --url URL --model MODEL, such as --url http://localhost:11434 --model qwen3:8b.")
}
