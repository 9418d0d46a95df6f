//! Defaults: what a flow that says nothing does.

use contract::flow::{AgentMode, Flow, RouteTarget, StepKind};
use serde_json::{Value, json};

use super::pipeline::{flow_of, known};
use crate::case::{Case, Outcome};
use crate::expect::equal;
use crate::stage::{Played, Stage, Theatre, Throws, block_on, run_of};
use contract::flow::ChatMessage;

/// Looks the default up in a flow that says nothing, or runs one.
pub(crate) fn defaults(case: &Case) -> Result<Outcome, String> {
    known(case.value, &["what", "expect"])?;
    let what = case.need_text("what")?.to_lowercase();
    let expect = case.need("expect")?;
    let has = |word: &str| what.contains(word);
    let found = if has("temperature") {
        json!(asked()?.0)
    } else if has("max_tokens") {
        json!(asked()?.1)
    } else if has("max_total_phases") || has("total phases") {
        json!(silent()?.limits.max_total_phases)
    } else if has("max_iterations") || has("rounds") {
        json!(rounds()?)
    } else if has("threshold") {
        json!(silent()?.guardrails[0].threshold)
    } else if has("message") {
        json!(silent()?.guardrails[0].message)
    } else if has("on_error") {
        json!(silent()?.guardrails[0].on_error)
    } else if has("retry count") || has("retries") {
        let played = chain()?;
        played.outcome.retry_counts.get("a").cloned().unwrap_or_default()
    } else if has("initial") || has("first phase") || has("start") {
        return in_words(
            chain()?.outcome.phase_history.first().is_some_and(|first| first == "a"),
            expect,
            &["first"],
        );
    } else if has("when") || has("predicate") {
        return in_words(routed_by_none()?, expect, &["always", "match"]);
    } else if has("side_effect") || has("side effect") || has("metadata") {
        let played = chain()?;
        return in_words(
            played.outcome.metadata.is_empty(),
            expect,
            &["none", "null", "nothing", "empty", "{}"],
        );
    } else if case.need_text("what")?.starts_with("Respond") && has("model") {
        let asked = formatted()?;
        return in_words(asked.as_deref() == Some("pipeline"), expect, &["pipeline"]);
    } else if has("instructions") {
        return in_words(
            routed_by_none()?,
            expect,
            &["none", "null", "no format", "no rewrite", "as it is", "directly", "raw"],
        );
    } else if has("respond") && has("model") {
        let played = chain()?;
        return in_words(
            played.outcome.text.as_deref() == Some("t") && answered_without_a_model()?,
            expect,
            &["none", "null", "direct", "no model"],
        );
    } else if has("model") {
        let (by_default, overridden) = models()?;
        let right = by_default == "pipeline" && overridden == "own";
        return in_words(right, expect, &["pipeline", "override", "default"]);
    } else if has("transitions") {
        let history = chain()?.outcome.phase_history;
        return in_words(history == ["a", "b", "c", "say"], expect, &["chain", "next", "respond"]);
    } else if has("output_schema") || has("output schema") {
        return in_words(
            chain()?.outcome.outputs.get("a") == Some(&json!("A")),
            expect,
            &["raw", "text", "none", "null"],
        );
    } else {
        return Err(format!("nobody knows the default of {what}"));
    };
    // A number may be written as a text.
    let number = expect
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let number = number.filter(|value| value.is_number() && found.is_number());
    equal("expect", number.as_ref().unwrap_or(expect), &found)?;
    Ok(Outcome::Passed)
}

/// The default is as it should be, and the case says so in words that are known.
fn in_words(holds: bool, expect: &Value, words: &[&str]) -> Result<Outcome, String> {
    let said = expect
        .as_str()
        .map_or_else(|| expect.to_string(), str::to_owned)
        .to_lowercase();
    if !words.iter().any(|word| said.contains(word)) {
        return Err(format!("nobody knows what {expect} means here"));
    }
    if holds {
        Ok(Outcome::Passed)
    } else {
        Err(format!("it is not so: {expect}"))
    }
}

fn silent() -> Result<Flow, String> {
    let flow = json!({ "id": "f", "steps": [
        { "id": "a", "ask": { "instructions": "i" } },
        { "id": "b", "agent": { "instructions": "i" } },
        { "id": "say", "answer": { "text": "t" } },
    ], "guardrails": [{ "contains": "x" }] });
    serde_json::from_value(flow).map_err(|error| error.to_string())
}

