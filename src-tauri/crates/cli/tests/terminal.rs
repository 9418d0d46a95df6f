//! The program as scripts see it: what it prints, and how it ends.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};

/// A data folder and a working folder, and the program on them.
struct Terminal {
    data: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl Terminal {
    fn new() -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            work: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.output(arguments);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.code().unwrap(), text)
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tepa"));
        // Whoever runs the tests may have keys of their own, and no test asks a provider.
        for variable in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
        ] {
            command.env_remove(variable);
        }
        command
            .args(arguments)
            .current_dir(self.work.path())
            .env("TEPA_DATA_DIR", self.data.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The one JSON document that these arguments print.
    fn document(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.output(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// How many runs there are.
    fn runs(&self) -> usize {
        self.document(&["history", "--json"])["runs"].as_array().unwrap().len()
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.work.path().join(name), text).unwrap();
    }
}

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
fn what_a_run_changed_is_looked_at_undone_and_brought_back() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["sample", "--yes", "--folder", "here"]);
    assert_eq!(code, 0, "{text}");
    let report = terminal.work.path().join("here/report.md");
    let written = std::fs::read_to_string(&report).unwrap();
    let preview = terminal.document(&["undo", "last", "--preview", "--json"]);
    assert_eq!(preview["files"][0]["standing"], "deletes", "{preview}");
    let (code, text) = terminal.run(&["undo", "last", "--preview"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("report.md  goes: the run made it") && report.exists(),
        "{text}"
    );

    std::fs::write(&report, "mine").unwrap();
    let (code, text) = terminal.run(&["undo", "last"]);
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("a file was edited or removed since the run: report.md"),
        "{text}"
    );
    assert!(text.contains("--edited keep"), "{text}");
    let (code, text) = terminal.run(&["undo", "last", "--edited", "restore"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("report.md  deleted") && text.contains("--redo"), "{text}");
    assert!(!report.exists());
    let result = terminal.document(&["undo", "last", "report.md", "--redo", "--json"]);
    assert_eq!(result["restored"], serde_json::json!(["report.md"]));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "mine");
    assert!(!written.is_empty());
    let (code, text) = terminal.run(&["undo", "last", "no.txt"]);
    assert_eq!(code, 2, "{text}");
    let (code, text) = terminal.run(&["show", "last"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Undoing what it changed in"), "{text}");
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
        &["error: 2 things", "goal: ", "expectedOutput: "],
    );
}

#[test]
fn a_task_that_leads_out_of_its_folder_needs_the_word_of_a_person() {
    let task = "goal: x\nexpectedOutput: y\nworkingFolder: ..\n";
    check_refusal("task.yaml", task, &["outside its own folder", "--folder DIR"]);
}

#[test]
fn a_task_without_a_model_says_how_to_name_one() {
    check_refusal(
        "task.yaml",
        "goal: x\nexpectedOutput: y\n",
        &["no model is connected yet", "--url URL --model MODEL"],
    );
}

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["show", "nothing"]);
    assert_eq!(code, 2);
    assert!(text.contains("there is no such run"), "{text}");
    assert!(
        terminal
            .run(&["history"])
            .1
            .contains("There are no runs yet. Start with: tepa sample")
    );
    assert_eq!(terminal.run(&["frobnicate"]).0, 2);
}

