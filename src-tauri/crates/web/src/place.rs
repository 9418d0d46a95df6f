//! Hosts as grants name them, and which grant is about one.

use contract::access::HostGrant;
use contract::ports::web::WebError;
use reqwest::Url;

/// An address of the web, read.
pub(crate) fn read(address: &str) -> Result<Url, WebError> {
    let unusable = |reason: &str| WebError::Unusable(format!("\"{address}\" cannot be asked: {reason}"));
    let url = Url::parse(address).map_err(|error| unusable(&error.to_string()))?;
    check(&url)?;
    Ok(url)
}

/// Whether this is an address of the web, and of nothing that only looks like it.
pub(crate) fn check(url: &Url) -> Result<(), WebError> {
    let reason = if !matches!(url.scheme(), "http" | "https") {
        "only http and https can be"
    } else if url.host_str().is_none_or(str::is_empty) {
        "it names no host"
    } else if !url.username().is_empty() || url.password().is_some() {
        "a name or password before the host is not sent"
    } else {
        return Ok(());
    };
    Err(WebError::Unusable(format!("\"{url}\" cannot be asked: {reason}")))
}

/// The host, with its port where it is not the scheme's own.
pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
    match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name,
    }
}

/// The grant for a host, if there is one for what is to be done there. Of several the one that allows most.
pub(crate) fn grant<'g>(grants: &'g [HostGrant], host: &str, changes: bool) -> Option<&'g HostGrant> {
    let about = grants.iter().filter(|grant| is_about(&grant.host, host));
    about
        .filter(|grant| grant.change || !changes)
        .max_by_key(|grant| grant.private)
}

/// Whether changes were granted on this host by its own name, and not by a pattern that is about others too.
pub(crate) fn is_granted_by_name(grants: &[HostGrant], host: &str) -> bool {
    let named = |grant: &&HostGrant| grant.host.eq_ignore_ascii_case(host);
    grants.iter().any(|grant| grant.change && named(&grant))
}

fn is_about(grant: &str, host: &str) -> bool {
    match grant.strip_prefix("*.") {
        // A pattern stands for names, and for the scheme's own port.
        Some(parent) => host
            .strip_suffix(parent)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => grant.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_host(address: &str, expected: Option<&str>) {
        assert_eq!(
            read(address).ok().map(|url| host(&url)).as_deref(),
            expected,
            "{address}"
        );
    }

    #[test]
    fn names_the_host_as_it_will_be_asked() {
        check_host("https://Example.ORG/a?b", Some("example.org"));
        check_host("https://example.org.:443/", Some("example.org"));
        check_host("http://example.org:8080/", Some("example.org:8080"));
        check_host("http://0x7f.1/", Some("127.0.0.1"));
        check_host("http://2130706433/", Some("127.0.0.1"));
        check_host("http://[::FFFF:7f00:1]/", Some("[::ffff:7f00:1]"));
        check_host("http://１２７.0.0.1/", Some("127.0.0.1"));
    }

    #[test]
    fn refuses_what_is_no_address_of_the_web() {
        for address in [
            "file:///etc/passwd",
            "ftp://a/",
            "gopher://a/",
            "a.org",
            "http://",
            "http://a.org@b.org/",
            "http://:x@b.org/",
            "data:,a",
        ] {
            check_host(address, None);
        }
    }

    #[test]
    fn a_grant_is_about_its_host_only() {
        let grant_of = |name: &str| HostGrant {
            host: name.to_owned(),
            change: false,
            private: false,
        };
        let is = |name: &str, host: &str, changes: bool| grant(&[grant_of(name)], host, changes).is_some();
        assert!(is("a.org", "a.org", false) && !is("a.org", "b.a.org", false) && !is("a.org", "a.org:8080", false));
        assert!(is("*.a.org", "b.a.org", false) && is("*.a.org", "c.b.a.org", false));
        assert!(
            !is("*.a.org", "a.org", false) && !is("*.a.org", "bad-a.org", false) && !is("*.a.org", ".a.org", false)
        );
        assert!(!is("a.org", "a.org", true));
    }
}
