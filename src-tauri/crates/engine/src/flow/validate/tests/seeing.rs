//! What a step, a group and a rule see of what is around them.

use super::*;

#[test]
fn a_key_does_not_take_the_name_of_an_input() {
    let value = json!({ "id": "f", "input": { "q": "string" }, "steps": [ask("q"), ask("messages"), answer("r")] });
    check(
        value,
        &[
            "steps[0]: the key \"q\" collides with input \"q\"",
            "steps[1]: the key \"messages\" is a name",
        ],
    );
    let value = json!({ "id": "p", "kind": "sequential", "inputSchema": { "query": "string" }, "steps": [{ "ref": "a", "stateKey": "query" }] });
    check(value, &["steps[0]: the stateKey \"query\" collides with input"]);
    check(
        sequential(json!([{ "ref": "user-query" }])),
        &["steps[0]: the stateKey \"userQuery\" collides with input"],
    );
}

#[test]
fn a_reference_leads_to_what_is_there_by_then() {
    let reads = |text: &str| json!({ "id": "a", "ask": { "instructions": "i" }, "reads": { "x": text } });
    check(
        flow(json!([reads("{{b}}"), ask("b"), answer("r")])),
        &["steps[0].reads.x: {{b}} is not there yet"],
    );
    check(
        flow(json!([reads("{{a}}"), answer("r")])),
        &["steps[0].reads.x: {{a}} is not there yet: \"a\" is this step itself"],
    );
    check(
        flow(json!([reads("{{outputs.b.c}}"), ask("b"), answer("r")])),
        &["steps[0].reads.x: {{outputs.b.c}} is not there yet"],
    );
    check(
        flow(json!([reads("{{zzz.y}}"), answer("r")])),
        &["steps[0].reads.x: {{zzz.y}} leads nowhere"],
    );
    check(
        flow(json!([reads("{{messages}} {{metadata.x}} {{userQuery}}"), answer("r")])),
        &[],
    );
    let routed = json!([reads("{{b}}"), { "id": "b", "ask": { "instructions": "i" }, "routes": [{ "to": "a", "when": "{{output.again}}" }, { "to": "r" }] }, answer("r")]);
    check(flow(routed), &[]);
    let mut looped = flow(json!([reads("{{b}}"), ask("b"), answer("r")]));
    looped["until"] = json!("{{b.ok}}");
    looped["max"] = json!(3);
    check(looped, &[]);
}

#[test]
fn hyphens_may_be_written_or_folded() {
    let steps =
        json!([{ "ref": "fact-check" }, { "ref": "b", "input": { "x": "{{fact-check.a}}", "y": "{{factCheck.a}}" } }]);
    check(sequential(steps), &[]);
}

#[test]
fn branches_do_not_see_each_other() {
    let value = json!({ "id": "p", "kind": "parallel", "branches": [{ "ref": "a", "input": { "v": "{{b}}" } }, { "ref": "b" }], "output": { "x": "{{a}}{{b}}" } });
    check(
        value,
        &["branches[0].input.v: {{b}} cannot be seen from here: \"b\" is a branch"],
    );
    let group = json!({ "id": "g", "group": { "mode": "parallel", "steps": [
        { "id": "x", "ask": { "instructions": "{{a}}" } }, { "id": "y", "ask": { "instructions": "{{x}}" } }
    ] }, "reads": { "a": "{{a}}" } });
    check(
        flow(json!([ask("a"), group, answer("r")])),
        &["steps[1].group.steps[1].ask.instructions: {{x}} cannot be seen"],
    );
}

#[test]
fn a_group_sees_what_it_is_given_and_nothing_else() {
    let inside = |reads: Value, text: &str| {
        let steps = json!([{ "id": "x", "when": text, "ask": { "instructions": text } }]);
        let mut group = json!({ "id": "g", "group": { "steps": steps, "output": { "o": text } } });
        if !reads.is_null() {
            group["reads"] = reads;
        }
        flow(json!([ask("a"), group, answer("r")]))
    };
    check(
        inside(json!(null), "{{a}}"),
        &[
            "steps[1].group.steps[0].when: {{a}} cannot be seen from here: what has a state of its own sees what it is given",
            "steps[1].group.steps[0].ask.instructions: {{a}} cannot be seen from here",
            "steps[1].group.output.o: {{a}} cannot be seen from here",
        ],
    );
    let said = said(inside(json!({ "b": "{{a}}" }), "{{a}}")).concat();
    assert!(said.contains("write reads: { a: \"{{a}}\" } where it stands"), "{said}");
    check(inside(json!({ "a": "{{a}}" }), "{{a}}"), &[]);
    for own in ["{{userQuery}}", "{{metadata.m}}"] {
        check(inside(json!(null), own), &[]);
    }
    check(
        inside(json!({ "a": "{{a}}" }), "{{zzz}}"),
        &[
            "steps[1].group.steps[0].when: {{zzz}} leads nowhere",
            "steps[1].group.steps[0].ask.instructions: {{zzz}} leads nowhere",
            "steps[1].group.output.o: {{zzz}} leads nowhere",
        ],
    );
}

