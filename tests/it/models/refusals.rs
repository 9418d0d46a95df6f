//! Servers that refuse or are not there, each with its own sentence and with what helps.

use std::net::{TcpListener, UdpSocket};

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
    let (words, remedy) = match has_network() {
        true => ("no server of the name", "address"),
        false => ("this computer has no network", "network"),
    };
    assert!(tested["message"].as_str().unwrap().contains(words), "{tested}");
    assert_eq!(tested["remedy"], remedy, "{tested}");
}

/// Whether there is a way to an address that exists nowhere (RFC 5737, RFC 3849). Nothing is sent.
fn has_network() -> bool {
    let way = |from: &str, to: &str| UdpSocket::bind(from).and_then(|socket| socket.connect(to)).is_ok();
    way("0.0.0.0:0", "192.0.2.1:9") || way("[::]:0", "[2001:db8::1]:9")
}

#[tokio::test]
async fn every_typo_in_an_address_leads_back_to_the_address() {
    let place = Place::default();
    let app = open(&place).await;
    let typos = [
        ("ftp://localhost", "must begin with http://"),
        ("htp://localhost:11434", "must begin with http://"),
        ("localhost:1847O", "cannot be read"),
        ("localhost 18470", "cannot be read"),
        ("[::1", "cannot be read"),
        ("http://me:secret@localhost", "its own field"),
    ];
    for (address, words) in typos {
        let tested = test(&app, address).await;
        assert!(
            tested["message"].as_str().unwrap().contains(words),
            "{address}: {tested}"
        );
        assert_eq!(tested["remedy"], "address", "{address}: {tested}");
    }
    let (url, _) = server(|_, _| (404, "", "{}".to_owned()));
    let tested = test(&app, &url.replace("http://", "https://")).await;
    assert!(
        tested["message"]
            .as_str()
            .unwrap()
            .contains("http:// instead of https://"),
        "{tested}"
    );
    assert_eq!(tested["remedy"], "address", "{tested}");
}

/// What stands in between a person and each provider, and what each calls the same thing.
#[tokio::test]
async fn what_is_in_between_is_never_blamed_on_the_key_of_any_provider() {
    let page = "<!doctype html><title>Blocked</title>";
    let faults: [(Said, &str, &str); 6] = [
        ((403, "", page.to_owned()), "in the place of an answer", "network"),
        ((401, "", page.to_owned()), "in the place of an answer", "network"),
        ((451, "", page.to_owned()), "in the place of an answer", "network"),
        ((502, "", page.to_owned()), "a proxy or gateway in between", "wait"),
        (
            (403, "", "Access denied by policy".to_owned()),
            "not let through",
            "network",
        ),
        ((400, "", error("x", "no")), "refused the request (HTTP 400)", "model"),
    ];
    let place = Place::default();
    let app = open(&place).await;
    for provider in ["anthropic", "openai", "gemini", "openai_compatible"] {
        for ((status, header, body), words, remedy) in &faults {
            let (status, header, body) = (*status, *header, body.clone());
            let (url, _) = server(move |_, _| (status, header, body.clone()));
            let key = json!({ "account": provider, "key": KEY, "baseUrl": url });
            call(&app, "key_set", key).await.unwrap();
            let asked = json!({ "provider": provider, "baseUrl": url, "model": "small" });
            let tested = call(&app, "provider_test", asked).await.unwrap();
            let message = tested["message"].as_str().unwrap();
            assert!(
                message.contains(words) && !message.contains("refused the key"),
                "{provider}: {tested}"
            );
            assert_eq!(tested["remedy"], *remedy, "{provider}: {tested}");
        }
    }
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
