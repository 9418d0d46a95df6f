//! What the tests of every provider need: a sink that remembers and a clock that never waits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use contract::llm::{Delta, LlmAttempt};
use contract::ports::clock::Clock;
use contract::ports::provider::Sink;

/// A sink that remembers.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    deltas: Mutex<Vec<Delta>>,
    attempts: Mutex<Vec<LlmAttempt>>,
}

impl Heard {
    pub(crate) fn deltas(&self) -> Vec<Delta> {
        self.deltas.lock().unwrap().clone()
    }

    pub(crate) fn attempts(&self) -> Vec<LlmAttempt> {
        self.attempts.lock().unwrap().clone()
    }
}

impl Sink for Heard {
    fn delta(&self, delta: Delta) {
        self.deltas.lock().unwrap().push(delta);
    }

    fn attempt(&self, attempt: LlmAttempt) {
        self.attempts.lock().unwrap().push(attempt);
    }
}

/// A clock that jumps instead of waiting.
#[derive(Debug, Default)]
pub(crate) struct Jumping(AtomicI64);

#[async_trait]
impl Clock for Jumping {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    async fn sleep(&self, duration: Duration) {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap();
        self.0.fetch_add(milliseconds, Ordering::Relaxed);
    }
}
