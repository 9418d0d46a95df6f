//! What Ollama, LM Studio and llama.cpp say of their models beside the common protocol, each as its own documentation has it:
//! Ollama's `POST /api/show` and `GET /api/ps`, LM Studio's `GET /api/v1/models` and the older `GET /api/v0/models`,
//! llama.cpp's `GET /props`. What is not said stays unknown; nothing is guessed but Ollama's own default.

use std::sync::Arc;

use contract::ports::clock::Clock;
use serde_json::{Value, json};

use super::{Probed, QUICK, at_root};
use crate::http::Http;

/// What Ollama reads of every question on most machines when nobody has said anything (its documentation, "Context
/// length": 4k below 24 GB of video memory).
const OLLAMA_USUAL: u64 = 4_096;

/// What the server program says of a model; none when it says nothing that is known here.
pub(super) async fn said(url: &str, model: &str, clock: &Arc<dyn Clock>) -> Option<Probed> {
    let http = at_root(url, QUICK, clock).ok()?;
    if let Some(shown) = post(&http, "api/show", &json!({ "model": model })).await
        && shown.get("capabilities").is_some()
    {
        // It has just answered, and so it is loaded; how much it reads now is known best.
        let loaded = get(&http, "api/ps").await.unwrap_or_default();
        return of_ollama(&shown, &loaded, model);
    }
    for route in ["api/v1/models", "api/v0/models"] {
        if let Some(probed) = get(&http, route).await.and_then(|list| of_lm_studio(&list, model)) {
            return Some(probed);
        }
    }
    of_llama_cpp(&get(&http, "props").await?)
}

async fn post(http: &Http, route: &str, body: &Value) -> Option<Value> {
    let mut answer = http.post(route, body, &[]).await.ok()?;
    serde_json::from_slice(&answer.all().await.ok()?).ok()
}

async fn get(http: &Http, route: &str) -> Option<Value> {
    let mut answer = http.get(route).await.ok()?;
    serde_json::from_slice(&answer.all().await.ok()?).ok()
}

/// What Ollama shows of a model: what it can do, what it was made for, and what it is set to.
fn of_ollama(shown: &Value, loaded: &Value, model: &str) -> Option<Probed> {
    let can = shown.get("capabilities")?.as_array()?;
    let could_read = shown.get("model_info").and_then(Value::as_object).and_then(|info| {
        let length = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
        length.1.as_u64()
    });
    let set = shown.get("parameters").and_then(Value::as_str).and_then(|lines| {
        let line = lines.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
        line.trim().parse().ok()
    });
    let tagged = format!("{model}:latest");
    let is_it = |one: &&Value| {
        ["name", "model"]
            .iter()
            .any(|name| one[*name] == model || one[*name] == *tagged)
    };
    let running = loaded.get("models").and_then(Value::as_array);
    let now = running.and_then(|all| all.iter().find(is_it)?.get("context_length")?.as_u64());
    let usual = could_read.map_or(OLLAMA_USUAL, |could| could.min(OLLAMA_USUAL));
    Some(Probed {
        tools: Some(can.iter().any(|can| can == "tools")),
        thinks: Some(can.iter().any(|can| can == "thinking")),
        context_window: Some(now.or(set).unwrap_or(usual)),
        could_read,
        is_ollama: true,
    })
}

