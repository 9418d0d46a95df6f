//! Models as a person has them: servers that refuse, each in its own words; keys that stay where they belong; what a model
//! can do and costs, known before a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use app::App;
use contract::RunId;
use serde_json::{Value, json};
use support::{Place, call, wait_for_question};

const KEY: &str = "sk-canary-93d1a7b2c4e8";

/// What a server heard: the line and the headers of each request.
type Heard = Arc<Mutex<Vec<String>>>;

/// A status, a header line or nothing, and a body.
type Said = (u16, &'static str, String);

/// A server that answers as it is told; the first argument is the line of the request, such as `GET /v1/models`.
fn server(answer: impl Fn(&str, &Value) -> Said + Send + 'static) -> (String, Heard) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let heard = Heard::default();
    let noted = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                continue;
            }
            let line = head
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches(" HTTP/1.1")
                .to_owned();
            let (status, header, text) = answer(&line, &serde_json::from_slice(&body).unwrap_or_default());
            noted.lock().unwrap().push(head);
            let header = if header.is_empty() {
                String::new()
            } else {
                format!("{header}\r\n")
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{header}content-length: {}\r\n\r\n",
                text.len()
            );
            // Whoever asked may be gone.
            let _ = write!(stream.get_mut(), "{head}{text}");
        }
    });
    (url, heard)
}

fn error(code: &str, message: &str) -> String {
    json!({ "error": { "message": message, "type": code, "code": code } }).to_string()
}

fn says(message: &Value) -> String {
    json!({
        "id": "c", "model": "small", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100 },
    })
    .to_string()
}

/// A plan of one step whose arguments are complete.
fn plan() -> String {
    let step = json!({
        "id": "write", "description": "Write", "tools": ["file_write"], "expectedOutcome": "a file", "dependencies": [],
        "args": { "file_write": { "path": "out.txt", "content": "hello" } },
    });
    let plan = json!({ "steps": [step], "estimatedTokens": 10, "reasoning": "it is short" });
    says(&json!({ "role": "assistant", "content": plan.to_string() }))
}

async fn open(place: &Place) -> App {
    App::open(place.config()).await.unwrap()
}

async fn keep(app: &App, change: impl FnOnce(&mut Value)) {
    let mut settings = call(app, "settings_get", Value::Null).await.unwrap();
    change(&mut settings);
    call(app, "settings_set", settings).await.unwrap();
}

async fn keep_server(app: &App, url: &str) {
    keep(app, |settings| {
        settings["endpoint"] = json!({ "baseUrl": url, "model": "small" })
    })
    .await;
}

async fn test(app: &App, url: &str) -> Value {
    call(app, "provider_test", json!({ "baseUrl": url, "model": "small" }))
        .await
        .unwrap()
}

async fn begin(app: &App, place: &Place, task: &str) -> Result<RunId, contract::AppError> {
    let started = call(app, "run_start", json!({ "source": task, "folder": place.folder() })).await?;
    Ok(RunId::new(started["runId"].as_str().unwrap()))
}

const TASK: &str = "\
goal: Say hello in a file
expectedOutput: [{ path: out.txt, description: A greeting }]
limits: { maxCycles: 1 }
";

