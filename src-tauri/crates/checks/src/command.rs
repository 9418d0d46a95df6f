//! `command`: a command line ends as it should. It is run where tools run theirs, and only when a person allowed exactly
//! it: one that nobody allowed proves nothing either way.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckCommandOutput, CheckInfo, CheckOutcome, CheckTarget, NoCommand};
use contract::ports::files::Files;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments;
use crate::phrases::{quote, syntax};

const SHORT: Option<&str> = Some("run");

/// How much of what a command wrote is kept beside the verdict, in characters.
const KEPT: usize = 2_000;

pub(crate) struct Command;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A command line, run in the working folder. You are asked before it runs for the first time.
    #[schemars(title = "Command", regex(pattern = "\\S"))]
    run: String,
    /// The number with which it ends when all is well.
    #[serde(default)]
    #[schemars(title = "Ends with", range(min = 0, max = 255))]
    exit: i64,
    /// A regular expression that finds something in what it writes; ^ and $ stand for the beginning and the end of a line.
    #[serde(default)]
    #[schemars(title = "Writes what matches", length(min = 1))]
    stdout_matches: Option<String>,
}

impl Args {
    fn pattern(&self) -> Result<Option<Regex>, String> {
        let Some(pattern) = &self.stdout_matches else {
            return Ok(None);
        };
        let built = RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(1024 * 1024)
            .build();
        built.map(Some).map_err(|error| syntax(pattern, &error))
    }
}

#[async_trait]
impl Check for Command {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "command".to_owned(),
            title: "A command succeeds".to_owned(),
            description: "A command line, run in the working folder, ends as it should.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("command", args, SHORT);
        if !problems.is_empty() {
            return problems;
        }
        let pattern = arguments::read::<Args>(args, SHORT).and_then(|args| args.pattern());
        let problem = pattern.err().map(|problem| format!("command: {problem}"));
        problem.into_iter().collect()
    }

    fn commands(&self, args: &Value) -> Vec<String> {
        let args = arguments::read::<Args>(args, SHORT);
        args.map(|args| args.run).into_iter().collect()
    }

    async fn run(&self, args: &Value, target: &CheckTarget, _files: &Arc<dyn Files>) -> CheckOutcome {
        let read = arguments::read::<Args>(args, SHORT).and_then(|args| Ok((args.pattern()?, args)));
        let (pattern, args) = match read {
            Ok(read) => read,
            Err(reason) => return CheckOutcome::could_not_run(reason),
        };
        let Some(commands) = &target.commands else {
            return CheckOutcome::could_not_run("there are no commands here");
        };
        match commands.run(&args.run).await {
            Ok(done) => judge(&args, pattern.as_ref(), &done),
            Err(NoCommand::NotAllowed(reason)) => CheckOutcome::refused(reason),
            Err(NoCommand::Failed(reason)) => CheckOutcome::could_not_run(reason),
        }
    }
}

