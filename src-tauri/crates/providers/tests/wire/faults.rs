//! R5: a thousand faults of the way to a server, one after the other: cut streams, refusals, garbage, silence, lies
//! about the length, web pages, nesting without end, answers that drip. Each call ends in an answer or a typed error, and
//! neither memory nor open files grow. The same for the list of models. Faults of HTTP/2 are beside `http`.
//!
//! `TEPA_CRASH=full` makes all of them, otherwise it is a hundred; `TEPA_SEED` chooses another seed.

#![cfg(target_os = "linux")]

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract::llm::{LlmAttempt, LlmError, LlmErrorCode, LlmRequest};
use fastrand::Rng;
use providers::endpoint::Endpoint;
use providers::openai_compatible;
use providers::server::ModelServer;
use serde_json::json;

use crate::fake::{Fake, STREAM_HEAD, Script, answer};
use crate::vendors::{VENDORS, Vendor};
use crate::{Heard, Jumping, endpoint, hello, list, piece, request};

/// How long the client waits for a server that is silent. Too little for a busy machine is one more typed error.
const SILENCE: Duration = Duration::from_millis(300);
/// A call that takes longer than this hangs: it has four attempts.
const HANGS: Duration = Duration::from_secs(60);
/// How much more memory is no growth, in kilobytes: what an allocator keeps.
const MEMORY: u64 = 24 * 1024;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Answer,
    Models,
}

/// Who is tried, and what it answers when nothing goes wrong.
fn whole(vendor: Option<&Vendor>, asked: Asked) -> Vec<u8> {
    let script = match (vendor, asked) {
        (Some(vendor), Asked::Answer) => vendor.sent(&vendor.exchange("forced_tool")),
        (None, Asked::Answer) => hello(),
        (Some(vendor), Asked::Models) => vendor.lists(),
        (None, Asked::Models) => list(&["qwen3", "other"]),
    };
    match script {
        Script::Send(parts) => parts.concat(),
        Script::Hang(bytes) | Script::Drip(bytes, _) => bytes,
    }
}

fn open(vendor: Option<&Vendor>, endpoint: Endpoint) -> (Arc<dyn ModelServer>, LlmRequest) {
    match vendor {
        Some(vendor) => (vendor.server(endpoint), vendor.exchange("forced_tool").request),
        None => {
            let server = openai_compatible::open("local", endpoint, Arc::new(Jumping::default())).unwrap();
            (server, request())
        }
    }
}

/// A head whose words about the body are a lie.
fn lying(header: &str, body: &[u8]) -> Script {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n{header}\r\n\r\n");
    Script::Send(vec![head.into_bytes(), body.to_vec()])
}

fn noise(random: &mut Rng, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.u8(..)).collect()
}

/// What a connection gets, as chance has it; none where nothing goes wrong.
fn fault(random: &mut Rng, whole: Vec<u8>) -> Option<Script> {
    let place = random.usize(..whole.len());
    Some(match random.u8(..21) {
        0 | 1 => Script::Send(vec![whole[..place].to_vec()]),
        2 => {
            let mut bytes = whole;
            for _ in 0..random.usize(1..20) {
                let place = random.usize(..bytes.len());
                bytes[place] = random.u8(..);
            }
            Script::Send(vec![bytes])
        }
        3 => answer(429, &["retry-after: 1"], "{\"error\":{\"message\":\"slow down\"}}"),
        4 => answer(429, &["retry-after: never", "retry-after-ms: -1"], "\u{0}"),
        5 => answer(529, &[], "{\"error\":{\"type\":\"overloaded_error\"}}"),
        6 => answer(random.u16(100..999), &[], "{\"error\":[[[{}]]]}"),
        7 => Script::Send(vec![noise(random, 3_000)]),
        8 => {
            let mut bytes = STREAM_HEAD.as_bytes().to_vec();
            bytes.extend(noise(random, 3_000));
            Script::Send(vec![bytes])
        }
        9 => answer(
            200,
            &["content-type: text/html"],
            "<!DOCTYPE html><html><body>Sign in</body></html>",
        ),
        10 => lying("content-length: 100000", b"{\"choices\":[]}"),
        11 => lying("content-length: 5", b"{\"choices\":[]}"),
        12 => lying("content-length: 5\r\ncontent-length: 7", b"{\"choices\":[]}"),
        13 => lying("transfer-encoding: chunked", b"5\r\nhello\r\nzz\r\n"),
        14 => lying("content-encoding: gzip", b"not packed at all"),
        15 => {
            let nested = "[".repeat(100_000);
            Script::Send(vec![
                STREAM_HEAD.as_bytes().to_vec(),
                format!("data: {nested}\n\n").into_bytes(),
            ])
        }
        16 => {
            let arguments = "{\"a\":".repeat(50_000);
            let call = json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "t", "arguments": arguments } }] });
            let event = piece(call, Some("tool_calls"));
            Script::Send(vec![
                STREAM_HEAD.as_bytes().to_vec(),
                format!("data: {event}\n\n").into_bytes(),
            ])
        }
        17 => {
            let index =
                json!({ "tool_calls": [{ "index": u64::MAX, "function": { "arguments": "}" } }, { "index": -1 }] });
            let event = piece(index, None);
            Script::Send(vec![
                STREAM_HEAD.as_bytes().to_vec(),
                format!("data: {event}\n\n").into_bytes(),
            ])
        }
        // Silence is rare: somebody has to wait for it.
        18 if random.u8(..4) == 0 => Script::Hang(whole[..place].to_vec()),
        18 => Script::Send(Vec::new()),
        19 if random.u8(..4) == 0 => Script::Drip(whole[..place].to_vec(), *random.choice(b" \n:x").unwrap()),
        19 => Script::Drip(
            b"HTTP/1.1 500 X\r\ncontent-length: 60000\r\n\r\n".to_vec(),
            *random.choice(b" {<x").unwrap(),
        ),
        _ => return None,
    })
}

