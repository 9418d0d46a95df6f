//! Where a key goes.

use serde_json::{Value, json};
use support::{Place, call};

use super::{KEY, keep_server, open, says, server, test};

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
