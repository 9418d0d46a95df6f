//! What a run costs: the provider's own prices, and a range before it begins.

use serde_json::json;
use support::{Place, call, wait_for_question};

use super::{TASK, begin, keep_server, open, plan, server};

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
