//! What a step of a flow is given, sees and leaves behind: its state, its words to a model, its arguments, its answer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contract::event::RunEvent;
use contract::flow::{ChatMessage, FlowRun};
use contract::llm::LlmRequest;
use contract::plan::Plan;
use contract::task::Task;
use engine::flow::FlowOutcome;
use engine::flow::from_plan::{Results, plan_to_flow};
use engine::flow::reading::{Refs, read};
use serde_json::{Value, json};
use vectors::stage::{Stage, Theatre, Throws, run_of};

/// What became of a run: its outcome, what models were asked, and the calls of tools.
struct Ran {
    outcome: FlowOutcome,
    asked: Vec<LlmRequest>,
    executed: Vec<(String, Value)>,
    /// The paths of the steps that began, with their ids where these are not the keys.
    spans: Vec<(String, Option<String>)>,
}

impl Ran {
    fn code(&self) -> Option<&str> {
        self.outcome.error.as_ref().map(|error| error.code.as_str())
    }
}

/// Runs a flow whose model is `script:plain` unless it says otherwise; the tools are `lookup` and `write`.
async fn ran(cast: &[(&str, Value)], run: FlowRun) -> Ran {
    let mut stage = Stage::new(Throws::AsError);
    stage.cast("plain", &[json!("words")], false).unwrap();
    for tool in ["lookup", "write"] {
        stage.cast(tool, &[json!({ "did": tool })], true).unwrap();
    }
    for (actor, lines) in cast {
        let lines = lines.as_array().unwrap();
        stage
            .cast(actor, lines, lines.iter().all(|line| !line.is_string()))
            .unwrap();
    }
    let tools = ["lookup", "write"].map(|tool| (tool.to_owned(), tool.to_owned()));
    let theatre = Theatre::open(stage, &tools).await.unwrap();
    let played = theatre.play(run).await.unwrap();
    Ran {
        spans: played.journal.iter().filter_map(|record| span(&record.event)).collect(),
        outcome: played.outcome,
        asked: theatre.stage().asked(),
        executed: theatre.stage().executed(),
    }
}

fn span(event: &RunEvent) -> Option<(String, Option<String>)> {
    match event {
        RunEvent::PhaseStarted { phase, id, .. } => Some((phase.clone(), id.clone())),
        _ => None,
    }
}

fn flow(mut value: Value) -> FlowRun {
    value["id"] = json!("f");
    if value.get("kind").is_none() {
        value["model"] = json!("script:plain");
    }
    let reading = read(&value, None);
    assert!(reading.is_good(), "{:?}", reading.problems);
    run_of(reading.flow.unwrap(), Value::Null, vec![ChatMessage::user("Hello")])
}

fn answer(text: &str) -> Value {
    json!({ "id": "r", "answer": { "text": text } })
}

fn ask(id: &str) -> Value {
    json!({ "id": id, "ask": { "instructions": "i" } })
}

#[tokio::test]
async fn a_group_is_told_what_it_is_given() {
    let group = json!({ "id": "g", "reads": { "a": "{{a}}" }, "group": { "steps": [
        { "id": "x", "ask": { "instructions": "Improve {{a}}" } }
    ] } });
    let ran = ran(&[], flow(json!({ "steps": [ask("a"), group, answer("{{g}}")] }))).await;
    assert_eq!(ran.asked[1].system, "Improve words");
    assert_eq!(ran.outcome.text.as_deref(), Some("words"));
}

#[tokio::test]
async fn every_step_may_read_the_conversation_whatever_else_it_sees() {
    let private = json!({ "id": "p", "input": { "x": "string" }, "reads": { "x": "{{a}}" },
        "ask": { "instructions": "{{x}} to {{messages[0].content}}" } });
    let ran = ran(&[], flow(json!({ "steps": [ask("a"), private, answer("{{p}}")] }))).await;
    assert_eq!(ran.asked[1].system, "words to Hello");
}

#[tokio::test]
async fn an_agent_that_declares_nothing_is_given_one_value_inline_or_by_ref() {
    let agent =
        json!({ "id": "b", "kind": "llm", "model": { "provider": "script", "name": "plain" }, "instruction": "i" });
    let steps = |step: Value| json!({ "kind": "sequential", "steps": [step] });
    let input = json!({ "userQuery": "{{userQuery}}!" });
    let inline = flow(steps(json!({ "agent": agent, "input": input })));
    let mut by_ref = flow(steps(json!({ "ref": "b", "input": input })));
    by_ref.refs.insert("b".to_owned(), read(&agent, None).flow.unwrap());
    for run in [inline, by_ref] {
        let ran = ran(&[], run).await;
        let words = vectors::stage::words_of(&ran.asked[0]);
        assert_eq!(words, ["user:Hello!"], "{:?}", ran.outcome.error);
    }
}

