//! Flows as files: one YAML or JSON file is one flow, in our own dialect or as an agntz manifest (flows page, "Files").
//!
//! A file that cannot be a flow fails in one of four ways, as a task's file does. Everything else that is wrong with it is a
//! mark at its line and column, and does not keep the file from being opened or saved: [`check`] lists all of them at
//! once. What a `ref` names is looked for in the file's own folder, and in the folder of saved flows.
//!
//! Deliberately not here: what is right and wrong in a flow, which `engine::flow` decides, and running one.

mod known;
mod places;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contract::error::Problem;
use contract::flow::{Dialect, Flow};
use engine::flow::manifest;
use engine::flow::reading::{self, FlowReading, Refs};
use serde::Serialize;
use serde_json::Value;

use self::places::Places;
use crate::task_files::{self, Syntax, TaskFileError};

/// The most files of one folder that are looked through for what a `ref` names.
const MOST_FILES: usize = 1000;

/// Why a file is no flow at all, or could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowFileError {
    /// There is no such file, it may not be read, or it is no text.
    #[error("\"{path}\" cannot be read: {reason}")]
    Unreadable {
        /// As it was given.
        path: String,
        /// What the system said, in words.
        reason: String,
    },
    /// Its name does not end in what a flow's name ends in.
    #[error("\"{path}\" is not a flow file: its name must end in .yaml, .yml or .json")]
    Extension {
        /// As it was given.
        path: String,
    },
    /// It breaks the rules of YAML or JSON.
    #[error("the flow is not valid {syntax}: line {line}, column {column}: {reason}")]
    Syntax {
        /// `YAML` or `JSON`.
        syntax: &'static str,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What the parser said.
        reason: String,
    },
    /// It is a list, a word, a number or nothing.
    #[error("a flow must have an id and steps, but this is {found}")]
    NotAnObject {
        /// What it is, in words.
        found: &'static str,
    },
    /// It cannot be written there, or not in this dialect.
    #[error("\"{path}\" cannot be saved: {reason}")]
    Unwritable {
        /// As it was given.
        path: String,
        /// Why, in words.
        reason: String,
    },
}

impl From<TaskFileError> for FlowFileError {
    fn from(error: TaskFileError) -> Self {
        match error {
            TaskFileError::Unreadable { path, reason } => Self::Unreadable { path, reason },
            TaskFileError::Extension { path } => Self::Extension { path },
            TaskFileError::Syntax {
                syntax,
                line,
                column,
                reason,
            } => Self::Syntax {
                syntax,
                line,
                column,
                reason,
            },
            TaskFileError::NotAnObject { found } => Self::NotAnObject { found },
        }
    }
}

/// Whether a mark must be put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The flow cannot run like this.
    Error,
    /// It can, but deserves a look.
    Warning,
}

/// Something in a file that is wrong, or deserves a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// Which of the two.
    pub severity: Severity,
    /// The line of the nearest thing that is there, from 1.
    pub line: u64,
    /// Its column, from 1.
    pub column: u64,
    /// The way to it, such as `steps[0].reads.topic`; empty for the whole file.
    pub path: String,
    /// What is wrong and what would be right, in words.
    pub message: String,
}

/// What a look at a flow's file found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowCheck {
    /// The file, absolute.
    pub path: PathBuf,
    /// What the flow calls itself; none when that cannot be read.
    pub id: Option<String>,
    /// What it is written in.
    pub dialect: Dialect,
    /// How many steps it has on its first level.
    pub steps: usize,
    /// Everything that was found, in the order of the file.
    pub marks: Vec<Mark>,
}

impl FlowCheck {
    /// Whether the flow may run.
    pub fn is_good(&self) -> bool {
        self.marks.iter().all(|mark| mark.severity == Severity::Warning)
    }
}

/// A flow's file as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The text.
    pub source: String,
    /// What it says.
    pub value: Value,
    /// The flow, as far as its parts could be read.
    pub flow: Option<Flow>,
    /// What the flow's `ref`s may name: the other flows of its folder.
    pub refs: Refs,
    /// What was found.
    pub check: FlowCheck,
}

/// Looks at a flow's file. Blocks.
///
/// # Errors
/// It is no flow at all.
pub fn check(path: &Path) -> Result<FlowCheck, FlowFileError> {
    load(path, None).map(|file| file.check)
}

