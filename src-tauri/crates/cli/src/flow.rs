//! Flows: what is wrong in a file of one, a run of one to its answer, and a plan that passed as one.

use std::path::Path;

use app::commands::settings::Endpoint;
use app::flow_files::{self, FlowFileError, Mark, Severity};
use app::{App, Config, FlowChange, FlowInput, Outcome};
use contract::AppError;
use contract::error::Problem;
use contract::flow::ChatMessage;
use contract::run::RunHeader;
use contract::step::code;
use serde_json::{Map, Value};

use crate::Exit;
use crate::arguments::{EventNames, FlowCheckArguments, FlowRunArguments, FlowSaveArguments};
use crate::desk::{Desk, answering_as};
use crate::history::find;
use crate::paint::{Screen, clean, count};
use crate::run::{absolute, for_terminals};

/// `tepa flow check FILE`.
pub(crate) fn check(arguments: &FlowCheckArguments) -> Result<Exit, AppError> {
    let screen = Screen::out();
    let check = match flow_files::check(&arguments.file) {
        Ok(check) => check,
        Err(FlowFileError::Syntax {
            line, column, reason, ..
        }) if !arguments.json => {
            let mark = Mark {
                severity: Severity::Error,
                line,
                column,
                path: String::new(),
                message: reason,
            };
            tell(screen, &arguments.file, &mark);
            return Ok(Exit::Usage);
        }
        Err(error) => return Err(app::explain_flow(error)),
    };
    if arguments.json {
        screen.document(&check);
    } else {
        for mark in &check.marks {
            tell(screen, &arguments.file, mark);
        }
        if check.is_good() {
            let steps = count(check.steps as u64, "step", "steps");
            let name = check.id.as_deref().unwrap_or_default();
            screen.line(&format!("The flow \"{}\" can run: {steps}.", clean(name)));
        }
    }
    Ok(if check.is_good() { Exit::Pass } else { Exit::Usage })
}

/// A mark as compilers write theirs, so that an editor can go there.
fn tell(screen: Screen, file: &Path, mark: &Mark) {
    let severity = match mark.severity {
        Severity::Error => screen.red("error:"),
        Severity::Warning => screen.yellow("warning:"),
    };
    let place = match mark.path.as_str() {
        "" => String::new(),
        path => format!("{path}: "),
    };
    let (file, words) = (file.display().to_string(), format!("{place}{}", mark.message));
    screen.line(&format!(
        "{}:{}:{}: {severity} {}",
        clean(&file),
        mark.line,
        mark.column,
        clean(&words).replace('\n', " ")
    ));
}

/// `tepa flow run FILE`.
pub(crate) async fn run(arguments: FlowRunArguments) -> Result<Exit, AppError> {
    let file = flow_files::load(&arguments.file, None).map_err(app::explain_flow)?;
    if !arguments.json {
        let marks = &file.check.marks;
        marks.iter().for_each(|mark| tell(Screen::err(), &arguments.file, mark));
        if !file.check.is_good() {
            return Err(AppError::new("flow_invalid", "the flow cannot run like this")
                .hint("Put right what stands above, then run it again."));
        }
    }
    let given = FlowInput {
        input: input(
            &arguments.input,
            file.flow.as_ref().and_then(|flow| flow.input.as_ref()),
        )?,
        messages: arguments.message.into_iter().map(ChatMessage::user).collect(),
        model: arguments.model.clone(),
    };
    let folder = match (&arguments.folder, file.path.parent()) {
        (Some(folder), _) => absolute(folder)?,
        (None, Some(folder)) => folder.to_owned(),
        (None, None) => absolute(Path::new(""))?,
    };
    let endpoint = arguments
        .url
        .zip(arguments.model)
        .map(|(base_url, model)| Endpoint { base_url, model });
    let desk = Desk::open(answering_as(arguments.yes, arguments.json), arguments.json, endpoint).await?;
    let (folder, granted) = (folder.display().to_string(), arguments.permissions.granted());
    let (app, value, refs) = (&desk.app, &file.value, &file.refs);
    let header = match &arguments.recording {
        Some(played) => {
            app.flow_header_played(value, refs, given, &folder, &granted, &absolute(played)?)
                .await
        }
        None => app.flow_header_with(value, refs, given, &folder, None, &granted).await,
    }
    .map_err(for_terminals)?;
    let unfinished = match arguments.new {
        true => None,
        false => desk.app.find_unfinished(&header).await.map_err(for_terminals)?,
    };
    // What goes on was allowed when it began.
    if unfinished.is_none()
        && let Some(exit) = refused(&desk, &header, arguments.json).await
    {
        desk.app.close().await?;
        return Ok(exit);
    }
    if arguments.events == EventNames::Latent {
        desk.narrator.lock().await.name_as_latent();
    }
    let mut left = arguments.retries;
    let run = desk
        .begin(unfinished, || async { Ok(header) })
        .await
        .map_err(for_terminals)?;
    let outcome = loop {
        let outcome = desk.follow(&run).await?;
        if left == 0 || !may_pass(&outcome) {
            break outcome;
        }
        left -= 1;
        let words = "\nTrying again what failed; what was done stays done.";
        desk.narrator.lock().await.aside(words);
        desk.app.resume(&run).await.map_err(for_terminals)?;
    };
    let exit = desk.end(&run, &outcome, &format!("tepa continue {run}")).await;
    desk.app.close().await?;
    Ok(exit)
}

