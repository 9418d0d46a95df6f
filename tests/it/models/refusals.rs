//! Servers that refuse or are not there, each with its own sentence and with what helps.

use std::net::TcpListener;

use serde_json::json;
use support::{Place, call};

use super::{KEY, Said, error, open, says, server, test};

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
