//! A run that goes on as another one: with the history of the first up to the place where that holds something else
//! than what would be done now (kernel page, "Journal": *continue as a fork from here*).
//!
//! What was done and paid for up to there is not done again; what the first run did after it stays in its own history.
//! The files are as they are: whatever is changed anew is held against them like any other change.

use std::sync::Arc;

use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::{Durability, NewEntry};
use contract::{AppError, Key, RunId};
use engine::kernel::forks_at;

use crate::app::App;
use crate::clock::new_run_id;
use crate::error::{ToAppError, internal};
use crate::event_log::Signal;
use crate::world;

impl App {
    /// Goes on with a run as another one, which begins with its history up to where the two part. The first stays as it
    /// is.
    ///
    /// # Errors
    /// The run did not end for such a difference, came from another machine, or its history cannot be read or written.
    pub async fn fork(&self, source: &RunId) -> Result<RunId, AppError> {
        self.refuse_imported(source).await?;
        let result = self.state(source).await?.result;
        let place = result.and_then(|result| forks_at(&result.error?));
        let place = place.ok_or_else(nothing_parts)?;
        let content = self.content_of(source).await?;
        let entries =
            history_before(content.events, &place).ok_or_else(|| internal("the place is not in the history"))?;
        let world = world::of(&self.rooms, &self.header_of(source).await?).await?;
        let run = new_run_id();
        let lock = self.lock(&run).await?;
        let appended = self
            .rooms
            .journal
            .append(&run, 1, entries, content.artifacts, Durability::Barrier);
        appended.await.map_err(ToAppError::to_app_error)?;
        self.rooms.events.say(Signal::RunsChanged);
        self.drive(&run, lock, world, Arc::default());
        Ok(run)
    }
}

/// Everything before this entry, as the beginning of another run; none when there is no such entry.
fn history_before(events: Vec<RunEventRecord>, place: &Key) -> Option<Vec<NewEntry>> {
    let until = events.iter().position(|record| record.key == *place)?;
    let entries = events.into_iter().take(until);
    let entries = entries.map(|record| NewEntry::new(record.key, record.at_ms, named(record.event)));
    Some(entries.collect())
}

/// The first event says what the run is called.
fn named(event: RunEvent) -> RunEvent {
    match event {
        RunEvent::RunStarted { mut header } => {
            header.title.push_str(" (fork)");
            RunEvent::RunStarted { header }
        }
        other => other,
    }
}

fn nothing_parts() -> AppError {
    AppError::new(
        "nothing_to_fork",
        "this run did not end because its history holds something else than it would do now",
    )
    .hint("Continue it, or run its task again.")
}