/// `tepa flow save RUN FILE`.
pub(crate) async fn save(arguments: FlowSaveArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let flow = app.flow_of(&run).await?;
    app.close().await?;
    let file = &arguments.file;
    if file.exists() {
        let message = format!("\"{}\" is there already", file.display());
        return Err(AppError::new("file_exists", message).hint("Choose another name, or move the file away first."));
    }
    flow_files::save(file, &flow).map_err(app::explain_flow)?;
    let check = flow_files::check(file).map_err(app::explain_flow)?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&check);
    } else {
        let (name, steps) = (file.display().to_string(), count(check.steps as u64, "step", "steps"));
        check.marks.iter().for_each(|mark| tell(screen, file, mark));
        screen.line(&format!("Saved as {}: {steps}.", clean(&name)));
        screen.line(&screen.dim(&format!("To do the same again: tepa flow run {}", clean(&name))));
    }
    Ok(Exit::Pass)
}

/// Whether another attempt may come to another end: the failure may pass, or a tool was too slow.
fn may_pass(outcome: &Outcome) -> bool {
    let Outcome::Finished(result) = outcome else {
        return false;
    };
    let error = result.error.as_ref();
    error.is_some_and(|error| error.retryable || error.code == code::TOOL_TIMEOUT)
}

/// How the program ends when the person does not allow what the flow may change; none when they do, or it changes
/// nothing. A file asks; only a person grants.
async fn refused(desk: &Desk, header: &RunHeader, json: bool) -> Option<Exit> {
    let changes = desk.app.flow_changes(header);
    if changes.is_empty() {
        return None;
    }
    let folder = &header.envelope.folder;
    let problems: Vec<Problem> = changes
        .into_iter()
        .map(|change| Problem::new(change.step.clone(), may(&change)))
        .collect();
    if !json {
        let screen = Screen::out();
        screen.wrapped(0, &clean(&format!("This flow may change files in {folder}:")));
        for problem in &problems {
            screen.wrapped(2, &clean(&problem.to_string()));
        }
    }
    match desk.confirm("Run it?").await {
        Some(true) => None,
        Some(false) => {
            desk.narrator.lock().await.aside("Nothing was done.");
            Some(Exit::Stopped)
        }
        None => {
            let message = format!("the flow may change files in \"{folder}\", and nobody is here to allow it");
            let error = AppError {
                problems: if json { problems } else { Vec::new() },
                ..AppError::new("not_allowed", message)
                    .hint("Nothing was done. Add --yes to allow it, or start it in a terminal to be asked.")
            };
            crate::report(&error, json);
            Some(Exit::Waiting)
        }
    }
}

/// What a step may do, in words.
fn may(change: &FlowChange) -> String {
    match (&change.tool, change.paths.as_slice()) {
        (None, _) => "carries out a task of its own, whose plan says what it changes".to_owned(),
        (Some(tool), []) => format!("{tool}, on files that are chosen while it runs"),
        (Some(tool), paths) => format!("{tool} on {}", paths.join(", ")),
    }
}

/// What a flow is given: one value, or keys with values. `declared` is the JSON Schema of it, where the flow has one: a
/// key that is text there stays text.
fn input(words: &[String], declared: Option<&Value>) -> Result<Value, AppError> {
    let mut fields = Map::new();
    for text in words {
        match (serde_json::from_str::<Value>(text), keyed(text)) {
            (Ok(Value::Object(more)), _) => fields.extend(more),
            (Ok(value), _) if words.len() == 1 => return Ok(value),
            (Err(_), Some((key, text))) => {
                fields.insert(key.to_owned(), value(key, text, declared));
            }
            (Err(error), None) if declared.is_some() && text.trim_start().starts_with(['{', '[']) => {
                let message = format!("the input begins like JSON and is none: {error}");
                return Err(
                    AppError::new("usage", message).hint("Write it as --input KEY=VALUE, or put the JSON right.")
                );
            }
            (Err(_), None) if words.len() == 1 => return Ok(Value::String(text.clone())),
            (_, _) => {
                let message = format!("\"{}\" is neither KEY=VALUE nor a JSON object", clean(text));
                return Err(AppError::new("usage", message)
                    .hint("Several inputs are keys: --input topic=tea --input '{\"count\": 3}'."));
            }
        }
    }
    // Without any key a flow with keys says which of them it needs.
    Ok(match words.is_empty() && declared.is_none() {
        true => Value::Null,
        false => Value::Object(fields),
    })
}

/// A key and what follows it, when it can be a key.
fn keyed(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let fits = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    (!key.is_empty() && key.chars().all(fits)).then_some((key, value))
}

fn value(key: &str, text: &str, declared: Option<&Value>) -> Value {
    let kind = declared.and_then(|schema| schema.get("properties")?.get(key)?.get("type")?.as_str());
    match kind {
        Some("string") => Value::String(text.to_owned()),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(words: &[&str], declared: Option<&Value>) -> Option<Value> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        input(&words, declared).ok()
    }

    #[test]
    fn an_input_is_one_value_or_keys_with_values() {
        assert_eq!(given(&[], None), Some(json!(null)));
        assert_eq!(given(&["hello you"], None), Some(json!("hello you")));
        assert_eq!(given(&["is a b = c"], None), Some(json!("is a b = c")));
        assert_eq!(given(&["[1]"], None), Some(json!([1])));
        assert_eq!(given(&["a=1", "b=x=y"], None), Some(json!({"a": 1, "b": "x=y"})));
        assert_eq!(given(&["{\"a\": 1}", "b=2"], None), Some(json!({"a": 1, "b": 2})));
        assert_eq!(given(&["hello", "a=1"], None), None);
        assert_eq!(given(&["1", "a=1"], None), None);
    }

    #[test]
    fn a_key_that_is_text_stays_text() {
        let declared = json!({"type": "object", "properties": {"year": {"type": "string"}}});
        let given = given(&["year=2024", "count=3"], Some(&declared));
        assert_eq!(given, Some(json!({"year": "2024", "count": 3})));
    }
}
