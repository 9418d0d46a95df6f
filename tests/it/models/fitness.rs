//! Models that cannot do what a run needs are said before it, with what would.

use serde_json::json;
use support::{Place, call};

use super::{Heard, TASK, begin, keep, keep_server, open, says, server, test};

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
