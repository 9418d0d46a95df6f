//! Flows on the real store: killed at every commit, waiting for a person, failing in one branch, long and wide.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::flow::{ChatMessage, Flow, FlowRun};
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::person::{Answer, Ask};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::people::People;
use contract::run::RunResult;
use contract::run_state::RunState;
use contract::step::StepStatus;
use contract::value_ref::Artifact;
use engine::flow::FlowOutcome;
use engine::kernel::Halt;
use engine::{Driven, World};
use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vectors::stage::{Stage, Theatre, Throws, header};

/// A journal that breaks at one append: before it is written, or just after.
struct Cut {
    journal: Arc<dyn Journal>,
    left: AtomicU64,
    after: bool,
}

#[async_trait]
impl Journal for Cut {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 || left == 1 && !self.after {
            self.left.store(0, Ordering::SeqCst);
            return Err(JournalError::Storage("the power is gone".to_owned()));
        }
        self.left.store(left - 1, Ordering::SeqCst);
        self.journal
            .append(run, first_seq, entries, artifacts, durability)
            .await?;
        if left == 1 {
            return Err(JournalError::Storage("the power is gone".to_owned()));
        }
        Ok(())
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal.artifact(hash).await
    }
}

fn flow(value: Value) -> FlowRun {
    let read = engine::flow::reading::read(&value, None);
    let flow: Flow = read.flow.unwrap_or_else(|| panic!("{:?}", read.problems));
    FlowRun {
        flow,
        refs: IndexMap::new(),
        input: Value::Null,
        messages: vec![ChatMessage::user("Hello")],
    }
}

/// Every kind of leaf that a flow has without a person: a call, a tool, a loop, branches, an agent, a rewrite.
fn varied() -> Value {
    json!({
        "id": "varied", "model": "script:plain",
        "steps": [
            { "id": "think", "ask": { "instructions": "Think." }, "set": { "thought": "{{output}}" } },
            { "id": "look", "tool": { "tool": "lookup", "args": { "q": "{{think}}" } } },
            { "id": "loop", "reads": { "start": "{{look}}" }, "group": {
                "mode": "sequence", "until": "{{review.ok}}", "max": 3, "steps": [
                    { "id": "write", "model": "script:writer", "ask": { "instructions": "Write after {{review}}." } },
                    { "id": "review", "model": "script:reviewer", "output": {}, "ask": { "instructions": "Review {{write}}." } }
                ] } },
            { "id": "both", "reads": {}, "group": { "mode": "parallel", "steps": [
                { "id": "left", "ask": { "instructions": "Left." } },
                { "id": "right", "tool": { "tool": "lookup", "args": { "q": "right" } } }
            ] } },
            { "id": "dig", "model": "script:digger", "agent": { "instructions": "Dig.", "tools": ["lookup"] },
              "routes": [{ "finish": { "text": "{{output}} and {{metadata.thought}}", "rewrite": { "instructions": "Kindly." } } }] }
        ]
    })
}

fn cast() -> Stage {
    let mut stage = Stage::new(Throws::AsPanic);
    let reviews = [json!({ "ok": false }), json!({ "ok": true })];
    stage.cast("plain", &[json!("plain words")], false).unwrap();
    stage
        .cast("writer", &[json!("draft 1"), json!("draft 2")], false)
        .unwrap();
    stage.cast("reviewer", &reviews, true).unwrap();
    let digging = [
        json!({ "$tool": { "name": "lookup", "args": { "q": "deep" } } }),
        json!("found"),
    ];
    stage.cast("digger", &digging, false).unwrap();
    stage.cast("lookup", &[json!("a fact")], false).unwrap();
    stage
}

fn tools() -> Vec<(String, String)> {
    vec![("lookup".to_owned(), "lookup".to_owned())]
}

async fn begin(theatre: &Theatre, run: &RunId, flow: FlowRun) {
    let journal = theatre.world().journal.as_ref();
    engine::start(journal, run, header(flow), 0).await.unwrap();
}

async fn drive(world: &World, run: &RunId) -> Driven {
    engine::drive(run, world, &CancellationToken::new()).await
}

async fn events(theatre: &Theatre, run: &RunId) -> Vec<RunEventRecord> {
    theatre.world().journal.read(run, 1, 100_000).await.unwrap()
}