/// Reads a flow's file with everything that is wrong with it. `saved` is a second folder in which what a `ref` names is
/// looked for. Blocks.
///
/// # Errors
/// It is no flow at all.
pub fn load(path: &Path, saved: Option<&Path>) -> Result<FlowFile, FlowFileError> {
    let source = task_files::read_text(path)?;
    let syntax = task_files::syntax(path)?;
    let value = task_files::parse(&source, syntax)?;
    let path = std::path::absolute(path).map_err(|error| FlowFileError::Unreadable {
        path: task_files::shown(path),
        reason: task_files::in_words(&error),
    })?;
    let mut shelf = Shelf::default();
    if has_ref(&value) {
        let folders = path.parent().into_iter().chain(saved);
        folders.for_each(|folder| shelf.collect(folder, &path));
    }
    let reading = reading::read(&value, Some(&shelf.refs));
    let mut problems = shelf.explain(reading.problems.clone());
    // What has the wrong shape is said already.
    if reading.flow.is_some() && reading::dialect(&value) == Dialect::Flow {
        problems.extend(known::problems(&value, &shelf.refs));
    }
    let check = FlowCheck {
        id: value.get("id").and_then(Value::as_str).map(str::to_owned),
        dialect: reading::dialect(&value),
        steps: reading.flow.as_ref().map_or(0, |flow| flow.steps.len()),
        marks: marks(&source, problems),
        path: path.clone(),
    };
    Ok(FlowFile {
        path,
        source,
        value,
        flow: reading.flow,
        refs: shelf.refs,
        check,
    })
}

/// The marks of a text that stands in no file, such as one in an editor.
///
/// # Errors
/// It is no flow at all.
pub fn check_text(source: &str, refs: Option<&Refs>) -> Result<(FlowReading, Vec<Mark>), FlowFileError> {
    let value = task_files::parse(source, Syntax::Yaml)?;
    let reading = reading::read(&value, refs);
    let marks = marks(source, reading.problems.clone());
    Ok((reading, marks))
}

/// Writes a flow, in the dialect that it has, as a whole or not at all. What stood in the file before, comments too, is
/// gone. Blocks.
///
/// # Errors
/// The name does not say how to write it, a manifest cannot hold it, or the folder cannot be written to.
pub fn save(path: &Path, flow: &Flow) -> Result<(), FlowFileError> {
    let unwritable = |reason: String| FlowFileError::Unwritable {
        path: path.display().to_string(),
        reason,
    };
    let value = match flow.dialect {
        Dialect::Manifest => manifest::write(flow).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            unwritable(problems.join("; "))
        })?,
        Dialect::Flow | Dialect::Plan => serde_json::to_value(flow).map_err(|error| unwritable(error.to_string()))?,
    };
    let text = match task_files::syntax(path)? {
        Syntax::Yaml => serde_saphyr::to_string(&value).map_err(|error| unwritable(error.to_string()))?,
        Syntax::Json => serde_json::to_string_pretty(&value).map_err(|error| unwritable(error.to_string()))? + "\n",
    };
    workspace::save(path, text.as_bytes()).map_err(|error| unwritable(task_files::in_words(&error)))
}

/// Whether anything in it refers to another flow.
fn has_ref(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("ref") || map.values().any(has_ref),
        Value::Array(items) => items.iter().any(has_ref),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The other flows that can be named.
#[derive(Default)]
struct Shelf {
    refs: Refs,
    /// The files of flows that have problems themselves, by id.
    broken: BTreeMap<String, String>,
}

impl Shelf {
    /// Adds the flows of a folder, those that were there before winning. Files that are no flows are passed over.
    fn collect(&mut self, folder: &Path, own: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut files: Vec<PathBuf> = entries.take(MOST_FILES).flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files.into_iter().filter(|file| file != own) {
            let Ok(syntax) = task_files::syntax(&file) else {
                continue;
            };
            let read = task_files::read_text(&file).and_then(|source| task_files::parse(&source, syntax));
            let Ok(value) = read else { continue };
            let Some(id) = value.get("id").and_then(Value::as_str).map(str::to_owned) else {
                continue;
            };
            let reading = match reading::dialect(&value) {
                Dialect::Manifest => manifest::read(&value),
                Dialect::Flow | Dialect::Plan => reading::read_flow(&value),
            };
            match reading.flow {
                Some(flow) => {
                    self.refs.entry(id).or_insert(flow);
                }
                None => {
                    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    self.broken.entry(id).or_insert(name);
                }
            }
        }
    }

    /// A flow that is there and cannot be read is not simply unknown.
    fn explain(&self, mut problems: Vec<Problem>) -> Vec<Problem> {
        for problem in &mut problems {
            let id = problem
                .message
                .strip_prefix("unknown ref \"")
                .and_then(|rest| rest.split('"').next());
            if let Some((id, file)) = id.and_then(|id| self.broken.get_key_value(id)) {
                problem.message =
                    format!("\"{id}\" stands in {file}, which has problems of its own to put right first");
            }
        }
        problems
    }
}

fn marks(source: &str, problems: Vec<Problem>) -> Vec<Mark> {
    if problems.is_empty() {
        return Vec::new();
    }
    let places = Places::read(source);
    let mut marks: Vec<Mark> = problems
        .into_iter()
        .map(|problem| {
            let (line, column) = places.find(&problem.path);
            Mark {
                severity: if problem.warning {
                    Severity::Warning
                } else {
                    Severity::Error
                },
                line,
                column,
                path: problem.path,
                message: problem.message,
            }
        })
        .collect();
    marks.sort_by_key(|mark| (mark.line, mark.column));
    marks
}

#[cfg(test)]
mod tests;
