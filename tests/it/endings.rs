//! What a person does with a run that ended, or that is at work: accept, guide, raise, pause, continue.

mod at_work;
mod spending;

use std::sync::Arc;

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::RunId;
use contract::event::RunEvent;
use contract::llm::{AttemptStatus, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::journal::{Journal, JournalError};
use contract::ports::provider::{LlmProvider, Sink};
use contract::run::{RunStatus, StopReason};
use serde_json::{Value, json};
use support::around::{Append, Around, AroundJournal};
use support::script::{Answers, Reply, Script, TOKENS, plan, thought, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

use crate::task_loop::{ANSWER, FILE, PLAN_1, PLAN_2, Ran, run, run_as, run_with, write};

/// A model that waits for a word before each answer of a step.
struct Patient {
    script: Arc<Script>,
    asked: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl LlmProvider for Patient {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        if request.key.as_str().contains("/step/") {
            self.asked.add_permits(1);
            self.go_on.acquire().await.unwrap().forget();
        }
        self.script.complete(request, sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

fn nothing() -> Reply {
    plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]))
}

async fn failed(script: &Arc<Script>) -> Ran {
    let ran = run(&FILE.replace("maxCycles: 2", "maxCycles: 1"), script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::MaxCycles);
    ran
}

async fn reopened(ran: &Ran) -> usize {
    let events = ran.events().await;
    events
        .iter()
        .filter(|record| matches!(record.event, RunEvent::RunReopened { .. }))
        .count()
}

#[tokio::test]
async fn results_are_accepted_as_they_are_and_the_verdict_stays() {
    let script = Script::new([(PLAN_1, nothing())]);
    let ran = failed(&script).await;
    ran.call("run_accept", json!({ "words": "Good enough for me" }))
        .await
        .unwrap();
    let ran = Ran {
        state: ran.app.state(&ran.run).await.unwrap(),
        ..ran
    };
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Pass, StopReason::Accepted)
    );
    assert_eq!(ran.feedback(), "Good enough for me");
    let cycle = &ran.state.cycles[0];
    assert_eq!(json!(cycle.evaluation.as_ref().unwrap().verdict), json!("fail"));
    assert_eq!(cycle.changed_verdict.as_ref().unwrap().by, ["person"]);
    assert_eq!(reopened(&ran).await, 1);
    let listed = call(&ran.app, "run_list", json!({ "limit": 5, "status": ["pass"] }))
        .await
        .unwrap();
    assert_eq!(listed["runs"][0]["stopReason"], "accepted");
    assert_eq!(
        ran.call("run_accept", json!({})).await.unwrap_err().code,
        "nothing_to_accept"
    );
}

#[tokio::test]
async fn one_more_cycle_with_a_persons_words() {
    let script = Script::new([(PLAN_1, nothing()), (PLAN_2, plan(json!([write("a", "x", &[])])))]);
    let ran = failed(&script).await;
    assert_eq!(
        ran.call("run_guide", json!({ "words": " " })).await.unwrap_err().code,
        "no_words"
    );
    ran.call("run_guide", json!({ "words": "Just write the file" }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told = script.prompt(PLAN_2);
    assert!(
        told.contains("The person says: Just write the file") && told.contains("out.txt"),
        "{told}"
    );
    assert_eq!((reopened(&ran).await, ran.state.cycles.len()), (1, 2));
    assert_eq!(ran.state.guidance, ["Just write the file"]);
}

#[tokio::test]
async fn a_rejected_plan_and_no_progress_go_on_with_words() {
    let script = Script::new([
        (PLAN_1, nothing()),
        (PLAN_2, nothing()),
        ("cycle/3/plan#0/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 5"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!(ran.stop_reason(), StopReason::NoProgress);
    ran.call("run_guide", json!({ "words": "Use file_write" }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(
        (ran.stop_reason(), ran.state.cycles.len()),
        (StopReason::Passed, 3),
        "{}",
        ran.feedback()
    );

    let script = Script::new([(PLAN_1, nothing()), (PLAN_2, plan(json!([write("a", "x", &[])])))]);
    let people = Answers::new([contract::person::Answer::Reject { reason: None }]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    ran.call("run_guide", json!({ "words": "Write it" })).await.unwrap();
    assert_eq!(ran.again().await.stop_reason(), StopReason::Passed);
}

#[tokio::test]
async fn a_raised_budget_goes_on_where_the_run_stopped() {
    let steps = json!([thought("a", &[]), thought("b", &["a"]), thought("c", &["b"])]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        ("cycle/1/step/b#0/call/0", Reply::Text("b")),
        ("cycle/1/step/c#0/call/0", Reply::Text("c")),
    ]);
    let task = format!("{ANSWER}limits: {{ maxTokens: {} }}\n", 2 * TOKENS);
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Budget);
    assert_eq!(
        ran.call("run_guide", json!({ "words": "go on" }))
            .await
            .unwrap_err()
            .code,
        "no_budget"
    );
    ran.call("run_raise_budget", json!({ "limits": { "maxTokens": 1_000 } }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let keys = script.keys();
    let mut once = keys.clone();
    once.sort();
    once.dedup();
    assert_eq!(
        keys.len(),
        once.len(),
        "nothing that was paid for is asked again: {keys:?}"
    );
    assert_eq!(ran.state.header.as_ref().unwrap().envelope.max_tokens, 1_000);
    use contract::step::StepStatus::Done;
    assert_eq!(ran.statuses(0), [("a", Done), ("b", Done), ("c", Done)]);
}

/// A journal that notes which entries were written together.
struct Together {
    journal: Arc<dyn Journal>,
    batches: Arc<std::sync::Mutex<Vec<Vec<RunEvent>>>>,
}

#[async_trait]
impl AroundJournal for Together {
    fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        let batch = append
            .entries
            .iter()
            .map(|entry| RunEvent::clone(&entry.event))
            .collect();
        self.batches.lock().unwrap().push(batch);
        append.to(self.journal(), run).await
    }
}

#[tokio::test]
async fn a_run_never_goes_on_without_the_words_that_it_goes_on_for() {
    let script = Script::new([(PLAN_1, nothing()), (PLAN_2, plan(json!([write("a", "x", &[])])))]);
    let batches: Arc<std::sync::Mutex<Vec<Vec<RunEvent>>>> = Arc::default();
    let kept = Arc::clone(&batches);
    let one_cycle = FILE.replace("maxCycles: 2", "maxCycles: 1");
    let ran = run_with(&one_cycle, &script, &Answers::new([]), |config| Config {
        journal: Some(Box::new(move |journal| {
            let batches = Arc::clone(&kept);
            Arc::new(Around(Together { journal, batches })) as _
        })),
        ..config
    })
    .await;
    ran.call("run_guide", json!({ "words": "Write" })).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let batches = batches.lock().unwrap();
    let reopening = batches
        .iter()
        .find(|batch| batch.iter().any(|event| matches!(event, RunEvent::RunReopened { .. })));
    let words = |event: &RunEvent| matches!(event, RunEvent::GuidanceGiven { .. });
    assert!(reopening.unwrap().iter().any(words), "{reopening:?}");
}
