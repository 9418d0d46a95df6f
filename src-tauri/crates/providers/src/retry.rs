//! The one retry layer (models page, "Retry"): nothing above or below a provider tries again.
//!
//! Own code instead of `backon`: its jitter is added to the wait where the policy wants full jitter,
//! and the base of the wait depends on the error.

use std::sync::Arc;
use std::time::Duration;

use contract::llm::{AttemptStatus, Delta, LlmAttempt, LlmError, LlmErrorCode, LlmResponse, Usage};
use contract::ports::clock::Clock;
use contract::ports::provider::Sink;

use crate::gate::Gate;

/// How often a call is tried again after its first attempt, in simpler terms or in the same.
pub const RETRIES: u32 = 3;
/// The longest wait between two attempts, whatever the server asks for.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);
const TRANSIENT_BASE_MS: u64 = 1_000;
const RATE_LIMIT_BASE_MS: u64 = 30_000;

/// An attempt that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer.
    pub response: LlmResponse,
    /// What it cost; none when the server did not say, which is not the same as nothing.
    pub usage: Option<Usage>,
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Why.
    pub error: LlmError,
    /// What it cost all the same.
    pub usage: Option<Usage>,
    /// Whether the provider will ask in simpler terms, and so at once.
    pub simpler: bool,
}

impl From<LlmError> for Failure {
    fn from(error: LlmError) -> Self {
        Self {
            error,
            usage: None,
            simpler: false,
        }
    }
}

/// Tries until it works, may not be tried again, or was tried often enough.
#[derive(Clone)]
pub struct Retry {
    /// Tells the time and waits.
    pub clock: Arc<dyn Clock>,
    /// A number from 0 to 1, for the jitter.
    pub random: fn() -> f64,
    /// How many attempts may be under way at once.
    pub gate: Arc<Gate>,
}