#[tokio::test]
async fn the_id_names_a_step_in_a_trace_whatever_its_key() {
    let agent = json!({ "id": "web-researcher", "kind": "llm", "model": { "provider": "script", "name": "plain" }, "instruction": "i" });
    let steps = json!([{ "agent": agent, "stateKey": "factCheck" }, { "agent": agent }]);
    let ran = ran(&[], flow(json!({ "kind": "sequential", "steps": steps }))).await;
    let id = Some("web-researcher".to_owned());
    assert_eq!(
        ran.spans,
        [("factCheck".to_owned(), id.clone()), ("webResearcher".to_owned(), id)]
    );
    let plain = ran_spans(json!({ "steps": [ask("a"), answer("t")] })).await;
    assert_eq!(plain, [("a".to_owned(), None), ("r".to_owned(), None)]);
}

async fn ran_spans(value: Value) -> Vec<(String, Option<String>)> {
    ran(&[], flow(value)).await.spans
}

#[tokio::test]
async fn a_step_sets_what_it_has_just_said() {
    let set = json!({ "by_key": "{{a}}", "by_outputs": "{{outputs.a}}", "by_output": "{{output}}" });
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "set": set });
    let expected = json!({ "by_key": "words", "by_outputs": "words", "by_output": "words" });
    let inner = |mode: &str| json!({ "mode": mode, "steps": [step], "output": "{{metadata}}" });
    let mut by_reading = inner("sequence");
    by_reading["order"] = json!("reads");
    for group in [inner("sequence"), inner("parallel"), by_reading] {
        let steps = json!([{ "id": "g", "reads": {}, "group": group }, answer("t")]);
        let ran = ran(&[], flow(json!({ "steps": steps }))).await;
        assert_eq!(ran.outcome.outputs["g"], expected, "{group}");
    }
}

#[tokio::test]
async fn no_routes_lead_to_the_next_step() {
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [] });
    let ran = ran(&[], flow(json!({ "steps": [step, ask("b"), answer("t")] }))).await;
    assert_eq!(ran.outcome.phase_history, ["a", "b", "r"]);
}

#[tokio::test]
async fn a_flow_gives_its_answer_in_every_order() {
    let by_reading = json!({ "order": "reads", "steps": [answer("I say {{a}}"), ask("a")] });
    let at_once = json!({ "mode": "parallel", "steps": [answer("I say words"), ask("a")] });
    for value in [by_reading, at_once] {
        let ran = ran(&[], flow(value.clone())).await;
        assert_eq!(ran.outcome.text.as_deref(), Some("I say words"), "{value}");
    }
}

#[tokio::test]
async fn a_flow_that_has_no_answer_left_says_so() {
    let maybe = json!({ "id": "r", "when": "{{a}} == no", "answer": { "text": "t" } });
    let failed = ran(&[], flow(json!({ "steps": [ask("a"), maybe] }))).await;
    assert_eq!(failed.code(), Some("no_route"), "{:?}", failed.outcome);
    let group = json!({ "id": "g", "reads": { "x": 1 }, "group": { "steps": [ask("a"), maybe] } });
    let passed = ran(&[], flow(json!({ "steps": [group, answer("t")] }))).await;
    assert_eq!((passed.code(), passed.outcome.text.as_deref()), (None, Some("t")));
}

#[tokio::test]
async fn a_route_may_fold_the_hyphens_of_a_key() {
    let routed = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "webResearcher" }] });
    let value = json!({ "initial": "a", "steps": [routed, ask("skipped"), ask("web-researcher"), answer("t")] });
    let ran = ran(&[], flow(value)).await;
    assert_eq!(ran.outcome.phase_history, ["a", "web-researcher", "r"]);
}

#[tokio::test]
async fn a_model_with_tools_is_told_the_form_of_its_answer() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let step = json!({ "id": "a", "output": schema, "agent": { "instructions": "Count.", "tools": ["lookup"] } });
    let ran = ran(
        &[("plain", json!([{ "n": 3 }]))],
        flow(json!({ "steps": [step, answer("{{a.n}}")] })),
    )
    .await;
    let system = &ran.asked[0].system;
    assert!(
        system.starts_with("Count.") && system.contains(&schema.to_string()),
        "{system}"
    );
    assert_eq!(ran.outcome.text.as_deref(), Some("3"), "{:?}", ran.outcome.error);
}

