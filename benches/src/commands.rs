//! What it costs to start a command held to what it may touch, beside a plain start and bubblewrap's.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use crate::Failed;
use crate::engines::Programs;
use crate::figures::Figure;
use crate::report::{Must, Row};

/// How often each is started for one figure.
const STARTS: usize = 40;

/// Milliseconds from the start to the end of a command that does nothing.
pub fn measure(programs: &Programs, runs: usize) -> Result<Vec<Row>, Failed> {
    let failed = |error: std::io::Error| Failed::at("a command", error);
    let folder = tempfile::tempdir().map_err(failed)?;
    let folder = folder.path().canonicalize().map_err(failed)?;
    let (mut plain, mut ours, mut bubblewrap) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        // In turn, so that whatever else the machine does meets all of them.
        plain.push(each(start_plain)?);
        ours.push(each(|| start_ours(&programs.tepa, &folder))?);
        bubblewrap.push(each(|| start_bubblewrap(&folder))?);
    }
    let ratio = |of: &[f64], to: &[f64]| Figure::of(of.iter().zip(to).map(|(of, to)| of / to));
    let (to_plain, to_bubblewrap) = (ratio(&ours, &plain), ratio(&ours, &bubblewrap));
    Ok(vec![
        Row::beside("C1", "a plain command", Figure::of(plain), "ms"),
        Row::beside("C1", "a command under bubblewrap", Figure::of(bubblewrap), "ms"),
        Row::beside("C1", "a command held by us", Figure::of(ours), "ms"),
        Row::must(
            "C1",
            "a command held by us to a plain one",
            to_plain,
            "x",
            Must::AtMost(3.0),
        ),
        Row::must(
            "C1",
            "a command held by us to bubblewrap's",
            to_bubblewrap,
            "x",
            Must::AtMost(0.5),
        ),
    ])
}

/// Milliseconds a start.
fn each(start: impl Fn() -> Result<(), Failed>) -> Result<f64, Failed> {
    let begun = Instant::now();
    for _ in 0..STARTS {
        start()?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1000.0 / STARTS as f64)
}

fn must_succeed(what: &str, command: &mut Command) -> Result<(), Failed> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failed::at(what, error))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(Failed(format!("{what}: {}", String::from_utf8_lossy(&done.stderr)))),
    }
}

fn start_plain() -> Result<(), Failed> {
    must_succeed("a plain command", Command::new("/bin/sh").args(["-c", ":"]))
}

fn start_bubblewrap(folder: &Path) -> Result<(), Failed> {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/usr",
        "/usr",
    ]);
    for link in ["bin", "lib", "lib64"] {
        command.args(["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--bind"]);
    command.arg(folder).arg(folder).args(["/bin/sh", "-c", ":"]);
    must_succeed("bubblewrap", &mut command)
}

/// As the app does it: our own program once more, an order on its standard input, a report back.
fn start_ours(tepa: &Path, folder: &Path) -> Result<(), Failed> {
    let failed = |error: std::io::Error| Failed::at("a command held by us", error);
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let mut keeper = Command::new(tepa)
        .arg("--keep-a-command")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let ways = json!({ "landlock": 255, "bubblewrap": false, "systemCalls": true });
    let order = json!({
        "command": ":", "folder": folder, "read": [], "write": [folder], "network": false, "uncontained": false,
        "ways": ways,
    });
    (&ours).write_all(format!("{order}\n").as_bytes()).map_err(failed)?;
    let mut report = String::new();
    BufReader::new(&ours).read_line(&mut report).map_err(failed)?;
    keeper.wait().map_err(failed)?;
    match report.contains("\"landlock\"") && report.contains("\"exitCode\":0") {
        true => Ok(()),
        false => Err(Failed(format!("a command held by us: {report}"))),
    }
}
