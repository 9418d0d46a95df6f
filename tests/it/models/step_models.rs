//! A step of a plan may name a model of any account that can be asked.

use serde_json::{Value, json};
use support::{Place, call, wait_for_question};

use super::{TASK, begin, keep, keep_server, open, says, server};

/// A plan of one step that thinks with this model.
fn plan_with(model: &str) -> String {
    let step = json!({
        "id": "think", "description": "Think", "tools": [], "expectedOutcome": "a thought", "dependencies": [], "model": model,
    });
    let plan = json!({ "steps": [step], "estimatedTokens": 10, "reasoning": "it is short" });
    says(&json!({ "role": "assistant", "content": plan.to_string() }))
}

#[tokio::test]
async fn a_step_is_done_by_the_model_of_another_account_that_its_plan_names() {
    let (url, _) = server(|_, _| (200, "", plan_with("work:other:8b")));
    let (work, heard) = server(|line, body| match line {
        "GET /v1/models" => (
            200,
            "",
            json!({ "data": [{ "id": "other:8b" }, { "id": "third" }] }).to_string(),
        ),
        _ => {
            assert_eq!(body["model"], "other:8b");
            (
                200,
                "",
                says(&json!({ "role": "assistant", "content": "A thought of the other." })),
            )
        }
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        settings["accounts"] = json!([{ "name": "work", "kind": "openai_compatible", "baseUrl": work }])
    })
    .await;
    call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    let run = begin(&app, &place, TASK).await.unwrap();
    let ask = wait_for_question(&app, &run).await;
    let state = support::state(&app, &run).await;
    let header = state.header.as_ref().unwrap();
    let may: Vec<&str> = header.models.iter().map(String::as_str).collect();
    assert!(may.contains(&"work:other:8b") && may.contains(&"work:third"), "{may:?}");
    // An account without its key is nobody's to name.
    assert!(!may.iter().any(|model| model.starts_with("anthropic:")), "{may:?}");

    // A person who edits the plan may name another one, and one that no account has is refused on its step.
    let mut plan = serde_json::to_value(&state.cycles[0].plan).unwrap();
    let checked = async |plan: &Value| {
        let request = json!({ "runId": run, "plan": plan });
        call(&app, "run_check_plan", request).await.unwrap()["problems"].clone()
    };
    plan["steps"][0]["model"] = json!("work:third");
    assert_eq!(checked(&plan).await, json!([]));
    plan["steps"][0]["model"] = json!("work:nobody");
    assert!(checked(&plan).await.to_string().contains("unknown model"));

    let answer = json!({ "runId": run, "key": ask.key, "answer": { "kind": "approve", "revisions": false } });
    call(&app, "run_answer", answer).await.unwrap();
    app.outcome(&run).await.unwrap();
    let state = support::state(&app, &run).await;
    let done = &state.cycles[0].steps["think"];
    assert!(done.status.is_success(), "{:?}", done.error);
    assert!(
        heard
            .lock()
            .unwrap()
            .iter()
            .any(|head| head.starts_with("POST /v1/chat/completions"))
    );
}

#[tokio::test]
async fn with_a_limit_of_money_a_step_may_only_name_models_whose_price_is_known() {
    let (url, _) = server(|_, _| (200, "", plan_with("work:priced")));
    let (work, _) = server(|_, _| {
        let pricing = json!({ "prompt": "0.00001", "completion": "0.0001" });
        let models = json!({ "data": [{ "id": "priced", "pricing": pricing }, { "id": "free" }] });
        (200, "", models.to_string())
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        settings["accounts"] = json!([{ "name": "work", "kind": "openai_compatible", "baseUrl": work }]);
        settings["prices"] = json!({ "currency": "USD", "models": { "small": { "input": 1, "output": 2 } } });
    })
    .await;
    call(&app, "models_list", json!({ "refresh": true })).await.unwrap();
    let limited = TASK.replace("maxCycles: 1", "maxCycles: 1, maxCost: 5");
    let run = begin(&app, &place, &limited).await.unwrap();
    let state = support::state(&app, &run).await;
    let header = state.header.as_ref().unwrap();
    assert!(
        header.models.iter().any(|model| model == "work:priced"),
        "{:?}",
        header.models
    );
    assert!(
        !header.models.iter().any(|model| model == "work:free"),
        "{:?}",
        header.models
    );
    assert!(header.prices.of("work:priced").is_some());
}
