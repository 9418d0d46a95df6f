//! Runs that were left, continued, told something or accepted.

use super::*;

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
    // The server says nothing of itself, takes the call, and never answers.
    let _call = loop {
        let (call, _) = server.accept().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(&call).read_line(&mut line).unwrap();
        if line.starts_with("POST /v1/chat/completions") {
            break call;
        }
    };
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
    terminal.file("my task.yaml", "goal: Greet\ncontext: {}\nexpectedOutput: A greeting\n");
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let arguments = ["run", "my task.yaml", "--url", &url, "--model", "m"];
    let (code, text) = interrupted(&terminal, &arguments, &server);
    assert_eq!(code, 3, "{text}");
    // With the model that it was given: without it nothing could go on.
    let same = format!("To continue it: tepa run 'my task.yaml' --url {url} --model m");
    assert!(text.contains("INTERRUPTED") && text.contains(&same), "{text}");
    assert!(terminal.run(&["history"]).1.contains("Greet  interrupted"));
    let (code, text) = interrupted(&terminal, &arguments, &server);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("Continuing the run that was interrupted"), "{text}");
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

#[test]
fn a_person_accepts_what_a_judge_did_not() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: Write it\ncontext: {}\nexpectedOutput: A file\n");
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
    terminal.file("task.yaml", "goal: Write it\ncontext: {}\nexpectedOutput: A file\n");
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
