//! HTTP to one model server: connecting and waiting; what can go wrong before there is an answer is in `not_sent`.
//!
//! Redirects are not followed (a key must not travel), answers have a largest size, and every error
//! leaves through [`Http::without_key`]. What the bytes mean is not decided here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use contract::llm::{LlmError, LlmErrorCode};
use contract::ports::clock::Clock;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, Response};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::endpoint::{Address, Endpoint, Host, Timeouts};
use crate::not_sent::{Place, UnknownName, innermost, not_sent};
use crate::redact::without_key;
use crate::refusal::{Refusal, refusal};
use crate::retry_after::retry_after_ms;

/// The largest answer that is read.
pub(crate) const LARGEST_ANSWER: usize = 32 << 20;
/// How much of an error's body is read.
const LARGEST_ERROR: usize = 64 << 10;

/// How long the name of a server may be looked up.
const LONGEST_LOOKUP: Duration = Duration::from_secs(5);

/// How requests to a kind of server look, besides their bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire {
    /// The version in the path where the address names none, such as `v1`.
    pub(crate) version: &'static str,
    /// The header that the key goes into, and what stands before it there.
    pub(crate) key: (&'static str, &'static str),
    /// A header that every request has, with its value.
    pub(crate) header: Option<(&'static str, &'static str)>,
    /// The header of an answer that names the request for the provider's support.
    pub(crate) request_id: Option<&'static str>,
    /// The provider's own server, which is asked where a person enters no other; none where there is none.
    pub(crate) own: Option<&'static str>,
}

/// A way to one model server.
pub(crate) struct Http {
    wire: Wire,
    client: Client,
    address: Address,
    host: Host,
    key: Option<SecretString>,
    timeouts: Timeouts,
    clock: Arc<dyn Clock>,
}

impl Http {
    /// Prepares; nothing is sent yet.
    pub(crate) fn new(wire: Wire, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        let address = Address::parse_with(&endpoint.base_url, wire.version)?;
        Self::to(address, wire, endpoint, clock)
    }

    /// The same for routes of the server that lie beside those of the protocol.
    pub(crate) fn at_root(wire: Wire, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        let address = Address::parse_with(&endpoint.base_url, wire.version)?.root();
        Self::to(address, wire, endpoint, clock)
    }

