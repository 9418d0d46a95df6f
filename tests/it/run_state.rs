//! The fold of a run's events is the same here and in the window: both reproduce these fixtures.
//!
//! `UPDATE_FIXTURES=1` writes them anew from a run of the sample, with times counted from 0.

use std::path::{Path, PathBuf};

use contract::Hash;
use contract::access::Access;
use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use contract::person::{AllowedFor, Answer, Ask};
use contract::run_state::RunState;
use contract::undo::{FileDelta, FileFace, FileRestore, NotRestored};
use serde::{Deserialize, Serialize};
use serde_json::json;

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
    for name in [
        "passed.json",
        "waiting.json",
        "running.json",
        "undone.json",
        "permission.json",
        "question.json",
    ] {
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
    let undone = [events.clone(), undo(&events)].concat();
    let permission = asking(&events, 1);
    let question = asking(&events, 3);
    for (name, events) in [
        ("permission.json", permission),
        ("question.json", question),
        ("passed.json", events.clone()),
        ("waiting.json", events[..=asked].to_vec()),
        ("running.json", events[..=written].to_vec()),
        ("undone.json", undone),
    ] {
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

/// A call that waits for a permission; then, with `count` of the events, the same allowed, and a step that asks for words.
fn asking(events: &[RunEventRecord], count: usize) -> Vec<RunEventRecord> {
    let started = |record: &RunEventRecord| match &record.event {
        RunEvent::ToolStarted { cycle, step, tool, .. } => Some((*cycle, step.clone(), tool.clone())),
        _ => None,
    };
    let at = events.iter().position(|record| started(record).is_some()).unwrap();
    let (cycle, step, tool) = started(&events[at]).unwrap();
    let leaf = Key::new(events[at].key.as_str().trim_end_matches(":started"));
    let permission = leaf.child("permission");
    let write = Access::Write {
        path: "/srv/reports/may.md".to_owned(),
    };
    let news = [
        (
            permission.mark("asked"),
            RunEvent::PersonAsked {
                ask: Ask::Permission {
                    cycle,
                    step: step.clone(),
                    tool,
                    wants: write.wants(),
                    access: vec![write],
                    reason: "that is outside the folders of this run".to_owned(),
                },
            },
        ),
        (
            permission,
            RunEvent::PersonAnswered {
                answer: Answer::Allow { scope: AllowedFor::Run },
            },
        ),
        (
            leaf.child("ask").child(0).mark("asked"),
            RunEvent::PersonAsked {
                ask: Ask::Gate {
                    cycle,
                    phase: step,
                    text: "Which month?".to_owned(),
                    question: Some(json!({ "type": "string", "enum": ["April", "May"] })),
                },
            },
        ),
    ];
    [events[..=at].to_vec(), after(&events[at], news.into_iter().take(count))].concat()
}

/// Events that follow one.
fn after(last: &RunEventRecord, news: impl IntoIterator<Item = (Key, RunEvent)>) -> Vec<RunEventRecord> {
    (1..)
        .zip(news)
        .map(|(number, (key, event))| RunEventRecord {
            seq: last.seq + number,
            at_ms: last.at_ms + 100 * i64::try_from(number).unwrap(),
            key,
            event,
            ..last.clone()
        })
        .collect()
}

/// What a command changed, all of it undone and brought back again, except for a file that could not be.
fn undo(events: &[RunEventRecord]) -> Vec<RunEventRecord> {
    let face = |text: &str| Some(FileFace::of(Hash::of_bytes(text.as_bytes())));
    let file = |path: &str| FileRestore {
        path: path.to_owned(),
        from: face("after"),
        to: face("before"),
        merged: path == "notes.txt",
    };
    let tool = events
        .iter()
        .find(|record| matches!(record.event, RunEvent::ToolStarted { .. }));
    let leaf = tool.unwrap().key.as_str().trim_end_matches(":started").to_owned();
    let changed = FileDelta {
        path: "notes.txt".to_owned(),
        before: face("before"),
        after: None,
        kept: true,
    };
    let left = vec![NotRestored {
        path: "report.md".to_owned(),
        why: "the disk is full".to_owned(),
    }];
    let intended = |redo| RunEvent::UndoIntended {
        redo,
        files: vec![file("notes.txt"), file("report.md")],
    };
    let news = [
        (
            Key::new(leaf).mark("changed"),
            RunEvent::FolderChanged {
                files: vec![changed],
                folders: Vec::new(),
                left_out: Vec::new(),
            },
        ),
        (Key::new("undo/0:intended"), intended(false)),
        (
            Key::new("undo/0"),
            RunEvent::UndoFinished {
                left,
                folders: vec!["new".to_owned()],
            },
        ),
        (Key::new("undo/1:intended"), intended(true)),
    ];
    after(events.last().unwrap(), news)
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
