//! R3: the disk fails. Each write, sync, open, cut and rename fails once, as broken (EIO) and as full (ENOSPC); and
//! the disk stays full for a while. Nothing panics or is lost, the run stops with a message, and it goes on when the
//! disk works again.

use contract::event::RunEvent;

use crate::full;
use crate::inspect::{Undisturbed, events, sound};
use crate::place::{Place, Ran};
use crate::tally::{Tally, try_all};

/// The calls to the system, and every how many-th of them fails: in the short check, and in the full one.
const CALLS: [(&str, [usize; 2]); 5] = [
    ("pwrite64", [150, 5]),
    ("fsync", [7, 1]),
    ("ftruncate", [1, 1]),
    ("openat", [11, 1]),
    ("renameat", [3, 1]),
];
const ERRORS: [&str; 2] = ["EIO", "ENOSPC"];
/// Fails a call once; none when there was no such call.
fn fail(peace: &Undisturbed, call: &str, error: &str, count: usize) -> Option<Result<(), String>> {
    let place = Place::new();
    let recording = tempfile::NamedTempFile::new().unwrap();
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:error={error}:when={count}");
    let file = recording.path().to_str().unwrap().to_owned();
    let strace = [
        "timeout", "120", "strace", "-f", "-qq", "-o", &file, "-e", &trace, "-e", &inject,
    ];
    let ran = place.run_under(&strace, &[peace.work]);
    let injected = std::fs::read_to_string(recording.path()).unwrap_or_default();
    if !injected.contains("(INJECTED)") {
        return None;
    }
    let outcome = after_a_fault(peace, &place, &ran);
    Some(outcome.map_err(|message| format!("{} with {error} at {call} {count}: {message}", peace.work)))
}

/// What must hold after a fault, whether the run came to its end or not.
fn after_a_fault(peace: &Undisturbed, place: &Place, ran: &Ran) -> Result<(), String> {
    // The program was not even loaded: no fault of ours.
    if ran.complained.contains("error while loading shared libraries") {
        return Ok(());
    }
    ran.no_panic()?;
    if !ran.finished() {
        let explained = ran.said.iter().any(|line| line.starts_with("stopped ")) || !ran.complained.trim().is_empty();
        if !explained {
            return Err(format!("it ended without a word: {:?}", ran.said.last()));
        }
    }
    let before = match place.data().join("tepa.db").exists() {
        true => events(&place.data())?,
        false => Vec::new(),
    };
    let tool_failed = before
        .iter()
        .any(|record| matches!(&record.event, RunEvent::ToolFinished { error: Some(_), .. }));
    if tool_failed {
        // The step was told, and the run took another way; it has to come to some end.
        place.run(&[peace.work]).no_panic()?;
        return sound(&place.data());
    }
    peace.goes_on(place, ran.told(&["commit", "barrier"]))
}

fn fail_calls(peace: &Undisturbed) -> Tally {
    let mut tally = Tally::default();
    for (call, steps) in CALLS {
        for error in ERRORS {
            let points = (1..).step_by(steps[usize::from(full())]);
            tally = tally.and(try_all(points, false, |count| fail(peace, call, error, count)));
        }
    }
    tally
}

/// No file can grow beyond so many kilobytes, which is what a full disk is like, and a process cannot make room.
fn full_disk(peace: &Undisturbed, kilobytes: usize) -> Option<Result<(), String>> {
    let place = Place::new();
    let limited = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec timeout 120 \"$@\"");
    let ran = place.run_under(&["bash", "-c", &limited, "limited"], &[peace.work]);
    if ran.finished() {
        return None;
    }
    let outcome = after_a_fault(peace, &place, &ran);
    Some(outcome.map_err(|message| format!("{} with {kilobytes} kB: {message}", peace.work)))
}

fn fill_disk(peace: &Undisturbed) -> Tally {
    let step = if full() { 4 } else { 90 };
    try_all((1..).step_by(step), false, |kilobytes| full_disk(peace, kilobytes))
}

#[test]
fn a_call_that_fails_once_stops_or_harms_nothing() {
    fail_calls(&Undisturbed::of("chain")).must_hold("R3 each call fails once");
}

#[test]
fn a_run_goes_on_when_the_disk_has_room_again() {
    fill_disk(&Undisturbed::of("chain")).must_hold("R3 the disk is full");
}

#[test]
fn a_failure_that_is_taken_for_success_is_noticed() {
    let peace = Undisturbed::of("chain");
    let mutant = |kilobytes| {
        let place = Place::new();
        let limited = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec timeout 120 \"$@\"");
        let ran = place.run_under(&["bash", "-c", &limited, "limited"], &[peace.work, "mutant=deaf"]);
        Some(peace.goes_on(&place, ran.told(&["commit", "barrier"])))
    };
    try_all((100..).step_by(40).take(10), true, mutant).must_be_noticed("R3 takes a failure for success");
}
