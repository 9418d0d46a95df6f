//! What a step hands to what it runs: inline, by reference, inside each other.

use super::*;

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
fn an_inline_child_is_given_exactly_what_it_declares() {
    let child = json!({ "id": "c", "kind": "llm", "inputSchema": { "topic": "string", "style": "string" }, "model": { "provider": "p", "name": "n" }, "instruction": "{{topic}}{{style}}" });
    let given = |input: Value| sequential(json!([{ "agent": child, "input": input }]));
    check(
        given(json!({ "topic": "t" })),
        &["steps[0].input: missing key \"style\""],
    );
    check(
        given(json!({ "topic": "t", "style": "s", "more": "1" })),
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
fn who_gives_keys_to_a_child_that_declares_none_is_told() {
    let child = json!({ "id": "c", "kind": "llm", "model": { "provider": "p", "name": "n" }, "instruction": "i" });
    let given = |input: Value| sequential(json!([{ "agent": child, "input": input }]));
    let told = "?steps[0].input: \"c\" has no inputSchema";
    check(given(json!({ "x": "{{userQuery}}" })), &[told]);
    check(given(json!({ "userQuery": "{{userQuery}}", "x": "1" })), &[told]);
    check(given(json!({ "userQuery": "{{userQuery}}" })), &[]);
    check(given(json!({})), &[]);
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
    assert!(said(json!([{ "ref": "c", "input": { "a": "x", "z": "1" } }])).starts_with("?steps[0].input.z: extra key"));
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
fn what_is_not_given_to_flows_here_is_warned_about() {
    let told = |params: serde_json::Value| {
        let tool = json!({ "id": "t", "kind": "tool", "tool": { "kind": "local", "name": "t", "params": params } });
        let problems = reading::read(&tool, None).problems;
        problems
            .into_iter()
            .map(|problem| (problem.warning, problem.path))
            .collect::<Vec<_>>()
    };
    let warned = |place: &str| vec![(true, place.to_owned())];
    assert_eq!(told(json!({ "m": "Bearer {{secrets.KEY}}" })), warned("tool.params.m"));
    assert_eq!(told(json!({ "m": "{{ env.HOME }}" })), warned("tool.params.m"));
    assert_eq!(told(json!({ "m": "secrets.KEY is {{userQuery}}" })), []);
}
