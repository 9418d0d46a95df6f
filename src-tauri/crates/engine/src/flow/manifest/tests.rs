use serde_json::json;

use super::*;

fn read_good(value: &Value) -> Flow {
    let reading = read(value);
    reading.flow.unwrap_or_else(|| panic!("{:?}", reading.problems))
}

fn check_back(value: Value) {
    let back = write(&read_good(&value)).unwrap();
    assert_eq!(back, value);
}

fn llm(id: &str) -> Value {
    json!({ "id": id, "kind": "llm", "model": { "provider": "openai", "name": "m" }, "instruction": "Hello {{userQuery}}" })
}

#[test]
fn every_kind_comes_back_as_it_was() {
    check_back(llm("a"));
    check_back(
        json!({ "id": "t", "kind": "tool", "tool": { "kind": "local", "name": "send", "params": { "m": "{{x}}" } }, "inputSchema": { "x": "string" } }),
    );
    check_back(
        json!({ "id": "p", "kind": "parallel", "branches": [{ "ref": "a", "when": "{{x}}" }, { "ref": "b", "stateKey": "c" }], "output": { "x": ["{{a}}"] } }),
    );
    check_back(json!({
        "id": "s", "name": "S", "description": "d", "stateKey": "k", "kind": "sequential",
        "inputSchema": { "topic": "string", "tone": { "type": "string", "default": "plain" } },
        "until": "{{b.ok}}", "maxIterations": 3,
        "steps": [
            { "ref": "a", "input": { "x": "{{topic}}" } },
            { "agent": { "id": "b", "stateKey": "bee", "kind": "sequential", "inputSchema": { "y": "string" }, "steps": [{ "agent": llm("c") }] }, "input": { "y": "1" } }
        ]
    }));
}

#[test]
fn what_has_no_place_comes_back_too_and_is_warned_about() {
    let mut agent = llm("a");
    agent["model"] = json!({ "provider": "openai", "name": "m", "temperature": 0.5, "topP": 0.9 });
    agent["tools"] = json!([{ "kind": "mcp", "server": "s" }, { "kind": "local", "tools": ["x", "y"] }, { "kind": "agent", "agent": "z" }]);
    agent["outputSchema"] = json!({ "answer": "string" });
    for key in [
        "skills",
        "spawnable",
        "resources",
        "retention",
        "reply",
        "examples",
        "maxSteps",
        "somethingNew",
    ] {
        agent[key] = json!([{ "name": key }]);
    }
    let inside =
        json!({ "id": "s", "kind": "sequential", "retention": "30d", "steps": [{ "agent": agent, "note": "mine" }] });
    for value in [agent, inside] {
        let reading = read(&value);
        let warned: Vec<&str> = reading
            .problems
            .iter()
            .map(|problem| problem.path.rsplit('.').next().unwrap())
            .collect();
        assert!(reading.problems.iter().all(|problem| problem.warning));
        for key in [
            "skills",
            "spawnable",
            "resources",
            "retention",
            "somethingNew",
            "tools[0]",
        ] {
            assert!(warned.contains(&key), "{key} in {warned:?}");
        }
        check_back(value);
    }
}

#[test]
fn an_agent_is_a_flow_of_one_step_that_sees_what_the_agent_is_given() {
    let mut value = llm("a");
    value["inputSchema"] = json!({ "topic": "string" });
    let flow = read_good(&value);
    assert_eq!((flow.dialect, flow.steps.len()), (Dialect::Manifest, 1));
    let step = &flow.steps[0];
    assert_eq!(
        step.reads.clone().unwrap(),
        IndexMap::from([("topic".to_owned(), json!("{{topic}}"))])
    );
    assert_eq!((step.model.as_deref(), &step.input), (Some("openai:m"), &flow.input));
}

#[test]
fn settings_of_the_model_and_tools_arrive() {
    let mut value = llm("a");
    value["model"] = json!({ "provider": "x", "name": "y", "temperature": 0.5, "maxTokens": 100 });
    let flow = read_good(&value);
    let StepKind::Ask(ask) = &flow.steps[0].kind else {
        panic!()
    };
    assert_eq!((ask.temperature, ask.max_tokens), (0.5, 100));
    value["tools"] = json!([{ "kind": "local", "name": "file_read" }]);
    let flow = read_good(&value);
    let StepKind::Agent(agent) = &flow.steps[0].kind else {
        panic!()
    };
    assert_eq!(agent.tools, ["file_read"]);
}

#[test]
fn an_agent_asks_its_prompt_in_place_of_what_it_was_given() {
    let mut value = llm("a");
    value["prompt"] = json!("Solve: {{userQuery}}");
    let flow = read_good(&value);
    let StepKind::Ask(ask) = &flow.steps[0].kind else {
        panic!()
    };
    assert_eq!(ask.prompt.as_deref(), Some("Solve: {{userQuery}}"));
    assert_eq!(write(&flow).unwrap()["prompt"], value["prompt"]);
}

