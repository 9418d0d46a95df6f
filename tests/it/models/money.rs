//! What a run costs: the provider's own prices, and a range before it begins.

use contract::run::StopReason;
use serde_json::json;
use support::{Place, call, wait_for_question};

use super::{TASK, begin, keep, keep_server, open, plan, server};

#[tokio::test]
async fn what_a_broker_lists_as_its_prices_is_what_a_run_is_reckoned_with() {
    let (url, _) = server(|line, _| match line {
        "GET /v1/models" => {
            let pricing = json!({ "prompt": "0.00001", "completion": "0.0001" });
            (
                200,
                "",
                json!({ "data": [{ "id": "small", "pricing": pricing }] }).to_string(),
            )
        }
        _ => (200, "", plan()),
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    // Nothing is known yet.
    let limited = TASK.replace("maxCycles: 1", "maxCycles: 1, maxCost: 5");
    assert_eq!(begin(&app, &place, &limited).await.unwrap_err().code, "no_price");
    call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    let run = begin(&app, &place, &limited).await.unwrap();
    wait_for_question(&app, &run).await;
    let state = support::state(&app, &run).await;
    assert!(
        (state.cost.amount - 0.02).abs() < 1e-9 && state.cost.currency == "USD",
        "{:?}",
        state.cost
    );
    let planning = state.cost_of(|call| call.cycle == 1 && call.step.is_none());
    assert_eq!(planning, state.cost);
    assert!(state.cost_of(|call| call.cycle == 2).currency.is_empty());
    let estimate = call(&app, "run_estimate", json!({ "runId": run })).await.unwrap();
    let cost = &estimate["cycle"]["cost"];
    assert!(
        cost["low"].as_f64().unwrap() > 0.0 && cost["currency"] == "USD",
        "{estimate}"
    );
    assert!(cost["low"].as_f64() < cost["high"].as_f64(), "{estimate}");
    assert_eq!(estimate["pastRuns"], 0);
}

/// The history of a task is its runs that came to a verdict. Those that a person stopped, or whose plan was refused, say
/// nothing about what a run takes.
#[tokio::test]
async fn an_estimate_rests_on_the_runs_that_came_to_a_verdict() {
    let (url, _) = server(|_, _| (200, "", plan()));
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        let price = json!({ "input": 4, "output": 20 });
        settings["prices"] = json!({ "currency": "USD", "models": { "small": price } });
    })
    .await;
    let task = TASK.replace(
        "A greeting",
        "A greeting, criteria: [{ text: It greets, check: { contains: hello } }]",
    );
    let proposed = async || {
        let run = begin(&app, &place, &task).await.unwrap();
        let question = wait_for_question(&app, &run).await;
        (run, question)
    };
    let estimate = async |run| call(&app, "run_estimate", json!({ "runId": run })).await.unwrap();
    let (refused, question) = proposed().await;
    let answer = json!({ "kind": "reject", "reason": null });
    let request = json!({ "runId": refused, "key": question.key, "answer": answer });
    call(&app, "run_answer", request).await.unwrap();
    app.outcome(&refused).await.unwrap();
    let (whole, question) = proposed().await;
    assert_eq!(estimate(&whole).await["pastRuns"], 0);
    support::approve(&app, &whole, &question.key).await.unwrap();
    app.outcome(&whole).await.unwrap();
    let state = support::state(&app, &whole).await;
    // Its judge says nothing that could be read: that is a verdict too.
    assert_eq!(state.result.unwrap().stop_reason, StopReason::MaxCycles);
    let (stopped, _) = proposed().await;
    call(&app, "run_stop", json!({ "runId": stopped })).await.unwrap();
    app.outcome(&stopped).await.unwrap();
    let (next, _) = proposed().await;
    let estimate = estimate(&next).await;
    assert_eq!(estimate["pastRuns"], 1, "{estimate}");
    for part in ["cycle", "run"] {
        let is_range = |range: &serde_json::Value| range["low"].as_f64().unwrap() < range["high"].as_f64().unwrap();
        assert!(
            is_range(&estimate[part]["tokens"]) && is_range(&estimate[part]["cost"]),
            "{estimate}"
        );
    }
    // Three quarters to one and a half of the one that there is.
    let used = state.tokens_used;
    assert_eq!(
        estimate["cycle"]["tokens"],
        json!({ "low": used - used / 4, "high": used + used / 2 })
    );
    // Money as it was really paid, and not as the plan alone would have it.
    let rate = state.cost.amount / used as f64;
    let low = estimate["cycle"]["cost"]["low"].as_f64().unwrap();
    assert!((low - rate * (used - used / 4) as f64).abs() < 1e-9, "{estimate}");
}
