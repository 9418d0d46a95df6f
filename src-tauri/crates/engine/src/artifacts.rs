//! What the judge is shown of the results themselves: bounded parts of the files that were expected,
//! and the final answer. It judges what is there, not what steps said.

use std::collections::HashSet;

use contract::plan::Plan;
use contract::ports::files::FileKind;
use contract::task::{ExpectedOutput, Task};

use crate::executor::StepOutcome;
use crate::kernel::driver::Driver;
use crate::prompts::{self, bound};

/// Larger files are not opened to be quoted from.
const MOST_READ: u64 = 4 * 1024 * 1024;

/// The final answer: the outputs of the steps that nothing else needs.
pub fn final_answer(plan: &Plan, outcomes: &[StepOutcome]) -> Option<String> {
    let needed: HashSet<&str> = plan
        .steps
        .iter()
        .flat_map(|step| step.dependencies.iter().map(String::as_str))
        .collect();
    let last = outcomes
        .iter()
        .filter(|outcome| outcome.succeeded() && !needed.contains(outcome.step_id.as_str()));
    let texts: Vec<String> = last.map(|outcome| prompts::text_of(&outcome.output)).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Whether the task expects an answer besides files.
pub fn expects_answer(task: &Task) -> bool {
    match &task.expected_output {
        ExpectedOutput::Text(_) => true,
        ExpectedOutput::Items(items) => items.iter().any(|item| item.path.is_none()),
    }
}

/// The results as the judge sees them, each fenced and named.
pub async fn shown(driver: &Driver, answer: Option<&str>) -> String {
    let mut parts = Vec::new();
    let paths = expected_paths(&driver.header.task);
    let limit = bound::ARTIFACT.min(bound::ARTIFACTS / paths.len().max(1));
    for path in paths {
        let content = content(driver, &path).await;
        parts.push(format!(
            "<data name=\"{}\">\n{}\n</data>",
            path.replace('"', "'"),
            prompts::excerpt(&content, limit)
        ));
    }
    if let Some(answer) = answer.filter(|_| expects_answer(&driver.header.task)) {
        parts.push(format!(
            "<data name=\"final answer\">\n{}\n</data>",
            prompts::excerpt(answer, bound::ARTIFACT)
        ));
    }
    parts.join("\n\n")
}

async fn content(driver: &Driver, path: &str) -> String {
    match driver.world.files.stat(path).await {
        Ok(Some((FileKind::File, _))) => {}
        Ok(_) => return "(this file does not exist)".to_owned(),
        Err(error) => return format!("(this file cannot be opened: {error})"),
    }
    match driver.world.files.read(path, MOST_READ).await {
        Err(error) => format!("(this file cannot be opened: {error})"),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => format!("(binary, {} bytes)", error.as_bytes().len()),
        },
    }
}

/// The files that a task expects, in its order.
pub fn expected_paths(task: &Task) -> Vec<String> {
    match &task.expected_output {
        ExpectedOutput::Text(_) => Vec::new(),
        ExpectedOutput::Items(items) => items.iter().filter_map(|item| item.path.clone()).collect(),
    }
}
