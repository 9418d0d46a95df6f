//! R2: the power fails. What a process wrote and synced is recorded with strace; from any moment of it a disk is made
//! as a power cut may leave it: what was synced is there, of the rest some writes are there, whole or torn, in no
//! order. Every such disk opens, is sound, holds each synced entry, and its run goes on to the same end.

mod calls;
mod disk;

use std::path::Path;
use std::sync::Mutex;

use calls::Call;
use disk::Disk;

use crate::inspect::{Undisturbed, events, sound};
use crate::place::Place;
use crate::tally::{Tally, try_all};
use crate::{full, seed};

/// How many disks of each work are made, and of how many of them the run is continued.
const DISKS: [usize; 2] = [10, 130];
const CONTINUED: usize = 3;

/// Does the work once under strace, and returns what it did to its folders.
fn record(work: &str, how: &[&str]) -> (Vec<Call>, Place) {
    let place = Place::new();
    let recording = tempfile::NamedTempFile::new().unwrap();
    let trace = format!("trace={}", calls::TRACED);
    let strace = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-xx",
        "-s",
        "100000000",
        "-e",
        "signal=none",
        "-e",
        &trace,
        "-o",
        recording.path().to_str().unwrap(),
    ];
    let ran = place.run_under(&strace, &[&[work], how].concat());
    ran.must_finish().unwrap();
    let text = std::fs::read_to_string(recording.path()).unwrap();
    (calls::read(&text, place.root()), place)
}

/// Cuts the power at random moments of one recording. The disks are made where the work was done, one after the
/// other, since a run knows its folder.
fn cut(peace: &Undisturbed, calls: &[Call], place: Place, count: usize, how: &[&str]) -> Tally {
    let place = Mutex::new(place);
    let mut random = fastrand::Rng::with_seed(seed());
    let points: Vec<(usize, usize, u64)> = (0..count)
        .map(|number| (number, random.usize(1..=calls.len()), random.u64(..)))
        .collect();
    try_all(points.into_iter(), !how.is_empty(), |(number, moment, chance)| {
        let place = place.lock().unwrap();
        let outcome = check_disk(peace, &calls[..moment], &place, chance, number % CONTINUED == 0);
        Some(outcome.map_err(|error| format!("{} cut at {moment} of {}, {chance}: {error}", peace.work, calls.len())))
    })
}

fn check_disk(peace: &Undisturbed, calls: &[Call], place: &Place, chance: u64, go_on: bool) -> Result<(), String> {
    let mut disk = Disk::default();
    calls.iter().for_each(|call| disk.apply(call));
    place.clear();
    disk.leave(place.root(), &mut fastrand::Rng::with_seed(chance));
    let promised = disk.promised();
    if go_on {
        return peace.goes_on(place, promised);
    }
    let found = events(&place.data())?;
    sound(&place.data())?;
    match found.len() as u64 >= promised {
        true => Ok(()),
        false => Err(format!("a barrier was lost: {} of {promised}", found.len())),
    }
}

fn check(work: &'static str) {
    let peace = Undisturbed::of(work);
    let (calls, place) = record(work, &[]);
    assert_same_as_recorded(&calls, &place);
    let tally = cut(&peace, &calls, place, DISKS[usize::from(full())], &[]);
    tally.must_hold(&format!("R2 {work}, power cut"));
}

/// The recording is worth something only when a disk on which everything arrived is the real one.
fn assert_same_as_recorded(calls: &[Call], place: &Place) {
    let mut disk = Disk::default();
    calls.iter().for_each(|call| disk.apply(call));
    assert!(disk.promised() > 0, "no barrier was recorded");
    let whole = tempfile::tempdir().unwrap();
    disk.leave_everything(whole.path());
    let same = |name: &str| bytes(&whole.path().join(name)) == bytes(&place.root().join(name));
    assert!(same("data/tepa.db"), "the recorded database is not the real one");
    assert!(same("work/out.txt"), "the recorded file is not the real one");
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

#[test]
fn a_chain_whose_power_fails_goes_on() {
    check("chain");
}

#[test]
fn parallel_steps_whose_power_fails_go_on() {
    check("wide");
}

#[test]
fn a_loop_of_cycles_whose_power_fails_goes_on() {
    check("cyclic");
}

#[test]
fn large_content_survives_a_power_cut() {
    check("large");
}

#[test]
fn a_barrier_that_is_not_synced_is_noticed() {
    let peace = Undisturbed::of("chain");
    let how = ["mutant=unsynced"];
    let (calls, place) = record("chain", &how);
    assert_same_as_recorded(&calls, &place);
    let tally = cut(&peace, &calls, place, DISKS[1], &how);
    tally.must_be_noticed("R2 barrier without a sync");
    let is_lost = |words: &String| words.contains(" lost: ");
    assert!(
        tally.wrong.iter().all(is_lost),
        "noticed for another reason: {:#?}",
        tally.wrong
    );
}
