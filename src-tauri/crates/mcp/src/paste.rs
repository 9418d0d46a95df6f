//! The `mcpServers` JSON that other programs use, as a person pastes it:
//!
//! ```json
//! { "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"], "env": { "TOKEN": "…" } },
//!                   "docs": { "url": "https://docs.example.org/mcp", "headers": { "Authorization": "…" } } } }
//! ```
//!
//! The inner object alone is taken too, one server without a name, and the same without its outermost brackets. What
//! stands under `env` and `headers` is secret from here on, and so is what is given as a secret in `args` and in a `url`.

use std::collections::BTreeMap;

use contract::error::Problem;
use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::config::{Launch, ServerConfig, name_of};
use crate::hidden::Hidden;

/// The keys under which programs keep their servers.
const OUTER: &[&str] = &["mcpServers", "servers", "mcp.servers", "context_servers"];
/// More servers at once are a mistake.
const MOST: usize = 50;
/// Longer texts are no settings.
const LONGEST: usize = 256 * 1024;

/// A server as it was pasted.
#[derive(Debug)]
pub struct Pasted {
    /// The server.
    pub config: ServerConfig,
    /// Its values by name.
    pub values: BTreeMap<String, SecretString>,
}

/// Reads what was pasted.
///
/// # Errors
/// Everything that is wrong with it, each with its place. No value of `env` or `headers` is repeated in a message.
pub fn read(text: &str) -> Result<Vec<Pasted>, Vec<Problem>> {
    let whole = |message: String| vec![Problem::new("", message)];
    if text.len() > LONGEST {
        return Err(whole("this is too long for the settings of servers".to_owned()));
    }
    let value = json(text).map_err(whole)?;
    let Value::Object(fields) = value else {
        return Err(whole("paste the whole { … } with mcpServers in it".to_owned()));
    };
    let servers = inner(fields).map_err(whole)?;
    if servers.is_empty() || servers.len() > MOST {
        return Err(whole(format!("name at least one server, and at most {MOST}")));
    }
    let mut problems = Vec::new();
    let mut pasted: Vec<Pasted> = Vec::new();
    for (written, server) in servers {
        let place = format!("mcpServers.{written}");
        let Some(name) = name_of(&written) else {
            problems.push(Problem::new(place, "give it a name of letters, digits, - and _"));
            continue;
        };
        if pasted.iter().any(|other| other.config.name == name) {
            problems.push(Problem::new(place, "another server has the same name"));
            continue;
        }
        match one(&server) {
            Ok((launch, values)) => pasted.push(Pasted {
                config: ServerConfig { name, launch },
                values,
            }),
            Err(found) => problems.extend(found.into_iter().map(|(field, message)| {
                let field = if field.is_empty() {
                    String::new()
                } else {
                    format!(".{field}")
                };
                Problem::new(format!("{place}{field}"), message)
            })),
        }
    }
    if problems.is_empty() { Ok(pasted) } else { Err(problems) }
}

/// The JSON, also when only its inside was copied. What serde says of a text may repeat a part of it; its place is enough.
fn json(text: &str) -> Result<Value, String> {
    let text = text.trim().trim_end_matches(',');
    if text.is_empty() {
        return Err("paste the settings of a server".to_owned());
    }
    let wrapped = text.starts_with('"').then(|| format!("{{{text}}}"));
    serde_json::from_str(wrapped.as_deref().unwrap_or(text)).map_err(|error| {
        format!(
            "this is not JSON: look at line {}, column {}; a comma or a bracket too many or too few is often the reason",
            error.line(),
            error.column()
        )
    })
}

/// The servers by name, wherever they lie.
fn inner(fields: Map<String, Value>) -> Result<Map<String, Value>, String> {
    for name in OUTER {
        match fields.get(*name) {
            Some(Value::Object(servers)) => return Ok(servers.clone()),
            Some(_) => return Err(format!("\"{name}\" must be an object of servers by their names")),
            None => {}
        }
    }
    if let Some(Value::Object(mcp)) = fields.get("mcp")
        && let Some(Value::Object(servers)) = mcp.get("servers")
    {
        return Ok(servers.clone());
    }
    if is_server(&fields) {
        let name = likely_name(&fields);
        return Ok(Map::from_iter([(name, Value::Object(fields))]));
    }
    Ok(fields)
}

