//! Tools: what a step can do.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;

use super::files::{DirEntry, FileKind, Files};
use crate::access::{Access, Granted};
use crate::event::{LogLine, NamedHash};
use crate::hash::Hash;
use crate::step::{StepError, code};

/// A tool as planners, models and people see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name, snake_case.
    pub name: String,
    /// What it does and returns, for a model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Whether some of its calls change the world or the scratchpad.
    pub has_effects: bool,
}

/// What a call reaches.
#[derive(Clone)]
pub struct ToolContext {
    /// The working folder.
    pub files: Arc<dyn Files>,
    /// The run's scratchpad as the step sees it.
    pub scratchpad: Arc<IndexMap<String, Value>>,
    /// Milliseconds since 1970, UTC.
    pub now_ms: i64,
    /// How long the call may take, in milliseconds.
    pub limit_ms: u64,
    /// What this call may touch; the ports of commands and requests take it.
    pub granted: Arc<Granted>,
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// The value.
    pub value: Value,
    /// What to write to the scratchpad; the engine does, so that a resumed run has it too.
    pub scratchpad: Vec<(String, Value)>,
    /// What to write to the run's log.
    pub logs: Vec<LogLine>,
}

impl ToolOutput {
    /// A value and nothing else.
    pub fn value(value: Value) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }
}

/// What a call would change, worked out beforehand: the engine keeps the old bytes, and can tell
/// after a crash whether the change was made.
#[derive(Debug, Clone, PartialEq)]
pub struct FileEffect {
    /// The file, relative to the working folder.
    pub path: String,
    /// Its bytes before; none when it is not there yet.
    pub before: Option<Vec<u8>>,
    /// Its bytes after.
    pub after: Vec<u8>,
    /// What the call returns when the change is made.
    pub output: Value,
}

/// What a call does that cannot be looked up afterwards: whether it was done before the app ended is a person's to say.
#[derive(Debug, Clone, PartialEq)]
pub struct OutsideEffect {
    /// What, in words: the command line, or the request.
    pub what: String,
    /// What the call returns when a person says that it was done.
    pub output: Value,
}

/// What a call asks a person: the answer is what the call returns, and nothing is executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What the person reads.
    pub text: String,
    /// JSON Schema of the answer.
    pub answer: Value,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What happened, for the model and the person.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

impl ToolError {
    /// A failure that repeating does not mend.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retryable: false,
        }
    }

    /// The same failure in the words of a step.
    pub fn into_step_error(self) -> StepError {
        StepError::new(code::TOOL_FAILED, self.message).retryable(self.retryable)
    }
}

impl From<super::files::FilesError> for ToolError {
    fn from(error: super::files::FilesError) -> Self {
        Self::new(error.to_string())
    }
}

/// The address of what is at a path: a file's bytes, or the list of a folder's entries.
async fn observe(files: &dyn Files, path: String) -> Option<NamedHash> {
    let hash = match files.stat(&path).await.ok()?? {
        (FileKind::File, _) => files.hash(&path).await.ok()??,
        (FileKind::Folder, _) => {
            let entries = files.list(&path).await.ok()?;
            let named = |entry: &DirEntry| json!([entry.name, entry.kind == FileKind::Folder, entry.size]);
            Hash::of_value(&entries.iter().map(named).collect()).ok()?
        }
        (FileKind::Other, _) => return None,
    };
    Some(NamedHash { name: path, hash })
}

/// One tool. Arguments reach it validated against its schema, defaults applied.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name, description and schema.
    fn info(&self) -> ToolInfo;

    /// Everything this call would touch.
    fn access(&self, args: &Value) -> Vec<Access>;

    /// Whether some of its calls write to the scratchpad. A step that may do so runs alone, so that what
    /// other steps see of the scratchpad does not depend on who is faster.
    fn writes_scratchpad(&self) -> bool {
        false
    }

    /// The address of everything that a call would read, so that it can be told later whether it would
    /// read the same; none when that cannot be told. A folder counts with its own entries.
    async fn observe(&self, args: &Value, context: &ToolContext) -> Option<Vec<NamedHash>> {
        let mut observed = Vec::new();
        for access in self.access(args) {
            match access {
                Access::Read { path } => observed.push(observe(context.files.as_ref(), path).await?),
                Access::Write { .. }
                | Access::WriteScratchpad
                | Access::Execute { .. }
                | Access::Network { .. }
                | Access::Search
                | Access::Server { .. }
                | Access::TaskEffect { .. } => return None,
            }
        }
        Some(observed)
    }

    /// Whether the result of an equal call of an earlier cycle may stand for this one while the world is
    /// as that call left it. What counts every time it is done, such as adding to a file, says no.
    fn may_be_kept(&self, _args: &Value) -> bool {
        true
    }

    /// The change to a file that this call would make; none when it makes none.
    async fn file_effect(&self, _args: &Value, _context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        Ok(None)
    }

    /// What this call would do that cannot be looked up afterwards; none when there is no such thing.
    fn outside_effect(&self, _args: &Value) -> Option<OutsideEffect> {
        None
    }

    /// What this call asks a person in the place of doing anything; none for a tool that does something.
    fn asks(&self, _args: &Value) -> Option<Question> {
        None
    }

    /// Whether its calls end by themselves within [`ToolContext::limit_ms`], and say what there is by then. They are
    /// given a little longer, so that what they say is not lost.
    fn ends_itself(&self) -> bool {
        false
    }

    /// Does it. Dropping the future cancels it.
    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}
