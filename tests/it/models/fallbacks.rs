//! A model that does not answer, and the one that a person set in its place; and how much each role is told to think.

use std::sync::{Arc, Mutex};

use app::{App, Outcome};
use contract::RunId;
use contract::event::RunEvent;
use contract::llm::{Effort, LlmAttempt, LlmErrorCode};
use contract::run::{RunResult, RunStatus, StopReason};
use serde_json::{Value, json};
use support::{Place, call, wait_for_question};

use super::{Heard, KEY, Said, TASK, begin, error, keep, keep_server, open, plan, says, server};

const JUDGED: &str = "\
goal: Say hello in a file
context: {}
expectedOutput: [{ path: out.txt, description: A greeting, criteria: [{ text: c, check: { contains: hello } }] }]
limits: { maxCycles: 1 }
";

/// A server that plans, and passes whatever it is asked to judge.
fn works() -> (String, Heard) {
    server(|_, body| (200, "", answer(body)))
}

fn answer(body: &Value) -> String {
    if body["response_format"]["json_schema"]["name"] != "judgement" {
        return plan();
    }
    let verdict = json!({ "verdict": "pass", "confidence": 1, "summary": "It says hello.", "criteria": [
        { "id": "goal", "verdict": "pass", "evidence": "hello" },
    ] });
    says(&json!({ "role": "assistant", "content": verdict.to_string() }))
}

fn asked(heard: &Heard) -> usize {
    let heard = heard.lock().unwrap();
    heard.iter().filter(|head| head.starts_with("POST /v1/chat")).count()
}

/// An app whose own server is `first`, with `spare` in its place when it does not answer.
async fn with_spare(place: &Place, first: &str, spare: &str) -> App {
    let app = open(place).await;
    keep_server(&app, first).await;
    keep(&app, |settings| {
        settings["accounts"] = json!([{ "name": "spare", "kind": "openai_compatible", "baseUrl": spare }]);
        settings["fallbacks"] = json!({ "accounts": { "openai_compatible": "spare:other" } });
    })
    .await;
    app
}

async fn attempts(app: &App, run: &RunId) -> Vec<LlmAttempt> {
    let page = call(app, "run_events", json!({ "runId": run, "fromSeq": 1, "limit": 500 }))
        .await
        .unwrap();
    let events = page["events"].as_array().unwrap().iter();
    let events = events.map(|record| serde_json::from_value(record["event"].clone()).unwrap());
    let attempt = |event| match event {
        RunEvent::ModelAttempted { attempt } => Some(attempt),
        _ => None,
    };
    events.filter_map(attempt).collect()
}

async fn to_its_end(app: &App, run: &RunId) -> RunResult {
    tokio::select! {
        question = wait_for_question(app, run) => { support::approve(app, run, &question.key).await.unwrap(); }
        _ = app.outcome(run) => {}
    }
    match app.outcome(run).await.unwrap() {
        Outcome::Finished(result) => result,
        other => panic!("the run has no end: {other:?}"),
    }
}

#[tokio::test]
async fn a_fallback_answers_for_an_account_without_credit_and_the_journal_says_which_and_why() {
    let (first, heard_first) = server(|_, _| (402, "", error("x", "Insufficient credits")));
    let (spare, heard_spare) = works();
    let place = Place::default();
    let app = with_spare(&place, &first, &spare).await;
    let run = begin(&app, &place, JUDGED).await.unwrap();
    let result = to_its_end(&app, &run).await;
    assert_eq!(result.status, RunStatus::Pass, "{}", result.feedback);
    let attempts = attempts(&app, &run).await;
    let told: Vec<_> = attempts
        .iter()
        .map(|attempt| (attempt.error.is_some(), attempt.asked("openai_compatible:small")))
        .collect();
    // Asked once, and then left alone for a while.
    let spare = (false, "spare:other");
    assert_eq!(told, [(true, "openai_compatible:small"), spare, spare]);
    assert_eq!((asked(&heard_first), asked(&heard_spare)), (1, 2));
    for attempt in &attempts[1..] {
        let instead = attempt.instead.as_ref().unwrap();
        assert_eq!(instead.code, LlmErrorCode::InvalidRequest);
        assert!(instead.because.contains("is used up"), "{instead:?}");
    }
    // A replay asks nobody, and comes to the same.
    let replayed = app.replay(&run).await.unwrap();
    assert!(replayed.same, "{}", replayed.feedback);
    assert_eq!((asked(&heard_first), asked(&heard_spare)), (1, 2));
}

