//! What the window hears.

use contract::{Key, RunId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the app says without being asked. A signal carries no news itself: whoever hears one pulls what is new,
/// so a slow window costs nothing and a missed signal loses nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Signal {
    /// A run's journal now reaches up to here.
    Advanced {
        /// Which run.
        run_id: RunId,
        /// Its last entry.
        seq: u64,
    },
    /// A model says something. The running text of the call is what stood before `offset`, then `text`; a call that
    /// starts over comes with offset 0 and no text.
    Delta {
        /// Which run.
        run_id: RunId,
        /// The call's key.
        key: Key,
        /// Where `text` goes, counted as JavaScript counts a string's length.
        offset: u64,
        /// The next words, or the next piece of a tool call's arguments.
        text: String,
    },
    /// The same for a model's thoughts.
    Reasoning {
        /// Which run.
        run_id: RunId,
        /// The call's key.
        key: Key,
        /// Where `text` goes, counted as JavaScript counts a string's length.
        offset: u64,
        /// The next thoughts.
        text: String,
    },
    /// A run began, ended, or waits for a person: lists of runs are out of date.
    RunsChanged,
}
