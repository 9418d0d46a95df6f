//! One model server of any kind: asks in its protocol, in simpler terms where it refuses some, and tries again.
//!
//! A protocol is a request's body and an answer's pieces ([`Protocol`]); everything around them is here and the same for
//! all. What a server was found to understand is remembered for each model ([`Learned`]).

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::llm::{
    ContentBlock, Delta, Effort, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, MadeBy, ModelInfo,
    ToolUse,
};
use contract::ports::clock::Clock;
use contract::ports::provider::{LlmProvider, Sink};
use serde_json::Value;
use tokio::time::Instant;

use crate::endpoint::{Endpoint, Host};
use crate::http::{Body, Http, Wire};
use crate::keyless::{Keyless, clean_models};
use crate::learned::Learned;
use crate::pieces::OUR_CALL;
use crate::reader::{Reader, Reply};
use crate::refusal::{Refusal, is_web_page, web_page};
use crate::retry::{Answer, Failure, RETRIES, Retry};

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
    type Terms: Copy + PartialEq + Send + 'static;
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
    learned: Arc<Learned>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> Server<P> {
    /// Prepares to ask; nothing is sent yet. `name` stands before the colon in `provider:model`.
    pub(crate) fn new(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        let (gate, learned) = (Arc::clone(&endpoint.gate), Arc::clone(&endpoint.learned));
        Ok(Self {
            name: name.to_owned(),
            http: Http::new(P::WIRE, endpoint, clock.clone())?,
            retry: Retry {
                clock,
                random: fastrand::f64,
                gate,
            },
            learned,
            protocol: PhantomData,
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
                self.learned.remember(&self.http.server(), &request.model, now);
                Ok(answer)
            }
            Err(Unanswered { failure, refusal }) => {
                // An account without credit, or in the wrong country, is not helped by simpler words.
                let refusal = refusal.filter(|refusal| refusal.is_unexplained);
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
        let keyless = Keyless::new(sink, self.http.key());
        let sink: &dyn Sink = &keyless;
        let me = MadeBy {
            provider: self.name.clone(),
            model: request.model.clone(),
        };
        let body = P::body(&own(request, &me), terms);
        let mut arriving = self.http.post(&route, &body, headers).await.map_err(Unanswered::from)?;
        let id = arriving.request_id.clone();
        let under_its_id = |mut failure: Failure| {
            failure.error.request_id = failure.error.request_id.take().or(id.map(Into::into));
            failure
        };
        let read = self.read(request, terms, &mut arriving, sink).await;
        let answer = named(read.map_err(under_its_id)?, &arriving);
        Ok(Answer {
            response: told_apart(keyless.answer(answer.response), request, &me),
            ..answer
        })
    }

    async fn read(
        &self,
        request: &LlmRequest,
        terms: P::Terms,
        arriving: &mut Body,
        sink: &dyn Sink,
    ) -> Result<Answer, Failure> {
        let mut reader = Reader::new(P::reply(request, terms), self.http.host().clone(), self.http.key());
        let (mut pieces, mut said_at) = (0, Instant::now());
        let broke = loop {
            match arriving.next().await {
                Ok(Some(bytes)) => reader.push(&bytes, sink)?,
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
            if reader.pieces() > pieces {
                (pieces, said_at) = (reader.pieces(), Instant::now());
            } else if said_at.elapsed() >= self.http.longest_silence() {
                break Some(self.http.says_nothing());
            }
            if reader.is_done() {
                break None;
            }
        };
        let answer = reader.finish(broke.is_none(), sink);
        answer.map_err(|failure| because(failure, broke))
    }

    fn remembered(&self, model: &str) -> P::Terms {
        let known = self.learned.terms(&self.http.server(), model);
        known.unwrap_or(P::EVERYTHING)
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

/// The request without what only other models, or other accounts, understand of it.
fn own<'a>(request: &'a LlmRequest, me: &MadeBy) -> Cow<'a, LlmRequest> {
    let is_foreign = |call: &ToolUse| call.carried.is_some() && call.made_by.as_ref().is_some_and(|by| by != me);
    if !calls_in(request).any(is_foreign) {
        return Cow::Borrowed(request);
    }
    let mut request = request.clone();
    for block in request.messages.iter_mut().flat_map(|message| &mut message.content) {
        if let ContentBlock::ToolUse(call) = block
            && is_foreign(call)
        {
            call.carried = None;
        }
    }
    Cow::Owned(request)
}

fn calls_in(request: &LlmRequest) -> impl Iterator<Item = &ToolUse> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(|block| match block {
        ContentBlock::ToolUse(call) => Some(call),
        ContentBlock::Text { .. } | ContentBlock::ToolResult { .. } => None,
    })
}

/// The answer, its calls with who made them and each with a name that no other call of the conversation has: some
/// servers name none, or begin anew in every answer, and other vendors refuse two of the same name.
fn told_apart(mut response: LlmResponse, request: &LlmRequest, me: &MadeBy) -> LlmResponse {
    let mut taken: HashSet<String> = HashSet::new();
    if !response.tool_uses.is_empty() {
        taken.extend(calls_in(request).map(|call| call.id.clone()));
    }
    let mut number = taken.len();
    for call in &mut response.tool_uses {
        call.made_by = Some(me.clone());
        while !taken.insert(call.id.clone()) {
            call.id = format!("{OUR_CALL}{number}");
            number += 1;
        }
    }
    response
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
            let models = models::<P>(self.http.host(), &arriving.all().await?)?;
            Ok(clean_models(models, self.http.key()))
        };
        listed.await.map_err(|error| self.http.without_key(error))
    }
}

#[async_trait]
impl<P: Protocol> ModelServer for Server<P> {
    async fn once(&self, request: &LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let terms = Mutex::new(self.remembered(&request.model));
        let mut simpler = 0;
        loop {
            match self.attempt(request, &[], &terms, sink).await {
                Ok(answer) => return Ok(answer.response),
                Err(failure) if failure.simpler && simpler < RETRIES => simpler += 1,
                Err(failure) => return Err(failure.error),
            }
        }
    }
}

fn models<P: Protocol>(server: &Host, bytes: &[u8]) -> Result<Vec<ModelInfo>, LlmError> {
    if is_web_page(bytes) {
        return Err(web_page(server));
    }
    let list = serde_json::from_slice::<Value>(bytes).ok();
    list.as_ref().and_then(P::models).ok_or_else(|| {
        let message = format!(
            "{server} answered with something that is no list of models: {}",
            server.look()
        );
        LlmError::new(LlmErrorCode::BadResponse, message).remedy(server.remedy())
    })
}
