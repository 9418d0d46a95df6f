//! What the judge is shown of the results themselves: bounded parts of the files that were expected,
//! and the final answer. It judges what is there, not what steps said.

use std::collections::HashSet;

use contract::hash::Hash;
use contract::plan::Plan;
use contract::ports::files::FileKind;
use contract::task::{ExpectedOutput, Task};

use crate::executor::StepOutcome;
use crate::kernel::driver::Driver;
use crate::prompts::{self, bound};
use crate::table_profile;

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

/// A result as a judge sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The file, or `final answer`.
    pub name: String,
    /// Its text, at most `bound::ARTIFACT` characters of it.
    pub text: String,
    /// The address of all of it.
    pub hash: Hash,
}

impl Shown {
    /// At most so much of it, fenced and named.
    pub fn fenced(&self, limit: usize) -> String {
        format!(
            "<data name=\"{}\">\n{}\n</data>",
            self.name.replace('"', "'"),
            prompts::excerpt(&self.text, limit)
        )
    }
}

/// The results that a judge is shown, in the task's order.
pub async fn shown(driver: &Driver, task: &Task, answer: Option<&str>) -> Vec<Shown> {
    let mut all = Vec::new();
    for path in expected_paths(task) {
        let text = content(driver, &path).await;
        let hash = match driver.world.files.hash(&path).await {
            Ok(Some(hash)) => hash,
            Ok(None) | Err(_) => Hash::of_bytes(text.as_bytes()),
        };
        let text = table_profile::shown(&path, &text, bound::ARTIFACT);
        all.push(Shown { name: path, text, hash });
    }
    if let Some(answer) = answer.filter(|_| expects_answer(task)) {
        all.push(Shown {
            name: "final answer".to_owned(),
            text: prompts::cut(answer, bound::ARTIFACT),
            hash: Hash::of_bytes(answer.as_bytes()),
        });
    }
    all
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
