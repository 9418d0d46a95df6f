//! Pipelines: manifests with scripts, read as flows and run.

use contract::event::{Purpose, RunEvent, RunEventRecord};
use contract::flow::FlowRun;
use engine::flow::{agntz_code, manifest, reading};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::case::{Case, Outcome};
use crate::expect::equal;
use crate::latent::pipeline::known;
use crate::stage::{PROVIDER, Played, Stage, Theatre, Throws, block_on, is_json};
use crate::wording::{Likeness, says};

/// Runs a manifest and compares all that is expected of it.
pub(crate) fn pipelines(case: &Case) -> Result<Outcome, String> {
    known(
        case.value,
        &["agents", "scripts", "manifest", "input", "expect", "accepted"],
    )?;
    let expect = case.get("expect");
    let accepted = case
        .get("accepted")
        .or(expect.and_then(|expect| expect.get("accepted")));
    let readings = match accepted {
        Some(accepted) => accepted.as_array().cloned().ok_or("`accepted` is no list")?,
        None => vec![case.need("expect")?.clone()],
    };
    let mut problems = Vec::new();
    for expect in &readings {
        match play(case, expect) {
            Ok(likeness) => return Ok(Outcome::by(likeness)),
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems.join("; or: "))
}

fn play(case: &Case, expect: &Value) -> Result<Likeness, String> {
    let scripts = case.need("scripts")?.as_object().ok_or("`scripts` is no object")?;
    let mut stage = Stage::new(Throws::AsPanic);
    let mut tools = Vec::new();
    for (actor, lines) in scripts {
        let lines = lines.as_array().ok_or("a script is no list")?;
        stage.cast(actor, lines, is_json(lines))?;
        if let Some(tool) = actor.strip_prefix("tool:") {
            tools.push((tool.to_owned(), actor.clone()));
        }
    }
    let mut manifest = case.need("manifest")?.clone();
    for_the_stage(&mut manifest, scripts);
    let mut refs = IndexMap::new();
    for (id, agent) in case.get("agents").and_then(Value::as_object).into_iter().flatten() {
        let mut agent = agent.clone();
        for_the_stage(&mut agent, scripts);
        let read = manifest::read(&agent);
        let flow = read
            .flow
            .ok_or_else(|| format!("{id} cannot be read: {:?}", read.problems))?;
        refs.insert(id.clone(), flow);
    }
    let read = reading::read(&manifest, Some(&refs));
    let wrong: Vec<&str> = read
        .problems
        .iter()
        .filter(|problem| !problem.warning)
        .map(|problem| problem.message.as_str())
        .collect();
    let Some(flow) = read.flow.filter(|_| wrong.is_empty()) else {
        return load_error(expect, &wrong.join("; "));
    };
    let run = FlowRun {
        flow,
        refs,
        input: case.get("input").cloned().unwrap_or_default(),
        messages: Vec::new(),
    };
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        let played = theatre.play(run).await?;
        compare(expect, &played, theatre.stage(), case.value)
    })
}

/// A manifest that cannot be read may be what is expected, for the reason that is expected.
fn load_error(expect: &Value, wrong: &str) -> Result<Likeness, String> {
    let error = &expect["error"];
    let code = error.as_str().or(error["code"].as_str()).unwrap_or_default();
    // agntz finds out when it runs that an agent is not there.
    let is_absent = code == "AGENT_NOT_FOUND" && wrong.contains("unknown ref");
    if expect["status"] != "load_error" && code != "load_error" && !is_absent {
        return Err(format!("the manifest cannot be read: {wrong}"));
    }
    let sentence = error.as_str().filter(|text| text.contains(' '));
    match error["message"].as_str().or(sentence) {
        Some(wanted) => says(wanted, wrong),
        None => Ok(Likeness::Same),
    }
}

/// Every model is played by the actor of its agent; one whose lines are JSON is read as JSON.
fn for_the_stage(value: &mut Value, scripts: &Map<String, Value>) {
    match value {
        Value::Object(map) => {
            if map.get("kind").is_some_and(|kind| kind == "llm") {
                let id = map.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                let lines = scripts.get(&id).and_then(Value::as_array);
                if lines.is_some_and(|lines| is_json(lines)) && !map.contains_key("outputSchema") {
                    map.insert(
                        "outputSchema".to_owned(),
                        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }),
                    );
                }
                map.insert("model".to_owned(), json!({ "provider": PROVIDER, "name": id }));
            }
            map.values_mut().for_each(|value| for_the_stage(value, scripts));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| for_the_stage(value, scripts)),
        _ => {}
    }
}

fn compare(expect: &Value, played: &Played, stage: &Stage, case: &Value) -> Result<Likeness, String> {
    let outcome = &played.outcome;
    let mut likeness = Likeness::Same;
    for (name, expected) in expect.as_object().ok_or("`expect` is no object")? {
        let actual = match name.as_str() {
            "note" | "source" => continue,
            "status" => json!(if outcome.error.is_some() { "error" } else { "ok" }),
            "output" => outcome.output.clone(),
            "state" => state(played, &case["manifest"]),
            "calls" => {
                calls(expected, &played.journal, case)?;
                continue;
            }
            "tool_calls" => {
                let executed = stage.executed().into_iter();
                Value::Array(
                    executed
                        .map(|(name, args)| json!({ "name": name, "params": args }))
                        .collect(),
                )
            }
            "iterations" => json!(iterations(&played.journal)),
            "error" => {
                likeness = likeness.max(error(expected, played)?);
                continue;
            }
            unknown => return Err(format!("nobody knows what `expect.{unknown}` means")),
        };
        equal(name, expected, &actual)?;
    }
    Ok(likeness)
}

