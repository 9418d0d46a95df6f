//! The runs that this process drives: one task each, with the run's lock, a word to stop it and one to leave it.
//!
//! A driver that panics takes nothing down with it: the run is interrupted and can be continued.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::run::RunResult;
use contract::{AppError, RunId};
use engine::{Controls, Driven};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::{ToAppError, internal};

/// How the driving of a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The run is at its end.
    Finished(RunResult),
    /// A person has to say something first, and nobody is there to.
    Waiting,
    /// A person paused it.
    Paused,
    /// It stopped in the middle; it can be continued.
    Interrupted(AppError),
}

/// How many drivings that are over are remembered, with what they came to.
const REMEMBERED: usize = 256;

/// The drivers of this process by run, and the last of those that are done.
#[derive(Default)]
pub struct ActiveRuns {
    drivers: Arc<Mutex<Drivers>>,
}

#[derive(Default)]
struct Drivers {
    by_run: HashMap<RunId, Driver>,
    /// Those that are done, the oldest first, each with the number of its driving.
    done: VecDeque<(RunId, u64)>,
    /// How many began.
    begun: u64,
}

#[derive(Clone)]
struct Driver {
    /// Which driving of this process it is; the same run may be driven again.
    number: u64,
    /// Ends or pauses the run, or says something to it. None when it is done.
    controls: Option<Arc<Controls>>,
    /// Ends only the driving.
    leave: CancellationToken,
    outcome: watch::Receiver<Option<Outcome>>,
}

impl ActiveRuns {
    /// Whether this process drives the run now.
    pub(crate) fn is_active(&self, run: &RunId) -> bool {
        self.drivers().by_run.get(run).is_some_and(Driver::is_active)
    }

    /// Whether this process drives any run now.
    pub(crate) fn any(&self) -> bool {
        self.drivers().by_run.values().any(Driver::is_active)
    }

    /// Whether it drives any run beside this one.
    pub(crate) fn any_beside(&self, run: &RunId) -> bool {
        let drivers = self.drivers();
        let mut beside = drivers.by_run.iter().filter(|(other, _)| *other != run);
        beside.any(|(_, driver)| driver.is_active())
    }

    /// Drives a run. `lock` is held until the driving ended; `ended` is told how, after that.
    pub(crate) fn begin<Lock: Send + 'static>(
        &self,
        run: RunId,
        lock: Lock,
        controls: Arc<Controls>,
        drive: BoxFuture<'static, Driven>,
        ended: impl FnOnce(&Outcome) + Send + 'static,
    ) {
        let leave = CancellationToken::new();
        let (tell, outcome) = watch::channel(None);
        let left = leave.clone();
        let number = self.drivers().begin(&run, controls, leave, outcome);
        let drivers = Arc::clone(&self.drivers);
        tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                driven = AssertUnwindSafe(drive).catch_unwind() => match driven {
                    Ok(driven) => outcome_of(driven),
                    Err(_) => Outcome::Interrupted(internal("the run stopped because of a mistake in the app")),
                },
                () = left.cancelled() => Outcome::Interrupted(interrupted()),
            };
            drop(lock);
            ended(&outcome);
            let _ = tell.send(Some(outcome));
            locked(&drivers).end(run, number);
        });
    }

    /// Ends the run; false when this process does not drive it.
    pub(crate) fn stop(&self, run: &RunId) -> bool {
        match self.controls(run) {
            Some(controls) => {
                controls.stop.cancel();
                true
            }
            None => false,
        }
    }

    /// The controls of a run that this process drives now.
    pub(crate) fn controls(&self, run: &RunId) -> Option<Arc<Controls>> {
        let drivers = self.drivers();
        let driver = drivers.by_run.get(run).filter(|driver| driver.is_active())?;
        driver.controls.clone()
    }

    /// How the latest driving of the run ends; none when this process never drove it, or has driven many others since.
    pub(crate) async fn outcome(&self, run: &RunId) -> Option<Outcome> {
        let driver = self.drivers().by_run.get(run).cloned()?;
        driver.ended().await
    }

    /// Leaves a run where it stands and returns when nobody drives it.
    pub(crate) async fn leave(&self, run: &RunId) {
        let Some(driver) = self.drivers().by_run.get(run).cloned() else {
            return;
        };
        driver.leave.cancel();
        driver.ended().await;
    }

    /// Leaves every run where it stands.
    pub(crate) async fn leave_all(&self) {
        let runs: Vec<RunId> = self.drivers().by_run.keys().cloned().collect();
        for run in runs {
            self.leave(&run).await;
        }
    }

    fn drivers(&self) -> MutexGuard<'_, Drivers> {
        locked(&self.drivers)
    }
}

fn locked(drivers: &Mutex<Drivers>) -> MutexGuard<'_, Drivers> {
    drivers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drivers {
    /// Notes a driving, and returns its number.
    fn begin(
        &mut self,
        run: &RunId,
        controls: Arc<Controls>,
        leave: CancellationToken,
        outcome: watch::Receiver<Option<Outcome>>,
    ) -> u64 {
        self.begun += 1;
        let driver = Driver {
            number: self.begun,
            controls: Some(controls),
            leave,
            outcome,
        };
        self.by_run.insert(run.clone(), driver);
        self.begun
    }

    /// Lets go of what a driving needed and of the oldest outcome, so that an app that is open for weeks does not grow
    /// with every run.
    fn end(&mut self, run: RunId, number: u64) {
        if let Some(driver) = self.by_run.get_mut(&run).filter(|driver| driver.number == number) {
            driver.controls = None;
        }
        self.done.push_back((run, number));
        if self.done.len() <= REMEMBERED {
            return;
        }
        if let Some((oldest, number)) = self.done.pop_front()
            && self.by_run.get(&oldest).is_some_and(|driver| driver.number == number)
        {
            self.by_run.remove(&oldest);
        }
    }
}

