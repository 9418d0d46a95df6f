//! Flows: looked at, run, saved.

use super::*;

/// A flow that asks a model, may wait for a person, and answers with what both said.
fn asking_flow(gate: bool) -> String {
    let gate = match gate {
        true => "  - id: look\n    gate: { text: 'Send it?' }\n",
        false => "",
    };
    format!(
        "id: greet\ninput: {{ type: object, properties: {{ name: {{ type: string }} }}, required: [name] }}\nsteps:\n  \
         - id: hello\n    reads: {{ name: '{{{{name}}}}' }}\n    ask: {{ instructions: 'Greet {{{{name}}}}.' }}\n{gate}  \
         - id: last\n    answer: {{ text: 'It says: {{{{hello}}}}' }}\n"
    )
}

#[test]
fn says_where_a_flow_is_wrong() {
    let terminal = Terminal::new();
    terminal.file("good.yaml", &asking_flow(true));
    let (code, text) = terminal.run(&["flow", "check", "good.yaml"]);
    assert!(code == 0 && text.contains("\"greet\" can run: 3 steps"), "{text}");
    terminal.file("bad.yaml", &asking_flow(true).replace("{{hello}}", "{{nowhere}}"));
    let (code, text) = terminal.run(&["flow", "check", "bad.yaml"]);
    assert!(
        code == 2 && text.contains("bad.yaml:10:21: error: steps[2].answer.text: {{nowhere}} leads nowhere"),
        "{text}"
    );
    let output = terminal.output(&["flow", "check", "bad.yaml", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        (&document["id"], &document["marks"][0]["line"]),
        (&"greet".into(), &10.into())
    );
    let (code, text) = terminal.run(&["flow", "run", "bad.yaml"]);
    assert!(
        code == 2 && text.contains("bad.yaml:10:21: error:") && terminal.runs() == 0,
        "{text}"
    );
    terminal.file("broken.yaml", "id: [");
    let (code, text) = terminal.run(&["flow", "check", "broken.yaml"]);
    assert!(
        code == 2 && text.contains("broken.yaml:") && text.contains(": error: "),
        "{text}"
    );
    let (code, text) = terminal.run(&["flow", "check", "nowhere.yaml"]);
    assert!(code == 2 && text.contains("cannot be read"), "{text}");
}

#[test]
fn a_flow_may_do_what_is_granted_where_it_is_started() {
    let terminal = Terminal::new();
    let url = model("what the page says".to_owned());
    terminal.file(
        "read.yaml",
        &format!(
            "id: read\nsteps:\n  - id: page\n    tool: {{ tool: http_request, args: {{ url: '{url}/' }} }}\n  - id: last\n    \
             answer: {{ text: 'It says: {{{{page.body}}}}' }}\n"
        ),
    );
    let asked = [
        "flow",
        "run",
        "read.yaml",
        "--new",
        "--preset",
        "hands-off",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let (code, text) = terminal.run(&asked);
    assert!(
        code == 1 && text.contains("this run may not read from"),
        "{code}: {text}"
    );
    let host = url.trim_start_matches("http://");
    let (code, text) = terminal.run(&[&asked[..], &["--allow-host", host]].concat());
    assert!(code == 0 && text.contains("what the page says"), "{code}: {text}");
}

#[test]
fn runs_a_flow_to_its_answer() {
    let terminal = Terminal::new();
    terminal.file("greet.yaml", &asking_flow(false));
    let url = model("Hello\u{1b}[2J Ada".to_owned());
    let asked = [
        "flow",
        "run",
        "greet.yaml",
        "--input",
        "name=Ada",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let (code, text) = terminal.run(&asked);
    assert_eq!(code, 0, "{text}");
    for words in ["  hello\n", "PASS  ", "Answer\n  It says: Hello [2J Ada"] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    let output = terminal.output(&[&asked[..], &["--json"]].concat());
    let last = String::from_utf8(output.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    let answer = &last["event"]["result"]["outputs"][0];
    assert_eq!((output.status.code(), &answer["path"]), (Some(0), &"answer".into()));
    let (code, text) = terminal.run(&["flow", "run", "greet.yaml", "--url", &url, "--model", "m"]);
    assert!(
        code == 2 && text.contains("the input does not fit") && text.contains("name"),
        "{text}"
    );
    let (code, text) = terminal.run(&["flow", "run", "greet.yaml", "--input", "name=Ada"]);
    assert!(code == 2 && text.contains("--url URL --model MODEL"), "{text}");
}

#[test]
fn a_long_answer_of_a_flow_is_printed_whole() {
    let terminal = Terminal::new();
    terminal.file("greet.yaml", &asking_flow(false));
    let url = model(format!("{}the end", "word ".repeat(1_000)));
    let (code, text) = terminal.run(&[
        "flow",
        "run",
        "greet.yaml",
        "--input",
        "name=A",
        "--url",
        &url,
        "--model",
        "m",
    ]);
    assert!(
        code == 0 && text.contains("the end") && text.matches("word").count() > 1_000,
        "{text}"
    );
}

#[test]
fn a_flow_is_told_in_latents_names() {
    let terminal = Terminal::new();
    terminal.file("greet.yaml", &asking_flow(false));
    let url = model(format!("{}the end", "word ".repeat(1_000)));
    let given = [
        "flow",
        "run",
        "greet.yaml",
        "--input",
        "name=A",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let output = terminal.output(&[&given[..], &["--json", "--events", "latent"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let one = [
        "StepBoundary",
        "PhaseStarted",
        "LLMCallStart",
        "ReasoningDelta",
        "LLMCallEnd",
        "PhaseCompleted",
        "PhaseRouted",
    ];
    let two = ["StepBoundary", "PhaseStarted", "PhaseCompleted", "TextDelta", "Usage"];
    assert_eq!(types, [&one[..], &two[..]].concat());
    let said = events[10]["text"].as_str().unwrap();
    assert!(
        said.ends_with("the end") && said.matches("word").count() == 1_000,
        "{said}"
    );
    let (code, text) = terminal.run(&[&given[..], &["--events", "latent"]].concat());
    assert!(code == 2 && text.contains("--json"), "{text}");
}

#[test]
fn a_flow_that_failed_in_a_way_that_may_pass_is_tried_again_when_that_is_wished() {
    let reply = |words: &str| {
        let message = serde_json::json!({ "content": words });
        serde_json::json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string()
    };
    let schema = "{ type: object, properties: { n: { type: integer } }, required: [n] }";
    let flow = format!(
        "id: count\nsteps:\n  - id: n\n    output: {schema}\n    ask: {{ instructions: Count. }}\n  - id: last\n    \
         answer: {{ text: 'It is {{{{n.n}}}}' }}\n"
    );
    for (retries, code, runs) in [("0", 1, 1), ("2", 0, 1)] {
        let terminal = Terminal::new();
        terminal.file("count.yaml", &flow);
        let url = server_of(vec![reply("many"), reply("{\"n\": 3}")]);
        let given = [
            "flow",
            "run",
            "count.yaml",
            "--message",
            "How many?",
            "--url",
            &url,
            "--model",
            "m",
        ];
        let (ended, text) = terminal.run(&[&given[..], &["--retries", retries]].concat());
        assert_eq!((ended, terminal.runs()), (code, runs), "{text}");
        assert_eq!(text.contains("It is 3"), code == 0, "{text}");
    }
}

#[test]
fn the_recording_of_a_flow_is_played_in_the_place_of_its_models() {
    let message = serde_json::json!({ "content": "A heron." });
    let said = serde_json::json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string();
    let terminal = Terminal::new();
    terminal.file(
        "birds.yaml",
        "id: birds\nsteps:\n  - id: a\n    model: openai_compatible:other\n    ask: { instructions: Name a bird. }\n  \
         - id: last\n    answer: { text: 'It is {{a}}' }\n",
    );
    let url = server_of(vec![said]);
    let asked = ["flow", "run", "birds.yaml", "--message", "Which?"];
    let (code, text) = terminal.run(&[&asked[..], &["--url", &url, "--model", "m"]].concat());
    assert!(code == 0 && text.contains("It is A heron."), "{text}");
    let (code, text) = terminal.run(&["record", "last", "birds.json"]);
    assert!(code == 0 && text.contains("tepa flow run FLOW --recording"), "{text}");
    // Nobody has to be there for it.
    let (code, text) = terminal.run(&[&asked[..], &["--recording", "birds.json"]].concat());
    assert!(code == 0 && text.contains("It is A heron."), "{text}");
    assert_eq!(terminal.runs(), 2);
    // What was not asked then has no answer now, and is not made up.
    let (code, text) = terminal.run(&[
        "flow",
        "run",
        "birds.yaml",
        "--message",
        "Which?",
        "--recording",
        "none.json",
    ]);
    assert!(code != 0 && text.contains("none.json"), "{text}");
}

#[test]
fn a_plan_that_passed_is_saved_as_a_flow() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["sample", "--yes"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = terminal.run(&["flow", "save", "last", "plan.yaml"]);
    assert!(code == 0 && text.contains("Saved as plan.yaml: "), "{text}");
    let (code, text) = terminal.run(&["flow", "check", "plan.yaml"]);
    assert!(code == 0 && text.contains("can run"), "{text}");
    let (code, text) = terminal.run(&["flow", "save", "last", "plan.yaml"]);
    assert!(code != 0 && text.contains("is there already"), "{text}");
}

#[test]
fn a_gate_of_a_flow_waits_for_a_person() {
    let terminal = Terminal::new();
    terminal.file("greet.yaml", &asking_flow(true));
    let url = model("Hello".to_owned());
    let model = ["--url", &url, "--model", "m"];
    let asked = [&["flow", "run", "greet.yaml", "--input", "name=Ada"], &model[..]].concat();
    let (code, text) = terminal.run(&asked);
    assert!(
        code == 4 && text.contains("Send it?") && text.contains("To continue it: tepa continue"),
        "{text}"
    );
    let (code, text) = terminal.run(&[&["continue", "last", "--yes"], &model[..]].concat());
    assert!(code == 0 && text.contains("It says: Hello"), "{text}");
    let (code, text) = terminal.run(&[&asked[..], &["--yes"]].concat());
    assert!(code == 0 && text.contains("It says: Hello"), "{text}");
}

#[test]
fn a_flow_changes_nothing_that_a_person_did_not_allow() {
    let terminal = Terminal::new();
    let write = "tool: { tool: file_write, args: { path: '{{name}}.txt', content: x } }";
    let flow = asking_flow(false).replace("  - id: last", &format!("  - id: keep\n    {write}\n  - id: last"));
    terminal.file("keep.yaml", &flow);
    let url = model("Hello".to_owned());
    let asked = [
        "flow",
        "run",
        "keep.yaml",
        "--input",
        "name=Ada",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let made = terminal.work.path().join("Ada.txt");
    let (code, text) = terminal.run(&asked);
    assert_eq!(code, 4, "{text}");
    for words in ["keep: file_write on {{name}}.txt", "Nothing was done. Add --yes"] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    assert!(!made.exists() && terminal.runs() == 0, "nobody allowed it:\n{text}");
    let output = terminal.output(&[&asked[..], &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(document["error"]["problems"][0]["path"], "keep");
    let (code, text) = terminal.run(&[&asked[..], &["--yes"]].concat());
    assert!(code == 0 && made.exists(), "{text}");
}

#[test]
fn a_flow_of_tools_alone_needs_no_model() {
    let terminal = Terminal::new();
    let flow = "id: list\nsteps:\n  - id: look\n    tool: { tool: directory_list, args: { path: '.' } }\n  - id: last\n    \
                answer: { text: 'There is {{look[0].name}}' }\n";
    terminal.file("list.yaml", flow);
    let (code, text) = terminal.run(&["flow", "run", "list.yaml"]);
    assert!(code == 0 && text.contains("There is list.yaml"), "{text}");
    terminal.file("rewritten.yaml", &flow.replace("answer: {", "model: m\n    answer: {"));
    let (code, text) = terminal.run(&["flow", "run", "rewritten.yaml"]);
    assert!(code == 2 && !text.contains("PASS"), "{text}");
}

#[test]
fn every_example_of_the_page_about_flows_can_run() {
    let page = include_str!("../../../../../docs/flows.md");
    let examples: Vec<&str> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let terminal = Terminal::new();
        terminal.file("example.yaml", example);
        let (code, text) = terminal.run(&["flow", "check", "example.yaml"]);
        assert!(code == 0 && !text.contains("warning"), "{text}\n{example}");
    }
}
