//! What a run may use, what it costs, and what ends it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::people::People;

use super::*;

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

/// A clock that goes on only when it is told to.
#[derive(Default)]
struct Told(AtomicI64);

impl Told {
    fn pass(&self, minutes: i64) {
        self.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for Told {
    fn now_ms(&self) -> i64 {
        1_790_000_000_000 + self.0.load(Ordering::SeqCst)
    }

    async fn sleep(&self, _duration: Duration) {
        std::future::pending().await
    }
}

/// A model that takes two minutes for each answer.
struct Slow(Arc<Script>, Arc<Told>);

#[async_trait]
impl LlmProvider for Slow {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.1.pass(2);
        self.0.complete(request, sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

/// A person who approves everything after an hour.
struct Hesitant(Arc<Told>, Mutex<Vec<Ask>>);

#[async_trait]
impl People for Hesitant {
    async fn answer(&self, _run: &RunId, _key: &contract::Key, ask: &Ask) -> Option<Answer> {
        self.0.pass(60);
        self.1.lock().unwrap().push(ask.clone());
        Some(Answer::Approve { revisions: false })
    }
}

/// A run of two calls and a judgement, six minutes in all, that may be at work for so long.
async fn timed(minutes: u32) -> (Ran, Arc<Script>, Vec<Ask>) {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
    ]);
    let clock = Arc::new(Told::default());
    let person = Arc::new(Hesitant(Arc::clone(&clock), Mutex::default()));
    let task = format!("{ANSWER}limits: {{ maxMinutes: {minutes} }}\n");
    let ran = run_with(&task, &script, &Answers::new([]), |config| Config {
        providers: vec![Arc::new(Slow(Arc::clone(&script), Arc::clone(&clock)))],
        people: Some(Arc::clone(&person) as _),
        clock: Some(clock),
        ..config
    })
    .await;
    let asked = person.1.lock().unwrap().clone();
    (ran, script, asked)
}

#[tokio::test]
async fn time_ends_a_run_like_tokens_do_and_waiting_for_a_person_is_none() {
    let (ran, _, asked) = timed(6).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let Ask::ApprovePlan { envelope, .. } = &asked[0] else {
        panic!("{asked:?}")
    };
    assert_eq!(envelope.max_minutes, Some(6), "a person sees it with the plan");
    let (ran, script, _) = timed(3).await;
    assert_eq!(ran.stop_reason(), StopReason::Budget);
    assert_eq!(ran.feedback(), "Time budget exceeded: at work for more than 3 minutes");
    assert_eq!(
        script.keys(),
        [PLAN_1, "cycle/1/step/a#0/call/0"],
        "nobody was asked any more"
    );
}

#[tokio::test]
async fn a_run_that_used_up_its_time_goes_on_with_more() {
    let (ran, _, _) = timed(3).await;
    ran.call("run_raise_budget", json!({ "limits": { "maxMinutes": 4 } }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Budget, "what it worked before counts");
    ran.call("run_raise_budget", json!({ "limits": { "withoutMaxMinutes": true } }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
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
        json!({ "maxMinutes": 0 }),
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
