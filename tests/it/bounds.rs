//! How much models are sent: counted, never timed (quality page, P10).

use std::sync::{Arc, Mutex};

use app::{App, Config};
use contract::RunId;
use contract::llm::LlmRequest;
use serde_json::{Value, json};
use support::script::{Answers, thought, tool};
use support::{Place, Scripted, call};

/// The characters of everything that a request says.
fn characters(request: &LlmRequest) -> usize {
    let messages = serde_json::to_string(&request.messages).unwrap().len();
    let tools: usize = request.tools.iter().map(|tool| tool.parameters.to_string().len()).sum();
    request.system.len() + messages + tools
}

fn answer(request: &LlmRequest, plan: &Value) -> Value {
    let key = request.key.as_str();
    if key.contains("/plan#") {
        return plan.clone();
    }
    if key.contains("/judge#") {
        let pass = !key.starts_with("cycle/1/");
        let verdict = if pass { "pass" } else { "fail" };
        // Quoted from the file, whatever the file is.
        return json!({ "verdict": verdict, "confidence": 1, "feedback": "Name every month.", "summary": "Done.",
            "criteria": [{ "id": "goal", "verdict": verdict, "evidence": "the report" },
                         { "id": "report.md/0", "verdict": verdict, "evidence": "the report" }] });
    }
    json!("some words about it")
}

/// Characters sent in each cycle of a run with this plan.
async fn sent(plan: Value, files: &[(&str, String)]) -> [usize; 2] {
    let place = Place::default();
    for (name, text) in files {
        std::fs::write(place.work().join(name), text).unwrap();
    }
    let counted = Arc::new(Mutex::new([0_usize; 2]));
    let counting = Arc::clone(&counted);
    let model = Scripted(move |request: &LlmRequest| {
        let cycle = usize::from(request.key.as_str().starts_with("cycle/2/"));
        counting.lock().unwrap()[cycle] += characters(request);
        answer(request, &plan)
    });
    let config = Config {
        providers: vec![Arc::new(model)],
        people: Some(Answers::new([])),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let task = "goal: Write a report\ncontext: {}\nexpectedOutput: [{ path: report.md, description: the report }]\n\
        limits: { maxCycles: 2, maxTokens: 100000000 }\nmodels: { planner: 'scripted:m' }\n";
    let started = call(&app, "run_start", json!({ "source": task, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.cycles.len(), 2, "{:?}", state.result);
    *counted.lock().unwrap()
}

fn plan(steps: Vec<Value>) -> Value {
    json!({ "reasoning": "Because.", "estimatedTokens": 1, "steps": steps })
}

#[tokio::test]
async fn two_large_tables_and_six_steps_stay_within_the_budget_of_characters() {
    let row = |n: usize| {
        format!(
            "2026-{:02}-{:02},Travel,{}.50,a ticket to somewhere\n",
            n % 12 + 1,
            n % 28 + 1,
            n
        )
    };
    let table = "date,category,amount,note\n".to_owned() + &(0..1_300).map(row).collect::<String>();
    assert!(table.len() > 55_000, "{}", table.len());
    let read = |id, path| tool(id, "file_read", json!({ "path": path }), &[]);
    let content = json!({ "path": "report.md", "content": "the report\n{{think_c}}\n{{one}}" });
    let steps = vec![
        read("one", "one.csv"),
        read("two", "two.csv"),
        thought("think_a", &["one"]),
        thought("think_b", &["two"]),
        thought("think_c", &["one", "two", "think_a", "think_b"]),
        tool("write", "file_write", content, &["think_c", "one"]),
    ];
    let cycles = sent(plan(steps), &[("one.csv", table.clone()), ("two.csv", table)]).await;
    assert!(cycles.iter().sum::<usize>() <= 225_000, "{cycles:?}");
}

async fn second_cycle(count: usize) -> usize {
    let mut steps: Vec<Value> = (1..count).map(|n| thought(&format!("s{n}"), &[])).collect();
    steps.push(tool(
        "w",
        "file_write",
        json!({ "path": "report.md", "content": "the report" }),
        &[],
    ));
    sent(plan(steps), &[]).await[1]
}

#[tokio::test]
async fn what_a_second_cycle_sends_grows_with_the_plan_and_not_with_its_square() {
    let (small, large) = (second_cycle(60).await, second_cycle(240).await);
    assert!(large < small * 5, "{small} characters for 60 steps, {large} for 240");
}
