//! The search service: which one is set up, setting one up, its key, a trial, and removing it.

use std::io::BufRead;

use app::{App, Config, ipc};
use contract::AppError;
use serde_json::{Value, json};

use crate::Exit;
use crate::arguments::{SearchArguments, SearchCommand};
use crate::paint::{Screen, clean};

/// `tepa search`, `tepa search use KIND [ADDRESS]`, `tepa search key`, `tepa search test`, `tepa search remove`.
pub(crate) async fn work(arguments: SearchArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let done = act(&app, &arguments).await;
    app.close().await?;
    done
}

async fn act(app: &App, arguments: &SearchArguments) -> Result<Exit, AppError> {
    match &arguments.what {
        None => Ok(say(arguments, &standing(app).await?, words)),
        Some(SearchCommand::Use { kind, address }) => {
            let mut settings = ipc::dispatch(app, "settings_get", Value::Null).await?;
            settings["search"] = match address {
                Some(address) => json!({ "kind": kind, "baseUrl": address }),
                None => json!({ "kind": kind }),
            };
            ipc::dispatch(app, "settings_set", settings).await?;
            Ok(say(arguments, &standing(app).await?, words))
        }
        Some(SearchCommand::Key) => {
            let standing = standing(app).await?;
            if standing["service"].is_null() {
                return Err(AppError::new("search_not_set_up", "no search service is set up yet")
                    .hint("Choose one first, such as `tepa search use brave`."));
            }
            let request = json!({ "account": standing["account"], "key": line()?, "baseUrl": standing["address"] });
            let kept = ipc::dispatch(app, "key_set", request).await?;
            Ok(say(arguments, &kept, |kept| match kept["source"].as_str() {
                Some("session") => {
                    "There is no keychain here, so the key is forgotten when this command ends. TEPA_SEARCH_KEY in the \
                     environment is read each time."
                        .to_owned()
                }
                _ => "The key is in the keychain.".to_owned(),
            }))
        }
        Some(SearchCommand::Test) => {
            let tested = ipc::dispatch(app, "search_test", Value::Null).await?;
            let ok = tested["ok"] == true;
            say(arguments, &tested, |tested| text(&tested["message"]).to_owned());
            Ok(if ok { Exit::Pass } else { Exit::Fail })
        }
        Some(SearchCommand::Remove) => {
            let standing = standing(app).await?;
            let mut settings = ipc::dispatch(app, "settings_get", Value::Null).await?;
            settings["search"] = Value::Null;
            ipc::dispatch(app, "settings_set", settings).await?;
            ipc::dispatch(app, "key_delete", json!({ "account": standing["account"] })).await?;
            Ok(say(arguments, &json!({ "removed": standing["service"] }), |_| {
                "Removed, with its key.".to_owned()
            }))
        }
    }
}

/// Which service is set up, where it is, and what may be said of its key.
async fn standing(app: &App) -> Result<Value, AppError> {
    let settings = ipc::dispatch(app, "settings_get", Value::Null).await?;
    let kinds = ipc::dispatch(app, "search_kinds", Value::Null).await?;
    let service = &settings["search"];
    let all = kinds["kinds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kind = all.iter().find(|kind| kind["name"] == service["kind"]);
    let usual = kind.map_or(&Value::Null, |kind| &kind["baseUrl"]);
    let address = if service["baseUrl"].is_null() {
        usual
    } else {
        &service["baseUrl"]
    };
    let key = ipc::dispatch(app, "key_info", json!({ "account": kinds["account"] })).await?;
    Ok(json!({
        "service": service, "title": kind.map(|kind| &kind["title"]), "address": address, "account": kinds["account"],
        "needsKey": kind.map(|kind| &kind["needsKey"]), "key": key,
        "kinds": all.iter().map(|kind| &kind["name"]).collect::<Vec<_>>(),
    }))
}

fn words(standing: &Value) -> String {
    if standing["service"].is_null() {
        let names: Vec<&str> = standing["kinds"].as_array().into_iter().flatten().map(text).collect();
        return format!(
            "No search service is set up, so no plan can search the web. `tepa search use KIND [ADDRESS]` sets one up: {}.",
            names.join(", ")
        );
    }
    let key = match (standing["needsKey"] == true, standing["key"].is_null()) {
        (false, _) => String::new(),
        (true, true) => " Its key is missing: `tepa search key` reads it from a line.".to_owned(),
        (true, false) => " Its key is there.".to_owned(),
    };
    format!(
        "Plans search with {} at {}.{key}",
        text(&standing["title"]),
        text(&standing["address"])
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn say(arguments: &SearchArguments, document: &Value, words: impl FnOnce(&Value) -> String) -> Exit {
    let screen = Screen::out();
    match arguments.json {
        true => screen.document(document),
        false => screen.wrapped(0, &clean(&words(document))),
    }
    Exit::Pass
}

/// The key, from the first line that comes in: as an argument others on this computer could see it.
fn line() -> Result<String, AppError> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map(|_| line).map_err(|error| {
        AppError::new("key_empty", format!("the key cannot be read: {error}"))
            .hint("Send it in as a line: `tepa search key < FILE`.")
    })
}
