//! R5: a model that answers with garbage. Replies of planner, steps, arguments and judge are mutated, in the real app
//! with its real store: each run ends in a typed way, nothing panics or hangs, memory and open files stay flat.
//!
//! A few are tried; with `TEPA_CRASH=full`, as `./check crash` sets it, ten thousand. `TEPA_SEED` chooses another seed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod mutate;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::llm::{
    AttemptStatus, Delta, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, ToolUse, Usage,
};
use contract::ports::provider::{LlmProvider, Sink};
use fastrand::Rng;
use serde_json::{Value, json};
use support::script::{Script, plan_value, thought, tool};
use support::{Agreeable, Place};

/// Longer than any run of garbage takes on a machine that has much else to do.
const HANGS: Duration = Duration::from_secs(300);
/// How much more memory is no growth, in kilobytes: what the allocator and the store's caches keep.
const MEMORY: u64 = 64 * 1024;

/// How often anything panicked. The engine makes a failed step of a panic, so it has to be counted at its source.
static PANICS: AtomicUsize = AtomicUsize::new(0);
/// The tests take turns, since they count what the whole process uses.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Whether every reply is tried.
fn full() -> bool {
    std::env::var_os("TEPA_CRASH").is_some_and(|how| how == "full")
}

/// What chance begins with.
fn seed() -> u64 {
    let chosen = std::env::var("TEPA_SEED").ok();
    chosen.and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121)
}

/// Answers as a good model would, and mutates what chance picks.
struct Garbled {
    random: Mutex<Rng>,
    judge: Arc<Script>,
    mutated: AtomicUsize,
    /// The mutant: breaks down over garbage instead of handing it on.
    fragile: bool,
}

impl Garbled {
    fn new(fragile: bool) -> Self {
        Self {
            random: Mutex::new(Rng::with_seed(seed())),
            judge: Script::new([]),
            mutated: AtomicUsize::new(0),
            fragile,
        }
    }

    async fn sensible(&self, request: &LlmRequest, sink: &dyn Sink) -> Result<(String, Vec<ToolUse>), LlmError> {
        let key = request.key.as_str();
        if key.contains("/plan#") {
            return Ok((plan().to_string(), Vec::new()));
        }
        if key.contains("/judge#") {
            let response = self.judge.complete(request.clone(), sink).await?;
            return Ok((response.text, Vec::new()));
        }
        if request.tools.is_empty() {
            return Ok(("A thought about the sums.".to_owned(), Vec::new()));
        }
        let call = ToolUse {
            id: "call_1".to_owned(),
            name: request.tools[0].name.clone(),
            input: json!({ "path": "out.txt", "content": "the words {{a}}" }),
            carried: None,
        };
        Ok((String::new(), vec![call]))
    }
}

fn plan() -> Value {
    let open = json!({ "id": "b", "description": "Write it", "tools": ["file_write"], "expectedOutcome": "a file",
        "dependencies": ["a"] });
    let read = tool("c", "file_read", json!({ "path": "out.txt" }), &["b"]);
    plan_value(json!([thought("a", &[]), open, read]))
}

fn finish_reason(random: &mut Rng, tool_uses: &[ToolUse]) -> FinishReason {
    match random.u8(..12) {
        0 => FinishReason::MaxTokens,
        1 => FinishReason::Refusal,
        2 => FinishReason::ContentFilter,
        3 => FinishReason::Unknown,
        _ if tool_uses.is_empty() => FinishReason::EndTurn,
        _ => FinishReason::ToolUse,
    }
}

