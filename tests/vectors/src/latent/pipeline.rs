//! Pipelines: phases with scripts, as flows of our own dialect.

use contract::flow::{ChatMessage, Flow};
use engine::flow::events::FlowEvent;
use serde_json::{Map, Value, json};

use crate::case::{Case, Outcome};
use crate::expect::equal;
use crate::stage::{PROVIDER, Played, Stage, Theatre, Throws, block_on, guardrails_judged, is_json, run_of, words_of};
use crate::wording::{Likeness, says};

/// Fields of a case that say nothing about what happens.
const ABOUT: [&str; 6] = ["id", "authority", "note", "conflict", "seed_reading", "source"];

/// Runs a pipeline and compares all that it expects; of several accepted readings one is enough.
pub fn pipelines(case: &Case) -> Result<Outcome, String> {
    known(
        case.value,
        &[
            "name",
            "phases",
            "user",
            "messages",
            "initial",
            "max_total_phases",
            "guardrails",
            "model",
            "expect",
            "accepted",
        ],
    )?;
    let nothing = json!({});
    let expect = match case.get("accepted") {
        Some(_) => case.get("expect").unwrap_or(&nothing),
        None => case.need("expect")?,
    };
    let mut readings = vec![];
    for accepted in [case.get("accepted"), expect.get("accepted")].into_iter().flatten() {
        let accepted = accepted.as_array().ok_or("`accepted` is no list")?;
        readings.extend(accepted.iter().map(|reading| merged(expect, reading)));
    }
    if readings.is_empty() {
        readings.push(expect.clone());
    }
    let mut problems = Vec::new();
    for reading in &readings {
        match play(case, reading) {
            Ok(likeness) => return Ok(Outcome::by(likeness)),
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems.join("; or: "))
}

fn merged(expect: &Value, reading: &Value) -> Value {
    let mut merged = expect.as_object().cloned().unwrap_or_default();
    merged.remove("accepted");
    match reading {
        Value::Object(reading) => merged.extend(reading.clone()),
        // A bare word is an error's code, or that there is none.
        Value::String(word) if word == "ok" => {
            merged.insert("status".to_owned(), json!("ok"));
        }
        other => {
            merged.insert("status".to_owned(), json!("error"));
            merged.insert("error".to_owned(), other.clone());
        }
    }
    Value::Object(merged)
}

fn play(case: &Case, expect: &Value) -> Result<Likeness, String> {
    let mut stage = Stage::new(Throws::AsPanic);
    let (flow, tools) = match flow_of(case.value, &mut stage) {
        Ok(read) => read,
        Err(problem) => return refused(expect, &problem),
    };
    let messages = messages_of(case.value)?;
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        let played = theatre.play(run_of(flow, Value::Null, messages)).await?;
        compare(expect, &played, theatre.stage())
    })
}

/// A pipeline that cannot be built may be what is expected, for the reason that is expected.
fn refused(expect: &Value, problem: &str) -> Result<Likeness, String> {
    let error = &expect["error"];
    let code = error.as_str().or(error["code"].as_str()).unwrap_or_default();
    let is_expected = ["build_error", "load_error"]
        .iter()
        .any(|word| expect["status"] == *word || code == *word);
    let wanted = error["message"]
        .as_str()
        .or(Some(code).filter(|text| text.contains(' ')));
    match wanted {
        _ if !is_expected && wanted.is_none() => Err(problem.to_owned()),
        Some(wanted) => says(wanted, problem),
        None => Ok(Likeness::Same),
    }
}

/// Refuses fields that nobody knows: they would change what the case means.
pub fn known(value: &Value, fields: &[&str]) -> Result<(), String> {
    let map = value.as_object().ok_or_else(|| format!("{value} is no object"))?;
    match map
        .keys()
        .find(|key| !fields.contains(&key.as_str()) && !ABOUT.contains(&key.as_str()))
    {
        Some(unknown) => Err(format!("nobody knows what `{unknown}` means")),
        None => Ok(()),
    }
}

fn messages_of(case: &Value) -> Result<Vec<ChatMessage>, String> {
    if let Some(messages) = case.get("messages") {
        return serde_json::from_value(messages.clone()).map_err(|error| error.to_string());
    }
    let user = case.get("user").map_or(Some("Hello"), Value::as_str);
    Ok(vec![ChatMessage::user(user.ok_or("`user` is no text")?)])
}

