//! Requests to other computers, with a guard before each (tools page, "Permissions").
//!
//! Whether a host may be asked is decided before a request comes here; the guard holds it to that, wherever names and
//! redirects lead.

use std::time::Duration;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};

use crate::access::HostGrant;

/// The largest answer that is read, in bytes.
pub const LARGEST_ANSWER: usize = 5_000_000;

/// A request, and the hosts that may be asked on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebRequest {
    /// `GET`, `POST` and so on, in upper case.
    pub method: String,
    /// The address.
    pub url: String,
    /// What is added to the address, or replaced in it, as `name=value` after its question mark.
    pub query: Vec<(String, String)>,
    /// Headers by name.
    pub headers: Vec<(String, String)>,
    /// A header that nobody may read along with the others, such as a key's.
    pub secret: Option<SecretHeader>,
    /// What is sent; nothing for `GET` and `HEAD`.
    pub body: Option<String>,
    /// How long everything may take, redirects and further tries included.
    pub timeout: Duration,
    /// The hosts that may be asked.
    pub hosts: Vec<HostGrant>,
}

/// A header whose value is a secret: it is wiped from memory when it was sent, and is in no log.
#[derive(Debug, Clone)]
pub struct SecretHeader {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Its value.
    pub value: SecretString,
}

impl PartialEq for SecretHeader {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value.expose_secret() == other.value.expose_secret()
    }
}

impl Eq for SecretHeader {}

impl SecretHeader {
    /// A key under a header, with what stands before it there.
    pub fn of(name: &'static str, before: &str, key: &SecretString) -> Self {
        let key = key.expose_secret();
        // As large as it becomes, so that nothing of it is left behind where it had too little room.
        let mut value = String::with_capacity(before.len() + key.len());
        value.push_str(before);
        value.push_str(key);
        Self {
            name,
            value: SecretString::from(value),
        }
    }
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebResponse {
    /// Its number, such as 200.
    pub status: u16,
    /// The number in words.
    pub status_text: String,
    /// Headers by name in lower case; several of one name are one, with commas.
    pub headers: Vec<(String, String)>,
    /// The body as words.
    pub body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The address, the method or a header cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// It would ask a host that was not granted.
    #[error("\"{host}\" may not be asked in this run")]
    NotGranted {
        /// The host.
        host: String,
    },
    /// A granted host lies on this computer, in its own network, or where no public computer is.
    #[error("\"{host}\" leads to {address}, which is not a public address")]
    NotPublic {
        /// The host.
        host: String,
        /// Where its name leads.
        address: String,
    },
    /// The answer is too large.
    #[error("the answer is larger than 5 MB")]
    TooLarge,
    /// It took too long.
    #[error("there was no answer in time")]
    TimedOut,
    /// More redirects than anybody needs.
    #[error("it was sent on more than ten times")]
    TooManyRedirects,
    /// The host could not be reached.
    #[error("\"{host}\" could not be reached: {reason}")]
    NotReached {
        /// The host.
        host: String,
        /// Why.
        reason: String,
    },
}

impl WebError {
    /// Whether the same request may succeed later.
    pub fn retryable(&self) -> bool {
        match self {
            Self::TimedOut | Self::NotReached { .. } => true,
            Self::Unusable(_)
            | Self::NotGranted { .. }
            | Self::NotPublic { .. }
            | Self::TooLarge
            | Self::TooManyRedirects => false,
        }
    }
}

/// Whether a request of this method changes nothing where it arrives.
pub fn only_reads(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

/// Sends requests. Dropping a future cancels its request.
#[async_trait]
pub trait Web: Send + Sync {
    /// The host of an address as [`crate::access::Access::Network`] names it.
    ///
    /// # Errors
    /// `Unusable` when it is no address of the web.
    fn host(&self, url: &str) -> Result<String, WebError>;

    /// Sends a request. What only reads is tried again when the host cannot be reached.
    async fn send(&self, request: WebRequest) -> Result<WebResponse, WebError>;
}

/// Sends nothing: for places without a network.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWeb;

#[async_trait]
impl Web for NoWeb {
    fn host(&self, _url: &str) -> Result<String, WebError> {
        Err(WebError::Unusable("there is no network here".to_owned()))
    }

    async fn send(&self, _request: WebRequest) -> Result<WebResponse, WebError> {
        Err(WebError::Unusable("there is no network here".to_owned()))
    }
}
