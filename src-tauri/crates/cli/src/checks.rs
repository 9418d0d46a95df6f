//! What a criterion can be checked by.

use contract::AppError;
use contract::ports::check::CheckInfo;
use serde_json::Value;

use crate::Exit;
use crate::arguments::ChecksArguments;
use crate::paint::{Screen, clean};

/// `tepa checks [NAME]`.
pub(crate) fn list(arguments: &ChecksArguments) -> Result<Exit, AppError> {
    let checks = app::catalog::checks();
    let screen = Screen::out();
    let Some(name) = &arguments.name else {
        if arguments.json {
            screen.document(&checks);
        } else {
            checks.iter().for_each(|check| in_a_line(screen, check));
        }
        return Ok(Exit::Pass);
    };
    let Some(check) = checks.iter().find(|check| check.name == *name) else {
        return Err(
            AppError::new("not_found", format!("there is no check \"{}\"", clean(name)))
                .hint("All of them: tepa checks"),
        );
    };
    if arguments.json {
        screen.document(check);
    } else {
        in_full(screen, check);
    }
    Ok(Exit::Pass)
}

fn in_a_line(screen: Screen, check: &CheckInfo) {
    let names: Vec<&str> = arguments(check).map(|(name, _)| name.as_str()).collect();
    let names = match names.is_empty() {
        true => String::new(),
        false => format!("  {{ {} }}", names.join(", ")),
    };
    screen.line(&format!("{}{}", screen.bold(&check.name), screen.dim(&names)));
    screen.wrapped(2, &check.description);
}

fn in_full(screen: Screen, check: &CheckInfo) {
    screen.line(&format!("{}  {}", screen.bold(&check.name), check.title));
    screen.wrapped(0, &check.description);
    let required = check.schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|one| one == name));
    for (name, schema) in arguments(check) {
        let note = if is_required(name) { "" } else { " (optional)" };
        screen.line("");
        screen.line(&format!("  {}  {}{note}", screen.bold(name), kind(schema)));
        screen.wrapped(4, schema.get("description").and_then(Value::as_str).unwrap_or_default());
    }
    screen.line("");
    match check.schema.get("x-short").and_then(Value::as_str) {
        Some(short) => screen.line(&format!("Short form: {}: VALUE sets {short}.", check.name)),
        None if arguments(check).next().is_none() => {
            screen.line(&format!("It takes no arguments: check: {}", check.name))
        }
        None => {}
    }
}

fn arguments(check: &CheckInfo) -> impl Iterator<Item = (&String, &Value)> {
    check
        .schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// What a value must be, in a word or two.
fn kind(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null")
                .collect();
            kinds.join(" or ")
        }
        _ => "value".to_owned(),
    }
}
