//! The sample that ships with the app, made the way in which any run becomes a recording: its task is run against a
//! model server, and the run is saved with the app's own command. The server is a small one on this machine, which answers
//! with what is written in `prompts/samples/expenses.answers.json`.
//!
//! `cargo run -p tests --bin record_sample` writes it anew; a test holds what ships against what that would write.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use app::commands::settings::Endpoint;
use app::{App, Config};
use contract::RunId;
use serde_json::{Value, json};

use crate::{Place, approve, call, wait_for_question};

const TASK: &str = include_str!("../../prompts/samples/expenses.yaml");
const ANSWERS: &str = include_str!("../../prompts/samples/expenses.answers.json");
/// What the app calls the sample wherever its answers are shown.
const TITLE: &str = "Recorded replies for the sample task";
/// What the server calls its model.
const MODEL: &str = "written-for-the-sample";
/// Its first plan fails a check, and its second one passes.
const PLANS: u32 = 2;

/// Runs the sample and returns its recording. `pace` is how many of the written milliseconds an answer takes, in
/// hundredths: 100 to record, 0 to look.
pub async fn record(pace: u64) -> Value {
    let place = Place::default();
    let config = Config {
        endpoint: Some(Endpoint {
            base_url: serve(pace),
            model: MODEL.to_owned(),
        }),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    // Its data, put there as the app does it.
    app.sample_in(place.work()).await.unwrap();
    let request = json!({ "source": TASK, "folder": place.folder(), "title": TITLE });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    let mut approved = 0;
    while approved < PLANS {
        let question = wait_for_question(&app, &run).await;
        // A question that was just answered may still stand there.
        approved += u32::from(approve(&app, &run, &question.key).await.is_ok());
        tokio::task::yield_now().await;
    }
    app.outcome(&run).await.unwrap();
    let file = place.data().join("sample.json");
    call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    app.close().await.unwrap();
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

/// A chat-completions server that says what is written, in the order in which it is written; the last of a kind is said
/// again.
fn serve(pace: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let written: HashMap<String, Vec<Value>> = serde_json::from_str(ANSWERS).unwrap();
        let mut said: HashMap<&str, usize> = HashMap::new();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let Some(question) = question(&mut stream) else {
                continue;
            };
            let kind = kind(&question);
            let all = &written[kind];
            let count = said.entry(kind).or_default();
            let answer = all[(*count).min(all.len() - 1)].clone();
            *count += 1;
            // Each in a thread of its own: one answer does not wait for another.
            let pause = Duration::from_millis(answer["durationMs"].as_u64().unwrap() * pace / 100);
            std::thread::spawn(move || {
                std::thread::sleep(pause);
                send(stream.get_mut(), &answer);
            });
        }
    });
    url
}

fn question(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? <= 2 {
            break;
        }
        if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn kind(question: &Value) -> &'static str {
    match question["response_format"]["json_schema"]["name"].as_str() {
        Some("plan") => "plan",
        Some("judgement") => "judgement",
        _ if question["tool_choice"]["function"]["name"] == "data_query" => "data_query",
        _ => "words",
    }
}

fn send(stream: &mut TcpStream, answer: &Value) {
    let (message, finish) = match (answer.get("arguments"), answer.get("json")) {
        (Some(arguments), _) => {
            let function = json!({ "name": "data_query", "arguments": arguments.to_string() });
            let call = json!({ "id": "call_1", "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
        (None, Some(value)) => (json!({ "role": "assistant", "content": value.to_string() }), "stop"),
        (None, None) => (json!({ "role": "assistant", "content": answer["text"] }), "stop"),
    };
    let (input, output) = (&answer["usage"]["input"], &answer["usage"]["output"]);
    let total = input.as_u64().unwrap() + output.as_u64().unwrap();
    let body = json!({
        "model": MODEL,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": total },
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    // Whoever asked may be gone.
    let _ = write!(stream, "{head}{body}");
}