/// Memory in kilobytes, and open files.
fn used() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let memory = line.trim().trim_end_matches(" kB").parse().unwrap();
    (memory, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

#[derive(Debug, Default)]
struct Counts {
    answers: usize,
    errors: usize,
    wrong: Vec<String>,
}

/// What of the attempts of a call is not as the models page states it: tried again where that may help, three times at
/// most, and not where it does not.
fn not_as_stated(error: Option<&LlmError>, attempts: &[LlmAttempt]) -> Option<String> {
    let (last, before) = attempts.split_last()?;
    // What is asked in simpler terms is asked at once, and is one of the three all the same.
    let retries = before.len();
    let needless = before
        .iter()
        .find(|attempt| attempt.wait_ms != Some(0) && !attempt.may_help());
    let final_status = |attempt: &&LlmAttempt| {
        let status = attempt.error.as_ref().and_then(|error| error.status);
        attempt.wait_ms != Some(0)
            && status.is_some_and(|status| (400..600).contains(&status) && !status_may_pass(status))
    };
    if let Some(refused) = before.iter().find(final_status) {
        return Some(format!("tried again in vain after its status: {refused:?}"));
    }
    match error {
        _ if needless.is_some() => Some(format!("tried again in vain: {needless:?}")),
        _ if retries > 3 => Some(format!("{retries} retries: {attempts:?}")),
        Some(error) if may_pass(error.code) && retries < 3 => {
            Some(format!("given up after {retries} retries: {error:?}"))
        }
        Some(error) if last.error.as_ref() != Some(error) => {
            Some(format!("the last attempt failed otherwise: {last:?}"))
        }
        Some(_) | None => None,
    }
}

/// Which failures are tried again, as the models page has it ("Retry"): a connection, 408, 5xx, 529 and 429. Written down
/// here once more, so that the product is not judged by its own table.
fn may_pass(code: LlmErrorCode) -> bool {
    match code {
        LlmErrorCode::Connection
        | LlmErrorCode::Timeout
        | LlmErrorCode::RateLimit
        | LlmErrorCode::Server
        | LlmErrorCode::StreamCut => true,
        LlmErrorCode::Authentication
        | LlmErrorCode::ModelNotFound
        | LlmErrorCode::ContextLength
        | LlmErrorCode::InvalidRequest
        | LlmErrorCode::BadResponse
        | LlmErrorCode::NotRecorded => false,
    }
}

/// The same by the HTTP status, where there was one.
fn status_may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..)
}

trait MayHelp {
    fn may_help(&self) -> bool;
}

impl MayHelp for LlmAttempt {
    fn may_help(&self) -> bool {
        self.error.as_ref().is_some_and(|error| may_pass(error.code))
    }
}

