//! R1: the process is killed, at any moment and at its writes and syncs. Nothing that was finished is done again, no
//! entry is lost or doubled, and the run comes to the same end.

use crate::inspect::Undisturbed;
use crate::place::Place;
use crate::tally::{Tally, try_all};
use crate::{full, seed};

const WORKS: [&str; 3] = ["chain", "wide", "cyclic"];
/// The calls to the system that bring something to the disk, and every how many-th of them kills: in the short check,
/// and in the full one.
const CALLS: [(&str, [usize; 2]); 5] = [
    ("pwrite64", [130, 5]),
    ("fsync", [6, 1]),
    ("write", [70, 3]),
    ("openat", [9, 1]),
    ("renameat", [2, 1]),
];

/// Kills the victim under some program, and lets it go on. None when it was done before.
fn kill(peace: &Undisturbed, program: &[&str], how: &[&str]) -> Option<Result<(), String>> {
    let place = Place::new();
    let ran = place.run_under(program, &[&[peace.work], how].concat());
    if !ran.was_killed() {
        return match ran.must_finish() {
            Ok(()) => None,
            Err(error) => Some(Err(format!("{program:?}: {error}"))),
        };
    }
    let outcome = peace.goes_on(&place, ran.told(&["commit", "barrier"]));
    Some(outcome.map_err(|error| format!("{} killed by {program:?}: {error}", peace.work)))
}

/// Kills at every so many-th call of this kind.
fn at_calls(peace: &Undisturbed, call: &str, steps: [usize; 2], how: &[&str]) -> Tally {
    let points = (1..).step_by(steps[usize::from(full())]);
    try_all(points, !how.is_empty(), |count| {
        let trace = format!("trace={call}");
        let inject = format!("inject={call}:signal=KILL:when={count}");
        let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        kill(peace, &strace, how)
    })
}

/// Kills after random times.
fn at_random(peace: &Undisturbed, count: usize) -> Tally {
    let began = std::time::Instant::now();
    Place::new().run(&[peace.work]);
    let whole = began.elapsed().as_secs_f64();
    let mut random = fastrand::Rng::with_seed(seed());
    let points: Vec<String> = (0..count)
        .map(|_| format!("{:.4}", 0.0001 + random.f64() * whole))
        .collect();
    try_all(points.into_iter(), false, |seconds| {
        // Whoever is done before counts as not killed, and is no reason to end.
        kill(peace, &["timeout", "--signal=KILL", &seconds], &[]).or(Some(Ok(())))
    })
}

fn check(work: &'static str) {
    let peace = Undisturbed::of(work);
    let random = at_random(&peace, if full() { 70 } else { 8 });
    random.must_hold(&format!("R1 {work}, killed at random"));
    for (call, steps) in CALLS {
        at_calls(&peace, call, steps, &[]).must_hold(&format!("R1 {work}, killed at {call}"));
    }
}

#[test]
fn a_chain_that_is_killed_goes_on() {
    check(WORKS[0]);
}

#[test]
fn parallel_steps_that_are_killed_go_on() {
    check(WORKS[1]);
}

#[test]
fn a_loop_of_cycles_that_is_killed_goes_on() {
    check(WORKS[2]);
}

#[test]
fn a_journal_that_says_written_too_early_is_noticed() {
    let peace = Undisturbed::of("chain");
    at_calls(&peace, "pwrite64", [40, 40], &["mutant=lazy"]).must_be_noticed("R1 says written too early");
}
