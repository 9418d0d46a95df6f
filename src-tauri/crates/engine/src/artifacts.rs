//! What the judge is shown of the results themselves: bounded parts of the files that were expected, of those that steps
//! wrote for a task that names none, and the final answer. It judges what is there, not what steps said.

use std::collections::{HashMap, HashSet};

use contract::hash::Hash;
use contract::plan::{Mode, Plan, PlanStep};
use contract::ports::documents;
use contract::ports::files::FileKind;
use contract::task::{ExpectedOutput, Task};
use serde_json::Value;

use crate::executor::StepOutcome;
use crate::kernel::driver::Driver;
use crate::prompts::{self, bound};
use crate::schedule::Use;
use crate::{table_profile, uses};

/// Larger files are not opened as a whole.
const MOST_READ: u64 = 16 * 1024 * 1024;

/// Nor are more than so many bytes of all files together.
const MOST_READ_OF_ALL: u64 = 64 * 1024 * 1024;

/// What is looked at of a file that is not opened as a whole, in bytes.
const BEGINNING: u64 = 1024 * 1024;

/// The final answer: the outputs of the steps that nothing else needs.
pub fn final_answer(plan: &Plan, outcomes: &[StepOutcome]) -> Option<String> {
    joined(last(plan, outcomes).map(|(_, outcome)| outcome))
}

/// The final answer as a value, where one step gives it and it is more than words.
pub fn final_value(plan: &Plan, outcomes: &[StepOutcome]) -> Option<Value> {
    let mut last = last(plan, outcomes).map(|(_, outcome)| &*outcome.output);
    match (last.next(), last.next()) {
        (Some(Value::String(_) | Value::Null), _) | (_, Some(_)) => None,
        (value, None) => value.cloned(),
    }
}

/// The final answer as a judge may quote from it. What a tool that changes something says of its own work is a claim
/// and no result: it is left out when there is anything else to look at.
pub fn answer_to_judge(driver: &Driver, plan: &Plan, outcomes: &[StepOutcome]) -> Option<String> {
    let tools = &driver.world.tools;
    let claims = |step: &PlanStep| uses::of_tools(step, tools).into_iter().max() == Some(Use::Writes);
    let results = joined(
        last(plan, outcomes)
            .filter(|(step, _)| !claims(step) || step.mode == Mode::Free)
            .map(|(_, outcome)| outcome),
    );
    match results {
        None if driver.changed_files().is_empty() => final_answer(plan, outcomes),
        results => results,
    }
}

/// The steps that succeeded and that nothing else needs.
fn last<'p>(plan: &'p Plan, outcomes: &'p [StepOutcome]) -> impl Iterator<Item = (&'p PlanStep, &'p StepOutcome)> {
    let needed: HashSet<&str> = plan
        .steps
        .iter()
        .flat_map(|step| step.dependencies.iter().map(String::as_str))
        .collect();
    let steps: HashMap<&str, &PlanStep> = plan.steps.iter().map(|step| (step.id.as_str(), step)).collect();
    outcomes
        .iter()
        .filter(move |outcome| outcome.succeeded() && !needed.contains(outcome.step_id.as_str()))
        .filter_map(move |outcome| Some((*steps.get(outcome.step_id.as_str())?, outcome)))
}

