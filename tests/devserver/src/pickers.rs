//! The file pickers of a person who is not there: they answer what a test queued, in order.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The answers to come, by picker: `folder`, `file` or `save`.
#[derive(Default)]
pub(crate) struct Pickers {
    answers: Mutex<HashMap<String, VecDeque<Value>>>,
}

impl Pickers {
    /// Queues answers: `{ "folder": ["/a/path", null], … }`, null for a person who changed their mind.
    pub(crate) fn queue(&self, answers: HashMap<String, Vec<Value>>) {
        let mut queued = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        for (picker, paths) in answers {
            queued.entry(picker).or_default().extend(paths);
        }
    }

    /// The next answer; a picker with nothing queued is one that a person closes.
    pub(crate) fn next(&self, picker: &str) -> Value {
        let mut queued = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        queued.get_mut(picker).and_then(VecDeque::pop_front).unwrap_or_default()
    }
}
