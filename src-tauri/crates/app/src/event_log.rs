//! What the window hears: signals, and the running text of model calls.
//!
//! The journal is the memory; this room only says that there is something new in it. The one thing that is not in
//! the journal, what a model has said so far, is kept here for windows that open late, and forgotten when the call
//! is over.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::llm::Delta;
use contract::{AppError, Key, RunId};
use engine::Watcher;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use ts_rs::TS;

use crate::commands::runs::RunningText;

/// How many signals a slow window may be behind before it is told to look at everything anew.
const ROOM: usize = 1024;

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
    /// A run stopped in the middle and can be continued.
    Interrupted {
        /// Which run.
        run_id: RunId,
        /// Why.
        error: AppError,
    },
    /// A run began, ended, or waits for a person: lists of runs are out of date.
    RunsChanged,
    /// A file was handed to the app, for the page to take.
    FileHanded,
}

/// Says what is new to whoever listens.
pub struct EventLog {
    signals: broadcast::Sender<Signal>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    /// Up to where the journal of each run reaches that advanced since the app started.
    reached: HashMap<RunId, u64>,
    /// What each call has said so far, in the order in which the calls began.
    texts: HashMap<RunId, Vec<Text>>,
}

struct Text {
    key: Key,
    words: Growing,
    thoughts: Growing,
}

/// A text with its length as JavaScript counts it.
#[derive(Default)]
struct Growing {
    text: String,
    length: u64,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            signals: broadcast::Sender::new(ROOM),
            heard: Mutex::default(),
        }
    }
}

impl EventLog {
    /// Hears everything from now on.
    pub fn subscribe(self: &Arc<Self>) -> Signals {
        Signals {
            log: Arc::clone(self),
            receiver: self.signals.subscribe(),
            due: VecDeque::new(),
        }
    }

    /// Says something.
    pub(crate) fn say(&self, signal: Signal) {
        // Nobody listening is fine: the journal has it.
        let _ = self.signals.send(signal);
    }

    /// What the calls of a run that are at work have said so far.
    pub(crate) fn running_texts(&self, run: &RunId) -> Vec<RunningText> {
        let heard = self.heard();
        let texts = heard.texts.get(run).map(Vec::as_slice).unwrap_or_default();
        texts.iter().map(Text::shown).collect()
    }

    /// A call begins: from now on what it says counts.
    pub(crate) fn call_started(&self, run: &RunId, key: &Key) {
        let mut heard = self.heard();
        let texts = heard.texts.entry(run.clone()).or_default();
        texts.retain(|text| text.key != *key);
        texts.push(Text {
            key: key.clone(),
            words: Growing::default(),
            thoughts: Growing::default(),
        });
    }

    /// A call is over: its answer is in the journal, and what still trickles in no longer counts.
    pub(crate) fn call_finished(&self, run: &RunId, key: &Key) {
        if let Some(texts) = self.heard().texts.get_mut(run) {
            texts.retain(|text| text.key != *key);
        }
    }

    /// Nobody drives the run any more.
    pub(crate) fn run_left(&self, run: &RunId) {
        let mut heard = self.heard();
        heard.texts.remove(run);
        heard.reached.remove(run);
    }

