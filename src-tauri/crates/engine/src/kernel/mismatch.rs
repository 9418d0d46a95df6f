//! When what a run would do now is not what its history holds at the same place: a question, a call or a plan that is
//! made from something else than then, such as by another version of the app (kernel page, "Journal": *input hash*).
//!
//! The run ends there, since it can neither use what is recorded nor overwrite it. It can be continued as a fork: another
//! run with the history up to that place, which goes on by itself. Deliberately not here: making one, which is `app`'s.

use contract::ids::Key;
use contract::step::{StepError, code};
use serde_json::json;

use super::driver::Halt;

/// Ends the run: its history holds another `what` than the one that would be recorded as `entry`.
pub(crate) fn history_differs(what: &str, entry: &Key) -> Halt {
    let message = format!(
        "the history holds another {what} at {entry}: something that it was made from has changed since, such as Tepa \
         itself. What was done stays in the history; continue as a fork from here, another run with the same beginning, to go on"
    );
    let mut error = StepError::new(code::INPUT_HASH_MISMATCH, message);
    error.cause = Some(Box::new(json!({ ENTRY: entry })));
    Halt::Failed(error)
}

/// The first entry that a fork does without, if this error is such an end.
pub fn forks_at(error: &StepError) -> Option<Key> {
    let cause = error
        .cause
        .as_ref()
        .filter(|_| error.code == code::INPUT_HASH_MISMATCH)?;
    cause[ENTRY].as_str().map(Key::new)
}

const ENTRY: &str = "entry";
