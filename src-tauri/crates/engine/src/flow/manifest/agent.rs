//! One agent of a manifest, at the top or inside a step.

use contract::flow::{
    AgentMode, AgentStep, AskStep, DEFAULT_MAX_ROUNDS, GroupMode, GroupStep, Order, StepKind, ToolStep,
};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{Reader, unknown};
use crate::flow::input::InputSchema;
use crate::flow::join;
use crate::flow::validate::positive;

/// What an agent says.
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) key: Option<String>,
    /// In the spelling of the file.
    pub(super) input: Option<Value>,
    /// As JSON Schema.
    pub(super) output: Option<Value>,
    pub(super) model: Option<String>,
    pub(super) kind: StepKind,
    /// `llm` or `tool` for single agents.
    pub(super) kind_word: &'static str,
    /// What there is no place for.
    pub(super) kept: Map<String, Value>,
}

const COMMON: [&str; 6] = ["id", "kind", "name", "description", "inputSchema", "stateKey"];
/// What agntz has and the app does not carry out yet, in the words of the warning.
const NOT_HERE: [(&str, &str); 10] = [
    ("skills", "skills are not loaded here"),
    ("spawnable", "it cannot start agents in the background here"),
    ("resources", "resources of other providers are not reached from here"),
    ("retention", "how long runs are kept is set in the app"),
    ("reply", "there are no progress messages here"),
    ("examples", "examples are not shown to the model"),
    ("maxSteps", "the limits of the run hold instead"),
    ("tokenBudget", "the limits of the run hold instead"),
    ("timeoutMs", "the limits of the run hold instead"),
    ("mcpServers", "MCP servers are not reached from here"),
];

/// Reads an agent; none when something of it could not be read.
pub(super) fn read(reader: &mut Reader, value: &Value, path: &str, depth: usize) -> Option<Agent> {
    let Some(map) = value.as_object() else {
        reader.wrong(path, "an agent is an object, a list of named fields: id, kind, …");
        return None;
    };
    let id = reader.needed(map, "id", path);
    let name = reader.text(map, "name", path);
    let description = reader.text(map, "description", path);
    let key = reader.text(map, "stateKey", path);
    let input = schema(reader, map, "inputSchema", path);
    if map.contains_key("when") {
        reader.wrong(
            &join(path, "when"),
            "a \"when\" belongs to the step that holds an agent, not to the agent",
        );
    }
    let parts = match map.get("kind").map(|kind| kind.as_str().unwrap_or_default()) {
        Some("llm") => llm(reader, map, path),
        Some("tool") => tool(reader, map, path),
        Some("sequential") => sequential(reader, map, path, depth),
        Some("parallel") => parallel(reader, map, path, depth),
        Some(hosted @ ("transcription" | "image")) => {
            reader.wrong(
                &join(path, "kind"),
                format!("the kind \"{hosted}\" runs on the servers of agntz only"),
            );
            None
        }
        Some(other) => {
            let message = format!("unknown agent kind \"{other}\": write llm, tool, sequential or parallel");
            reader.wrong(&join(path, "kind"), message);
            None
        }
        None => {
            reader.wrong(
                &join(path, "kind"),
                "\"kind\" is missing: write llm, tool, sequential or parallel",
            );
            None
        }
    };
    let parts = parts?;
    Some(Agent {
        id: id?,
        name,
        description,
        key,
        input,
        output: parts.output,
        model: parts.model,
        kind: parts.kind,
        kind_word: parts.kind_word,
        kept: parts.kept,
    })
}

/// What the kinds differ in.
struct Parts {
    kind: StepKind,
    kind_word: &'static str,
    model: Option<String>,
    output: Option<Value>,
    kept: Map<String, Value>,
}

/// The schema as it is written, when it is one.
fn schema(reader: &mut Reader, map: &Map<String, Value>, key: &str, path: &str) -> Option<Value> {
    let value = map.get(key).filter(|value| !value.is_null())?;
    let place = join(path, key);
    match InputSchema::read(value) {
        Ok(_) => Some(value.clone()),
        Err(problems) => {
            for problem in problems {
                reader.wrong(&join(&place, &problem.path), problem.message);
            }
            None
        }
    }
}

