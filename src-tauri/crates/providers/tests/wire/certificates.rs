//! A server whose proof of who it is cannot be trusted, each for another reason.

use std::sync::Arc;

use contract::llm::{LlmError, LlmErrorCode, Remedy};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::{ask, endpoint, request};

/// A certificate that it signed itself, valid in the years from and until.
fn certificate(from: i32, until: i32) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    (params, KeyPair::generate().unwrap())
}

/// Greets with this certificate, and counts the greetings by being asked again.
async fn server((params, key): (CertificateParams, KeyPair)) -> (String, JoinHandle<()>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let own = params.self_signed(&key).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // Whoever does not trust us goes away.
            let _ = acceptor.accept(stream).await;
        }
    });
    (url, task)
}

async fn fails(certificate: (CertificateParams, KeyPair)) -> LlmError {
    let (url, task) = server(certificate).await;
    let (result, heard) = ask(endpoint(&url), request()).await;
    task.abort();
    let error = result.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::BadResponse, "{error}");
    // The same certificate will be there a second later.
    assert_eq!(heard.attempts().len(), 1, "{error}");
    error
}

#[tokio::test]
async fn a_certificate_of_the_past_or_the_future_asks_for_the_clock() {
    for (from, until) in [(2001, 2002), (4000, 4001)] {
        let error = fails(certificate(from, until)).await;
        assert_eq!(error.remedy, Some(Remedy::Clock), "{error}");
        assert!(error.message.contains("the date of this computer"), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_says_so() {
    let error = fails(certificate(2001, 4000)).await;
    assert_eq!(error.remedy, Some(Remedy::Network), "{error}");
    assert!(error.message.contains("does not trust the certificate"), "{error}");
}

/// Told in its own words, which are no HTTP.
#[tokio::test]
async fn a_server_that_wants_https_and_is_asked_without_says_so() {
    let (url, task) = server(certificate(2001, 4000)).await;
    let (result, _) = ask(endpoint(&url.replace("https://", "http://")), request()).await;
    task.abort();
    let error = result.unwrap_err();
    assert_eq!(
        (error.code, error.remedy),
        (LlmErrorCode::Connection, Some(Remedy::Address)),
        "{error}"
    );
    assert!(error.message.contains("https:// instead of http://"), "{error}");
}