#[tokio::test]
async fn a_flow_as_a_tool_says_what_it_takes_as_json_schema() {
    let leaf = json!({ "id": "dig", "kind": "tool", "inputSchema": { "query": "string" }, "tool": { "kind": "local", "name": "lookup", "params": { "q": "{{query}}" } } });
    let step = json!({ "id": "a", "agent": { "instructions": "i", "tools": ["dig"] } });
    let mut run = flow(json!({ "steps": [step, answer("t")] }));
    run.refs = Refs::from_iter([("dig".to_owned(), read(&leaf, None).flow.unwrap())]);
    let ran = ran(&[], run).await;
    let expected = json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    assert_eq!(ran.asked[0].tools[0].parameters, expected);
}

#[tokio::test]
async fn a_judged_rule_says_what_it_refers_to() {
    let rail = json!({ "timing": "post", "judged": "{{answer}} does not greet {{prompt}}" });
    let value = json!({ "guardrails": [rail], "steps": [ask("a"), answer("Good day")] });
    let ran = ran(&[], flow(value)).await;
    let judged = ran.asked.last().unwrap();
    assert!(
        judged.system.contains("when: Good day does not greet Hello\n"),
        "{}",
        judged.system
    );
}

#[tokio::test]
async fn a_manifest_gives_texts_as_they_are_and_what_is_filled_in_as_text() {
    let params = json!({ "limit": "5", "deep": "true", "q": "{{n}}", "many": "[{{n}}]" });
    let value = json!({ "kind": "tool", "inputSchema": { "n": { "type": "number", "default": 1.0 } }, "tool": { "kind": "local", "name": "lookup", "params": params } });
    let mut run = flow(value);
    run.input = json!({});
    let ran = ran(&[], run).await;
    let expected = json!({ "limit": "5", "deep": "true", "q": "1", "many": "[1]" });
    assert_eq!(ran.executed[0].1, expected, "{:?}", ran.outcome.error);
}

#[tokio::test]
async fn a_saved_plan_calls_its_tools_as_the_plan_did() {
    let plan: Plan = serde_json::from_value(json!({ "reasoning": "r", "estimatedTokens": 1.0, "steps": [
        { "id": "step_1", "description": "Look and write", "tools": ["lookup", "write", "lookup"], "expectedOutcome": "o",
          "dependencies": [], "args": { "lookup": { "q": "May" }, "write": { "path": "out/May.txt", "text": "{{tool_1.did}}" } } },
        { "id": "step_2", "description": "Look again", "tools": ["lookup"], "expectedOutcome": "o", "dependencies": ["step_1"],
          "mode": "free", "maxRounds": 2 },
    ] }))
    .unwrap();
    let task: Task =
        serde_json::from_value(json!({ "goal": "g", "expectedOutput": "e", "context": { "month": "May" } })).unwrap();
    let mut saved = plan_to_flow(&plan, &task, &Results::new()).unwrap();
    saved.model = Some("script:plain".to_owned());
    // It is what the file says that runs.
    let reading = read(&serde_json::to_value(&saved).unwrap(), None);
    assert!(reading.is_good(), "{:?}", reading.problems);
    let mut run = run_of(reading.flow.unwrap(), json!({ "month": "June" }), Vec::new());
    run.input = json!({ "month": "June" });
    let elsewhere = json!({ "$tool": { "name": "lookup", "args": { "q": "elsewhere" } } });
    let ran = ran(&[("plain", json!([elsewhere]))], run).await;
    let calls: Vec<(&str, &Value)> = ran.executed.iter().map(|(name, args)| (name.as_str(), args)).collect();
    let (look, write, again) = (
        json!({ "q": "June" }),
        json!({ "path": "out/June.txt", "text": "lookup" }),
        json!({ "q": "elsewhere" }),
    );
    let expected = [
        ("lookup", &look),
        ("write", &write),
        ("lookup", &look),
        ("lookup", &again),
    ];
    assert_eq!(calls, expected, "{:?}", ran.outcome.error);
    assert_eq!(
        (ran.asked.len(), ran.code()),
        (2, Some("round_limit")),
        "two rounds of the free step, and nothing else"
    );
}

#[tokio::test]
async fn the_first_step_that_is_no_answer_begins_unless_another_is_named() {
    let mut value = json!({ "steps": [answer("t"), ask("a"), ask("b")] });
    let from_first = ran(&[], flow(value.clone())).await;
    assert_eq!(from_first.outcome.phase_history, ["a", "b", "r"]);
    value["initial"] = json!("b");
    let from_second = ran(&[], flow(value)).await;
    assert_eq!(from_second.outcome.phase_history, ["b", "r"]);
}