/// The flow of a case, its actors, and its tools by name and actor.
pub fn flow_of(case: &Value, stage: &mut Stage) -> Result<(Flow, Vec<(String, String)>), String> {
    let mut tools = Vec::new();
    let mut steps = Vec::new();
    for phase in case["phases"].as_array().ok_or("the case has no `phases`")? {
        steps.push(step(phase, stage, &mut tools)?);
    }
    let mut flow = Map::from_iter([
        (
            "id".to_owned(),
            case.get("name").cloned().unwrap_or_else(|| json!("pipeline")),
        ),
        ("steps".to_owned(), Value::Array(steps)),
        ("model".to_owned(), json!(format!("{PROVIDER}:pipeline"))),
    ]);
    if let Some(initial) = case.get("initial") {
        flow.insert("initial".to_owned(), initial.clone());
    }
    if let Some(most) = case.get("max_total_phases") {
        flow.insert("limits".to_owned(), json!({ "maxTotalPhases": most }));
    }
    if let Some(rails) = case.get("guardrails") {
        let mut made = Vec::new();
        for (index, rail) in rails.as_array().ok_or("`guardrails` is no list")?.iter().enumerate() {
            made.push(guardrail(rail, &format!("guard-{index}"), stage)?);
        }
        flow.insert("guardrails".to_owned(), Value::Array(made));
    }
    let reading = engine::flow::reading::read(&Value::Object(flow), None);
    let wrong: Vec<String> = reading
        .problems
        .iter()
        .filter(|problem| !problem.warning)
        .map(|problem| format!("{}: {}", problem.path, problem.message))
        .collect();
    match reading.flow {
        Some(flow) if wrong.is_empty() => Ok((flow, tools)),
        _ => Err(format!("the flow cannot be run: {}", wrong.join("; "))),
    }
}

/// A guardrail of a case; `result` and `rule_throws` are played by a model that judges.
pub fn guardrail(rail: &Value, actor: &str, stage: &mut Stage) -> Result<Value, String> {
    known(
        rail,
        &[
            "timing",
            "outcome",
            "contains",
            "message",
            "threshold",
            "result",
            "on_error",
            "rule_throws",
            "name",
        ],
    )?;
    let mut made = Map::new();
    for (from, to) in [
        ("timing", "timing"),
        ("outcome", "outcome"),
        ("message", "message"),
        ("threshold", "threshold"),
        ("on_error", "onError"),
        ("name", "id"),
    ] {
        if let Some(value) = rail.get(from) {
            made.insert(to.to_owned(), value.clone());
        }
    }
    if let Some(words) = rail.get("contains") {
        made.insert("contains".to_owned(), words.clone());
        return Ok(Value::Object(made));
    }
    let score = match rail.get("result") {
        Some(Value::Bool(violated)) => json!({ "score": u8::from(*violated) }),
        Some(Value::Number(score)) => json!({ "score": score }),
        None if rail["rule_throws"] == true => json!({ "$throw": { "message": "the rule broke down" } }),
        other => return Err(format!("nobody knows what a rule with {other:?} finds")),
    };
    stage.cast(actor, &[score], true)?;
    made.insert("judged".to_owned(), json!(actor));
    Ok(Value::Object(made))
}