#[tokio::test]
async fn every_refusal_has_its_own_sentence_and_what_helps() {
    let refusals: [(Said, &str, &str); 10] = [
        ((401, "", error("invalid_api_key", "bad key")), "refused the key", "key"),
        ((402, "", error("x", "Insufficient credits")), "is used up", "credit"),
        ((429, "", error("insufficient_quota", "quota")), "is used up", "credit"),
        (
            (403, "", error("unsupported_country_region_territory", "not supported")),
            "is not offered where you are",
            "provider",
        ),
        (
            (404, "", error("model_not_found", "gone")),
            "does not have this model",
            "model",
        ),
        (
            (400, "", error("context_length_exceeded", "long")),
            "too long for the model",
            "less",
        ),
        (
            (
                200,
                "content-type: text/html",
                "<!doctype html><title>Sign in</title>".to_owned(),
            ),
            "a web page, not a model API",
            "address",
        ),
        ((407, "", String::new()), "wants a sign-in", "network"),
        (
            (404, "", json!({ "detail": "Not Found" }).to_string()),
            "no model API at this address",
            "address",
        ),
        ((503, "", String::new()), "try again later", "wait"),
    ];
    let place = Place::default();
    let app = open(&place).await;
    for ((status, header, body), words, remedy) in refusals {
        let (url, _) = server(move |line, _| match line {
            "GET /v1/models" => (404, "", "{}".to_owned()),
            _ => (status, header, body.clone()),
        });
        call(
            &app,
            "key_set",
            json!({ "account": "openai_compatible", "key": KEY, "baseUrl": url }),
        )
        .await
        .unwrap();
        let tested = test(&app, &url).await;
        let message = tested["message"].as_str().unwrap();
        assert!(message.contains(words), "{tested}");
        assert_eq!(
            (&tested["ok"], &tested["remedy"]),
            (&json!(false), &json!(remedy)),
            "{tested}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_from_a_name_that_nobody_knows() {
    let place = Place::default();
    let app = open(&place).await;
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tested = test(&app, &gone.to_string()).await;
    assert_eq!(tested["remedy"], "server", "{tested}");
    let tested = test(&app, "http://no-such-server.invalid").await;
    assert!(
        matches!(tested["remedy"].as_str(), Some("address" | "network")),
        "{tested}"
    );
    let tested = test(&app, "ftp://localhost").await;
    assert!(
        tested["message"].as_str().unwrap().contains("must begin with http://"),
        "{tested}"
    );
}

#[tokio::test]
async fn an_address_is_understood_with_and_without_its_end_and_with_a_slip() {
    let (url, heard) = server(|line, _| match line {
        "GET /v1/models" => (200, "", json!({ "data": [{ "id": "small" }] }).to_string()),
        "POST /v1/chat/completions" => (200, "", says(&json!({ "role": "assistant", "content": "OK" }))),
        _ => (404, "", "{}".to_owned()),
    });
    let place = Place::default();
    let app = open(&place).await;
    let host = url.trim_start_matches("http://").to_owned();
    for entered in [
        url.clone(),
        format!("{url}/"),
        format!("{url}/v1"),
        format!("{url}/v1/"),
        format!("{url}/v1/chat/completions"),
        format!("http:/{host}"),
        format!("http//{host}"),
        host.clone(),
    ] {
        let tested = test(&app, &entered).await;
        assert_eq!(tested["ok"], true, "{entered}: {tested}");
    }
    assert!(heard.lock().unwrap().iter().all(|head| !head.contains("//v1")));
}

#[tokio::test]
async fn a_key_goes_only_to_the_server_that_it_was_stored_for() {
    let answer = |line: &str, _: &Value| match line {
        "GET /v1/models" => (200, "", json!({ "data": [{ "id": "small" }] }).to_string()),
        _ => (200, "", says(&json!({ "role": "assistant", "content": "OK" }))),
    };
    let (theirs, heard_there) = server(answer);
    let (other, heard_elsewhere) = server(answer);
    let place = Place::default();
    let app = open(&place).await;
    // No address is known yet: the first server that it is used for is the one that it is for.
    call(&app, "key_set", json!({ "account": "openai_compatible", "key": KEY }))
        .await
        .unwrap();
    assert_eq!(test(&app, &theirs).await["ok"], true);
    let tested = test(&app, &other).await;
    assert!(tested["message"].as_str().unwrap().contains("was not sent"), "{tested}");
    keep_server(&app, &other).await;
    let listed = call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    assert!(listed.to_string().contains("was not sent"), "{listed}");
    assert!(heard_there.lock().unwrap().iter().all(|head| head.contains(KEY)));
    let elsewhere = heard_elsewhere.lock().unwrap().concat();
    assert!(!elsewhere.is_empty() && !elsewhere.contains(KEY), "{elsewhere}");
    // Whoever enters it for the other server wants it there.
    call(
        &app,
        "key_set",
        json!({ "account": "openai_compatible", "key": KEY, "baseUrl": other }),
    )
    .await
    .unwrap();
    test(&app, &other).await;
    assert!(heard_elsewhere.lock().unwrap().last().unwrap().contains(KEY));
    app.close().await.unwrap();
    for file in std::fs::read_dir(place.data())
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if file.is_file() {
            let bytes = std::fs::read(&file).unwrap();
            assert!(
                !bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()),
                "{}",
                file.display()
            );
        }
    }
}