fn llm(reader: &mut Reader, map: &Map<String, Value>, path: &str) -> Option<Parts> {
    let mut kept = others(
        reader,
        map,
        &["model", "instruction", "prompt", "outputSchema", "tools"],
        path,
    );
    let instructions = reader.needed(map, "instruction", path);
    let prompt = reader.text(map, "prompt", path);
    let written = schema(reader, map, "outputSchema", path);
    let output = written.as_ref().map(InputSchema::to_json_schema);
    if written != output {
        kept.insert("outputSchema".to_owned(), written.unwrap_or_default());
    }
    let place = join(path, "model");
    let model = match map.get("model") {
        Some(Value::Object(model)) => {
            let provider = reader.needed(model, "provider", &place);
            let name = reader.needed(model, "name", &place);
            provider.zip(name).map(|(provider, name)| format!("{provider}:{name}"))
        }
        None | Some(Value::Null) => {
            reader.wrong(&place, "\"model\" is missing: write { provider: …, name: … }");
            None
        }
        Some(_) => {
            reader.wrong(&place, "write \"model\" as { provider: …, name: … }");
            None
        }
    };
    let setting = |key: &str| map.get("model").and_then(|model| model.get(key));
    if map
        .get("model")
        .and_then(Value::as_object)
        .is_some_and(|model| model.len() > 2)
    {
        kept.insert("model".to_owned(), map["model"].clone());
    }
    let tools = tools(reader, map.get("tools"), &join(path, "tools"));
    if let Some(written) = map.get("tools") {
        kept.insert("tools".to_owned(), written.clone());
    }
    let instructions = instructions?;
    let temperature = setting("temperature").and_then(Value::as_f64).unwrap_or_default();
    if !(0.0..=2.0).contains(&temperature) {
        reader.warn(
            &join(&place, "temperature"),
            "a temperature is from 0 to 2: most models refuse another one",
        );
    }
    let temperature = temperature as f32;
    let max_tokens = setting("maxTokens")
        .and_then(Value::as_u64)
        .and_then(|tokens| tokens.try_into().ok())
        .unwrap_or(4096);
    let kind = if tools.is_empty() {
        StepKind::Ask(AskStep {
            instructions,
            prompt,
            temperature,
            max_tokens,
            extra: Map::new(),
        })
    } else {
        if let Some(prompt) = prompt {
            reader.warn(
                &join(path, "prompt"),
                "\"prompt\" is kept in the file, but a model with tools is told the chat",
            );
            kept.insert("prompt".to_owned(), Value::from(prompt));
        }
        StepKind::Agent(AgentStep {
            instructions,
            tools,
            mode: AgentMode::Free {
                max_rounds: DEFAULT_MAX_ROUNDS,
            },
            args: IndexMap::new(),
            temperature,
            max_tokens,
            extra: Map::new(),
        })
    };
    Some(Parts {
        kind,
        kind_word: "llm",
        model: Some(model?),
        output,
        kept,
    })
}

/// The tools of a model that are there: local ones by name, and agents. The others are warned about.
fn tools(reader: &mut Reader, value: Option<&Value>, path: &str) -> Vec<String> {
    let Some(tools) = value.filter(|tools| !tools.is_null()) else {
        return Vec::new();
    };
    let Some(tools) = tools.as_array() else {
        reader.wrong(path, "write \"tools\" as a list");
        return Vec::new();
    };
    let mut names = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let place = format!("{path}[{index}]");
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        match (tool, text("kind")) {
            (Value::String(name), _) => names.push(name.clone()),
            (_, Some("local")) => {
                let many = tool.get("tools").and_then(Value::as_array).into_iter().flatten();
                let found: Vec<String> = text("name")
                    .into_iter()
                    .chain(many.filter_map(Value::as_str))
                    .map(str::to_owned)
                    .collect();
                if found.is_empty() {
                    reader.wrong(&join(&place, "name"), "\"name\" is missing: which tool is it");
                }
                names.extend(found);
            }
            (_, Some("agent")) => match ["agent", "agentId", "ref", "name"].iter().find_map(|key| text(key)) {
                Some(id) => names.push(id.to_owned()),
                None => reader.wrong(&join(&place, "agent"), "\"agent\" is missing: which agent is it"),
            },
            (_, Some(kind)) => reader.warn(
                &place,
                format!(
                    "tools of the kind \"{kind}\" are not reached from here: it is kept, and the model does not have it"
                ),
            ),
            (_, None) => reader.wrong(&join(&place, "kind"), "\"kind\" is missing: write local or agent"),
        }
    }
    names
}

