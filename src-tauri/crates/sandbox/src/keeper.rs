//! The keeper of one command: a process of its own between the app and what a stranger wrote.

use std::io::{self, BufRead, BufReader, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, parent_id};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;

use caps::CapSet;
use contract::ports::commands::Containment;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, close, setsid};

use crate::order::{Order, Report};
use crate::system_calls::Rules;
use crate::{bubblewrap, environment, kin, landlock, system_calls};

/// A command that was started.
struct Started {
    child: Pid,
    containment: Containment,
}

/// Why there is none.
enum NotStarted {
    Uncontained,
    Failed(String),
}

/// Takes one order from the standard input, and ends with its command.
pub(crate) fn serve() -> ExitCode {
    close_what_is_not_ours();
    let done = channel().and_then(|channel| {
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

/// Whatever the app had open and forgot to keep to itself would be open for the command too.
pub(crate) fn close_what_is_not_ours() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers: Vec<i32> = open
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        // One of them was the list's own, which is closed by now.
        let _ = close(number);
    }
}

/// The line to the app.
pub(crate) fn channel() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn keep(channel: &UnixStream) -> io::Result<Report> {
    let mut line = String::new();
    BufReader::new(channel).read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    let signals = prepare()?;
    let private = tempfile::Builder::new().prefix("tepa-").tempdir()?;
    let app = parent_id();
    let started = start(order, private.path(), app);
    Ok(match started {
        Ok(started) => Report::Ended {
            containment: started.containment,
            exit_code: wait(channel, &signals, started.child)?,
        },
        Err(NotStarted::Uncontained) => Report::Uncontained,
        Err(NotStarted::Failed(reason)) => Report::NotStarted { reason },
    })
}

/// Leaves the app's terminal and group, takes in what loses its parent, and keeps its own end in its own hands.
pub(crate) fn prepare() -> io::Result<SignalFd> {
    // It fails when this is the first of a group already, which is as good.
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signals.add(signal);
    }
    signals.thread_block()?;
    Ok(SignalFd::with_flags(
        &signals,
        SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
    )?)
}

/// Starts the command from a thread that has shut itself in: what a thread may do is inherited by what it starts, and
/// this thread may go on looking after it. The other stays as long as this process: bubblewrap ends with the thread that
/// started it.
fn start(order: Order, private: &Path, app: u32) -> Result<Started, NotStarted> {
    let (told, started) = mpsc::channel();
    let private = private.to_owned();
    std::thread::spawn(move || {
        let listens = SigSet::empty().thread_set_mask();
        let begun = listens
            .map_err(|error| NotStarted::Failed(error.to_string()))
            .and_then(|()| start_shut_in(&order, &private, app));
        // Signals are for the thread that waits; nobody is left to be told that this one would take them.
        let _ = SigSet::all().thread_block();
        let _ = told.send(begun);
        loop {
            std::thread::park();
        }
    });
    started
        .recv()
        .unwrap_or_else(|_| Err(NotStarted::Failed("the thread that starts it broke down".to_owned())))
}

/// Gives up every right that an administrator has over others: to look into their processes, to change what is not
/// theirs. Ordinary people's programs have none, and give up none.
fn give_up_rights() {
    // What may be had again at all goes first, since that too is a right.
    for rights in [
        CapSet::Bounding,
        CapSet::Ambient,
        CapSet::Inheritable,
        CapSet::Effective,
        CapSet::Permitted,
    ] {
        // Whoever may not give them up does not have them.
        let _ = caps::clear(None, rights);
    }
}

fn start_shut_in(order: &Order, private: &Path, app: u32) -> Result<Started, NotStarted> {
    // Looked for while everything can be looked at.
    let variables = environment::of_command(private, |path| landlock::readable(order, path));
    let input = input(&order.input).map_err(|error| NotStarted::Failed(error.to_string()))?;
    let held = landlock::shut_in(order, private).map_err(NotStarted::Failed)?;
    let (mut command, containment) = match held.filter(|_| order.ways.system_calls || order.uncontained) {
        Some(abi) => {
            if order.ways.system_calls {
                let rules = Rules {
                    network: order.network,
                    landlock: abi,
                    app,
                    keeper: std::process::id(),
                };
                give_up_rights();
                system_calls::filter(rules)
                    .map_err(|error| NotStarted::Failed(format!("no filter of system calls: {error}")))?;
            }
            (shell(order), Containment::Landlock { abi })
        }
        None => match bubblewrap::program().filter(|_| order.ways.bubblewrap) {
            Some(program) => (bubblewrap::command(&program, order, private), Containment::Bubblewrap),
            None if order.uncontained => (shell(order), Containment::None),
            None => return Err(NotStarted::Uncontained),
        },
    };
    let child = command
        .env_clear()
        .envs(variables)
        .stdin(input)
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .process_group(0)
        .spawn()
        .map_err(|error| NotStarted::Failed(error.to_string()))?;
    let child = i32::try_from(child.id()).map_err(|error| NotStarted::Failed(error.to_string()))?;
    Ok(Started {
        child: Pid::from_raw(child),
        containment,
    })
}

/// What the command reads: all of it at hand before it starts, in a file without a name, so that nobody waits for it to read.
fn input(words: &str) -> io::Result<Stdio> {
    if words.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(words.as_bytes())?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

fn shell(order: &Order) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&order.command).current_dir(&order.folder);
    command
}

/// Until the command has ended, the app has gone, or somebody ends this process. Then everything has.
fn wait(channel: &UnixStream, signals: &SignalFd, child: Pid) -> io::Result<i32> {
    // The end of a quick command may have been told to the thread that started it.
    let mut ended = kin::bury(child);
    while ended.is_none() {
        let mut awaited = [
            PollFd::new(channel.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut awaited, PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => {
                kin::end_all(child);
                return Err(error.into());
            }
        }
        // The app says nothing after its order: that there is something to read means that it has gone.
        let mut over = awaited[0].any().unwrap_or(true);
        while let Ok(Some(signal)) = signals.read_signal() {
            over |= signal.ssi_signo != Signal::SIGCHLD as u32;
        }
        ended = kin::bury(child);
        if over {
            break;
        }
    }
    let ended = kin::end_all(child).or(ended);
    Ok(ended.unwrap_or(128 + Signal::SIGKILL as i32))
}
