//! Runs: start, list, follow, answer, stop, continue.

use contract::event::RunEventRecord;
use contract::person::Answer;
use contract::run::{RunStatus, RunSummary};
use contract::{AppError, Key, RunId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A task to run, in a folder that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartRun {
    /// The task's text, YAML or JSON.
    pub source: String,
    /// The working folder, absolute.
    pub folder: String,
    /// What to call the run; the task's own title when absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub title: Option<String>,
}

/// A run that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// Its id.
    pub run_id: RunId,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OneRun {
    /// Which.
    pub run_id: RunId,
}

/// A page of history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListRuns {
    /// Where the page before ended.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cursor: Option<String>,
    /// The most runs to return; 1 to 200.
    pub limit: u32,
    /// Only runs that stand like this; all when absent or empty.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub status: Option<Vec<RunStatus>>,
    /// Only runs whose title or folder contains this.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub text: Option<String>,
}

/// Runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// Where the next page starts; none at the end.
    pub next: Option<String>,
}

/// Part of a run's journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadEvents {
    /// Whose.
    pub run_id: RunId,
    /// The first entry wanted; they count from 1.
    pub from_seq: u64,
    /// The most entries to return; 1 to 1000.
    pub limit: u32,
}

/// Entries of a run's journal, in order and without gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The entries; fewer than asked for only at the end.
    pub events: Vec<RunEventRecord>,
}

/// What a model has said so far in a call that is still at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunningText {
    /// The call's key.
    pub key: Key,
    /// Its words, or the arguments of the tool it calls, so far.
    pub text: String,
    /// Its thoughts so far, where it shows them.
    pub reasoning: String,
}

/// A person's answer to the question that a run waits with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerRun {
    /// Which run.
    pub run_id: RunId,
    /// The question's key, as the run's state has it.
    pub key: Key,
    /// The answer.
    pub answer: Answer,
}
