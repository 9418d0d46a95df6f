//! R1: the process is killed, at any moment and at its writes and syncs. Nothing that was finished is done again, no
//! entry is lost or doubled, and the run comes to the same end.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::inspect::Undisturbed;
use crate::place::Place;
use crate::tally::{Tally, try_all};
use crate::{full, seed};

const WORKS: [&str; 4] = ["chain", "wide", "cyclic", "flow"];
/// The calls to the system that bring something to the disk, and every how many-th of them kills: in the short check,
/// and in the full one.
const CALLS: [(&str, [usize; 2]); 5] = [
    ("pwrite64", [130, 5]),
    ("fsync", [6, 1]),
    ("write", [70, 3]),
    ("openat", [9, 1]),
    ("renameat", [2, 1]),
];

/// How many times are drawn for each kill that is wanted, before the check gives up.
const DRAWS: usize = 20;

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

/// Kills so often after random times. A time at which the victim was done already is no kill: another one is drawn.
fn at_random(peace: &Undisturbed, count: usize) -> Tally {
    let whole = (0..2).map(|_| undisturbed(peace)).fold(f64::INFINITY, f64::min);
    let mut random = fastrand::Rng::with_seed(seed());
    let (drawn, killed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let points = std::iter::from_fn(|| {
        let wanted = killed.load(Ordering::SeqCst) < count && drawn.load(Ordering::SeqCst) < count * DRAWS;
        wanted.then(|| {
            drawn.fetch_add(1, Ordering::SeqCst);
            format!("{:.4}", 0.0001 + random.f64() * whole)
        })
    });
    let mut tally = try_all(points, false, |seconds| {
        let outcome = kill(peace, &["timeout", "--signal=KILL", &seconds], &[]);
        killed.fetch_add(usize::from(outcome.is_some()), Ordering::SeqCst);
        outcome.or(Some(Ok(())))
    });
    let (drawn, killed) = (drawn.into_inner(), killed.into_inner());
    println!("R1 {}: {drawn} times drawn, {killed} killed", peace.work);
    assert!(killed >= count, "{killed} of {drawn} were killed before they were done");
    tally.reached = killed;
    tally
}

/// How long the victim takes when nobody disturbs it, in seconds.
fn undisturbed(peace: &Undisturbed) -> f64 {
    let began = std::time::Instant::now();
    Place::new().run(&[peace.work]);
    began.elapsed().as_secs_f64()
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
fn a_flow_that_is_killed_goes_on() {
    check(WORKS[3]);
}

#[test]
fn a_journal_that_says_written_too_early_is_noticed() {
    let peace = Undisturbed::of("chain");
    at_calls(&peace, "pwrite64", [40, 40], &["mutant=lazy"]).must_be_noticed("R1 says written too early");
}
