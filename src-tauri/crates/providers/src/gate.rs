//! How many requests to one provider are under way at once: as many as there are, until the provider says that they are
//! too many; then half of them, and one more for each round that goes well (models page, "Retry").
//!
//! One gate belongs to one account and is shared by everything that asks it, so that two runs do not spend the same
//! limit twice. A wait between two attempts is not under way.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::llm::LlmErrorCode;
use contract::ports::clock::Clock;
use futures::future::select;
use tokio::sync::Notify;

/// The most at once, whatever goes well: what one process can hold open without running out of files.
const MOST: u32 = 256;

/// The way in.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    changed: Notify,
    /// Wakes those that wait between two attempts.
    hurry: Notify,
}

#[derive(Debug)]
struct State {
    limit: u32,
    under_way: u32,
    /// Answers since the limit was last changed.
    good: u32,
    /// How often it was halved. Requests that began before the last time say nothing new about it.
    halved: u64,
    /// When each wait between two attempts ends, in milliseconds since 1970.
    waits: Vec<i64>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                limit: MOST,
                under_way: 0,
                good: 0,
                halved: 0,
                waits: Vec::new(),
            }),
            changed: Notify::new(),
            hurry: Notify::new(),
        }
    }
}

impl Gate {
    /// Waits until there is room. Dropping the pass makes room again.
    pub(crate) async fn enter(&self) -> Pass<'_> {
        loop {
            let changed = self.changed.notified();
            if let Some(pass) = self.try_enter() {
                return pass;
            }
            changed.await;
        }
    }

    /// How many may be under way at once just now.
    pub fn limit(&self) -> u32 {
        self.state().limit
    }

    /// Waits between two attempts, until a person wants to try now. Dropping it ends the wait.
    pub(crate) async fn wait(&self, clock: &dyn Clock, duration: Duration) {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        let until_ms = clock.now_ms().saturating_add(milliseconds);
        // Before anybody can know of the wait, so that no wish comes too early to be heard.
        let hurried = pin!(self.hurry.notified());
        self.state().waits.push(until_ms);
        let _waiting = Waiting { gate: self, until_ms };
        select(hurried, clock.sleep(duration)).await;
    }

    /// When the waits between two attempts end that are going on, in milliseconds since 1970.
    pub fn waits_until_ms(&self) -> Vec<i64> {
        self.state().waits.clone()
    }

    /// Ends all waits between two attempts: *Try now*.
    pub fn try_now(&self) {
        self.hurry.notify_waiters();
    }

    fn try_enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        if state.under_way >= state.limit {
            return None;
        }
        state.under_way += 1;
        Some(Pass {
            gate: self,
            halved: state.halved,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait that is going on.
struct Waiting<'a> {
    gate: &'a Gate,
    until_ms: i64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        if let Some(place) = state.waits.iter().position(|until_ms| *until_ms == self.until_ms) {
            state.waits.swap_remove(place);
        }
    }
}

/// One request that is under way.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    halved: u64,
}

impl Pass<'_> {
    /// The request ended: with an answer, or with this error.
    pub(crate) fn ended(self, error: Option<LlmErrorCode>) {
        let mut state = self.gate.state();
        match error {
            Some(LlmErrorCode::RateLimit) if self.halved == state.halved => {
                state.limit = (state.under_way.min(state.limit) / 2).max(1);
                state.good = 0;
                state.halved += 1;
            }
            None if state.limit < MOST => {
                state.good += 1;
                if state.good >= state.limit {
                    state.good = 0;
                    state.limit += 1;
                }
            }
            _ => {}
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.under_way = state.under_way.saturating_sub(1);
        // More than one where the limit has grown too.
        let room = state.limit.saturating_sub(state.under_way);
        drop(state);
        for _ in 0..room.min(2) {
            self.gate.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn enter(gate: &Gate) -> Option<Pass<'_>> {
        gate.enter().now_or_never()
    }

    fn halved_to(under_way: u32) -> Gate {
        let gate = Gate::default();
        let mut passes: Vec<Pass<'_>> = (0..under_way).map(|_| enter(&gate).unwrap()).collect();
        passes.pop().unwrap().ended(Some(LlmErrorCode::RateLimit));
        drop(passes);
        gate
    }

    #[test]
    fn nobody_waits_before_a_provider_complains() {
        let gate = Gate::default();
        let passes: Vec<Option<Pass<'_>>> = (0..MOST).map(|_| enter(&gate)).collect();
        assert!(passes.iter().all(Option::is_some));
        assert!(enter(&gate).is_none());
    }

    #[test]
    fn half_of_what_was_under_way_goes_on() {
        let gate = halved_to(8);
        assert_eq!(gate.limit(), 4);
        let passes: Vec<Option<Pass<'_>>> = (0..4).map(|_| enter(&gate)).collect();
        assert!(passes.iter().all(Option::is_some));
        assert!(enter(&gate).is_none());
        assert_eq!(halved_to(1).limit(), 1);
    }

    #[test]
    fn requests_of_the_same_crowd_halve_it_once() {
        let gate = Gate::default();
        let crowd: Vec<Pass<'_>> = (0..8).map(|_| enter(&gate).unwrap()).collect();
        crowd
            .into_iter()
            .for_each(|pass| pass.ended(Some(LlmErrorCode::RateLimit)));
        assert_eq!(gate.limit(), 4);
        enter(&gate).unwrap().ended(Some(LlmErrorCode::RateLimit));
        assert_eq!(gate.limit(), 1);
    }

    #[test]
    fn it_grows_back_by_one_for_each_round_that_goes_well() {
        let gate = halved_to(8);
        let round = |count: u32| (0..count).for_each(|_| enter(&gate).unwrap().ended(None));
        round(3);
        assert_eq!(gate.limit(), 4);
        round(1);
        assert_eq!(gate.limit(), 5);
        round(5);
        assert_eq!(gate.limit(), 6);
        enter(&gate).unwrap().ended(Some(LlmErrorCode::Server));
        assert_eq!(gate.limit(), 6);
    }

    #[tokio::test]
    async fn whoever_waits_goes_in_when_somebody_leaves_or_gives_up() {
        let gate = halved_to(2);
        let first = gate.enter().await;
        let mut given_up = Box::pin(gate.enter());
        assert!(given_up.as_mut().now_or_never().is_none());
        let mut waiting = Box::pin(gate.enter());
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(first);
        drop(given_up);
        assert!(waiting.now_or_never().is_some());
    }
    /// Never wakes by itself.
    struct Standing;

    #[async_trait::async_trait]
    impl Clock for Standing {
        fn now_ms(&self) -> i64 {
            1_000
        }

        async fn sleep(&self, _duration: Duration) {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_wait_can_be_seen_and_cut_short_and_given_up() {
        let gate = Gate::default();
        let mut waiting = Box::pin(gate.wait(&Standing, Duration::from_secs(30)));
        let mut given_up = Box::pin(gate.wait(&Standing, Duration::from_secs(60)));
        assert!(waiting.as_mut().now_or_never().is_none() && given_up.as_mut().now_or_never().is_none());
        assert_eq!(gate.waits_until_ms(), [31_000, 61_000]);
        drop(given_up);
        assert_eq!(gate.waits_until_ms(), [31_000]);
        gate.try_now();
        assert!(waiting.now_or_never().is_some());
        assert_eq!(gate.waits_until_ms(), Vec::<i64>::new());
    }
}