fn finished(events: &[RunEventRecord]) -> BTreeSet<&str> {
    let is_leaf = |event: &RunEvent| {
        matches!(
            event,
            RunEvent::ModelCallFinished { .. } | RunEvent::ToolFinished { .. } | RunEvent::PersonAnswered { .. }
        )
    };
    let leaves = events.iter().filter(|record| is_leaf(&record.event));
    leaves.map(|record| record.key.as_str()).collect()
}

/// How many answers of a model are in the journal.
fn heard(events: &[RunEventRecord], actor: &str) -> u32 {
    let done = finished(events);
    let asked = events.iter().filter(|record| match &record.event {
        RunEvent::ModelCallStarted { model, .. } => {
            let leaf = record.key.as_str().trim_end_matches(":started");
            model.strip_prefix("script:") == Some(actor) && done.contains(leaf)
        }
        _ => false,
    });
    u32::try_from(asked.count()).unwrap()
}

#[tokio::test]
async fn killed_at_any_commit_a_flow_goes_on_and_repeats_no_finished_leaf() {
    let whole = Theatre::open(cast(), &tools()).await.unwrap();
    let run = whole.new_run();
    begin(&whole, &run, flow(varied())).await;
    let Driven::Finished(expected) = drive(whole.world(), &run).await else {
        panic!("the flow does not end");
    };
    assert_eq!(expected.error, None);
    let journal = events(&whole, &run).await;
    let hash = engine::final_hash(&journal).unwrap();
    let calls = whole.stage().asked().len() + whole.stage().executed().len();
    assert_eq!(calls, 12, "{:?}", finished(&journal));

    for n in 1.. {
        let mut reached_end = true;
        for after in [false, true] {
            let theatre = Theatre::open(cast(), &tools()).await.unwrap();
            let run = theatre.new_run();
            begin(&theatre, &run, flow(varied())).await;
            let cut = World {
                journal: Arc::new(Cut {
                    journal: Arc::clone(&theatre.world().journal),
                    left: AtomicU64::new(n),
                    after,
                }),
                ..theatre.world().clone()
            };
            match drive(&cut, &run).await {
                Driven::Finished(_) => continue,
                Driven::Stopped(_) => reached_end = false,
                Driven::Waiting | Driven::Paused => panic!("nobody is asked, and nobody pauses"),
            }
            let before = events(&theatre, &run).await;
            let done = finished(&before);
            let (asked, executed) = (theatre.stage().asked().len(), theatre.stage().executed().len());
            for actor in ["plain", "writer", "reviewer", "digger"] {
                theatre.stage().rewind(actor, heard(&before, actor));
            }
            let Driven::Finished(result) = drive(theatre.world(), &run).await else {
                panic!("cut at {n}, after: {after}: the flow does not end");
            };
            // A question that was cut off may have cost something: it is counted, and nothing else is different.
            assert!(result.tokens_used >= expected.tokens_used, "cut at {n}, after: {after}");
            let tokens_used = expected.tokens_used;
            let as_expected = RunResult { tokens_used, ..result };
            assert_eq!(as_expected, expected, "cut at {n}, after: {after}");
            let now = events(&theatre, &run).await;
            let asked_again = theatre.stage().asked()[asked..].to_vec();
            let repeated = asked_again.iter().find(|request| done.contains(request.key.as_str()));
            assert_eq!(repeated, None, "cut at {n}, after: {after}");
            let tools_left = finished(&now).len() - done.len() - asked_again.len();
            assert_eq!(
                theatre.stage().executed().len() - executed,
                tools_left,
                "cut at {n}, after: {after}: a tool was executed again"
            );
            assert_eq!(engine::final_hash(&now).unwrap(), hash, "cut at {n}, after: {after}");
        }
        if reached_end {
            return;
        }
    }
}

/// A person who is away at first.
#[derive(Default)]
struct Later {
    answers: Mutex<Vec<Answer>>,
    asked: Mutex<Vec<Ask>>,
}

#[async_trait]
impl People for Later {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        self.asked.lock().unwrap().push(ask.clone());
        self.answers.lock().unwrap().pop()
    }
}

