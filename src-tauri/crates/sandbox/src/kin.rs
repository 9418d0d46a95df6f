//! Everything that descends from a keeper: whatever leaves its parent becomes the keeper's child, so that nothing gets
//! away by starting a session of its own or by letting its parent end.

use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// How long what was told to end is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a process ended, as a shell says it.
pub(crate) fn exit_code(status: &WaitStatus) -> Option<i32> {
    match status {
        WaitStatus::Exited(_, code) => Some(*code),
        WaitStatus::Signaled(_, signal, _) => Some(128 + *signal as i32),
        _ => None,
    }
}

/// Buries the children that have ended; says how `child` ended when it is among them.
pub(crate) fn bury(child: Pid) -> Option<i32> {
    let mut ended = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(_) => return ended,
            Ok(status) if status.pid() == Some(child) => ended = exit_code(&status),
            Ok(_) => {}
        }
    }
}

/// Ends every descendant; says how `child` ended when it is among them. Only own children are told to end: nobody else
/// can bury them, so that their numbers cannot belong to others by then; their children become ours in the next round.
pub(crate) fn end_all(child: Pid) -> Option<i32> {
    let mut ended = None;
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        for child in children() {
            let _ = kill(child, Signal::SIGKILL);
        }
        // Those that have ended are buried without waiting; only when there is none, one is waited for.
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return ended,
            Ok(WaitStatus::StillAlive) => std::thread::yield_now(),
            Ok(status) if status.pid() == Some(child) => ended = exit_code(&status),
            Ok(_) | Err(_) => {}
        }
    }
    ended
}

/// The children of every thread of this process.
fn children() -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let lists = threads
        .filter_map(Result::ok)
        .map(|thread| std::fs::read_to_string(thread.path().join("children")));
    let mut found = Vec::new();
    for list in lists {
        match list {
            Ok(list) => found.extend(list.split_whitespace().filter_map(pid)),
            // A kernel that does not list them.
            Err(_) => return by_parent(),
        }
    }
    found
}

/// The processes whose parent this one is, looked for among all.
fn by_parent() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|process| {
            let process = process.ok()?;
            let number = pid(process.file_name().to_str()?)?;
            let status = std::fs::read_to_string(process.path().join("stat")).ok()?;
            // Its name stands in brackets and may contain anything.
            let (_, rest) = status.rsplit_once(')')?;
            (rest.split_whitespace().nth(1)? == own).then_some(number)
        })
        .collect()
}

fn pid(number: &str) -> Option<Pid> {
    number.parse().ok().filter(|number| *number > 1).map(Pid::from_raw)
}
