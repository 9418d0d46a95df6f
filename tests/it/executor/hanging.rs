//! Tools that do not end in their time.

use super::*;

/// All time passes at once.
struct NoTime;

#[async_trait]
impl Clock for NoTime {
    fn now_ms(&self) -> i64 {
        0
    }

    async fn sleep(&self, _duration: Duration) {}
}

/// Never ends.
struct Hanging(Arc<dyn Tool>);

#[async_trait]
impl AroundTool for Hanging {
    fn tool(&self) -> &dyn Tool {
        &*self.0
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        std::future::pending().await
    }
}

async fn run_hanging(name: &str, step: Value, answers: &[Answer]) -> (Ran, Arc<Answers>) {
    let script = Script::new([(PLAN_1, plan(json!([step])))]);
    let place = place_with(&[("a.txt", "x")]);
    let first = [Answer::Approve { revisions: false }];
    let people = Answers::new(first.into_iter().chain(answers.iter().cloned()));
    let config = Config {
        tools: vec![Arc::new(Around(Hanging(builtin(name))))],
        people: Some(Arc::clone(&people) as _),
        clock: Some(Arc::new(NoTime)),
        ..config(&place, &script)
    };
    let ran = start(&format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"), place, config)
        .await
        .end()
        .await;
    (ran, people)
}

fn uncertain(people: &Mutex<Vec<Ask>>) -> usize {
    let asked = people.lock().unwrap();
    asked
        .iter()
        .filter(|ask| matches!(ask, Ask::UncertainEffect { .. }))
        .count()
}

#[tokio::test]
async fn a_change_that_does_not_end_in_its_time_is_a_persons_to_decide() {
    let (ran, people) = run_hanging("file_write", write("a", "x", &[]), &[Answer::MarkDone]).await;
    assert_eq!(
        (ran.statuses(0), uncertain(&people.asked)),
        (vec![("a", StepStatus::Done)], 1)
    );

    let again = [Answer::RunAgain, Answer::StopRun];
    let (ran, people) = run_hanging("file_write", write("a", "x", &[]), &again).await;
    assert_eq!(
        (ran.stop_reason(), uncertain(&people.asked)),
        (StopReason::Cancelled, 2)
    );
}

#[tokio::test]
async fn a_reading_that_does_not_end_in_its_time_has_failed() {
    let (ran, people) = run_hanging("file_read", read("a", "a.txt", &[]), &[]).await;
    assert_eq!((ran.error("a").0, uncertain(&people.asked)), (code::TOOL_TIMEOUT, 0));
    let opened = ran.events().await;
    let attempts = opened
        .iter()
        .filter(|record| matches!(record.event, RunEvent::AttemptOpened { .. }));
    assert_eq!(attempts.count(), 1, "it was tried once more");
}
