//! A run whose history holds another question than it would ask now, and the fork that goes on.

use std::sync::Arc;

use app::{App, Outcome};
use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::{Journal, JournalError};
use contract::run::{RunStatus, StopReason};
use contract::step::code;
use contract::{Hash, RunId};
use serde_json::json;
use support::around::{Around, AroundJournal};
use support::call;
use support::script::{Answers, Reply, Script, plan, thought};

use crate::task_loop::{ANSWER, PLAN_1, full_once, run, run_with};

const FIRST: &str = "cycle/1/step/a#0/call/0";
const SECOND: &str = "cycle/1/step/b#0/call/0";

/// A history in which a question of one run is another one: what was asked by a version that asked otherwise.
struct Changed {
    journal: Arc<dyn Journal>,
    run: RunId,
}

#[async_trait]
impl AroundJournal for Changed {
    fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        let mut records = self.journal.read(run, from_seq, limit).await?;
        for record in records.iter_mut().filter(|record| record.run_id == self.run) {
            let is_second = record.key.as_str() == format!("{SECOND}:started");
            if let (RunEvent::ModelCallStarted { input_hash, .. }, true) = (&mut record.event, is_second) {
                *input_hash = Hash::of_bytes(b"another question");
            }
        }
        Ok(records)
    }
}

#[tokio::test]
async fn a_run_whose_history_holds_another_question_goes_on_as_a_fork_and_pays_for_nothing_twice() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &["a"])]))),
        (FIRST, Reply::Text("one")),
        (SECOND, Reply::Text("two")),
    ]);
    let people = Answers::new([]);
    let ran = run_with(ANSWER, &script, &people, |config| {
        full_once(
            config,
            |event| matches!(event, RunEvent::StepFinished { step, .. } if step == "b"),
        )
    })
    .await;
    assert_eq!(ran.state.result, None, "the second step is not recorded yet");
    ran.app.close().await.unwrap();

    let source = ran.run.clone();
    let changed = ran.run.clone();
    let config = app::Config {
        providers: vec![Arc::clone(&script) as _],
        people: Some(people),
        journal: Some(Box::new(move |journal| {
            let run = changed.clone();
            Arc::new(Around(Changed { journal, run })) as _
        })),
        ..ran.place.config()
    };
    let app = App::open(config).await.unwrap();
    for _ in 0..2 {
        app.resume(&source).await.unwrap();
        let Outcome::Finished(result) = app.outcome(&source).await.unwrap() else {
            panic!("it did not end")
        };
        assert_eq!(result.stop_reason, StopReason::Error);
        assert_eq!(result.error.as_ref().unwrap().code, code::INPUT_HASH_MISMATCH);
        assert!(result.feedback.contains("continue as a fork"), "{}", result.feedback);
    }
    let before = app.state(&source).await.unwrap();

    let forked = call(&app, "run_fork", json!({ "runId": source })).await.unwrap();
    let forked = RunId::new(forked["runId"].as_str().unwrap());
    let Outcome::Finished(result) = app.outcome(&forked).await.unwrap() else {
        panic!("the fork did not end")
    };
    assert_eq!((result.status, result.feedback.is_empty()), (RunStatus::Pass, false));
    let asked = |key: &str| script.keys().iter().filter(|asked| *asked == key).count();
    assert_eq!((asked(PLAN_1), asked(FIRST), asked(SECOND)), (1, 1, 2));
    let state = app.state(&forked).await.unwrap();
    assert!(state.header.unwrap().title.ends_with("(fork)"));
    assert_eq!(app.state(&source).await.unwrap(), before, "the first stays as it was");
}

#[tokio::test]
async fn a_run_that_ended_otherwise_is_not_forked() {
    let script = Script::new([(PLAN_1, plan(json!([thought("a", &[])]))), (FIRST, Reply::Text("one"))]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    let refused = ran.call("run_fork", json!({})).await.unwrap_err();
    assert_eq!(refused.code, "nothing_to_fork");
}
