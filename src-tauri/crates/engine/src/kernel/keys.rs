//! Addresses in a run. They never depend on timing, so a resumed run arrives at the same ones.
//!
//! What follows a colon accompanies an entry (`…:started`); the number after `#` counts attempts.

use contract::hash::Hash;
use contract::ids::Key;

/// The run's first event.
pub fn run_started() -> Key {
    Key::new("run:started")
}

/// The run's end; counted, because a run can be reopened.
pub fn run_finished(reopened: u32) -> Key {
    Key::new(format!("run:finished-{reopened}"))
}

/// The `n`th reopening, counted from 1.
pub fn run_reopened(n: u32) -> Key {
    Key::new(format!("run:reopened-{n}"))
}

/// The `n`th pause, counted from 0.
pub fn run_paused(n: u32) -> Key {
    Key::new(format!("run:paused-{n}"))
}

/// The end of the `n`th pause.
pub fn run_continued(n: u32) -> Key {
    Key::new(format!("run:continued-{n}"))
}

/// The `n`th of a person's words to later planners, counted from 0.
pub fn guidance(n: u32) -> Key {
    Key::new(format!("run:guidance-{n}"))
}

/// The `n`th change of the limits, counted from 0.
pub fn limits_raised(n: u32) -> Key {
    Key::new(format!("run:limits-{n}"))
}

/// What the `n`th execution of a leaf that runs a command changed in the folder, counted from 0.
pub fn folder_changed(leaf: &Key, n: u32) -> Key {
    match n {
        0 => leaf.mark("changed"),
        again => leaf.mark(format!("changed-{again}")),
    }
}

/// The `n`th undo or redo of what a run changed in files, counted from 0: its end. Its intention carries a mark.
pub fn undo(n: u32) -> Key {
    Key::new(format!("undo/{n}"))
}

/// What a leaf came to that was broken off by the end of the run: of the run as it was reopened so many times.
/// Opened again, the leaf is done anew.
pub fn halted(leaf: &Key, reopened: u32) -> Key {
    leaf.mark(format!("halted-{reopened}"))
}

/// The `n`th intention of a leaf that changes something, counted from 0: one more each time a person lets it run again.
pub fn intended(leaf: &Key, n: u32) -> Key {
    match n {
        0 => leaf.mark("intended"),
        again => leaf.mark(format!("intended-{again}")),
    }
}

/// The question whether what a task brings by itself may be done, by its content.
pub fn task_effect(content: &Hash) -> Key {
    Key::new("effect").child(safe(content.as_str()))
}

/// The `n`th thing that was performed for a leaf, counted from 0.
pub fn performed(leaf: &Key, n: u32) -> Key {
    leaf.child(format!("do/{n}"))
}

/// A cycle.
pub fn cycle(number: u32) -> Key {
    Key::new(format!("cycle/{number}"))
}

/// The planner of a cycle, without its attempt.
pub fn planner(cycle_number: u32) -> Key {
    cycle(cycle_number).child("plan")
}

/// The execution of a cycle's plan as a whole; hooks around it hang here.
pub fn execution(cycle_number: u32) -> Key {
    cycle(cycle_number).child("execute")
}

/// The verdict that a hook or a person put over the judge's, when that lets the run pass.
pub fn changed_verdict(cycle_number: u32) -> Key {
    cycle(cycle_number).mark("accepted")
}

/// The judge of a cycle, without its attempt.
pub fn judge(cycle_number: u32) -> Key {
    cycle(cycle_number).child("judge")
}

/// A step of a cycle's plan, without its attempt.
pub fn step(cycle_number: u32, id: &str) -> Key {
    cycle(cycle_number).child("step").child(safe(id))
}

/// The `n`th attempt at an address.
pub fn attempt(of: &Key, n: u32) -> Key {
    Key::new(format!("{of}#{n}"))
}

/// The `n`th attempt of a model call, counted from 0.
pub fn model_attempt(call: &Key, n: u32) -> Key {
    call.mark(format!("attempt-{n}"))
}

/// A name that a model or a person chose, as one part of an address.
pub fn safe(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '/' | ':' | '#' | '%' => out.push_str(&format!("%{:02X}", character as u32)),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pretend_to_be_an_address() {
        assert_eq!(step(1, "a/b:c#0%").as_str(), "cycle/1/step/a%2Fb%3Ac%230%25");
    }

    #[test]
    fn attempts_are_counted_at_their_address() {
        assert_eq!(
            attempt(&planner(2), 1).child("call/0").mark("started").as_str(),
            "cycle/2/plan#1/call/0:started"
        );
    }
}
