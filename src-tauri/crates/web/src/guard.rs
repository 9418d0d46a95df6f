//! A request and its redirects, each step held to what was granted.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::HostGrant;
use contract::ports::web::{LARGEST_ANSWER, Web, WebError, WebRequest, WebResponse, only_reads};
use encoding_rs::{Encoding, UTF_8};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, Url};
use secrecy::ExposeSecret;
use tokio::time::{sleep, timeout};

use crate::address::is_public;
use crate::names::{Names, SystemNames};
use crate::place;

/// How often a request is sent on.
const REDIRECTS: usize = 10;
/// How often what only reads is tried again.
const RETRIES: u32 = 3;
/// What a request says about itself unless it says something else.
const AGENT: &str = concat!("Tepa/", env!("CARGO_PKG_VERSION"));
/// Headers that belong to the connection, not to what is said on it.
const NOT_SENT: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "accept-encoding",
    "keep-alive",
    "expect",
];
/// Headers that another host may be sent, too. Whatever else was said, was said to the first: nobody knows all the names
/// under which keys travel.
const FOR_EVERY_HOST: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "content-language",
    "content-type",
    "range",
    "user-agent",
];

/// Sends what was granted, and nothing else.
#[derive(Clone)]
pub struct Guard {
    names: Arc<dyn Names>,
    is_public: fn(IpAddr) -> bool,
    /// The wait before the first further try; it doubles each time.
    pause: Duration,
    /// Whether a connection goes to the address that was checked. A test looks what happens otherwise.
    pins: bool,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            names: Arc::new(SystemNames),
            is_public,
            pause: Duration::from_millis(500),
            pins: true,
        }
    }
}

/// One step on the way of a request.
struct Step {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<String>,
}

#[async_trait]
impl Web for Guard {
    fn host(&self, url: &str) -> Result<String, WebError> {
        place::read(url).map(|url| place::host(&url))
    }

    async fn send(&self, request: WebRequest) -> Result<WebResponse, WebError> {
        let limit = request.timeout;
        timeout(limit, self.follow(request))
            .await
            .unwrap_or(Err(WebError::TimedOut))
    }
}

impl Guard {
    #[cfg(test)]
    pub(crate) fn of_test(names: Arc<dyn Names>, is_public: fn(IpAddr) -> bool, pins: bool) -> Self {
        Self {
            names,
            is_public,
            pause: Duration::ZERO,
            pins,
        }
    }

    async fn follow(&self, request: WebRequest) -> Result<WebResponse, WebError> {
        let mut step = first(&request)?;
        for _ in 0..=REDIRECTS {
            let response = self.take(&step, &request).await?;
            match next(&step, &response, &request.hosts)? {
                Some(next) => step = next,
                None => return answer(response).await,
            }
        }
        Err(WebError::TooManyRedirects)
    }

    /// One step, and again where that does no harm.
    async fn take(&self, step: &Step, request: &WebRequest) -> Result<Response, WebError> {
        let mut pause = self.pause;
        for _ in 0..RETRIES {
            match self.ask(step, request).await {
                Err(WebError::NotReached { .. }) if only_reads(step.method.as_str()) => sleep(pause).await,
                done => return done,
            }
            pause *= 2;
        }
        self.ask(step, request).await
    }

    async fn ask(&self, step: &Step, request: &WebRequest) -> Result<Response, WebError> {
        place::check(&step.url)?;
        let host = place::host(&step.url);
        let changes = !only_reads(step.method.as_str());
        let Some(grant) = place::grant(&request.hosts, &host, changes) else {
            return Err(WebError::NotGranted { host });
        };
        let addresses = self.addresses(&step.url, &host).await?;
        let inside = |address: &&SocketAddr| !(self.is_public)(address.ip());
        if let Some(address) = addresses.iter().find(inside).filter(|_| !grant.private) {
            let address = address.ip().to_string();
            return Err(WebError::NotPublic { host, address });
        }
        let not_reached = |error: reqwest::Error| WebError::NotReached {
            host: host.clone(),
            reason: innermost(&error),
        };
        let mut asked = self
            .client(addresses)
            .map_err(&not_reached)?
            .request(step.method.clone(), step.url.clone())
            .headers(step.headers.clone());
        if let Some(body) = &step.body {
            asked = asked.body(body.clone());
        }
        asked.send().await.map_err(&not_reached)
    }

    /// Everywhere that a host leads, looked up once.
    async fn addresses(&self, url: &Url, host: &str) -> Result<Vec<SocketAddr>, WebError> {
        let not_reached = |reason: String| WebError::NotReached {
            host: host.to_owned(),
            reason,
        };
        let port = url.port_or_known_default().unwrap_or(443);
        let name = url.host_str().unwrap_or_default();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = self
            .names
            .look_up(name, port)
            .await
            .map_err(|error| not_reached(error.to_string()))?;
        if found.is_empty() {
            return Err(not_reached("its name leads nowhere".to_owned()));
        }
        Ok(found
            .into_iter()
            .map(|address| SocketAddr::new(address.ip(), port))
            .collect())
    }

    /// A client that reaches these addresses and no others, without proxies and without following anything by itself.
    fn client(&self, addresses: Vec<SocketAddr>) -> Result<Client, reqwest::Error> {
        // `ring` rather than the default: it builds in seconds, and needs no CMake. Installing it twice is no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let pinned = Pinned {
            addresses,
            instead: (!self.pins).then(|| Arc::clone(&self.names)),
        };
        Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(pinned))
            .user_agent(AGENT)
            .build()
    }
}