/// The state at the end. That of a single agent is what it was given: its output is no part of it.
fn state(played: &Played, manifest: &Value) -> Value {
    let mut state = json!(played.outcome.state());
    let is_single = ["llm", "tool"].iter().any(|kind| manifest["kind"] == *kind);
    let own = manifest::state_key(&json!({ "agent": manifest }), None).filter(|_| is_single);
    if let (Some(own), Some(state)) = (own, state.as_object_mut()) {
        state.remove(&own);
    }
    state
}

/// The model calls in order, each with the state that its agent saw. Calls that began at once are
/// compared without their order.
fn calls(expected: &Value, journal: &[RunEventRecord], case: &Value) -> Result<(), String> {
    let mut seen = Vec::new();
    for record in journal {
        let RunEvent::ModelCallStarted {
            purpose: Purpose::Phase,
            model,
            ..
        } = &record.event
        else {
            continue;
        };
        let agent = model.split_once(':').map_or(model.as_str(), |(_, agent)| agent);
        seen.push(json!({ "agent": agent, "state": inputs_around(journal, record.key.as_str()) }));
    }
    let expected = expected.as_array().ok_or("`calls` is no list")?;
    let mut wanted = Vec::new();
    for call in expected {
        known(call, &["agent", "state"])?;
        wanted.push(call.clone());
    }
    // What a case says of a call is compared; a call without a state is only counted.
    for (call, wanted) in seen.iter_mut().zip(&wanted) {
        if wanted.get("state").is_none() {
            call.as_object_mut().map(|call| call.remove("state"));
        }
    }
    if is_parallel(case) {
        let by_text = |calls: &mut Vec<Value>| calls.sort_by_key(Value::to_string);
        by_text(&mut seen);
        by_text(&mut wanted);
    }
    equal("calls", &Value::Array(wanted), &Value::Array(seen))
}

/// Whether calls may begin at once anywhere in a case.
fn is_parallel(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.get("kind").is_some_and(|kind| kind == "parallel") || map.values().any(is_parallel),
        Value::Array(list) => list.iter().any(is_parallel),
        _ => false,
    }
}

/// What the innermost step around an address was given.
fn inputs_around(journal: &[RunEventRecord], key: &str) -> Value {
    let around = journal.iter().filter_map(|record| match &record.event {
        RunEvent::PhaseStarted { inputs, .. } => {
            let visit = record.key.as_str().trim_end_matches(":started");
            key.starts_with(&format!("{visit}/")).then_some((visit.len(), inputs))
        }
        _ => None,
    });
    let innermost = around.max_by_key(|(length, _)| *length);
    innermost
        .and_then(|(_, inputs)| inputs.as_ref()?.inline.clone())
        .unwrap_or_default()
}

/// How many passes the outermost loop took: how often its first step was come to.
fn iterations(journal: &[RunEventRecord]) -> u32 {
    let visits = journal.iter().filter_map(|record| match &record.event {
        RunEvent::PhaseStarted { phase, visit, .. } | RunEvent::PhaseSkipped { phase, visit, .. }
            if !phase.contains('/') =>
        {
            Some(*visit)
        }
        _ => None,
    });
    visits.max().unwrap_or_default()
}

/// The code agrees, in our letters or agntz's, and the message is about the same.
fn error(expected: &Value, played: &Played) -> Result<Likeness, String> {
    let Some(error) = &played.outcome.error else {
        return if expected.is_null() {
            Ok(Likeness::Same)
        } else {
            Err(format!("there is no error, expected is {expected}"))
        };
    };
    // A sentence is no code.
    let sentence = expected.as_str().filter(|text| text.contains(' '));
    let code = expected
        .as_str()
        .or(expected["code"].as_str())
        .filter(|_| sentence.is_none());
    if let Some(code) = code
        && code != error.code
        && code != agntz_code(&error.code)
    {
        return Err(format!("`error` is {error:?}, not {code}"));
    }
    let mut likeness = Likeness::Same;
    if let Some(sentence) = sentence {
        likeness = likeness.max(says(sentence, &error.message)?);
    }
    for (name, value) in expected.as_object().into_iter().flatten() {
        match name.as_str() {
            "code" => {}
            "message" | "message_contains" | "contains" => {
                likeness = likeness.max(says(value.as_str().unwrap_or_default(), &error.message)?);
            }
            "retryable" => equal("error.retryable", value, &json!(error.retryable))?,
            "step" | "agent" => {
                let named = value.as_str().unwrap_or_default();
                let failed = played.journal.iter().any(|record| match &record.event {
                    RunEvent::PhaseFinished {
                        phase, error: Some(_), ..
                    } => phase.contains(named),
                    _ => false,
                });
                if !failed {
                    return Err(format!("no step {named} failed"));
                }
            }
            unknown => return Err(format!("nobody knows what `error.{unknown}` means")),
        }
    }
    Ok(likeness)
}