/// What LM Studio lists of a model. How much it reads is known only of one that is loaded; that it was not trained to call
/// tools does not mean that it calls none.
fn of_lm_studio(list: &Value, model: &str) -> Option<Probed> {
    let all = list.get("models").or_else(|| list.get("data"))?.as_array()?;
    let instances = |one: &Value| {
        one.get("loaded_instances")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let found = all.iter().find(|one| {
        let is_named = ["key", "id"].iter().any(|name| one[*name] == model);
        is_named || instances(one).iter().any(|instance| instance["id"] == model)
    })?;
    let could_read = found.get("max_context_length")?.as_u64();
    let loaded = instances(found);
    let instance = loaded.iter().find(|one| one["id"] == model).or(loaded.first());
    let context_window = match instance {
        Some(instance) => instance.pointer("/config/context_length").and_then(Value::as_u64),
        None => found.get("loaded_context_length").and_then(Value::as_u64),
    };
    let can = &found["capabilities"];
    let listed = can
        .as_array()
        .is_some_and(|can| can.iter().any(|can| can == "tool_use"));
    Some(Probed {
        tools: (listed || can["trained_for_tool_use"] == true).then_some(true),
        context_window,
        could_read,
        ..Probed::default()
    })
}

/// What llama.cpp says of the one model that it serves. Its flags are true unless the chat template says otherwise, so only a
/// false one means something: such a server takes tools, and drops them without a word.
fn of_llama_cpp(props: &Value) -> Option<Probed> {
    let context_window = props
        .pointer("/default_generation_settings/n_ctx")
        .and_then(Value::as_u64);
    let cannot = ["supports_tools", "supports_tool_calls"]
        .iter()
        .any(|flag| props["chat_template_caps"][*flag] == false);
    (context_window.is_some() || cannot).then_some(Probed {
        tools: cannot.then_some(false),
        context_window,
        could_read: context_window,
        ..Probed::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &Value, loaded: &Value, expected: Option<(bool, u64, Option<u64>)>) {
        let probed = of_ollama(shown, loaded, "qwen3").map(|probed| {
            assert!(probed.is_ollama);
            (probed.tools.unwrap(), probed.context_window.unwrap(), probed.could_read)
        });
        assert_eq!(probed, expected, "{shown}");
    }

    #[test]
    fn reads_what_ollama_shows_of_a_model() {
        let info = json!({ "general.architecture": "qwen3", "qwen3.context_length": 40_960 });
        let shown = json!({ "capabilities": ["completion", "tools"], "model_info": info });
        let nothing = Value::Null;
        check(&shown, &nothing, Some((true, 4_096, Some(40_960))));
        let set =
            json!({ "capabilities": ["completion"], "model_info": info, "parameters": "stop \"x\"\nnum_ctx    16384" });
        check(&set, &nothing, Some((false, 16_384, Some(40_960))));
        let small = json!({ "capabilities": ["tools"], "model_info": { "x.context_length": 2_048 } });
        check(&small, &nothing, Some((true, 2_048, Some(2_048))));
        check(&json!({ "error": "not found" }), &nothing, None);
        // A machine with much memory reads more than the usual, and says so once the model is loaded.
        let other = json!({ "name": "llama3:8b", "model": "llama3:8b", "context_length": 8_192 });
        let loaded = json!({ "name": "qwen3:latest", "model": "qwen3:latest", "context_length": 32_768 });
        let loaded = json!({ "models": [other, loaded] });
        check(&shown, &loaded, Some((true, 32_768, Some(40_960))));
    }

    #[test]
    fn reads_what_lm_studio_lists_of_a_model() {
        let instance = |id: &str, length: u64| json!({ "id": id, "config": { "context_length": length } });
        let list = json!({ "models": [
            { "key": "gemma", "loaded_instances": [], "max_context_length": 8_192, "capabilities": { "trained_for_tool_use": false } },
            { "key": "qwen", "loaded_instances": [instance("qwen", 4_096), instance("qwen:2", 16_384)],
              "max_context_length": 40_960, "capabilities": { "vision": false, "trained_for_tool_use": true } },
        ] });
        let read = |list: &Value, model: &str| {
            let probed = of_lm_studio(list, model)?;
            Some((probed.tools, probed.context_window, probed.could_read))
        };
        assert_eq!(read(&list, "qwen"), Some((Some(true), Some(4_096), Some(40_960))));
        assert_eq!(read(&list, "qwen:2"), Some((Some(true), Some(16_384), Some(40_960))));
        assert_eq!(read(&list, "gemma"), Some((None, None, Some(8_192))));
        assert_eq!(read(&list, "other"), None);
        let older = json!({ "object": "list", "data": [{ "id": "qwen", "state": "loaded", "capabilities": ["tool_use"],
            "max_context_length": 40_960, "loaded_context_length": 4_096 }] });
        assert_eq!(read(&older, "qwen"), Some((Some(true), Some(4_096), Some(40_960))));
        // The common list of any server is none of its.
        assert_eq!(
            read(&json!({ "data": [{ "id": "qwen", "object": "model" }] }), "qwen"),
            None
        );
    }

    #[test]
    fn reads_the_properties_of_llama_cpp() {
        let props = |caps: Value| json!({ "default_generation_settings": { "n_ctx": 8_192 }, "total_slots": 1, "chat_template_caps": caps });
        let read = |props: &Value| of_llama_cpp(props).map(|probed| (probed.tools, probed.context_window));
        assert_eq!(
            read(&props(json!({ "supports_tools": true }))),
            Some((None, Some(8_192)))
        );
        assert_eq!(
            read(&props(json!({ "supports_tools": false }))),
            Some((Some(false), Some(8_192)))
        );
        assert_eq!(read(&props(Value::Null)), Some((None, Some(8_192))));
        assert_eq!(read(&json!({ "error": "no" })), None);
    }
}
