//! How long a run was at work: the time in which it waited for a person, stood paused or was at its end does not count. The
//! window shows the same, as far as the events tell.

use contract::event::RunEvent;
use contract::person::Ask;

/// Nothing takes longer than this without anything being recorded, unless a tool may: in a longer gap nobody was at work,
/// since the app had ended.
const LONGEST_SILENCE_MS: i64 = 10 * 60_000;

/// The time at work of a growing journal.
#[derive(Debug, Default)]
pub(super) struct WorkClock {
    total_ms: i64,
    last_ms: Option<i64>,
    questions: u32,
    /// Those of them that a tool call waits for: its leaf is not at work meanwhile.
    inside: u32,
    leaves: u32,
    halted: bool,
    /// How long a tool may take, where that is longer than anything else.
    longest_tool_ms: i64,
}

impl WorkClock {
    /// The milliseconds at work until now.
    pub(super) fn worked_ms(&self, now_ms: i64) -> i64 {
        self.total_ms + self.since(now_ms)
    }

    /// Nothing was at work from the last event until now: a drive begins.
    pub(super) fn resume(&mut self, now_ms: i64) {
        self.last_ms = Some(now_ms);
        // What was under way when the app ended is not.
        self.leaves = 0;
    }

    pub(super) fn take(&mut self, at_ms: i64, event: &RunEvent) {
        self.total_ms += self.since(at_ms);
        self.last_ms = Some(at_ms);
        match event {
            RunEvent::RunStarted { header } => {
                self.longest_tool_ms = i64::try_from(header.task.limits.tool_timeout).unwrap_or(i64::MAX);
            }
            RunEvent::PersonAsked { ask } => {
                self.questions += 1;
                self.inside += u32::from(is_inside(ask));
            }
            RunEvent::PersonAnswered { .. } => {
                self.questions = self.questions.saturating_sub(1);
                self.inside = self.inside.min(self.questions);
            }
            RunEvent::ModelCallStarted { .. } | RunEvent::ToolStarted { .. } => self.leaves += 1,
            RunEvent::ModelCallFinished { .. } | RunEvent::ToolFinished { .. } => {
                self.leaves = self.leaves.saturating_sub(1);
            }
            RunEvent::RunPaused => self.halted = true,
            RunEvent::RunContinued | RunEvent::RunReopened { .. } => self.halted = false,
            RunEvent::RunFinished { .. } => {
                *self = Self {
                    halted: true,
                    questions: 0,
                    inside: 0,
                    leaves: 0,
                    ..*self
                };
            }
            _ => {}
        }
    }

    fn since(&self, at_ms: i64) -> i64 {
        // While a question waits, other steps may go on; that is work, too.
        let at_work = !self.halted && (self.questions == 0 || self.leaves > self.inside);
        match self.last_ms {
            Some(last_ms) if at_work => {
                let gap = at_ms.saturating_sub(last_ms).max(0);
                let longest = self.longest_tool_ms.saturating_add(60_000).max(LONGEST_SILENCE_MS);
                if gap > longest { 0 } else { gap }
            }
            Some(_) | None => 0,
        }
    }
}

/// Whether a tool call asks this, and waits.
fn is_inside(ask: &Ask) -> bool {
    match ask {
        Ask::Permission { .. } | Ask::UncertainEffect { .. } => true,
        Ask::Gate { cycle, .. } => *cycle > 0,
        Ask::ApprovePlan { .. } | Ask::RunStep { .. } | Ask::AllowEffect { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use contract::hash::Hash;
    use contract::person::Answer;

    use super::*;

    const MINUTE: i64 = 60_000;

    fn check(events: &[(i64, RunEvent)], now: i64, expected: i64) {
        let mut clock = WorkClock::default();
        for (at_minute, event) in events {
            clock.take(at_minute * MINUTE, event);
        }
        assert_eq!(clock.worked_ms(now * MINUTE), expected * MINUTE, "{events:?}");
    }

    fn went_on() -> RunEvent {
        RunEvent::RunContinued
    }

    #[test]
    fn the_time_until_now_counts() {
        check(&[], 100, 0);
        check(&[(100, went_on())], 103, 3);
        check(&[(100, went_on()), (102, went_on())], 103, 3);
        // The machine's clock may be put back.
        check(&[(100, went_on()), (90, went_on())], 91, 1);
    }

    #[test]
    fn a_wait_for_a_person_or_a_pause_does_not_count() {
        let asked = || RunEvent::PersonAsked {
            ask: Ask::ApprovePlan {
                cycle: 1,
                plan_hash: Hash::of_bytes(b"plan"),
                envelope: Default::default(),
            },
        };
        let answered = || RunEvent::PersonAnswered {
            answer: Answer::StopRun,
        };
        check(&[(0, went_on()), (1, asked())], 9, 1);
        check(&[(0, went_on()), (1, asked()), (9, answered())], 11, 3);
        check(&[(0, went_on()), (1, RunEvent::RunPaused), (8, went_on())], 9, 2);
    }

    #[test]
    fn the_time_in_which_the_app_was_closed_does_not_count() {
        check(&[(0, went_on()), (5, went_on()), (500, went_on())], 501, 6);
        let mut clock = WorkClock::default();
        clock.take(0, &went_on());
        clock.resume(8 * MINUTE);
        assert_eq!(clock.worked_ms(9 * MINUTE), MINUTE);
    }
}
