//! How many points were tried, and what went wrong at them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The count of a check.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// How many points the victim reached.
    pub(crate) reached: usize,
    /// What went wrong, in words.
    pub(crate) wrong: Vec<String>,
}

impl Tally {
    /// Both together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.reached += other.reached;
        self.wrong.extend(other.wrong);
        self
    }

    /// Prints the count, and fails when anything went wrong.
    pub(crate) fn must_hold(&self, title: &str) {
        println!(
            "{title}: seed {}, {} points, {} wrong",
            crate::seed(),
            self.reached,
            self.wrong.len()
        );
        assert!(self.wrong.is_empty(), "{title}: {:#?}", self.wrong);
        assert!(self.reached > 0, "{title}: no point was reached");
    }

    /// Prints what a mutant was caught with, and fails when it was not.
    pub(crate) fn must_be_noticed(&self, title: &str) {
        let noticed = self.wrong.first();
        let words = noticed.map_or("nothing", String::as_str);
        println!("{title} (mutant): noticed after {} points: {words}", self.reached);
        assert!(
            noticed.is_some(),
            "{title}: the mutant was not noticed at {} points",
            self.reached
        );
    }
}

/// Tries these points, two at a time, until one is not reached (none) or, if so wished, the first goes wrong.
pub(crate) fn try_all<Point: Send>(
    points: impl Iterator<Item = Point> + Send,
    stop_when_wrong: bool,
    check: impl Fn(Point) -> Option<Result<(), String>> + Sync,
) -> Tally {
    let points = Mutex::new(points);
    let over = AtomicBool::new(false);
    let reached = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let Some(point) = points.lock().unwrap().next() else {
                        return;
                    };
                    match check(point) {
                        None => over.store(true, Ordering::SeqCst),
                        Some(Ok(())) => {
                            reached.fetch_add(1, Ordering::SeqCst);
                        }
                        Some(Err(error)) => {
                            reached.fetch_add(1, Ordering::SeqCst);
                            wrong.lock().unwrap().push(error);
                            over.fetch_or(stop_when_wrong, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    Tally {
        reached: reached.into_inner(),
        wrong: wrong.into_inner().unwrap(),
    }
}
