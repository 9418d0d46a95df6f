//! Why a request never came to an answer: the way to the server, from the name to the certificate.
//!
//! Each cause has its own sentence and its own remedy. What a person may mistake for another is told apart: a wrong clock
//! from an expired certificate, no network from a wrong name.

use std::error::Error;
use std::io;
use std::net::UdpSocket;

use contract::dates;
use contract::llm::{LlmError, LlmErrorCode, Remedy};
use rustls::CertificateError;

use crate::endpoint::Host;

/// Addresses that exist nowhere (RFC 5737, RFC 3849), each with where one sets out for it: whether there is a way to one of
/// them is whether there is a network.
const NOWHERE: (&str, &str) = ("0.0.0.0:0", "192.0.2.1:9");
const NOWHERE_NEWER: (&str, &str) = ("[::]:0", "[2001:db8::1]:9");

/// What is known of the place that could not be reached.
pub(crate) struct Place<'a> {
    /// The server as people know it.
    pub(crate) server: &'a Host,
    /// Whether it is asked without encryption.
    pub(crate) is_plain: bool,
    /// Whether it is this machine.
    pub(crate) is_here: bool,
    /// How long a connection may take, in seconds.
    pub(crate) connect_seconds: f32,
    /// This computer's time, in milliseconds since 1970.
    pub(crate) now_ms: i64,
}

/// The name of a server cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnknownName {
    /// The system says that there is no such name.
    #[error("the name cannot be resolved: {0}")]
    NoSuch(#[source] io::Error),
    /// Whoever knows the names does not answer.
    #[error("no name server answers")]
    NoAnswer,
}

/// What kept a request from its answer.
#[derive(Debug, Clone, PartialEq)]
enum Cause {
    Offline,
    UnknownName,
    NoNames,
    NothingListens,
    Unreachable,
    TooSlow,
    Certificate(CertificateError),
    NotTls(String),
    NoConnection(String),
    NotHttp(String),
    CutOff(String),
}

/// The error for a request that got no answer.
pub(crate) fn not_sent(place: &Place<'_>, error: &reqwest::Error) -> LlmError {
    in_words(place, &cause(error, place.is_here, || is_offline(way)))
}

fn cause(error: &reqwest::Error, is_here: bool, is_offline: impl Fn() -> bool) -> Cause {
    let kind = find::<io::Error>(error).map(io::Error::kind);
    let is_no_way = matches!(
        kind,
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkDown)
    );
    let unknown = find::<UnknownName>(error);
    if (unknown.is_some() || is_no_way) && !is_here && is_offline() {
        return Cause::Offline;
    }
    match kind {
        _ if matches!(unknown, Some(UnknownName::NoAnswer)) => Cause::NoNames,
        _ if unknown.is_some() => Cause::UnknownName,
        _ if is_no_way => Cause::Unreachable,
        Some(io::ErrorKind::ConnectionRefused) => Cause::NothingListens,
        _ => match secure(error) {
            Some(rustls::Error::InvalidCertificate(why)) => Cause::Certificate(why.clone()),
            Some(other) => Cause::NotTls(other.to_string()),
            None if error.is_timeout() => Cause::TooSlow,
            None if error.is_connect() => Cause::NoConnection(innermost(error)),
            // What a server says that was greeted in a protocol of which it has never heard.
            None if innermost(error).starts_with("invalid HTTP") => Cause::NotHttp(innermost(error)),
            None => Cause::CutOff(innermost(error)),
        },
    }
}

