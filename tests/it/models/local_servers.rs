//! Servers on one's own machine, each answering as its own documentation says: what is found out of their models, and that a
//! locked keychain stands in nobody's way who needs no key.

use std::sync::Arc;

use app::{App, Config};
use contract::secret::{KeyInfo, KeySource, KeyStore, KeyStoreError};
use secrecy::SecretString;
use secrets::MemoryStore;
use serde_json::{Value, json};
use support::{Place, call, wait_for_question};

use super::{Heard, Said, TASK, begin, keep, keep_server, open, plan, says, server, test};

fn ok(body: &Value) -> Said {
    (200, "content-type: application/json", body.to_string())
}

/// What every one of them answers to the common protocol.
fn common(line: &str, body: &Value) -> Said {
    match line {
        "GET /v1/models" => {
            ok(&json!({ "object": "list", "data": [{ "id": "small", "object": "model", "owned_by": "x" }] }))
        }
        "POST /v1/chat/completions" if body["tools"].is_array() => {
            let function = json!({ "name": "note", "arguments": "{\"word\":\"yes\"}" });
            let call = json!({ "id": "c", "type": "function", "function": function });
            (
                200,
                "",
                says(&json!({ "role": "assistant", "content": null, "tool_calls": [call] })),
            )
        }
        "POST /v1/chat/completions" => (200, "", says(&json!({ "role": "assistant", "content": "OK" }))),
        _ => (404, "", "{}".to_owned()),
    }
}

/// LM Studio with one model that is loaded with so many tokens.
fn lm_studio(length: u64, tools: bool) -> (String, Heard) {
    server(move |line, body| match line {
        "GET /api/v1/models" => ok(&json!({ "models": [{
            "type": "llm", "publisher": "lmstudio-community", "key": "small", "display_name": "Small", "architecture": "qwen3",
            "quantization": { "name": "Q4_K_M", "bits_per_weight": 4 }, "size_bytes": 4_912_898_304_u64, "params_string": "8B",
            "loaded_instances": [{ "id": "small", "config": { "context_length": length, "eval_batch_size": 512 } }],
            "max_context_length": 40_960, "format": "gguf",
            "capabilities": { "vision": false, "trained_for_tool_use": tools },
        }] })),
        // An unknown route is answered with 200 and words.
        "POST /api/show" | "GET /props" => ok(&json!({ "error": "Unexpected endpoint or method. (POST /api/show)" })),
        _ => common(line, body),
    })
}

/// llama.cpp with one model.
fn llama_cpp(n_ctx: u64, tools: bool) -> (String, Heard) {
    server(move |line, body| match line {
        "GET /props" => ok(&json!({
            "default_generation_settings": { "id": 0, "n_ctx": n_ctx, "speculative": false, "params": { "temperature": 0.8 } },
            "total_slots": 1, "model_path": "models/small.gguf", "chat_template": "{{ messages }}",
            "chat_template_caps": { "supports_tools": tools, "supports_tool_calls": tools, "supports_system_role": true },
            "modalities": { "vision": false }, "build_info": "b8681", "is_sleeping": false,
        })),
        _ if line.starts_with("POST /v1/chat") || line == "GET /v1/models" => common(line, body),
        _ => (
            404,
            "",
            json!({ "error": { "code": 404, "message": "File Not Found", "type": "not_found_error" } }).to_string(),
        ),
    })
}

/// Ollama with one model that reads the machine's default.
fn ollama(default: u64) -> (String, Heard) {
    server(move |line, body| match line {
        "POST /api/show" => ok(&json!({
            "license": "x", "modelfile": "FROM small", "parameters": "stop \"<|im_end|>\"\ntemperature 0.6", "template": "{{ .Prompt }}",
            "details": { "family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M" },
            "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960, "qwen3.embedding_length": 4_096 },
            "capabilities": ["completion", "tools", "thinking"], "modified_at": "2026-11-01T10:00:00Z",
        })),
        "GET /api/ps" => ok(&json!({ "models": [{
            "name": "small:latest", "model": "small:latest", "size": 6_591_830_464_u64, "digest": "a", "details": {},
            "expires_at": "2026-11-22T10:00:00Z", "size_vram": 5_333_539_264_u64, "context_length": default,
        }] })),
        _ => common(line, body),
    })
}

