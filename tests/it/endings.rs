//! What a person does with a run that ended, or that is at work: accept, guide, raise, pause, continue.

use std::sync::Arc;

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::llm::{AttemptStatus, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::provider::{LlmProvider, Sink};
use contract::run::{RunStatus, StopReason};
use contract::value_ref::Artifact;
use contract::{Hash, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, TOKENS, plan, thought, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

use crate::task_loop::{ANSWER, FILE, PLAN_1, PLAN_2, Ran, run, run_as, run_with, write};

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

/// A run whose first step has asked its model, which waits for leave to answer.
async fn at_work(script: &Arc<Script>, source: &str) -> (Place, App, contract::RunId, Arc<Semaphore>) {
    let (asked, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let model = Patient {
        script: Arc::clone(script),
        asked: Arc::clone(&asked),
        go_on: Arc::clone(&go_on),
    };
    let place = Place::default();
    let config = Config {
        providers: vec![Arc::new(model)],
        people: Some(Answers::new([])),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": source, "folder": place.folder() }))
        .await
        .unwrap();
    let run = contract::RunId::new(started["runId"].as_str().unwrap());
    asked.acquire().await.unwrap().forget();
    (place, app, run, go_on)
}

#[tokio::test]
async fn a_paused_run_finishes_what_is_at_work_and_goes_on_when_it_is_continued() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &["a"])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        ("cycle/1/step/b#0/call/0", Reply::Text("b")),
    ]);
    let (_place, app, run, go_on) = at_work(&script, ANSWER).await;
    call(&app, "run_pause", json!({ "runId": run })).await.unwrap();
    go_on.add_permits(10);
    assert_eq!(app.outcome(&run).await.unwrap(), Outcome::Paused);
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.status(), RunStatus::Paused);
    assert_eq!(script.keys(), [PLAN_1, "cycle/1/step/a#0/call/0"], "nothing else began");
    let listed = call(&app, "run_get", json!({ "runId": run })).await.unwrap();
    assert_eq!(listed["status"], "paused");

    call(&app, "run_continue", json!({ "runId": run })).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
    assert_eq!(script.keys().len(), 4, "what was at work is not asked again");
}

#[tokio::test]
async fn words_for_a_run_at_work_reach_the_next_planner() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let (_place, app, run, go_on) = at_work(&script, FILE).await;
    call(&app, "run_guide", json!({ "runId": run, "words": "Write a file" }))
        .await
        .unwrap();
    go_on.add_permits(10);
    app.outcome(&run).await.unwrap();
    assert!(script.prompt(PLAN_2).contains("The person says: Write a file"));
}

/// A model whose server does not say what it used.
struct Silent(Arc<Script>);

struct WithoutUsage<'a>(&'a dyn Sink);

impl Sink for WithoutUsage<'_> {
    fn delta(&self, delta: contract::llm::Delta) {
        self.0.delta(delta);
    }

    fn attempt(&self, attempt: LlmAttempt) {
        assert_eq!(attempt.status, AttemptStatus::Success);
        self.0.attempt(LlmAttempt { usage: None, ..attempt });
    }
}

