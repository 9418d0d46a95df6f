//! Search services: what each kind is asked and how its answer is read, and the asking, which goes through the same guard
//! as every request.
//!
//! A kind is a file and a line in [`all`]. Deliberately not here: which service a person set up, and its key.

use std::time::Duration;

use contract::access::HostGrant;
use contract::ports::search::{LONGEST_TEXT, LONGEST_TITLE, MOST_RESULTS, SearchError, SearchHit};
use contract::ports::web::{Web, WebError, WebRequest, WebResponse};
use secrecy::SecretString;
use serde_json::Value;

use crate::{place, steady};

mod brave;
mod searxng;
mod tavily;

/// The most characters of what a service said about a failure.
const LONGEST_WORDS: usize = 200;

/// A kind of search service.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name in the settings.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Where it is when nobody says; empty where a person must.
    pub base_url: &'static str,
    /// Whether it needs a key.
    pub needs_key: bool,
    /// Where a person makes a key, in a web browser; none where there are no keys.
    pub keys_page: Option<&'static str>,
    request: fn(&Question) -> WebRequest,
    /// The results in an answer; none when it is not an answer of this kind.
    read: fn(&Value) -> Option<Vec<SearchHit>>,
    /// Whether this answer says that the key is wrong.
    refuses_key: fn(&WebResponse) -> bool,
    /// What to look at when there came a page in the place of an answer.
    instead_of_a_page: &'static str,
}

/// Every kind, in the order in which a person chooses.
pub fn all() -> [Kind; 3] {
    [searxng::KIND, brave::KIND, tavily::KIND]
}

/// A question to one service.
pub struct Question<'a> {
    /// Where the service is.
    pub base_url: &'a str,
    /// Its key.
    pub key: Option<&'a SecretString>,
    /// What is searched for.
    pub query: &'a str,
    /// The most results.
    pub count: usize,
    /// How long it may take.
    pub timeout: Duration,
}

impl Question<'_> {
    /// A request to this path below the service's address.
    fn to(&self, method: &str, path: &str) -> WebRequest {
        WebRequest {
            method: method.to_owned(),
            url: format!("{}{path}", self.base_url.trim_end_matches('/')),
            query: Vec::new(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            secret: None,
            body: None,
            timeout: self.timeout,
            hosts: Vec::new(),
        }
    }
}

/// The host of a service as an envelope names it.
///
/// # Errors
/// The address is none that a search may be sent to: not encrypted although it leads out, or nobody's own and not public.
pub fn host(base_url: &str) -> Result<String, WebError> {
    steady::usable(base_url).map(|url| place::host(&url))
}

/// Asks a service. Its own host may be asked, and no other: wherever it sends the request on, the key does not follow.
pub async fn ask(web: &dyn Web, kind: &Kind, question: &Question<'_>) -> Result<Vec<SearchHit>, SearchError> {
    let url = steady::usable(question.base_url).map_err(SearchError::Web)?;
    let request = WebRequest {
        hosts: vec![HostGrant {
            host: place::host(&url),
            change: true,
            private: steady::is_own(&url),
        }],
        ..(kind.request)(question)
    };
    let answer = web.send(request).await.map_err(SearchError::Web)?;
    if answer.status == 429 {
        return Err(SearchError::TooMany(wait(&answer)));
    }
    if (kind.refuses_key)(&answer) {
        return Err(SearchError::KeyRefused);
    }
    let value: Option<Value> = serde_json::from_str(&answer.body).ok();
    let read = value.as_ref().and_then(kind.read);
    match (answer.status, value, read) {
        (200, _, Some(hits)) => Ok(tidy(hits, question.count)),
        (200, Some(_), None) => Err(SearchError::NotAnAnswer(format!(
            "what answers there is no {}: its answer has no results in it",
            kind.title
        ))),
        (_, None, _) if is_page(&answer) => Err(SearchError::NotAnAnswer(format!(
            "a web page came back ({}) in the place of results; {}",
            answer.status, kind.instead_of_a_page
        ))),
        (200, None, _) => Err(SearchError::NotAnAnswer(
            "what came back in the place of results cannot be read".to_owned(),
        )),
        (status, value, _) => Err(SearchError::Refused {
            status,
            said: value.as_ref().map(said).unwrap_or_default(),
        }),
    }
}

fn header<'a>(answer: &'a WebResponse, name: &str) -> Option<&'a str> {
    let found = answer.headers.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| value.as_str())
}

/// How many seconds to wait, when the service says so in a number.
fn wait(answer: &WebResponse) -> Option<String> {
    let wait = header(answer, "retry-after")?.trim();
    let is_number = !wait.is_empty() && wait.len() <= 6 && wait.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| wait.to_owned())
}

fn is_page(answer: &WebResponse) -> bool {
    header(answer, "content-type").is_some_and(|kind| kind.contains("html"))
        || answer.body.trim_start().starts_with('<')
}

/// What the service says about a failure, wherever it puts it.
fn said(value: &Value) -> String {
    let places = [
        "/error/detail",
        "/detail/error",
        "/error/message",
        "/detail",
        "/message",
        "/error",
    ];
    let words = places.iter().find_map(|place| value.pointer(place)?.as_str());
    line(words.unwrap_or_default(), LONGEST_WORDS)
}

/// The results as they are handed on: no more than were asked for, each in bounds, and only addresses of the web.
fn tidy(hits: Vec<SearchHit>, count: usize) -> Vec<SearchHit> {
    let is_web = |hit: &SearchHit| hit.url.len() <= 2_000 && place::read(&hit.url).is_ok();
    let hits = hits.into_iter().filter(is_web).take(count.min(MOST_RESULTS));
    hits.map(|hit| SearchHit {
        title: line(&hit.title, LONGEST_TITLE),
        text: line(&hit.text, LONGEST_TEXT),
        url: hit.url,
    })
    .collect()
}

/// Words as one line of at most so many characters.
fn line(text: &str, most: usize) -> String {
    let plain = text.split(|character: char| character.is_control() || character.is_whitespace());
    let words: Vec<&str> = plain.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(most).collect()
}

/// A result from the fields that a kind names; without an address it is none.
fn hit(result: &Value, text: &str) -> Option<SearchHit> {
    let field = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(SearchHit {
        url: result.get("url")?.as_str()?.to_owned(),
        title: field("title"),
        text: field(text),
    })
}

#[cfg(test)]
mod tests;