async fn tried(url: &str) -> (App, Place, Value) {
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, url).await;
    let tested = test(&app, url).await;
    assert_eq!(tested["ok"], true, "{tested}");
    (app, place, tested)
}

async fn known(app: &App) -> Value {
    let listed = call(app, "models_list", json!({})).await.unwrap();
    let accounts = listed["accounts"].as_array().unwrap();
    let own = accounts
        .iter()
        .find(|one| one["provider"] == "openai_compatible")
        .unwrap();
    own["models"][0].clone()
}

#[tokio::test]
async fn lm_studio_says_how_much_a_loaded_model_reads_and_whether_it_calls_tools() {
    let (url, heard) = lm_studio(16_384, true);
    let (app, _place, tested) = tried(&url).await;
    assert_eq!(tested.get("lacks"), None, "{tested}");
    let model = known(&app).await;
    assert_eq!(
        (&model["contextWindow"], &model["capabilities"]["tools"]),
        (&json!(16_384), &json!(true))
    );
    // It was not asked to call one: what it says is enough.
    assert_eq!(
        heard
            .lock()
            .unwrap()
            .iter()
            .filter(|head| head.starts_with("POST /v1/chat"))
            .count(),
        1
    );

    let (url, _) = lm_studio(4_096, false);
    let (app, place, tested) = tried(&url).await;
    assert!(
        tested["lacks"].as_str().unwrap().contains("only 4096 tokens"),
        "{tested}"
    );
    // Only Ollama's models can be set up from here.
    assert_eq!(tested["canWiden"], false);
    // Not trained for tools, and calling one all the same when it was tried.
    assert_eq!(known(&app).await["capabilities"]["tools"], true);
    let refused = begin(&app, &place, TASK).await.unwrap_err();
    assert!(refused.code == "model_unfit" && refused.hint.unwrap().contains("context length"));
}

#[tokio::test]
async fn llama_cpp_says_when_its_template_drops_tools() {
    let (url, _) = llama_cpp(16_384, false);
    let (app, place, tested) = tried(&url).await;
    assert_eq!(tested["callsNoTools"], true, "{tested}");
    assert_eq!(begin(&app, &place, TASK).await.unwrap_err().code, "model_unfit");

    let (url, heard) = llama_cpp(16_384, true);
    let (app, _place, tested) = tried(&url).await;
    assert_eq!(tested.get("lacks"), None, "{tested}");
    assert_eq!(known(&app).await["contextWindow"], 16_384);
    // Its word for it is not enough: it is tried.
    assert_eq!(
        heard
            .lock()
            .unwrap()
            .iter()
            .filter(|head| head.starts_with("POST /v1/chat"))
            .count(),
        2
    );
}

#[tokio::test]
async fn ollama_on_a_machine_with_much_memory_needs_no_setting_up() {
    let (url, _) = ollama(32_768);
    let (app, place, tested) = tried(&url).await;
    assert_eq!(
        (tested.get("lacks"), &tested["canWiden"]),
        (None, &json!(false)),
        "{tested}"
    );
    let model = known(&app).await;
    assert_eq!(model["contextWindow"], 32_768);
    assert_eq!(model["capabilities"], json!({ "tools": true, "effort": true }));
    begin(&app, &place, TASK).await.unwrap();

    let (url, _) = ollama(4_096);
    let (_app, _place, tested) = tried(&url).await;
    assert_eq!(tested["canWiden"], true, "{tested}");
}

/// A keychain that is locked, and counts how often somebody knocked.
#[derive(Default)]
struct Locked;

impl KeyStore for Locked {
    fn source(&self) -> KeySource {
        KeySource::Keychain
    }

