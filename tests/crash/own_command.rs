//! The app is killed while a command that the task brings is at work: everything that the command started ends with the
//! app, and the run that goes on asks what came of it before anything is done again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::inspect::{events, sound};
use crate::place::{Place, VICTIM};

/// The numbers of the processes that the command consists of, once all of them are at work.
fn at_work(place: &Place) -> Vec<PathBuf> {
    loop {
        let numbers = std::fs::read_to_string(place.file("processes")).unwrap_or_default();
        let numbers: Vec<&str> = numbers.lines().collect();
        if let [shell, child, "all"] = numbers[..] {
            return [shell, child].map(|number| Path::new("/proc").join(number)).to_vec();
        }
        std::thread::yield_now();
    }
}

/// Kills the app in the middle of the command, and waits until nothing of the command is left.
fn killed_at_work(place: &Place) {
    let mut victim = Command::new(VICTIM)
        .arg(place.root())
        .arg("own-command")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let processes = at_work(place);
    assert!(processes.iter().all(|process| process.exists()), "{processes:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    while processes.iter().any(|process| process.exists()) {
        std::thread::yield_now();
    }
}

fn check(answer: &str, executed: usize, ended: &str) {
    let place = Place::new();
    killed_at_work(&place);
    sound(&place.data()).unwrap();
    // From now on the command comes to its end.
    std::fs::write(place.file("may-end"), "").unwrap();
    let ran = place.run(&["own-command", &format!("answer={answer}")]);
    ran.must_finish().unwrap();
    assert!(ran.said.contains(&"uncertain".to_owned()), "{answer}: {:?}", ran.said);
    assert_eq!(ran.said.last().map(String::as_str), Some(ended), "{answer}");
    // The step before it was done, and is not done again.
    assert!(
        !ran.log.iter().any(|line| line.contains("/plan#")),
        "{answer}: {:?}",
        ran.log
    );
    let begun = std::fs::read_to_string(place.file("begun")).unwrap();
    assert_eq!(begun.lines().count(), 1 + executed, "{answer}");
    events(&place.data()).unwrap();
    sound(&place.data()).unwrap();
}

#[test]
fn a_tasks_own_command_ends_with_the_app_and_is_done_again_only_when_a_person_says_so() {
    check("again", 1, "finished Passed");
}

#[test]
fn a_run_whose_own_command_was_cut_short_can_be_stopped_there() {
    check("stop", 0, "finished Cancelled");
}
