//! What a window can send, right or wrong: every call is answered, and no answer is a panic.

use app::ipc;
use serde_json::{Map, Value, json};
use support::{Place, call};

/// Numbers that look random and are the same every time (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }

    fn word(&mut self) -> String {
        let words = [
            "",
            "x",
            "run",
            "../../x",
            "/",
            "\0",
            "é🎉\u{202e}",
            "sha256:00",
            "approve",
            "-1",
            "null",
            "C:\\",
            "'; DROP TABLE run",
        ];
        match self.roll(20) {
            0 => "long ".repeat(20_000),
            _ => (*self.pick(&words)).to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.roll(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.roll(2) == 0),
            2 => json!(self.0),
            3 => json!(-1),
            4 => json!(1.5e300),
            5 => json!(self.word()),
            6 => (0..self.roll(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let names = [
            "runId",
            "key",
            "answer",
            "kind",
            "limit",
            "cursor",
            "status",
            "text",
            "source",
            "folder",
            "path",
            "hash",
            "name",
            "value",
            "account",
            "fromSeq",
            "theme",
            "limits",
            "endpoint",
            "baseUrl",
            "model",
            "title",
            "words",
            "revisions",
        ];
        let count = self.roll(names.len());
        let fields = (0..count).map(|_| ((*self.pick(&names)).to_owned(), self.value(depth)));
        Value::Object(fields.collect::<Map<_, _>>())
    }
}

#[tokio::test]
async fn two_thousand_malformed_calls_are_all_answered() {
    let place = Place::default();
    let app = place.open().await;
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    // A server is never asked here, and the sample would be started again and again.
    let names: Vec<&str> = ipc::NAMES
        .iter()
        .copied()
        .filter(|name| !["provider_test", "servers_find", "model_widen", "sample_start"].contains(name))
        .collect();
    let mut refused = 0;
    for _ in 0..2000 {
        let name = match dice.roll(20) {
            0 => dice.word(),
            _ => (*dice.pick(&names)).to_owned(),
        };
        let request = if dice.roll(3) == 0 {
            dice.value(2)
        } else {
            dice.object(2)
        };
        let shown: String = format!("{name} {request}").chars().take(400).collect();
        if let Err(error) = call(&app, &name, request).await {
            refused += 1;
            assert_ne!(error.code, "internal", "{shown}: {error}");
            assert!(
                !error.message.is_empty() && error.message.len() < 2_000,
                "{shown}: {error}"
            );
        }
    }
    assert!(
        refused > 1000,
        "most of it is malformed, but only {refused} were refused"
    );
    assert!(call(&app, "app_info", Value::Null).await.is_ok());
}

#[tokio::test]
async fn a_wrong_call_says_what_is_wrong_with_it() {
    let place = Place::default();
    let app = place.open().await;
    let unknown = call(&app, "run_everything", Value::Null).await.unwrap_err();
    assert_eq!(
        (unknown.code.as_str(), unknown.message.as_str()),
        ("unknown_command", "there is no command \"run_everything\"")
    );
    let malformed = call(&app, "run_get", json!({ "runId": 7 })).await.unwrap_err();
    assert_eq!(malformed.code, "invalid_request");
    assert!(malformed.message.contains("invalid type: integer `7`"), "{malformed}");
    let missing = call(&app, "run_get", json!({ "runId": "none" })).await.unwrap_err();
    assert_eq!(missing.code, "not_found");
    assert!(
        call(&app, "app_info", json!({})).await.is_ok(),
        "an empty object is no request"
    );
}

#[tokio::test]
async fn a_key_goes_in_and_never_comes_out() {
    const KEY: &str = "sk-this-must-not-be-seen-0123456789";
    let place = Place::default();
    let app = place.open().await;
    app::logging::start(place.data()).unwrap();
    let malformed = [
        json!(KEY),
        json!({ "account": "openai_compatible", "key": [KEY] }),
        json!({ "account": [KEY], "key": 1 }),
    ];
    for request in malformed {
        let error = call(&app, "key_set", request).await.unwrap_err();
        assert!(!format!("{error:?}").contains("sk-this"), "{error:?}");
    }
    let account = json!({ "account": "openai_compatible" });
    let set = call(
        &app,
        "key_set",
        json!({ "account": "openai_compatible", "key": format!(" {KEY}\n") }),
    )
    .await
    .unwrap();
    let shown = call(&app, "key_info", account.clone()).await.unwrap();
    assert_eq!(set, shown);
    assert_eq!(
        (shown["last4"].as_str(), shown["source"].as_str()),
        (Some("6789"), Some("session"))
    );
    assert!(!shown.to_string().contains("sk-this"));
    let run = support::start(&app, &place).await;
    support::wait_for_question(&app, &run).await;
    app.close().await.unwrap();
    for file in files_below(place.data()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            !bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()),
            "{}",
            file.display()
        );
    }
    let app = place.open().await;
    assert_eq!(call(&app, "key_info", account.clone()).await.unwrap(), Value::Null);
    call(&app, "key_delete", account).await.unwrap();
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

#[tokio::test]
async fn settings_and_drafts_are_kept() {
    let place = Place::default();
    let app = place.open().await;
    let mut settings = call(&app, "settings_get", Value::Null).await.unwrap();
    assert_eq!(
        (settings["theme"].as_str(), &settings["endpoint"]),
        (Some("system"), &Value::Null)
    );
    settings["theme"] = json!("dark");
    settings["endpoint"] = json!({ "baseUrl": " http://localhost:11434 ", "model": "qwen3:8b" });
    let kept = call(&app, "settings_set", settings.clone()).await.unwrap();
    assert_eq!(kept["endpoint"]["baseUrl"], "http://localhost:11434");
    settings["limits"]["maxCycles"] = json!(0);
    let refused = call(&app, "settings_set", settings).await.unwrap_err();
    assert_eq!(
        (refused.code.as_str(), refused.problems[0].path.as_str()),
        ("settings_invalid", "limits.maxCycles")
    );
    let draft = json!({ "source": "goal: s", "folder": null });
    call(&app, "draft_set", json!({ "name": "compose", "value": draft }))
        .await
        .unwrap();
    app.close().await.unwrap();

    let app = place.open().await;
    assert_eq!(call(&app, "settings_get", Value::Null).await.unwrap(), kept);
    assert_eq!(
        call(&app, "draft_get", json!({ "name": "compose" })).await.unwrap()["value"],
        draft
    );
    call(&app, "draft_set", json!({ "name": "compose", "value": null }))
        .await
        .unwrap();
    assert_eq!(
        call(&app, "draft_get", json!({ "name": "compose" })).await.unwrap()["value"],
        Value::Null
    );
}