fn tool(reader: &mut Reader, map: &Map<String, Value>, path: &str) -> Option<Parts> {
    let mut kept = others(reader, map, &["tool", "outputSchema"], path);
    let written = schema(reader, map, "outputSchema", path);
    let output = written.as_ref().map(InputSchema::to_json_schema);
    if written != output {
        kept.insert("outputSchema".to_owned(), written.unwrap_or_default());
    }
    let place = join(path, "tool");
    let Some(Value::Object(tool)) = map.get("tool") else {
        reader.wrong(
            &place,
            "\"tool\" is missing, the tool configuration: write { kind: local, name: … }",
        );
        return None;
    };
    let kind = tool.get("kind").and_then(Value::as_str).unwrap_or("local");
    if !["local", "mcp", "http"].contains(&kind) {
        let message = format!("unknown tool.kind \"{kind}\": write local, mcp or http");
        reader.wrong(&join(&place, "kind"), message);
    } else if kind == "mcp" && tool.get("server").is_none_or(Value::is_null) {
        reader.wrong(
            &join(&place, "server"),
            "\"server\" is missing: which MCP server has the tool",
        );
    }
    if kind != "local" {
        reader.warn(
            &place,
            format!("tools of the kind \"{kind}\" are not reached from here; it is looked for among the app's own"),
        );
    }
    let name = match kind {
        "http" => tool
            .get("name")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or_else(|| Some("http".to_owned())),
        _ => reader.needed(tool, "name", &place),
    };
    let args = match tool.get("params") {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(params)) => {
            reader.only_texts(params, "params", &join(&place, "params"));
            Some(params.clone())
        }
        Some(_) => {
            reader.wrong(&join(&place, "params"), "\"params\" names what the tool is given");
            None
        }
    };
    let rest = unknown(tool, &["name", "params"]);
    if rest != *json!({ "kind": "local" }).as_object().unwrap_or(&Map::new()) {
        kept.insert("tool".to_owned(), Value::Object(rest));
    }
    Some(Parts {
        kind: StepKind::Tool(ToolStep {
            tool: name?,
            args: args?.into_iter().collect(),
            extra: Map::new(),
        }),
        kind_word: "tool",
        model: None,
        output,
        kept,
    })
}

fn sequential(reader: &mut Reader, map: &Map<String, Value>, path: &str, depth: usize) -> Option<Parts> {
    let kept = others(reader, map, &["steps", "until", "maxIterations", "output"], path);
    let steps = reader.steps(map.get("steps"), &join(path, "steps"), depth);
    let until = match map.get("until") {
        // As `when` has it.
        Some(Value::Bool(always)) => Some(always.to_string()),
        _ => reader.text(map, "until", path),
    };
    let max = match map.get("maxIterations") {
        None | Some(Value::Null) => None,
        Some(number) => {
            let max = number
                .as_u64()
                .and_then(|max| u32::try_from(max).ok())
                .filter(|max| *max > 0);
            if max.is_none() {
                reader.wrong(&join(path, "maxIterations"), positive("maxIterations"));
            }
            max
        }
    };
    group(reader, map, path, steps, GroupMode::Sequence { until, max }, kept)
}

fn parallel(reader: &mut Reader, map: &Map<String, Value>, path: &str, depth: usize) -> Option<Parts> {
    let kept = others(reader, map, &["branches", "until", "maxIterations", "output"], path);
    let steps = reader.steps(map.get("branches"), &join(path, "branches"), depth);
    for key in ["until", "maxIterations"] {
        if map.contains_key(key) {
            reader.wrong(
                &join(path, key),
                format!("\"{key}\" is for sequential agents: branches run once, all at the same time"),
            );
        }
    }
    group(reader, map, path, steps, GroupMode::Parallel, kept)
}

fn group(
    reader: &mut Reader,
    map: &Map<String, Value>,
    path: &str,
    steps: Option<Vec<contract::flow::FlowStep>>,
    mode: GroupMode,
    kept: Map<String, Value>,
) -> Option<Parts> {
    let output = match map.get("output") {
        None | Some(Value::Null) => None,
        Some(Value::Object(output)) => {
            reader.only_texts(output, "output", &join(path, "output"));
            map.get("output").cloned()
        }
        Some(_) => {
            reader.wrong(
                &join(path, "output"),
                "\"output\" names what the agent gives back, such as { answer: \"{{writer}}\" }",
            );
            None
        }
    };
    Some(Parts {
        kind: StepKind::Group(Box::new(GroupStep {
            steps: steps?,
            mode,
            order: Order::Chain,
            output,
            extra: Map::new(),
        })),
        kind_word: "",
        model: None,
        output: None,
        kept,
    })
}

/// The fields that this kind does not have, each with a warning.
fn others(reader: &mut Reader, map: &Map<String, Value>, own: &[&str], path: &str) -> Map<String, Value> {
    let mut kept = unknown(map, &[&COMMON[..], own].concat());
    kept.shift_remove("when");
    for key in ["until", "maxIterations"]
        .into_iter()
        .filter(|key| kept.contains_key(*key))
    {
        reader.wrong(&join(path, key), format!("\"{key}\" is for sequential agents"));
    }
    for key in kept
        .keys()
        .filter(|key| !matches!(key.as_str(), "until" | "maxIterations"))
    {
        let why = NOT_HERE
            .iter()
            .find(|(name, _)| name == key)
            .map_or("nothing here uses it", |(_, why)| why);
        reader.warn(&join(path, key), format!("\"{key}\" is kept in the file, but {why}"));
    }
    kept
}