    /// What a listener must be told after it missed something.
    fn everything(&self) -> VecDeque<Signal> {
        let heard = self.heard();
        let advanced = heard.reached.iter().map(|(run, seq)| Signal::Advanced {
            run_id: run.clone(),
            seq: *seq,
        });
        advanced.chain([Signal::RunsChanged, Signal::FileHanded]).collect()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for EventLog {
    fn advanced(&self, run: &RunId, seq: u64) {
        self.heard().reached.insert(run.clone(), seq);
        self.say(Signal::Advanced {
            run_id: run.clone(),
            seq,
        });
    }

    fn delta(&self, run: &RunId, key: &Key, delta: &Delta) {
        let signals = {
            let mut heard = self.heard();
            let texts = heard.texts.get_mut(run).map(Vec::as_mut_slice).unwrap_or_default();
            // Of a call that is not at work, nothing counts any more.
            let Some(text) = texts.iter_mut().find(|text| text.key == *key) else {
                return;
            };
            text.take(run, delta)
        };
        for signal in signals {
            self.say(signal);
        }
    }
}

impl Text {
    fn take(&mut self, run: &RunId, delta: &Delta) -> Vec<Signal> {
        let (run_id, key) = (run.clone(), self.key.clone());
        match delta {
            Delta::Text { text } | Delta::ToolArguments { text } => {
                vec![Signal::Delta {
                    run_id,
                    key,
                    offset: self.words.push(text),
                    text: text.clone(),
                }]
            }
            Delta::Reasoning { text } => {
                vec![Signal::Reasoning {
                    run_id,
                    key,
                    offset: self.thoughts.push(text),
                    text: text.clone(),
                }]
            }
            Delta::Restart => {
                (self.words, self.thoughts) = Default::default();
                let (offset, text) = (0, String::new());
                let words = Signal::Delta {
                    run_id: run_id.clone(),
                    key: key.clone(),
                    offset,
                    text: text.clone(),
                };
                vec![
                    words,
                    Signal::Reasoning {
                        run_id,
                        key,
                        offset,
                        text,
                    },
                ]
            }
        }
    }

    fn shown(&self) -> RunningText {
        RunningText {
            key: self.key.clone(),
            text: self.words.text.clone(),
            reasoning: self.thoughts.text.clone(),
        }
    }
}

impl Growing {
    /// Adds a piece and returns where it went.
    fn push(&mut self, piece: &str) -> u64 {
        let offset = self.length;
        self.text.push_str(piece);
        self.length += piece.encode_utf16().count() as u64;
        offset
    }
}

/// What one listener hears.
pub struct Signals {
    log: Arc<EventLog>,
    receiver: broadcast::Receiver<Signal>,
    /// What to say first: everything, after the listener was too slow.
    due: VecDeque<Signal>,
}

impl Signals {
    /// The next signal; none when the app is closed. A listener that was too slow is told everything anew.
    pub async fn next(&mut self) -> Option<Signal> {
        loop {
            if let Some(signal) = self.due.pop_front() {
                return Some(signal);
            }
            match self.receiver.recv().await {
                Ok(signal) => return Some(signal),
                Err(RecvError::Lagged(_)) => self.due = self.log.everything(),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::new("run")
    }

    fn text(words: &str) -> Delta {
        Delta::Text { text: words.to_owned() }
    }

    fn texts(log: &EventLog) -> Vec<(String, String)> {
        log.running_texts(&run())
            .into_iter()
            .map(|text| (text.text, text.reasoning))
            .collect()
    }

    #[tokio::test]
    async fn says_where_each_piece_goes_as_javascript_counts() {
        let log = Arc::new(EventLog::default());
        let mut signals = log.subscribe();
        let key = Key::new("call");
        log.call_started(&run(), &key);
        for piece in ["Zoë 🎉", "!"] {
            log.delta(&run(), &key, &text(piece));
        }
        let mut offsets = Vec::new();
        for _ in 0..2 {
            let Some(Signal::Delta { offset, .. }) = signals.next().await else {
                panic!("a delta was said")
            };
            offsets.push(offset);
        }
        assert_eq!(offsets, [0, 6]);
    }

    #[test]
    fn a_late_listener_reads_what_was_said_so_far() {
        let log = EventLog::default();
        let key = Key::new("call");
        log.call_started(&run(), &key);
        log.delta(&run(), &key, &text("Hello "));
        log.delta(&run(), &key, &Delta::Reasoning { text: "hm".to_owned() });
        log.delta(&run(), &key, &text("there"));
        assert_eq!(texts(&log), [("Hello there".to_owned(), "hm".to_owned())]);
    }

    #[test]
    fn a_call_that_starts_over_has_said_nothing() {
        let log = EventLog::default();
        let key = Key::new("call");
        log.call_started(&run(), &key);
        log.delta(&run(), &key, &text("Half a sent"));
        log.delta(&run(), &key, &Delta::Restart);
        log.delta(&run(), &key, &text("Whole"));
        assert_eq!(texts(&log), [("Whole".to_owned(), String::new())]);
    }

    #[test]
    fn what_trickles_in_after_the_end_is_dropped() {
        let log = EventLog::default();
        let key = Key::new("call");
        log.call_started(&run(), &key);
        log.call_finished(&run(), &key);
        log.delta(&run(), &key, &text("too late"));
        assert_eq!(texts(&log), []);
    }

    #[tokio::test]
    async fn a_slow_listener_is_told_where_every_run_stands() {
        let log = Arc::new(EventLog::default());
        let mut signals = log.subscribe();
        for seq in 1..=2 * ROOM as u64 {
            log.advanced(&run(), seq);
        }
        let latest = Signal::Advanced {
            run_id: run(),
            seq: 2 * ROOM as u64,
        };
        assert_eq!(signals.next().await, Some(latest));
        assert_eq!(signals.next().await, Some(Signal::RunsChanged));
    }
}
