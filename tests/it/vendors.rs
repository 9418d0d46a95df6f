//! A task from its goal to its verdict with three vendors at once, each asked over the wire in its own protocol: one
//! plans, one does the step, one judges.

use app::{App, Outcome};
use contract::RunId;
use contract::run::{RunStatus, StopReason};
use serde_json::{Value, json};
use support::{Place, approve, call, wait_for_question};

use crate::http::{Heard, server};

const KEY: &str = "sk-canary-4f9c1b7e82d0";

const TASK: &str = "\
name: A greeting
goal: Greet the world in a file
context: {}
expectedOutput:
  - path: hello.txt
    description: A greeting
    criteria:
      - It says hello
limits: { maxCycles: 1 }
";

/// A server that speaks all three protocols.
fn vendors() -> (String, Heard) {
    server(|line, body| {
        let events = answer(line, body);
        let events = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        (200, "content-type: text/event-stream", events)
    })
}

fn answer(line: &str, body: &Value) -> Vec<Value> {
    if line == "POST /v1/messages" {
        assert_eq!(body["tool_choice"]["name"], "plan", "{body}");
        let step = json!({ "id": "step_1", "description": "Write hello.txt", "tools": ["file_write"],
            "expectedOutcome": "A greeting", "dependencies": [] });
        let plan = json!({ "reasoning": "One file is enough.", "estimatedTokens": 100, "steps": [step] });
        vec![
            json!({"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant", "model": "planner-1",
                "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_01", "name": "plan", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": plan.to_string()}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 20}}),
            json!({"type": "message_stop"}),
        ]
    } else if line == "POST /v1/models/low-1:streamGenerateContent?alt=sse" {
        let calling = &body["toolConfig"]["functionCallingConfig"];
        assert_eq!(*calling, json!({"mode": "ANY", "allowedFunctionNames": ["file_write"]}));
        let args = json!({"path": "hello.txt", "content": "hello, world\n"});
        let part = json!({"functionCall": {"name": "file_write", "args": args}, "thoughtSignature": "c2ln"});
        let usage =
            json!({"promptTokenCount": 40, "candidatesTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 48});
        vec![
            json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}], "usageMetadata": usage, "modelVersion": "low-1"}),
        ]
    } else {
        assert_eq!(line, "POST /v1/responses");
        assert_eq!(body["text"]["format"]["name"], "judgement", "{body}");
        let pass = |id: &str| json!({ "id": id, "verdict": "pass", "evidence": "hello, world" });
        let criteria: Vec<Value> = criteria(body["input"][0]["content"].as_str().unwrap())
            .map(pass)
            .collect();
        let judgement =
            json!({ "verdict": "pass", "confidence": 1, "summary": "The world is greeted.", "criteria": criteria });
        let text = json!({"type": "output_text", "text": judgement.to_string(), "annotations": []});
        let message =
            json!({"id": "msg_01", "type": "message", "role": "assistant", "status": "completed", "content": [text]});
        let usage = json!({"input_tokens": 70, "output_tokens": 7, "total_tokens": 77,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}});
        vec![
            json!({"type": "response.completed", "sequence_number": 1, "response": {"id": "resp_01", "object": "response",
                "created_at": 1, "model": "judge-1", "status": "completed", "output": [message], "usage": usage,
                "parallel_tool_calls": true, "tool_choice": "auto", "tools": []}}),
        ]
    }
}

/// The ids under which the judge is asked for the criteria.
fn criteria(question: &str) -> impl Iterator<Item = &str> {
    let listed = question.split("Criteria to judge:\n").nth(1).unwrap_or_default();
    let lines = listed.lines().take_while(|line| line.starts_with("- "));
    lines.filter_map(|line| line.trim_start_matches("- ").split(": ").next())
}

/// An app whose settings name the three vendors, all of them at this server.
async fn connected(place: &Place, url: &str) -> App {
    let app = App::open(place.config()).await.unwrap();
    let mut settings = call(&app, "settings_get", Value::Null).await.unwrap();
    let account = |name: &str, kind: &str| json!({ "name": name, "kind": kind, "baseUrl": url });
    settings["accounts"] = json!([
        account("anthropic", "anthropic"),
        account("openai-work", "openai"),
        account("gemini", "gemini")
    ]);
    settings["models"] = json!({ "planner": "anthropic:planner-1", "judge": "openai-work:judge-1", "executor": { "low": "gemini:low-1" } });
    call(&app, "settings_set", settings).await.unwrap();
    app
}

