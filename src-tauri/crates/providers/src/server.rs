//! One model server of any kind: asks in its protocol, in simpler terms where it refuses some, and tries again.
//!
//! A protocol is a request's body and an answer's pieces ([`Protocol`]); everything around them is here and the same for
//! all. What a server was found to understand is remembered for each model, for as long as the server is held.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::llm::{Delta, Effort, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::clock::Clock;
use contract::ports::provider::{LlmProvider, Sink};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::http::{Body, Http, Wire};
use crate::reader::{Reader, Reply};
use crate::refusal::{Refusal, is_web_page, web_page};
use crate::retry::{Answer, Failure, Retry};

/// A provider that can also be tried out.
#[async_trait]
pub trait ModelServer: LlmProvider {
    /// Asks once, without trying again: for a person who waits for the outcome of a test.
    async fn once(&self, request: &LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError>;
}

/// Opens a server under the name that stands before the colon in `provider:model`; nothing is sent yet.
pub type Open = fn(&str, Endpoint, Arc<dyn Clock>) -> Result<Arc<dyn ModelServer>, LlmError>;

/// What one kind of server wants to be sent, and what it answers.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// In which terms it is asked.
    type Terms: Copy + PartialEq + Send;
    /// How its answers are put together.
    type Reply: Reply;

    /// How its requests look, besides their bodies.
    const WIRE: Wire;
    /// The terms of the first request.
    const EVERYTHING: Self::Terms;
    /// The route that lists its models.
    const MODELS: &'static str;

    /// The route of a request.
    fn route(request: &LlmRequest) -> Result<String, LlmError>;
    /// The body of a request.
    fn body(request: &LlmRequest, terms: Self::Terms) -> Value;
    /// How much that body tells the model to think.
    fn effort(request: &LlmRequest, terms: Self::Terms) -> Option<Effort>;
    /// An answer to that request of which nothing has arrived.
    fn reply(request: &LlmRequest, terms: Self::Terms) -> Self::Reply;
    /// Simpler terms for a request that was refused as invalid; none when nothing of it can be left out.
    fn simpler(terms: Self::Terms, request: &LlmRequest, refusal: &Refusal) -> Option<Self::Terms>;
    /// The models of a list; none when it is none.
    fn models(list: &Value) -> Option<Vec<ModelInfo>>;
}

/// A server that speaks this protocol.
pub(crate) struct Server<P: Protocol> {
    name: String,
    http: Http,
    retry: Retry,
    understands: Mutex<HashMap<String, P::Terms>>,
}

impl<P: Protocol> Server<P> {
    /// Prepares to ask; nothing is sent yet. `name` stands before the colon in `provider:model`.
    pub(crate) fn new(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        let gate = Arc::clone(&endpoint.gate);
        Ok(Self {
            name: name.to_owned(),
            http: Http::new(P::WIRE, endpoint, clock.clone())?,
            retry: Retry {
                clock,
                random: fastrand::f64,
                gate,
            },
            understands: Mutex::default(),
        })
    }