/// An Ollama with one model that reads so much, and whether it calls tools.
fn ollama(num_ctx: Option<u64>, tools: bool) -> (String, Heard) {
    server(move |line, body| match line {
        "GET /v1/models" => (200, "", json!({ "data": [{ "id": "small" }] }).to_string()),
        "POST /api/show" => {
            let can = if tools {
                json!(["completion", "tools"])
            } else {
                json!(["completion"])
            };
            let set = num_ctx.map(|num_ctx| format!("num_ctx {num_ctx}")).unwrap_or_default();
            let shown =
                json!({ "capabilities": can, "parameters": set, "model_info": { "x.context_length": 131_072 } });
            (200, "", shown.to_string())
        }
        "POST /api/create" => {
            assert_eq!(body["parameters"], json!({ "num_ctx": 16_384 }));
            (200, "", json!({ "status": "success" }).to_string())
        }
        _ => (200, "", says(&json!({ "role": "assistant", "content": "OK" }))),
    })
}

#[tokio::test]
async fn a_model_that_cannot_do_it_is_said_before_the_run_with_what_would() {
    let place = Place::default();
    let app = open(&place).await;
    let (mute, _) = ollama(Some(16_384), false);
    keep_server(&app, &mute).await;
    let tested = test(&app, &mute).await;
    assert_eq!(tested["ok"], true);
    assert!(tested["lacks"].as_str().unwrap().contains("calls no tools"), "{tested}");
    let refused = begin(&app, &place, TASK).await.unwrap_err();
    assert!(
        refused.code == "model_unfit" && refused.hint.unwrap().contains("qwen3"),
        "{}",
        refused.message
    );
    // A person knows better.
    keep(&app, |settings| {
        settings["overrides"] = json!({ "openai_compatible:small": { "tools": true } })
    })
    .await;
    begin(&app, &place, TASK).await.unwrap();
}

#[tokio::test]
async fn an_ollama_that_reads_too_little_is_set_up_to_read_enough() {
    let place = Place::default();
    let app = open(&place).await;
    let (url, _) = ollama(None, true);
    keep_server(&app, &url).await;
    let tested = test(&app, &url).await;
    assert!(
        tested["lacks"].as_str().unwrap().contains("only 4096 tokens"),
        "{tested}"
    );
    assert_eq!(tested["canWiden"], true);
    assert_eq!(begin(&app, &place, TASK).await.unwrap_err().code, "model_unfit");
    let wide = call(&app, "model_widen", json!({ "baseUrl": url, "model": "small" }))
        .await
        .unwrap();
    assert_eq!(wide, json!({ "model": "small:latest-16k", "contextWindow": 16_384 }));
    keep(&app, |settings| {
        settings["endpoint"] = json!({ "baseUrl": url, "model": "small:latest-16k" })
    })
    .await;
    begin(&app, &place, TASK).await.unwrap();
}

