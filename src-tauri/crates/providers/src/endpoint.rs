//! Where a model server is, and with which key it is asked.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use contract::llm::{LlmError, LlmErrorCode, Remedy};
use reqwest::Url;
use secrecy::SecretString;

use crate::gate::Gate;
use crate::learned::Learned;

/// One model server, as the person entered it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its address, with or without `/v1`.
    pub base_url: String,
    /// The key of the account there, where one is needed.
    pub key: Option<SecretString>,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// How many requests may be under way at once, shared by all that ask the same account.
    pub gate: Arc<Gate>,
    /// What its models were found to understand, shared in the same way.
    pub learned: Arc<Learned>,
}

impl Endpoint {
    /// A server with the usual timeouts.
    pub fn new(base_url: impl Into<String>, key: Option<SecretString>) -> Self {
        Self {
            base_url: base_url.into(),
            key,
            timeouts: Timeouts::default(),
            gate: Arc::default(),
            learned: Arc::default(),
        }
    }
}

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To accept the connection.
    pub connect: Duration,
    /// To send the first byte of its answer, once it has the request.
    pub first_byte: Duration,
    /// Between two bytes of its answer.
    pub idle: Duration,
    /// Between two pieces of its answer that say something: a server that only keeps the line open says nothing.
    pub content: Duration,
    /// For all of an error's text, however it drips.
    pub error: Duration,
    /// For all of an answer that is a list.
    pub list: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            // Some models think for minutes behind signs of life.
            content: Duration::from_secs(600),
            error: Duration::from_secs(10),
            list: Duration::from_secs(60),
        }
    }
}

/// A server as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    is_own: bool,
}