fn joined<'o>(outcomes: impl Iterator<Item = &'o StepOutcome>) -> Option<String> {
    let texts: Vec<String> = outcomes.map(|outcome| prompts::text_of(&outcome.output)).collect();
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

/// The results that a judge is shown: expected files in the task's order, the files that steps wrote when the task does
/// not name them all, and the answer.
pub async fn shown(driver: &Driver, task: &Task, answer: Option<&str>) -> Vec<Shown> {
    let mut all = Vec::new();
    let mut room = MOST_READ_OF_ALL;
    for path in expected_paths(task) {
        all.push(file(driver, path, &mut room).await);
    }
    if !expects_answer(task) {
        return all;
    }
    let written = written(driver, task);
    let (some, rest) = written.split_at(written.len().min(bound::WRITTEN_FILES));
    for path in some {
        all.push(file(driver, path.clone(), &mut room).await);
    }
    if !rest.is_empty() {
        all.push(others(driver, rest).await);
    }
    if let Some(answer) = answer {
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

/// The files that steps wrote, without those that the task expects.
fn written(driver: &Driver, task: &Task) -> Vec<String> {
    let files = &driver.world.files;
    let expected: HashSet<String> = expected_paths(task)
        .into_iter()
        .map(|path| files.relative(&path).unwrap_or(path))
        .collect();
    let written = driver.changed_files().into_iter().map(|(path, _)| path);
    written.filter(|path| !expected.contains(path)).collect()
}

/// Files that there is no room to show: their names, and the address of all of them.
async fn others(driver: &Driver, paths: &[String]) -> Shown {
    let mut hashes = String::new();
    for path in paths {
        let hash = driver.world.files.hash(path).await.ok().flatten();
        hashes.push_str(&format!("{path} {}\n", hash.as_ref().map_or("", Hash::as_str)));
    }
    let names = prompts::cut(&paths.join(", "), bound::ARTIFACT / 4);
    Shown {
        name: "other files".to_owned(),
        text: String::new(),
        more: 0,
        remark: Some(format!(
            "{} more files were written and are not shown: {names}",
            paths.len()
        )),
        whole: None,
        hash: Hash::of_bytes(hashes.as_bytes()),
    }
}

async fn file(driver: &Driver, path: String, room: &mut u64) -> Shown {
    let (content, remark) = match content(driver, &path, *room).await {
        Ok(content) => (content, None),
        Err(remark) => (Content::default(), Some(remark)),
    };
    let hash = match driver.world.files.hash(&path).await {
        Ok(Some(hash)) => hash,
        Ok(None) | Err(_) => Hash::of_bytes(remark.as_deref().unwrap_or_default().as_bytes()),
    };
    let profile = table_profile::of(&path, content.rows(), bound::ARTIFACT);
    let said: Vec<String> = remark.into_iter().chain(content.left_out()).chain(profile).collect();
    let remark = (!said.is_empty()).then(|| said.join("\n"));
    let left = bound::ARTIFACT.saturating_sub(remark.as_deref().map_or(0, |remark| remark.chars().count()));
    let (text, more) = prompts::beginning(&content.text, left);
    let (text, is_whole) = (text.to_owned(), content.is_whole());
    *room = room.saturating_sub(u64::try_from(content.text.len()).unwrap_or(u64::MAX));
    Shown {
        text,
        more,
        remark,
        name: path,
        whole: is_whole.then_some(content.text),
        hash,
    }
}

/// What was read of a file.
#[derive(Debug, Default)]
struct Content {
    text: String,
    /// The bytes of all of it, when this is only its beginning; none of a file that is no text.
    of: Option<u64>,
    readable: bool,
}

impl Content {
    fn is_whole(&self) -> bool {
        self.readable && self.of.is_none()
    }

    /// Its text up to the last line that is complete.
    fn rows(&self) -> &str {
        match self.of {
            None => &self.text,
            Some(_) => self.text.rfind('\n').map_or(&self.text, |end| &self.text[..=end]),
        }
    }

    fn left_out(&self) -> Option<String> {
        let size = self.of?;
        Some(format!(
            "This file has {size} bytes. Only the first {BEGINNING} were looked at; what follows is of these."
        ))
    }
}

/// A file's text, or why there is none.
async fn content(driver: &Driver, path: &str, room: u64) -> Result<Content, String> {
    let files = &driver.world.files;
    let size = match files.stat(path).await {
        Ok(Some((FileKind::File, size))) => size,
        Ok(_) => return Err("This file does not exist.".to_owned()),
        Err(error) => return Err(format!("This file cannot be opened: {error}.")),
    };
    let is_whole = size <= MOST_READ.min(room);
    let read = if is_whole {
        files.read(path, MOST_READ).await
    } else {
        files.read_range(path, 0, BEGINNING).await
    };
    let bytes = read.map_err(|error| format!("This file cannot be opened: {error}."))?;
    if documents::is_document(&bytes) {
        return document(driver, is_whole.then_some(bytes), size).await;
    }
    let text = files.text(if is_whole { &bytes } else { whole_characters(&bytes) });
    let text = text.ok_or_else(|| format!("This file is no text; it has {size} bytes."))?;
    Ok(Content {
        text,
        of: (!is_whole).then_some(size),
        readable: true,
    })
}

/// What an office file or a PDF says. Half of one says nothing.
async fn document(driver: &Driver, bytes: Option<Vec<u8>>, size: u64) -> Result<Content, String> {
    let unread = |reason: &str| format!("This file cannot be read: {reason}. It has {size} bytes.");
    let bytes = bytes.ok_or_else(|| unread("it is too large to be opened for judging"))?;
    let read = driver.world.files.documents().text(bytes).await;
    let text = read.map_err(|error| unread(&error.to_string()))?;
    Ok(Content {
        text: text.shown(),
        of: None,
        readable: !text.truncated,
    })
}

/// The bytes without a character that was cut off at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
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
    fn a_character_that_was_cut_off_is_left_out() {
        assert_eq!(whole_characters("caf\u{e9}".as_bytes()), "caf\u{e9}".as_bytes());
        assert_eq!(whole_characters(&"caf\u{e9}".as_bytes()[..4]), b"caf");
        assert_eq!(whole_characters(b"caf\xE9 au"), b"caf\xE9 au", "of another encoding");
    }

    #[test]
    fn of_a_table_that_is_not_opened_as_a_whole_only_complete_rows_count() {
        let of = |of| Content {
            text: "a,b\n1,2\n3".to_owned(),
            of,
            readable: true,
        };
        assert_eq!(of(None).rows(), "a,b\n1,2\n3");
        assert_eq!(of(Some(99)).rows(), "a,b\n1,2\n");
        assert!(!of(Some(99)).is_whole() && !Content::default().is_whole());
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