/// Lets the program come to its first model call, presses Ctrl-C, and returns how it ended and what it said.
#[cfg(unix)]
fn interrupted(terminal: &Terminal, arguments: &[&str], server: &std::net::TcpListener) -> (i32, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_tepa"))
        .args(arguments)
        .current_dir(terminal.work.path())
        .env("TEPA_DATA_DIR", terminal.data.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The server takes the call and never answers.
    let _call = server.accept().unwrap();
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_run_that_goes_on_when_started_again() {
    let terminal = Terminal::new();
    terminal.file("my task.yaml", "goal: Greet\nexpectedOutput: A greeting\n");
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let arguments = ["run", "my task.yaml", "--url", &url, "--model", "m"];
    let (code, text) = interrupted(&terminal, &arguments, &server);
    assert_eq!(code, 3, "{text}");
    assert!(
        text.contains("INTERRUPTED") && text.contains("To continue it: tepa run 'my task.yaml'"),
        "{text}"
    );
    assert!(terminal.run(&["history"]).1.contains("Greet  interrupted"));
    let (code, text) = interrupted(&terminal, &arguments, &server);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("Continuing the run that was interrupted"), "{text}");
}

/// A model server that answers every call with these words.
fn model(words: String) -> String {
    let message = serde_json::json!({ "content": words });
    server(serde_json::json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string())
}

/// A server that answers every call with this body.
fn server(body: String) -> String {
    server_of(vec![body])
}

/// A server that answers each call that says something with the next body, and with the last from then on.
fn server_of(bodies: Vec<String>) -> String {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut said = 0;
        for call in server.incoming() {
            let mut call = BufReader::new(call.unwrap());
            let (mut length, mut line) = (0, String::new());
            while call.read_line(&mut line).unwrap() > 2 {
                let header = line.to_lowercase();
                if let Some(bytes) = header.strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                line.clear();
            }
            call.read_exact(&mut vec![0; length]).unwrap();
            let body = bodies.get(said).or(bodies.last()).unwrap();
            said += usize::from(length > 0);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            write!(call.get_mut(), "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    url
}

/// A plan of one step that writes a file.
fn writing_plan() -> String {
    let write = serde_json::json!({ "file_write": { "path": "out.txt", "content": "x" } });
    let step = serde_json::json!({ "id": "a", "description": "Write", "tools": ["file_write"], "expectedOutcome": "a file",
        "dependencies": [], "args": write });
    serde_json::json!({ "reasoning": "Because.", "estimatedTokens": 1234, "steps": [step] }).to_string()
}

#[test]
fn a_file_cannot_approve_its_own_plans() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file }]\napproval: never\n",
    );
    let url = model(writing_plan());
    let (code, text) = terminal.run(&["run", "task.yaml", "--url", &url, "--model", "m"]);
    assert_eq!(code, 4, "{text}");
    assert!(
        !terminal.work.path().join("out.txt").exists(),
        "nobody approved:\n{text}"
    );
}

#[test]
fn a_file_cannot_have_later_plans_approved_with_the_first() {
    let terminal = Terminal::new();
    let url = model(writing_plan());
    for approval in ["first_plan", "never"] {
        let task = format!(
            "goal: Write it\nexpectedOutput: [{{ path: out.txt, description: the file }}]\napproval: {approval}\n"
        );
        terminal.file("task.yaml", &task);
        let (_, text) = terminal.run(&["run", "task.yaml", "--new", "--url", &url, "--model", "m", "--json"]);
        let started = text
            .lines()
            .find(|line| line.contains("runStarted"))
            .unwrap_or_else(|| panic!("{text}"));
        // What is as every task has it is not written.
        assert!(!started.contains(&format!("\"approval\":\"{approval}\"")), "{started}");
    }
}

#[test]
fn a_plan_is_made_and_nothing_is_done_until_it_is_run() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file }]\n",
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
fn a_person_may_grant_what_a_file_may_not() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file }]\n",
    );
    let url = model(writing_plan());
    let asked = [
        "run",
        "task.yaml",
        "--url",
        &url,
        "--model",
        "m",
        "--max-cycles",
        "1",
        "--approval",
        "never",
    ];
    let (code, text) = terminal.run(&asked);
    assert_eq!(code, 1, "{text}");
    assert!(terminal.work.path().join("out.txt").exists(), "{text}");
}

#[test]
fn options_follow_the_rules_of_the_file() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: x\nexpectedOutput: y\n");
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
fn lists_the_checks_and_says_how_one_is_written() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["checks"]);
    assert!(
        code == 0 && text.contains("markdown  { headings, links_resolve"),
        "{text}"
    );
    let (code, text) = terminal.run(&["checks", "contains"]);
    assert!(code == 0 && text.contains("ignore_case  boolean (optional)"), "{text}");
    assert!(text.contains("Short form: contains: VALUE sets text."), "{text}");
    let all = terminal.document(&["checks", "--json"]);
    let one = terminal.document(&["checks", "csv", "--json"]);
    assert!(all.as_array().unwrap().contains(&one) && one["schema"]["properties"]["rows"].is_object());
    let (code, text) = terminal.run(&["checks", "magic"]);
    assert!(code == 2 && text.contains("there is no check \"magic\""), "{text}");
}

#[test]
fn a_check_of_a_later_version_is_refused_before_anything_runs() {
    let criteria = "[{ text: It builds, check: { command: { run: make } } }]";
    check_refusal(
        "task.yaml",
        &format!("goal: g\nexpectedOutput: [{{ path: a.txt, description: d, criteria: {criteria} }}]\n"),
        &["expectedOutput[0].criteria[0].check: command: this version cannot run a command"],
    );
}