    fn to(address: Address, wire: Wire, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        // `ring` rather than the default: it builds in seconds, and needs no CMake. Installing it twice is no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = builder(&address, &endpoint.timeouts).build().map_err(|error| {
            let message = format!(
                "secure connections cannot be made on this machine: {}",
                innermost(&error)
            );
            LlmError::new(LlmErrorCode::Connection, message)
        })?;
        Ok(Self {
            wire,
            client,
            host: match wire.own.is_some_and(|own| own == address.server()) {
                true => Host::of_the_provider(address.server()),
                false => Host::of_a_person(address.server()),
            },
            address,
            key: endpoint.key.filter(|key| !key.expose_secret().trim().is_empty()),
            timeouts: endpoint.timeouts,
            clock,
        })
    }

    /// The server as people know it.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The same as text.
    pub(crate) fn server(&self) -> String {
        self.host.to_string()
    }

    /// The key that requests carry, to keep it out of what is said about their answers.
    pub(crate) fn key(&self) -> Option<&SecretString> {
        self.key.as_ref()
    }

    /// The error, with nothing left of the key in its words.
    pub(crate) fn without_key(&self, error: LlmError) -> LlmError {
        let message = without_key(&error.message, self.key());
        let request_id = error.request_id.map(|id| without_key(&id, self.key()).into());
        LlmError {
            message,
            request_id,
            ..error
        }
    }

    /// How long a server may keep the line open without saying anything.
    pub(crate) fn longest_silence(&self) -> Duration {
        self.timeouts.content
    }

    /// The error for one that did.
    pub(crate) fn says_nothing(&self) -> LlmError {
        let (server, seconds) = (self.server(), self.timeouts.content.as_secs_f32());
        let message = format!(
            "{server} kept the line open for {seconds} seconds and said nothing: the model may be stuck, or too large for the machine"
        );
        LlmError::new(LlmErrorCode::Timeout, message)
    }

    /// Asks for a route.
    pub(crate) async fn get(&self, route: &str) -> Result<Body, Refusal> {
        self.send(self.client.request(Method::GET, self.address.route(route)))
            .await
    }

    /// Sends JSON to a route, under these headers besides the usual ones.
    pub(crate) async fn post(
        &self,
        route: &str,
        body: &Value,
        headers: &[(&'static str, String)],
    ) -> Result<Body, Refusal> {
        let mut request = self.client.request(Method::POST, self.address.route(route));
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        self.send(request).await
    }

    async fn send(&self, mut request: RequestBuilder) -> Result<Body, Refusal> {
        if let Some((name, value)) = self.wire.header {
            request = request.header(name, value);
        }
        if let Some(key) = &self.key {
            let (name, before) = self.wire.key;
            request = request.header(name, secret_header(before, key)?);
        }
        let first_byte_by = Instant::now() + self.timeouts.first_byte;
        let sent = timeout_at(first_byte_by, request.send()).await;
        let response = sent
            .map_err(|_| self.too_slow(self.timeouts.first_byte))?
            .map_err(|error| self.not_sent(&error))?;
        let mut body = Body {
            status: response.status().as_u16(),
            request_id: self.wire.request_id.and_then(|name| text_of(&response, name)),
            response,
            deadline: first_byte_by,
            idle: self.timeouts.idle,
            list: self.timeouts.list,
            first_byte: self.timeouts.first_byte,
            started: false,
            read: 0,
            server: self.server(),
        };
        if body.response.status().is_success() {
            return Ok(body);
        }
        let asked_wait = retry_after_ms(body.response.headers(), self.clock.now_ms());
        // An error whose text breaks off, or never ends, is still that error.
        let text = body.at_most(LARGEST_ERROR, self.timeouts.error).await;
        let mut refusal = refusal(&self.host, self.key(), body.status, &text);
        refusal.error.retry_after_ms = asked_wait.or(refusal.error.retry_after_ms);
        refusal.error.request_id = body.request_id.map(Into::into);
        Err(refusal)
    }

    fn too_slow(&self, waited: Duration) -> LlmError {
        too_slow(&self.server(), waited)
    }

    fn not_sent(&self, error: &reqwest::Error) -> LlmError {
        let place = Place {
            server: &self.host,
            is_plain: self.address.is_plain(),
            is_here: self.address.is_this_machine(),
            connect_seconds: self.timeouts.connect.as_secs_f32(),
            now_ms: self.clock.now_ms(),
        };
        not_sent(&place, error)
    }
}

/// How a server is connected to. Nothing is sent twice below the one retry layer, also not what an HTTP/2 server says it has
/// not looked at.
fn builder(address: &Address, timeouts: &Timeouts) -> ClientBuilder {
    let names = Names {
        limit: LONGEST_LOOKUP.min(timeouts.connect / 2),
    };
    let builder = Client::builder()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(timeouts.connect)
        .dns_resolver(Arc::new(names));
    match address.is_this_machine() {
        true => builder.no_proxy(),
        false => builder,
    }
}

fn too_slow(server: &str, waited: Duration) -> LlmError {
    let seconds = waited.as_secs_f32();
    let message = format!(
        "{server} sent nothing for {seconds} seconds: the model may be too large for the machine, or the server busy"
    );
    LlmError::new(LlmErrorCode::Timeout, message)
}

fn endless(server: &str, waited: Duration) -> LlmError {
    let seconds = waited.as_secs_f32();
    let message = format!(
        "{server} did not come to the end of its answer within {seconds} seconds: the network may be slow, or the server stuck"
    );
    LlmError::new(LlmErrorCode::Timeout, message)
}

fn text_of(response: &Response, header: &str) -> Option<String> {
    let value = response.headers().get(header)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A header with the key. What it is made of here is wiped; what is being sent is wiped by nobody.
fn secret_header(before: &str, key: &SecretString) -> Result<HeaderValue, LlmError> {
    let key = key.expose_secret().trim();
    // As large as it becomes, so that nothing of it is left behind where it had too little room.
    let mut value = Zeroizing::new(String::with_capacity(before.len() + key.len()));
    value.push_str(before);
    value.push_str(key);
    let mut value = HeaderValue::from_str(&value).map_err(|_| {
        let message = "the key contains characters that no key can have: copy it again, and store it in Settings";
        LlmError::new(LlmErrorCode::Authentication, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// An answer that is still arriving.
pub(crate) struct Body {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The provider's name of the request, where it sends one along.
    pub(crate) request_id: Option<String>,
    response: Response,
    deadline: Instant,
    first_byte: Duration,
    idle: Duration,
    list: Duration,
    started: bool,
    read: usize,
    server: String,
}

impl Body {
    /// The next bytes; none when the answer is complete.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, LlmError> {
        let waited = if self.started { self.idle } else { self.first_byte };
        let chunk = timeout_at(self.deadline, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| too_slow(&self.server, waited))?;
        let Some(chunk) = chunk.map_err(|_| self.cut())? else {
            return Ok(None);
        };
        self.started = true;
        self.deadline = Instant::now() + self.idle;
        self.read = self.read.saturating_add(chunk.len());
        if self.read > LARGEST_ANSWER {
            let message = format!(
                "{} sent more than {} MB and was stopped",
                self.server,
                LARGEST_ANSWER >> 20
            );
            return Err(LlmError::new(LlmErrorCode::BadResponse, message));
        }
        Ok(Some(chunk.to_vec()))
    }

    /// The whole answer of a server that lists something, however slowly it comes.
    pub(crate) async fn all(&mut self) -> Result<Vec<u8>, LlmError> {
        let (until, mut all) = (Instant::now() + self.list, Vec::new());
        loop {
            let next = timeout_at(until, self.next()).await;
            match next.map_err(|_| endless(&self.server, self.list))?? {
                Some(bytes) => all.extend(bytes),
                None => return Ok(all),
            }
        }
    }

    /// What comes of the answer in this time, and no more than that many bytes.
    async fn at_most(&mut self, limit: usize, time: Duration) -> Vec<u8> {
        let (until, mut all) = (Instant::now() + time, Vec::new());
        while let Ok(Ok(Some(bytes))) = timeout_at(until, self.next()).await {
            all.extend(bytes);
            if all.len() >= limit {
                all.truncate(limit);
                break;
            }
        }
        all
    }

    fn cut(&self) -> LlmError {
        cut(&self.server)
    }
}

/// The error for an answer that broke off.
pub(crate) fn cut(server: impl fmt::Display) -> LlmError {
    let message = format!("{server} broke off in the middle of its answer: try again");
    LlmError::new(LlmErrorCode::StreamCut, message)
}

/// The system's own resolver, with an error that can be told from others.
struct Names {
    /// How long it may take: a name server that does not answer is no slow model server.
    limit: Duration,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let limit = self.limit;
        Box::pin(async move {
            let addresses = looked_up(tokio::net::lookup_host((name.as_str(), 0)), limit).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

async fn looked_up<Found>(
    lookup: impl Future<Output = io::Result<Found>>,
    limit: Duration,
) -> Result<Vec<SocketAddr>, UnknownName>
where
    Found: Iterator<Item = SocketAddr>,
{
    match tokio::time::timeout(limit, lookup).await {
        Ok(Ok(found)) => Ok(found.collect()),
        Ok(Err(error)) => Err(UnknownName::NoSuch(error)),
        Err(_) => Err(UnknownName::NoAnswer),
    }
}

#[cfg(test)]
#[path = "http/tests.rs"]
mod tests;
