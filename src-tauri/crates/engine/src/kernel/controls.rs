//! What a person says to a run that is being driven: stop, pause, and words for the next planner.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use contract::event::RunEvent;
use contract::ports::journal::{Durability, JournalError};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::keys;
use super::run_journal::RunJournal;

/// The controls of one drive.
pub struct Controls {
    /// Cancelled when a person stops the run.
    pub stop: CancellationToken,
    /// Cancelled when a person pauses it.
    pause: CancellationToken,
    at_work: Arc<InFlight>,
    /// Not kept alive by these: they are looked at after the drive, too.
    journal: watch::Sender<Option<Weak<RunJournal>>>,
}

#[derive(Default)]
struct InFlight {
    leaves: AtomicUsize,
    idle: Notify,
}

/// A leaf at work, and the slot that it holds.
pub struct AtWork {
    among: Arc<InFlight>,
    slot: Option<OwnedSemaphorePermit>,
}

impl AtWork {
    pub(super) fn with_slot(mut self, slot: OwnedSemaphorePermit) -> Self {
        self.take(slot);
        self
    }

    pub(super) fn take(&mut self, slot: OwnedSemaphorePermit) {
        self.slot = Some(slot);
    }

    pub(super) fn give_slot_back(&mut self) {
        self.slot = None;
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if self.among.leaves.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.among.idle.notify_waiters();
        }
    }
}

impl Default for Controls {
    fn default() -> Self {
        Self::with_stop(CancellationToken::new())
    }
}

impl Controls {
    /// Controls whose word to stop comes from this token.
    pub fn with_stop(stop: CancellationToken) -> Self {
        Self {
            stop,
            pause: CancellationToken::new(),
            at_work: Arc::default(),
            journal: watch::channel(None).0,
        }
    }

    /// Finishes what is at work and begins nothing else.
    pub fn pause(&self) {
        self.pause.cancel();
    }

    /// Whether a person paused the run.
    pub fn is_paused(&self) -> bool {
        self.pause.is_cancelled()
    }

    /// Returns when a person pauses the run.
    pub async fn paused(&self) {
        self.pause.cancelled().await;
    }

    /// Begins a leaf; none when the run is paused.
    pub(super) fn begin(&self) -> Option<AtWork> {
        if self.is_paused() {
            return None;
        }
        self.at_work.leaves.fetch_add(1, Ordering::AcqRel);
        Some(AtWork {
            among: Arc::clone(&self.at_work),
            slot: None,
        })
    }

    /// Returns when nothing is at work.
    pub(super) async fn idle(&self) {
        loop {
            let told = self.at_work.idle.notified();
            let mut told = std::pin::pin!(told);
            told.as_mut().enable();
            if self.at_work.leaves.load(Ordering::Acquire) == 0 {
                return;
            }
            told.await;
        }
    }

    /// The journal of the run that is driven with these controls, for words that come meanwhile.
    pub(crate) fn attach(&self, journal: &Arc<RunJournal>) {
        self.journal.send_replace(Some(Arc::downgrade(journal)));
    }

    /// Writes a person's words into the journal of the run that is driven; the next planner is told them.
    ///
    /// # Errors
    /// Those of the journal.
    pub async fn guide(&self, words: &str) -> Result<(), JournalError> {
        let mut attached = self.journal.subscribe();
        let journal = match attached.wait_for(Option::is_some).await {
            Ok(journal) => journal.as_ref().and_then(Weak::upgrade),
            Err(_closed) => None,
        };
        match journal {
            Some(journal) => guide(&journal, words).await,
            None => Err(JournalError::Conflict),
        }
    }
}

/// Writes a person's words into the journal of a run that is not at its end.
///
/// # Errors
/// The journal's; `Conflict` when the run came to its end first.
async fn guide(journal: &RunJournal, words: &str) -> Result<(), JournalError> {
    let end = keys::run_finished(journal.count(1, keys::run_reopened));
    loop {
        let key = keys::guidance(journal.count(0, keys::guidance));
        let event = RunEvent::GuidanceGiven {
            words: words.to_owned(),
        };
        let entry = (key.clone(), event.clone());
        let written = journal.record_first(&end, vec![entry], Vec::new(), Durability::Barrier);
        if !written.await? {
            return Err(JournalError::Conflict);
        }
        // Somebody else's words may have taken the place meanwhile.
        if journal.recorded(&key).as_deref() == Some(&event) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paused_run_begins_nothing_and_waits_for_what_is_at_work() {
        futures::executor::block_on(async {
            let controls = Controls::default();
            let working = controls.begin();
            assert!(working.is_some());
            controls.pause();
            assert!(controls.begin().is_none());
            let mut idle = std::pin::pin!(controls.idle());
            assert!(futures::poll!(idle.as_mut()).is_pending());
            drop(working);
            idle.await;
        });
    }
}
