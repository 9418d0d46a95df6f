//! What is tried again after a passing error.

use super::*;

/// Fails so often with an error that may pass.
struct Flaky {
    tool: Arc<dyn Tool>,
    left: AtomicUsize,
    calls: AtomicUsize,
}

impl Flaky {
    fn of(name: &str, failures: usize) -> Arc<Around<Self>> {
        Arc::new(Around(Self {
            tool: builtin(name),
            left: AtomicUsize::new(failures),
            calls: AtomicUsize::new(0),
        }))
    }
}

#[async_trait]
impl AroundTool for Flaky {
    fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let fails = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err(ToolError {
                message: "the disk is busy".to_owned(),
                retryable: true,
            });
        }
        self.tool.execute(args, context).await
    }
}

async fn run_flaky(flaky: &Arc<Around<Flaky>>, step: Value) -> Ran {
    let script = Script::new([(PLAN_1, plan(json!([step])))]);
    let place = place_with(&[("a.txt", "x")]);
    let config = Config {
        tools: vec![Arc::clone(flaky) as _],
        ..config(&place, &script)
    };
    start(&format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"), place, config)
        .await
        .end()
        .await
}

#[tokio::test]
async fn a_step_that_changes_nothing_is_repeated_after_a_passing_error() {
    let flaky = Flaky::of("file_read", 1);
    let ran = run_flaky(&flaky, read("a", "a.txt", &[])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done)]);
    assert_eq!(flaky.0.calls.load(Ordering::SeqCst), 2);

    let flaky = Flaky::of("file_read", 9);
    let ran = run_flaky(&flaky, read("a", "a.txt", &[])).await;
    assert_eq!(ran.error("a"), (code::TOOL_FAILED, "the disk is busy"));
    assert_eq!(flaky.0.calls.load(Ordering::SeqCst), 2, "once more and no oftener");
}

#[tokio::test]
async fn a_person_is_asked_about_a_step_once_however_often_it_is_tried() {
    let flaky = Flaky::of("file_read", 1);
    let people = Answers::new([]);
    let place = place_with(&[("a.txt", "x")]);
    let script = Script::new([(PLAN_1, plan(json!([read("a", "a.txt", &[])])))]);
    let config = Config {
        tools: vec![Arc::clone(&flaky) as _],
        people: Some(Arc::clone(&people) as _),
        ..config(&place, &script)
    };
    let app = App::open(config).await.unwrap();
    let task = format!("{ANSWER}limits: {{ maxCycles: 1 }}\nhooks: [{{ askMe: step }}]\n");
    let request = json!({ "source": task, "folder": place.folder(), "options": { "allowHooks": true } });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = contract::RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    assert_eq!(flaky.0.calls.load(Ordering::SeqCst), 2);
    let asked = people.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "the plan, and its step: {asked:?}");
}

#[tokio::test]
async fn a_step_that_changes_something_and_a_models_failure_are_not_repeated() {
    let flaky = Flaky::of("file_write", 1);
    let ran = run_flaky(&flaky, write("a", "x", &[])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    assert_eq!(flaky.0.calls.load(Ordering::SeqCst), 1);

    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers");
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Error(down)),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    assert_eq!(asked(&script, "/step/a"), 1);
}

#[tokio::test]
async fn arguments_that_were_cut_off_are_none() {
    let script = Script::new([
        (PLAN_1, plan(json!([open(write("a", "", &[]))]))),
        ("cycle/1/step/a#0/tool/0/call", Reply::Cut("")),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    assert_eq!(ran.error("a").0, code::TRUNCATED);
}
