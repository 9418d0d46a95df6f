//! Tasks and the sample, from their file to their end.

use super::*;

#[test]
fn the_sample_fails_a_check_passes_and_names_its_files() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["sample", "--yes", "--folder", "here"]);
    assert_eq!(code, 0, "{text}");
    for words in [
        "Quarterly expenses",
        "Cycle 1 failed:",
        "Cycle 2 passed:",
        "(1 changed)",
        "PASS  2 cycles",
        "checked by the app",
    ] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    let report = terminal.work.path().canonicalize().unwrap().join("here/report.md");
    assert!(report.is_file() && text.contains(report.to_str().unwrap()), "{text}");
    assert!(!text.contains('\u{1b}'), "colours are for terminals:\n{text}");

    let (code, text) = terminal.run(&["history"]);
    assert_eq!(code, 0);
    assert!(text.contains("Quarterly expenses  passed"), "{text}");
    let (code, text) = terminal.run(&["show", "last"]);
    assert_eq!(code, 0);
    assert!(text.contains("PASS  2 cycles"), "{text}");
}

#[test]
fn without_anybody_to_ask_it_waits_and_goes_on_when_started_again() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["sample"]);
    assert_eq!(code, 4, "{text}");
    assert!(
        text.contains("Plan  ") && text.contains("To continue it: tepa sample"),
        "{text}"
    );
    let (_, waiting) = terminal.run(&["history"]);
    assert!(waiting.contains("waits for you"), "{waiting}");

    let (code, text) = terminal.run(&["sample", "--yes"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Continuing the run that waits for you"), "{text}");
    assert_eq!(terminal.runs(), 1);
}

#[test]
fn a_new_run_starts_when_it_is_wished() {
    let terminal = Terminal::new();
    terminal.run(&["sample"]);
    let (code, text) = terminal.run(&["sample", "--yes", "--new"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("Continuing"), "{text}");
    assert_eq!(terminal.runs(), 2);
}

#[test]
fn programs_read_a_run_as_lines_of_json() {
    let terminal = Terminal::new();
    let output = terminal.output(&["sample", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["event"]["type"], "runStarted");
    assert_eq!(events.last().unwrap()["event"]["type"], "runFinished");
}

fn check_refusal(name: &str, text: &str, expected: &[&str]) {
    let terminal = Terminal::new();
    terminal.file(name, text);
    let (code, said) = terminal.run(&["run", name]);
    assert_eq!(code, 2, "{said}");
    for words in expected {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
}

#[test]
fn a_bad_task_file_is_refused_with_everything_that_is_wrong() {
    check_refusal("task.txt", "goal: x", &["must end in .yaml, .yml or .json"]);
    check_refusal("task.yaml", "goal: [", &["not valid YAML: line 1, column"]);
    check_refusal("task.json", "[]", &["but this is a list"]);
    check_refusal(
        "task.yaml",
        "goal: ''\n",
        &["error: 3 things", "goal: ", "context: is missing", "expectedOutput: "],
    );
}

#[test]
fn a_task_that_leads_out_of_its_folder_needs_the_word_of_a_person() {
    let task = "goal: x\ncontext: {}\nexpectedOutput: y\nworkingFolder: ..\n";
    check_refusal("task.yaml", task, &["outside its own folder", "--folder DIR"]);
}

#[test]
fn a_task_without_a_model_says_how_to_name_one() {
    check_refusal(
        "task.yaml",
        "goal: x\ncontext: {}\nexpectedOutput: y\n",
        &["no model is connected yet", "--url URL --model MODEL"],
    );
}

#[test]
fn a_plan_is_made_and_nothing_is_done_until_it_is_run() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\n",
    );
    let url = model(writing_plan());
    let asked = ["task.yaml", "--url", &url, "--model", "m", "--max-cycles", "1"];
    let (code, text) = terminal.run(&[&["plan"], &asked[..]].concat());
    assert_eq!(code, 0, "{text}");
    for words in [
        "1 step, about 1,234 tokens",
        "This plan and its verdict will take about",
        "This is reckoned from its steps",
        "To go on with this plan: tepa run task.yaml",
    ] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    assert!(!terminal.work.path().join("out.txt").exists());
    let (code, text) = terminal.run(&[&["run"], &asked[..], &["--yes"]].concat());
    assert!(text.contains("Continuing the run that waits for you"), "{text}");
    assert_eq!(code, 1, "the model never judges:\n{text}");
    assert!(terminal.work.path().join("out.txt").exists() && terminal.runs() == 1);
}

#[test]
fn options_follow_the_rules_of_the_file() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: x\ncontext: {}\nexpectedOutput: y\n");
    let (code, text) = terminal.run(&["run", "task.yaml", "--max-cycles", "0"]);
    assert!(
        code == 2 && text.contains("limits.maxCycles: write a whole number, 1 or more"),
        "{text}"
    );
    let (code, text) = terminal.run(&["run", "task.yaml", "--model", "m"]);
    assert!(code == 2 && text.contains("no model is connected yet"), "{text}");
    assert_eq!(terminal.run(&["run", "task.yaml", "--approval", "sometimes"]).0, 2);
}

#[test]
fn a_check_with_other_arguments_is_refused_before_anything_runs() {
    let criteria = "[{ text: It builds, check: { command: { runs: make } } }]";
    check_refusal(
        "task.yaml",
        &format!("goal: g\ncontext: {{}}\nexpectedOutput: [{{ path: a.txt, description: d, criteria: {criteria} }}]\n"),
        &["expectedOutput[0].criteria[0].check: command: \"run\" is a required property"],
    );
}

#[test]
fn a_run_of_limited_cost_needs_the_prices_of_its_models() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: x\ncontext: {}\nexpectedOutput: y\n");
    let asked = [
        "run",
        "task.yaml",
        "--url",
        "http://localhost:1",
        "--model",
        "m",
        "--max-cost",
    ];
    let (code, text) = terminal.run(&[&asked[..], &["0.5"]].concat());
    assert!(
        code == 2 && text.contains("what openai_compatible:m costs is not known"),
        "{text}"
    );
    assert_eq!(terminal.run(&[&asked[..], &["=-1"]].concat()).0, 2);
    assert_eq!(terminal.runs(), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_complain() {
    let terminal = Terminal::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tepa"))
        .args(["checks", "--json"])
        .env("TEPA_DATA_DIR", terminal.data.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn words_that_nobody_understands_are_refused_in_json_too() {
    let terminal = Terminal::new();
    for arguments in [
        &["run", "--json"][..],
        &["bake", "--json"],
        &["history", "--limit", "many", "--json"],
    ] {
        let output = terminal.output(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["error"]["code"], "usage", "{said}");
    }
    let output = terminal.output(&["history", "--help", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(terminal.output(&["run"]).status.code(), Some(2));
}

#[test]
fn what_a_window_has_settings_for_has_a_way_here() {
    let terminal = Terminal::new();
    let (code, help) = terminal.run(&["--help"]);
    assert_eq!(code, 0, "{help}");
    for name in ["ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "TEPA_DATA_DIR"] {
        assert!(help.contains(name), "{name} is not in the help");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    std::thread::spawn(move || refuse(&closed));
    terminal.file("t.yaml", "goal: x\ncontext: {}\nexpectedOutput: y\n");
    let (_, text) = terminal.run(&["run", "t.yaml", "--url", &url, "--model", "m", "--yes"]);
    assert!(text.contains("Settings are in Tepa's window. Here: --url"), "{text}");
}

/// Wants another key, whoever asks.
fn refuse(server: &std::net::TcpListener) {
    use std::io::{Read, Write};
    for mut stream in server.incoming().flatten() {
        let _ = stream.read(&mut [0; 65_536]);
        let body = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
        let head = format!(
            "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(format!("{head}{body}").as_bytes());
    }
}

#[test]
fn what_a_bad_task_has_besides_is_said_once() {
    let terminal = Terminal::new();
    terminal.file("t.yaml", "goal: ''\ncontext: {}\nexpectedOutput: x\ncolour: red\n");
    let (code, text) = terminal.run(&["run", "t.yaml"]);
    assert_eq!(code, 2, "{text}");
    assert_eq!(text.matches("colour").count(), 1, "{text}");
}
