//! MCP servers: what is added, adding, looking at what one offers, allowing that, and removing.

use std::io::{IsTerminal, Read};

use app::commands::servers::{McpServer, ServerList};
use app::{App, Config, ipc};
use contract::AppError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Exit;
use crate::arguments::{McpArguments, McpCommand};
use crate::paint::{Screen, clean};

/// `tepa mcp`, `tepa mcp add FILE`, `tepa mcp test NAME`, `tepa mcp allow NAME`, `tepa mcp remove NAME`.
pub(crate) async fn work(arguments: McpArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let done = act(&app, &arguments).await;
    app.close().await?;
    done
}

async fn act(app: &App, arguments: &McpArguments) -> Result<Exit, AppError> {
    let screen = Screen::out();
    match &arguments.what {
        None => {
            let list = app::commands::servers::list(app, ()).await?;
            match arguments.json {
                true => screen.document(&list),
                false => listed(&screen, &list),
            }
        }
        Some(McpCommand::Add { file }) => {
            let added = ipc::dispatch(app, "mcp_add", json!({ "text": text_of(file)? })).await?;
            said(&screen, arguments.json, &added, || {
                let names = names(&added["names"]);
                let mut words = format!("Added: {names}. Look at what it offers with `tepa mcp test NAME`.");
                let forgotten = names_of(&added["forgottenAtClose"]);
                if !forgotten.is_empty() {
                    words.push_str(" There is no keychain here, so its values are forgotten when this command ends.");
                }
                words
            });
        }
        Some(McpCommand::Test { name }) => return Ok(looked(app, &screen, name, arguments.json).await?.0),
        Some(McpCommand::Allow { name, yes }) => {
            let (exit, server) = looked(app, &screen, name, arguments.json).await?;
            let Some(offered) = server["offered"]["hash"].as_str().filter(|_| exit == Exit::Pass) else {
                return Ok(exit);
            };
            // What stands above is what models will read: whoever allows it should have seen it.
            if !yes && !says_yes(&screen)? {
                if !arguments.json {
                    screen.line("Nothing was allowed.");
                }
                return Ok(Exit::Stopped);
            }
            let request = json!({ "name": name, "offered": offered });
            ipc::dispatch(app, "mcp_approve", request).await?;
            if !arguments.json {
                screen.line("Allowed. A task that names it under `permissions: { servers: […] }` can use it.");
            }
        }
        Some(McpCommand::Remove { name }) => {
            ipc::dispatch(app, "mcp_remove", json!({ "name": name })).await?;
            said(&screen, arguments.json, &json!({ "removed": name }), || {
                "Removed, with its values.".to_owned()
            });
        }
    }
    Ok(Exit::Pass)
}

/// Whether the person at the keyboard allows it.
fn says_yes(screen: &Screen) -> Result<bool, AppError> {
    if !std::io::stdin().is_terminal() {
        let error = AppError::new("not_allowed", "nobody is here to allow what the server offers");
        return Err(error.hint("Nothing was allowed. Start it in a terminal to be asked, or add --yes."));
    }
    screen.prompt("Allow all of this? (y)es or (n)o: ");
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    Ok(read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn said(screen: &Screen, json: bool, document: &impl Serialize, words: impl FnOnce() -> String) {
    match json {
        true => screen.document(document),
        false => screen.line(&clean(&words())),
    }
}

/// Starts a server and shows what it offers; fails when it does not answer.
async fn looked(app: &App, screen: &Screen, name: &str, json: bool) -> Result<(Exit, Value), AppError> {
    let server = ipc::dispatch(app, "mcp_connect", json!({ "name": name })).await?;
    let exit = if server["problem"].is_null() {
        Exit::Pass
    } else {
        Exit::Fail
    };
    if json {
        screen.document(&server);
        return Ok((exit, server));
    }
    if let Some(message) = server["problem"]["message"].as_str() {
        screen.line(&screen.yellow(&clean(message)));
        for line in names_of(&server["log"]) {
            screen.line(&screen.dim(&clean(&format!("   {line}"))));
        }
        return Ok((exit, server));
    }
    for tool in server["offered"]["tools"].as_array().into_iter().flatten() {
        let text = |field: &str| clean(tool[field].as_str().unwrap_or_default());
        screen.line(&format!(
            "{}  {}",
            screen.bold(&text("tool")),
            screen.dim(&text("name"))
        ));
        // All of it: models read it, and a person allows what they read.
        for line in text("description").lines() {
            screen.wrapped(3, line);
        }
        if let Some(parameters) = tool.get("parameters").filter(|parameters| !parameters.is_null()) {
            screen.wrapped(3, &screen.dim(&clean(&format!("takes {parameters}"))));
        }
    }
    let is_known = !server["approved"].is_null();
    let changes = server["offered"]["changes"].as_array().map_or(0, Vec::len);
    screen.line(&match (is_known, changes) {
        (false, _) => format!("Nobody allowed these tools yet: `tepa mcp allow {name}` does."),
        (true, 0) => "These are the tools that you allowed.".to_owned(),
        (true, _) => {
            format!("{changes} of them are not as you allowed them: `tepa mcp allow {name}` allows what it offers now.")
        }
    });
    Ok((exit, server))
}

fn listed(screen: &Screen, list: &ServerList) {
    if list.servers.is_empty() {
        screen.line("No MCP server is added. `tepa mcp add FILE` adds those of an mcpServers file.");
    }
    for server in &list.servers {
        let McpServer {
            name, launch, approved, ..
        } = server;
        let standing = match approved {
            Some(tools) => format!("{} tools allowed", tools.len()),
            None => "not allowed yet".to_owned(),
        };
        screen.line(&format!("{}  {}", screen.bold(&clean(name)), screen.dim(&standing)));
        screen.line(&screen.dim(&clean(&format!("   {}", app::servers::reached(launch)))));
    }
}

/// The settings: those of a file, or what comes in when the file is `-`.
fn text_of(file: &str) -> Result<String, AppError> {
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    read.map(|()| text).map_err(|error| {
        AppError::new("file_not_found", format!("\"{file}\" cannot be read: {error}"))
            .hint("Name a file with mcpServers in it, or - for what comes in.")
    })
}

fn names_of(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn names(list: &Value) -> String {
    names_of(list).join(", ")
}
