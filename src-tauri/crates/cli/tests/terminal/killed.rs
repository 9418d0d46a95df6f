//! The program is killed in the middle of a call to an MCP server: what the run says afterwards.

use std::net::TcpListener;
use std::path::Path;

use super::*;

const TASK: &str = "goal: Say it\ncontext: {}\nexpectedOutput: What was said\nlimits: { maxCycles: 1 }\npermissions: { servers: [odd] }\n";

/// The settings of a server that never answers this call, and tells this port when it is called.
fn settings(port: u16) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests/servers/odd.py");
    let args = [script.display().to_string(), format!("tells={port}")];
    serde_json::json!({ "mcpServers": { "odd": { "command": "python3", "args": args } } }).to_string()
}

/// A plan of one call that hangs.
fn plan() -> String {
    let step = serde_json::json!({ "id": "say", "description": "Say it", "tools": ["odd__echo"], "expectedOutcome": "words",
        "dependencies": [], "args": { "odd__echo": { "words": "hang" } } });
    serde_json::json!({ "reasoning": "Because.", "estimatedTokens": 10, "steps": [step] }).to_string()
}

/// Starts the program, kills it as soon as the server was called, and returns when the server is gone, too.
fn killed(terminal: &Terminal, arguments: &[&str], server: TcpListener) {
    let port = server.local_addr().unwrap().port();
    let child = Command::new(env!("CARGO_BIN_EXE_tepa"))
        .args(arguments)
        .current_dir(terminal.work.path())
        .env("TEPA_DATA_DIR", terminal.data.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let ended = std::thread::spawn(move || {
        let output = child.wait_with_output().unwrap();
        // Whoever still waits for a call hears that there will be none.
        let _ = std::net::TcpStream::connect(("127.0.0.1", port)).map(|mut line| line.write_all(b"ended\n"));
        output
    });
    let mut line = BufReader::new(server.accept().unwrap().0);
    let mut word = String::new();
    line.read_line(&mut word).unwrap();
    assert_eq!(word, "called\n", "{:?}", ended.join());
    assert!(Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
    assert_eq!(ended.join().unwrap().status.code(), None, "a signal ended it");
    // The line is closed when the server ends, which it does with the app.
    let mut rest = Vec::new();
    let _ = line.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}

#[test]
fn a_run_whose_program_is_asked_to_end_says_how_to_go_on_and_goes_on() {
    let terminal = Terminal::new();
    let task = "goal: Say it\ncontext: {}\nexpectedOutput: What was said\nlimits: { maxCycles: 1 }\n";
    terminal.file("task.yaml", task);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let child = Command::new(env!("CARGO_BIN_EXE_tepa"))
        .args(["run", "task.yaml", "--yes", "--url", &url, "--model", "m"])
        .current_dir(terminal.work.path())
        .env("TEPA_DATA_DIR", terminal.data.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The planner is asked, and nobody answers.
    let call = loop {
        let mut call = BufReader::new(silent.accept().unwrap().0);
        let mut line = String::new();
        call.read_line(&mut line).unwrap();
        if line.contains("/chat/completions") {
            break call;
        }
    };
    let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(asked.unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(call);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("To continue it: tepa run task.yaml"), "{text}");
    assert_eq!(terminal.runs(), 1);
}

#[test]
fn a_call_of_an_mcp_server_that_was_cut_off_is_asked_about_and_not_done_again() {
    let terminal = Terminal::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let again = server.try_clone().unwrap();
    terminal.file("mcp.json", &settings(server.local_addr().unwrap().port()));
    terminal.file("task.yaml", TASK);
    let (code, text) = terminal.run(&["mcp", "add", "mcp.json"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = terminal.run(&["mcp", "allow", "odd", "--yes"]);
    assert_eq!(code, 0, "{text}");
    let url = model(plan());
    let arguments = [
        "run",
        "task.yaml",
        "--url",
        &url,
        "--model",
        "m",
        "--yes",
        "--allow-permissions",
    ];
    killed(&terminal, &arguments, server);

    let (code, text) = terminal.run(&arguments);
    assert_eq!(code, 4, "it waits for a person: {text}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "had begun when the app ended",
        "\"echo\" of the MCP server \"odd\"",
        "Whether it was done cannot be told",
    ] {
        assert!(plain.contains(words), "{words}: {text}");
    }
    let output = terminal.output(&["show", "last", "--json"]);
    let events: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| events.iter().filter(|record| record["event"]["type"] == kind).count();
    assert_eq!((of("toolStarted"), of("toolFinished")), (1, 0), "{events:?}");
    let asked = events.iter().map(|record| &record["event"]["ask"]["kind"]);
    assert_eq!(asked.filter(|kind| *kind == "uncertainEffect").count(), 1);
    again.set_nonblocking(true).unwrap();
    let mut called = std::iter::from_fn(|| again.accept().ok()).filter_map(|(mut line, _)| {
        let mut word = String::new();
        line.read_to_string(&mut word).ok().map(|_| word)
    });
    assert!(!called.any(|word| word == "called\n"), "the server was called again");
}