#[test]
fn a_step_lands_under_its_own_key_then_the_agents_then_its_id() {
    let key = |step: Value| state_key(&step, None).unwrap();
    assert_eq!(key(json!({ "ref": "some-agent", "stateKey": "custom" })), "custom");
    assert_eq!(key(json!({ "ref": "web-researcher" })), "webResearcher");
    assert_eq!(key(json!({ "agent": { "id": "a-1-b" } })), "a-1B");
    assert_eq!(key(json!({ "agent": { "id": "a", "stateKey": "b-c" } })), "b-c");
    assert_eq!(
        key(json!({ "agent": { "id": "a", "stateKey": "b" }, "stateKey": "c" })),
        "c"
    );
    assert_eq!(
        state_key(&json!({ "ref": "a" }), Some(&json!({ "id": "a", "stateKey": "k" }))).unwrap(),
        "k"
    );
    assert_eq!(state_key(&json!({}), None), None);
    let flow = read_good(
        &json!({ "id": "s", "kind": "sequential", "steps": [{ "agent": { "id": "x", "stateKey": "own", "kind": "tool", "tool": { "name": "t" } } }] }),
    );
    assert_eq!(flow.steps[0].state_key(Dialect::Manifest, None), "own");
}

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let said = |value: Value| -> Vec<String> { read(&value).problems.iter().map(ToString::to_string).collect() };
    let check = |value: Value, expected: &[&str]| {
        let said = said(value);
        let fits = said.len() == expected.len()
            && said
                .iter()
                .zip(expected)
                .all(|(said, expected)| said.starts_with(expected));
        assert!(fits, "{said:#?}\nexpected {expected:#?}");
    };
    check(json!({ "id": "test" }), &["kind: \"kind\" is missing"]);
    check(
        json!({ "id": "test", "kind": "magic" }),
        &["kind: unknown agent kind \"magic\""],
    );
    check(
        json!({ "id": "test", "kind": "image" }),
        &["kind: the kind \"image\" runs on the servers"],
    );
    check(
        json!({ "kind": "llm" }),
        &[
            "id: \"id\" is missing",
            "instruction: \"instruction\" is missing",
            "model: \"model\" is missing",
        ],
    );
    check(
        json!({ "id": "a", "kind": "llm", "instruction": "i", "model": { "provider": "p" } }),
        &["model.name: \"name\" is missing"],
    );
    check(json!({ "id": "a", "kind": "tool" }), &["tool: \"tool\" is missing"]);
    check(
        json!({ "id": "a", "kind": "tool", "tool": { "kind": "local" } }),
        &["tool.name: \"name\" is missing"],
    );
    check(
        json!({ "id": "a", "kind": "tool", "tool": { "kind": "mcp", "name": "t" } }),
        &["tool.server: \"server\" is missing", "tool: tools of the kind \"mcp\""],
    );
    check(
        json!({ "id": "a", "kind": "tool", "tool": { "kind": "weird", "name": "t" } }),
        &["tool.kind: unknown tool.kind \"weird\"", "tool: tools of the kind"],
    );
    check(
        json!({ "id": "a", "kind": "sequential", "steps": [] }),
        &["steps: \"steps\" must be a list with at least one step"],
    );
    check(
        json!({ "id": "a", "kind": "sequential" }),
        &["steps: \"steps\" must be a list"],
    );
    check(
        json!({ "id": "a", "kind": "parallel", "branches": [] }),
        &["branches: \"branches\" must be a list with at least one branch"],
    );
    let steps = json!([{ "ref": "a", "agent": llm("b") }, {}, 7, { "ref": "" }, { "ref": "c", "input": "x", "when": [] }, { "agent": { "id": "d" } }]);
    check(
        json!({ "id": "a", "kind": "sequential", "steps": steps }),
        &[
            "steps[0]: the step has both \"ref\" and \"agent\"",
            "steps[1]: the step must have either \"ref\" or \"agent\"",
            "steps[2]: a step is",
            "steps[3].ref: \"ref\" is the id",
            "steps[4].when: \"when\" is a condition",
            "steps[4].input: \"input\" names",
            "steps[5].agent.kind: \"kind\" is missing",
        ],
    );
    check(
        json!({ "id": "a", "kind": "sequential", "inputSchema": ["x"], "steps": [{ "ref": "b" }] }),
        &["inputSchema: a schema names its keys"],
    );
    check(
        json!({ "id": "a", "kind": "sequential", "inputSchema": { "q": 5 }, "steps": [{ "ref": "b" }] }),
        &["inputSchema.q: 5 is no type"],
    );
}

#[test]
fn what_is_given_is_texts_with_templates() {
    let value = json!({
        "id": "s", "kind": "sequential",
        "steps": [
            { "ref": "a", "input": { "t": "{{userQuery}}", "n": 5, "o": {} } },
            { "agent": { "id": "b", "kind": "tool", "tool": { "name": "t", "params": { "flag": true } } } },
        ],
        "output": { "x": { "y": null, "z": "{{a}}" } },
    });
    let said: Vec<String> = read(&value).problems.iter().map(ToString::to_string).collect();
    let expected = [
        "steps[0].input.n: ",
        "steps[0].input.o: ",
        "steps[1].agent.tool.params.flag: ",
        "output.x.y: ",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected) && said.contains("must be strings"), "{said}");
    }
}

#[test]
fn a_flow_that_agntz_has_no_kind_for_is_not_written() {
    let value = json!({ "id": "f", "order": "reads", "steps": [{ "id": "r", "answer": { "text": "t" } }] });
    let flow: Flow = serde_json::from_value(value).unwrap();
    let problems = write(&flow).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn agents_lie_inside_each_other_sixteen_times() {
    let nest = |depth: usize| {
        (1..depth).fold(
            llm("x"),
            |agent, _| json!({ "id": "g", "kind": "sequential", "steps": [{ "agent": agent }] }),
        )
    };
    assert!(read(&nest(16)).flow.is_some());
    assert!(read(&nest(18)).flow.is_none());
}