/// Every name leads to what was checked.
struct Pinned {
    addresses: Vec<SocketAddr>,
    instead: Option<Arc<dyn Names>>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = self.addresses.clone();
        let instead = self.instead.clone();
        Box::pin(async move {
            let port = addresses.first().map_or(0, SocketAddr::port);
            let addresses = match instead {
                Some(names) => names.look_up(name.as_str(), port).await?,
                None => addresses,
            };
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

fn first(request: &WebRequest) -> Result<Step, WebError> {
    let mut url = place::read(&request.url)?;
    if !request.query.is_empty() {
        let replaced = |name: &str| request.query.iter().any(|(other, _)| other == name);
        let kept: Vec<(String, String)> = url
            .query_pairs()
            .into_owned()
            .filter(|(name, _)| !replaced(name))
            .collect();
        url.query_pairs_mut()
            .clear()
            .extend_pairs(kept)
            .extend_pairs(&request.query);
    }
    url.set_fragment(None);
    let method = Method::from_bytes(request.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT && *method != Method::TRACE)
        .ok_or_else(|| WebError::Unusable(format!("\"{}\" is not a method", request.method)))?;
    let has_body = method != Method::GET && method != Method::HEAD;
    Ok(Step {
        headers: headers(request)?,
        body: request.body.clone().filter(|_| has_body),
        method,
        url,
    })
}

fn headers(request: &WebRequest) -> Result<HeaderMap, WebError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let unusable = || WebError::Unusable(format!("the header \"{name}\" cannot be sent"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
        if NOT_SENT.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
            return Err(unusable());
        }
        headers.append(name, HeaderValue::from_str(value).map_err(|_| unusable())?);
    }
    if let Some(secret) = &request.secret {
        let unusable =
            || WebError::Unusable("the key contains characters that no key can have: copy it again".to_owned());
        let name = HeaderName::from_bytes(secret.name.as_bytes()).map_err(|_| unusable())?;
        let mut value = HeaderValue::from_str(secret.value.expose_secret()).map_err(|_| unusable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // Nothing is unpacked here, so that nothing small can become large.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Ok(headers)
}

/// Where an answer sends the request on; none when it is the answer. Another host is sent what it may have, and a body only
/// when it was granted for changes by its own name: a pattern was granted for what a person had in mind.
fn next(step: &Step, response: &Response, grants: &[HostGrant]) -> Result<Option<Step>, WebError> {
    let status = response.status().as_u16();
    let Some(location) = response
        .headers()
        .get(LOCATION)
        .filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))
    else {
        return Ok(None);
    };
    let unusable = || WebError::Unusable("it was sent on to something that is no address".to_owned());
    let location = location.to_str().map_err(|_| unusable())?;
    let url = step.url.join(location).map_err(|_| unusable())?;
    if step.url.scheme() == "https" && url.scheme() != "https" {
        return Err(WebError::Unusable(format!(
            "it was sent on from a secure connection to \"{url}\""
        )));
    }
    let keeps = matches!(status, 307 | 308) || only_reads(step.method.as_str());
    let body = step.body.clone().filter(|_| keeps);
    let mut headers = step.headers.clone();
    let host = place::host(&url);
    if host != place::host(&step.url) || url.scheme() != step.url.scheme() {
        let goes_on = |name: &HeaderName| FOR_EVERY_HOST.contains(&name.as_str());
        headers = headers.iter().filter(|(name, _)| goes_on(name)).map(owned).collect();
        if body.is_some() && !place::is_granted_by_name(grants, &host) {
            return Err(WebError::NotGranted { host });
        }
    }
    if !keeps {
        headers.remove(CONTENT_TYPE);
    }
    Ok(Some(Step {
        method: if keeps { step.method.clone() } else { Method::GET },
        body,
        headers,
        url,
    }))
}

fn owned((name, value): (&HeaderName, &HeaderValue)) -> (HeaderName, HeaderValue) {
    (name.clone(), value.clone())
}

async fn answer(mut response: Response) -> Result<WebResponse, WebError> {
    let status = response.status();
    let encoded = response.headers().get(CONTENT_ENCODING);
    if encoded.is_some_and(|how| how.as_bytes() != b"identity" && !how.is_empty()) {
        return Err(WebError::Unusable(
            "the answer came packed, although it was not asked for so".to_owned(),
        ));
    }
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        match headers.iter_mut().find(|(other, _)| other == name.as_str()) {
            Some((_, values)) => *values = format!("{values}, {value}"),
            None => headers.push((name.as_str().to_owned(), value)),
        }
    }
    let mut bytes = Vec::new();
    let broken = |error: reqwest::Error| WebError::NotReached {
        host: "the host".to_owned(),
        reason: innermost(&error),
    };
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        if bytes.len() + piece.len() > LARGEST_ANSWER {
            return Err(WebError::TooLarge);
        }
        bytes.extend_from_slice(&piece);
    }
    let (body, _, _) = encoding(response.headers()).decode(&bytes);
    Ok(WebResponse {
        status: status.as_u16(),
        status_text: status.canonical_reason().unwrap_or_default().to_owned(),
        headers,
        body: body.into_owned(),
    })
}

/// What the answer says that its words are written in.
fn encoding(headers: &HeaderMap) -> &'static Encoding {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let label = kind.split(';').find_map(|part| part.trim().strip_prefix("charset="));
    label
        .and_then(|label| Encoding::for_label(label.trim_matches('"').as_bytes()))
        .unwrap_or(UTF_8)
}

/// The last of the reasons behind an error, which is the one that says something.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
