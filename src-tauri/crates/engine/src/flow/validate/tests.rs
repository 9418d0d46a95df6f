mod children;
mod order;
mod seeing;

use serde_json::json;

use super::*;
use crate::flow::reading;

/// The problems of a flow as `path: message`, warnings with a `?` before them.
fn said(value: Value) -> Vec<String> {
    said_with(value, None)
}

fn said_with(value: Value, refs: Option<&Refs>) -> Vec<String> {
    let mark = |problem: &Problem| if problem.warning { "?" } else { "" };
    let reading = reading::read(&value, refs);
    reading
        .problems
        .iter()
        .map(|problem| format!("{}{problem}", mark(problem)))
        .collect()
}

/// Each problem begins so, in this order, and there are no others.
fn check(value: Value, expected: &[&str]) {
    let said = said(value);
    let fits = said.len() == expected.len()
        && said
            .iter()
            .zip(expected)
            .all(|(said, expected)| said.starts_with(expected));
    assert!(fits, "{said:#?}\nexpected {expected:#?}");
}

fn ask(id: &str) -> Value {
    json!({ "id": id, "ask": { "instructions": "i" } })
}

fn answer(id: &str) -> Value {
    json!({ "id": id, "answer": { "text": "t" } })
}

fn flow(steps: Value) -> Value {
    json!({ "id": "f", "steps": steps })
}

fn sequential(steps: Value) -> Value {
    json!({ "id": "p", "kind": "sequential", "steps": steps })
}

#[test]
fn a_flow_that_ends_with_an_answer_is_good() {
    check(flow(json!([ask("a"), answer("r")])), &[]);
}

#[test]
fn a_step_is_exactly_one_thing() {
    let both = json!({ "id": "a", "ref": "x", "ask": { "instructions": "i" } });
    check(
        flow(json!([both, { "id": "b" }, answer("r")])),
        &[
            "steps[0]: the step has both \"ask\" and \"ref\"",
            "steps[1]: the step has neither",
        ],
    );
}

#[test]
fn every_part_that_cannot_be_read_is_named_at_once() {
    let value = json!({ "id": "", "steps": [
        { "ask": { "instructions": 5 } },
        { "id": "g", "group": { "mode": "parallel", "until": "{{x}}", "steps": [{ "id": "h" }, 7] } },
        { "id": "b", "ref": "x", "routes": [{ "to": "c", "finish": { "text": "t" } }, {}] }
    ] });
    check(
        value,
        &[
            "id: \"id\" is empty",
            "steps[0].id: \"id\" is missing",
            "steps[1].group.steps[0]: the step has neither",
            "steps[1].group.steps[1]: a step is a list",
            "steps[2].routes[0]: a route has either",
            "steps[2].routes[1]: a route has either",
        ],
    );
}

#[test]
fn what_has_another_shape_is_said_in_plain_words() {
    let value = json!({ "id": "f", "steps": [
        { "id": "a", "ask": 5 },
        { "id": "b", "ask": { "instructions": 5 } },
        { "id": "c", "group": { "mode": "zigzag", "steps": [answer("r")] } },
        { "id": "d", "set": [], "ask": { "instructions": "i" } },
    ] });
    check(
        value,
        &[
            "steps[0].ask: write what \"ask\" does as named values, such as { instructions: \"…\" }",
            "steps[1]: this is integer `5`, and should be a text",
            "steps[2]: unknown word `zigzag`, expected one of",
            "steps[3]: this is a list, and should be named values",
        ],
    );
}

#[test]
fn one_key_is_one_step() {
    check(
        flow(json!([ask("a"), ask("a"), answer("r")])),
        &["steps[1]: duplicate key \"a\""],
    );
    check(
        sequential(json!([{ "ref": "a" }, { "ref": "b", "stateKey": "a" }])),
        &["?steps[1]: duplicate key: \"a\" is used by multiple steps"],
    );
}

#[test]
fn a_misspelt_key_is_named_wherever_it_is() {
    let routes = json!([{ "to": "r", "wehn": "{{output.ok}}" }, { "finish": { "text": "t", "txt": 1, "rewrite": { "instructions": "i", "modle": "m" } } }]);
    let value = json!({ "id": "f", "limits": { "maxPhases": 3 }, "guardrails": [{ "contains": "x", "mesage": "m" }], "steps": [
        { "id": "a", "ask": { "instructions": "i" }, "routes": routes }, answer("r")
    ] });
    check(
        value,
        &[
            "?steps[0].routes[1]: this route is never taken",
            "?limits.maxPhases: \"limits\" has no \"maxPhases\"",
            "?guardrails[0].mesage: a guardrail has no",
            "?steps[0].routes[0].wehn: a route has no \"wehn\"",
            "?steps[0].routes[1].finish.txt: \"finish\" has no",
            "?steps[0].routes[1].finish.rewrite.modle: \"rewrite\" has no",
        ],
    );
}

#[test]
fn what_a_task_is_to_come_to_is_checked() {
    let task = |text: &str| json!({ "id": "t", "task": { "goal": "g", "expectedOutput": text } });
    check(
        flow(json!([task("{{zzz}}"), answer("r")])),
        &["steps[0].task.expectedOutput: {{zzz}} leads nowhere"],
    );
    check(
        flow(json!([task("{{x"), answer("r")])),
        &["steps[0].task.expectedOutput: unmatched {{"],
    );
}

#[test]
fn templates_and_conditions_are_named_with_their_place() {
    let value = json!({ "id": "f", "steps": [
        { "id": "a", "ask": { "instructions": "Hello {{name" }, "when": "!{{x}}", "reads": { "v": ["{{#if a}}"] } },
        { "id": "r", "answer": { "text": "{{#if a}}" } }
    ], "guardrails": [{ "condition": "{{prompt}} =" }] });
    check(
        value,
        &[
            "steps[0].when: invalid condition: there is no !",
            "steps[0].reads.v[0]: {{#if a}} is for texts",
            "steps[0].ask.instructions: unmatched {{: write }} where the reference ends, at character 7",
            "steps[1].answer.text: unmatched {{#if}}",
            "guardrails[0].condition: invalid condition: a single =",
        ],
    );
}

#[test]
fn conditions_that_never_change_are_warned_about() {
    let step = |when: &str| json!({ "id": "a", "ask": { "instructions": "i" }, "when": when });
    check(
        flow(json!([step("{{messages}} && a == b"), answer("r")])),
        &["?steps[0].when: a part of the condition"],
    );
    check(
        flow(json!([step("{{userQuery}} == '{{x}}'"), answer("r")])),
        &["?steps[0].when: a reference between quotation marks"],
    );
}

#[test]
fn unknown_keys_are_kept_and_warned_about() {
    let value = json!({ "id": "f", "colour": "red", "steps": [{ "id": "a", "ask": { "instructions": "i", "x": 1 }, "y": 2 }, answer("r")] });
    check(
        value,
        &[
            "?colour: a flow has no",
            "?steps[0].y: a step has no",
            "?steps[0].ask.x: \"ask\" has no",
        ],
    );
}

#[test]
fn ten_thousand_steps_are_checked_in_one_go() {
    let steps: Vec<Value> = (0..10_000)
        .map(|n| {
            let reads = if n == 0 { "{{userQuery}}".to_owned() } else { format!("{{{{s{}}}}}", n - 1) };
            json!({ "id": format!("s{n}"), "ask": { "instructions": "{{x}}" }, "reads": { "x": reads }, "set": { "m": "{{output}}" } })
        })
        .chain([answer("r")])
        .collect();
    check(flow(json!(steps)), &[]);
}