fn is_server(fields: &Map<String, Value>) -> bool {
    ["command", "url", "serverUrl", "httpUrl"]
        .iter()
        .any(|key| fields.get(*key).is_some_and(Value::is_string))
}

/// A name for a server that was pasted without one: of its package, its program or its host.
fn likely_name(fields: &Map<String, Value>) -> String {
    let texts = fields.get("args").and_then(Value::as_array).into_iter().flatten();
    let package = texts.filter_map(Value::as_str).find(|word| {
        let is_name = word.starts_with(|first: char| first.is_alphanumeric() || first == '@');
        is_name && (word.contains("mcp") || word.contains("server"))
    });
    let known = package.or_else(|| fields.get("command").and_then(Value::as_str));
    let address = ["url", "serverUrl", "httpUrl"]
        .iter()
        .find_map(|key| fields.get(*key)?.as_str())
        .and_then(|url| url.split('/').nth(2));
    let long = known.or(address).unwrap_or("server");
    let last = long.rsplit(['/', '\\']).next().unwrap_or(long);
    let bare = last.split('@').next().unwrap_or(last);
    bare.trim_end_matches(".js").trim_end_matches(".py").to_owned()
}

type Faults = Vec<(String, String)>;

fn one(server: &Value) -> Result<(Launch, BTreeMap<String, SecretString>), Faults> {
    let fault = |field: &str, message: &str| vec![(field.to_owned(), message.to_owned())];
    let Value::Object(fields) = server else {
        return Err(fault("", "must be an object with a command or a url"));
    };
    let way = ["type", "transport"].iter().find_map(|key| fields.get(*key)?.as_str());
    if way == Some("sse") {
        return Err(fault(
            "type",
            "this way of talking (sse) is out of use: ask whoever runs the server for its streamable HTTP address",
        ));
    }
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| fields.get(*key));
    match (fields.get("command"), url) {
        (Some(_), Some(_)) => Err(fault("", "has both a command and a url: leave one of them out")),
        (None, None) => Err(fault("", "needs a command, such as \"npx\", or a url")),
        (Some(command), None) => program(command, fields),
        (None, Some(url)) => address(url, fields),
    }
}

fn program(command: &Value, fields: &Map<String, Value>) -> Result<(Launch, BTreeMap<String, SecretString>), Faults> {
    let mut faults = Faults::new();
    let mut say = |field: &str, message: &str| faults.push((field.to_owned(), message.to_owned()));
    let command = command.as_str().map(str::trim).unwrap_or_default();
    if command.is_empty() || command.contains('\0') {
        say("command", "must be the name of a program, such as \"npx\"");
    }
    let args = match fields.get("args") {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(words)) => words.iter().map(plain).collect(),
        Some(_) => None,
    };
    let Some(args) = args else {
        say("args", "must be a list of texts");
        return Err(faults);
    };
    for (place, word) in args.iter().enumerate() {
        if word.contains('\0') {
            say(
                &format!("args[{place}]"),
                "has a character that no program can be given",
            );
        } else if is_open(word) {
            say(
                &format!("args[{place}]"),
                "asks for a value: write it in the place of ${…}",
            );
        }
    }
    let folder = match fields.get("cwd") {
        None | Some(Value::Null) => None,
        Some(Value::String(folder)) if std::path::Path::new(folder).is_absolute() => Some(folder.clone()),
        Some(_) => {
            say("cwd", "must be the whole path of a folder");
            None
        }
    };
    let values = values("env", fields.get("env"), &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let variables: Vec<String> = values.keys().cloned().collect();
    let mut hidden = Hidden::beside(&variables);
    let launch = Launch::Program {
        command: command.to_owned(),
        args: hidden.in_arguments(&args),
        variables,
        folder,
        hidden: hidden.values.keys().cloned().collect(),
    };
    Ok((launch, all(values, hidden)))
}

