//! A journal that tells the event log what was written: when a model call begins and ends, and when lists of runs
//! are out of date. Only what is safely written is told.

use std::sync::Arc;

use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::value_ref::Artifact;
use contract::{Hash, Key, RunId};

use crate::event_log::{EventLog, Signal};

/// Writes through, then tells.
pub(crate) struct AnnouncedJournal {
    /// Where the entries go.
    pub(crate) journal: Arc<dyn Journal>,
    /// Who is told.
    pub(crate) events: Arc<EventLog>,
}

#[async_trait]
impl Journal for AnnouncedJournal {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let news: Vec<News> = entries.iter().filter_map(news).collect();
        self.journal
            .append(run, first_seq, entries, artifacts, durability)
            .await?;
        for item in news {
            match item {
                News::CallStarted(key) => self.events.call_started(run, &key),
                News::CallFinished(key) => self.events.call_finished(run, &key),
                News::RunsChanged => self.events.say(Signal::RunsChanged),
            }
        }
        Ok(())
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal.artifact(hash).await
    }
}

enum News {
    CallStarted(Key),
    CallFinished(Key),
    RunsChanged,
}

fn news(entry: &NewEntry) -> Option<News> {
    match &*entry.event {
        RunEvent::ModelCallStarted { .. } => Some(News::CallStarted(leaf(&entry.key))),
        RunEvent::ModelCallFinished { .. } => Some(News::CallFinished(leaf(&entry.key))),
        RunEvent::RunStarted { .. }
        | RunEvent::RunReopened { .. }
        | RunEvent::RunFinished { .. }
        | RunEvent::CycleStarted { .. }
        | RunEvent::PersonAsked { .. }
        | RunEvent::PersonAnswered { .. }
        | RunEvent::RunPaused
        | RunEvent::RunContinued => Some(News::RunsChanged),
        RunEvent::AttemptOpened { .. }
        | RunEvent::PlanningStarted { .. }
        | RunEvent::PlanRefused { .. }
        | RunEvent::PlanProposed { .. }
        | RunEvent::PlanApproved { .. }
        | RunEvent::StepStarted { .. }
        | RunEvent::StepFinished { .. }
        | RunEvent::ModelAttempted { .. }
        | RunEvent::ToolStarted { .. }
        | RunEvent::EffectIntended { .. }
        | RunEvent::FolderChanged { .. }
        | RunEvent::UndoIntended { .. }
        | RunEvent::UndoFinished { .. }
        | RunEvent::OutsideEffectIntended { .. }
        | RunEvent::ToolFinished { .. }
        | RunEvent::ScratchpadWritten { .. }
        | RunEvent::HookFinished { .. }
        | RunEvent::JudgingStarted { .. }
        | RunEvent::CheckFinished { .. }
        | RunEvent::CycleJudged { .. }
        | RunEvent::WorkFinished { .. }
        | RunEvent::TopicEmitted { .. }
        | RunEvent::WorkUnblocked { .. }
        | RunEvent::OverlayWritten { .. }
        | RunEvent::PhaseStarted { .. }
        | RunEvent::PhaseFinished { .. }
        | RunEvent::PhaseSkipped { .. }
        | RunEvent::PhaseRouted { .. }
        | RunEvent::AnswerGiven { .. }
        | RunEvent::GuardrailJudged { .. }
        | RunEvent::PlanChanged { .. }
        | RunEvent::StepChanged { .. }
        | RunEvent::VerdictChanged { .. }
        | RunEvent::JudgeAsked { .. }
        | RunEvent::GuidanceGiven { .. }
        | RunEvent::LimitsRaised { .. } => None,
    }
}

/// The call's own address: without the mark that says which of its entries this is.
fn leaf(key: &Key) -> Key {
    let text = key.as_str();
    match text.rsplit_once(':') {
        Some((leaf, mark)) if !mark.contains('/') => Key::new(leaf),
        _ => key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expected: &str) {
        assert_eq!(leaf(&Key::new(key)).as_str(), expected);
    }

    #[test]
    fn a_mark_is_no_part_of_a_leaf() {
        check("cycle/1/plan#0/call/0:started", "cycle/1/plan#0/call/0");
        check("cycle/1/plan#0/call/0", "cycle/1/plan#0/call/0");
        check("owner/a:b/call/0", "owner/a:b/call/0");
    }
}
