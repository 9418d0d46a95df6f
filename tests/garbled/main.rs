//! R5: a model that answers with garbage. Replies of planner, steps, arguments and judge, and of every kind of step of a
//! flow with its rules, are mutated, in the real app with its real store: each run ends in a typed way, nothing panics
//! or hangs, memory and open files stay flat.
//!
//! A few are tried; with `TEPA_CRASH=full`, as `./check crash` sets it, ten thousand. `TEPA_SEED` chooses another seed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod mutate;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::{App, Config, FlowInput, Outcome};
use contract::llm::{FinishReason, LlmRequest, ToolUse};
use engine::flow::reading::Refs;
use fastrand::Rng;
use serde_json::{Value, json};
use support::script::{Reply, Script, passing, plan_value, thought, tool};
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
    mutated: AtomicUsize,
    /// By what was asked: how many answers were mutated.
    places: Mutex<BTreeMap<&'static str, usize>>,
    /// The mutant: breaks down over garbage instead of handing it on.
    fragile: bool,
}

impl Garbled {
    fn new(fragile: bool) -> Self {
        Self {
            random: Mutex::new(Rng::with_seed(seed())),
            mutated: AtomicUsize::new(0),
            places: Mutex::default(),
            fragile,
        }
    }

    fn answer(&self, request: &LlmRequest) -> Reply {
        let (mut text, mut tool_uses) = sensible(request);
        let mut finish_reason = match tool_uses.as_slice() {
            [] => FinishReason::EndTurn,
            _ => FinishReason::ToolUse,
        };
        let mut is_mutated = false;
        {
            let mut random = self.random.lock().unwrap();
            // Later calls are reached only when the earlier ones were answered well.
            if random.u8(..5) < 2 {
                is_mutated = true;
                finish_reason = mutated_finish(&mut random, &tool_uses);
                match tool_uses.first_mut() {
                    Some(call) if random.u8(..8) > 0 => mutate::value(&mut call.input, &mut random),
                    Some(_) => tool_uses = mutate::calls(&tool_uses, &mut random),
                    None => text = mutate::text(&text, &mut random),
                }
            }
        }
        if is_mutated {
            self.mutated.fetch_add(1, Ordering::SeqCst);
            *self.places.lock().unwrap().entry(place(request)).or_default() += 1;
            assert!(
                !self.fragile || serde_json::from_str::<Value>(&text).is_ok(),
                "this model breaks down"
            );
        }
        Reply::Said {
            text,
            tool_uses,
            finish_reason,
        }
    }
}

/// What a good model says.
fn sensible(request: &LlmRequest) -> (String, Vec<ToolUse>) {
    let key = request.key.as_str();
    if key.contains("/plan#") {
        return (plan().to_string(), Vec::new());
    }
    if key.contains("/judge#") {
        let Reply::Json(judgement) = passing(request) else {
            panic!("the judge of the tests says something else");
        };
        return (judgement.to_string(), Vec::new());
    }
    let has_result = request.messages.len() > 2;
    if !request.tools.is_empty() && !has_result {
        let call = ToolUse {
            id: "call_1".to_owned(),
            name: request.tools[0].name.clone(),
            input: json!({ "path": "out.txt", "content": "the words {{a}}" }),
            carried: None,
            made_by: None,
        };
        return (String::new(), vec![call]);
    }
    match &request.response_schema {
        Some(wanted) => (fitting(&wanted.schema).to_string(), Vec::new()),
        None => ("A thought about the words.".to_owned(), Vec::new()),
    }
}

/// A value that fits a schema, as far as the schemas here go.
fn fitting(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), fitting(schema))).collect()
        }
        Some("array") => json!([]),
        Some("number" | "integer") => json!(0),
        Some("boolean") => json!(true),
        _ => json!("words"),
    }
}

/// What an answer is for.
fn place(request: &LlmRequest) -> &'static str {
    let key = request.key.as_str();
    let is_in = |part: &str| key.contains(part);
    match (is_in("phase/"), request.tools.is_empty()) {
        _ if is_in("/plan#") => "planner",
        _ if is_in("/judge#") => "judge",
        _ if is_in("guardrail") => "guardrail",
        _ if is_in("/rewrite/") => "rewrite",
        (true, true) if request.response_schema.is_some() => "flow with a schema",
        (true, true) => "flow",
        (true, false) => "agent of a flow",
        (false, true) => "reasoning step",
        (false, false) => "agent step",
    }
}

/// All of these.
const PLACES: [&str; 9] = [
    "planner",
    "judge",
    "guardrail",
    "rewrite",
    "flow with a schema",
    "flow",
    "agent of a flow",
    "reasoning step",
    "agent step",
];