/// Makes so many faults; `leak` is what a careless client would keep open with each call.
async fn make(vendor: Option<&'static Vendor>, asked: Asked, count: usize, leak: bool) -> Counts {
    let seed: u64 = std::env::var("TEPA_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(20_261_121);
    let mut random = Rng::with_seed(seed);
    let good = whole(vendor, asked);
    let made = Arc::new(AtomicUsize::new(0));
    let making = Arc::clone(&made);
    let fake = Fake::with(move |_| match fault(&mut random, good.clone()) {
        Some(fault) => {
            making.fetch_add(1, Ordering::Relaxed);
            fault
        }
        None => Script::Send(good.chunks(1).map(<[u8]>::to_vec).collect()),
    })
    .await;
    let made = || made.load(Ordering::Relaxed);
    let mut endpoint = endpoint(&fake.url);
    endpoint.timeouts.first_byte = SILENCE;
    endpoint.timeouts.idle = SILENCE;
    endpoint.timeouts.content = SILENCE;
    endpoint.timeouts.error = SILENCE;
    endpoint.timeouts.list = SILENCE;
    let (provider, request) = open(vendor, endpoint);
    let mut counts = Counts::default();
    let mut kept = Vec::new();
    let mut early = None;
    while made() < count {
        if early.is_none() && made() >= count / 3 {
            early = Some(used());
        }
        if leak {
            kept.push(UnixStream::pair().unwrap().0);
        }
        let heard = Heard::default();
        let ended = tokio::time::timeout(HANGS, async {
            match asked {
                Asked::Answer => provider.complete(request.clone(), &heard).await.map(drop),
                Asked::Models => provider.models().await.map(drop),
            }
        })
        .await;
        if let Ok(ended) = &ended {
            counts
                .wrong
                .extend(not_as_stated(ended.as_ref().err(), &heard.attempts()));
        }
        match ended {
            Ok(Ok(())) => counts.answers += 1,
            Ok(Err(error)) if error.message.is_empty() => {
                counts.wrong.push(format!("an error without words: {error:?}"))
            }
            Ok(Err(_)) => counts.errors += 1,
            Err(_) => counts
                .wrong
                .push(format!("call {} hangs", counts.answers + counts.errors)),
        }
    }
    let (early, late) = (early.unwrap(), used());
    println!(
        "R5 transport, {} {asked:?}: seed {seed}, {count} faults, {} answers, {} typed errors, memory {} to {} kB, files {} to {}",
        vendor.map_or("chat completions", |vendor| vendor.name),
        counts.answers,
        counts.errors,
        early.0,
        late.0,
        early.1,
        late.1
    );
    // A connection may be on its way to be closed.
    if late.1 > early.1 + 8 {
        counts
            .wrong
            .push(format!("open files grew from {} to {}", early.1, late.1));
    }
    if late.0 > early.0 + MEMORY {
        counts
            .wrong
            .push(format!("memory grew from {} to {} kB", early.0, late.0));
    }
    counts
}

fn count() -> usize {
    match std::env::var_os("TEPA_CRASH").is_some_and(|how| how == "full") {
        true => 1_000,
        false => 100,
    }
}

#[tokio::test]
async fn each_fault_of_the_transport_ends_in_an_answer_or_a_typed_error() {
    for vendor in [None].into_iter().chain(VENDORS.iter().map(Some)) {
        let counts = make(vendor, Asked::Answer, count(), false).await;
        assert_eq!(counts.wrong, Vec::<String>::new());
        assert!(counts.answers > 0 && counts.errors > 0, "{counts:?}");
    }
}

#[tokio::test]
async fn each_fault_of_a_list_of_models_ends_in_a_list_or_a_typed_error() {
    for vendor in [None].into_iter().chain(VENDORS.iter().map(Some)) {
        let counts = make(vendor, Asked::Models, count(), false).await;
        assert_eq!(counts.wrong, Vec::<String>::new());
        assert!(counts.answers > 0 && counts.errors > 0, "{counts:?}");
    }
}

#[tokio::test]
async fn a_client_that_keeps_connections_open_is_noticed() {
    let counts = make(None, Asked::Answer, count(), true).await;
    println!("R5 transport (mutant): noticed: {:?}", counts.wrong.first());
    let is_noticed = |words: &String| words.starts_with("open files grew");
    assert!(counts.wrong.iter().all(is_noticed), "{:?}", counts.wrong);
    assert!(!counts.wrong.is_empty(), "the leak was not noticed");
}

/// The mutant of the policy: clients that try again where it cannot help, too often, or not at all.
#[test]
fn a_client_that_tries_again_otherwise_than_stated_is_noticed() {
    let failed = |code, wait_ms| LlmAttempt {
        error: Some(LlmError::new(code, "no")),
        wait_ms,
        ..LlmAttempt::default()
    };
    let noticed = |attempts: &[LlmAttempt]| {
        let last = attempts.last().and_then(|attempt| attempt.error.as_ref());
        not_as_stated(last, attempts).unwrap_or_default()
    };
    use LlmErrorCode::{Authentication, Server};
    let (again, end) = (failed(Server, Some(1_000)), failed(Server, None));
    let stated = [again.clone(), again.clone(), again.clone(), end.clone()];
    assert_eq!(noticed(&stated), "");
    assert_eq!(noticed(&[failed(Authentication, None)]), "");
    let wrong = [
        vec![failed(Authentication, Some(1_000)), failed(Authentication, None)],
        vec![again.clone(), again.clone(), again.clone(), again.clone(), end.clone()],
        vec![again, end],
    ];
    for (attempts, words) in wrong
        .iter()
        .zip(["tried again in vain", "4 retries", "given up after 1 retries"])
    {
        let found = noticed(attempts);
        println!("R5 transport (mutant): noticed: {found}");
        assert!(found.contains(words), "{found}");
    }
}