#[tokio::test]
async fn a_step_says_its_instructions_and_hears_the_whole_conversation() {
    let step = json!({ "id": "a", "ask": { "instructions": "Think about {{userQuery}}." } });
    let mut run = flow(json!({ "steps": [step, answer("t")] }));
    run.messages = vec![
        ChatMessage::user("Tea?"),
        ChatMessage::assistant("Green or black?"),
        ChatMessage::user("Green"),
    ];
    let ran = ran(&[], run).await;
    assert_eq!(ran.asked[0].system, "Think about Green.");
    let heard = vectors::stage::words_of(&ran.asked[0]);
    assert_eq!(heard, ["user:Tea?", "assistant:Green or black?", "user:Green"]);
}

#[tokio::test]
async fn a_reply_that_does_not_fit_its_schema_is_an_error() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let step = json!({ "id": "a", "output": schema, "ask": { "instructions": "i" } });
    let value = json!({ "steps": [step, answer("{{a.n}}")] });
    let fits = ran(&[("plain", json!([{ "n": 3 }]))], flow(value.clone())).await;
    assert_eq!(fits.outcome.text.as_deref(), Some("3"));
    let misfit = ran(&[("plain", json!([{ "m": "x" }]))], flow(value)).await;
    assert_eq!(misfit.code(), Some("schema_error"));
}

#[tokio::test]
async fn a_route_is_taken_when_it_holds_and_leaves_what_it_sets() {
    let routes = json!([
        { "to": "c", "when": "{{output}} == other", "set": { "x": "never" } },
        { "to": "b", "when": "{{output}} == words", "set": { "x": "{{output}}!" }, "log": "on to b" },
        { "to": "c" }
    ]);
    let first = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": routes });
    let second = json!({ "id": "b", "ask": { "instructions": "{{metadata.x}}" }, "routes": [{ "to": "r" }] });
    let ran = ran(
        &[],
        flow(json!({ "steps": [first, ask("c"), second, answer("{{metadata.x}}")] })),
    )
    .await;
    assert_eq!(ran.outcome.phase_history, ["a", "b", "r"]);
    assert_eq!(ran.asked[1].system, "words!");
    assert_eq!(ran.outcome.text.as_deref(), Some("words!"));
}

#[tokio::test]
async fn another_model_says_the_end_as_it_is_told() {
    let finish =
        json!({ "text": "{{output}}", "rewrite": { "instructions": "Say it kindly.", "model": "script:kind" } });
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "finish": finish }] });
    let ran = ran(&[("kind", json!(["kind words"]))], flow(json!({ "steps": [step] }))).await;
    assert_eq!(ran.asked[1].system, "Say it kindly.");
    assert_eq!(vectors::stage::words_of(&ran.asked[1]), ["user:words"]);
    assert_eq!(ran.outcome.text.as_deref(), Some("kind words"));
}

#[tokio::test]
async fn an_answer_with_a_model_is_what_the_model_is_told() {
    let last = json!({ "id": "r", "model": "script:kind", "answer": { "text": "Tell: {{a}}" } });
    let ran = ran(
        &[("kind", json!(["kind words"]))],
        flow(json!({ "steps": [ask("a"), last] })),
    )
    .await;
    assert_eq!(ran.asked[1].system, "Tell: words");
    assert_eq!(ran.outcome.text.as_deref(), Some("kind words"));
}

#[tokio::test]
async fn an_agent_uses_its_tools_for_as_many_rounds_as_it_has() {
    let look = |q: &str| json!({ "$tool": { "name": "lookup", "args": { "q": q } } });
    let agent = json!({ "id": "a", "agent": { "instructions": "i", "tools": ["lookup"], "maxRounds": 5 } });
    let value = json!({ "steps": [agent, answer("{{a}}")] });
    let done = ran(&[("plain", json!([look("x"), "found"]))], flow(value.clone())).await;
    assert_eq!(done.executed, [("lookup".to_owned(), json!({ "q": "x" }))]);
    assert_eq!(done.outcome.text.as_deref(), Some("found"));
    // Always something else: it is the rounds that end it, and not that it goes in circles.
    let looks: Vec<Value> = ["a", "b", "c", "d", "e", "f", "g"].map(look).into();
    let endless = ran(&[("plain", json!(looks))], flow(value)).await;
    assert_eq!((endless.asked.len(), endless.code()), (5, Some("round_limit")));
}

#[tokio::test]
async fn a_flow_stops_before_a_step_that_is_one_too_many() {
    let value = json!({ "limits": { "maxTotalPhases": 2 }, "steps": [ask("a"), ask("b"), answer("t")] });
    let ran = ran(&[], flow(value)).await;
    assert_eq!(ran.code(), Some("phase_limit"));
    assert_eq!(ran.outcome.phase_history, ["a", "b"]);
}
