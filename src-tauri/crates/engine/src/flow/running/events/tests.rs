use contract::flow::{GuardrailOutcome, GuardrailResult, Timing};
use contract::ids::{Key, RunId};
use contract::llm::{AttemptStatus, FinishReason, LlmAttempt};
use contract::run::{RunResult, RunStatus, StopReason};
use contract::step::StepError;
use contract::{Hash, event::LlmResponseRef};
use serde_json::json;

use super::*;

fn value(value: Value) -> ValueRef {
    ValueRef::of("test", &value).unwrap().0
}

fn started(phase: &str, visit: u32) -> (String, RunEvent) {
    let event = RunEvent::PhaseStarted {
        phase: phase.to_owned(),
        id: None,
        kind: "ask".to_owned(),
        visit,
        inputs: None,
    };
    (format!("phase/{phase}/{visit}#0:started"), event)
}

fn finished(phase: &str, output: Option<Value>) -> (String, RunEvent) {
    let error = output
        .is_none()
        .then(|| StepError::new(code::SCHEMA_ERROR, "it does not fit"));
    let event = RunEvent::PhaseFinished {
        phase: phase.to_owned(),
        output: output.map(value),
        error,
        set: Vec::new(),
        duration_ms: 1,
    };
    (format!("phase/{phase}/1#0"), event)
}

fn routed(to: Option<&str>) -> (String, RunEvent) {
    let event = RunEvent::PhaseRouted {
        from: "a".to_owned(),
        to: to.map(str::to_owned),
        set: Vec::new(),
        log: None,
    };
    ("phase/a/1#0:routed".to_owned(), event)
}

/// A model call from its beginning to its end, at an address.
fn call(key: &str, purpose: Purpose) -> Vec<(String, RunEvent)> {
    let usage = Usage {
        input: 10,
        output: 5,
        ..Usage::default()
    };
    let response = LlmResponseRef {
        value: value(json!({ "text": "hm, hello" })),
        finish_reason: FinishReason::EndTurn,
        usage,
    };
    let attempt = LlmAttempt {
        status: AttemptStatus::Success,
        duration_ms: 1,
        usage: Some(usage),
        ..LlmAttempt::default()
    };
    vec![
        (
            format!("{key}:started"),
            RunEvent::ModelCallStarted {
                cycle: 0,
                purpose,
                step: None,
                model: "fake:m".to_owned(),
                input_hash: Hash::of_bytes(b""),
                request: value(json!({})),
                prompt_hash: Hash::of_bytes(b""),
            },
        ),
        (format!("{key}:attempt-0"), RunEvent::ModelAttempted { attempt }),
        (
            key.to_owned(),
            RunEvent::ModelCallFinished {
                response: Some(response),
                error: None,
                duration_ms: 1,
            },
        ),
    ]
}

fn answered(text: &str) -> (String, RunEvent) {
    let event = RunEvent::AnswerGiven {
        text: value(json!(text)),
        instead_of: None,
    };
    ("answer".to_owned(), event)
}

fn ended(error: Option<StepError>) -> (String, RunEvent) {
    let stop_reason = if error.is_none() {
        StopReason::Passed
    } else {
        StopReason::Error
    };
    let result = RunResult {
        status: RunStatus::Pass,
        stop_reason,
        cycles: 0,
        tokens_used: 0,
        cost: None,
        feedback: String::new(),
        outputs: Vec::new(),
        error,
    };
    ("run:finished-0".to_owned(), RunEvent::RunFinished { result })
}

fn told(entries: Vec<(String, RunEvent)>) -> Vec<FlowEvent> {
    let mut events = FlowEvents::default();
    let records = entries.into_iter().zip(1..).map(|((key, event), seq)| RunEventRecord {
        run_id: RunId::new("run"),
        seq,
        at_ms: 0,
        key: Key::new(key),
        event,
    });
    records.flat_map(|record| events.take(&record, &|_| None)).collect()
}

fn check(entries: Vec<(String, RunEvent)>, expected: &[&str]) {
    let short: Vec<String> = told(entries).iter().map(ToString::to_string).collect();
    assert_eq!(short, expected);
}

#[test]
fn a_boundary_comes_before_every_phase() {
    check(
        vec![started("a", 1), started("b", 1)],
        &["StepBoundary", "PhaseStarted:a:0", "StepBoundary", "PhaseStarted:b:0"],
    );
}