fn in_words(place: &Place<'_>, cause: &Cause) -> LlmError {
    let server = place.server;
    let (message, remedy) = match cause {
        Cause::Offline => (
            format!("{server} cannot be reached, because this computer has no network: connect it and try again"),
            Remedy::Network,
        ),
        Cause::UnknownName => (
            format!("there is no server of the name in {server}: check the address, and whether you are online"),
            Remedy::Address,
        ),
        Cause::NoNames => (
            format!(
                "{server} cannot be looked up, because the network's name server does not answer: check the network, or a \
                 VPN, and try again"
            ),
            Remedy::Network,
        ),
        Cause::NothingListens if place.is_here => (
            format!("nothing answers at {server}: is the model server running?"),
            Remedy::Server,
        ),
        Cause::NothingListens => (
            format!("nothing answers at {server}: check the address, and whether you are online"),
            Remedy::Address,
        ),
        Cause::Unreachable => (
            format!("there is no way to {server} from this network: check the address, or a VPN that the server needs"),
            Remedy::Address,
        ),
        Cause::TooSlow => (
            format!(
                "{server} did not answer within {} seconds: check the address, and whether the server is running",
                place.connect_seconds
            ),
            if place.is_here { Remedy::Server } else { Remedy::Wait },
        ),
        Cause::Certificate(why) => return certificate(place, why),
        Cause::NotTls(why) => (
            format!(
                "{server} does not speak https ({why}): check the address; a server on your own machine usually wants \
                 http:// instead of https://"
            ),
            Remedy::Address,
        ),
        Cause::NoConnection(why) => (
            format!("no connection to {server} could be made ({why}): check the address"),
            Remedy::Address,
        ),
        Cause::NotHttp(why) if place.is_plain => (
            format!("{server} does not speak http ({why}): check the address; it may want https:// instead of http://"),
            Remedy::Address,
        ),
        Cause::CutOff(why) if place.is_plain && !place.is_here => (
            format!(
                "{server} broke off the connection before it answered ({why}): try again, and if it stays so, write https:// \
                 instead of http:// in the address"
            ),
            Remedy::Wait,
        ),
        Cause::CutOff(why) | Cause::NotHttp(why) => (
            format!("{server} broke off the connection before it answered ({why}): try again"),
            Remedy::Wait,
        ),
    };
    let error = LlmError::new(LlmErrorCode::Connection, message).remedy(remedy);
    at_home(place, cause, error)
}

/// The provider's own address is right, and nobody can change it: what helps is the network.
fn at_home(place: &Place<'_>, cause: &Cause, error: LlmError) -> LlmError {
    let server = place.server;
    let what = match (place.server.is_own(), cause) {
        (true, Cause::UnknownName) => "this network does not know the name in",
        (true, Cause::NothingListens | Cause::Unreachable | Cause::NoConnection(_)) => "this network has no way to",
        (true, Cause::TooSlow) => "this network brings no answer of",
        (true, Cause::NotTls(_)) => "something on the way lets no secure connection through to",
        _ => return error,
    };
    let message = format!(
        "{what} {server}: check whether you are online, whether the network wants a sign-in (a hotel, an office), or a VPN \
         or a filter stands in between"
    );
    LlmError { message, ..error }.remedy(Remedy::Network)
}

/// What is wrong with a server's proof of who it is. The same request will not succeed a second later: it is no matter of
/// the connection.
fn certificate(place: &Place<'_>, why: &CertificateError) -> LlmError {
    let (server, today) = (place.server, dates::day(place.now_ms));
    let (message, remedy) = match why {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => (
            format!(
                "the certificate of {server} is not valid on {today}, the date of this computer: if today is another day, \
                 set the clock; otherwise whoever runs the server has to renew it"
            ),
            Remedy::Clock,
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
            format!(
                "the certificate of {server} is for another name: check the address, and whether the network wants a \
                 sign-in first"
            ),
            Remedy::Address,
        ),
        // The others are faults of certificates that a server made for itself, in the checker's own words.
        CertificateError::UnknownIssuer | CertificateError::Other(_) => (
            format!(
                "this computer does not trust the certificate of {server}: a company's network or a virus scanner may read \
                 along, and its certificate must be installed in the system; a server of your own usually wants http://"
            ),
            Remedy::Network,
        ),
        CertificateError::Revoked => (
            format!(
                "the certificate of {server} was taken back by those who gave it: do not use this server until it has a new one"
            ),
            Remedy::Address,
        ),
        _ => (
            format!("the certificate of {server} is damaged, or of a kind that cannot be checked: check the address"),
            Remedy::Address,
        ),
    };
    let (message, remedy) = match remedy {
        Remedy::Address if server.is_own() => (
            format!(
                "something on the way answers in the place of {server}, with another certificate: {}",
                server.look()
            ),
            Remedy::Network,
        ),
        remedy => (message, remedy),
    };
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(remedy)
}

