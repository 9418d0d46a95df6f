//! Checks: criteria that the app decides itself (criteria page).

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::files::Files;
use crate::hash::Hash;

/// A check as the composer, the YAML and the documentation see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckInfo {
    /// Its name in YAML, snake_case.
    pub name: String,
    /// Its name for people, such as `Has columns and rows`.
    pub title: String,
    /// What holds when it passes, in one sentence.
    pub description: String,
    /// JSON Schema of its arguments; the composer's form is drawn from it. `null` takes none.
    pub schema: Value,
    /// Whether it needs a file (rather than a final answer's text).
    pub needs_file: bool,
}

/// What a criterion is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A file in the working folder.
    File(String),
    /// A final answer.
    Answer(String),
}

/// How a command of a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCommandOutput {
    /// What it returned; none when a person says that it was done, and nobody saw how it ended.
    pub exit_code: Option<i64>,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote about itself.
    pub stderr: String,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What held it, in a few words.
    pub containment: String,
}

/// Why a command of a check has no end that could be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCommand {
    /// Nobody allowed it, for this reason in words.
    NotAllowed(String),
    /// It could not be run.
    Failed(String),
}

/// Runs commands of checks: each only when a person allowed exactly it, and where tools run theirs.
#[async_trait]
pub trait CheckCommands: std::fmt::Debug + Send + Sync {
    /// Runs a command line to its end, in the working folder.
    async fn run(&self, command: &str) -> Result<CheckCommandOutput, NoCommand>;
}

/// What a check looks at.
#[derive(Debug, Clone)]
pub struct CheckTarget {
    /// What the criterion is about.
    pub subject: Subject,
    /// The files that the run has changed, by their relative path, each with the address of what it held before the
    /// run; none when the run made it.
    pub before: Arc<FilesBefore>,
    /// What runs commands; none where there are no commands.
    pub commands: Option<Arc<dyn CheckCommands>>,
}

/// Files by relative path, with the address of what they held before the run.
pub type FilesBefore = BTreeMap<String, Option<Hash>>;

impl CheckTarget {
    /// A file, in a run that has changed nothing.
    pub fn file(path: impl Into<String>) -> Self {
        Self {
            subject: Subject::File(path.into()),
            before: Arc::default(),
            commands: None,
        }
    }

    /// An answer, in a run that has changed nothing.
    pub fn answer(text: impl Into<String>) -> Self {
        Self {
            subject: Subject::Answer(text.into()),
            before: Arc::default(),
            commands: None,
        }
    }
}

/// What a check found. One that could not run has failed, and its evidence says why.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckOutcome {
    /// Whether the criterion holds.
    pub pass: bool,
    /// The place and the value: `row 17: name is empty`, `23 ids, all different`.
    pub evidence: String,
    /// The value it saw.
    pub observed: Option<Value>,
    /// Whether it could look at all; what could not be looked at has failed, and its opposite has too.
    pub ran: bool,
    /// Whether a person did not allow it to look: then nobody knows whether it holds.
    pub refused: bool,
}

impl CheckOutcome {
    /// It holds.
    pub fn pass(evidence: impl Into<String>, observed: impl Into<Option<Value>>) -> Self {
        Self {
            pass: true,
            evidence: evidence.into(),
            observed: observed.into(),
            ran: true,
            refused: false,
        }
    }

    /// It does not.
    pub fn fail(evidence: impl Into<String>, observed: impl Into<Option<Value>>) -> Self {
        Self {
            pass: false,
            evidence: evidence.into(),
            observed: observed.into(),
            ran: true,
            refused: false,
        }
    }

    /// It cannot be told, for this reason in words.
    pub fn could_not_run(reason: impl std::fmt::Display) -> Self {
        Self {
            pass: false,
            evidence: format!("the check could not run: {reason}"),
            observed: None,
            ran: false,
            refused: false,
        }
    }

    /// A person did not allow what it takes to tell, for this reason in words.
    pub fn refused(reason: impl std::fmt::Display) -> Self {
        Self {
            refused: true,
            ..Self::could_not_run(reason)
        }
    }
}

/// One check.
#[async_trait]
pub trait Check: Send + Sync {
    /// Its name, sentence and schema.
    fn info(&self) -> CheckInfo;

    /// What is wrong with these arguments beyond their schema, such as a bad regular expression.
    fn problems(&self, _args: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The command lines that it would run: each is shown to a person and allowed before the first step.
    fn commands(&self, _args: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Looks. Arguments fit the schema.
    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome;
}