#[tokio::test]
async fn what_a_broker_lists_as_its_prices_is_what_a_run_is_reckoned_with() {
    let (url, _) = server(|line, _| match line {
        "GET /v1/models" => {
            let pricing = json!({ "prompt": "0.00001", "completion": "0.0001" });
            (
                200,
                "",
                json!({ "data": [{ "id": "small", "pricing": pricing }] }).to_string(),
            )
        }
        _ => (200, "", plan()),
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    // Nothing is known yet.
    let limited = TASK.replace("maxCycles: 1", "maxCycles: 1, maxCost: 5");
    assert_eq!(begin(&app, &place, &limited).await.unwrap_err().code, "no_price");
    call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    let run = begin(&app, &place, &limited).await.unwrap();
    wait_for_question(&app, &run).await;
    let state = support::state(&app, &run).await;
    assert!(
        (state.cost.amount - 0.02).abs() < 1e-9 && state.cost.currency == "USD",
        "{:?}",
        state.cost
    );
    let estimate = call(&app, "run_estimate", json!({ "runId": run })).await.unwrap();
    let cost = &estimate["cycle"]["cost"];
    assert!(
        cost["low"].as_f64().unwrap() > 0.0 && cost["currency"] == "USD",
        "{estimate}"
    );
    assert!(cost["low"].as_f64() < cost["high"].as_f64(), "{estimate}");
    assert_eq!(estimate["pastRuns"], 0);
}

#[tokio::test]
async fn a_wait_is_seen_and_ends_when_a_person_wants_to_try_now() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (url, _) = server(move |_, _| match count.fetch_add(1, Ordering::Relaxed) {
        0 => (429, "retry-after: 90", error("rate_limit_exceeded", "slow down")),
        _ => (200, "", plan()),
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let run = begin(&app, &place, TASK).await.unwrap();
    let began = Instant::now();
    let until = loop {
        let waits = call(&app, "run_waits", json!({ "runId": run })).await.unwrap();
        if let Some(wait) = waits["waits"].get(0) {
            assert_eq!(wait["account"], "openai_compatible");
            break wait["untilMs"].as_i64().unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(30), "nobody waits");
        tokio::task::yield_now().await;
    };
    assert!(until > 90_000);
    call(&app, "run_try_now", json!({ "runId": run })).await.unwrap();
    wait_for_question(&app, &run).await;
    assert!(began.elapsed() < Duration::from_secs(60), "it waited all the same");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let waits = call(&app, "run_waits", json!({ "runId": run })).await.unwrap();
    assert_eq!(waits["waits"], json!([]));
}

#[tokio::test]
async fn the_sample_recorded_again_is_the_sample() {
    let place = Place::default();
    let app = App::open(place.config()).await.unwrap();
    let run = app.start(app.sample_in(place.work()).await.unwrap()).await.unwrap();
    for _ in 0..2 {
        let waiting = wait_for_question(&app, &run).await;
        support::approve(&app, &run, &waiting.key).await.unwrap();
        app.outcome(&run).await.unwrap();
    }
    let shipped: Value = serde_json::from_str(include_str!("../../prompts/samples/expenses.recording.json")).unwrap();
    let file = place.data().join("again.json");
    let recorded = call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    assert_eq!(recorded["calls"], shipped["calls"].as_array().unwrap().len());
    let again: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for (again, shipped) in again["calls"]
        .as_array()
        .unwrap()
        .iter()
        .zip(shipped["calls"].as_array().unwrap())
    {
        assert_eq!(
            (&again["key"], &again["response"]),
            (&shipped["key"], &shipped["response"])
        );
        assert!(again["requestHash"].is_string());
    }
    // The file is not overwritten.
    let twice = call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap_err();
    assert_eq!(twice.code, "recording_unwritable");
}

#[tokio::test]
async fn a_run_is_recorded_and_played_again_without_its_model() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (url, _) = server(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        (200, "", plan())
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let task = TASK.replace(
        "description: A greeting",
        "description: A greeting, criteria: [{ text: c, check: { contains: hello } }]",
    );
    let run = begin(&app, &place, &task).await.unwrap();
    let waiting = wait_for_question(&app, &run).await;
    support::approve(&app, &run, &waiting.key).await.unwrap();
    let first = app.outcome(&run).await.unwrap();
    let file = place.data().join("greeting.json");
    call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    let before = asked.load(Ordering::Relaxed);

    let value = app::task_files::parse(&task, app::task_files::Syntax::Yaml).unwrap();
    let elsewhere = Place::default();
    let header = app
        .header_played(&value, &elsewhere.folder(), &app::RunOptions::default(), &file)
        .await
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let played = app.start(header).await.unwrap();
    let waiting = wait_for_question(&app, &played).await;
    support::approve(&app, &played, &waiting.key).await.unwrap();
    let second = app.outcome(&played).await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), before, "the model was asked again");
    assert_eq!(
        std::fs::read_to_string(elsewhere.work().join("out.txt")).unwrap(),
        "hello"
    );
    let status = |outcome: &app::Outcome| match outcome {
        app::Outcome::Finished(result) => (result.status, result.cost.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&first).0, status(&second).0);
    assert!(status(&first).1 && !status(&second).1, "a recording costs nothing");
}

#[tokio::test]
async fn a_file_that_is_no_recording_says_so() {
    let place = Place::default();
    let app = open(&place).await;
    let value = app::task_files::parse(TASK, app::task_files::Syntax::Yaml).unwrap();
    let file = place.data().join("x.json");
    for text in ["nonsense", "{\"version\": 9}", ""] {
        std::fs::write(&file, text).unwrap();
        let refused = app
            .header_played(&value, &place.folder(), &app::RunOptions::default(), &file)
            .await;
        assert_eq!(refused.unwrap_err().code, "recording_unreadable", "{text}");
    }
    let gone = app.header_played(
        &value,
        &place.folder(),
        &app::RunOptions::default(),
        &place.data().join("gone"),
    );
    assert_eq!(gone.await.unwrap_err().code, "recording_unreadable");
}