fn judge(args: &Args, pattern: Option<&Regex>, done: &CheckCommandOutput) -> CheckOutcome {
    let command = quote(&args.run);
    let Some(exit_code) = done.exit_code else {
        return CheckOutcome::could_not_run(format!("nobody saw how {command} ended"));
    };
    let observed = json!({
        "exitCode": exit_code,
        "stdout": end_of(&done.stdout),
        "stderr": end_of(&done.stderr),
        "containment": done.containment,
    });
    let held = format!(" (held by {})", done.containment);
    if done.timed_out {
        return CheckOutcome::fail(format!("{command} was ended because it took too long{held}"), observed);
    }
    if exit_code != args.exit {
        let said = last_line(&done.stderr).or_else(|| last_line(&done.stdout));
        let said = said.map(|line| format!(": {}", quote(line))).unwrap_or_default();
        let evidence = format!("{command} ended with {exit_code}, expected {}{said}{held}", args.exit);
        return CheckOutcome::fail(evidence, observed);
    }
    match pattern.map(|pattern| (pattern, pattern.find(&done.stdout))) {
        None => CheckOutcome::pass(format!("{command} ended with {exit_code}{held}"), observed),
        Some((_, Some(found))) => {
            let evidence = format!(
                "{command} ended with {exit_code} and wrote {}{held}",
                quote(found.as_str())
            );
            CheckOutcome::pass(evidence, observed)
        }
        Some((pattern, None)) => {
            let evidence = format!("{command} wrote nothing that matches {}{held}", quote(pattern.as_str()));
            CheckOutcome::fail(evidence, observed)
        }
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// The last of a long text: what went wrong stands at the end.
fn end_of(text: &str) -> &str {
    let start = text.char_indices().rev().nth(KEPT - 1).map_or(0, |(start, _)| start);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::ports::check::CheckCommands;
    use workspace::Folder;

    use super::*;
    use crate::combined::{All, Any, Not};

    #[derive(Debug)]
    struct Says {
        answer: Result<CheckCommandOutput, NoCommand>,
        heard: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl CheckCommands for Says {
        async fn run(&self, command: &str) -> Result<CheckCommandOutput, NoCommand> {
            self.heard.lock().unwrap().push(command.to_owned());
            self.answer.clone()
        }
    }

    fn ended(exit_code: i64, stdout: &str, stderr: &str) -> Result<CheckCommandOutput, NoCommand> {
        Ok(CheckCommandOutput {
            exit_code: Some(exit_code),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            timed_out: false,
            containment: "landlock 6".to_owned(),
        })
    }

    async fn look(check: &dyn Check, args: Value, answer: Result<CheckCommandOutput, NoCommand>) -> CheckOutcome {
        let folder = tempfile::tempdir().unwrap();
        let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
        let says = Says {
            answer,
            heard: Mutex::default(),
        };
        let target = CheckTarget {
            commands: Some(Arc::new(says)),
            ..CheckTarget::answer("")
        };
        check.run(&args, &target, &files).await
    }

    async fn check(args: Value, answer: Result<CheckCommandOutput, NoCommand>, pass: bool, evidence: &str) {
        let found = look(&Command, args, answer).await;
        assert_eq!((found.pass, found.evidence.as_str()), (pass, evidence));
    }

    #[tokio::test]
    async fn holds_when_the_command_ends_as_it_should() {
        let evidence = "\"make test\" ended with 0 (held by landlock 6)";
        check(json!("make test"), ended(0, "", ""), true, evidence).await;
        let args = json!({"run": "make", "exit": 2, "stdout_matches": "^[0-9]+ passed$"});
        let evidence = "\"make\" ended with 2 and wrote \"12 passed\" (held by landlock 6)";
        check(args.clone(), ended(2, "a\n12 passed\n", ""), true, evidence).await;
        let evidence = "\"make\" wrote nothing that matches \"^[0-9]+ passed$\" (held by landlock 6)";
        check(args, ended(2, "no\n", ""), false, evidence).await;
    }

    #[tokio::test]
    async fn says_how_it_ended_and_the_last_of_what_it_said() {
        let evidence = "\"make\" ended with 1, expected 0: \"no rule\" (held by landlock 6)";
        check(json!("make"), ended(1, "out\n", "first\nno rule\n\n"), false, evidence).await;
        let late = ended(137, "", "").map(|done| CheckCommandOutput {
            timed_out: true,
            ..done
        });
        let evidence = "\"make\" was ended because it took too long (held by landlock 6)";
        check(json!("make"), late, false, evidence).await;
    }

    #[tokio::test]
    async fn what_nobody_allowed_neither_holds_nor_fails_in_any_combination() {
        let no = || Err(NoCommand::NotAllowed("you said no".to_owned()));
        for (check, args) in [
            (&Command as &dyn Check, json!("make")),
            (&Not, json!({"command": "make"})),
            (&All, json!([{"command": "make"}])),
            (&Any, json!([{"command": "make"}, {"contains": "x"}])),
        ] {
            let found = look(check, args, no()).await;
            assert!(!found.pass && found.refused, "{found:?}");
            assert!(found.evidence.contains("you said no"), "{found:?}");
        }
        let found = look(&All, json!([{"command": "make"}, {"contains": "x"}]), no()).await;
        assert!(
            !found.pass && !found.refused,
            "one that is known to fail decides: {found:?}"
        );
        let found = look(&Any, json!([{"command": "make"}, {"not": {"contains": "x"}}]), no()).await;
        assert!(found.pass, "one that is known to hold decides: {found:?}");
    }

    #[tokio::test]
    async fn a_command_that_could_not_be_run_has_failed() {
        let found = look(&Command, json!("make"), Err(NoCommand::Failed("no shell".to_owned()))).await;
        assert!(!found.pass && !found.refused && !found.ran, "{found:?}");
    }

    #[test]
    fn says_what_is_wrong_with_its_arguments() {
        assert_eq!(Command.problems(&json!("make")), Vec::<String>::new());
        for wrong in [
            json!(" "),
            json!({}),
            json!({"run": "a", "exit": 300}),
            json!({"run": "a", "shell": 1}),
        ] {
            assert!(!Command.problems(&wrong).is_empty(), "{wrong}");
        }
        assert_eq!(
            Command.problems(&json!({"run": "a", "stdout_matches": "("})),
            ["command: \"(\" is not a regular expression: unclosed group"]
        );
    }
}
