//! The fold of events is the state, whatever the events: taken in one after the other, all at once, twice, or on top
//! of a state that was written down in between; and the window's fold makes the same of them.
//!
//! The events are those of the sample and one of each kind that it has not, cut, repeated, swapped and changed by
//! chance. `tests/fixtures/run_fold.json` holds some of these runs for TypeScript; `UPDATE_FIXTURES=1` writes it anew.

use std::path::{Path, PathBuf};

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use contract::run_state::RunState;
use fastrand::Rng;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the fixture begins with.
const SEED: u64 = 20_261_121;
/// How many runs the fixture has.
const RUNS: u64 = 24;
/// The longest run.
const LONGEST: usize = 24;
/// Longer texts prove nothing more.
const WORDS: usize = 24;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Folded {
    events: Vec<RunEventRecord>,
    state: RunState,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Events in an order in which they may come, with their keys.
fn examples() -> Vec<(Key, RunEvent)> {
    let text = std::fs::read_to_string(fixtures().join("run_state/passed.json")).unwrap();
    let passed: Value = serde_json::from_str(&text).unwrap();
    let sample: Vec<RunEventRecord> = serde_json::from_value(passed["events"].clone()).unwrap();
    let mut examples: Vec<(Key, RunEvent)> = sample.into_iter().map(|record| (record.key, record.event)).collect();
    let more = [
        (
            "cycle/1/plan#0/refused",
            json!({ "type": "planRefused", "cycle": 1, "problems": ["no step"], "again": true }),
        ),
        (
            "cycle/1/plan:attempt-1",
            json!({ "type": "attemptOpened", "of": "cycle/1/plan", "n": 1, "why": "again" }),
        ),
        (
            "cycle/1/judge:attempt-1",
            json!({ "type": "attemptOpened", "of": "cycle/1/judge", "n": 1, "why": "again" }),
        ),
        (
            "run/reopened/1",
            json!({ "type": "runReopened", "why": "a person continued it" }),
        ),
    ];
    for (key, event) in more {
        let place = examples.len() / 2;
        examples.insert(place, (Key::new(key), serde_json::from_value(event).unwrap()));
    }
    examples
}

/// A run as chance has it.
fn run(examples: &[(Key, RunEvent)], seed: u64) -> Vec<RunEventRecord> {
    let mut random = Rng::with_seed(seed);
    let from = random.usize(..examples.len());
    let mut picked: Vec<(Key, RunEvent)> = vec![examples[0].clone()];
    let mut place = if random.bool() { 1 } else { from };
    while picked.len() < LONGEST && place < examples.len() {
        picked.push(examples[place].clone());
        // Mostly onwards, sometimes a leap, sometimes back.
        place = match random.u8(..10) {
            0 => place.saturating_sub(random.usize(..8)),
            1..=3 => place + random.usize(2..12),
            _ => place + 1,
        };
    }
    for _ in 0..random.usize(..4) {
        let place = random.usize(..picked.len());
        let other = (place + 1) % picked.len();
        picked.swap(place, other);
    }
    let records = picked.into_iter().zip(1..).map(|((key, event), seq)| RunEventRecord {
        run_id: RunId::new("run"),
        seq,
        at_ms: 1_790_000_000_000 + i64::try_from(seq * 7).unwrap(),
        key,
        event: changed(event, &mut random),
    });
    records.collect()
}

/// The same kind of event with other values.
fn changed(event: RunEvent, random: &mut Rng) -> RunEvent {
    let mut value = serde_json::to_value(&event).unwrap();
    change(&mut value, "", random);
    match serde_json::from_value(value) {
        Ok(other) => other,
        // Not every value is one of this kind; then at least no text is long.
        Err(_) => {
            let mut value = serde_json::to_value(&event).unwrap();
            change(&mut value, "", &mut Rng::with_seed(0));
            serde_json::from_value(value).unwrap_or(event)
        }
    }
}

fn change(value: &mut Value, name: &str, random: &mut Rng) {
    let often = random.u8(..12) == 0;
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| change(value, name, random)),
        Value::Array(items) if often && !items.is_empty() => {
            items.truncate(random.usize(..items.len()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, name, random)),
        Value::Number(number) if often && number.is_u64() => *value = json!(random.u32(..4)),
        Value::Bool(flag) if often => *flag = !*flag,
        Value::String(text) => {
            if name == "step" && often {
                *text = format!("step_{}", random.u8(1..6));
            } else if text.chars().count() > WORDS && !text.contains('/') {
                *text = text.chars().take(WORDS).collect();
            } else if often && random.bool() {
                *value = Value::Null;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check(events: &[RunEventRecord], split: usize) {
    let state = RunState::of(events);
    let mut step_by_step = RunState::default();
    for (number, event) in events.iter().enumerate() {
        step_by_step.apply(event);
        // What was taken in already changes nothing.
        events[..=number].iter().for_each(|event| step_by_step.apply(event));
    }
    assert_eq!(step_by_step, state);
    let (earlier, later) = events.split_at(split % (events.len() + 1));
    let written = serde_json::to_string(&RunState::of(earlier)).unwrap();
    let mut continued: RunState = serde_json::from_str(&written).unwrap();
    later.iter().for_each(|event| continued.apply(event));
    assert_eq!(continued, state);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_fold_of_any_events_is_the_state(seed in any::<u64>(), split in any::<usize>()) {
        check(&run(&examples(), seed), split);
    }
}

#[test]
fn the_fold_reproduces_the_runs_that_the_window_folds_too() {
    let path = fixtures().join("run_fold.json");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let examples = examples();
        let runs: Vec<Folded> = (0..RUNS)
            .map(|number| {
                let events = run(&examples, SEED + number);
                Folded {
                    state: RunState::of(&events),
                    events,
                }
            })
            .collect();
        let lines: Vec<String> = runs.iter().map(|run| serde_json::to_string(run).unwrap()).collect();
        std::fs::write(&path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
    }
    let runs: Vec<Folded> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(runs.len() as u64, RUNS);
    for run in runs {
        assert_eq!(RunState::of(&run.events), run.state);
        check(&run.events, run.events.len() / 2);
    }
}
