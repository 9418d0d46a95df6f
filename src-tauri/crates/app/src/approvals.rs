//! The person, as the window plays them: questions that wait here, and answers that arrive through `run_answer`.
//!
//! A question waits as long as it takes. An answer may come before its question is asked (the window sees the
//! question in the journal first) or while nobody drives the run; it is then kept for the driver.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::person::{Answer, Ask};
use contract::ports::people::People;
use contract::{AppError, Key, RunId};
use tokio::sync::oneshot;

/// Where questions and answers meet.
#[derive(Default)]
pub struct Approvals {
    places: Mutex<HashMap<Place, Meeting>>,
}

type Place = (RunId, Key);

enum Meeting {
    /// A driver waits.
    Asked(oneshot::Sender<Answer>),
    /// An answer waits.
    Answered(Answer),
    /// They met; a second answer comes too late.
    Over,
}

impl Approvals {
    /// Brings an answer to its question, or keeps it until the question is asked.
    pub(crate) fn give(&self, run: &RunId, key: &Key, answer: Answer) -> Result<(), AppError> {
        let mut places = self.places();
        let place = (run.clone(), key.clone());
        match places.remove(&place) {
            None => {
                places.insert(place, Meeting::Answered(answer));
                Ok(())
            }
            Some(Meeting::Asked(driver)) => {
                // A driver that went away meanwhile asks again when the run is continued.
                let next = match driver.send(answer) {
                    Ok(()) => Meeting::Over,
                    Err(answer) => Meeting::Answered(answer),
                };
                places.insert(place, next);
                Ok(())
            }
            Some(meeting @ (Meeting::Answered(_) | Meeting::Over)) => {
                places.insert(place, meeting);
                Err(answered_already())
            }
        }
    }

    /// Forgets everything about a run: nobody drives it any more.
    pub(crate) fn forget(&self, run: &RunId) {
        self.places().retain(|(of, _), _| of != run);
    }

    /// The answer that is there, or the promise of one.
    fn ask(&self, place: Place) -> Result<Answer, oneshot::Receiver<Answer>> {
        let mut places = self.places();
        if let Some(Meeting::Answered(answer)) = places.remove(&place) {
            places.insert(place, Meeting::Over);
            return Ok(answer);
        }
        let (sender, receiver) = oneshot::channel();
        places.insert(place, Meeting::Asked(sender));
        Err(receiver)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Place, Meeting>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answered_already() -> AppError {
    AppError::new("answered_already", "this question has been answered already")
        .hint("Look at the run again: it has gone on.")
}

#[async_trait]
impl People for Approvals {
    async fn answer(&self, run: &RunId, key: &Key, _ask: &Ask) -> Option<Answer> {
        match self.ask((run.clone(), key.clone())) {
            Ok(answer) => Some(answer),
            Err(promise) => promise.await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        (RunId::new("run"), Key::new("cycle/1/approve"))
    }

    fn ask() -> Ask {
        Ask::UncertainEffect {
            cycle: 1,
            step: "step_1".to_owned(),
            tool: "file_write".to_owned(),
            path: "report.md".to_owned(),
        }
    }

    #[tokio::test]
    async fn an_answer_reaches_the_driver_that_waits() {
        let approvals = Approvals::default();
        let (run, key) = place();
        let ask = ask();
        let waiting = approvals.answer(&run, &key, &ask);
        let answering = async { approvals.give(&run, &key, Answer::MarkDone) };
        let (answer, given) = tokio::join!(waiting, answering);
        assert_eq!((answer, given), (Some(Answer::MarkDone), Ok(())));
    }

    #[tokio::test]
    async fn an_answer_waits_for_a_driver() {
        let approvals = Approvals::default();
        let (run, key) = place();
        approvals.give(&run, &key, Answer::RunAgain).unwrap();
        assert_eq!(approvals.answer(&run, &key, &ask()).await, Some(Answer::RunAgain));
    }

    #[tokio::test]
    async fn the_second_of_two_answers_comes_too_late() {
        let approvals = Approvals::default();
        let (run, key) = place();
        approvals.give(&run, &key, Answer::MarkDone).unwrap();
        assert_eq!(
            approvals.give(&run, &key, Answer::StopRun).unwrap_err().code,
            "answered_already"
        );
        approvals.answer(&run, &key, &ask()).await;
        assert_eq!(
            approvals.give(&run, &key, Answer::StopRun).unwrap_err().code,
            "answered_already"
        );
    }

    #[tokio::test]
    async fn an_answer_to_a_driver_that_went_away_is_kept_for_the_next() {
        let approvals = Approvals::default();
        let (run, key) = place();
        {
            let ask = ask();
            let mut waiting = std::pin::pin!(approvals.answer(&run, &key, &ask));
            assert!(futures::poll!(waiting.as_mut()).is_pending());
        }
        approvals.give(&run, &key, Answer::MarkDone).unwrap();
        assert_eq!(approvals.answer(&run, &key, &ask()).await, Some(Answer::MarkDone));
    }
}
