//! Time and ids come from outside, so that tests are repeatable.

use std::time::Duration;

use async_trait::async_trait;

/// What time it is, and waiting for it to pass.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;
    /// Returns after this long.
    async fn sleep(&self, duration: Duration);
}
