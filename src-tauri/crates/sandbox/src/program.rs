//! A program that is talked to for as long as it is needed: the app's side. Its input and output are the app's, and
//! everything that it started ends with it, or when the app lets go of it, or ends however that happens.
//!
//! It runs with the rights of the person who chose it, and without what the app's own surroundings know: of these it is
//! told a short list, and what it was given by name.

use contract::ports::commands::CommandError;

use crate::Sandbox;

/// A program with what it is given.
#[derive(Clone)]
pub struct Program {
    /// Its name, looked for where programs are, or its path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables that it was given by name; they may be secret.
    pub variables: Vec<(String, String)>,
    /// The folder in which it starts; absolute.
    pub folder: String,
}

pub use system::{Ending, Errors, Input, Output};

/// A program at work. Letting go of `input` tells it to end; what it leaves behind is ended a little later.
pub struct Talk {
    /// What it reads.
    pub input: Input,
    /// What it writes for its partner.
    pub output: Output,
    /// What it writes about itself.
    pub errors: Errors,
    /// How it ends.
    pub ending: Ending,
}

impl Sandbox {
    /// Starts a program to be talked to.
    ///
    /// # Errors
    /// `NotStarted` when there is no keeper for it. That the program itself cannot be started is told by [`Ending`].
    pub async fn talk(&self, program: Program) -> Result<Talk, CommandError> {
        system::talk(self, program)
            .await
            .map_err(|error| CommandError::NotStarted(error.to_string()))
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::process::Stdio;

    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::UnixStream;
    use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
    use tokio::process::{Child, ChildStderr, ChildStdout, Command};

    use super::{Program, Talk};
    use crate::order::{ProgramOrder, Report};
    use crate::{PROGRAM_KEEPER, Sandbox, environment};

    /// What a program reads: behind its order, everything on the line to its keeper.
    pub type Input = OwnedWriteHalf;
    /// What it writes.
    pub type Output = ChildStdout;
    /// What it writes about itself.
    pub type Errors = ChildStderr;

    /// Tells how a program ended.
    pub struct Ending {
        said: OwnedReadHalf,
        keeper: Child,
    }

    impl Ending {
        /// What it returned, or why it could not be started; nothing when nobody can say.
        pub async fn wait(mut self) -> Result<Option<i32>, String> {
            let line = BufReader::new(self.said).lines().next_line().await;
            let _ = self.keeper.wait().await;
            let report = line.ok().flatten().and_then(|line| serde_json::from_str(&line).ok());
            match report {
                Some(Report::Ended { exit_code, .. }) => Ok(Some(exit_code)),
                Some(Report::NotStarted { reason }) => Err(reason),
                Some(Report::Uncontained) | None => Ok(None),
            }
        }
    }

    pub(super) async fn talk(sandbox: &Sandbox, program: Program) -> io::Result<Talk> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        // It is not killed when it is forgotten: it ends what it keeps, and then itself.
        let mut keeper = Command::new(&sandbox.keeper)
            .arg(PROGRAM_KEEPER)
            .env_clear()
            .envs(environment::of_keeper())
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(output), Some(errors)) = (keeper.stdout.take(), keeper.stderr.take()) else {
            return Err(io::Error::other("its keeper has no output"));
        };
        let mut variables = environment::of_program();
        variables.retain(|(name, _)| program.variables.iter().all(|(given, _)| given != name));
        variables.extend(program.variables);
        let order = ProgramOrder {
            program: program.program,
            args: program.args,
            variables,
            folder: program.folder,
        };
        let mut line = serde_json::to_string(&order)?;
        line.push('\n');
        let (said, mut input) = UnixStream::from_std(ours)?.into_split();
        input.write_all(line.as_bytes()).await?;
        Ok(Talk {
            input,
            output,
            errors,
            ending: Ending { said, keeper },
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::process::Stdio;

    use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

    use super::{Program, Talk};
    use crate::{Sandbox, environment};

    /// What a program reads.
    pub type Input = ChildStdin;
    /// What it writes.
    pub type Output = ChildStdout;
    /// What it writes about itself.
    pub type Errors = ChildStderr;

    /// Tells how a program ended. It is killed when this is let go of.
    pub struct Ending {
        child: Child,
    }

    impl Ending {
        /// What it returned; nothing when nobody can say.
        pub async fn wait(mut self) -> Result<Option<i32>, String> {
            Ok(self.child.wait().await.ok().and_then(|status| status.code()))
        }
    }

    pub(super) async fn talk(_sandbox: &Sandbox, program: Program) -> io::Result<Talk> {
        let mut child = Command::new(&program.program)
            .args(&program.args)
            .env_clear()
            .envs(environment::of_program())
            .envs(program.variables)
            .current_dir(&program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => Ok(Talk {
                input,
                output,
                errors,
                ending: Ending { child },
            }),
            _ => Err(io::Error::other("it has no input or no output")),
        }
    }
}
