//! In which order steps run: routes, answers, loops, reading, circles.

use super::*;

#[test]
fn routes_lead_to_steps_that_are_there() {
    let steps = json!([{ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "ghost" }] }, answer("r")]);
    check(
        flow(steps),
        &[
            "steps[0].routes[0].to: unknown target \"ghost\"",
            "steps: no reachable answer",
            "?steps[1]: nothing leads to \"r\"",
        ],
    );
}

#[test]
fn a_flow_needs_an_answer_that_can_be_reached() {
    let circle = json!([{ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "a" }] }, answer("r")]);
    check(
        flow(circle),
        &["steps: no reachable answer", "?steps[1]: nothing leads to \"r\""],
    );
    // The chain just ends.
    check(flow(json!([ask("a")])), &["steps: no reachable answer"]);
    let finish =
        json!([{ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "finish": { "text": "{{output}}" } }] }]);
    check(flow(finish), &[]);
    // What comes after a route without a condition is never taken.
    let hidden =
        json!([{ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "a" }, { "to": "r" }] }, answer("r")]);
    check(
        flow(hidden),
        &[
            "?steps[0].routes[1]: this route is never taken",
            "steps: no reachable answer",
            "?steps[1]: nothing leads",
        ],
    );
}

#[test]
fn a_flow_never_begins_with_an_answer() {
    check(flow(json!([answer("r")])), &["steps: no start"]);
    check(
        json!({ "id": "f", "initial": "r", "steps": [ask("a"), answer("r")] }),
        &["initial: no start"],
    );
    check(
        json!({ "id": "f", "initial": "x", "steps": [ask("a"), answer("r")] }),
        &["initial: no start"],
    );
    check(flow(json!([answer("r"), ask("a")])), &[]);
}

#[test]
fn a_last_route_with_a_condition_is_warned_about() {
    let steps = json!([{ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "r", "when": "{{output.ok}}" }] }, answer("r")]);
    check(
        flow(steps),
        &["?steps[0].routes[0].when: the last route has a condition"],
    );
}

#[test]
fn no_routes_are_no_routes() {
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [] });
    check(flow(json!([step, ask("b"), answer("r")])), &[]);
}

#[test]
fn whatever_a_step_reads_may_make_a_circle() {
    let by_words = |id: &str, other: &str| json!({ "id": id, "ask": { "instructions": format!("{{{{{other}}}}}") } });
    let by_condition = |id: &str, other: &str| json!({ "id": id, "when": format!("{{{{outputs.{other}}}}}"), "ask": { "instructions": "i" } });
    let value = json!({ "id": "f", "order": "reads", "steps": [by_words("web-a", "b"), by_condition("b", "webA"), ask("c"), answer("r")] });
    check(
        value,
        &["steps: circular: steps wait for each other in a circle (a cycle): \"web-a\", \"b\""],
    );
}

#[test]
fn steps_in_the_order_of_reading_do_not_repeat() {
    let value = json!({ "id": "f", "order": "reads", "until": "{{a.ok}}", "max": 2, "steps": [ask("a"), answer("r")] });
    check(value, &["until: an \"until\" needs steps that follow each other"]);
}

#[test]
fn answers_that_all_have_a_condition_are_warned_about() {
    let maybe = json!({ "id": "r", "when": "{{a.ok}}", "answer": { "text": "t" } });
    check(
        flow(json!([ask("a"), maybe])),
        &["?steps: every answer has a condition: when none holds, the run ends with an error"],
    );
    check(flow(json!([ask("a"), maybe, answer("s")])), &[]);
}

#[test]
fn a_loop_needs_a_limit() {
    let mut value = sequential(json!([{ "ref": "a" }]));
    value["until"] = json!("{{a.ok}} == true");
    check(value.clone(), &["until: an \"until\" needs \"maxIterations\""]);
    value["maxIterations"] = json!(0);
    check(
        value.clone(),
        &["maxIterations: \"maxIterations\" must be a positive whole number"],
    );
    value["maxIterations"] = json!(3);
    check(value.clone(), &[]);
    value.as_object_mut().unwrap().shift_remove("until");
    check(value, &["?maxIterations: \"maxIterations\" does nothing without"]);
    let mut own = flow(json!([ask("a"), answer("r")]));
    own["until"] = json!("{{a.ok}}");
    check(own, &["until: an \"until\" needs \"max\""]);
}

#[test]
fn only_a_sequence_repeats() {
    let value =
        json!({ "id": "p", "kind": "parallel", "until": "{{a}}", "maxIterations": 2, "branches": [{ "ref": "a" }] });
    check(
        value,
        &[
            "until: \"until\" is for sequential",
            "maxIterations: \"maxIterations\" is for sequential",
        ],
    );
    check(
        sequential(json!([{ "ref": "a", "until": "{{a}}" }])),
        &["steps[0].until: an \"until\" belongs"],
    );
    let single = json!({ "id": "a", "ask": { "instructions": "i" }, "until": "{{a}}" });
    check(
        flow(json!([single, answer("r")])),
        &["steps[0].until: \"until\" belongs to a group"],
    );
    let llm = json!({ "id": "a", "kind": "llm", "model": { "provider": "p", "name": "n" }, "instruction": "i", "until": "{{x}}" });
    check(llm, &["until: \"until\" is for sequential agents"]);
}

#[test]
fn a_group_has_no_when_of_its_own() {
    let value = json!({ "id": "p", "kind": "parallel", "when": "{{userQuery}}", "branches": [{ "ref": "a" }] });
    check(value, &["when: a \"when\" belongs to the step"]);
    let group = json!({ "id": "g", "group": { "mode": "parallel", "when": "{{a}}", "steps": [ask("x")] } });
    check(
        flow(json!([group, answer("r")])),
        &["steps[0].group.when: a \"when\" belongs"],
    );
}

#[test]
fn routes_need_an_order_of_steps() {
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [{ "to": "b" }] });
    let value = json!({ "id": "f", "order": "reads", "steps": [step, ask("b"), answer("r")] });
    check(value, &["steps[0].routes: routes need steps that follow"]);
}

#[test]
fn steps_that_wait_for_each_other_are_named() {
    let reads = |id: &str, other: &str| json!({ "id": id, "ask": { "instructions": "i" }, "reads": { "x": format!("{{{{{other}}}}}") } });
    let value = json!({ "id": "f", "dialect": "plan", "order": "reads", "steps": [reads("a", "b"), reads("b", "a"), reads("c", "a"), reads("d", "e"), ask("e")] });
    check(
        value,
        &["steps: circular: steps wait for each other in a circle (a cycle): \"a\", \"b\", \"c\""],
    );
}