async fn gated(gate: Value, answers: Vec<Answer>) -> (FlowOutcome, usize) {
    let mut stage = Stage::new(Throws::AsPanic);
    stage.cast("plain", &[json!("words")], false).unwrap();
    let theatre = Theatre::open(stage, &[]).await.unwrap();
    let run = theatre.new_run();
    let steps = json!({ "id": "gated", "model": "script:plain", "steps": [
        { "id": "think", "ask": { "instructions": "Think." } },
        { "id": "may-i", "gate": gate },
        { "id": "say", "answer": { "text": "{{may-i}}" } },
    ] });
    begin(&theatre, &run, flow(steps)).await;
    let person = Arc::new(Later::default());
    let world = World {
        people: Arc::clone(&person) as _,
        ..theatre.world().clone()
    };
    assert_eq!(drive(&world, &run).await, Driven::Waiting);
    let state = RunState::of(&events(&theatre, &run).await);
    assert_eq!(state.phases["phase/may-i/1#0"].status, StepStatus::WaitingForPerson);
    *person.answers.lock().unwrap() = answers;
    let outcome = engine::driving::drive_flow(&run, &world, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(theatre.stage().asked().len(), 1, "the model was asked again");
    (outcome, person.asked.lock().unwrap().len())
}

#[tokio::test]
async fn a_gate_waits_for_a_person_and_survives_a_restart() {
    let (outcome, _) = gated(json!({ "text": "May I?" }), vec![Answer::Approve { revisions: false }]).await;
    assert_eq!(outcome.text.as_deref(), Some("true"));
    let refused = Answer::Reject {
        reason: Some("too late".to_owned()),
    };
    let (outcome, _) = gated(json!({ "text": "May I?" }), vec![refused]).await;
    assert_eq!(outcome.error.unwrap().code, "rejected");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let question = json!({ "text": "How many?", "question": { "type": "integer" } });
    let reply = |value| Answer::Reply { value };
    // The last is given first.
    let (outcome, asked) = gated(question, vec![reply(json!(3)), reply(json!("three"))]).await;
    assert_eq!((outcome.text.as_deref(), asked), (Some("3"), 3));
}

#[tokio::test]
async fn a_branch_that_fails_ends_the_others() {
    let mut stage = Stage::new(Throws::AsPanic);
    stage.cast("broken", &[json!({ "$throw": "boom" })], false).unwrap();
    let theatre = Theatre::open(stage, &[("broken".to_owned(), "broken".to_owned())])
        .await
        .unwrap();
    let run = theatre.new_run();
    // Nobody ever answers the gate: only the failure beside it can end it.
    let steps = json!({ "id": "branches", "steps": [
        { "id": "both", "reads": {}, "group": { "mode": "parallel", "steps": [
            { "id": "waits", "gate": { "text": "Well?" } },
            { "id": "fails", "tool": { "tool": "broken" } },
        ] } },
        { "id": "say", "answer": { "text": "done" } },
    ] });
    begin(&theatre, &run, flow(steps)).await;
    struct Forever;
    #[async_trait]
    impl People for Forever {
        async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
            std::future::pending().await
        }
    }
    let world = World {
        people: Arc::new(Forever),
        ..theatre.world().clone()
    };
    let outcome = engine::driving::drive_flow(&run, &world, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome.error.unwrap().code, "execution_failed");
    assert_eq!(outcome.phase_history, ["both"]);
    let mut state = RunState::default();
    let records = theatre.world().journal.read(&run, 1, 1_000).await.unwrap();
    records.iter().for_each(|record| state.apply(record));
    let ended = state.phases.values().find(|phase| phase.phase == "both/waits").unwrap();
    let error = ended.error.as_ref().unwrap();
    // Nobody stopped the run.
    assert_eq!(error.message, "work beside it could not go on, so it was ended");
    assert_eq!(error.code, "cancelled");
}

#[tokio::test]
async fn a_person_who_stops_the_run_ends_it_as_cancelled() {
    let theatre = Theatre::open(cast(), &tools()).await.unwrap();
    let run = theatre.new_run();
    begin(&theatre, &run, flow(varied())).await;
    let stop = CancellationToken::new();
    stop.cancel();
    let outcome = engine::driving::drive_flow(&run, theatre.world(), &stop).await;
    assert_eq!(
        outcome.map(|outcome| outcome.error.unwrap().code),
        Ok("cancelled".to_owned())
    );
    assert_eq!(theatre.stage().asked().len(), 0);
}

async fn of_many(flow: FlowRun) -> Result<FlowOutcome, Halt> {
    let mut stage = Stage::new(Throws::AsPanic);
    stage.cast("lookup", &[json!("a fact")], false).unwrap();
    let theatre = Theatre::open(stage, &tools()).await.unwrap();
    let run = theatre.new_run();
    begin(&theatre, &run, flow).await;
    engine::driving::drive_flow(&run, theatre.world(), &CancellationToken::new()).await
}

