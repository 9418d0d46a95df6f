//! Models that cannot do what a run needs are said before it, with what would.

use serde_json::{Value, json};
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
            let is_wide = body["model"].as_str().is_some_and(|model| model.ends_with("-16k"));
            let num_ctx = if is_wide { Some(16_384) } else { num_ctx };
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

/// Nobody has to press *Test connection* first.
#[tokio::test]
async fn a_model_nearby_is_looked_at_before_its_first_run_without_being_asked_anything() {
    for (num_ctx, tools, words) in [
        (Some(16_384), false, "cannot call tools"),
        (None, true, "reads only 4096 tokens"),
        // What no setting mends is said first.
        (None, false, "cannot call tools"),
    ] {
        let place = Place::default();
        let app = open(&place).await;
        let (url, heard) = ollama(num_ctx, tools);
        keep_server(&app, &url).await;
        for _ in 0..2 {
            let refused = begin(&app, &place, TASK).await.unwrap_err();
            assert!(
                refused.code == "model_unfit" && refused.message.contains(words),
                "{words}: {}",
                refused.message
            );
        }
        let heard = heard.lock().unwrap().clone();
        let asked = |line: &str| heard.iter().filter(|head| head.starts_with(line)).count();
        // What it said is kept, and no model was paid for it.
        assert_eq!((asked("POST /api/show"), asked("POST /v1/chat")), (1, 0));
    }
}

#[tokio::test]
async fn an_agent_of_a_flow_is_not_given_tools_that_its_model_cannot_call() {
    let place = Place::default();
    let app = open(&place).await;
    let (url, _) = ollama(None, false);
    keep_server(&app, &url).await;
    let flow = |kind: Value| {
        json!({ "id": "f", "model": "openai_compatible:small", "steps": [
            { "id": "a", "agent": kind },
            { "id": "r", "answer": { "text": "{{a}}" } },
        ] })
    };
    let begins = async |flow: Value| {
        let (refs, folder) = (Default::default(), place.folder());
        let input = app::FlowInput {
            input: json!("x"),
            ..app::FlowInput::default()
        };
        app.flow_header(&flow, &refs, input, &folder, None).await.map(drop)
    };
    let refused = begins(flow(
        json!({ "instructions": "Look around.", "tools": ["directory_list"] }),
    ))
    .await;
    let refused = refused.unwrap_err();
    assert!(
        refused.code == "model_unfit" && refused.message.contains("cannot call tools"),
        "{refused}"
    );
    // Who is given none needs to call none, and how much it reads is its author's.
    begins(flow(json!({ "instructions": "Think.", "tools": [] })))
        .await
        .unwrap();
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