/// Whether this computer has no network: there is no way to anywhere, in neither of the two internets.
fn is_offline(way: impl Fn((&str, &str)) -> io::Result<()>) -> bool {
    let has_no_way = way(NOWHERE).is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown | io::ErrorKind::HostUnreachable
        )
    });
    // Many systems are without the newer one, and say so in many ways.
    has_no_way && way(NOWHERE_NEWER).is_err()
}

/// Whether there is a way. Nothing is sent.
fn way((from, to): (&str, &str)) -> io::Result<()> {
    UdpSocket::bind(from)?.connect(to)
}

/// The error of the secure connection; an I/O error carries it inside, where it is no source.
fn secure(error: &reqwest::Error) -> Option<&rustls::Error> {
    causes(error).find_map(|cause| match cause.downcast_ref::<rustls::Error>() {
        Some(found) => Some(found),
        None => carried(cause.downcast_ref::<io::Error>()?),
    })
}

fn carried(error: &io::Error) -> Option<&rustls::Error> {
    let inside = error.get_ref()?;
    match inside.downcast_ref::<rustls::Error>() {
        Some(found) => Some(found),
        None => carried(inside.downcast_ref::<io::Error>()?),
    }
}

fn find<Kind: Error + 'static>(error: &reqwest::Error) -> Option<&Kind> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// The first cause of a failure, in its own words.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let first: &'a (dyn Error + 'static) = error;
    std::iter::successors(Some(first), |cause: &&'a (dyn Error + 'static)| Error::source(*cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cause: &Cause, is_here: bool, words: &str, remedy: Remedy) {
        let place = Place {
            server: &Host::of_a_person("https://host"),
            is_plain: false,
            is_here,
            connect_seconds: 10.0,
            now_ms: 1_795_264_260_000,
        };
        let error = in_words(&place, cause);
        assert_eq!(error.remedy, Some(remedy), "{error}");
        assert_eq!(error.retryable(), !matches!(cause, Cause::Certificate(_)), "{error}");
        assert!(error.message.contains(words), "{error}");
    }

    #[test]
    fn every_cause_has_its_own_sentence_and_remedy() {
        check(&Cause::Offline, false, "this computer has no network", Remedy::Network);
        check(&Cause::UnknownName, false, "no server of the name", Remedy::Address);
        check(
            &Cause::NoNames,
            false,
            "the network's name server does not answer",
            Remedy::Network,
        );
        check(
            &Cause::NothingListens,
            true,
            "is the model server running?",
            Remedy::Server,
        );
        check(&Cause::NothingListens, false, "check the address", Remedy::Address);
        check(&Cause::Unreachable, false, "no way to https://host", Remedy::Address);
        check(&Cause::TooSlow, false, "within 10 seconds", Remedy::Wait);
        check(
            &Cause::NotTls("x".to_owned()),
            true,
            "http:// instead of https://",
            Remedy::Address,
        );
        check(
            &Cause::NoConnection("x".to_owned()),
            false,
            "no connection",
            Remedy::Address,
        );
        check(&Cause::CutOff("x".to_owned()), false, "broke off", Remedy::Wait);
    }

    #[test]
    fn what_keeps_from_a_providers_own_address_is_the_network() {
        let own = Host::of_the_provider("https://host");
        let place = Place {
            server: &own,
            is_plain: false,
            is_here: false,
            connect_seconds: 10.0,
            now_ms: 0,
        };
        let words = || "x".to_owned();
        for cause in [
            Cause::UnknownName,
            Cause::NoNames,
            Cause::NothingListens,
            Cause::Unreachable,
            Cause::TooSlow,
            Cause::NotTls(words()),
            Cause::NoConnection(words()),
            Cause::Certificate(CertificateError::NotValidForName),
            Cause::Certificate(CertificateError::BadSignature),
            Cause::Certificate(CertificateError::Revoked),
        ] {
            let error = in_words(&place, &cause);
            assert_eq!(error.remedy, Some(Remedy::Network), "{error}");
            assert!(!error.message.contains("check the address"), "{error}");
        }
        let expired = in_words(&place, &Cause::Certificate(CertificateError::Expired));
        assert_eq!(expired.remedy, Some(Remedy::Clock));
    }

    #[test]
    fn http_where_https_is_wanted_says_so() {
        let cause = Cause::NotHttp("invalid HTTP version parsed".to_owned());
        for (is_plain, words, remedy) in [
            (true, "https:// instead of http://", Remedy::Address),
            (false, "try again", Remedy::Wait),
        ] {
            let place = Place {
                server: &Host::of_a_person("host"),
                is_plain,
                is_here: false,
                connect_seconds: 10.0,
                now_ms: 0,
            };
            let error = in_words(&place, &cause);
            assert!(error.message.contains(words) && error.remedy == Some(remedy), "{error}");
        }
    }

    #[test]
    fn a_date_that_does_not_fit_names_the_computers_date() {
        let expired = Cause::Certificate(CertificateError::Expired);
        check(
            &expired,
            false,
            "not valid on 2026-11-21, the date of this computer",
            Remedy::Clock,
        );
        let early = Cause::Certificate(CertificateError::NotValidYet);
        check(&early, false, "set the clock", Remedy::Clock);
        let issuer = Cause::Certificate(CertificateError::UnknownIssuer);
        check(&issuer, false, "does not trust the certificate", Remedy::Network);
        let own = Cause::Certificate(CertificateError::Other(rustls::OtherError(std::sync::Arc::new(
            io::Error::other("CaUsedAsEndEntity"),
        ))));
        check(
            &own,
            false,
            "a server of your own usually wants http://",
            Remedy::Network,
        );
        let revoked = Cause::Certificate(CertificateError::Revoked);
        check(&revoked, false, "was taken back", Remedy::Address);
        let damaged = Cause::Certificate(CertificateError::BadSignature);
        check(&damaged, false, "is damaged, or of a kind", Remedy::Address);
        let name = Cause::Certificate(CertificateError::NotValidForName);
        check(&name, false, "for another name", Remedy::Address);
    }

    #[tokio::test]
    async fn a_name_that_nobody_knows_is_no_network_only_where_there_is_none() {
        let error = asked_by_name(false).await;
        assert_eq!(cause(&error, false, || true), Cause::Offline);
        assert_eq!(cause(&error, false, || false), Cause::UnknownName);
        assert_eq!(cause(&error, true, || true), Cause::UnknownName);
    }

    #[tokio::test]
    async fn names_that_nobody_looks_up_are_no_wrong_name() {
        let error = asked_by_name(true).await;
        assert_eq!(cause(&error, false, || true), Cause::Offline);
        assert_eq!(cause(&error, false, || false), Cause::NoNames);
    }

    #[test]
    fn a_network_of_either_internet_is_a_network() {
        let no_way = || Err(io::ErrorKind::NetworkUnreachable.into());
        let only = |version: &'static str| {
            move |(from, _): (&str, &str)| match from.starts_with(version) {
                true => Ok(()),
                false => no_way(),
            }
        };
        assert!(!is_offline(only("0.0.0.0")));
        assert!(!is_offline(only("[::]")));
        assert!(is_offline(|_| no_way()));
        // What keeps a socket from being opened says nothing about the network.
        assert!(!is_offline(|_| Err(io::ErrorKind::PermissionDenied.into())));
    }

    async fn asked_by_name(silent: bool) -> reqwest::Error {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let resolving = reqwest::Client::builder()
            .dns_resolver(std::sync::Arc::new(Nobody { silent }))
            .no_proxy()
            .build();
        resolving.unwrap().get("http://host.example/").send().await.unwrap_err()
    }

    /// Knows no name, or does not even answer.
    struct Nobody {
        silent: bool,
    }

    impl reqwest::dns::Resolve for Nobody {
        fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
            let silent = self.silent;
            Box::pin(async move {
                Err(match silent {
                    true => UnknownName::NoAnswer.into(),
                    false => UnknownName::NoSuch(io::Error::other("no such name")).into(),
                })
            })
        }
    }
}
