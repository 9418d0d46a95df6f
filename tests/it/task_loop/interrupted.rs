//! Runs that are cut off or stopped in the middle of a change.

use super::*;

/// A disk that is full when this is to be written, once.
struct FullOnce {
    journal: Arc<dyn Journal>,
    armed: Arc<Mutex<bool>>,
    at: fn(&RunEvent) -> bool,
}

pub(crate) fn full_once(config: Config, at: fn(&RunEvent) -> bool) -> Config {
    let armed = Arc::new(Mutex::new(true));
    let before = config.journal;
    let journal = move |journal| -> Arc<dyn Journal> {
        let journal = before.as_ref().map_or(Arc::clone(&journal), |before| before(journal));
        let armed = Arc::clone(&armed);
        Arc::new(Around(FullOnce { journal, armed, at }))
    };
    Config {
        journal: Some(Box::new(journal)),
        ..config
    }
}

#[async_trait]
impl AroundJournal for FullOnce {
    fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        let here = append.entries.iter().any(|entry| (self.at)(&entry.event));
        if here && std::mem::take(&mut *self.armed.lock().unwrap()) {
            return Err(JournalError::Storage("the disk is full".to_owned()));
        }
        append.to(self.journal(), run).await
    }
}

/// Leaves a change without its record, lets a person change the file, and goes on.
async fn interrupted_write(meanwhile: Option<&str>, answer: Answer) -> (String, usize, StopReason) {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "intended", &[])]))),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let people = Answers::new([Answer::Approve { revisions: false }, answer]);
    let ran = run_with(FILE, &script, &people, |config| {
        full_once(config, |event| matches!(event, RunEvent::ToolFinished { .. }))
    })
    .await;
    assert_eq!(ran.state.result, None, "a full disk ends nothing");
    let file = ran.place.work().join("out.txt");
    if let Some(text) = meanwhile {
        std::fs::write(&file, text).unwrap();
    }
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    let uncertain = people
        .asked
        .lock()
        .unwrap()
        .iter()
        .filter(|ask| matches!(ask, Ask::UncertainEffect { .. }))
        .count();
    (std::fs::read_to_string(&file).unwrap(), uncertain, result.stop_reason)
}

#[tokio::test]
async fn a_change_that_was_made_is_recorded_as_done() {
    assert_eq!(
        interrupted_write(None, Answer::StopRun).await,
        ("intended".to_owned(), 0, StopReason::Passed)
    );
}

#[tokio::test]
async fn a_change_that_cannot_be_told_is_a_persons_to_decide() {
    let (edited, again) = ("edited".to_owned(), "intended".to_owned());
    assert_eq!(
        interrupted_write(Some("edited"), Answer::MarkDone).await,
        (edited.clone(), 1, StopReason::Passed)
    );
    assert_eq!(
        interrupted_write(Some("edited"), Answer::RunAgain).await,
        (again, 1, StopReason::Passed)
    );
    assert_eq!(
        interrupted_write(Some("edited"), Answer::StopRun).await,
        (edited, 1, StopReason::Cancelled)
    );
}

#[tokio::test]
async fn a_change_that_a_person_let_run_again_is_not_asked_about_again_and_loses_nothing() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "intended", &[])])))]);
    let people = Answers::new([Answer::Approve { revisions: false }, Answer::RunAgain]);
    // The record is lost twice: at the first time, and after the person's answer.
    let ran = run_with(FILE, &script, &people, |config| {
        let is_record = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { .. });
        full_once(full_once(config, is_record), is_record)
    })
    .await;
    let file = ran.place.work().join("out.txt");
    std::fs::write(&file, "edited by a person").unwrap();
    ran.app.resume(&ran.run).await.unwrap();
    ran.app.outcome(&ran.run).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "intended");
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
    let is_uncertain = |ask: &&Ask| matches!(ask, Ask::UncertainEffect { .. });
    let uncertain = people.asked.lock().unwrap().iter().filter(is_uncertain).count();
    assert_eq!(uncertain, 1);
    let kept = engine_events(&ran)
        .await
        .into_iter()
        .filter_map(|record| match record.event {
            RunEvent::EffectIntended { before, .. } => Some(before),
            _ => None,
        });
    let edited = Hash::of_bytes(b"edited by a person");
    assert_eq!(kept.collect::<Vec<_>>(), [None, Some(edited)]);
}

async fn engine_events(ran: &Ran) -> Vec<RunEventRecord> {
    let events = ran
        .call("run_events", json!({ "fromSeq": 1, "limit": 1000 }))
        .await
        .unwrap();
    serde_json::from_value(events["events"].clone()).unwrap()
}

/// A model that thinks for ever.
struct Silent {
    asked: Arc<Semaphore>,
}

#[async_trait]
impl LlmProvider for Silent {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, _request: LlmRequest, _sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.asked.add_permits(1);
        std::future::pending().await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_run_that_was_told_to_stop_stays_stopped_when_the_app_ends_before_it_does() {
    let place = Place::default();
    let asked = Arc::new(Semaphore::new(0));
    let model = Silent {
        asked: Arc::clone(&asked),
    };
    let config = Config {
        providers: vec![Arc::new(model)],
        ..place.config()
    };
    let config = full_once(config, |event| matches!(event, RunEvent::RunFinished { .. }));
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": FILE, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    asked.acquire().await.unwrap().forget();
    app.stop(&run).await.unwrap();
    assert!(matches!(app.outcome(&run).await.unwrap(), Outcome::Interrupted(_)));

    app.resume(&run).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!(asked.available_permits(), 0, "no model was asked again");
}

/// A writer that waits for a word before it writes.
struct SlowWriter {
    tool: Arc<dyn Tool>,
    begun: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl AroundTool for SlowWriter {
    fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.begun.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
        self.tool.execute(args, context).await
    }
}

#[tokio::test]
async fn a_change_that_has_begun_is_finished_and_recorded_when_the_run_is_stopped() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "whole", &[])])))]);
    let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let writer = Around(SlowWriter {
        tool: builtin("file_write"),
        begun: Arc::clone(&begun),
        go_on: Arc::clone(&go_on),
    });
    let place = Place::default();
    let config = Config {
        providers: vec![script],
        people: Some(Answers::new([])),
        tools: vec![Arc::new(writer)],
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": FILE, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    begun.acquire().await.unwrap().forget();
    app.stop(&run).await.unwrap();
    go_on.add_permits(1);
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.result.unwrap().stop_reason, StopReason::Cancelled);
    assert!(state.files[0].done, "the history does not know of the change");
    assert_eq!(std::fs::read_to_string(place.work().join("out.txt")).unwrap(), "whole");
}