fn many(count: usize) -> Vec<Value> {
    (0..count)
        .map(|n| json!({ "id": format!("s{n}"), "tool": { "tool": "lookup", "args": { "q": "x" } } }))
        .collect()
}

#[tokio::test]
async fn a_thousand_phases_come_to_their_end() {
    let mut steps = many(1_000);
    steps.push(json!({ "id": "say", "answer": { "text": "{{s999}}" } }));
    let chain = json!({ "id": "chain", "limits": { "maxTotalPhases": 1_001 }, "steps": steps });
    let outcome = of_many(flow(chain)).await.unwrap();
    assert_eq!(outcome.text.as_deref(), Some("a fact"));
    assert_eq!(outcome.phase_history.len(), 1_001);
}

#[tokio::test]
async fn a_thousand_branches_come_to_their_end() {
    let wide = json!({ "id": "wide", "steps": [
        { "id": "all", "reads": {}, "group": { "mode": "parallel", "steps": many(1_000) } },
        { "id": "say", "answer": { "text": "done" } },
    ] });
    let outcome = of_many(flow(wide)).await.unwrap();
    let outputs: BTreeMap<String, Value> = serde_json::from_value(outcome.outputs["all"].clone()).unwrap();
    assert_eq!(outputs.len(), 1_000);
}

#[tokio::test]
async fn a_list_is_worked_through_item_by_item() {
    let each = json!({ "id": "each", "steps": [
        { "id": "all", "reads": { "items": [1, 2, 3] }, "group": {
            "mode": "forEach", "items": "{{items}}", "concurrency": 2,
            "steps": [{ "id": "one", "tool": { "tool": "lookup", "args": { "q": "{{item}}" } } }],
            "output": { "was": "{{item}}", "at": "{{index}}" } } },
        { "id": "say", "answer": { "text": "{{all}}" } },
    ] });
    let outcome = of_many(flow(each)).await.unwrap();
    let expected = json!([{ "was": 1, "at": 0 }, { "was": 2, "at": 1 }, { "was": 3, "at": 2 }]);
    assert_eq!(outcome.outputs["all"], expected, "{:?}", outcome.error);
}

#[tokio::test]
async fn a_flow_that_failed_goes_on_where_it_failed() {
    let mut stage = Stage::new(Throws::AsError);
    stage.cast("plain", &[json!("words")], false).unwrap();
    let flaky = [json!({ "$throw": "the server is down" }), json!("a fact")];
    stage.cast("flaky", &flaky, false).unwrap();
    let theatre = Theatre::open(stage, &[("flaky".to_owned(), "flaky".to_owned())])
        .await
        .unwrap();
    let run = theatre.new_run();
    let steps = json!({ "id": "flaky", "model": "script:plain", "steps": [
        { "id": "think", "ask": { "instructions": "Think." } },
        { "id": "inner", "reads": { "t": "{{think}}" }, "group": { "mode": "sequence", "order": "reads", "steps": [
            { "id": "before", "ask": { "instructions": "{{t}}" } },
            { "id": "look", "reads": { "b": "{{before}}" }, "tool": { "tool": "flaky" } },
            { "id": "after", "ask": { "instructions": "{{look}}" } },
        ] } },
        { "id": "say", "answer": { "text": "{{inner}}" } },
    ] });
    begin(&theatre, &run, flow(steps)).await;
    let ended = |driven| match driven {
        Driven::Finished(result) => result,
        other => panic!("it did not end: {other:?}"),
    };
    let failed = ended(drive(theatre.world(), &run).await);
    assert_eq!(failed.error.map(|error| error.code), Some("tool_failed".to_owned()));
    let again = engine::GoOn::default();
    assert_eq!(engine::go_on(&run, theatre.world(), &again).await, Ok(true));
    let passed = ended(drive(theatre.world(), &run).await);
    assert_eq!(passed.error, None);
    let asked: Vec<String> = theatre
        .stage()
        .asked()
        .iter()
        .map(|request| request.key.to_string())
        .collect();
    let inner = "phase/inner/1#0/phase";
    let expected = [
        "phase/think/1#0/call/0".to_owned(),
        format!("{inner}/before/1#0/call/0"),
        format!("{inner}/after/1#0/call/0"),
    ];
    assert_eq!(asked, expected, "nothing that was done is done again");
    assert_eq!(theatre.stage().executed().len(), 2);
    assert_eq!(
        engine::go_on(&run, theatre.world(), &again).await,
        Ok(false),
        "it has passed"
    );
}