#[async_trait]
impl LlmProvider for Garbled {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let (mut text, mut tool_uses) = self.sensible(&request, sink).await?;
        let (mut finish, mut is_mutated) = (FinishReason::EndTurn, false);
        {
            let mut random = self.random.lock().unwrap();
            // Later calls are reached only when the earlier ones were answered well.
            if random.u8(..5) < 2 {
                is_mutated = true;
                finish = finish_reason(&mut random, &tool_uses);
                match tool_uses.first_mut() {
                    Some(call) if random.u8(..8) > 0 => mutate::value(&mut call.input, &mut random),
                    Some(_) => tool_uses = mutate::calls(&tool_uses, &mut random),
                    None => text = mutate::text(&text, &mut random),
                }
            } else if !tool_uses.is_empty() {
                finish = FinishReason::ToolUse;
            }
        }
        if is_mutated {
            self.mutated.fetch_add(1, Ordering::SeqCst);
            assert!(
                !self.fragile || serde_json::from_str::<Value>(&text).is_ok(),
                "this model breaks down"
            );
        }
        sink.delta(Delta::Text { text: text.clone() });
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            attempt: 0,
            status: AttemptStatus::Success,
            duration_ms: 0,
            usage: Some(usage),
            error: None,
            wait_ms: None,
        });
        Ok(LlmResponse {
            text,
            tool_uses,
            finish_reason: finish,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

/// What the task expects: one criterion for the judge, one for a check.
fn task() -> Value {
    json!({
        "goal": "Write some words", "models": { "planner": "scripted:m" }, "limits": { "maxCycles": 2 },
        "approval": "never",
        "expectedOutput": [{ "path": "out.txt", "description": "words", "criteria": [
            "Is about words", { "text": "Has words", "check": { "contains": "words" } }] }],
    })
}

/// Runs until so many replies were mutated, and says what went wrong.
async fn garble(count: usize, fragile: bool) -> Vec<String> {
    let _turn = TURN.lock().await;
    let panicked = PANICS.load(Ordering::SeqCst);
    std::panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::SeqCst);
    }));
    let place = Place::default();
    let model = Arc::new(Garbled::new(fragile));
    let config = Config {
        providers: vec![Arc::clone(&model) as _],
        people: Some(Arc::new(Agreeable)),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let header = app.header(&task(), &place.folder(), None).await.unwrap();
    let (mut wrong, mut ends, mut early) = (Vec::new(), std::collections::BTreeMap::<String, usize>::new(), None);
    while model.mutated.load(Ordering::SeqCst) < count && wrong.len() < 5 {
        let before = model.mutated.load(Ordering::SeqCst);
        if early.is_none() && before >= count / 2 {
            early = Some(used());
        }
        let run = app.start(header.clone()).await.unwrap();
        match tokio::time::timeout(HANGS, app.outcome(&run)).await {
            Ok(Ok(Outcome::Finished(result))) => *ends.entry(format!("{:?}", result.stop_reason)).or_default() += 1,
            Ok(other) => wrong.push(format!("after {before} replies a run ended with {other:?}")),
            Err(_) => {
                wrong.push(format!("after {before} replies a run hangs"));
                break;
            }
        }
    }
    let _ = std::panic::take_hook();
    let panics = PANICS.load(Ordering::SeqCst) - panicked;
    if panics > 0 {
        wrong.push(format!("{panics} panics"));
    }
    let late = used();
    let early = early.unwrap_or(late);
    println!(
        "R5 replies: seed {}, {} mutated, ends {ends:?}, memory {} to {} kB, files {} to {}",
        seed(),
        model.mutated.load(Ordering::SeqCst),
        early.0,
        late.0,
        early.1,
        late.1
    );
    if late.0 > early.0 + MEMORY {
        wrong.push(format!("memory grew from {} to {} kB", early.0, late.0));
    }
    if late.1 > early.1 + 8 {
        wrong.push(format!("open files grew from {} to {}", early.1, late.1));
    }
    wrong
}

/// Memory in kilobytes, and open files.
fn used() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let memory = line.trim().trim_end_matches(" kB").parse().unwrap();
    (memory, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_garbled_reply_ends_in_a_typed_way() {
    let wrong = garble(if full() { 10_000 } else { 150 }, false).await;
    assert_eq!(wrong, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_over_garbage_is_noticed() {
    let wrong = garble(200, true).await;
    println!("R5 replies (mutant): noticed: {:?}", wrong.first());
    assert!(!wrong.is_empty(), "the panic was not noticed");
}
