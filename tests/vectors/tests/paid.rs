//! An answer that was paid for is in the journal before anything is waited for, and a flow that lets go of its outputs
//! comes to the same end as one that keeps them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::flow::FlowRun;
use contract::hash::Hash;
use contract::ids::RunId;
use contract::llm::{AttemptStatus, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, Usage};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::provider::{LlmProvider, Sink};
use contract::run::StopReason;
use contract::value_ref::Artifact;
use engine::driving::{Driven, drive_flow, drive_with};
use engine::{Controls, World, final_hash};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use vectors::stage::{PROVIDER, Stage, Theatre, Throws, header};

/// Answers with the address of what it was told; whoever is told to wait does so until it is let go.
struct Model {
    /// Lets those go who are told to wait first.
    first: Semaphore,
    waiting: Semaphore,
    go: Semaphore,
}

#[async_trait]
impl LlmProvider for Model {
    fn name(&self) -> &str {
        PROVIDER
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let told = json!(request.messages);
        if told.to_string().contains("Wait first.") {
            self.first.acquire().await.unwrap().forget();
        }
        if told.to_string().contains("Wait.") {
            self.waiting.add_permits(1);
            self.go.acquire().await.unwrap().forget();
        }
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            duration_ms: 1,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            text: Hash::of_value(&told).unwrap().as_str().repeat(40),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage,
            model: "m".to_owned(),
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

fn run_of(flow: &Value) -> FlowRun {
    let read = engine::flow::reading::read(flow, None);
    FlowRun {
        flow: read.flow.unwrap_or_else(|| panic!("{:?}", read.problems)),
        refs: engine::flow::reading::Refs::new(),
        input: Value::Null,
        messages: Vec::new(),
    }
}

fn ask(id: &str, prompt: &str) -> Value {
    json!({ "id": id, "ask": { "instructions": "", "prompt": prompt } })
}

fn group(id: &str, mode: &str, steps: Vec<Value>) -> Value {
    json!({ "id": id, "reads": {}, "group": { "mode": mode, "steps": steps } })
}

async fn theatre() -> (Theatre, World, Arc<Model>) {
    let theatre = Theatre::open(Stage::new(Throws::AsPanic), &[]).await.unwrap();
    let model = Arc::new(Model {
        first: Semaphore::new(0),
        waiting: Semaphore::new(0),
        go: Semaphore::new(0),
    });
    let world = World {
        providers: vec![Arc::clone(&model) as _],
        ..theatre.world().clone()
    };
    (theatre, world, model)
}

/// How long something may take that comes at once, before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The journal as soon as it holds an entry at each of these addresses.
async fn until_written(world: &World, run: &RunId, keys: &[&str]) -> Vec<RunEventRecord> {
    let look = async {
        loop {
            let events = world.journal.read(run, 1, 1_000).await.unwrap();
            if keys.iter().all(|key| is_written(&events, key)) {
                break events;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, look).await;
    found.unwrap_or_else(|_elapsed| panic!("{keys:?} are not in the journal"))
}

fn is_written(events: &[RunEventRecord], key: &str) -> bool {
    events.iter().any(|record| record.key.as_str().ends_with(key))
}

#[tokio::test]
async fn an_answer_is_written_before_its_branch_waits_for_its_turn_to_ask() {
    let (theatre, world, model) = theatre().await;
    let run = theatre.new_run();
    let slow = ["b", "c"].map(|id| ask(id, "Wait.")).to_vec();
    let flow = json!({ "id": "wide", "steps": [
        group("all", "parallel", vec![
            group("quick", "sequence", vec![ask("a1", "Wait first."), ask("a2", "Say two.")]),
            group("slow", "parallel", slow),
        ]),
        { "id": "say", "answer": { "text": "done" } },
    ] });
    let mut header = header(run_of(&flow));
    header.task.limits.max_parallel = 2;
    engine::start(world.journal.as_ref(), &run, header, 0).await.unwrap();
    let stop = CancellationToken::new();
    let drive = drive_flow(&run, &world, &stop);
    let look = async {
        // The quick branch has one slot and a slow step the other; the second slow step has waited for one since the
        // first of them was begun.
        model.waiting.acquire().await.unwrap().forget();
        until_written(&world, &run, &["/phase/a1/1#0/call/0:started"]).await;
        // It gets that of the first answer, and the quick branch waits for another.
        model.first.add_permits(1);
        model.waiting.acquire().await.unwrap().forget();
        let events = until_written(&world, &run, &["/phase/a1/1#0/call/0"]).await;
        assert!(
            !is_written(&events, "/phase/a2/1#0/call/0:started"),
            "the second is not asked for yet"
        );
        model.go.add_permits(2);
    };
    let (outcome, ()) = tokio::join!(drive, look);
    assert_eq!(outcome.unwrap().text.as_deref(), Some("done"));
}

#[tokio::test]
async fn a_flow_that_lets_go_of_its_outputs_comes_to_the_same_end() {
    let flow = json!({ "id": "long", "steps": [
        ask("a", "Begin."),
        ask("b", "{{a}}"),
        { "id": "c", "ask": { "instructions": "", "prompt": "{{b}} {{outputs.a}}" }, "set": { "kept": "{{a}}" } },
        { "id": "d", "when": "{{a}} == \"\"", "ask": { "instructions": "", "prompt": "{{c}}" } },
        { "id": "e", "ask": { "instructions": "{{metadata.kept}}", "prompt": "{{c}}" } },
        { "id": "say", "answer": { "text": "{{b}} {{e}}" } },
    ] });
    let (theatre, world, _) = theatre().await;
    let mut ends = Vec::new();
    for keeps in [true, false] {
        let run = theatre.new_run();
        engine::start(world.journal.as_ref(), &run, header(run_of(&flow)), 0)
            .await
            .unwrap();
        if keeps {
            let outcome = drive_flow(&run, &world, &CancellationToken::new()).await.unwrap();
            assert_eq!(
                outcome.outputs.values().filter(|output| output.is_null()).count(),
                1,
                "only what was skipped"
            );
        } else {
            let driven = drive_with(&run, &world, &Arc::new(Controls::default())).await;
            let Driven::Finished(result) = driven else {
                panic!("{driven:?}");
            };
            assert_eq!(result.stop_reason, StopReason::Passed);
        }
        let events = world.journal.read(&run, 1, 1_000).await.unwrap();
        let paid = events
            .iter()
            .filter(|record| matches!(record.event, RunEvent::ModelAttempted { .. }));
        assert_eq!(paid.count(), 4);
        ends.push(final_hash(&events).unwrap());
    }
    assert_eq!(ends[0], ends[1]);
}

#[tokio::test]
async fn what_a_run_came_to_counts_its_last_answer() {
    let (theatre, world, _) = theatre().await;
    let one = json!({
        "id": "one", "kind": "llm", "instruction": "Say one.", "model": { "provider": PROVIDER, "name": "m" },
    });
    let run = theatre.new_run();
    engine::start(world.journal.as_ref(), &run, header(run_of(&one)), 0)
        .await
        .unwrap();
    let driven = drive_with(&run, &world, &Arc::new(Controls::default())).await;
    let Driven::Finished(result) = driven else {
        panic!("{driven:?}");
    };
    assert_eq!((result.stop_reason, result.tokens_used), (StopReason::Passed, 15));
}

#[tokio::test]
async fn the_last_answer_for_an_item_is_written_while_others_are_at_work() {
    let (theatre, world, model) = theatre().await;
    let run = theatre.new_run();
    let flow = json!({ "id": "each", "steps": [
        { "id": "all", "reads": { "list": ["Say one.", "Wait."] }, "group": {
            "mode": "forEach", "items": "{{list}}", "steps": [ask("say", "{{item}}")],
        } },
        { "id": "end", "answer": { "text": "done" } },
    ] });
    engine::start(world.journal.as_ref(), &run, header(run_of(&flow)), 0)
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let drive = drive_flow(&run, &world, &stop);
    let look = async {
        model.waiting.acquire().await.unwrap().forget();
        let events = until_written(&world, &run, &["/say/1#0/call/0"]).await;
        let answers = events
            .iter()
            .filter(|record| matches!(record.event, RunEvent::ModelCallFinished { .. }));
        assert_eq!(answers.count(), 1);
        model.go.add_permits(1);
    };
    let (outcome, ()) = tokio::join!(drive, look);
    assert_eq!(outcome.unwrap().text.as_deref(), Some("done"));
}

/// A disk that is full for one append, the `n`th.
struct FullOnce {
    journal: Arc<dyn Journal>,
    left: AtomicU64,
}

#[async_trait]
impl Journal for FullOnce {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            return Err(JournalError::Storage("the disk is full".to_owned()));
        }
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
async fn an_answer_that_found_no_room_is_written_when_there_is_some() {
    let flow = json!({ "id": "three", "steps": [
        ask("a", "Begin."), ask("b", "{{a}}"), ask("c", "{{b}}"),
        { "id": "say", "answer": { "text": "{{c}}" } },
    ] });
    // The first append asks for `a`; the second holds its answer and asks for `b`; the third the same for `b` and `c`.
    for (full_at, answers) in [(1, 0), (2, 1), (3, 2)] {
        let (theatre, world, _) = theatre().await;
        let run = theatre.new_run();
        engine::start(world.journal.as_ref(), &run, header(run_of(&flow)), 0)
            .await
            .unwrap();
        let full_once = World {
            journal: Arc::new(FullOnce {
                journal: Arc::clone(&world.journal),
                left: AtomicU64::new(full_at),
            }),
            ..world.clone()
        };
        let driven = drive_with(&run, &full_once, &Arc::new(Controls::default())).await;
        assert!(
            matches!(&driven, Driven::Stopped(JournalError::Storage(why)) if why == "the disk is full"),
            "{driven:?}"
        );
        let count = |events: &[RunEventRecord]| {
            let answers = events
                .iter()
                .filter(|record| matches!(record.event, RunEvent::ModelCallFinished { .. }));
            answers.count()
        };
        let events = world.journal.read(&run, 1, 1_000).await.unwrap();
        assert_eq!(count(&events), answers, "full at {full_at}");
        // Nothing is asked twice.
        let driven = drive_with(&run, &world, &Arc::new(Controls::default())).await;
        let Driven::Finished(result) = driven else {
            panic!("{driven:?}");
        };
        assert_eq!((result.stop_reason, result.tokens_used), (StopReason::Passed, 45));
    }
}
