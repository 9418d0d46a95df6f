//! The time, and new names for runs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use contract::RunId;
use contract::ports::clock::Clock;

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A name that no run has, later than all before it.
pub(crate) fn new_run_id() -> RunId {
    RunId::new(uuid::Uuid::now_v7().to_string())
}