fn address(url: &Value, fields: &Map<String, Value>) -> Result<(Launch, BTreeMap<String, SecretString>), Faults> {
    let mut faults = Faults::new();
    let url = url.as_str().map(str::trim).unwrap_or_default();
    if is_open(url) {
        faults.push((
            "url".to_owned(),
            "asks for a value: write it in the place of ${…}".to_owned(),
        ));
    } else if let Err(error) = web::client_of(url) {
        faults.push(("url".to_owned(), error.to_string()));
    }
    let values = values("headers", fields.get("headers"), &mut faults);
    for name in values.keys() {
        if crate::connection::header(name, "x").is_none() {
            faults.push((format!("headers.{name}"), "cannot be a header".to_owned()));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let headers: Vec<String> = values.keys().cloned().collect();
    let mut hidden = Hidden::beside(&headers);
    let launch = Launch::Address {
        url: hidden.in_address(url),
        headers,
        hidden: hidden.values.keys().cloned().collect(),
    };
    Ok((launch, all(values, hidden)))
}

fn all(values: BTreeMap<String, SecretString>, hidden: Hidden) -> BTreeMap<String, SecretString> {
    values.into_iter().chain(hidden.values).collect()
}

fn values(field: &str, given: Option<&Value>, faults: &mut Faults) -> BTreeMap<String, SecretString> {
    let mut values = BTreeMap::new();
    let entries = match given {
        None | Some(Value::Null) => return values,
        Some(Value::Object(entries)) => entries,
        Some(_) => {
            faults.push((field.to_owned(), "must be an object of texts by name".to_owned()));
            return values;
        }
    };
    for (name, value) in entries {
        let place = format!("{field}.{name}");
        let fits = !name.is_empty() && !name.contains(['=', '\0']);
        match plain(value).filter(|_| fits) {
            Some(value) if is_open(&value) => {
                faults.push((place, "asks for a value: write it in the place of ${…}".to_owned()));
            }
            Some(value) if !value.contains('\0') => {
                values.insert(name.clone(), SecretString::from(value));
            }
            Some(_) | None => faults.push((place, "must be a text".to_owned())),
        }
    }
    values
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a text waits for a value that another program would ask for.
fn is_open(text: &str) -> bool {
    text.find("${").is_some_and(|start| text[start..].contains('}'))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    /// Names with how they are reached, in one line each.
    fn lines(text: &str) -> Vec<String> {
        let line = |pasted: &Pasted| match &pasted.config.launch {
            Launch::Program {
                command,
                args,
                variables,
                ..
            } => format!("{}: {command} {} {variables:?}", pasted.config.name, args.join(" ")),
            Launch::Address { url, headers, .. } => format!("{}: {url} {headers:?}", pasted.config.name),
        };
        read(text).unwrap().iter().map(line).collect()
    }

    fn places(text: &str) -> Vec<String> {
        read(text)
            .unwrap_err()
            .into_iter()
            .map(|problem| problem.path)
            .collect()
    }

    #[test]
    fn takes_what_other_programs_write() {
        let text = r#"{ "mcpServers": {
            "time": { "command": "uvx", "args": ["mcp-server-time", "--local-timezone=Europe/Vienna"], "disabled": false },
            "git hub": { "type": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "TOKEN": "t0ken", "PORT": 8 } },
            "docs": { "type": "http", "url": "https://docs.example.org/mcp", "headers": { "Authorization": "Bearer b" } } } }"#;
        assert_eq!(
            lines(text),
            [
                "time: uvx mcp-server-time --local-timezone=Europe/Vienna []",
                "git-hub: npx -y x [\"PORT\", \"TOKEN\"]",
                "docs: https://docs.example.org/mcp [\"Authorization\"]",
            ]
        );
        let pasted = read(text).unwrap();
        assert_eq!(pasted[1].values["TOKEN"].expose_secret(), "t0ken");
        assert!(!format!("{pasted:?}").contains("t0ken"));
    }

    #[test]
    fn a_secret_among_arguments_or_in_an_address_is_kept_and_not_shown() {
        let text = r#"{ "mcpServers": {
            "a": { "command": "npx", "args": ["x", "--api-key", "sk-ARG"], "env": { "api-key": "sk-ENV" } },
            "b": { "url": "https://b.example.org/mcp?key=sk-URL&v=2" } } }"#;
        let expected = [
            "a: npx x --api-key ${api-key-2} [\"api-key\"]",
            "b: https://b.example.org/mcp?key=${key}&v=2 []",
        ];
        assert_eq!(lines(text), expected);
        let pasted = read(text).unwrap();
        let value = |place: usize, name: &str| pasted[place].values[name].expose_secret().to_owned();
        assert_eq!(
            [value(0, "api-key"), value(0, "api-key-2"), value(1, "key")],
            ["sk-ENV", "sk-ARG", "sk-URL"]
        );
        assert_eq!(pasted[0].config.launch.names(), ["api-key", "api-key-2"]);
        let kept = serde_json::to_string(&pasted.iter().map(|one| &one.config).collect::<Vec<_>>()).unwrap();
        assert!(!kept.contains("sk-"), "{kept}");
    }

    #[test]
    fn takes_less_than_the_whole() {
        let expected = ["time: uvx mcp-server-time []"];
        for text in [
            r#"{"time": {"command": "uvx", "args": ["mcp-server-time"]}}"#,
            r#""time": {"command": "uvx", "args": ["mcp-server-time"]},"#,
            r#"{"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#,
            r#"{"mcp": {"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}}"#,
        ] {
            assert_eq!(lines(text), expected, "{text}");
        }
        let one = r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@1.2"]}"#;
        assert_eq!(
            lines(one),
            ["server-memory: npx -y @modelcontextprotocol/server-memory@1.2 []"]
        );
        assert_eq!(
            lines(r#"{"url": "http://localhost:3001/mcp"}"#)[0],
            "localhost-3001: http://localhost:3001/mcp []"
        );
    }

    #[test]
    fn names_the_place_of_every_fault() {
        let text = r#"{"mcpServers": {
            "a": {"command": 1, "args": "x"}, "b": {}, "c": {"command": "x", "url": "y"}, "d": [],
            "e": {"url": "http://example.org/mcp"}, "f": {"command": "x", "env": {"A": ["s3cret"]}, "cwd": "here"},
            "g": {"type": "sse", "url": "https://x.org/sse"}, "h": {"command": "x", "env": {"K": "${input:key}"}},
            "日": {"command": "x"}, "i": {"url": "https://x.org", "headers": {"a b": "c"}} }}"#;
        assert_eq!(
            places(text),
            [
                "mcpServers.a.command",
                "mcpServers.a.args",
                "mcpServers.b",
                "mcpServers.c",
                "mcpServers.d",
                "mcpServers.e.url",
                "mcpServers.f.cwd",
                "mcpServers.f.env.A",
                "mcpServers.g.type",
                "mcpServers.h.env.K",
                "mcpServers.日",
                "mcpServers.i.headers.a b",
            ]
        );
        let said = format!("{:?}", read(text).unwrap_err());
        assert!(!said.contains("s3cret"), "{said}");
    }

    #[test]
    fn what_is_no_json_is_told_by_its_place_and_never_repeated() {
        let problems = read("{\"mcpServers\": {\n  \"a\": {\"env\": {\"K\": \"s3cret\"}},,\n}}").unwrap_err();
        assert!(problems[0].message.contains("line 2"), "{problems:?}");
        assert!(!problems[0].message.contains("s3cret"));
        assert_eq!(places(""), [""]);
        assert_eq!(places("[1]"), [""]);
        assert_eq!(places("{}"), [""]);
        assert_eq!(places(&"x".repeat(300_000)), [""]);
    }

    #[test]
    fn two_names_that_become_one_are_told() {
        let text = r#"{"a b": {"command": "x"}, "a-b": {"command": "y"}}"#;
        assert_eq!(places(text), ["mcpServers.a-b"]);
    }
}