#[test]
fn a_phase_starts_with_how_often_it_ran_before() {
    let visits = (1..=3).map(|visit| started("a", visit)).collect();
    let told = told(visits);
    assert_eq!(
        told.last().map(ToString::to_string).as_deref(),
        Some("PhaseStarted:a:2")
    );
}

#[test]
fn a_visit_that_was_skipped_does_not_count_as_one_before() {
    check(
        vec![started("a", 1), started("a", 3), started("a", 3), started("b", 2)],
        &[
            "StepBoundary",
            "PhaseStarted:a:0",
            "StepBoundary",
            "PhaseStarted:a:1",
            "StepBoundary",
            "PhaseStarted:a:1",
            "StepBoundary",
            "PhaseStarted:b:0",
        ],
    );
}

#[test]
fn a_completed_phase_shows_the_beginning_of_its_output() {
    let events = told(vec![finished("a", Some(json!({ "category": "billing" })))]);
    let preview = "{\"category\":\"billing\"}".to_owned();
    assert_eq!(
        events,
        [FlowEvent::PhaseCompleted {
            key: "a".to_owned(),
            preview
        }]
    );
    let long = told(vec![finished("a", Some(json!("ä".repeat(5_000))))]);
    assert!(matches!(&long[0], FlowEvent::PhaseCompleted { preview, .. } if preview.chars().count() == PREVIEW));
    check(vec![finished("a", None)], &[]);
}

#[test]
fn a_call_is_bracketed_and_its_end_says_what_it_cost() {
    let events = told(call("phase/a/1#0/call/0", Purpose::Phase));
    let [
        FlowEvent::LlmCallStart { .. },
        FlowEvent::ReasoningDelta { .. },
        FlowEvent::LlmCallEnd { usage },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!(usage.total(), 15);
}

#[test]
fn a_move_is_told_once_and_an_end_is_not() {
    check(vec![routed(Some("b"))], &["PhaseRouted:a>b"]);
    check(vec![routed(None)], &[]);
    let (key, mut event) = routed(Some("c"));
    if let RunEvent::PhaseRouted { from, .. } = &mut event {
        "loop/b".clone_into(from);
    }
    check(vec![(key, event)], &["PhaseRouted:loop/b>loop/c"]);
}

#[test]
fn an_error_is_followed_by_the_usage_alone() {
    let error = StepError::new(code::NO_ROUTE, "none of the routes of \"a\" applies");
    check(
        vec![finished("a", Some(json!(1))), ended(Some(error))],
        &["PhaseCompleted:a", "Error", "Usage"],
    );
}

#[test]
fn words_on_the_way_are_reasoning() {
    let on_the_way = [
        ("phase/a/1#0/call/0", Purpose::Phase),
        ("phase/a/1#0/round/0/call", Purpose::Phase),
        // What a flow inside this one answers is not this one's answer.
        ("phase/a/1#0/phase/say/1#0/call/0", Purpose::Answer),
    ];
    for (key, purpose) in on_the_way {
        check(call(key, purpose), &["LLMCallStart", "ReasoningDelta", "LLMCallEnd"]);
    }
}

#[test]
fn only_the_answer_is_text() {
    let mut entries = call("phase/say/1#0/call/0", Purpose::Answer);
    entries.extend(call("guardrail/1/call/0", Purpose::Guardrail));
    entries.push(answered("hm, hello"));
    check(
        entries,
        &["LLMCallStart", "LLMCallEnd", "LLMCallStart", "LLMCallEnd", "TextDelta"],
    );
}

#[test]
fn the_usage_comes_last_and_counts_every_call() {
    let mut entries = call("phase/a/1#0/call/0", Purpose::Phase);
    entries.extend(call("phase/b/1#0/call/0", Purpose::Phase));
    entries.push(ended(None));
    let events = told(entries);
    let Some(FlowEvent::Usage { usage }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(usage.total(), 30);
}

#[test]
fn a_guardrail_that_blocks_answers_and_is_no_error() {
    let result = GuardrailResult {
        rail: "1".to_owned(),
        timing: Timing::Pre,
        outcome: GuardrailOutcome::Active,
        violated: true,
        score: Some(1.0),
        error: None,
    };
    let entries = vec![
        ("guardrail/1".to_owned(), RunEvent::GuardrailJudged { result }),
        answered("Blocked."),
        ended(Some(StepError::new(code::BLOCKED_BY_GUARDRAIL, "Blocked."))),
    ];
    check(entries, &["TextDelta", "Usage"]);
}
