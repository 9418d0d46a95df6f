//! The person in front of the app.

use async_trait::async_trait;

use crate::ids::{Key, RunId};
use crate::person::{Answer, Ask};

/// Brings the answer to a question, however long that takes.
#[async_trait]
pub trait People: Send + Sync {
    /// The answer; none when nobody is there to give one, and the run is left waiting.
    async fn answer(&self, run: &RunId, key: &Key, ask: &Ask) -> Option<Answer>;
}