fn step(phase: &Value, stage: &mut Stage, tools: &mut Vec<(String, String)>) -> Result<Value, String> {
    known(
        phase,
        &[
            "name",
            "type",
            "script",
            "transitions",
            "returns",
            "instructions",
            "prompt",
            "model",
            "output_schema",
            "max_iterations",
            "tools",
            "set_metadata",
            "temperature",
            "max_tokens",
        ],
    )?;
    let name = phase["name"].as_str().ok_or("a phase has no name")?;
    let script = phase["script"].as_array().cloned().unwrap_or_default();
    let text = ["returns", "instructions", "prompt"]
        .iter()
        .find_map(|field| phase.get(*field)?.as_str())
        .unwrap_or(name);
    let model = json!(format!("{PROVIDER}:{name}"));
    let mut step = Map::from_iter([("id".to_owned(), json!(name))]);
    let mut reads_json = false;
    if phase["type"] != "function" {
        let schema = phase.get("output_schema").filter(|schema| !schema.is_null());
        if let Some(schema) = schema {
            step.insert("output".to_owned(), schema_of(schema)?);
            reads_json = true;
        } else if is_json(&script) && phase["type"] != "respond" {
            step.insert("output".to_owned(), json!({}));
            reads_json = true;
        }
    }
    match phase["type"].as_str() {
        Some("prompt") => {
            let mut ask = Map::from_iter([("instructions".to_owned(), json!(text))]);
            for (from, to) in [("temperature", "temperature"), ("max_tokens", "maxTokens")] {
                if let Some(value) = phase.get(from) {
                    ask.insert(to.to_owned(), value.clone());
                }
            }
            step.insert("ask".to_owned(), Value::Object(ask));
            step.insert("model".to_owned(), model);
            stage.cast(name, &script, reads_json)?;
        }
        Some("function") => {
            let tool = format!("function_{name}");
            step.insert("tool".to_owned(), json!({ "tool": tool }));
            stage.cast(name, &script, false)?;
            tools.push((tool, name.to_owned()));
        }
        Some("react") => {
            let mut used: Vec<String> = Vec::new();
            for tool in phase["tools"].as_array().into_iter().flatten() {
                let (tool, lines) = match tool {
                    Value::String(name) => (name.clone(), vec![json!("result")]),
                    Value::Object(map) => (
                        map["name"].as_str().unwrap_or_default().to_owned(),
                        map.get("script").and_then(Value::as_array).cloned().unwrap_or_default(),
                    ),
                    other => return Err(format!("{other} is no tool")),
                };
                stage.cast(&format!("tool:{tool}"), &lines, false)?;
                used.push(tool);
            }
            // A script may call a tool that the phase does not list: it is there all the same.
            for tool in tools_in(&script) {
                if !used.contains(&tool) {
                    stage.cast(&format!("tool:{tool}"), &[json!("result")], false)?;
                    used.push(tool);
                }
            }
            tools.extend(used.iter().map(|tool| (tool.clone(), format!("tool:{tool}"))));
            let mut agent = json!({ "instructions": text, "tools": used, "mode": "free" });
            if let Some(most) = phase.get("max_iterations") {
                agent["maxRounds"] = most.clone();
            }
            step.insert("agent".to_owned(), agent);
            step.insert("model".to_owned(), model);
            stage.cast(name, &script, reads_json)?;
        }
        Some("respond") => {
            step.insert("answer".to_owned(), json!({ "text": text }));
            if phase.get("model").is_some_and(|model| !model.is_null()) {
                step.insert("model".to_owned(), model);
                stage.cast(name, &script, false)?;
            }
        }
        other => return Err(format!("nobody knows the phase type {other:?}")),
    }
    if let Some(set) = phase.get("set_metadata") {
        step.insert("set".to_owned(), set.clone());
    }
    if let Some(transitions) = phase.get("transitions") {
        let mut routes = Vec::new();
        for transition in transitions.as_array().ok_or("`transitions` is no list")? {
            routes.push(route(transition, stage)?);
        }
        step.insert("routes".to_owned(), Value::Array(routes));
    }
    Ok(Value::Object(step))
}

fn tools_in(script: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    for line in script.iter().filter_map(Value::as_object) {
        for (word, used) in line {
            if !word.to_lowercase().starts_with("$tool") {
                continue;
            }
            let list = used.as_array().cloned().unwrap_or_else(|| vec![used.clone()]);
            let name = |used: &Value| {
                used.as_str()
                    .or(used["name"].as_str())
                    .or(used["tool"].as_str())
                    .map(str::to_owned)
            };
            found.extend(list.iter().filter_map(name));
        }
    }
    found
}

fn schema_of(schema: &Value) -> Result<Value, String> {
    if !schema.is_object() {
        return Err(format!("nobody knows the schema {schema}"));
    }
    let mut schema = engine::flow::input::InputSchema::to_json_schema(schema);
    // What a model class names without a default is required.
    if schema.get("required").is_none_or(|required| required == &json!([])) {
        let names: Vec<&String> = schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .collect();
        schema["required"] = json!(names);
    }
    Ok(schema)
}

fn route(transition: &Value, stage: &mut Stage) -> Result<Value, String> {
    known(
        transition,
        &[
            "to",
            "respond",
            "when",
            "set_metadata",
            "side_effect",
            "log",
            "instructions",
            "model",
            "formatter_script",
        ],
    )?;
    let mut route = Map::new();
    match (transition.get("to"), transition.get("respond")) {
        (Some(to), None) => {
            route.insert("to".to_owned(), to.clone());
        }
        (None, Some(text)) => {
            let mut finish = json!({ "text": text });
            if let Some(instructions) = transition.get("instructions") {
                finish["rewrite"] = json!({ "instructions": instructions, "model": format!("{PROVIDER}:format") });
                let lines = transition["formatter_script"].as_array().cloned().unwrap_or_default();
                stage.cast("format", &lines, false)?;
            }
            route.insert("finish".to_owned(), finish);
        }
        _ => return Err(format!("a transition has either `to` or `respond`: {transition}")),
    }
    if let Some(when) = transition.get("when").filter(|when| !when.is_null()) {
        route.insert("when".to_owned(), when.clone());
    }
    let mut set = transition.get("set_metadata").cloned();
    match transition.get("side_effect") {
        None | Some(Value::Null) => {}
        Some(Value::Object(effect)) => {
            set = Some(
                effect
                    .get("set_metadata")
                    .or(effect.get("set"))
                    .cloned()
                    .unwrap_or_else(|| Value::Object(effect.clone())),
            );
        }
        Some(Value::String(line)) => {
            route.insert("log".to_owned(), json!(line));
        }
        Some(other) => return Err(format!("nobody knows the side effect {other}")),
    }
    if let Some(line) = transition.get("log") {
        route.insert("log".to_owned(), line.clone());
    }
    if let Some(set) = set {
        route.insert("set".to_owned(), set);
    }
    Ok(Value::Object(route))
}