impl Retry {
    /// Calls, reports every attempt to the sink, and waits between them.
    pub async fn run<Call, Attempt>(&self, sink: &dyn Sink, mut call: Call) -> Result<LlmResponse, LlmError>
    where
        Call: FnMut() -> Attempt + Send,
        Attempt: Future<Output = Result<Answer, Failure>> + Send,
    {
        // Of the waits, which grow; what is asked in simpler terms waits for nothing.
        let mut waits = 0;
        let mut attempt = 0;
        loop {
            let pass = self.gate.enter().await;
            let started_ms = self.clock.now_ms();
            let outcome = call().await;
            pass.ended(outcome.as_ref().err().map(|failure| failure.error.code));
            let duration_ms = u64::try_from(self.clock.now_ms() - started_ms).unwrap_or(0);
            let report = |status, usage, error: Option<&LlmError>, wait: Option<Duration>| {
                sink.attempt(LlmAttempt {
                    attempt,
                    status,
                    duration_ms,
                    usage,
                    error: error.cloned(),
                    wait_ms: wait.map(milliseconds),
                    ..LlmAttempt::default()
                });
            };
            let failure = match outcome {
                Ok(Answer { response, usage }) => {
                    report(AttemptStatus::Success, usage, None, None);
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            let Some(wait) = self.wait(&failure, attempt, waits) else {
                report(AttemptStatus::Error, failure.usage, Some(&failure.error), None);
                return Err(failure.error);
            };
            report(AttemptStatus::Retry, failure.usage, Some(&failure.error), Some(wait));
            sink.delta(Delta::Restart);
            if !failure.simpler {
                waits += 1;
                self.gate.wait(&*self.clock, wait).await;
            }
            attempt += 1;
        }
    }

    fn wait(&self, failure: &Failure, retries: u32, waits: u32) -> Option<Duration> {
        match failure {
            _ if retries >= RETRIES => None,
            Failure { simpler: true, .. } => Some(Duration::ZERO),
            Failure { error, .. } => error.retryable().then(|| wait(error, waits, (self.random)())),
        }
    }
}

/// How long to wait after a failure; `random` is from 0 to 1.
pub fn wait(error: &LlmError, retries: u32, random: f64) -> Duration {
    if let Some(asked) = error.retry_after_ms {
        return Duration::from_millis(asked).min(LONGEST_WAIT);
    }
    let base = match error.code {
        LlmErrorCode::RateLimit => RATE_LIMIT_BASE_MS,
        _ => TRANSIENT_BASE_MS,
    };
    let longest = Duration::from_millis(base.saturating_mul(1 << retries.min(20)));
    longest.min(LONGEST_WAIT).mul_f64(random.clamp(0.0, 1.0))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::llm::FinishReason;

    use super::*;
    use crate::testing::{Heard, Jumping};

    fn error(code: LlmErrorCode) -> Failure {
        LlmError::new(code, "no").into()
    }

    fn answer() -> Answer {
        let response = LlmResponse {
            text: "yes".to_owned(),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage: Usage::default(),
            model: "m".to_owned(),
            request_id: None,
        };
        Answer { response, usage: None }
    }

    /// Plays outcomes, and returns whether it worked, the waits, and what the sink heard.
    async fn play(outcomes: Vec<Result<Answer, Failure>>) -> (bool, Vec<Option<u64>>, Heard, i64) {
        let clock = Arc::new(Jumping::default());
        let retry = Retry {
            clock: clock.clone(),
            random: || 1.0,
            gate: Arc::default(),
        };
        let outcomes = Mutex::new(outcomes.into_iter());
        let heard = Heard::default();
        let result = retry
            .run(&heard, || {
                let outcome = outcomes.lock().unwrap().next().unwrap();
                async { outcome }
            })
            .await;
        assert_eq!(outcomes.lock().unwrap().next(), None, "an outcome was never asked for");
        let waits = heard.attempts().iter().map(|attempt| attempt.wait_ms).collect();
        (result.is_ok(), waits, heard, clock.now_ms())
    }

    #[tokio::test]
    async fn doubles_the_wait_and_gives_up_after_three_retries() {
        let outcomes = (0..4).map(|_| Err(error(LlmErrorCode::Server))).collect();
        let (worked, waits, heard, slept) = play(outcomes).await;
        assert!(!worked);
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
        assert_eq!(slept, 7_000);
        let numbers: Vec<u32> = heard.attempts().iter().map(|attempt| attempt.attempt).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        let status: Vec<AttemptStatus> = heard.attempts().iter().map(|attempt| attempt.status).collect();
        assert_eq!(status[2..], [AttemptStatus::Retry, AttemptStatus::Error]);
    }

    #[tokio::test]
    async fn waits_longer_when_there_were_too_many_requests() {
        let outcomes = (0..4).map(|_| Err(error(LlmErrorCode::RateLimit))).collect();
        let (_, waits, ..) = play(outcomes).await;
        assert_eq!(waits, [Some(30_000), Some(60_000), Some(120_000), None]);
    }

    #[tokio::test]
    async fn tells_the_sink_to_start_over_before_each_retry() {
        let (worked, _, heard, _) = play(vec![Err(error(LlmErrorCode::StreamCut)), Ok(answer())]).await;
        assert!(worked);
        assert_eq!(heard.deltas(), [Delta::Restart]);
    }

    #[tokio::test]
    async fn reports_what_a_failed_attempt_cost() {
        let cost = Some(Usage {
            input: 7,
            ..Usage::default()
        });
        let mut failure = error(LlmErrorCode::StreamCut);
        failure.usage = cost;
        let (_, _, heard, _) = play(vec![Err(failure), Ok(answer())]).await;
        assert_eq!(heard.attempts()[0].usage, cost);
        assert_eq!(heard.attempts()[1].usage, None);
    }

    #[tokio::test]
    async fn asking_in_simpler_terms_waits_for_nothing_and_is_one_of_the_retries() {
        let simpler = || Failure {
            simpler: true,
            ..error(LlmErrorCode::InvalidRequest)
        };
        let busy = || error(LlmErrorCode::Connection);
        let (worked, waits, ..) = play(vec![Err(simpler()), Err(busy()), Err(busy()), Ok(answer())]).await;
        assert!(worked);
        assert_eq!(waits, [Some(0), Some(1_000), Some(2_000), None]);
        // One request and three more, whatever they are for.
        let (worked, waits, ..) = play(vec![Err(simpler()), Err(busy()), Err(busy()), Err(busy())]).await;
        assert!(!worked);
        assert_eq!(waits, [Some(0), Some(1_000), Some(2_000), None]);
        let (worked, waits, ..) = play((0..4).map(|_| Err(simpler())).collect()).await;
        assert!(!worked);
        assert_eq!(waits, [Some(0), Some(0), Some(0), None]);
    }

    #[tokio::test]
    async fn tries_again_exactly_where_it_may_help() {
        use LlmErrorCode as Code;
        for code in [
            Code::Connection,
            Code::Timeout,
            Code::RateLimit,
            Code::Server,
            Code::StreamCut,
        ] {
            let (worked, ..) = play(vec![Err(error(code)), Ok(answer())]).await;
            assert!(worked, "{code:?}");
        }
        let for_good = [
            Code::Authentication,
            Code::ModelNotFound,
            Code::ContextLength,
            Code::InvalidRequest,
            Code::BadResponse,
            Code::NotRecorded,
        ];
        for code in for_good {
            let (worked, ..) = play(vec![Err(error(code))]).await;
            assert!(!worked, "{code:?}");
        }
    }

    fn check_wait(code: LlmErrorCode, asked: Option<u64>, retries: u32, random: f64, expected_ms: u64) {
        let mut error = LlmError::new(code, "no");
        error.retry_after_ms = asked;
        assert_eq!(wait(&error, retries, random), Duration::from_millis(expected_ms));
    }

    #[test]
    fn jitter_is_full() {
        check_wait(LlmErrorCode::Server, None, 2, 0.0, 0);
        check_wait(LlmErrorCode::Server, None, 2, 0.5, 2_000);
    }

    #[test]
    fn what_the_server_asks_wins_up_to_two_minutes() {
        check_wait(LlmErrorCode::RateLimit, Some(50), 2, 0.5, 50);
        check_wait(LlmErrorCode::Server, Some(9_000), 0, 0.0, 9_000);
        check_wait(LlmErrorCode::RateLimit, Some(u64::MAX), 0, 0.0, 120_000);
        check_wait(LlmErrorCode::RateLimit, None, 30, 1.0, 120_000);
    }
}
