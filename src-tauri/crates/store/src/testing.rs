//! What the tests of this crate share: a store in a temporary folder, and small events.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use contract::access::Envelope;
use contract::cost::{Price, Prices};
use contract::event::{Purpose, RunEvent};
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::llm::{AttemptStatus, Instead, LlmAttempt, LlmErrorCode, Usage};
use contract::person::{Answer, Ask};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::run::{Roles, RunHeader, RunResult, StopReason};
use contract::task::{ExpectedOutput, Task};
use contract::value_ref::ValueRef;
use sha2::{Digest, Sha256};
use sqlx::AssertSqlSafe;

use crate::open::Store;

pub(crate) async fn open() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    (folder, store)
}

pub(crate) fn run_id(number: u32) -> RunId {
    RunId::new(format!("0193ab00-0000-7000-8000-{number:012}"))
}

pub(crate) async fn append(
    store: &Store,
    run: u32,
    first_seq: u64,
    entries: Vec<NewEntry>,
) -> Result<(), JournalError> {
    store
        .append(&run_id(run), first_seq, entries, vec![], Durability::Commit)
        .await
}

/// An entry under a key that no other has.
fn entry(event: RunEvent) -> NewEntry {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let key = Key::new(format!("entry/{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    NewEntry::new(key, 1_000, event)
}

pub(crate) fn keyed(key: &str, number: u32) -> NewEntry {
    NewEntry::new(Key::new(key), 1_000, RunEvent::CycleStarted { cycle: number })
}

pub(crate) fn envelope() -> Envelope {
    Envelope {
        folder: "/home/zoë/expenses".to_owned(),
        write: true,
        max_tokens: 64_000,
        max_cycles: 5,
        ..Envelope::default()
    }
}

pub(crate) fn started(title: &str) -> NewEntry {
    let model = || "replay:sample".to_owned();
    let header = RunHeader {
        task: Task {
            goal: "The goal of everything".to_owned(),
            context: serde_json::Map::new(),
            expected_output: ExpectedOutput::Text("An answer".to_owned()),
            name: None,
            working_folder: None,
            models: None,
            limits: contract::task::Limits::default(),
            approval: contract::task::Approval::default(),
            tools: None,
            hooks: None,
            extra: serde_json::Map::new(),
        },
        title: title.to_owned(),
        envelope: envelope(),
        roles: Roles::all(model()),
        hooks: vec!["approval".to_owned()],
        rules: Vec::new(),
        prices: contract::cost::Prices::default(),
        recording: Some("sample".to_owned()),
        app_version: "0.1.0".to_owned(),
        server_tools: Vec::new(),
        models: Vec::new(),
        flow: None,
    };
    entry(RunEvent::RunStarted {
        header: Box::new(header),
    })
}

/// Two models with a price each.
pub(crate) fn prices() -> Prices {
    let price = |input| Price {
        input,
        ..Price::default()
    };
    Prices {
        currency: "EUR".to_owned(),
        models: BTreeMap::from([
            ("a:large".to_owned(), price(2_000.0)),
            ("small".to_owned(), price(10.0)),
        ]),
    }
}

/// A run whose models cost something.
pub(crate) fn paying(title: &str, prices: Prices) -> NewEntry {
    let mut event = RunEvent::clone(&started(title).event);
    if let RunEvent::RunStarted { header } = &mut event {
        header.recording = None;
        header.prices = prices;
    }
    entry(event)
}

/// A call of a model begins.
pub(crate) fn asks(leaf: &str, model: &str) -> NewEntry {
    let (request, _) = ValueRef::of("llm-request", &serde_json::json!({})).unwrap();
    let event = RunEvent::ModelCallStarted {
        cycle: 1,
        purpose: Purpose::Plan,
        step: None,
        model: model.to_owned(),
        input_hash: Hash::of_bytes(leaf.as_bytes()),
        request,
        prompt_hash: Hash::of_bytes(b"prompt"),
    };
    NewEntry::new(Key::new(format!("{leaf}:started")), 1_000, event)
}

/// An attempt of it, at its own model or another one.
pub(crate) fn answered_by(leaf: &str, number: u32, tokens: u64, instead: Option<&str>) -> NewEntry {
    let RunEvent::ModelAttempted { mut attempt } = RunEvent::clone(&attempted(tokens).event) else {
        panic!("an attempt")
    };
    attempt.instead = instead.map(|model| Instead {
        model: model.to_owned(),
        code: LlmErrorCode::Connection,
        because: "it does not answer".to_owned(),
    });
    let key = Key::new(format!("{leaf}:attempt-{number}"));
    NewEntry::new(key, 1_000, RunEvent::ModelAttempted { attempt })
}

pub(crate) fn cycle(cycle: u32) -> NewEntry {
    entry(RunEvent::CycleStarted { cycle })
}

pub(crate) fn asked() -> NewEntry {
    let ask = Ask::ApprovePlan {
        cycle: 1,
        plan_hash: Hash::of_bytes(b"plan"),
        envelope: envelope(),
    };
    entry(RunEvent::PersonAsked { ask })
}

pub(crate) fn answered() -> NewEntry {
    let answer = Answer::Approve { revisions: false };
    entry(RunEvent::PersonAnswered { answer })
}

pub(crate) fn attempted(tokens: u64) -> NewEntry {
    let attempt = LlmAttempt {
        status: AttemptStatus::Success,
        duration_ms: 5,
        usage: Some(Usage {
            input: tokens,
            output: 1,
            ..Usage::default()
        }),
        ..LlmAttempt::default()
    };
    entry(RunEvent::ModelAttempted { attempt })
}

pub(crate) fn finished(stop_reason: StopReason, feedback: &str) -> NewEntry {
    let result = RunResult {
        status: stop_reason.status(),
        stop_reason,
        cycles: 1,
        tokens_used: 70,
        cost: None,
        feedback: feedback.to_owned(),
        outputs: vec![],
        error: None,
    };
    entry(RunEvent::RunFinished { result })
}

pub(crate) fn reopened() -> NewEntry {
    entry(RunEvent::RunReopened {
        why: "a higher budget".to_owned(),
    })
}

/// Bytes that no packing makes smaller.
pub(crate) fn incompressible(length: usize) -> Vec<u8> {
    let blocks = (0..length.div_ceil(32)).flat_map(|number| Sha256::digest(number.to_le_bytes()));
    blocks.take(length).collect()
}

/// How many rows a table has.
pub(crate) async fn count(store: &Store, table: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
        .fetch_one(store.readers())
        .await
        .unwrap()
}

/// Changes the database behind the store's back.
pub(crate) async fn execute(store: &Store, sql: &'static str) {
    let executing = store.writer().write(Durability::Commit, move |connection| {
        Box::pin(async move {
            sqlx::query(sql).execute(connection).await?;
            Ok(())
        })
    });
    executing.await.unwrap();
}

/// How SQLite would answer a query, one line per part.
pub(crate) async fn explain(store: &Store, sql: &str, arguments: &[&str]) -> String {
    let mut query = sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
    for argument in arguments {
        query = query.bind((*argument).to_owned());
    }
    let lines: Vec<(i64, i64, i64, String)> = query.fetch_all(store.readers()).await.unwrap();
    lines.into_iter().map(|line| line.3).collect::<Vec<_>>().join("\n")
}