#[async_trait]
impl LlmProvider for Silent {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let response = self.0.complete(request, &WithoutUsage(sink)).await?;
        Ok(LlmResponse {
            usage: Default::default(),
            ..response
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn the_budget_binds_when_a_server_does_not_say_what_it_used() {
    let script = Script::new([(PLAN_1, plan(json!([thought("a", &[])])))]);
    let silent = Arc::new(Silent(Arc::clone(&script)));
    let task = format!("{ANSWER}limits: {{ maxTokens: 200 }}\n");
    let ran = run_with(&task, &script, &Answers::new([]), |config| Config {
        providers: vec![silent],
        ..config
    })
    .await;
    assert_eq!(ran.stop_reason(), StopReason::Budget);
    assert!(ran.state.tokens_used > 200);
    assert_eq!(
        ran.state.tokens_estimated, ran.state.tokens_used,
        "every guess is marked as one"
    );
}

async fn priced(model: &str, limits: Value) -> Result<Value, contract::AppError> {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
    ]);
    let place = Place::default();
    let config = Config {
        providers: vec![script],
        people: Some(Answers::new([])),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let mut settings = call(&app, "settings_get", json!({})).await.unwrap();
    // A call reads 10 tokens and writes 5: 0.04 each.
    settings["prices"] = json!({ "currency": "EUR", "models": { model: { "input": 1_000.0, "output": 6_000.0 } } });
    call(&app, "settings_set", settings).await.unwrap();
    let request =
        json!({ "source": ANSWER, "folder": place.folder(), "options": { "limits": limits, "allowHooks": false } });
    let started = call(&app, "run_start", request).await?;
    let run = contract::RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    call(&app, "run_report", json!({ "runId": run })).await
}

#[tokio::test]
async fn a_run_says_what_it_cost() {
    let report = priced("m", json!({})).await.unwrap();
    let cost = report["cost"]["amount"].as_f64().unwrap();
    assert!((cost - 0.12).abs() < 1e-9, "{report}");
    assert_eq!(
        (&report["cost"]["currency"], &report["status"]),
        (&json!("EUR"), &json!("pass"))
    );
    let unknown = priced("another", json!({})).await.unwrap();
    assert_eq!(
        unknown["cost"]["unpriced"],
        json!(["scripted:m"]),
        "what is not known is said"
    );
}

#[tokio::test]
async fn money_ends_a_run_like_tokens_do() {
    let exactly = priced("scripted:m", json!({ "maxCost": 0.12 })).await.unwrap();
    assert_eq!(
        exactly["stopReason"], "passed",
        "exactly the budget is allowed: {exactly}"
    );
    let report = priced("scripted:m", json!({ "maxCost": 0.05 })).await.unwrap();
    assert_eq!(
        (&report["status"], &report["stopReason"]),
        (&json!("terminated"), &json!("budget"))
    );
    assert_eq!(report["feedback"], "Cost budget exceeded: used 0.0800 of 0.05 EUR");
    assert_eq!(
        priced("another", json!({ "maxCost": 1.0 })).await.unwrap_err().code,
        "no_price"
    );
}

#[tokio::test]
async fn what_a_person_wants_for_one_run_goes_before_the_file() {
    let script = Script::new([(PLAN_1, nothing())]);
    let options = json!({ "limits": { "maxCycles": 1, "maxParallel": 1 }, "approval": "never",
        "models": { "planner": "scripted:other" }, "allowHooks": false });
    let ran = run_as(FILE, options, &script, &Answers::new([]), |config| config).await;
    let header = ran.state.header.as_ref().unwrap();
    assert_eq!((ran.state.cycles.len(), header.task.limits.max_parallel), (1, 1));
    assert_eq!(header.roles.planner, "scripted:other");
    assert_eq!(
        ran.state.cycles[0].approved_by,
        Some(contract::event::ApprovedBy::NoApprovalNeeded)
    );
}

#[tokio::test]
async fn a_call_that_was_under_way_when_the_app_ended_may_have_been_billed() {
    const STEP: &str = "cycle/1/step/a#0/call/0";
    let replies = || [(PLAN_1, plan(json!([thought("a", &[])]))), (STEP, Reply::Text("a"))];
    let place = Place::default();
    let open = async |model: Arc<dyn LlmProvider>| {
        let config = Config {
            providers: vec![model],
            people: Some(Answers::new([])),
            ..place.config()
        };
        App::open(config).await.unwrap()
    };
    let asked = Arc::new(Semaphore::new(0));
    let patient = Patient {
        script: Script::new(replies()),
        asked: Arc::clone(&asked),
        go_on: Arc::new(Semaphore::new(0)),
    };
    let app = open(Arc::new(patient)).await;
    let started = call(&app, "run_start", json!({ "source": ANSWER, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    for _ in 0..3 {
        asked.acquire().await.unwrap().forget();
        app.leave(&run).await;
        app.resume(&run).await.unwrap();
    }
    asked.acquire().await.unwrap().forget();
    app.close().await.unwrap();

    let script = Script::new(replies());
    let app = open(Arc::clone(&script) as _).await;
    app.resume(&run).await.unwrap();
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    assert_eq!(script.keys()[0], STEP, "what was paid for is not asked again");
    let attempts = state.calls[STEP].attempts.iter();
    let statuses: Vec<AttemptStatus> = attempts.map(|attempt| attempt.status).collect();
    let interrupted = AttemptStatus::Interrupted;
    assert_eq!(
        statuses,
        [
            interrupted,
            interrupted,
            interrupted,
            interrupted,
            AttemptStatus::Success
        ]
    );
    assert!(state.tokens_estimated > 0);
    assert_eq!(state.tokens_used, 3 * TOKENS + state.tokens_estimated);
    assert_eq!(state.result.unwrap().tokens_used, state.tokens_used);
}

#[tokio::test]
async fn a_limit_of_money_binds_for_every_model_of_a_flow() {
    let flow = json!({ "id": "f", "model": "scripted:m", "steps": [
        { "id": "a", "ask": { "instructions": "Say a." } },
        { "id": "b", "model": "scripted:dear", "ask": { "instructions": "Say b." } },
        { "id": "r", "answer": { "text": "{{b}}" } },
    ] });
    let script = Script::new([
        ("phase/a/1#0/call/0", Reply::Text("a")),
        ("phase/b/1#0/call/0", Reply::Text("b")),
    ]);
    let place = Place::default();
    let config = Config {
        providers: vec![Arc::clone(&script) as _],
        people: Some(Answers::new([])),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let mut settings = call(&app, "settings_get", json!({})).await.unwrap();
    settings["prices"] = json!({ "currency": "EUR", "models": { "m": { "input": 1.0, "output": 6.0 } } });
    call(&app, "settings_set", settings).await.unwrap();
    let header = async || {
        let input = app::FlowInput {
            input: json!("x"),
            ..app::FlowInput::default()
        };
        app.flow_header(&flow, &Default::default(), input, &place.folder(), None)
            .await
    };
    let mut free = header().await.unwrap();
    let mut settings = call(&app, "settings_get", json!({})).await.unwrap();
    settings["limits"]["maxCost"] = json!(1.0);
    call(&app, "settings_set", settings).await.unwrap();
    let refused = header().await.unwrap_err();
    assert!(
        refused.code == "no_price" && refused.message.contains("scripted:dear"),
        "{refused}"
    );

    // Whatever slipped through is stopped before it is asked.
    free.task.limits.max_cost = Some(1.0);
    let run = app.start(free).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Budget, "{}", result.feedback);
    assert!(
        result.feedback.contains("what scripted:dear costs is not known"),
        "{}",
        result.feedback
    );
    assert_eq!(script.keys(), ["phase/a/1#0/call/0"]);
    let raise = json!({ "runId": run, "limits": { "withoutMaxCost": true } });
    call(&app, "run_raise_budget", raise).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed, "{}", result.feedback);
}

#[tokio::test]
async fn limits_that_no_run_can_keep_are_refused() {
    let script = Script::new([(PLAN_1, nothing())]);
    let ran = failed(&script).await;
    for limits in [
        json!({ "maxCycles": 0 }),
        json!({ "maxParallel": 0 }),
        json!({ "maxTokens": 0 }),
        json!({ "maxCost": -1.0 }),
    ] {
        let refused = ran
            .call("run_raise_budget", json!({ "limits": limits }))
            .await
            .unwrap_err();
        assert_eq!(refused.code, "task_invalid", "{limits}");
        let request = json!({ "source": ANSWER, "folder": ran.place.folder(), "options": { "limits": limits } });
        assert_eq!(
            call(&ran.app, "run_start", request).await.unwrap_err().code,
            "task_invalid",
            "{limits}"
        );
    }
    assert_eq!(reopened(&ran).await, 0);
}

/// A journal that notes which entries were written together.
struct Together {
    journal: Arc<dyn Journal>,
    batches: Arc<std::sync::Mutex<Vec<Vec<RunEvent>>>>,
}

#[async_trait]
impl Journal for Together {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let batch = entries.iter().map(|entry| RunEvent::clone(&entry.event)).collect();
        self.batches.lock().unwrap().push(batch);
        self.journal
            .append(run, first_seq, entries, artifacts, durability)
            .await
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal.artifact(hash).await
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
            Arc::new(Together { journal, batches }) as _
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
