use serde_json::json;

use super::*;

fn read(value: Value) -> Result<Flow, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn step(value: Value) -> Result<FlowStep, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_flow_is_written_as_it_was_read() {
    let written = json!({
        "id": "support",
        "model": "fake:large",
        "input": { "type": "object" },
        "limits": { "maxTotalPhases": 5 },
        "mode": "sequence", "until": "{{reviewer.ok}}", "max": 3,
        "steps": [
            { "id": "classify", "ask": { "instructions": "Classify." }, "output": { "type": "object" },
              "routes": [
                  { "to": "look-up", "when": "{{output.sure}}", "set": { "tier": "premium" }, "log": "sure" },
                  { "finish": { "text": "No idea.", "rewrite": { "instructions": "Friendly." } } }
              ] },
            { "id": "look-up", "key": "facts", "tool": { "tool": "search", "args": { "q": "{{classify.topic}}" } }, "reads": {} },
            { "id": "dig", "agent": { "instructions": "Dig.", "tools": ["search"], "mode": "free", "maxRounds": 4 } },
            { "id": "both", "group": { "mode": "parallel", "steps": [{ "id": "a", "ref": "other" }] } },
            { "id": "each", "group": { "mode": "forEach", "items": "{{facts}}", "steps": [{ "id": "a", "ref": "other" }] } },
            { "id": "may-i", "gate": { "text": "May I?" } },
            { "id": "tidy", "task": { "goal": "Tidy up.", "expectedOutput": "Tidy." } },
            { "id": "say", "answer": { "text": "{{facts}}" } }
        ],
        "guardrails": [{ "timing": "pre", "outcome": "active", "contains": "secret", "threshold": 0.5, "message": "No." }],
        "resources": { "unknown": true }
    });
    let flow = read(written.clone()).unwrap();
    assert_eq!(flow.extra.get("resources"), Some(&json!({ "unknown": true })));
    assert_eq!(serde_json::to_value(&flow).unwrap(), written);
}

#[test]
fn what_a_file_does_not_say_has_the_seeds_defaults() {
    let flow = read(json!({ "id": "f", "steps": [
        { "id": "a", "ask": { "instructions": "i" } },
        { "id": "b", "agent": { "instructions": "i" } }
    ], "guardrails": [{ "condition": "{{prompt}}" }] }))
    .unwrap();
    assert_eq!(flow.limits.max_total_phases, 20);
    assert_eq!(flow.mode, GroupMode::Sequence { until: None, max: None });
    let StepKind::Ask(ask) = &flow.steps[0].kind else {
        panic!()
    };
    assert_eq!((ask.temperature, ask.max_tokens), (0.0, 4096));
    let StepKind::Agent(agent) = &flow.steps[1].kind else {
        panic!()
    };
    assert_eq!(agent.mode, AgentMode::Free { max_rounds: 10 });
    let rail = &flow.guardrails[0];
    assert_eq!((rail.threshold, rail.message.as_str()), (0.5, BLOCKED));
}

#[test]
fn a_step_without_reads_is_not_a_step_with_empty_ones() {
    let absent = step(json!({ "id": "a", "ref": "b" })).unwrap();
    let empty = step(json!({ "id": "a", "ref": "b", "reads": {} })).unwrap();
    assert_eq!(
        (absent.reads.is_none(), empty.reads.map(|reads| reads.len())),
        (true, Some(0))
    );
}

#[test]
fn refuses_a_step_that_is_nothing_or_two_things() {
    let wanted = "a step is one of ask, tool, agent, group, gate, answer, task and ref";
    assert_eq!(step(json!({ "id": "a" })).unwrap_err(), wanted);
    let both = json!({ "id": "a", "ref": "b", "answer": { "text": "c" } });
    assert_eq!(step(both).unwrap_err(), wanted);
}

#[test]
fn refuses_a_loop_of_parallel_steps() {
    let group = json!({ "id": "a", "group": { "mode": "parallel", "until": "{{x}}", "max": 2, "steps": [] } });
    assert_eq!(step(group).unwrap_err(), "until and max belong to a sequence");
}

#[test]
fn refuses_a_route_that_both_goes_on_and_ends() {
    let two = json!({ "id": "a", "ref": "b", "routes": [{ "to": "c", "finish": { "text": "d" } }] });
    assert_eq!(step(two).unwrap_err(), "a route has either to or finish");
}

#[test]
fn only_a_hyphen_before_a_small_letter_is_folded() {
    assert_eq!(camel_case("web-researcher"), "webResearcher");
    assert_eq!(camel_case("a-1-b"), "a-1B");
    assert_eq!(camel_case("a-B--c-"), "a-B-C-");
}

#[test]
fn a_step_lands_under_its_own_key_before_that_of_what_it_refers_to() {
    let other = read(json!({ "id": "web-researcher", "key": "web", "steps": [] })).unwrap();
    let plain = step(json!({ "id": "web-researcher", "ref": "web-researcher" })).unwrap();
    let named = step(json!({ "id": "web-researcher", "key": "mine", "ref": "web-researcher" })).unwrap();
    assert_eq!(named.state_key(Dialect::Manifest, Some(&other)), "mine");
    assert_eq!(plain.state_key(Dialect::Manifest, Some(&other)), "web");
    assert_eq!(plain.state_key(Dialect::Manifest, None), "webResearcher");
    assert_eq!(plain.state_key(Dialect::Flow, None), "web-researcher");
}
