//! R4 for undoing: the process dies at any write, sync, opening, renaming or removal of an undo. Every file is as before
//! the run or as after it, never half; asked again, the undo comes to its end, and can be taken back.

use std::collections::BTreeMap;

use crate::full;
use crate::inspect::sound;
use crate::place::Place;
use crate::tally::{Tally, try_all};

/// The calls to the system that bring something to the disk, and every how many-th of them kills: in the short check,
/// and in the full one.
const CALLS: [(&str, [usize; 2]); 6] = [
    ("pwrite64", [15, 1]),
    ("fsync", [4, 1]),
    ("write", [12, 1]),
    ("openat", [40, 2]),
    ("renameat", [1, 1]),
    ("unlinkat", [2, 1]),
];

type Files = BTreeMap<String, Vec<u8>>;

/// Whether every file is as it was or as it came to be.
fn is_whole(found: &Files, before: &Files, after: &Files) -> Result<(), String> {
    for name in before.keys().chain(after.keys()) {
        let now = found.get(name);
        if now != before.get(name) && now != after.get(name) {
            return Err(format!("{name} is neither as before nor as after the run"));
        }
    }
    Ok(())
}

/// Kills an undo there; none when it was done before.
fn check(call: &str, count: usize, mutant: &[&str]) -> Option<Result<(), String>> {
    let place = Place::new();
    std::fs::write(place.file("out.txt"), "mine\n").unwrap();
    let before = place.files();
    place.run(&["chain"]).must_finish().unwrap();
    let after = place.files();
    assert!(after.len() > 2 && after["out.txt"] != before["out.txt"]);
    let (trace, inject) = (
        format!("trace={call}"),
        format!("inject={call}:signal=KILL:when={count}"),
    );
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    let killed = place.run_under(&strace, &[&["undo"], mutant].concat());
    if !killed.was_killed() {
        return killed.must_finish().err().map(Err);
    }
    Some(comes_to_its_end(&place, &before, &after).map_err(|error| format!("killed at {call} {count}: {error}")))
}

fn comes_to_its_end(place: &Place, before: &Files, after: &Files) -> Result<(), String> {
    sound(&place.data())?;
    is_whole(&place.files(), before, after)?;
    for (work, expected) in [("undo", before), ("redo", after), ("undo", before)] {
        place.run(&[work]).must_finish()?;
        if place.files() != *expected {
            return Err(format!("after the {work} the files are {:?}", place.files().keys()));
        }
    }
    sound(&place.data())
}

fn check_all(call: &str, steps: [usize; 2], mutant: &[&str]) -> Tally {
    let points = (1..).step_by(steps[usize::from(full())]);
    try_all(points, !mutant.is_empty(), |count| check(call, count, mutant))
}

#[test]
fn an_undo_that_is_killed_comes_to_its_end() {
    for (call, steps) in CALLS {
        check_all(call, steps, &[]).must_hold(&format!("R4 undo, killed at {call}"));
    }
}

#[test]
fn an_undo_without_a_word_before_it_is_noticed() {
    check_all("renameat", [1, 1], &["mutant=wordless"]).must_be_noticed("R4 undo without a word");
}
