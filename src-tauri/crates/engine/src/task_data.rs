//! The seed's `TepaPrompt` as hooks see it, and the task as they left it.

use contract::ports::check::Check;
use contract::task::Task;
use serde_json::{Value, json};

use crate::registry::Registry;
use crate::task_rules;

/// `{ goal, context, expectedOutput }`.
pub fn of(task: &Task) -> Value {
    json!({ "goal": task.goal, "context": task.context, "expectedOutput": task.expected_output })
}

/// The task with the goal, the context and the expected output as a hook left them; everything else is as it was.
///
/// # Errors
/// Everything that is wrong with them.
pub fn read(value: &Value, before: &Task, checks: &Registry<dyn Check>) -> Result<Task, Vec<String>> {
    if *value == of(before) {
        return Ok(before.clone());
    }
    // What a check's arguments are like is the check's to say, when it runs.
    let reading = task_rules::read(value, &|_, spec| match checks.get(&spec.name) {
        Some(_) => Vec::new(),
        None => vec![format!("there is no check \"{}\"", spec.name)],
    });
    match reading.task {
        Some(task) => Ok(Task {
            goal: task.goal,
            context: task.context,
            expected_output: task.expected_output,
            ..before.clone()
        }),
        None => Err(reading.problems.iter().map(ToString::to_string).collect()),
    }
}
