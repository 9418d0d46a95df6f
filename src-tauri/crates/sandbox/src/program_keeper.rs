//! The keeper of a program that is talked to. It hands on what the app says; when the app has said its last word, the
//! program has a little time to end by itself, and then everything that it started is ended.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use contract::ports::commands::Containment;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;

use crate::keeper;
use crate::kin;
use crate::order::{ProgramOrder, Report};

/// How long a program may take to end by itself once nothing more is said to it.
const LEAVE: Duration = Duration::from_secs(2);

/// Takes one order from the standard input, and ends with its program.
pub(crate) fn serve() -> ExitCode {
    keeper::close_what_is_not_ours();
    let done = keeper::channel().and_then(|channel| {
        let report = keep(&channel).unwrap_or_else(|error| Report::NotStarted {
            reason: error.to_string(),
        });
        let mut line = serde_json::to_string(&report)?;
        line.push('\n');
        (&channel).write_all(line.as_bytes())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(channel: &UnixStream) -> io::Result<Report> {
    let mut said = BufReader::new(channel.try_clone()?);
    let mut line = String::new();
    said.read_line(&mut line)?;
    let order: ProgramOrder = serde_json::from_str(&line)?;
    let signals = keeper::prepare()?;
    let mut child = start(order)?;
    let (handing_on, handed_on) = UnixStream::pair()?;
    if let Some(mut input) = child.stdin.take() {
        // When the last word is handed on, or nobody takes it any more, its end of the pair closes.
        std::thread::spawn(move || {
            hand_on(&mut said, &mut input);
            drop(handing_on);
        });
    }
    let number = i32::try_from(child.id()).map_err(io::Error::other)?;
    Ok(Report::Ended {
        containment: Containment::None,
        exit_code: wait([&handed_on, channel], &signals, Pid::from_raw(number))?,
    })
}

/// Hands on what is said, as soon as it is. `io::copy` would have the kernel move it, which waits for more than there is.
fn hand_on(said: &mut impl Read, input: &mut impl Write) {
    let mut words = vec![0; 64 * 1024];
    loop {
        let heard = match said.read(&mut words) {
            Ok(0) => return,
            Ok(heard) => heard,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if input.write_all(&words[..heard]).is_err() {
            return;
        }
    }
}

fn start(order: ProgramOrder) -> io::Result<Child> {
    Command::new(&order.program)
        .args(&order.args)
        .env_clear()
        .envs(order.variables)
        .current_dir(&order.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("\"{}\" cannot be started: {error}", order.program),
            )
        })
}

/// Until the program has ended, or the app has said its last word and its time to leave is over, or somebody ends this
/// process. Then everything has ended.
fn wait(lines: [&UnixStream; 2], signals: &SignalFd, child: Pid) -> io::Result<i32> {
    let mut ended = kin::bury(child);
    let mut until: Option<Instant> = None;
    while ended.is_none() {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        let mut awaited = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        // That a line is closed is told without being asked for, and would be told again and again.
        if left.is_none() {
            awaited.extend(lines.map(|line| PollFd::new(line.as_fd(), PollFlags::empty())));
        }
        let patience = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut awaited, patience) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => {
                kin::end_all(child);
                return Err(error.into());
            }
        }
        let closed = awaited[1..].iter().any(|line| line.any().unwrap_or(true));
        let mut over = false;
        while let Ok(Some(signal)) = signals.read_signal() {
            over |= signal.ssi_signo != Signal::SIGCHLD as u32;
        }
        ended = kin::bury(child);
        if over {
            break;
        }
        if closed {
            until = Some(Instant::now() + LEAVE);
        }
    }
    let ended = kin::end_all(child).or(ended);
    Ok(ended.unwrap_or(128 + Signal::SIGKILL as i32))
}