fn rounds() -> Result<u32, String> {
    match &silent()?.steps[1].kind {
        StepKind::Agent(agent) => match agent.mode {
            AgentMode::Free { max_rounds } => Ok(max_rounds),
            AgentMode::EachOnce => Err("an agent uses each tool once".to_owned()),
        },
        other => Err(format!("{other:?}")),
    }
}

fn phases(value: Value) -> Result<(Played, Vec<contract::llm::LlmRequest>), String> {
    let mut stage = Stage::new(Throws::AsPanic);
    stage.cast("pipeline", &[json!("P")], false)?;
    stage.cast("own", &[json!("O")], false)?;
    let (mut flow, tools) = flow_of(&value, &mut stage)?;
    for step in &mut flow.steps {
        if let Some(own) = step.id.strip_prefix("own_") {
            step.model = Some(format!("script:{own}"));
        } else if matches!(step.kind, StepKind::Ask(_)) && value["own_models"].is_null() {
            continue;
        } else if matches!(step.kind, StepKind::Ask(_)) {
            step.model = None;
        }
    }
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        let played = theatre
            .play(run_of(flow, Value::Null, vec![ChatMessage::user("Hello")]))
            .await?;
        Ok((played, theatre.stage().asked()))
    })
}

/// Temperature and most tokens of a phase's call, as they reach the model.
fn asked() -> Result<(f32, u32), String> {
    let flow = json!({ "phases": [
        { "name": "a", "type": "prompt", "script": ["A"] },
        { "name": "say", "type": "respond", "returns": "t" },
    ] });
    let (_, asked) = phases(flow)?;
    let request = asked.first().ok_or("nobody was asked")?;
    Ok((
        request.temperature.ok_or("no temperature is sent")?,
        request.max_tokens.ok_or("no limit is sent")?,
    ))
}

/// Whether an answer that names no model asks none.
fn answered_without_a_model() -> Result<bool, String> {
    let flow = json!({ "phases": [
        { "name": "a", "type": "function", "script": ["A"] },
        { "name": "say", "type": "respond", "returns": "t" },
    ] });
    Ok(phases(flow)?.1.is_empty())
}

fn chain() -> Result<Played, String> {
    let flow = json!({ "phases": [
        { "name": "say", "type": "respond", "returns": "t" },
        { "name": "a", "type": "prompt", "script": ["A"] },
        { "name": "b", "type": "function", "script": ["B"] },
        { "name": "c", "type": "react", "script": ["C"] },
    ] });
    Ok(phases(flow)?.0)
}

fn routed_by_none() -> Result<bool, String> {
    let flow = json!({ "phases": [
        { "name": "a", "type": "function", "script": ["A"], "transitions": [{ "to": "say", "when": null }] },
        { "name": "say", "type": "respond", "returns": "t" },
    ] });
    Ok(phases(flow)?.0.outcome.text.as_deref() == Some("t"))
}

/// Which model rewrites the text of a route that finishes and names none.
fn formatted() -> Result<Option<String>, String> {
    let mut stage = Stage::new(Throws::AsPanic);
    stage.cast("pipeline", &[json!("P")], false)?;
    let finish = json!({ "respond": "t", "when": null, "instructions": "kindly", "formatter_script": ["F"] });
    let flow = json!({ "phases": [{ "name": "a", "type": "function", "script": ["A"], "transitions": [finish] }] });
    let (mut flow, tools) = flow_of(&flow, &mut stage)?;
    for route in flow.steps.iter_mut().flat_map(|step| step.routes.iter_mut().flatten()) {
        if let RouteTarget::Finish(finish) = &mut route.target
            && let Some(rewrite) = &mut finish.rewrite
        {
            rewrite.model = None;
        }
    }
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        theatre
            .play(run_of(flow, Value::Null, vec![ChatMessage::user("Hello")]))
            .await?;
        Ok(theatre.stage().asked().first().map(|request| request.model.clone()))
    })
}

/// Which model a phase asks that names none, and which one that does.
fn models() -> Result<(String, String), String> {
    let flow = json!({ "own_models": true, "phases": [
        { "name": "a", "type": "prompt", "script": ["A"] },
        { "name": "own_own", "type": "prompt", "script": ["B"] },
        { "name": "say", "type": "respond", "returns": "t" },
    ] });
    let (_, asked) = phases(flow)?;
    match asked.as_slice() {
        [first, second] => Ok((first.model.clone(), second.model.clone())),
        other => Err(format!("{} calls", other.len())),
    }
}