    fn set(&self, _: &str, _: &SecretString, _: i64) -> Result<(), KeyStoreError> {
        Err(KeyStoreError::Locked("the collection is locked".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<SecretString>, KeyStoreError> {
        Err(KeyStoreError::Locked("the collection is locked".to_owned()))
    }

    fn info(&self, _: &str) -> Result<Option<KeyInfo>, KeyStoreError> {
        Err(KeyStoreError::Locked("the collection is locked".to_owned()))
    }

    fn delete(&self, _: &str) -> Result<(), KeyStoreError> {
        Err(KeyStoreError::Locked("the collection is locked".to_owned()))
    }
}

async fn locked(place: &Place) -> App {
    let config = Config {
        keychain: Some(Arc::new(Locked)),
        ..place.config()
    };
    App::open(config).await.unwrap()
}

#[tokio::test]
async fn a_key_for_a_locked_keychain_can_be_kept_until_the_app_closes_and_is_used() {
    let (url, heard) = server(common);
    let place = Place::default();
    let app = locked(&place).await;
    keep_server(&app, &url).await;
    let key = "sk-canary-5531-until-close";
    let mut request = json!({ "account": "openai_compatible", "key": key, "plain": true });
    let refused = call(&app, "key_set", request.clone()).await.unwrap_err();
    assert!(refused.message.contains("locked"), "{refused}");
    request["untilClose"] = json!(true);
    let kept = call(&app, "key_set", request).await.unwrap();
    assert_eq!((&kept["source"], &kept["last4"]), (&json!("session"), &json!("lose")));
    let known = call(&app, "key_info", json!({ "account": "openai_compatible" }))
        .await
        .unwrap();
    assert_eq!(known["source"], "session");
    assert_eq!(test(&app, &url).await["ok"], true);
    assert!(heard.lock().unwrap().concat().contains(key));
    // Another start knows nothing of it.
    app.close().await.unwrap();
    let again = place.open().await;
    let known = call(&again, "key_info", json!({ "account": "openai_compatible" })).await;
    assert_eq!(known.unwrap(), Value::Null);
}

#[tokio::test]
async fn a_key_that_is_kept_for_good_takes_the_place_of_one_that_was_kept_for_now() {
    let place = Place::default();
    let config = Config {
        keychain: Some(Arc::new(MemoryStore::default())),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let (url, heard) = server(common);
    keep_server(&app, &url).await;
    let keep_key = async |key: &str, until_close: bool| {
        let request = json!({ "account": "openai_compatible", "key": key, "plain": true, "untilClose": until_close });
        call(&app, "key_set", request).await.unwrap();
    };
    let signed_with = |key: &str| {
        let heard = heard.lock().unwrap();
        let asked = heard
            .iter()
            .rfind(|head| head.starts_with("POST /v1/chat/completions"))
            .unwrap();
        assert!(asked.contains(key), "{asked}");
    };
    keep_key("sk-first-0001", false).await;
    keep_key("sk-second-0002", true).await;
    test(&app, &url).await;
    // What was put in last is meant, whatever is kept for good.
    signed_with("sk-second-0002");
    keep_key("sk-third-0003", false).await;
    test(&app, &url).await;
    signed_with("sk-third-0003");
}

#[tokio::test]
async fn a_locked_keychain_stands_in_the_way_of_no_server_that_needs_no_key() {
    let (url, heard) = server(|line, body| match line {
        "POST /v1/chat/completions" if body["response_format"].is_object() => (200, "", plan()),
        _ => common(line, body),
    });
    let place = Place::default();
    let app = locked(&place).await;
    keep_server(&app, &url).await;
    assert_eq!(test(&app, &url).await["ok"], true);
    call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    let run = begin(&app, &place, TASK).await.unwrap();
    wait_for_question(&app, &run).await;
    assert!(
        heard
            .lock()
            .unwrap()
            .iter()
            .all(|head| !head.to_lowercase().contains("authorization"))
    );
}

#[tokio::test]
async fn a_locked_keychain_is_said_where_a_key_is_needed() {
    let place = Place::default();
    let app = locked(&place).await;
    keep(&app, |settings| {
        settings["models"] = json!({ "planner": "anthropic:m" })
    })
    .await;
    let refused = begin(&app, &place, TASK).await.unwrap_err();
    assert_eq!(refused.code, "keychain_locked", "{refused}");
    let shown = call(&app, "key_info", json!({ "account": "anthropic" }))
        .await
        .unwrap_err();
    assert_eq!(shown.code, "keychain_locked");
}
