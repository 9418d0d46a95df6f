//! The fold of a run's events is the same here and in the window: both reproduce these fixtures.
//!
//! `UPDATE_FIXTURES=1` writes them anew from a run of the sample, with times counted from 0.

use std::path::{Path, PathBuf};

use contract::event::RunEventRecord;
use contract::ids::RunId;
use contract::run_state::RunState;
use serde::{Deserialize, Serialize};

use crate::sample::Sample;

#[derive(Serialize, Deserialize)]
struct Fixture {
    events: Vec<RunEventRecord>,
    state: RunState,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/run_state")
}

fn check(name: &str) {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    assert!(!fixture.events.is_empty());
    assert_eq!(RunState::of(&fixture.events), fixture.state, "{name}");
    let mut twice = fixture.state.clone();
    fixture.events.iter().for_each(|record| twice.apply(record));
    assert_eq!(
        twice, fixture.state,
        "{name}: an event that was taken in already changed something"
    );
}

#[test]
fn the_fold_reproduces_the_fixtures() {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        write_anew();
    }
    for name in ["passed.json", "waiting.json", "running.json"] {
        check(name);
    }
}

fn write_anew() {
    let events: Vec<RunEventRecord> = Sample::new().run().0.into_iter().map(repeatable).collect();
    let asked = events
        .iter()
        .position(|record| record.key.as_str().ends_with(":asked"))
        .unwrap();
    let written = events
        .iter()
        .position(|record| record.key.as_str().ends_with(":intended"))
        .unwrap();
    for (name, count) in [
        ("passed.json", events.len()),
        ("waiting.json", asked + 1),
        ("running.json", written + 1),
    ] {
        let events = events[..count].to_vec();
        let fixture = Fixture {
            state: RunState::of(&events),
            events,
        };
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(
            folder().join(name),
            serde_json::to_string_pretty(&fixture).unwrap() + "\n",
        )
        .unwrap();
    }
}

/// Without what is different each time: the run's id, the folder, the time.
fn repeatable(mut record: RunEventRecord) -> RunEventRecord {
    record.run_id = RunId::new("run");
    record.at_ms = 1_790_000_000_000 + 100 * i64::try_from(record.seq).unwrap();
    let mut value = serde_json::to_value(&record).unwrap();
    settle(&mut value);
    serde_json::from_value(value).unwrap()
}

fn settle(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "durationMs" if value.is_number() => *value = 40.into(),
                    "folder" if value.is_string() => *value = "/home/ada/Documents/Expenses".into(),
                    _ => settle(value),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}
