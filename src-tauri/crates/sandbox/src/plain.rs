//! Systems on which nothing holds a command: it runs only when a person allowed exactly this one.

#![cfg_attr(
    target_os = "linux",
    allow(dead_code, reason = "Linux has better; its tests see that this works")
)]

use std::io::{Seek, Write};
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use contract::ports::commands::{CommandError, CommandOutput, CommandRequest, Containment};
use futures::future::join;
use tokio::process::Command;
use tokio::time::timeout;

use crate::{environment, streams};

/// How long the rest of what an ended command wrote is waited for.
const REST: Duration = Duration::from_secs(1);

/// Runs a command with the system's own shell. What it leaves behind is not looked for.
pub(crate) async fn run(request: CommandRequest) -> Result<CommandOutput, CommandError> {
    if !request.uncontained {
        return Err(CommandError::Uncontained);
    }
    let failed = |error: std::io::Error| CommandError::NotStarted(error.to_string());
    let home = tempfile::Builder::new().prefix("tepa-").tempdir().map_err(failed)?;
    let mut child = shell(&request.command)
        .env_clear()
        .envs(environment::of_command(home.path(), |_| true))
        .current_dir(&request.folder)
        .stdin(input(&request.input).map_err(failed)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(CommandError::Lost);
    };
    let mut written = pin!(join(streams::read(stdout), streams::read(stderr)));
    let done = timeout(request.timeout, join(child.wait(), written.as_mut())).await;
    let timed_out = done.is_err();
    let (status, (stdout, stderr)) = match done {
        Ok((status, written)) => (status, written),
        Err(_) => {
            child.start_kill().map_err(failed)?;
            let status = child.wait().await;
            // What it started may live on and hold its streams.
            (status, timeout(REST, written).await.unwrap_or_default())
        }
    };
    let status = status.map_err(failed)?;
    Ok(CommandOutput {
        stdout,
        stderr,
        exit_code: status.code().unwrap_or(137),
        timed_out,
        containment: Containment::None,
    })
}

/// What the command reads, in a file without a name.
fn input(words: &str) -> std::io::Result<Stdio> {
    if words.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(words.as_bytes())?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

fn shell(line: &str) -> Command {
    let (program, word) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("/bin/sh", "-c")
    };
    let mut command = Command::new(program);
    command.arg(word).arg(line);
    command
}
