//! R8: nothing of a key is left anywhere but where it belongs, in six writings: database, its log of changes, the app's
//! log, events and every value they name, exports, recordings, error messages, and all that the window hears. The key comes
//! back from a server that repeats it in every refusal; the mutant is a model whose connector repeats it too, and removes
//! nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::{App, Config, Signals};
use async_trait::async_trait;
use contract::RunId;
use contract::llm::{LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::provider::{LlmProvider, Sink};
use serde_json::{Value, json};
use support::{Place, call};

use super::{KEY, TASK, begin, keep, keep_server, open, plan, server, test};

/// The key as it may be written: as it is, in hexadecimal, as a URL and as JSON may write every character, in base64, and
/// backwards.
fn writings() -> [String; 6] {
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = KEY.chars().map(|sign| format!("\\u{:04x}", u32::from(sign))).collect();
    // Made with `base64`, whose crate is not needed here for one line.
    let base64 = "c2stY2FuYXJ5LTkzZDFhN2IyYzRlOA==".to_owned();
    [KEY.to_owned(), hex, percent, json, base64, KEY.chars().rev().collect()]
}

/// Every place that holds a writing of the key.
#[derive(Default)]
struct Search {
    found: Vec<String>,
    looked_at: usize,
}

impl Search {
    fn look(&mut self, place: &str, text: &str) {
        self.looked_at += 1;
        for written in writings() {
            // JSON doubles the slashes of what is written in JSON already.
            if text.contains(&written) || text.contains(&written.replace('\\', "\\\\")) {
                self.found.push(format!("{place} holds the key as {written}"));
            }
        }
    }

    fn files(&mut self, folder: &Path) {
        for file in files_below(folder) {
            let bytes = std::fs::read(&file).unwrap();
            self.look(&file.display().to_string(), &String::from_utf8_lossy(&bytes));
        }
    }

    async fn command(&mut self, app: &App, name: &str, request: Value) -> Value {
        let said = call(app, name, request).await;
        let text = match &said {
            Ok(value) => value.to_string(),
            Err(error) => format!("{} {error:?}", serde_json::to_string(error).unwrap()),
        };
        self.look(name, &text);
        said.unwrap_or_default()
    }

    /// The events of a run, with every value that they name.
    async fn run(&mut self, app: &App, run: &RunId) -> Value {
        let all = json!({ "runId": run, "fromSeq": 1, "limit": 500 });
        let events = self.command(app, "run_events", all).await;
        for hash in hashes(&events) {
            self.command(app, "artifact_read", json!({ "hash": hash })).await;
        }
        for command in ["run_report", "run_get", "run_deltas", "run_waits", "run_estimate"] {
            self.command(app, command, json!({ "runId": run })).await;
        }
        events
    }

    fn signals(&mut self, heard: &mut Signals) {
        use futures::FutureExt;
        while let Some(Some(signal)) = heard.next().now_or_never() {
            self.look("a signal to the window", &serde_json::to_string(&signal).unwrap());
        }
    }
}

fn hashes(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if text.starts_with("sha256:") => vec![text.clone()],
        Value::Array(parts) => parts.iter().flat_map(hashes).collect(),
        Value::Object(fields) => fields.values().flat_map(hashes).collect(),
        _ => Vec::new(),
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

/// What a server that repeats the key says.
fn repeating() -> String {
    let words = format!("your key is {}", writings().join(" "));
    json!({ "error": { "message": words, "code": "invalid_api_key" } }).to_string()
}

/// Everything that can be asked and read after a run that failed with the key in its error.
async fn search(app: App, place: &Place, run: &RunId, mut heard: Signals) -> (Search, Value) {
    let mut search = Search::default();
    let events = search.run(&app, run).await;
    search.signals(&mut heard);
    for command in ["settings_get", "app_info", "providers_list", "draft_get"] {
        search.command(&app, command, Value::Null).await;
    }
    search.command(&app, "models_list", json!({ "refresh": true })).await;
    search
        .command(&app, "key_info", json!({ "account": "openai_compatible" }))
        .await;
    let recording = json!({ "runId": run, "path": place.data().join("r.json") });
    search.command(&app, "run_record", recording).await;
    let export = place.data().join("run.tepa");
    app.export(run, Some(&export), place.data()).await.unwrap();
    let elsewhere = Place::default();
    let there = open(&elsewhere).await;
    there.import(&export).await.unwrap();
    search.run(&there, run).await;
    // While the database has its log of changes beside it, and after it was closed.
    assert!(
        files_below(place.data())
            .iter()
            .any(|file| file.to_string_lossy().ends_with("-wal"))
    );
    search.files(place.data());
    search.files(elsewhere.data());
    app.close().await.unwrap();
    search.files(place.data());
    (search, events)
}

#[tokio::test]
async fn a_key_that_a_server_sends_back_is_kept_nowhere() {
    let (url, heard) = server(|line, _| match line {
        "GET /v1/models" => (404, "", "{}".to_owned()),
        _ => (401, "", repeating()),
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let mut before = Search::default();
    let key = json!({ "account": "openai_compatible", "key": KEY, "baseUrl": url });
    before.command(&app, "key_set", key).await;
    before.look("a trial", &test(&app, &url).await.to_string());
    let signals = app.signals();
    let run = begin(&app, &place, TASK).await.unwrap();
    app.outcome(&run).await.unwrap();
    let (search, events) = search(app, &place, &run, signals).await;
    assert!(events.to_string().contains("refused the key"), "{events}");
    assert!(
        heard.lock().unwrap().iter().any(|head| head.contains(KEY)),
        "the key went where it belongs"
    );
    println!(
        "R8: {} places searched for {} writings",
        search.looked_at,
        writings().len()
    );
    assert_eq!([before.found, search.found].concat(), Vec::<String>::new());
}

/// A fallback's refusal travels further than others: into the attempts and the words about both.
#[tokio::test]
async fn a_key_that_comes_back_from_a_first_choice_or_its_fallback_is_kept_nowhere() {
    let words = format!("no credit for {}", writings().join(" "));
    let refusal = json!({ "error": { "message": words, "code": "insufficient_quota" } }).to_string();
    let (url, _) = server(move |_, _| (429, "", refusal.clone()));
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        settings["accounts"] = json!([{ "name": "spare", "kind": "openai_compatible", "baseUrl": url }]);
        settings["fallbacks"] = json!({ "accounts": { "openai_compatible": "spare:other" } });
    })
    .await;
    for account in ["openai_compatible", "spare"] {
        let key = json!({ "account": account, "key": KEY, "baseUrl": url });
        call(&app, "key_set", key).await.unwrap();
    }
    let signals = app.signals();
    let run = begin(&app, &place, TASK).await.unwrap();
    app.outcome(&run).await.unwrap();
    let (search, events) = search(app, &place, &run, signals).await;
    assert!(events.to_string().contains("neither did its fallback"), "{events}");
    assert_eq!(search.found, Vec::<String>::new());
}

/// A recording of a run whose server was asked with the key.
#[tokio::test]
async fn a_key_is_in_no_recording_of_a_run_that_was_signed_with_it() {
    let (url, heard) = server(|_, _| (200, "", plan()));
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let key = json!({ "account": "openai_compatible", "key": KEY, "baseUrl": url });
    call(&app, "key_set", key).await.unwrap();
    let signals = app.signals();
    let run = begin(&app, &place, TASK).await.unwrap();
    let question = support::wait_for_question(&app, &run).await;
    let rejected = json!({ "kind": "reject", "reason": null });
    let answer = json!({ "runId": run, "key": question.key, "answer": rejected });
    call(&app, "run_answer", answer).await.unwrap();
    app.outcome(&run).await.unwrap();
    let (search, _) = search(app, &place, &run, signals).await;
    assert!(heard.lock().unwrap().concat().contains(KEY));
    assert!(place.data().join("r.json").is_file(), "the run was recorded");
    assert_eq!(search.found, Vec::<String>::new());
}

/// A search service that repeats its key in what it finds, and in its refusals.
#[tokio::test]
async fn a_key_that_a_search_service_sends_back_is_kept_nowhere() {
    for status in [200, 400] {
        let (url, heard) = server(move |_, _| {
            let words = format!("your key is {}", writings().join(" "));
            let hit = json!({ "url": format!("https://a.org/?k={KEY}"), "title": words, "description": words });
            let body = json!({ "web": { "results": [hit] }, "error": { "detail": words } });
            (status, "", body.to_string())
        });
        let place = Place::default();
        let searches = support::script::tool("look", "web_search", json!({ "query": "tea" }), &[]);
        let planned = support::script::plan(json!([searches]));
        let config = Config {
            providers: vec![support::script::Script::new([("cycle/1/plan#0/call/0", planned)])],
            people: Some(support::script::Answers::new([])),
            ..place.config()
        };
        let app = App::open(config).await.unwrap();
        keep(&app, |settings| {
            settings["search"] = json!({ "kind": "brave", "baseUrl": url })
        })
        .await;
        let mut before = Search::default();
        let key = json!({ "account": "web_search", "key": KEY, "baseUrl": url });
        before.command(&app, "key_set", key).await;
        before.command(&app, "search_test", Value::Null).await;
        before
            .command(&app, "key_info", json!({ "account": "web_search" }))
            .await;
        let task = format!("{TASK}models: {{ planner: 'scripted:m' }}\n");
        let signals = app.signals();
        let run = begin(&app, &place, &task).await.unwrap();
        app.outcome(&run).await.unwrap();
        let (search, events) = search(app, &place, &run, signals).await;
        assert!(events.to_string().contains("[key removed]"), "{status}: {events}");
        let heard = heard.lock().unwrap();
        assert!(
            heard
                .iter()
                .any(|head| head.contains(&format!("x-subscription-token: {KEY}")))
        );
        assert_eq!([before.found, search.found].concat(), Vec::<String>::new(), "{status}");
    }
}

/// A connector that repeats what the server says, key and all.
struct Careless;

#[async_trait]
impl LlmProvider for Careless {
    fn name(&self) -> &str {
        "careless"
    }

    async fn complete(&self, _: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let error = LlmError::new(LlmErrorCode::Authentication, writings().join(" "));
        sink.attempt(LlmAttempt {
            error: Some(error.clone()),
            ..LlmAttempt::default()
        });
        Err(error)
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_connector_that_repeats_the_key_is_noticed() {
    let place = Place::default();
    let config = Config {
        providers: vec![Arc::new(Careless)],
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let task = format!("{TASK}models: {{ planner: 'careless:m' }}\n");
    let signals = app.signals();
    let run = begin(&app, &place, &task).await.unwrap();
    app.outcome(&run).await.unwrap();
    let (search, _) = search(app, &place, &run, signals).await;
    println!("R8 (mutant): noticed: {:?}", search.found.first());
    for place in ["run_events", "run_report"] {
        for written in writings() {
            let noticed = format!("{place} holds the key as {written}");
            assert!(search.found.contains(&noticed), "not noticed: {noticed}");
        }
    }
}

/// A program that the app starts must be given its own environment, in which keys of the app's are not. Returns the files
/// that start one without saying so.
fn hand_down_the_environment<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<&'a str> {
    let starts = |text: &str| text.contains("Command::new(");
    files
        .filter(|(_, text)| starts(text) && !text.contains("env_clear()"))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn no_program_that_the_app_starts_is_handed_its_environment() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../src-tauri/crates")
        .canonicalize()
        .unwrap();
    let of_product = |path: &PathBuf| {
        let path = path.to_string_lossy();
        let is_test = ["/tests/", "/tests.rs", "/testing", "rehearsal.rs", "/benches/"];
        path.ends_with(".rs") && path.contains("/src/") && !is_test.iter().any(|part| path.contains(part))
    };
    let files: Vec<(String, String)> = files_below(&crates)
        .into_iter()
        .filter(of_product)
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .map(|(name, text)| (name, text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()))
        .collect();
    assert!(files.len() > 200, "the product was not read");
    let found = hand_down_the_environment(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    assert_eq!(found, Vec::<&str>::new());
    let careless = [
        ("a.rs", "Command::new(\"sh\")"),
        ("b.rs", "Command::new(\"sh\").env_clear()"),
    ];
    assert_eq!(hand_down_the_environment(careless.into_iter()), ["a.rs"]);
}