fn plan() -> Value {
    let open = json!({ "id": "b", "description": "Write it", "tools": ["file_write"], "expectedOutcome": "a file",
        "dependencies": ["a"] });
    let free = json!({ "id": "d", "description": "Look around", "tools": ["file_read", "file_write"],
        "expectedOutcome": "words", "dependencies": ["b"], "mode": "free", "maxRounds": 4 });
    let read = tool("c", "file_read", json!({ "path": "out.txt" }), &["b"]);
    plan_value(json!([thought("a", &[]), open, read, free]))
}

/// A flow with every kind of step that asks a model, and rules around it.
fn flow() -> Value {
    let sure = json!({ "type": "object", "required": ["topic", "sure"],
        "properties": { "topic": { "type": "string" }, "sure": { "type": "boolean" } } });
    let ask = |id: &str| json!({ "id": id, "ask": { "instructions": "Say {{topic.topic}}.", "prompt": "Words." } });
    json!({
        "id": "garbled", "model": "scripted:m",
        "guardrails": [
            { "timing": "pre", "outcome": "passive", "judged": "Is it rude?" },
            { "timing": "post", "outcome": "active", "judged": "Is it wrong?", "threshold": 0.9 },
        ],
        "steps": [
            { "id": "topic", "ask": { "instructions": "Classify.", "prompt": "Words." }, "output": sure },
            { "id": "each", "agent": { "instructions": "Write.", "tools": ["file_write"], "mode": "eachOnce" } },
            { "id": "free", "agent": { "instructions": "Dig.", "tools": ["file_read", "file_write"], "mode": "free",
                "maxRounds": 4 } },
            { "id": "both", "reads": { "topic": "{{topic}}" },
                "group": { "mode": "parallel", "steps": [ask("one"), ask("two")] } },
            { "id": "again", "reads": { "both": "{{both}}" }, "group": { "mode": "sequence", "until": "{{check.sure}}", "max": 3, "steps": [
                { "id": "check", "ask": { "instructions": "Check.", "prompt": "{{both}}" }, "output": sure }] } },
            { "id": "last", "ask": { "instructions": "End.", "prompt": "{{again}}" }, "routes": [
                { "finish": { "text": "{{last}}", "rewrite": { "instructions": "Friendlier." } } }] },
        ],
    })
}

fn mutated_finish(random: &mut Rng, tool_uses: &[ToolUse]) -> FinishReason {
    match random.u8(..12) {
        0 => FinishReason::MaxTokens,
        1 => FinishReason::Refusal,
        2 => FinishReason::ContentFilter,
        3 => FinishReason::Unknown,
        _ if tool_uses.is_empty() => FinishReason::EndTurn,
        _ => FinishReason::ToolUse,
    }
}

/// What the task expects: one criterion for the judge, one for a check.
fn task() -> Value {
    json!({
        "goal": "Write some words", "models": { "planner": "scripted:m" }, "limits": { "maxCycles": 2 },
        "approval": "never",
        "context": {}, "expectedOutput": [{ "path": "out.txt", "description": "words", "criteria": [
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
    let answering = Arc::clone(&model);
    let config = Config {
        providers: vec![Script::answering(move |request| answering.answer(request))],
        people: Some(Arc::new(Agreeable)),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let task = app.header(&task(), &place.folder(), None).await.unwrap();
    let (flow, given) = (flow(), FlowInput::default());
    let flow = app
        .flow_header(&flow, &Refs::default(), given, &place.folder(), None)
        .await;
    let headers = [task, flow.unwrap()];
    let mut turn = 0;
    let (mut wrong, mut ends, mut early) = (Vec::new(), std::collections::BTreeMap::<String, usize>::new(), None);
    while model.mutated.load(Ordering::SeqCst) < count && wrong.len() < 5 {
        let before = model.mutated.load(Ordering::SeqCst);
        if early.is_none() && before >= count / 2 {
            early = Some(used());
        }
        turn += 1;
        let run = app.start(headers[turn % headers.len()].clone()).await.unwrap();
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
        "R5 replies: seed {}, {} mutated in {turn} runs ({:?}), ends {ends:?}, memory {} to {} kB, files {} to {}",
        seed(),
        model.mutated.load(Ordering::SeqCst),
        model.places.lock().unwrap(),
        early.0,
        late.0,
        early.1,
        late.1
    );
    let missed = PLACES
        .iter()
        .filter(|place| !model.places.lock().unwrap().contains_key(*place));
    let missed: Vec<&&str> = missed.collect();
    if !missed.is_empty() && wrong.is_empty() {
        wrong.push(format!("nothing was garbled in the answers of {missed:?}"));
    }
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
