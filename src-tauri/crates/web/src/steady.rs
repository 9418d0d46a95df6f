//! A client for one address that a person entered, for talks that go on for long: MCP over HTTP. The same guard as for
//! requests: every address that the name leads to is looked at each time a connection is made, there is no proxy, and
//! nothing is followed.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use contract::ports::web::WebError;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::address::is_public;
use crate::names::{Names, SystemNames};
use crate::place;

/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(15);

/// A client that reaches what this address names, and nothing of this computer or its network unless the address itself
/// says so: a person who enters `localhost` or `192.168.1.4` means it, a public name that leads there does not.
///
/// # Errors
/// `Unusable` when it is no address of the web, or one with a password in it, or not encrypted although it leads out;
/// `NotPublic` when it names a place that is neither public nor one's own.
pub fn client_of(address: &str) -> Result<Client, WebError> {
    with(address, Arc::new(SystemNames), is_public)
}

/// An address that a person entered, when it may be talked to: see [`client_of`].
pub(crate) fn usable(address: &str) -> Result<Url, WebError> {
    let url = place::read(address)?;
    let is_own = is_own(&url);
    let host = url.host_str().unwrap_or_default();
    if let Some(literal) = literal(host)
        && !is_own
        && !is_public(literal)
    {
        return Err(WebError::NotPublic {
            host: host.to_owned(),
            address: literal.to_string(),
        });
    }
    if url.scheme() == "http" && !is_own {
        return Err(WebError::Unusable(format!(
            "\"{url}\" is not encrypted: outside your own network an address must begin with https"
        )));
    }
    Ok(url)
}

pub(crate) fn with(address: &str, names: Arc<dyn Names>, is_public: fn(IpAddr) -> bool) -> Result<Client, WebError> {
    let is_own = is_own(&usable(address)?);
    // `ring` rather than the default: it builds in seconds, and needs no CMake. Installing it twice is no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let looked_at = LookedAt {
        names,
        is_public,
        is_own,
    };
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(PATIENCE)
        .dns_resolver(Arc::new(looked_at))
        .user_agent(concat!("Tepa/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| WebError::Unusable(error.to_string()))
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether an address says by itself that it is on this computer or in its network.
pub(crate) fn is_own(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    match literal(host) {
        Some(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Some(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        None => host == "localhost" || host.ends_with(".localhost") || host.ends_with(".local"),
    }
}

/// Names lead only where they may.
struct LookedAt {
    names: Arc<dyn Names>,
    is_public: fn(IpAddr) -> bool,
    is_own: bool,
}

impl Resolve for LookedAt {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, is_public, is_own) = (Arc::clone(&self.names), self.is_public, self.is_own);
        Box::pin(async move {
            // The port of the address is put in later.
            let found = names.look_up(name.as_str(), 0).await?;
            if let Some(inside) = found.iter().find(|found| !is_own && !is_public(found.ip())) {
                let refused = WebError::NotPublic {
                    host: name.as_str().to_owned(),
                    address: inside.ip().to_string(),
                };
                return Err(refused.into());
            }
            let found: Addrs = Box::new(found.into_iter());
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::SocketAddr;

    use async_trait::async_trait;

    use super::*;

    fn check(address: &str, is_usable: bool) {
        assert_eq!(client_of(address).is_ok(), is_usable, "{address}");
    }

    #[test]
    fn takes_what_a_person_means_and_nothing_that_only_looks_like_it() {
        check("https://mcp.example.org/mcp", true);
        check("http://localhost:3001/mcp", true);
        check("http://127.0.0.1:3001/mcp", true);
        check("http://[::1]:3001/mcp", true);
        check("http://192.168.1.4/mcp", true);
        check("http://mcp.example.org/mcp", false);
        check("http://169.254.169.254/latest", false);
        check("https://0.0.0.0/", false);
        check("https://user:secret@mcp.example.org/", false);
        check("file:///etc/passwd", false);
        check("mcp.example.org", false);
    }

    struct Leads(&'static str);

    #[async_trait]
    impl Names for Leads {
        async fn look_up(&self, _name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            let address = self.0.parse().map_err(io::Error::other)?;
            Ok(vec![SocketAddr::new(address, port)])
        }
    }

    #[tokio::test]
    async fn a_public_name_that_leads_inside_is_not_asked() {
        let client = with("https://mcp.example.org/", Arc::new(Leads("127.0.0.1")), is_public).unwrap();
        let error = client.get("https://mcp.example.org/").send().await.unwrap_err();
        let mut words = String::new();
        let mut source: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = source {
            words = error.to_string();
            source = error.source();
        }
        assert!(words.contains("not a public address"), "{words}");
    }
}
