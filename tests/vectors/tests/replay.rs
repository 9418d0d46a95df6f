//! What the kernel does with a recorded run on a real store: replays it whole, and makes its model
//! calls again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use contract::audit::AuditEvent;
use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use contract::llm::{
    AttemptStatus, FinishReason, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo, Usage,
};
use contract::person::{Answer, Ask};
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::Files;
use contract::ports::people::People;
use contract::ports::provider::{LlmProvider, Sink};
use contract::run::{RunHeader, RunStatus};
use contract::step::code;
use engine::kernel::diff::path_text;
use engine::kernel::recompute::RecomputeStatus;
use engine::kernel::recompute_run::recompute;
use engine::{Driven, Registry, World, final_hash};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vectors::world::{Place, wait};

/// Plans a file, and judges it; counts how often it is asked.
struct Greeter {
    words: &'static str,
    asked: Arc<AtomicUsize>,
}

/// The criteria that a judge is asked about: `- id: text`.
fn ids(request: &LlmRequest) -> Vec<String> {
    let message = json!(request.messages[0].content);
    let question = message[0]["text"].as_str().unwrap_or_default();
    let listed = question.split("Criteria to judge:").nth(1).unwrap_or_default();
    let lines = listed.lines().skip(1).map_while(|line| line.strip_prefix("- "));
    lines
        .filter_map(|line| Some(line.split([':', ' ']).next()?.to_owned()))
        .collect()
}

#[async_trait]
impl LlmProvider for Greeter {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let text = if request.key.as_str().contains("/plan#") {
            json!({ "reasoning": self.words, "estimatedTokens": 1, "steps": [{
                "id": "step_1", "name": "Greet", "description": "Write hello.txt", "tools": ["file_write"],
                "expectedOutcome": "A greeting", "dependencies": [],
                "args": { "file_write": { "path": "hello.txt", "content": "hello, world\n" } },
            }] })
        } else {
            let passed = |id: &str| json!({ "id": id, "verdict": "pass", "evidence": "hello, world" });
            let criteria: Vec<Value> = ids(&request).iter().map(|id| passed(id)).collect();
            json!({ "verdict": "pass", "confidence": 1, "summary": self.words, "criteria": criteria })
        };
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            duration_ms: 0,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            text: text.to_string(),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Err(LlmError::new(LlmErrorCode::Connection, "nobody asks"))
    }
}

/// The check that every expected file gets.
struct NotEmpty;

#[async_trait]
impl Check for NotEmpty {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "not_empty".to_owned(),
            title: "Is not empty".to_owned(),
            description: "The file is there and holds something.".to_owned(),
            schema: Value::Null,
            needs_file: true,
        }
    }

    async fn run(&self, _args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        match &target.subject {
            Subject::File(path) => match files.stat(path).await {
                Ok(Some(_)) => CheckOutcome::pass("it is there", None),
                _ => CheckOutcome::fail("it is not there", None),
            },
            Subject::Answer(_) => CheckOutcome::fail("it is no file", None),
        }
    }
}

struct Agreeable;

#[async_trait]
impl People for Agreeable {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        Some(Answer::Approve { revisions: false })
    }
}

struct Bench {
    place: Place,
    world: World,
    asked: Arc<AtomicUsize>,
}

impl Bench {
    fn new() -> Self {
        let place = wait(Place::new()).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let greeter = Greeter {
            words: "Because.",
            asked: Arc::clone(&asked),
        };
        let world = World {
            providers: vec![Arc::new(greeter)],
            tools: Registry::of_tools(tools::all()),
            checks: Registry::of_checks(vec![Arc::new(NotEmpty)]),
            people: Arc::new(Agreeable),
            ..place.world().clone()
        };
        Self { place, world, asked }
    }

    /// Nobody outside: no models and no people. Plans name tools, so these are there.
    fn silent(&self) -> World {
        World {
            tools: self.world.tools.clone(),
            ..self.place.world().clone()
        }
    }

    fn start(&self, run: &RunId, header: &RunHeader) {
        wait(engine::start(self.world.journal.as_ref(), run, header.clone(), 0)).unwrap();
    }

    fn events(&self, run: &RunId) -> Vec<RunEventRecord> {
        wait(self.world.journal.read(run, 1, 10_000)).unwrap()
    }

    /// A run that greeted.
    fn greet(&self) -> RunId {
        let run = RunId::new("greeting");
        self.start(&run, &self.header("hello"));
        let driven = wait(engine::drive(&run, &self.world, &CancellationToken::new()));
        assert_eq!(status(&driven), RunStatus::Pass, "{driven:?}");
        run
    }

    fn header(&self, saying: &str) -> RunHeader {
        let folder = self.world.files.root();
        let header: Value = json!({
            "task": {
                "goal": format!("Greet the world in a file, saying {saying}"),
                "context": {}, "expectedOutput": [{ "path": "hello.txt", "description": "A greeting" }],
            },
            "title": "Greeting",
            "envelope": { "folder": folder, "write": true, "maxTokens": 1_000_000, "maxCycles": 1 },
            "roles": { "planner": "scripted:a", "judge": "scripted:a", "executorLow": "scripted:a", "executorHigh": "scripted:a" },
            "hooks": [], "recording": null, "appVersion": "0",
        });
        serde_json::from_value(header).unwrap()
    }

    fn replay(&self, name: &str, source: &RunId, header: &RunHeader) -> (RunId, Driven) {
        let run = RunId::new(name);
        self.start(&run, header);
        let driven = wait(engine::replay(&run, source, &self.silent(), &CancellationToken::new()));
        (run, driven)
    }
}

fn status(driven: &Driven) -> RunStatus {
    match driven {
        Driven::Finished(result) => result.status,
        other => panic!("it did not finish: {other:?}"),
    }
}