async fn keep_keys(app: &App) {
    for account in ["anthropic", "openai-work", "gemini"] {
        let request = json!({ "account": account, "key": KEY });
        call(app, "key_set", request).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_planned_done_and_judged_by_three_vendors() {
    let place = Place::default();
    let (url, heard) = vendors();
    let app = connected(&place, &url).await;
    keep_keys(&app).await;
    let started = call(&app, "run_start", json!({ "source": TASK, "folder": place.folder() })).await;
    let run = RunId::new(started.unwrap()["runId"].as_str().unwrap());
    let question = tokio::select! {
        question = wait_for_question(&app, &run) => question,
        outcome = app.outcome(&run) => panic!("the run asks nobody: {outcome:?}"),
    };
    approve(&app, &run, &question.key).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("the run is at its end")
    };
    assert_eq!(
        (result.status, result.stop_reason),
        (RunStatus::Pass, StopReason::Passed),
        "{}",
        result.feedback
    );
    // All that was read and written, each token once: what the cache gave and what was thought too.
    assert_eq!(result.tokens_used, (150 + 20) + (40 + 8) + 77);
    let written = std::fs::read_to_string(place.work().join("hello.txt")).unwrap();
    assert_eq!(written, "hello, world\n");
    let heads = heard.lock().unwrap().clone();
    assert_eq!(heads.len(), 3, "{heads:?}");
    assert!(heads[0].contains(&format!("x-api-key: {KEY}")), "{}", heads[0]);
    assert!(heads[1].contains(&format!("x-goog-api-key: {KEY}")), "{}", heads[1]);
    assert!(
        heads[2].contains(&format!("authorization: Bearer {KEY}")),
        "{}",
        heads[2]
    );
    app.close().await.unwrap();
    // The key was sent to the vendors, and is in nothing that was kept.
    for file in files_below(place.data()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            !bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()),
            "{}",
            file.display()
        );
    }
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

#[tokio::test]
async fn a_vendor_without_its_key_is_said_before_anything_is_paid_for() {
    let place = Place::default();
    let (url, heard) = vendors();
    let app = connected(&place, &url).await;
    let started = call(&app, "run_start", json!({ "source": TASK, "folder": place.folder() })).await;
    let error = started.unwrap_err();
    assert_eq!(error.code, "no_key", "{error:?}");
    assert!(error.message.contains("there is no key for"), "{error:?}");
    assert!(heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn accounts_are_refused_that_could_not_be_asked() {
    let place = Place::default();
    let app = App::open(place.config()).await.unwrap();
    let mut settings = call(&app, "settings_get", Value::Null).await.unwrap();
    settings["accounts"] = json!([
        { "name": "my account", "kind": "anthropic" },
        { "name": "other", "kind": "invented" },
        { "name": "other", "kind": "openai" },
        { "name": "gemini", "kind": "openai" },
        { "name": "router", "kind": "openai_compatible" },
        { "name": "far", "kind": "openai", "baseUrl": "ftp://x" },
    ]);
    settings["models"] = json!({ "planner": "nobody:m", "judge": "anthropic:" });
    let error = call(&app, "settings_set", settings).await.unwrap_err();
    let paths: Vec<&str> = error.problems.iter().map(|problem| problem.path.as_str()).collect();
    let expected = [
        "accounts[0].name",
        "accounts[1].kind",
        "accounts[2].name",
        "accounts[3].name",
        "accounts[4].baseUrl",
        "accounts[5].baseUrl",
        "models.planner",
        "models.judge",
    ];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn trying_a_key_lists_the_models_that_it_is_good_for() {
    let place = Place::default();
    let app = App::open(place.config()).await.unwrap();
    let (url, _) = server(|_, _| {
        let list = r#"{"data": [{"id": "a"}, {"id": "b"}]}"#;
        (200, "content-type: application/json", list.to_owned())
    });
    call(
        &app,
        "key_set",
        json!({ "account": "anthropic", "key": KEY, "baseUrl": url }),
    )
    .await
    .unwrap();
    let request = json!({ "provider": "anthropic", "baseUrl": url, "model": "" });
    let tried = call(&app, "provider_test", request).await.unwrap();
    assert_eq!((&tried["ok"], &tried["models"]), (&json!(true), &json!(["a", "b"])));
    assert_eq!(tried["message"], "It works: the key is good for 2 models. Choose one.");
}