fn compare(expect: &Value, played: &Played, stage: &Stage) -> Result<Likeness, String> {
    let mut likeness = Likeness::Same;
    let outcome = &played.outcome;
    for (name, expected) in expect.as_object().ok_or("`expect` is no object")? {
        let actual = match name.as_str() {
            "note" | "source" | "why" => continue,
            "status" => {
                let status = status(played);
                let is_blocked = status == "blocked" && expected == "error";
                if is_blocked {
                    continue;
                }
                json!(status)
            }
            "error" => {
                likeness = likeness.max(error(expected, played)?);
                continue;
            }
            "text" => json!(outcome.text),
            "no_text" => json!(outcome.text.is_none()),
            "phase_history" => json!(outcome.phase_history),
            "phases_executed" => json!(outcome.phase_history.len()),
            "outputs" => json!(outcome.outputs),
            "metadata" => json!(outcome.metadata),
            "retry_counts" => json!(outcome.retry_counts),
            "model_calls" => json!(actors(stage)),
            "events" => json!(skeleton(played, expected)),
            "usage" => {
                let sum = played.told.iter().find_map(|event| match event {
                    FlowEvent::Usage { usage } => Some(json!({ "input": usage.input, "output": usage.output })),
                    _ => None,
                });
                json!(sum)
            }
            "guardrail_evaluations" => json!(guardrails_judged(&played.journal)),
            "formatter_input" => {
                let asked = stage.asked();
                let formatted = asked.iter().find(|request| request.model == "format");
                json!(formatted.map(|request| words_of(request).join("\n").trim_start_matches("user:").to_owned()))
            }
            unknown => return Err(format!("nobody knows what `expect.{unknown}` means")),
        };
        equal(name, expected, &actual)?;
    }
    Ok(likeness)
}

fn status(played: &Played) -> &'static str {
    match &played.outcome.error {
        None => "ok",
        Some(error) if error.code == "blocked_by_guardrail" => "blocked",
        Some(_) => "error",
    }
}

/// The models that were asked, guardrails apart.
fn actors(stage: &Stage) -> Vec<String> {
    let asked = stage.asked().into_iter().map(|request| request.model);
    asked
        .filter(|model| model != "pipeline" && !model.starts_with("guard-"))
        .collect()
}

/// The events without calls of models, unless the case speaks of them.
fn skeleton(played: &Played, expected: &Value) -> Vec<String> {
    let spoken_of = expected.to_string();
    let in_full = spoken_of.contains("LLMCall") || spoken_of.contains("ReasoningDelta");
    let names_errors = spoken_of.contains("Error:");
    let events = played.told.iter().zip(&played.events);
    events
        .filter(|(_, short)| in_full || !(short.starts_with("LLMCall") || *short == "ReasoningDelta"))
        .map(|(event, short)| match event {
            FlowEvent::Error { code, .. } if names_errors => format!("Error:{code}"),
            _ => short.clone(),
        })
        .collect()
}

/// The code agrees, and what else the expected error names stands in the message.
fn error(expected: &Value, played: &Played) -> Result<Likeness, String> {
    let Some(error) = &played.outcome.error else {
        return if expected.is_null() {
            Ok(Likeness::Same)
        } else {
            Err(format!("there is no error, expected is {expected}"))
        };
    };
    let mut likeness = Likeness::Same;
    let code = expected.as_str().or(expected["code"].as_str());
    if let Some(code) = code {
        equal("error", &json!(code.to_lowercase()), &json!(error.code))?;
    }
    for (name, value) in expected.as_object().into_iter().flatten() {
        let named = match (name.as_str(), value) {
            ("code", _) => continue,
            ("message" | "message_contains", Value::String(wanted)) => {
                likeness = likeness.max(says(wanted, &error.message)?);
                continue;
            }
            ("retryable", value) => {
                equal("error.retryable", value, &json!(error.retryable))?;
                continue;
            }
            ("phase" | "step" | "item", Value::String(named)) => named,
            _ => return Err(format!("nobody knows what `error.{name}` means")),
        };
        if !error.message.contains(named.as_str()) {
            return Err(format!("the error does not name {named}: {}", error.message));
        }
    }
    Ok(likeness)
}