#[tokio::test]
async fn what_a_fallback_used_is_paid_at_its_own_price() {
    let (first, _) = server(|_, _| (402, "", error("x", "Insufficient credits")));
    let (spare, _) = works();
    let place = Place::default();
    let app = with_spare(&place, &first, &spare).await;
    let limited = TASK.replace("maxCycles: 1", "maxCycles: 1, maxCost: 5");
    let price = |input: f64| json!({ "input": input, "output": 0 });
    keep(&app, |settings| {
        settings["prices"] = json!({ "currency": "USD", "models": { "openai_compatible:small": price(1.0) } });
    })
    .await;
    // Whoever may be asked must have a price, or the budget could not bind.
    let refused = begin(&app, &place, &limited).await.unwrap_err();
    assert!(
        refused.code == "no_price" && refused.message.contains("spare:other"),
        "{refused}"
    );
    keep(&app, |settings| {
        settings["prices"]["models"]["spare:other"] = price(100.0)
    })
    .await;
    let run = begin(&app, &place, &limited).await.unwrap();
    wait_for_question(&app, &run).await;
    let state = support::state(&app, &run).await;
    assert!((state.cost.amount - 0.1).abs() < 1e-9, "{:?}", state.cost);
    // The estimate allows for the dearer of the two.
    let estimate = call(&app, "run_estimate", json!({ "runId": run })).await.unwrap();
    let cost = &estimate["cycle"]["cost"];
    assert!(
        cost["high"].as_f64().unwrap() > 20.0 * cost["low"].as_f64().unwrap(),
        "{estimate}"
    );
}

#[tokio::test]
async fn no_fallback_is_asked_where_a_person_has_something_to_mend_or_the_model_declined() {
    let declined = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "small", "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "" }, "finish_reason": "content_filter" }],
    });
    let refusals: [Said; 4] = [
        (401, "", error("invalid_api_key", "bad key")),
        (400, "", error("context_length_exceeded", "long")),
        (400, "", error("invalid_request_error", "no")),
        (200, "", declined.to_string()),
    ];
    for said in refusals {
        let shown = format!("{said:?}");
        let (first, _) = server(move |_, _| said.clone());
        let (spare, heard_spare) = works();
        let place = Place::default();
        let app = with_spare(&place, &first, &spare).await;
        let key = json!({ "account": "openai_compatible", "key": KEY, "baseUrl": first });
        call(&app, "key_set", key).await.unwrap();
        let run = begin(&app, &place, TASK).await.unwrap();
        let result = to_its_end(&app, &run).await;
        assert_eq!(result.status, RunStatus::Fail, "{shown}");
        assert_eq!(asked(&heard_spare), 0, "{shown}");
    }
}

#[tokio::test]
async fn when_neither_answers_both_are_named() {
    let broke = || server(|_, _| (402, "", error("x", "Insufficient credits")));
    let ((first, _), (spare, heard_spare)) = (broke(), broke());
    let place = Place::default();
    let app = with_spare(&place, &first, &spare).await;
    let run = begin(&app, &place, TASK).await.unwrap();
    let result = to_its_end(&app, &run).await;
    assert_eq!(result.stop_reason, StopReason::Error);
    for words in ["openai_compatible:small did not answer", "its fallback spare:other"] {
        assert!(result.feedback.contains(words), "{}", result.feedback);
    }
    assert_eq!(asked(&heard_spare), 1);
}