#[test]
fn a_replayed_run_asks_nobody_changes_nothing_and_comes_to_the_same() {
    let bench = Bench::new();
    let source = bench.greet();
    let file = std::path::Path::new(bench.world.files.root()).join("hello.txt");
    std::fs::remove_file(&file).unwrap();
    let (run, driven) = bench.replay("again", &source, &bench.header("hello"));
    assert_eq!(status(&driven), RunStatus::Pass, "{driven:?}");
    assert_eq!(final_hash(&bench.events(&run)), final_hash(&bench.events(&source)));
    assert_eq!(
        bench.asked.load(Ordering::SeqCst),
        2,
        "the models were asked in the first run only"
    );
    assert!(!file.exists(), "a tool was executed");
    // A replay can be replayed, and a replay that is at its end stays there.
    let (third, _) = bench.replay("third", &run, &bench.header("hello"));
    assert_eq!(final_hash(&bench.events(&third)), final_hash(&bench.events(&source)));
}

#[test]
fn a_question_that_was_never_asked_is_named() {
    let bench = Bench::new();
    let empty = RunId::new("empty");
    bench.start(&empty, &bench.header("hello"));
    let (_, driven) = bench.replay("again", &empty, &bench.header("hello"));
    let Driven::Finished(result) = driven else {
        panic!("it did not finish")
    };
    assert_eq!(result.status, RunStatus::Fail);
    assert!(
        result.feedback.contains("recorded nothing at cycle/1/plan#0/call/0"),
        "{}",
        result.feedback
    );
}

#[test]
fn a_question_that_means_something_else_is_named() {
    let bench = Bench::new();
    let source = bench.greet();
    let (_, driven) = bench.replay("again", &source, &bench.header("goodbye"));
    let Driven::Finished(result) = driven else {
        panic!("it did not finish")
    };
    assert!(
        result
            .feedback
            .contains("recorded something else at cycle/1/plan#0/call/0"),
        "{}",
        result.feedback
    );
}

#[test]
fn a_model_call_is_made_again_by_another_model_and_compared() {
    let bench = Bench::new();
    let source = bench.greet();
    let before = bench.events(&source);
    let asked = Arc::clone(&bench.asked);
    let world = World {
        providers: vec![Arc::new(Greeter {
            words: "Why not.",
            asked,
        })],
        ..bench.silent()
    };
    let go = |what: &str, model| wait(recompute(&world, &source, what, model, &CancellationToken::new()));
    let made = go("plan", Some("scripted:b")).unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(
        (&*made[0].model_before, &*made[0].model_after),
        ("scripted:a", "scripted:b")
    );
    assert_eq!(
        made[0].diff.to_string(),
        "  text.reasoning: \"Because.\" → \"Why not.\""
    );
    assert_eq!(
        (made[0].status, made[0].comparable, made[0].violations.len()),
        (Some(RecomputeStatus::ValueChanged), true, 0)
    );
    assert_eq!(go("cycle/1", None).unwrap().len(), 2, "the planner and the judge");
    assert_eq!(go("judge", None).unwrap()[0].key.as_str(), "cycle/1/judge#0/call/0");
    assert_eq!(
        go("step_1", None).unwrap_err().code,
        code::NOT_FOUND,
        "it asked no model"
    );
    assert_eq!(go("judge", Some("nobody:x")).unwrap_err().code, code::PROVIDER_ERROR);
    assert_eq!(bench.events(&source), before, "nothing was written to the run");
}

/// Answers every question with the same text.
struct Says(&'static str);

#[async_trait]
impl LlmProvider for Says {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, _sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        Ok(LlmResponse {
            text: self.0.to_owned(),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage: Usage::default(),
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Err(LlmError::new(LlmErrorCode::Connection, "nobody asks"))
    }
}

#[test]
fn a_call_that_is_made_again_says_the_gravest_of_what_it_found() {
    let bench = Bench::new();
    let source = bench.greet();
    let again = |text: &'static str| {
        let world = World {
            providers: vec![Arc::new(Says(text))],
            ..bench.silent()
        };
        wait(recompute(&world, &source, "plan", None, &CancellationToken::new()))
            .unwrap()
            .remove(0)
    };
    let broken = again("{ \"reasoning\": 7, \"steps\": [] }");
    assert_eq!(broken.status, Some(RecomputeStatus::SchemaViolation));
    let places: Vec<String> = broken
        .violations
        .iter()
        .map(|violation| path_text(&violation.path))
        .collect();
    assert!(places.contains(&"text.reasoning".to_owned()), "{places:?}");
    assert!(!broken.diff.is_equal(), "what is wrong is compared all the same");
    assert_eq!(again("no plan at all").status, Some(RecomputeStatus::SchemaViolation));
    let world = &bench.world;
    let same = wait(recompute(world, &source, "plan", None, &CancellationToken::new()))
        .unwrap()
        .remove(0);
    assert_eq!((same.status, same.violations.len()), (Some(RecomputeStatus::Clean), 0));
}

#[test]
fn planner_and_judge_note_whose_answer_they_took_their_data_from() {
    let bench = Bench::new();
    let source = bench.greet();
    let notes: Vec<AuditEvent> = bench
        .events(&source)
        .into_iter()
        .filter_map(|record| match record.event {
            RunEvent::PlanProposed { notes, .. } | RunEvent::CycleJudged { notes, .. } => notes,
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    for note in notes {
        let trace = note.llm_trace.unwrap();
        assert_eq!((note.kind.as_str(), trace.model.as_str()), ("llm.extracted", "a"));
        assert_eq!((trace.prompt_tokens, trace.completion_tokens), (10, 5));
    }
}
