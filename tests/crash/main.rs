//! Crashes: whatever kills the app, cuts its power, fills its disk or answers it with garbage, nothing that was
//! finished is done again, nothing that was promised is lost, and it goes on.
//!
//! `kills`, `power`, `faults`, `effects`, `own_command` and `undoing` start the victim (`work.rs`) as a process and do it real harm; garbage for
//! an answer is in `tests/garbled`, and on the way to a server in the tests of `providers`. Each check is also held against a mutant that it must
//! notice. A few dozen points are tried; with `TEPA_CRASH=full`, as `./check crash` sets it, all of them. `TEPA_SEED`
//! chooses another seed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod effects;
mod faults;
mod inspect;
mod kills;
mod own_command;
mod place;
mod power;
mod tally;
mod undoing;

/// Whether every point is tried.
fn full() -> bool {
    std::env::var_os("TEPA_CRASH").is_some_and(|how| how == "full")
}

/// What chance begins with.
fn seed() -> u64 {
    let chosen = std::env::var("TEPA_SEED").ok();
    chosen.and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121)
}
