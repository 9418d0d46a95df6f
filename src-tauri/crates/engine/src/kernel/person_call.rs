//! The leaf that waits for a person. A wait has no timeout and survives a restart.

use std::pin::pin;

use contract::event::RunEvent;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::journal::Durability;
use futures::future::{Either, select};

use super::driver::{Driver, Halt};
use crate::schedule::Turn;

impl Driver {
    /// Asks a person, or returns what they said before.
    pub async fn ask_person(&self, key: &Key, ask: Ask) -> Result<Answer, Halt> {
        self.ask_person_in(self.turn.as_ref(), key, ask).await
    }

    /// The same for work with this turn: whoever waits for a person keeps nobody from working.
    pub(crate) async fn ask_person_in(&self, turn: Option<&Turn>, key: &Key, ask: Ask) -> Result<Answer, Halt> {
        self.take_over(key, None).await?;
        if let Some(RunEvent::PersonAnswered { answer }) = self.journal.recorded(key).as_deref() {
            return Ok(answer.clone());
        }
        self.journal
            .record(key.mark("asked"), RunEvent::PersonAsked { ask: ask.clone() })
            .await?;
        match turn {
            Some(turn) => turn.away(self.wait_for_answer(key, &ask)).await?,
            None => self.wait_for_answer(key, &ask).await,
        }
    }

    /// Waits for the answer and records it.
    pub(super) async fn wait_for_answer(&self, key: &Key, ask: &Ask) -> Result<Answer, Halt> {
        let place = self.journal.at(key);
        let waiting = self.world.people.answer(self.journal.run(), &place, ask);
        // A question may wait for days: a pause does not.
        let paused = self.controls.paused();
        let answer = match self.or_stop(select(pin!(waiting), pin!(paused))).await? {
            Either::Left((Some(answer), _)) => answer,
            Either::Left((None, _)) => return Err(Halt::Waiting),
            Either::Right(_) => return Err(Halt::Paused),
        };
        let event = RunEvent::PersonAnswered { answer: answer.clone() };
        self.journal
            .record_all(vec![(key.clone(), event)], Vec::new(), Durability::Barrier)
            .await?;
        Ok(answer)
    }
}