    /// Asks like [`LlmProvider::complete`], with headers of the caller's beside the usual ones.
    pub(crate) async fn complete_under(
        &self,
        request: &LlmRequest,
        headers: &[(&'static str, String)],
        sink: &dyn Sink,
    ) -> Result<LlmResponse, LlmError> {
        let terms = Mutex::new(self.remembered(&request.model));
        let told = Told {
            sink,
            effort: Mutex::default(),
        };
        let attempt = || {
            *locked(&told.effort) = P::effort(request, *locked(&terms));
            self.attempt(request, headers, &terms, sink)
        };
        self.retry.run(&told, attempt).await
    }

    async fn attempt(
        &self,
        request: &LlmRequest,
        headers: &[(&'static str, String)],
        terms: &Mutex<P::Terms>,
        sink: &dyn Sink,
    ) -> Result<Answer, Failure> {
        let now = *locked(terms);
        match self.ask(request, now, headers, sink).await {
            Ok(answer) => {
                locked(&self.understands).insert(request.model.clone(), now);
                Ok(answer)
            }
            Err(Unanswered { failure, refusal }) => {
                // An account without credit, or in the wrong country, is not helped by simpler words.
                let may_help = |error: &LlmError| error.code == LlmErrorCode::InvalidRequest && error.remedy.is_none();
                let refusal = refusal.filter(|refusal| may_help(&refusal.error));
                let simpler = refusal.and_then(|refusal| P::simpler(now, request, &refusal));
                if let Some(simpler) = simpler {
                    *locked(terms) = simpler;
                }
                Err(Failure {
                    error: self.http.without_key(failure.error),
                    simpler: simpler.is_some(),
                    ..failure
                })
            }
        }
    }

    async fn ask(
        &self,
        request: &LlmRequest,
        terms: P::Terms,
        headers: &[(&'static str, String)],
        sink: &dyn Sink,
    ) -> Result<Answer, Unanswered> {
        let route = P::route(request).map_err(Failure::from)?;
        let body = P::body(request, terms);
        let mut arriving = self.http.post(&route, &body, headers).await.map_err(Unanswered::from)?;
        let mut reader = Reader::new(P::reply(request, terms), self.http.server(), self.http.key());
        let broke = loop {
            match arriving.next().await {
                Ok(Some(bytes)) => reader.push(&bytes, sink)?,
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
            if reader.is_done() {
                break None;
            }
        };
        let answer = reader.finish(broke.is_none(), sink);
        let answer = answer.map_err(|failure| because(failure, broke))?;
        Ok(named(answer, &arriving))
    }

    fn remembered(&self, model: &str) -> P::Terms {
        locked(&self.understands).get(model).copied().unwrap_or(P::EVERYTHING)
    }
}

/// Adds to each attempt how much the model was told to think in it.
struct Told<'a> {
    sink: &'a dyn Sink,
    effort: Mutex<Option<Effort>>,
}

impl Sink for Told<'_> {
    fn delta(&self, delta: Delta) {
        self.sink.delta(delta);
    }

    fn attempt(&self, attempt: LlmAttempt) {
        let effort = *locked(&self.effort);
        self.sink.attempt(LlmAttempt { effort, ..attempt });
    }
}

/// Why there is no answer, with the server's refusal where that was it.
struct Unanswered {
    failure: Failure,
    refusal: Option<Refusal>,
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, refusal: None }
    }
}

impl From<Refusal> for Unanswered {
    fn from(refusal: Refusal) -> Self {
        Self {
            failure: refusal.error.clone().into(),
            refusal: Some(refusal),
        }
    }
}

/// The answer under the name that the provider's support knows the request by.
fn named(mut answer: Answer, arriving: &Body) -> Answer {
    if let Some(id) = &arriving.request_id {
        answer.response.request_id = Some(id.clone());
    }
    answer
}

/// What broke the connection explains more than that the answer is not whole.
fn because(failure: Failure, broke: Option<LlmError>) -> Failure {
    match broke {
        Some(error) if failure.error.code == LlmErrorCode::StreamCut => Failure { error, ..failure },
        _ => failure,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl<P: Protocol> LlmProvider for Server<P> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.complete_under(&request, &[], sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        let listed = async {
            let mut arriving = self.http.get(P::MODELS).await.map_err(|refusal| refusal.error)?;
            models::<P>(&self.http.server(), &arriving.all().await?)
        };
        listed.await.map_err(|error| self.http.without_key(error))
    }
}

#[async_trait]
impl<P: Protocol> ModelServer for Server<P> {
    async fn once(&self, request: &LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let terms = Mutex::new(self.remembered(&request.model));
        loop {
            match self.attempt(request, &[], &terms, sink).await {
                Ok(answer) => return Ok(answer.response),
                Err(failure) if failure.simpler => {}
                Err(failure) => return Err(failure.error),
            }
        }
    }
}

fn models<P: Protocol>(server: &str, bytes: &[u8]) -> Result<Vec<ModelInfo>, LlmError> {
    if is_web_page(bytes) {
        return Err(web_page(server));
    }
    let list = serde_json::from_slice::<Value>(bytes).ok();
    list.as_ref().and_then(P::models).ok_or_else(|| {
        let message = format!(
            "{server} answered with something that is no list of models: check the address of the model server in Settings"
        );
        LlmError::new(LlmErrorCode::BadResponse, message)
    })
}
