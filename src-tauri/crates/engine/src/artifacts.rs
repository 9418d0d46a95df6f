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
    /// How many characters follow.
    pub more: usize,
    /// What the program says of it. No evidence can be quoted from this.
    pub remark: Option<String>,
    /// All of its text, to look in for what must be absent; none when it cannot be looked through.
    pub whole: Option<String>,
    /// The address of all of it.
    pub hash: Hash,
}

impl Shown {
    /// How much room it takes.
    pub fn length(&self) -> usize {
        self.text.len() + self.remark.as_ref().map_or(0, String::len)
    }

    /// At most so much of it, fenced and named; what the program says of it stands in a fence of its own.
    pub fn fenced(&self, limit: usize) -> String {
        let name = prompts::inert(&self.name.replace('"', "'").replace('\n', " "));
        let (text, cut) = prompts::beginning(&self.text, limit);
        let more = self.more + cut;
        let rest = (more > 0).then(|| format!("{more} more characters are not shown."));
        let remarks: Vec<&str> = self.remark.iter().chain(&rest).map(String::as_str).collect();
        let mut fences = Vec::new();
        if !text.is_empty() || remarks.is_empty() {
            fences.push(format!("<data name=\"{name}\">\n{}\n</data>", prompts::inert(text)));
        }
        if !remarks.is_empty() {
            let remarks = prompts::inert(&remarks.join("\n"));
            fences.push(format!("<data about=\"{name}\">\n{remarks}\n</data>"));
        }
        fences.join("\n")
    }
}

/// The results that a judge is shown, in the task's order.
pub async fn shown(driver: &Driver, task: &Task, answer: Option<&str>) -> Vec<Shown> {
    let mut all = Vec::new();
    for path in expected_paths(task) {
        all.push(file(driver, path).await);
    }
    if let Some(answer) = answer.filter(|_| expects_answer(task)) {
        let (text, more) = prompts::beginning(answer, bound::ARTIFACT);
        all.push(Shown {
            name: "final answer".to_owned(),
            text: text.to_owned(),
            more,
            remark: None,
            whole: Some(answer.to_owned()),
            hash: Hash::of_bytes(answer.as_bytes()),
        });
    }
    all
}

async fn file(driver: &Driver, path: String) -> Shown {
    let (whole, remark) = match content(driver, &path).await {
        Ok(text) => (Some(text), None),
        Err(remark) => (None, Some(remark)),
    };
    let hash = match driver.world.files.hash(&path).await {
        Ok(Some(hash)) => hash,
        Ok(None) | Err(_) => Hash::of_bytes(remark.as_deref().unwrap_or_default().as_bytes()),
    };
    let profile = whole
        .as_deref()
        .and_then(|text| table_profile::of(&path, text, bound::ARTIFACT));
    let room = bound::ARTIFACT.saturating_sub(profile.as_deref().map_or(0, |profile| profile.chars().count()));
    let (text, more) = prompts::beginning(whole.as_deref().unwrap_or_default(), room);
    Shown {
        text: text.to_owned(),
        more,
        remark: remark.or(profile),
        name: path,
        whole,
        hash,
    }
}

/// A file's text, or why there is none.
async fn content(driver: &Driver, path: &str) -> Result<String, String> {
    match driver.world.files.stat(path).await {
        Ok(Some((FileKind::File, _))) => {}
        Ok(_) => return Err("This file does not exist.".to_owned()),
        Err(error) => return Err(format!("This file cannot be opened: {error}.")),
    }
    match driver.world.files.read(path, MOST_READ).await {
        Err(error) => Err(format!("This file cannot be opened: {error}.")),
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|error| format!("This file is no text; it has {} bytes.", error.as_bytes().len())),
    }
}

/// The files that a task expects, in its order.
pub fn expected_paths(task: &Task) -> Vec<String> {
    match &task.expected_output {
        ExpectedOutput::Text(_) => Vec::new(),
        ExpectedOutput::Items(items) => items.iter().filter_map(|item| item.path.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str, more: usize, remark: Option<&str>) -> Shown {
        Shown {
            name: "a\"b.md".to_owned(),
            text: text.to_owned(),
            more,
            remark: remark.map(str::to_owned),
            whole: None,
            hash: Hash::of_bytes(b""),
        }
    }

    #[test]
    fn what_the_program_says_of_a_result_stands_apart_from_it() {
        assert_eq!(
            result("words", 0, None).fenced(9),
            "<data name=\"a'b.md\">\nwords\n</data>"
        );
        assert_eq!(
            result("words", 4, Some("A table.")).fenced(2),
            "<data name=\"a'b.md\">\nwo\n</data>\n<data about=\"a'b.md\">\nA table.\n7 more characters are not shown.\n</data>"
        );
        assert_eq!(
            result("", 0, Some("No file </DATA>.")).fenced(9),
            "<data about=\"a'b.md\">\nNo file <\\/DATA>.\n</data>"
        );
    }
}
