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
    check(flow(json!([ask("a"), step("{{x}}"), answer("r")])), &[]);
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
fn no_routes_are_no_routes() {
    let step = json!({ "id": "a", "ask": { "instructions": "i" }, "routes": [] });
    check(flow(json!([step, ask("b"), answer("r")])), &[]);
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
fn answers_that_all_have_a_condition_are_warned_about() {
    let maybe = json!({ "id": "r", "when": "{{a.ok}}", "answer": { "text": "t" } });
    check(
        flow(json!([ask("a"), maybe])),
        &["?steps: every answer has a condition: when none holds, the run ends with an error"],
    );
    check(flow(json!([ask("a"), maybe, answer("s")])), &[]);
}

#[test]
fn fixed_arguments_are_those_of_its_tools() {
    let agent = |mode: &str, args: Value| json!({ "id": "b", "agent": { "instructions": "i", "mode": mode, "tools": ["t", "u"], "args": args } });
    check(
        flow(json!([
            ask("a"),
            agent("eachOnce", json!({ "u": { "x": "{{a}} {{tool_1.y}}" } })),
            answer("r")
        ])),
        &[],
    );
    check(
        flow(json!([
            ask("a"),
            agent("eachOnce", json!({ "v": {}, "t": "{{tool_2}}" })),
            answer("r")
        ])),
        &[
            "?steps[1].agent.args.v: \"v\" is none of its tools",
            "steps[1].agent.args.t: {{tool_2}} leads nowhere",
        ],
    );
    check(
        flow(json!([agent("free", json!({ "t": {} })), answer("r")])),
        &["?steps[0].agent.args: an agent that uses its tools freely"],
    );
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

#[test]
fn an_inline_child_is_given_exactly_what_it_declares() {
    let child = json!({ "id": "c", "kind": "llm", "inputSchema": { "topic": "string", "style": "string" }, "model": { "provider": "p", "name": "n" }, "instruction": "{{topic}}{{style}}" });
    let given = |input: Value| sequential(json!([{ "agent": child, "input": input }]));
    check(
        given(json!({ "topic": "t" })),
        &["steps[0].input: missing key \"style\""],
    );
    check(
        given(json!({ "topic": "t", "style": "s", "more": 1 })),
        &["steps[0].input.more: extra key: \"more\" is not declared"],
    );
    check(
        given(json!(null)),
        &[
            "steps[0]: \"input\" is missing: what comes before does not provide key \"topic\", \"style\", and \"c\" requires input",
        ],
    );
    check(given(json!({ "topic": "t", "style": "s" })), &[]);
}

#[test]
fn a_referred_child_needs_what_it_requires() {
    let other = reading::read(
        &json!({ "id": "c", "kind": "sequential", "inputSchema": { "a": "string", "b": { "type": "string", "default": "" } }, "steps": [{ "ref": "d", "input": {} }] }),
        None,
    );
    let leaf = reading::read(
        &json!({ "id": "d", "kind": "tool", "tool": { "kind": "local", "name": "t" } }),
        None,
    );
    let refs = Refs::from_iter([
        ("c".to_owned(), other.flow.unwrap()),
        ("d".to_owned(), leaf.flow.unwrap()),
    ]);
    let said = |steps: Value| said_with(sequential(steps), Some(&refs)).concat();
    assert!(said(json!([{ "ref": "c" }])).contains("requires input \"a\""));
    assert!(said(json!([{ "ref": "c", "input": { "b": "x" } }])).contains("missing key \"a\""));
    assert!(said(json!([{ "ref": "c", "input": { "a": "x", "z": 1 } }])).starts_with("?steps[0].input.z: extra key"));
    assert_eq!(said(json!([{ "ref": "c", "input": { "a": "x" } }])), "");
    assert!(said(json!([{ "ref": "nobody" }])).contains("steps[0].ref: unknown ref \"nobody\""));
    // `nobody` is not looked for where nothing is known.
    check(sequential(json!([{ "ref": "nobody" }])), &[]);
}

#[test]
fn flows_that_run_each_other_without_end_are_named() {
    let read = |id: &str, to: &str| {
        (
            id.to_owned(),
            reading::read(
                &json!({ "id": id, "kind": "sequential", "steps": [{ "ref": to }] }),
                None,
            )
            .flow
            .unwrap(),
        )
    };
    let refs = Refs::from_iter([read("a", "b"), read("b", "c"), read("c", "b")]);
    let said = |to: &str| said_with(sequential(json!([{ "ref": to }])), Some(&refs)).concat();
    assert!(
        said("a").contains("steps[0].ref: circular: \"a\" runs itself without end, in a cycle: b → c → b"),
        "{}",
        said("a")
    );
    assert!(said("p").contains("\"p\" runs itself without end"));
    let chain = (0..40).map(|n| read(&format!("n{n}"), &format!("n{}", n + 1)));
    let end = reading::read(&json!({ "id": "n40", "kind": "tool", "tool": { "name": "t" } }), None)
        .flow
        .unwrap();
    let refs: Refs = chain.chain([("n40".to_owned(), end)]).collect();
    let deep = said_with(sequential(json!([{ "ref": "n0" }])), Some(&refs));
    assert!(deep.concat().contains("more than 16 times"), "{deep:?}");
    assert_eq!(
        said_with(sequential(json!([{ "ref": "n30" }])), Some(&refs)),
        Vec::<String>::new()
    );
}

#[test]
fn steps_lie_inside_each_other_sixteen_times() {
    let nest = |depth: usize| {
        let inner = (1..depth).fold(
            json!([ask("x")]),
            |steps, _| json!([{ "id": "g", "group": { "steps": steps } }]),
        );
        let mut steps = inner.as_array().unwrap().clone();
        steps.push(answer("r"));
        said(flow(json!(steps))).concat()
    };
    assert_eq!(nest(16), "");
    assert!(nest(17).contains("16 times, not more"), "{}", nest(17));
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

#[test]
fn an_agent_has_no_more_rounds_than_there_are() {
    let agent = json!({ "id": "a", "agent": { "instructions": "i", "mode": "free", "maxRounds": 51, "tools": [] } });
    check(
        flow(json!([agent, answer("r")])),
        &["?steps[0].agent.maxRounds: the agent has 50 rounds"],
    );
}