impl Driver {
    fn is_active(&self) -> bool {
        self.outcome.borrow().is_none()
    }

    async fn ended(mut self) -> Option<Outcome> {
        self.outcome
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|outcome| outcome.clone())
    }
}

fn outcome_of(driven: Driven) -> Outcome {
    match driven {
        Driven::Finished(result) => Outcome::Finished(result),
        Driven::Waiting => Outcome::Waiting,
        Driven::Paused => Outcome::Paused,
        Driven::Stopped(error) => Outcome::Interrupted(error.to_app_error()),
    }
}

fn interrupted() -> AppError {
    AppError::new("interrupted", "the run was left where it stands").hint("Continue it whenever you like.")
}

#[cfg(test)]
mod tests {
    use contract::ports::journal::JournalError;

    use super::*;

    fn run() -> RunId {
        RunId::new("run")
    }

    /// Drives something, and returns how it ended, whether the lock was let go, and what was told.
    async fn ends_with(drive: BoxFuture<'static, Driven>) -> (Outcome, bool, Option<Outcome>) {
        let runs = ActiveRuns::default();
        let lock = Arc::new(());
        let told = Arc::new(Mutex::new(None));
        let (held, tell) = (Arc::clone(&lock), Arc::clone(&told));
        runs.begin(run(), held, Arc::default(), drive, move |outcome| {
            *tell.lock().unwrap() = Some(outcome.clone());
        });
        let outcome = runs.outcome(&run()).await.unwrap();
        assert!(!runs.is_active(&run()));
        let told = told.lock().unwrap().clone();
        (outcome, Arc::strong_count(&lock) == 1, told)
    }

    #[tokio::test]
    async fn a_driver_that_panics_leaves_the_run_interrupted() {
        let (outcome, unlocked, told) = ends_with(async { panic!("a mistake") }.boxed()).await;
        assert!(
            matches!(&outcome, Outcome::Interrupted(error) if error.code == "internal"),
            "{outcome:?}"
        );
        assert!(unlocked);
        assert_eq!(told, Some(outcome));
    }

    #[tokio::test]
    async fn a_journal_that_cannot_be_written_leaves_the_run_interrupted() {
        let full = Driven::Stopped(JournalError::Storage("the disk is full".to_owned()));
        let (outcome, unlocked, _) = ends_with(async { full }.boxed()).await;
        assert!(
            matches!(&outcome, Outcome::Interrupted(error) if error.code == "store_failed"),
            "{outcome:?}"
        );
        assert!(unlocked);
    }

    #[tokio::test]
    async fn a_run_can_be_left_where_it_stands() {
        let runs = ActiveRuns::default();
        runs.begin(run(), (), Arc::default(), futures::future::pending().boxed(), |_| {});
        assert!(runs.is_active(&run()));
        runs.leave(&run()).await;
        assert!(!runs.is_active(&run()));
        let outcome = runs.outcome(&run()).await.unwrap();
        assert!(
            matches!(&outcome, Outcome::Interrupted(error) if error.code == "interrupted"),
            "{outcome:?}"
        );
    }

    #[tokio::test]
    async fn remembers_the_last_runs_and_no_more() {
        let runs = ActiveRuns::default();
        let named = |number: usize| RunId::new(format!("run-{number}"));
        let controls = Arc::new(Controls::default());
        let begin = |run: RunId, drive: BoxFuture<'static, Driven>| {
            runs.begin(run, (), Arc::clone(&controls), drive, |_| {});
        };
        // One goes on all the while, and one is driven again in between.
        begin(run(), futures::future::pending().boxed());
        for number in 0..REMEMBERED + 10 {
            begin(named(number), async { Driven::Waiting }.boxed());
            assert_eq!(runs.outcome(&named(number)).await, Some(Outcome::Waiting));
            if number == 20 {
                begin(named(0), async { Driven::Paused }.boxed());
                assert_eq!(runs.outcome(&named(0)).await, Some(Outcome::Paused));
            }
        }
        // Its task tells the outcome first, and then lets go.
        while Arc::strong_count(&controls) > 2 {
            tokio::task::yield_now().await;
        }
        assert!(runs.is_active(&run()));
        assert_eq!(runs.outcome(&named(0)).await, Some(Outcome::Paused));
        assert_eq!(runs.outcome(&named(1)).await, None);
        assert_eq!(runs.outcome(&named(REMEMBERED + 9)).await, Some(Outcome::Waiting));
        assert_eq!(runs.drivers().by_run.len(), REMEMBERED + 1);
    }

    #[tokio::test]
    async fn stopping_tells_the_driver() {
        let runs = ActiveRuns::default();
        let stop = CancellationToken::new();
        let waiting = stop.clone();
        let drive = async move {
            waiting.cancelled().await;
            Driven::Waiting
        };
        let controls = Arc::new(Controls::with_stop(stop));
        runs.begin(run(), (), controls, drive.boxed(), |_| {});
        assert!(runs.stop(&run()));
        assert_eq!(runs.outcome(&run()).await, Some(Outcome::Waiting));
        assert!(!runs.stop(&run()));
    }
}
