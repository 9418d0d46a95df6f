//! Where Landlock is missing: bubblewrap, which gives a command a view of the files of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::landlock::SYSTEM;
use crate::order::Order;

/// Where it is, if it is there.
pub(crate) fn program() -> Option<PathBuf> {
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
        .map(PathBuf::from)
        .into_iter()
        .find(|program| program.is_file())
}

/// The command, in its own view of the files.
pub(crate) fn command(bubblewrap: &Path, order: &Order, private: &Path) -> Command {
    let mut command = Command::new(bubblewrap);
    command.env_clear();
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    if order.network {
        command.arg("--share-net");
    }
    for place in SYSTEM.iter().filter(|place| !own(place)) {
        command.args(["--ro-bind-try", place, place]);
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm"]);
    for place in &order.read {
        command.args(["--ro-bind", place, place]);
    }
    for place in &order.write {
        command.args(["--bind", place, place]);
    }
    command.arg("--bind").arg(private).arg(private);
    command.args(["--chdir", &order.folder, "--", "/bin/sh", "-c", &order.command]);
    command
}

/// What it is given anew instead of being shown the system's.
fn own(place: &str) -> bool {
    place == "/proc" || place.starts_with("/dev/") || place.starts_with("/sys/")
}
