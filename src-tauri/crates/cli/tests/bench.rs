//! `tepa bench` as whoever sets it beside another engine sees it: what it asks, what it prints, how it ends.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::Value;

/// What the server does with a question.
enum Says {
    /// Answers with these words.
    Words(String),
    /// Refuses with this status.
    Refuses(u16),
    /// Lets it wait for ever.
    Nothing,
}

/// A question as it arrived.
#[derive(Clone)]
struct Asked {
    step: String,
    run: String,
    body: Value,
}

impl Asked {
    /// What the model is told.
    fn told(&self) -> String {
        let last = self.body["messages"].as_array().unwrap().last().unwrap();
        last["content"]
            .as_str()
            .map_or_else(|| last["content"].to_string(), str::to_owned)
    }
}

/// A model server, and a database for the workloads.
struct Bench {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    folder: tempfile::TempDir,
}

impl Bench {
    /// The server answers the `n`th question of its life, from 0 on, as told.
    fn new(says: impl Fn(usize, &Asked) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let says = Arc::new(says);
        std::thread::spawn(move || {
            // A client may open a connection that it never uses: each waits by itself.
            for call in listener.incoming() {
                let (seen, says) = (Arc::clone(&seen), Arc::clone(&says));
                std::thread::spawn(move || serve(call.unwrap(), &seen, &*says));
            }
        });
        Self {
            url,
            asked,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tepa"));
        command
            .args(["bench", "--json", "--db"])
            .arg(self.folder.path().join("bench.db"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments)
            .args(["--model-url", &self.url])
            .output()
            .unwrap()
    }

    /// The line that a workload prints when it comes to its end.
    fn line(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn steps(&self) -> Vec<String> {
        self.asked().into_iter().map(|question| question.step).collect()
    }
}

fn serve(call: TcpStream, seen: &Mutex<Vec<Asked>>, says: &dyn Fn(usize, &Asked) -> Says) {
    let Some((call, question)) = hear(call) else {
        return;
    };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(question.clone());
        seen.len() - 1
    };
    if let Some(open) = reply(call, &says(number, &question)) {
        // It is never answered: the other side hangs up when it is killed.
        let _ = BufReader::new(open).read_line(&mut String::new());
    }
}

/// Reads a request; none when the other side hung up.
fn hear(call: TcpStream) -> Option<(TcpStream, Asked)> {
    let mut call = BufReader::new(call);
    let (mut length, mut step, mut run) = (0, String::new(), String::new());
    loop {
        let mut line = String::new();
        if call.read_line(&mut line).ok()? <= 2 {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "x-step" => step = value.trim().to_owned(),
            "x-run" => run = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    call.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some((call.into_inner(), Asked { step, run, body }))
}

/// Answers; a call that has to wait is handed back, so that it stays open.
fn reply(mut call: TcpStream, says: &Says) -> Option<TcpStream> {
    let (status, body) = match says {
        Says::Nothing => return Some(call),
        Says::Refuses(status) => (*status, serde_json::json!({ "error": { "message": "not today" } })),
        Says::Words(words) => {
            let choice =
                serde_json::json!({ "finish_reason": "stop", "message": { "role": "assistant", "content": words } });
            let usage = serde_json::json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
            (200, serde_json::json!({ "choices": [choice], "usage": usage }))
        }
    };
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close\r\n");
    // Whoever was killed in between does not read it.
    let _ = write!(call, "{head}content-length: {}\r\n\r\n{body}", body.len());
    None
}

/// Answers everything, each step with words of its own.
fn willing() -> Bench {
    Bench::new(|_, question| Says::Words(words_of(question)))
}

fn words_of(question: &Asked) -> String {
    format!("The words of {} in {}.", question.step, question.run)
}

fn numbered(steps: std::ops::Range<u32>) -> Vec<String> {
    steps.map(|number| format!("s{number}")).collect()
}

/// What was handed on from each step of a chain to the next.
fn must_be_chained(asked: &[Asked]) {
    for pair in asked.windows(2) {
        assert_eq!(pair[1].told(), words_of(&pair[0]));
    }
}

#[test]
fn one_line_says_what_a_chain_took() {
    let bench = willing();
    let line = bench.line(&["--workload", "K"]);
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(names, ["wl", "wall_ms", "steps", "ms_step", "rss_kb", "db_b_step"]);
    assert_eq!((&line["wl"], &line["steps"]), (&Value::from("K"), &Value::from(30)));
    for name in ["wall_ms", "ms_step", "db_b_step"] {
        assert!(line[name].as_f64().unwrap() > 0.0, "{line}");
    }
    assert_eq!(bench.steps(), numbered(0..30));
    must_be_chained(&bench.asked());
}

#[test]
fn the_rounds_are_twenty_passes_in_which_each_is_told_the_other() {
    let bench = willing();
    assert_eq!(bench.line(&["--workload", "c", "--strict"])["steps"], 40);
    assert_eq!(bench.steps(), numbered(0..40));
    must_be_chained(&bench.asked());
}

#[test]
fn independent_steps_wait_for_nobody_and_one_is_told_them_all() {
    let bench = willing();
    assert_eq!(bench.line(&["--workload", "B", "--width", "5"])["steps"], 6);
    let asked = bench.asked();
    let (join, alone) = asked.split_last().unwrap();
    let mut steps: Vec<&str> = alone.iter().map(|question| question.step.as_str()).collect();
    steps.sort_unstable();
    assert_eq!(steps, numbered(0..5));
    assert!(alone.iter().all(|question| question.told() == "Begin."));
    let all: Vec<String> = numbered(0..5)
        .iter()
        .map(|step| format!("The words of {step} in r0."))
        .collect();
    assert_eq!((join.step.as_str(), join.told()), ("s5", all.join("\n")));
}

#[test]
fn many_runs_at_once_each_have_their_own_chain() {
    let bench = willing();
    assert_eq!(bench.line(&["--workload", "E"])["steps"], 1_000);
    for run in 0..50 {
        let name = format!("r{run}");
        let mut own = bench.asked();
        own.retain(|question| question.run == name);
        let steps: Vec<&str> = own.iter().map(|question| question.step.as_str()).collect();
        assert_eq!(steps, numbered(0..20), "{name}");
        must_be_chained(&own);
    }
}

#[test]
fn after_a_kill_no_finished_step_is_asked_again() {
    let (tell, waits) = mpsc::channel();
    let bench = Bench::new(move |number, question| {
        if number == 11 {
            tell.send(()).unwrap();
            return Says::Nothing;
        }
        Says::Words(words_of(question))
    });
    let mut child = bench
        .command(&["--workload", "K", "--model-url", &bench.url])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    waits.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.line(&["--workload", "K"])["steps"], 30);
    // The step that had no answer is asked again, and nothing before it.
    assert_eq!(bench.steps(), [numbered(0..12), numbered(11..30)].concat());
    // What is done is done: the next start is a workload of its own.
    bench.line(&["--workload", "K"]);
    assert_eq!(bench.steps().len(), 12 + 19 + 30);
}

#[test]
fn a_server_that_refuses_is_named_and_the_rest_is_done_by_the_next_start() {
    let bench = Bench::new(|number, question| match number {
        5 => Says::Refuses(400),
        _ => Says::Words(words_of(question)),
    });
    let output = bench.run(&["--workload", "K"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["error"]["code"], "model_failed", "{said}");
    assert!(
        said["error"]["message"].as_str().unwrap().contains("not today"),
        "{said}"
    );
    bench.line(&["--workload", "K"]);
    assert_eq!(bench.steps(), [numbered(0..6), numbered(5..30)].concat());
}

#[test]
fn what_cannot_be_asked_for_is_an_error_of_usage() {
    let bench = willing();
    let output = bench.run(&["--workload", "Z"]);
    assert_eq!(output.status.code(), Some(2));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains("a workload is one of A, B, C, D, E and K"), "{said}");
    let output = bench
        .command(&["--workload", "K", "--model-url", "not an address"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["error"]["code"], "endpoint_invalid", "{said}");
    assert!(
        said["error"]["hint"].as_str().unwrap().contains("--model-url"),
        "{said}"
    );
    let output = bench.run(&["--workload", "B", "--width", "0"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(bench.steps(), Vec::<String>::new());
}
