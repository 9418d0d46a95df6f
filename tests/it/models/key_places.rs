//! Where a key goes, and where nothing of it may be left.

use serde_json::{Value, json};
use support::{Place, call};

use super::{KEY, TASK, begin, keep_server, open, says, server, test};

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
    // What lies beside the protocol is looked at without it.
    let there = heard_there.lock().unwrap().clone();
    let asked = |head: &&String| head.contains(" /v1/");
    assert!(there.iter().filter(asked).count() >= 2);
    assert!(there.iter().all(|head| head.contains(KEY) == asked(&head)), "{there:?}");
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

/// The key in the ways in which a server may send it back.
fn encodings() -> Vec<String> {
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = KEY.chars().map(|sign| format!("\\u{:04x}", u32::from(sign))).collect();
    // Made with `base64`, whose crate is not needed here for one line.
    let base64 = "c2stY2FuYXJ5LTkzZDFhN2IyYzRlOA==".to_owned();
    vec![KEY.to_owned(), hex, percent, json, base64]
}

fn check_clean(what: &str, text: &str) {
    for encoded in encodings() {
        assert!(!text.contains(&encoded), "{what} holds the key as {encoded}");
    }
}

/// R8: a server that sends the key back in every refusal, through every path on which its words travel.
#[tokio::test]
async fn a_key_that_a_server_sends_back_is_kept_nowhere() {
    let (url, _) = server(|line, _| match line {
        "GET /v1/models" => (404, "", "{}".to_owned()),
        _ => {
            let words = format!("your key is {}", encodings().join(" "));
            (
                401,
                "",
                json!({ "error": { "message": words, "code": "invalid_api_key" } }).to_string(),
            )
        }
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let kept = call(
        &app,
        "key_set",
        json!({ "account": "openai_compatible", "key": KEY, "baseUrl": url }),
    )
    .await;
    check_clean("the reply to the window", &kept.unwrap().to_string());
    check_clean("a trial", &test(&app, &url).await.to_string());
    let run = begin(&app, &place, TASK).await.unwrap();
    app.outcome(&run).await.unwrap();
    let events = call(&app, "run_events", json!({ "runId": run, "fromSeq": 1, "limit": 500 }))
        .await
        .unwrap();
    assert!(events.to_string().contains("refused the key"), "{events}");
    check_clean("the events", &events.to_string());
    for command in ["run_report", "run_get"] {
        check_clean(
            command,
            &call(&app, command, json!({ "runId": run })).await.unwrap().to_string(),
        );
    }
    check_clean(
        "the settings",
        &call(&app, "settings_get", Value::Null).await.unwrap().to_string(),
    );
    check_clean(
        "the models",
        &call(&app, "models_list", json!({ "refresh": true }))
            .await
            .unwrap()
            .to_string(),
    );
    let refused = call(
        &app,
        "run_record",
        json!({ "runId": run, "path": place.data().join("r.json") }),
    )
    .await;
    check_clean("an error", &format!("{:?}", refused.unwrap_err()));
    app.export(&run, Some(&place.data().join("run.tepa")), place.data())
        .await
        .unwrap();
    app.close().await.unwrap();
    let elsewhere = Place::default();
    let there = open(&elsewhere).await;
    there.import(&place.data().join("run.tepa")).await.unwrap();
    let imported = call(
        &there,
        "run_events",
        json!({ "runId": run, "fromSeq": 1, "limit": 500 }),
    )
    .await
    .unwrap();
    check_clean("the export", &imported.to_string());
    for entry in std::fs::read_dir(place.data())
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_file() {
            check_clean(
                &entry.display().to_string(),
                &String::from_utf8_lossy(&std::fs::read(&entry).unwrap()),
            );
        }
    }
}