#[test]
fn a_step_with_a_schema_sees_the_keys_that_it_declares() {
    let step = |text: &str| json!({ "id": "b", "input": { "x": "string" }, "reads": { "x": "{{a}}" }, "ask": { "instructions": text } });
    check(flow(json!([ask("a"), step("{{x}} {{messages}}"), answer("r")])), &[]);
    check(
        flow(json!([ask("a"), step("{{a}}"), answer("r")])),
        &["steps[1].ask.instructions: {{a}} cannot be seen from here"],
    );
}

#[test]
fn the_list_of_a_group_is_made_where_the_group_stands() {
    let group = |items: &str| {
        json!({ "id": "g", "reads": { "l": "{{a}}" },
            "group": { "mode": "forEach", "items": items, "steps": [{ "id": "x", "ask": { "instructions": "{{item}} {{index}} {{l}}" } }] } })
    };
    for items in ["{{l}}", "{{a.rows}}"] {
        check(flow(json!([ask("a"), group(items), answer("r")])), &[]);
    }
    check(
        flow(json!([ask("a"), group("{{x}}"), answer("r")])),
        &["steps[1].group.items: {{x}} leads nowhere: unknown name \"x\""],
    );
}

#[test]
fn a_step_may_set_what_it_said_under_its_key() {
    let step = |id: &str| json!({ "id": id, "ask": { "instructions": "i" }, "set": { "x": "{{a.t}} {{outputs.a.t}} {{output.t}}" } });
    check(flow(json!([step("a"), answer("r")])), &[]);
    let group = json!({ "id": "g", "group": { "mode": "parallel", "steps": [step("a"), step("b")] } });
    check(
        flow(json!([group, answer("r")])),
        &[
            "steps[0].group.steps[1].set.x: {{a.t}} cannot be seen",
            "steps[0].group.steps[1].set.x: {{outputs.a.t}} cannot be seen",
        ],
    );
}

#[test]
fn a_rule_around_the_run_sees_what_came_in_and_what_goes_out() {
    let rails = |rails: Value| json!({ "id": "f", "steps": [ask("a"), answer("r")], "guardrails": rails });
    check(
        rails(json!([
            { "judged": "{{prompt}} {{messages}}" },
            { "timing": "post", "condition": "{{answer}} == '' && {{prompt}} == ''" }
        ])),
        &[],
    );
    check(
        rails(json!([{ "judged": "{{answer}}" }, { "timing": "post", "condition": "{{metadata.risk}} > 0.5" }])),
        &[
            "guardrails[0].judged: {{answer}} leads nowhere",
            "guardrails[1].condition: {{metadata.risk}} leads nowhere",
        ],
    );
}

#[test]
fn where_steps_run_in_the_order_of_reading_nobody_sees_what_others_left_by_chance() {
    let inner = json!({ "mode": "sequence", "steps": [{ "id": "n", "ask": { "instructions": "{{metadata.x}}" } }] });
    let steps = json!([
        { "id": "a", "ask": { "instructions": "i" }, "set": { "x": "{{output}} {{retries.a}}" } },
        { "id": "b", "reads": { "r": "{{metadata.x}}" }, "when": "{{phase_history}}", "ask": { "instructions": "{{outputs}} {{outputs.a}} {{r}}" } },
        { "id": "c", "group": inner },
        { "id": "r", "answer": { "text": "{{b}}" } },
    ]);
    let mut by_reading = flow(steps);
    by_reading["order"] = json!("reads");
    check(
        by_reading.clone(),
        &[
            "steps[0].set.x: {{retries.a}} depends on who is faster",
            "steps[1].when: {{phase_history}} depends on who is faster",
            "steps[1].reads.r: {{metadata.x}} depends on who is faster",
            "steps[1].ask.instructions: {{outputs}} depends on who is faster",
        ],
    );
    by_reading["order"] = json!("chain");
    check(by_reading, &[]);
}
