//! The leaf that waits for a person. A wait has no timeout and survives a restart.

use std::pin::pin;

use contract::event::RunEvent;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use futures::future::{Either, select};
use serde_json::Value;

use super::driver::{Driver, Halt, Outcome};
use crate::schedule::Turn;
use crate::schema;

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

    /// Asks until the answer fits, below this address: yes or no without a schema (`true` for yes), else a value that
    /// fits it. A no is an error with the code `rejected`.
    pub(crate) async fn ask_until_it_fits(
        &self,
        turn: Option<&Turn>,
        key: &Key,
        (cycle, step): (u32, &str),
        text: &str,
        schema: Option<&Value>,
    ) -> Outcome<Value> {
        let mut words = text.to_owned();
        for n in 0_u32.. {
            let asked = Ask::Gate {
                cycle,
                phase: step.to_owned(),
                text: words,
                question: schema.cloned(),
            };
            let answer = self.ask_person_in(turn, &key.child("ask").child(n), asked).await?;
            let problem = match (answer, schema) {
                (Answer::Approve { .. }, None) => return Ok(Ok(Value::Bool(true))),
                (Answer::Reply { value }, Some(schema)) => match schema::normalise(schema, value) {
                    Ok(value) => return Ok(Ok(value)),
                    Err(problems) => problems.join("; "),
                },
                (Answer::Reject { reason }, _) => {
                    let reason = reason.filter(|reason| !reason.trim().is_empty());
                    let message = reason.map_or("You said no.".to_owned(), |reason| format!("You said no: {reason}"));
                    return Ok(Err(StepError::new(code::REJECTED, message)));
                }
                (Answer::StopRun, _) => return Err(Halt::Cancelled),
                (
                    Answer::Approve { .. }
                    | Answer::ApproveEdited { .. }
                    | Answer::AskForChanges { .. }
                    | Answer::MarkDone
                    | Answer::RunAgain
                    | Answer::Allow { .. }
                    | Answer::AllowedMeanwhile
                    | Answer::Reply { .. },
                    _,
                ) => "that is no answer to this question".to_owned(),
            };
            words = format!("{text}\n\n{problem}");
        }
        Err(Halt::Waiting)
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
