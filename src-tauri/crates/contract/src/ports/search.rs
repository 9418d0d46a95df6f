//! Searching the web through the one service that a person set up (tools page, `web_search`).

use std::time::Duration;

use async_trait::async_trait;

use super::web::WebError;

/// The most results that one search brings.
pub const MOST_RESULTS: usize = 20;
/// The most characters of a title.
pub const LONGEST_TITLE: usize = 300;
/// The most characters of what a page is said to be about.
pub const LONGEST_TEXT: usize = 1_000;
/// The most characters that are searched for.
pub const LONGEST_QUERY: usize = 400;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words.
    pub query: String,
    /// The most results.
    pub count: usize,
    /// How long it may take.
    pub timeout: Duration,
    /// The host that the run's envelope names; another one is not asked.
    pub host: String,
}

/// A page that was found. Whatever it says was written by strangers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Its title, in one line.
    pub title: String,
    /// Its address, beginning with https:// or http://.
    pub url: String,
    /// What the service says that it is about.
    pub text: String,
}

/// Why nothing was found out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// No service is set up.
    #[error("no search service is set up in Settings")]
    NotSetUp,
    /// Another service is set up than the one that the run's envelope names.
    #[error("the search service was changed after this run began; start the task again to search with the new one")]
    Changed,
    /// There is no key for the service, or its key is for another address.
    #[error("there is no key for the search service: {0}")]
    NoKey(String),
    /// The service refused the key.
    #[error("the search service refused the key; enter it again in Settings, under Web search")]
    KeyRefused,
    /// The service has had enough for now.
    #[error("the search service allows no more searches for now{}", .0.as_deref().map(|wait| format!("; it says to wait {wait} seconds")).unwrap_or_default())]
    TooMany(Option<String>),
    /// What came back is no answer of such a service.
    #[error("{0}")]
    NotAnAnswer(String),
    /// The service says that it cannot.
    #[error("the search service answered with {status}{}", if .said.is_empty() { String::new() } else { format!(": {}", .said) })]
    Refused {
        /// The number of its answer.
        status: u16,
        /// What it said, in short.
        said: String,
    },
    /// It could not be asked.
    #[error("the search service could not be asked: {0}")]
    Web(WebError),
}

impl SearchError {
    /// Whether the same search may succeed later.
    pub fn retryable(&self) -> bool {
        match self {
            Self::TooMany(_) => true,
            Self::Refused { status, .. } => *status >= 500,
            Self::Web(error) => error.retryable(),
            Self::NotSetUp | Self::Changed | Self::NoKey(_) | Self::KeyRefused | Self::NotAnAnswer(_) => false,
        }
    }
}

/// Asks the search service. Dropping the future cancels the request.
#[async_trait]
pub trait Search: Send + Sync {
    /// The pages that it finds, best first.
    async fn search(&self, request: SearchRequest) -> Result<Vec<SearchHit>, SearchError>;
}

/// Finds nothing: for places without a service.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSearch;

#[async_trait]
impl Search for NoSearch {
    async fn search(&self, _request: SearchRequest) -> Result<Vec<SearchHit>, SearchError> {
        Err(SearchError::NotSetUp)
    }
}