impl Host {
    /// A server whose address a person entered.
    pub(crate) fn of_a_person(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_own: false,
        }
    }

    /// A server at the provider's own address, which nobody entered and nobody can correct.
    pub(crate) fn of_the_provider(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_own: true,
        }
    }

    /// Whether it is at the provider's own address.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// What a person does where something else answers than a model server.
    pub(crate) fn look(&self) -> &'static str {
        match self.is_own {
            true => {
                "something on the way may answer in its place, so sign in to the network if it wants that (a hotel, an \
                 office), or try another one"
            }
            false => "check the address of the model server in Settings",
        }
    }

    /// The button for that.
    pub(crate) fn remedy(&self) -> Remedy {
        match self.is_own {
            true => Remedy::Network,
            false => Remedy::Address,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// An address that was understood: the folder under which the routes lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Understands an address as people paste it: without a scheme, without `/v1`, with a slash or a
    /// whole route at the end.
    pub fn parse(entered: &str) -> Result<Self, LlmError> {
        Self::parse_with(entered, "v1")
    }

    /// The same for servers whose routes lie under another version.
    pub fn parse_with(entered: &str, version: &str) -> Result<Self, LlmError> {
        let entered = entered.trim();
        if entered.is_empty() {
            return Err(unusable(
                "there is no address of a model server yet: enter one in Settings",
            ));
        }
        let with_scheme = if let Some((scheme, rest)) = mistyped_scheme(entered) {
            format!("{scheme}://{rest}")
        } else if entered.contains("://") {
            entered.to_owned()
        } else {
            format!("{}://{entered}", likely_scheme(entered))
        };
        let hint = "enter it in Settings as in http://localhost:11434";
        let mut url = Url::parse(&with_scheme).map_err(|error| {
            unusable(format!(
                "the address of the model server cannot be read ({error}): {hint}"
            ))
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(unusable(format!(
                "the address of the model server must begin with http:// or https://: {hint}"
            )));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            let message = "the address of the model server contains a user name, a password or a question mark: \
                           leave them out, and put the key into its own field";
            return Err(unusable(message));
        }
        let path = folder(url.path(), version);
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The address of a route such as `chat/completions` or `models?limit=9`.
    pub fn route(&self, route: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = route
            .split_once('?')
            .map_or((route, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// The server itself, without a path.
    #[must_use]
    pub fn root(&self) -> Self {
        let mut url = self.0.clone();
        url.set_path("");
        Self(url)
    }

    /// The server as people know it, without the path.
    pub fn server(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Whether what is said there can be read on the way.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Whether it is this machine, which no proxy can reach in our place.
    pub fn is_this_machine(&self) -> bool {
        is_this_machine(self.0.host_str().unwrap_or_default())
    }
}

fn unusable(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorCode::InvalidRequest, message).remedy(Remedy::Address)
}

/// The scheme and the rest of an address whose `://` was mistyped: `http//`, `https:`, `HTTP:/`.
fn mistyped_scheme(entered: &str) -> Option<(&'static str, &str)> {
    let lower = entered.to_ascii_lowercase();
    let scheme = ["https", "http"].into_iter().find(|scheme| lower.starts_with(scheme))?;
    let rest = &entered[scheme.len()..];
    let bare = rest.trim_start_matches([':', ';', '/']);
    let between = &rest[..rest.len() - bare.len()];
    // `http:8080` is a machine of that name, and `https.example.com` one too.
    let is_port = bare.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let is_meant = matches!(between, "" | "/" | "://") || (between == ":" && is_port);
    (!is_meant).then_some((scheme, bare))
}

/// Servers on the person's own machine or network rarely have a certificate; all others do.
fn likely_scheme(entered: &str) -> &'static str {
    let authority = entered.split('/').next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|digit| digit.is_ascii_digit()) => host,
        _ => authority,
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_number = bare.parse::<IpAddr>().is_ok();
    if is_number || is_this_machine(host) || !host.contains('.') || host.ends_with(".local") {
        "http"
    } else {
        "https"
    }
}

/// Whether an address is of this machine, or of a network that only those around can reach.
pub fn is_near(base_url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(base_url.trim()) else {
        return false;
    };
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_private = match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_unique_local(),
        Err(_) => bare.ends_with(".local"),
    };
    is_private || is_this_machine(host)
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    loopback || bare.eq_ignore_ascii_case("localhost") || bare.to_ascii_lowercase().ends_with(".localhost")
}

/// The path without a pasted route, with the version unless it already names one.
fn folder(path: &str, version: &str) -> String {
    let path = path.trim_end_matches('/');
    let path = [
        "/chat/completions",
        "/completions",
        "/messages",
        "/responses",
        "/models",
    ]
    .iter()
    .find_map(|route| path.strip_suffix(route))
    .unwrap_or(path)
    .trim_end_matches('/');
    let names_version = |segment: &str| {
        let mut characters = segment.chars();
        characters.next() == Some('v') && characters.next().is_some_and(|digit| digit.is_ascii_digit())
    };
    if path.split('/').any(names_version) {
        path.to_owned()
    } else {
        format!("{path}/{version}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entered: &str, expected: &str) {
        let address = Address::parse(entered).unwrap();
        assert_eq!(address.route("chat/completions").as_str(), expected, "{entered}");
    }

    fn check_refused(entered: &str, expected: &str) {
        let error = Address::parse(entered).unwrap_err();
        assert_eq!(
            (error.code, error.remedy),
            (LlmErrorCode::InvalidRequest, Some(Remedy::Address)),
            "{entered}"
        );
        assert!(error.message.contains(expected), "{error}");
    }

    #[test]
    fn understands_an_address_with_and_without_the_version() {
        let expected = "http://localhost:11434/v1/chat/completions";
        for entered in [
            "http://localhost:11434",
            "http://localhost:11434/",
            "http://localhost:11434/v1",
            "  http://localhost:11434/v1// ",
            "http://localhost:11434/v1/chat/completions",
            "http://localhost:11434/v1/models",
            "localhost:11434",
        ] {
            check(entered, expected);
        }
    }

    #[test]
    fn understands_a_mistyped_beginning() {
        let expected = "http://localhost:11434/v1/chat/completions";
        for entered in [
            "http//localhost:11434",
            "http:/localhost:11434",
            "http:localhost:11434",
            "http:///localhost:11434/v1/",
            "HTTP;//localhost:11434/v1",
            "HTTP://localhost:11434",
        ] {
            check(entered, expected);
        }
        check(
            "https:/models.example.com",
            "https://models.example.com/v1/chat/completions",
        );
        check("http.example.com", "https://http.example.com/v1/chat/completions");
        check("http:8080", "http://http:8080/v1/chat/completions");
    }

    #[test]
    fn keeps_the_path_of_a_service() {
        check(
            "https://api.groq.com/openai/v1",
            "https://api.groq.com/openai/v1/chat/completions",
        );
        check(
            "https://openrouter.ai/api",
            "https://openrouter.ai/api/v1/chat/completions",
        );
        let gemini = "https://generativelanguage.googleapis.com/v1beta/openai";
        check(gemini, &format!("{gemini}/chat/completions"));
    }

    #[test]
    fn puts_the_version_of_the_provider_where_the_address_names_none() {
        let check = |entered, expected| {
            let address = Address::parse_with(entered, "v1beta").unwrap();
            assert_eq!(address.route("models/m:stream?alt=sse").as_str(), expected);
        };
        check(
            "http://localhost:9",
            "http://localhost:9/v1beta/models/m:stream?alt=sse",
        );
        check(
            "http://localhost:9/v1/",
            "http://localhost:9/v1/models/m:stream?alt=sse",
        );
    }

    #[test]
    fn guesses_the_scheme_from_where_the_server_is() {
        check("192.168.1.20:8080", "http://192.168.1.20:8080/v1/chat/completions");
        check("[::1]:8080", "http://[::1]:8080/v1/chat/completions");
        check("studio.local:1234", "http://studio.local:1234/v1/chat/completions");
        check(
            "models.example.com/llm",
            "https://models.example.com/llm/v1/chat/completions",
        );
    }

    #[test]
    fn refuses_what_is_no_address_with_a_sentence() {
        check_refused("  ", "there is no address");
        check_refused("ftp://x", "must begin with http://");
        check_refused("htp://localhost:11434", "must begin with http://");
        check_refused("localhost:1847O", "cannot be read");
        check_refused("localhost 18470", "cannot be read");
        check_refused("[::1", "cannot be read");
        check_refused("http://", "cannot be read");
        check_refused("http://me:secret@host", "its own field");
        check_refused("http://host/v1?key=secret", "its own field");
    }

    #[test]
    fn an_error_never_repeats_a_password_in_the_address() {
        let error = Address::parse("http://me:secret@host").unwrap_err();
        assert!(!error.message.contains("secret"));
    }

    #[test]
    fn knows_this_machine() {
        let is = |entered| Address::parse(entered).unwrap().is_this_machine();
        assert!(is("http://localhost:1") && is("http://127.0.0.1:1") && is("http://[::1]:1"));
        assert!(!is("http://192.168.0.2:1") && !is("https://example.com"));
    }
}
