//! `shell_execute`: a command line, in the working folder and held to what was granted.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::commands::{CommandRequest, Commands};
use contract::ports::files::{FileKind, FilesError};
use contract::ports::tool::{OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

pub(crate) struct ShellExecute {
    pub(crate) commands: Arc<dyn Commands>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The command line, for the system's shell.
    command: String,
    /// The folder to run it in, relative to the working folder.
    #[serde(default = "here")]
    cwd: String,
    /// After how many milliseconds it is ended. What the task allows a tool may be less.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 1, max = 3600000))]
    timeout: u64,
}

fn here() -> String {
    ".".to_owned()
}

fn half_a_minute() -> u64 {
    30_000
}

#[async_trait]
impl Tool for ShellExecute {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "shell_execute".to_owned(),
            description: "Runs a command line and returns { stdout, stderr, exitCode, timedOut, containment }. It can \
                change files of the working folder and nothing else; modes, owners and times of files stay as they \
                are; there is no network unless it was granted. It has no input, and everything it started ends with \
                it. Of output above 1 MB the beginning and the end are kept. To read, write or query files use the \
                other tools."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let command = args.get("command").and_then(Value::as_str);
        command
            .map(|command| Access::Execute {
                command: command.to_owned(),
            })
            .into_iter()
            .collect()
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        let what = args.get("command").and_then(Value::as_str)?.to_owned();
        let output = json!({
            "stdout": "", "stderr": "", "exitCode": null, "timedOut": false,
            "note": "the app ended while this command ran; a person says that it did its work",
        });
        Some(OutsideEffect { what, output })
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let line = CommandLine {
            command: input.command,
            cwd: input.cwd,
            timeout: input.timeout,
            input: String::new(),
        };
        run(self.commands.as_ref(), line, context).await
    }
}

/// A command line to run in the working folder.
pub(crate) struct CommandLine {
    pub(crate) command: String,
    /// Relative to the working folder.
    pub(crate) cwd: String,
    /// In milliseconds; what the context allows may be less.
    pub(crate) timeout: u64,
    /// What it reads.
    pub(crate) input: String,
}

/// Runs a command line, held to what was granted.
pub(crate) async fn run(
    commands: &dyn Commands,
    line: CommandLine,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let cwd = context.files.relative(&line.cwd)?;
    match context.files.stat(&cwd).await? {
        Some((FileKind::Folder, _)) => {}
        Some((FileKind::File | FileKind::Other, _)) => {
            return Err(FilesError::WrongKind {
                path: line.cwd,
                expected: "folder",
            }
            .into());
        }
        None => return Err(FilesError::NotFound(line.cwd).into()),
    }
    let root = context.files.root();
    // The folder as it was granted may have been written with a link in it; the handle knows the real one.
    let real = |places: &[String]| -> Vec<String> {
        let real = |place: &String| {
            if *place == context.granted.folder {
                root
            } else {
                place.as_str()
            }
            .to_owned()
        };
        places.iter().map(real).collect()
    };
    let done = commands
        .run(CommandRequest {
            command: line.command,
            folder: if cwd.is_empty() || cwd == "." {
                root.to_owned()
            } else {
                format!("{root}/{cwd}")
            },
            input: line.input,
            timeout: Duration::from_millis(line.timeout.min(context.limit_ms)),
            read: real(&context.granted.read),
            write: real(&context.granted.write),
            network: context.granted.network,
            uncontained: context.granted.uncontained,
        })
        .await
        .map_err(|error| ToolError::new(error.to_string()))?;
    Ok(ToolOutput::value(json!({
        "stdout": done.stdout,
        "stderr": done.stderr,
        "exitCode": done.exit_code,
        "timedOut": done.timed_out,
        "containment": done.containment.words(),
    })))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::ports::commands::{CommandError, CommandOutput, Containment};

    use super::*;
    use crate::test_place::place;

    #[derive(Default)]
    struct Heard(Mutex<Vec<CommandRequest>>);

    #[async_trait]
    impl Commands for Heard {
        async fn containment(&self) -> Containment {
            Containment::Landlock { abi: 6 }
        }

        async fn run(&self, request: CommandRequest) -> Result<CommandOutput, CommandError> {
            self.0.lock().unwrap().push(request);
            Ok(CommandOutput {
                stdout: "3\n".to_owned(),
                stderr: String::new(),
                exit_code: 1,
                timed_out: false,
                containment: Containment::Landlock { abi: 6 },
            })
        }
    }

    #[tokio::test]
    async fn runs_in_the_folder_with_what_was_granted() {
        let mut place = place(&[("sub/a", "")]);
        let commands = Arc::new(Heard::default());
        let tool = ShellExecute {
            commands: Arc::clone(&commands) as _,
        };
        place.context.granted = Arc::new(contract::access::Granted {
            folder: "/as/given".to_owned(),
            read: vec!["/as/given".to_owned(), "/books".to_owned()],
            write: vec!["/as/given".to_owned()],
            ..Default::default()
        });
        let done = place
            .run(&tool, json!({"command": "wc -l", "cwd": "sub", "timeout": 99_000}))
            .await;
        let said = json!({
            "stdout": "3\n", "stderr": "", "exitCode": 1, "timedOut": false, "containment": "landlock 6",
        });
        assert_eq!(done, Ok(said));
        let root = place.context.files.root().to_owned();
        let expected = CommandRequest {
            command: "wc -l".to_owned(),
            folder: format!("{root}/sub"),
            input: String::new(),
            timeout: Duration::from_secs(30),
            read: vec![root.clone(), "/books".to_owned()],
            write: vec![root],
            network: false,
            uncontained: false,
        };
        assert_eq!(*commands.0.lock().unwrap(), [expected]);
    }

    #[tokio::test]
    async fn starts_nowhere_else() {
        let place = place(&[("a", "")]);
        let commands = Arc::new(Heard::default());
        let tool = ShellExecute {
            commands: Arc::clone(&commands) as _,
        };
        for cwd in ["..", "/", "a", "missing"] {
            assert!(
                place.run(&tool, json!({"command": "ls", "cwd": cwd})).await.is_err(),
                "{cwd}"
            );
        }
        assert!(commands.0.lock().unwrap().is_empty());
    }

    #[test]
    fn says_beforehand_what_it_will_do() {
        let tool = ShellExecute {
            commands: Arc::new(Heard::default()),
        };
        let args = json!({"command": "make"});
        let command = "make".to_owned();
        assert_eq!(tool.access(&args), [Access::Execute { command }]);
        assert_eq!(tool.outside_effect(&args).unwrap().what, "make");
        assert!(!tool.may_be_kept(&args));
    }
}