#[test]
fn lists_the_models_of_a_server() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["models"]);
    assert!(code == 0 && text.contains("--url URL"), "{text}");
    assert!(text.contains("set GEMINI_API_KEY or GOOGLE_API_KEY"), "{text}");
    let url = server(r#"{"object": "list", "data": [{"id": "small"}, {"id": "large"}]}"#.to_owned());
    let (code, text) = terminal.run(&["models", "--url", &url]);
    assert!(code == 0 && text.contains("small") && text.contains("large"), "{text}");
    let document = terminal.document(&["models", "--url", &url, "--json"]);
    assert_eq!(document[0]["models"][0]["id"], serde_json::json!("small"));
}

#[test]
fn a_run_goes_to_another_machine_and_can_be_compared_there() {
    let (here, there) = (Terminal::new(), Terminal::new());
    here.run(&["sample", "--yes"]);
    let waiting = Terminal::new();
    waiting.run(&["sample"]);
    let (code, text) = waiting.run(&["export", "last"]);
    assert!(code == 2 && text.contains("not at its end"), "{text}");

    let file = there.work.path().join("run.tepa");
    let written = here.document(&["export", "last", file.to_str().unwrap(), "--json"]);
    let (code, text) = here.run(&["export", "last", file.to_str().unwrap()]);
    assert!(code == 2 && text.contains("there is a file"), "{text}");
    let read = there.document(&["import", "run.tepa", "--json"]);
    assert_eq!(read["finalHash"], written["finalHash"]);
    let (code, text) = there.run(&["show", "last"]);
    assert!(code == 0 && text.contains("PASS  2 cycles"), "{text}");
    let (code, text) = there.run(&["import", "run.tepa"]);
    assert!(code == 2 && text.contains("is in the history already"), "{text}");
    let (code, text) = there.run(&["continue", "last"]);
    assert!(code == 2 && text.contains("was imported from a file"), "{text}");

    there.run(&["sample", "--yes"]);
    let imported = read["runId"].as_str().unwrap();
    let (code, text) = there.run(&["compare", imported, "last"]);
    assert!(
        code == 0 && text.contains("Plan of cycle 2  the same in both"),
        "{text}"
    );
    let comparison = there.document(&["compare", imported, "last", "--json"]);
    assert_eq!(comparison["sameTask"], true);
    let same = |output: &serde_json::Value| output["same"] == true;
    assert!(
        comparison["outputs"].as_array().unwrap().iter().all(same),
        "{comparison}"
    );
}

#[test]
fn what_is_no_exported_run_is_not_imported() {
    let terminal = Terminal::new();
    terminal.file("other.tepa", "hello");
    let (code, text) = terminal.run(&["import", "other.tepa"]);
    assert!(code == 2 && text.contains("is not a run that was exported"), "{text}");
    let (code, text) = terminal.run(&["import", "nowhere.tepa"]);
    assert!(code == 2 && text.contains("there is no such file"), "{text}");
}

#[test]
fn continues_a_run_by_its_name() {
    let terminal = Terminal::new();
    terminal.run(&["sample"]);
    let (code, text) = terminal.run(&["continue", "last", "--yes"]);
    assert!(code == 0 && text.contains("PASS  2 cycles"), "{text}");
    let (code, text) = terminal.run(&["continue", "last"]);
    assert!(code == 2 && text.contains("error:"), "{text}");
}

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
    assert!(code == 1 && text.contains("name"), "{text}");
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
fn a_run_is_replayed_and_comes_to_the_same() {
    let terminal = Terminal::new();
    terminal.run(&["sample"]);
    let (code, text) = terminal.run(&["replay", "last"]);
    assert!(code == 2 && text.contains("not at its end yet"), "{text}");
    terminal.run(&["sample", "--yes", "--folder", "here"]);
    std::fs::remove_file(terminal.work.path().join("here/report.md")).unwrap();
    let (code, text) = terminal.run(&["replay", "last"]);
    assert!(code == 0 && text.contains("SAME  the replay passed"), "{text}");
    assert!(
        !terminal.work.path().join("here/report.md").exists(),
        "nothing is written"
    );
    assert!(
        terminal
            .run(&["history"])
            .1
            .contains("Quarterly expenses (replay)  passed")
    );
    let document = terminal.document(&["replay", "last", "--json"]);
    assert_eq!(
        (&document["same"], &document["finalHash"]),
        (&true.into(), &document["sourceHash"])
    );
    let (code, text) = terminal.run(&["continue", "last"]);
    assert!(code == 2 && text.contains("is a replay of another one"), "{text}");
}

