//! What a run really produced: expected files that exist, files that were written, final answers.

use contract::plan::Plan;
use contract::ports::files::FileKind;
use contract::run::{OutputArtifact, OutputKind};
use contract::task::{ExpectedOutput, Task};
use contract::value_ref::Artifact;
use serde_json::Value;

use crate::artifacts;
use crate::executor::StepOutcome;
use crate::kernel::driver::Driver;

/// The outputs after the last cycle, with the artifact of a long answer.
pub async fn collect(driver: &Driver, last: Option<(&Plan, &[StepOutcome])>) -> (Vec<OutputArtifact>, Vec<Artifact>) {
    let mut outputs = Vec::new();
    let mut kept = Vec::new();
    for (path, description) in expected(&driver.header.task) {
        let relative = driver.world.files.relative(&path).unwrap_or_else(|_| path.clone());
        let is_there = match driver.replayed_file(&relative) {
            Some(was_there) => was_there,
            None => matches!(driver.world.files.stat(&path).await, Ok(Some((FileKind::File, _)))),
        };
        if is_there {
            outputs.push(file(relative, description));
        }
    }
    for (path, step) in driver.changed_files() {
        let is_there = match driver.replayed_file(&path) {
            Some(was_there) => was_there,
            None => driver.world.files.stat(&path).await != Ok(None),
        };
        if is_there && !outputs.iter().any(|output| output.path == path) {
            outputs.push(file(path, format!("Written by {step}")));
        }
    }
    if artifacts::expects_answer(&driver.header.task)
        && let Some(answer) = last.and_then(|(plan, outcomes)| artifacts::final_answer(plan, outcomes))
        && let (kind, answer) = match last.and_then(|(plan, outcomes)| artifacts::final_value(plan, outcomes)) {
            Some(value) => (OutputKind::Data, value),
            None => (OutputKind::Report, Value::String(answer)),
        }
        && let Ok(value) = Driver::name_value("tool-output", &answer, &mut kept)
    {
        let description = "The final answer".to_owned();
        outputs.push(OutputArtifact {
            path: "answer".to_owned(),
            description,
            kind,
            value: Some(value),
        });
    }
    (outputs, kept)
}

fn file(path: String, description: String) -> OutputArtifact {
    OutputArtifact {
        path,
        description,
        kind: OutputKind::File,
        value: None,
    }
}

fn expected(task: &Task) -> Vec<(String, String)> {
    match &task.expected_output {
        ExpectedOutput::Text(_) => Vec::new(),
        ExpectedOutput::Items(items) => items
            .iter()
            .filter_map(|item| Some((item.path.clone()?, item.description.clone())))
            .collect(),
    }
}
