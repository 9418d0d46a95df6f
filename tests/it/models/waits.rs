//! A provider that is busy: the wait is seen, and can be cut short.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::json;
use support::{Place, call, wait_for_question};

use super::{TASK, begin, error, keep_server, open, plan, server};

#[tokio::test]
async fn a_wait_is_seen_and_ends_when_a_person_wants_to_try_now() {
    let asked = Arc::new(AtomicUsize::new(0));
    let again = Arc::new(OnceLock::new());
    let (count, came) = (Arc::clone(&asked), Arc::clone(&again));
    let (url, _) = server(move |line, _| match line {
        // What the server says of itself is looked at before the run.
        line if !line.starts_with("POST /v1/chat") => (404, "", String::new()),
        _ if count.fetch_add(1, Ordering::Relaxed) == 0 => {
            (429, "retry-after: 90", error("rate_limit_exceeded", "slow down"))
        }
        _ => {
            came.get_or_init(SystemTime::now);
            (200, "", plan())
        }
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let run = begin(&app, &place, TASK).await.unwrap();
    let until = loop {
        let waits = call(&app, "run_waits", json!({ "runId": run })).await.unwrap();
        if let Some(wait) = waits["waits"].get(0) {
            assert_eq!(wait["account"], "openai_compatible");
            break wait["untilMs"].as_i64().unwrap();
        }
        tokio::task::yield_now().await;
    };
    assert!(until > 90_000);
    call(&app, "run_try_now", json!({ "runId": run })).await.unwrap();
    wait_for_question(&app, &run).await;
    let came = again.get().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(came.as_millis() < until as u128, "it waited all the same");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let waits = call(&app, "run_waits", json!({ "runId": run })).await.unwrap();
    assert_eq!(waits["waits"], json!([]));
}
