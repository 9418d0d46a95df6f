//! What a task must be.

use contract::error::Problem;
use contract::task::Task;
use serde_json::Value;

/// What became of reading a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskReading {
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings, in the order of the file.
    pub problems: Vec<Problem>,
}
/// Reads a task from a value (of YAML or JSON) and lists every problem at once.
///
/// `check_problems` says what is wrong with a check's name and arguments.
pub fn read(
    _value: &Value,
    _check_problems: &dyn Fn(&contract::criterion::CheckSpec) -> Vec<String>,
) -> TaskReading {
    TaskReading { task: None, problems: Vec::new() }
}
