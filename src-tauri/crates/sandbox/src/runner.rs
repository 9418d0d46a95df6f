//! The app's side: a keeper for each command, and what it says.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use contract::access::key_stores;
use contract::ports::commands::{CommandError, CommandOutput, CommandRequest, Commands, Containment};
use tokio::sync::OnceCell;

use crate::order::Ways;

/// Runs commands in a sandbox.
#[derive(Debug)]
pub struct Sandbox {
    /// The program that is started as the keeper; it must begin with [`crate::serve_if_asked`].
    pub keeper: PathBuf,
    /// Which ways of holding a command are tried.
    pub ways: Ways,
    /// What no command may ever reach, such as the app's own data: a folder around it is not granted.
    pub never: Vec<PathBuf>,
    containment: OnceCell<Containment>,
}

impl Sandbox {
    /// A sandbox with everything that this system has.
    pub fn new(keeper: PathBuf, never: Vec<PathBuf>) -> Self {
        Self {
            keeper,
            ways: Ways::default(),
            never,
            containment: OnceCell::new(),
        }
    }

    /// A sandbox with less than this system has, to see what happens on others.
    pub fn with_ways(mut self, ways: Ways) -> Self {
        self.ways = ways;
        self
    }

    /// This very program, also when the file it was started from has been replaced meanwhile.
    pub fn this_program() -> PathBuf {
        if cfg!(target_os = "linux") {
            return PathBuf::from("/proc/self/exe");
        }
        std::env::current_exe().unwrap_or_default()
    }

    /// What is granted although it must not be.
    fn forbidden(&self, request: &CommandRequest) -> Option<CommandError> {
        let granted = request.read.iter().chain(&request.write);
        let within = |place: &Path| {
            let touches = |never: &PathBuf| never.starts_with(place) || place.starts_with(never);
            key_stores::leads_into_one(place) || self.never.iter().any(touches)
        };
        // What a link leads to is what would be opened.
        let reaches = |place: &&String| {
            let place = Path::new(place);
            within(place) || place.canonicalize().is_ok_and(|real| within(&real))
        };
        let place = granted.into_iter().find(reaches)?;
        Some(CommandError::NotStarted(format!(
            "\"{place}\" holds what no command may reach, such as keys or this app's own data; choose another folder"
        )))
    }
}

#[async_trait]
impl Commands for Sandbox {
    async fn containment(&self) -> Containment {
        *self.containment.get_or_init(|| system::containment(self)).await
    }

    async fn run(&self, request: CommandRequest) -> Result<CommandOutput, CommandError> {
        match self.forbidden(&request) {
            Some(error) => Err(error),
            None => system::run(self, request).await,
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::OwnedFd;
    use std::process::Stdio;
    use std::time::Duration;

    use futures::future::join3;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::UnixStream;
    use tokio::process::{Child, Command};
    use tokio::time::timeout;

    use super::{CommandError, CommandOutput, CommandRequest, Containment, Sandbox};
    use crate::order::{Order, Report};
    use crate::{KEEPER, environment, streams};

    /// How long a keeper may take to end what it keeps, beyond its own patience.
    const GRACE: Duration = Duration::from_secs(8);

    /// What holds a command that does nothing.
    pub(super) async fn containment(sandbox: &Sandbox) -> Containment {
        let request = CommandRequest {
            command: ":".to_owned(),
            folder: "/".to_owned(),
            input: String::new(),
            timeout: Duration::from_secs(10),
            read: Vec::new(),
            write: Vec::new(),
            network: false,
            uncontained: false,
        };
        match run(sandbox, request).await {
            Ok(CommandOutput {
                containment,
                exit_code: 0,
                ..
            }) => containment,
            _ => Containment::None,
        }
    }

    pub(super) async fn run(sandbox: &Sandbox, request: CommandRequest) -> Result<CommandOutput, CommandError> {
        let failed = |error: std::io::Error| CommandError::NotStarted(error.to_string());
        let limit = request.timeout;
        let order = Order {
            command: request.command,
            folder: request.folder,
            input: request.input,
            read: request.read,
            write: request.write,
            network: request.network,
            uncontained: request.uncontained,
            ways: sandbox.ways,
        };
        let mut line = serde_json::to_string(&order).map_err(|error| failed(error.into()))?;
        line.push('\n');
        // The line must outlive the writing end's half: closing this end is what ends the command.
        let (mut channel, mut keeper) = start(sandbox).map_err(failed)?;
        channel.write_all(line.as_bytes()).await.map_err(failed)?;
        let (Some(stdout), Some(stderr)) = (keeper.stdout.take(), keeper.stderr.take()) else {
            return Err(CommandError::Lost);
        };
        let (said, writing) = channel.into_split();
        let mut said = BufReader::new(said).lines();
        let mut work =
            std::pin::pin!(async { join3(said.next_line(), streams::read(stdout), streams::read(stderr)).await });
        let (done, timed_out) = match timeout(limit, work.as_mut()).await {
            Ok(done) => (done, false),
            Err(_) => {
                drop(writing);
                (timeout(GRACE, work).await.map_err(|_| CommandError::Lost)?, true)
            }
        };
        let (report, stdout, stderr) = done;
        let _ = keeper.wait().await;
        let report = report.ok().flatten().ok_or(CommandError::Lost)?;
        match serde_json::from_str(&report).map_err(|_| CommandError::Lost)? {
            Report::Ended { containment, exit_code } => Ok(CommandOutput {
                stdout,
                stderr,
                exit_code,
                timed_out,
                containment,
            }),
            Report::Uncontained => Err(CommandError::Uncontained),
            Report::NotStarted { reason } => Err(CommandError::NotStarted(reason)),
        }
    }

    /// A keeper, and the line to it. It is not killed when it is forgotten: it ends what it keeps, and then itself.
    fn start(sandbox: &Sandbox) -> std::io::Result<(UnixStream, Child)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let keeper = Command::new(&sandbox.keeper)
            .arg(KEEPER)
            .env_clear()
            .envs(environment::of_keeper())
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok((UnixStream::from_std(ours)?, keeper))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{CommandError, CommandOutput, CommandRequest, Containment, Sandbox};
    use crate::plain;

    pub(super) async fn containment(_sandbox: &Sandbox) -> Containment {
        Containment::None
    }

    pub(super) async fn run(_sandbox: &Sandbox, request: CommandRequest) -> Result<CommandOutput, CommandError> {
        plain::run(request).await
    }
}