#[test]
fn models_are_asked_once_more_and_compared() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: Write it\nexpectedOutput: A file\n");
    let (same, other) = (model(writing_plan()), model("No\u{1b}[2J".to_owned()));
    let asked = [
        "run",
        "task.yaml",
        "--max-cycles",
        "1",
        "--yes",
        "--url",
        &same,
        "--model",
        "m",
    ];
    assert_eq!(terminal.run(&asked).0, 1);
    let again = |url: &str, more: &[&str]| {
        let arguments = ["recompute", "last", "plan", "--url", url, "--model", "m"];
        terminal.run(&[&arguments[..], more].concat())
    };
    let (code, text) = again(&same, &[]);
    assert!(code == 0 && text.contains("cycle/1/plan#0/call/0  clean"), "{text}");
    let (code, text) = again(&other, &[]);
    assert!(
        code == 1 && text.contains("cycle/1/plan#0/call/0  schema_violation"),
        "{text}"
    );
    assert!(
        text.contains("text: {") && text.contains("No") && !text.contains('\u{1b}'),
        "{text}"
    );
    let (code, text) = again(&other, &["--json"]);
    let calls: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &calls[0]["after"]["text"]), (1, &"No\u{1b}[2J".into()));
    let (code, text) = terminal.run(&["recompute", "last", "nowhere", "--url", &same, "--model", "m"]);
    assert!(code == 2 && text.contains("no model calls at \"nowhere\""), "{text}");
    assert_eq!(terminal.runs(), 1, "nothing is written");
}

#[test]
fn a_person_accepts_what_a_judge_did_not() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: Write it\nexpectedOutput: A file\n");
    let url = model(writing_plan());
    let asked = [
        "run",
        "task.yaml",
        "--max-cycles",
        "1",
        "--yes",
        "--url",
        &url,
        "--model",
        "m",
    ];
    assert_eq!(terminal.run(&asked).0, 1);
    let (code, text) = terminal.run(&["accept", "last", "It", "is\u{1b}[2J", "fine"]);
    assert!(
        code == 0 && text.contains("PASS (accepted by you)\nIt is [2J fine"),
        "{text}"
    );
    assert!(terminal.run(&["history"]).1.contains("Write it  passed"));
    let (code, text) = terminal.run(&["accept", "last"]);
    assert!(code == 2 && text.contains("nothing left to accept"), "{text}");
    assert_eq!(terminal.run(&["accept", "nowhere"]).0, 2);

    assert_eq!(terminal.run(&asked).0, 1);
    let result = terminal.document(&["accept", "last", "--json"]);
    assert_eq!(
        (&result["status"], &result["stopReason"]),
        (&"pass".into(), &"accepted".into())
    );
}

#[test]
fn a_person_tells_a_run_what_to_do_differently() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: Write it\nexpectedOutput: A file\n");
    let url = model(writing_plan());
    let model = ["--url", &url, "--model", "m", "--yes"];
    terminal.run(&["sample", "--yes"]);
    let (code, text) = terminal.run(&["guide", "last"]);
    assert!(code == 2 && text.contains("WORDS"), "{text}");
    let (code, text) = terminal.run(&[&["run", "task.yaml", "--max-tokens", "1"], &model[..]].concat());
    assert_eq!(code, 3, "{text}");
    let guided = [&["guide", "last", "Use", "fewer", "words"], &model[..]].concat();
    let (code, text) = terminal.run(&guided);
    assert!(code == 2 && text.contains("tepa continue RUN --max-tokens N"), "{text}");
    let more = ["continue", "last", "--max-tokens", "64000", "--max-cycles", "1"];
    let (code, text) = terminal.run(&[&more, &model[..]].concat());
    assert!(
        code == 1 && text.contains("At most 64,000 tokens and 1 cycle from now on."),
        "{text}"
    );
    let (code, text) = terminal.run(&guided);
    assert!(
        text.contains("You said: Use fewer words") && text.contains("Cycle 2"),
        "{text}"
    );
    assert_eq!(code, 1, "{text}");
}

#[test]
fn the_rules_of_a_file_are_followed_when_a_person_allows_them() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file }]\nhooks: [{ forbid: file_write }]\n",
    );
    let url = model(writing_plan());
    let asked = ["plan", "task.yaml", "--url", &url, "--model", "m"];
    let (code, text) = terminal.run(&asked);
    assert!(
        code == 0 && text.contains("rules are off (Never use \"file_write\")"),
        "{text}"
    );
    // A run with other grants is another run.
    let (code, text) = terminal.run(&[&asked[..], &["--allow-hooks"]].concat());
    assert!(code == 1 && !text.contains("rules are off"), "{text}");
    assert!(!text.contains("Continuing") && terminal.runs() == 2, "{text}");
}

#[test]
fn a_run_of_limited_cost_needs_the_prices_of_its_models() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: x\nexpectedOutput: y\n");
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
