//! The leaf that waits for a person. A wait has no timeout and survives a restart.

use contract::event::RunEvent;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::journal::Durability;

use super::driver::{Driver, Halt};

impl Driver {
    /// Asks a person, or returns what they said before.
    pub async fn ask_person(&self, key: &Key, ask: Ask) -> Result<Answer, Halt> {
        self.take_over(key, None).await?;
        if let Some(RunEvent::PersonAnswered { answer }) = self.journal.recorded(key).as_deref() {
            return Ok(answer.clone());
        }
        self.journal
            .record(key.mark("asked"), RunEvent::PersonAsked { ask: ask.clone() })
            .await?;
        let place = self.journal.at(key);
        let waiting = self.world.people.answer(self.journal.run(), &place, &ask);
        let Some(answer) = self.or_stop(waiting).await? else {
            return Err(Halt::Waiting);
        };
        let event = RunEvent::PersonAnswered { answer: answer.clone() };
        self.journal
            .record_all(vec![(key.clone(), event)], Vec::new(), Durability::Barrier)
            .await?;
        Ok(answer)
    }
}