#[tokio::test]
async fn without_a_fallback_of_a_person_none_is_asked() {
    let (first, _) = server(|_, _| (402, "", error("x", "Insufficient credits")));
    let (spare, heard_spare) = works();
    let place = Place::default();
    let app = with_spare(&place, &first, &spare).await;
    keep(&app, |settings| settings["fallbacks"] = json!({})).await;
    let run = begin(&app, &place, TASK).await.unwrap();
    assert_eq!(to_its_end(&app, &run).await.status, RunStatus::Fail);
    assert_eq!(asked(&heard_spare), 0);
}

#[tokio::test]
async fn a_fallback_that_could_not_do_it_is_said_before_the_run() {
    let (first, _) = works();
    let place = Place::default();
    let app = with_spare(&place, &first, &first).await;
    keep(&app, |settings| {
        settings["overrides"] = json!({ "spare:other": { "tools": false } })
    })
    .await;
    let refused = begin(&app, &place, TASK).await.unwrap_err();
    assert!(
        refused.code == "model_unfit" && refused.message.contains("spare:other"),
        "{refused}"
    );
    let mut settings = call(&app, "settings_get", Value::Null).await.unwrap();
    settings["fallbacks"] = json!({ "roles": { "judge": "nobody:m" }, "accounts": { "spare": "small" } });
    let refused = call(&app, "settings_set", settings).await.unwrap_err();
    let paths: Vec<&str> = refused.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["fallbacks.roles.judge", "fallbacks.accounts.spare"]);
}

#[tokio::test]
async fn each_role_thinks_as_much_as_was_set_and_the_task_wins() {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&bodies);
    let (url, _) = server(move |line, body| {
        if line.starts_with("POST /v1/chat") {
            noted.lock().unwrap().push(body["reasoning_effort"].clone());
        }
        (200, "", answer(body))
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        settings["models"]["reasoning"] = json!({ "planner": "low", "judge": "medium" });
    })
    .await;
    let task = format!("{JUDGED}models: {{ reasoning: {{ planner: high }} }}\n");
    let run = begin(&app, &place, &task).await.unwrap();
    assert_eq!(to_its_end(&app, &run).await.status, RunStatus::Pass);
    assert_eq!(*bodies.lock().unwrap(), [json!("high"), json!("medium")]);
    let told: Vec<_> = attempts(&app, &run)
        .await
        .iter()
        .map(|attempt| attempt.effort)
        .collect();
    assert_eq!(told, [Some(Effort::High), Some(Effort::Medium)]);
}

#[tokio::test]
async fn a_model_that_cannot_be_told_how_much_to_think_is_asked_without_it() {
    let (url, heard) = server(|_, body| match body.get("reasoning_effort") {
        Some(_) => (
            400,
            "",
            error("invalid_request_error", "\"small\" does not support thinking"),
        ),
        None => (200, "", answer(body)),
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    keep(&app, |settings| {
        settings["models"]["reasoning"] = json!({ "planner": "high", "judge": "high" });
    })
    .await;
    let run = begin(&app, &place, JUDGED).await.unwrap();
    assert_eq!(to_its_end(&app, &run).await.status, RunStatus::Pass);
    let told: Vec<_> = attempts(&app, &run)
        .await
        .iter()
        .map(|attempt| attempt.effort)
        .collect();
    // Remembered: the judge is not asked in vain.
    assert_eq!(told, [Some(Effort::High), None, None]);
    assert_eq!(asked(&heard), 3);
}

#[tokio::test]
async fn a_task_that_asks_for_a_word_that_nobody_has_is_told_which_there_are() {
    let place = Place::default();
    let app = open(&place).await;
    let task = format!("{TASK}models: {{ reasoning: {{ planner: enormous }} }}\n");
    let refused = begin(&app, &place, &task).await.unwrap_err();
    assert_eq!(refused.problems[0].path, "models.reasoning.planner");
    assert_eq!(refused.problems[0].message, "write low, medium or high");
}
