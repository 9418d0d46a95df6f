//! What a task's file asks for under `permissions` (goal-pipeline page, "Task"): requests, which grant nothing.
//!
//! ```yaml
//! permissions:
//!   folders: [/data/rates, { path: /data/out, write: true }]
//!   commands: ["git status", "python3 *.py"]
//!   network: true          # for commands
//!   hosts: [api.example.org, { host: files.example.org, change: true }]
//!   servers: [calendar]    # MCP servers
//! ```

use contract::access::{FolderGrant, HostGrant, Requests};
use contract::error::Problem;
use contract::task::Task;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The key of a task under which it asks.
pub const KEY: &str = "permissions";

/// What a task asks for; what cannot be read is not asked for.
pub fn of(task: &Task) -> Requests {
    task.extra.get(KEY).map(|asked| read(asked).0).unwrap_or_default()
}

/// What is asked for, and what cannot be read of it.
pub fn read(asked: &Value) -> (Requests, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut say = |place: &str, message: &str| problems.push(Problem::new(format!("{KEY}{place}"), message));
    let Some(fields) = asked.as_object() else {
        say("", "write named lists: folders, commands, hosts");
        return (Requests::default(), problems);
    };
    let mut requests = Requests::default();
    for (name, value) in fields {
        let place = format!(".{name}");
        let is_read = match name.as_str() {
            "folders" => list(value, "path").map(|found| requests.folders = found),
            "hosts" => list(value, "host").map(|found: Vec<HostGrant>| {
                let lower = |host: HostGrant| HostGrant {
                    host: host.host.to_lowercase(),
                    ..host
                };
                requests.hosts = found.into_iter().map(lower).collect();
            }),
            "commands" => texts(value).map(|found| requests.commands = found),
            "servers" => texts(value).map(|found| requests.mcp_servers = found),
            "network" => value.as_bool().map(|found| requests.command_network = found),
            _ => {
                problems.push(Problem::warning(
                    format!("{KEY}{place}"),
                    "this version does not know it; it is kept as it is",
                ));
                continue;
            }
        };
        if is_read.is_none() {
            let message = match name.as_str() {
                "network" => "write true or false",
                "folders" => "write a list of absolute paths, or of { path, write }",
                "hosts" => "write a list of host names, or of { host, change }",
                _ => "write a list of texts",
            };
            problems.push(Problem::new(format!("{KEY}{place}"), message));
        }
    }
    let is_relative = |folder: &FolderGrant| !std::path::Path::new(&folder.path).is_absolute();
    if requests.folders.iter().any(is_relative) {
        problems.push(Problem::new(
            format!("{KEY}.folders"),
            "write whole paths: what lies in the working folder need not be asked for",
        ));
    }
    (requests, problems)
}

/// A list whose items are objects, or texts that stand for one field.
fn list<T: DeserializeOwned>(value: &Value, field: &str) -> Option<Vec<T>> {
    let whole = |item: &Value| match item {
        Value::String(text) => json!({ field: text }),
        other => other.clone(),
    };
    let items = value.as_array()?.iter();
    items.map(|item| serde_json::from_value(whole(item)).ok()).collect()
}

fn texts(value: &Value) -> Option<Vec<String>> {
    serde_json::from_value(value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_ask_in_short_or_in_full() {
        let (requests, problems) = read(&json!({
            "folders": ["/data", { "path": "/out", "write": true }], "commands": ["make"],
            "network": true, "hosts": ["API.example.org"], "servers": ["clock"],
        }));
        assert_eq!(problems, []);
        assert_eq!(
            requests.folders[1],
            FolderGrant {
                path: "/out".to_owned(),
                write: true
            }
        );
        assert_eq!(requests.hosts[0].host, "api.example.org");
        assert!(requests.command_network && requests.commands == ["make"] && requests.mcp_servers == ["clock"]);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_not_asked_for() {
        let (requests, problems) = read(&json!({ "folders": ["data"], "commands": "make", "network": 1, "new": 1 }));
        let places: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(requests.commands, Vec::<String>::new());
        assert_eq!(
            places,
            [
                "permissions.commands",
                "permissions.network",
                "permissions.new",
                "permissions.folders"
            ]
        );
    }
}
