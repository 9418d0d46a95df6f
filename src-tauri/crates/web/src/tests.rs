//! R7: nothing that was not granted is reached, whatever an address looks like, wherever its name leads and wherever
//! it is sent on to. A canary listens on this machine and must never be asked.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use contract::access::HostGrant;
use contract::ports::web::{LARGEST_ANSWER, Web, WebError, WebRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::address::is_public;
use crate::guard::Guard;
use crate::names::Names;

/// Plays a public computer: everything else of this machine is not.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

fn only_the_public_one(address: IpAddr) -> bool {
    address == PUBLIC
}

/// A server that counts who comes, and keeps what they say.
struct Server {
    at: SocketAddr,
    visits: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn on(at: SocketAddr, answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Option<Self> {
        let listener = TcpListener::bind(at).await.ok()?;
        let at = listener.local_addr().unwrap();
        let (visits, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, keep) = (Arc::clone(&visits), Arc::clone(&heard));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let mut said = Vec::new();
                let mut piece = [0; 4096];
                while !said.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut piece).await {
                        Ok(read @ 1..) => said.extend_from_slice(&piece[..read]),
                        _ => break,
                    }
                }
                let said = String::from_utf8_lossy(&said).into_owned();
                let reply = answer(&said);
                keep.lock().unwrap().push(said);
                let _ = stream.write_all(&reply).await;
                let _ = stream.shutdown().await;
            }
        });
        Some(Self { at, visits, heard })
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

fn words(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// The port that a request was sent to, as it says itself.
fn port_of(said: &str) -> String {
    let host = said.lines().find(|line| line.to_ascii_lowercase().starts_with("host:"));
    host.and_then(|host| host.rsplit(':').next())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn sent_on(status: &str, to: &str) -> Vec<u8> {
    words(status, &format!("location: {to}\r\n"), "")
}

/// Names that lead where a test likes, one answer after the other; the last one stays.
#[derive(Default)]
struct Book {
    answers: Mutex<HashMap<String, Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Book {
    fn of(entries: &[(&str, &[IpAddr])]) -> Arc<Self> {
        let answers = entries
            .iter()
            .map(|(name, answers)| ((*name).to_owned(), answers.to_vec()))
            .collect();
        Arc::new(Self {
            answers: Mutex::new(answers),
            asked: AtomicUsize::new(0),
        })
    }
}

#[async_trait]
impl Names for Book {
    async fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let Some(answers) = answers.get_mut(name.trim_end_matches('.')) else {
            return Err(io::Error::other("no such name"));
        };
        let address = if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0]
        };
        Ok(vec![SocketAddr::new(address, port)])
    }
}

fn request(url: &str, hosts: &[&str]) -> WebRequest {
    WebRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        secret: None,
        body: None,
        timeout: Duration::from_secs(30),
        hosts: hosts.iter().map(|host| grant(host)).collect(),
    }
}

fn grant(host: &str) -> HostGrant {
    HostGrant {
        host: host.to_owned(),
        change: true,
        private: false,
    }
}

/// A public server with a canary beside it, on the same port of another address.
async fn public_and_canary(answer: impl Fn(&str) -> Vec<u8> + Clone + Send + 'static) -> (Server, Server) {
    loop {
        let canary = Server::on("127.0.0.1:0".parse().unwrap(), |_| words("200 OK", "", "canary"))
            .await
            .unwrap();
        if let Some(public) = Server::on(SocketAddr::new(PUBLIC, canary.at.port()), answer.clone()).await {
            return (public, canary);
        }
    }
}

/// Ways of writing 127.0.0.1 and other places inside, with and without what stands around a host.
fn forms(port: u16) -> Vec<String> {
    let mut hosts: Vec<String> = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0x7F.1",
        "0177.0.0.1",
        "0177.0.0.01",
        "017700000001",
        "127.0.0.1.",
        "127.127.127.127",
        "0.0.0.0",
        "0",
        "0x0",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2002:7f00:0001::1]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "１２７.０.０.１",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost.localdomain",
        "metadata.google.internal",
        "inside.test",
        "a.b.inside.test",
        "rebound.test",
        "nowhere.test",
    ]
    .map(str::to_owned)
    .into();
    hosts.extend((2..=6).map(|last| format!("127.{last}.{last}.{last}")));
    let around = |host: &String| {
        [
            format!("http://{host}:{port}/"),
            format!("https://{host}:{port}/"),
            format!("http://granted.test@{host}:{port}/"),
            format!("http://{host}:{port}/#@granted.test/"),
            format!("HTTP:\\\\{host}:{port}\\granted.test"),
        ]
    };
    hosts.iter().flat_map(around).collect()
}

fn book_of_insides() -> Arc<Book> {
    let inside: IpAddr = "127.0.0.1".parse().unwrap();
    Book::of(&[
        ("localhost", &[inside]),
        ("localhost.localdomain", &[inside]),
        ("metadata.google.internal", &["169.254.169.254".parse().unwrap()]),
        ("inside.test", &[inside]),
        ("a.b.inside.test", &["10.1.2.3".parse().unwrap()]),
        ("rebound.test", &["::ffff:127.0.0.1".parse().unwrap()]),
        ("granted.test", &[PUBLIC]),
    ])
}

/// How a guard answers an address for which every host is granted by its own name: only where it leads can stop it.
async fn try_form(guard: &Guard, url: &str) -> Result<(), WebError> {
    let host = guard.host(url)?;
    guard.send(request(url, &[&host, "granted.test"])).await.map(|_| ())
}

#[tokio::test]
async fn no_form_of_an_inside_address_reaches_it() {
    let canary = Server::on("127.0.0.1:0".parse().unwrap(), |_| words("200 OK", "", "canary"))
        .await
        .unwrap();
    let forms = forms(canary.at.port());
    let guard = Guard::of_test(book_of_insides(), is_public, true);
    let mut through = Vec::new();
    for form in &forms {
        if try_form(&guard, form).await.is_ok() {
            through.push(form);
        }
    }
    assert_eq!((through, canary.visits()), (Vec::<&String>::new(), 0));
    assert!(forms.len() >= 300, "{}", forms.len());
    println!(
        "R7 forms: {} tried, {} visits of the canary",
        forms.len(),
        canary.visits()
    );
}

#[tokio::test]
async fn without_a_look_at_addresses_the_canary_is_reached() {
    let canary = Server::on("127.0.0.1:0".parse().unwrap(), |_| words("200 OK", "", "canary"))
        .await
        .unwrap();
    let guard = Guard::of_test(book_of_insides(), |_| true, true);
    let mut reached = 0;
    for form in forms(canary.at.port())
        .iter()
        .filter(|form| form.contains("127") && form.starts_with("http:"))
    {
        reached += usize::from(try_form(&guard, form).await.is_ok());
        // Enough is seen; some of the others lead nowhere, and are waited for.
        if reached == 10 {
            break;
        }
    }
    println!("mutant R7 without a look at addresses: {reached} forms got through");
    assert!(reached >= 10, "{reached}");
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_afterwards_is_not_followed() {
    for (pins, expected) in [(true, (1, 0)), (false, (0, 1))] {
        let (public, canary) = public_and_canary(|_| words("200 OK", "", "public")).await;
        let book = Book::of(&[("rebound.test", &[PUBLIC, canary.at.ip()])]);
        let guard = Guard::of_test(Arc::clone(&book) as _, only_the_public_one, pins);
        let host = format!("rebound.test:{}", canary.at.port());
        let done = guard.send(request(&format!("http://{host}/"), &[&host])).await.unwrap();
        assert_eq!((public.visits(), canary.visits()), expected, "{pins}: {}", done.body);
        if pins {
            assert_eq!(book.asked.load(Ordering::SeqCst), 1);
        } else {
            println!("mutant R7 without the pin: the canary was reached");
        }
    }
}

#[tokio::test]
async fn every_address_of_a_name_is_looked_at() {
    struct Both;
    #[async_trait]
    impl Names for Both {
        async fn look_up(&self, _name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            Ok([PUBLIC, "127.0.0.1".parse().unwrap()]
                .map(|address| SocketAddr::new(address, port))
                .into())
        }
    }
    let (public, canary) = public_and_canary(|_| words("200 OK", "", "public")).await;
    let guard = Guard::of_test(Arc::new(Both), only_the_public_one, true);
    let host = format!("both.test:{}", canary.at.port());
    let done = guard.send(request(&format!("http://{host}/"), &[&host])).await;
    assert!(matches!(done, Err(WebError::NotPublic { .. })), "{done:?}");
    assert_eq!((public.visits(), canary.visits()), (0, 0));
}

#[tokio::test]
async fn no_redirect_leads_to_what_was_not_granted() {
    let mut tried = 0;
    for status in ["301 Moved", "302 Found", "303 See", "307 Again", "308 Always"] {
        for form in [
            "http://127.0.0.1:{port}/",
            "//127.0.0.1:{port}/",
            "http://inside.test:{port}/",
            "http://2130706433:{port}/",
            "http://[::ffff:7f00:1]:{port}/",
            "http://other.test:{port}/",
            "file:///etc/passwd",
            "http://granted.test@127.0.0.1:{port}/",
        ] {
            let (public, canary) =
                public_and_canary(move |said| sent_on(status, &form.replace("{port}", &port_of(said)))).await;
            let port = canary.at.port();
            let book = Book::of(&[
                ("granted.test", &[PUBLIC]),
                ("inside.test", &["127.0.0.1".parse().unwrap()]),
                ("other.test", &[PUBLIC]),
            ]);
            let guard = Guard::of_test(book, only_the_public_one, true);
            // The host inside is granted too: only where it leads stops it. Another one is not granted at all.
            let hosts = [
                format!("granted.test:{port}"),
                format!("127.0.0.1:{port}"),
                format!("inside.test:{port}"),
            ];
            let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
            let done = guard
                .send(request(&format!("http://granted.test:{port}/"), &hosts))
                .await;
            assert!(done.is_err(), "{status} {form}: {done:?}");
            assert_eq!((public.visits(), canary.visits()), (1, 0), "{status} {form}");
            tried += 1;
        }
    }
    println!("R7 redirects: {tried} tried, 0 visits of the canary");
}

#[tokio::test]
async fn follows_redirects_among_granted_hosts_without_what_is_for_one() {
    let (public, _canary) = public_and_canary(|said| match said.split(' ').nth(1) {
        Some("/end?a=1") => words("200 OK", "set-cookie: a\r\nset-cookie: b\r\n", "there"),
        _ => sent_on("302 Found", &format!("http://b.test:{}/end?a=1", port_of(said))),
    })
    .await;
    let port = public.at.port();
    let guard = Guard::of_test(
        Book::of(&[("a.test", &[PUBLIC]), ("b.test", &[PUBLIC])]),
        only_the_public_one,
        true,
    );
    let (a, b) = (format!("a.test:{port}"), format!("b.test:{port}"));
    let mut asked = request(&format!("http://{a}/"), &[&a, &b]);
    asked.method = "POST".to_owned();
    asked.body = Some("words".to_owned());
    asked.headers = vec![
        ("Authorization".to_owned(), "secret".to_owned()),
        ("x-auth-token".to_owned(), "secret".to_owned()),
        ("X-Goog-Api-Key".to_owned(), "secret".to_owned()),
        ("x-other".to_owned(), "secret".to_owned()),
        ("accept".to_owned(), "text/plain".to_owned()),
    ];
    let done = guard.send(asked).await.unwrap();
    assert_eq!(
        (done.status, done.status_text.as_str(), done.body.as_str()),
        (200, "OK", "there")
    );
    assert!(
        done.headers.contains(&("set-cookie".to_owned(), "a, b".to_owned())),
        "{:?}",
        done.headers
    );
    let heard = public.heard.lock().unwrap().clone();
    assert!(
        heard[0].starts_with("POST / ")
            && heard[0].contains("authorization: secret")
            && heard[0].contains("x-other: secret")
    );
    assert!(
        heard[1].starts_with("GET /end?a=1 ")
            && !heard[1].contains("secret")
            && heard[1].contains("accept: text/plain")
    );
}

#[tokio::test]
async fn a_body_goes_on_only_to_a_host_that_was_granted_changes_by_its_own_name() {
    let (public, _canary) = public_and_canary(|said| match said.split(' ').nth(1) {
        Some("/end") => words("200 OK", "", "there"),
        _ => sent_on(
            "307 Temporary Redirect",
            &format!("http://b.test:{}/end", port_of(said)),
        ),
    })
    .await;
    let port = public.at.port();
    let names = || Book::of(&[("a.test", &[PUBLIC]), ("b.test", &[PUBLIC])]);
    let (a, b) = (format!("a.test:{port}"), format!("b.test:{port}"));
    for pattern in [format!("*.test:{port}"), b.clone()] {
        let guard = Guard::of_test(names(), only_the_public_one, true);
        let mut asked = request(&format!("http://{a}/"), &[&a, &pattern]);
        asked.method = "POST".to_owned();
        asked.body = Some("what only the first may know".to_owned());
        let done = guard.send(asked).await;
        if pattern == b {
            assert_eq!(done.unwrap().body, "there");
        } else {
            assert_eq!(done, Err(WebError::NotGranted { host: b.clone() }));
        }
    }
    // The first host twice, and the second one only when it was named.
    let heard = public.heard.lock().unwrap().clone();
    let knows = |said: &&String| said.starts_with("POST /end ") && said.contains("content-length: 28");
    assert_eq!((heard.len(), heard.iter().filter(knows).count()), (3, 1), "{heard:?}");
}

#[tokio::test]
async fn what_is_private_is_reached_when_it_was_granted_so() {
    let canary = Server::on("127.0.0.1:0".parse().unwrap(), |_| words("404 Not Found", "", "no"))
        .await
        .unwrap();
    let host = canary.at.to_string();
    let guard = Guard::of_test(Arc::new(Book::default()), is_public, true);
    let mut asked = request(&format!("http://{host}/"), &[]);
    asked.hosts = vec![HostGrant {
        host: host.clone(),
        change: false,
        private: true,
    }];
    let done = guard.send(asked.clone()).await.unwrap();
    assert_eq!((done.status, done.body.as_str()), (404, "no"));
    // To read there does not mean to change something there.
    asked.method = "DELETE".to_owned();
    assert_eq!(guard.send(asked).await, Err(WebError::NotGranted { host }));
    assert_eq!(canary.visits(), 1);
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let (public, _canary) = public_and_canary(|_| {
        let mut all = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
        all.resize(LARGEST_ANSWER + 1_000, b'x');
        all
    })
    .await;
    let host = format!("a.test:{}", public.at.port());
    let guard = Guard::of_test(Book::of(&[("a.test", &[PUBLIC])]), only_the_public_one, true);
    assert_eq!(
        guard.send(request(&format!("http://{host}/"), &[&host])).await,
        Err(WebError::TooLarge)
    );
}

#[tokio::test]
async fn a_packed_answer_is_refused() {
    let (public, _canary) = public_and_canary(|_| words("200 OK", "content-encoding: gzip\r\n", "x")).await;
    let host = format!("a.test:{}", public.at.port());
    let guard = Guard::of_test(Book::of(&[("a.test", &[PUBLIC])]), only_the_public_one, true);
    let done = guard.send(request(&format!("http://{host}/"), &[&host])).await;
    assert!(matches!(done, Err(WebError::Unusable(_))), "{done:?}");
    assert!(public.heard.lock().unwrap()[0].contains("accept-encoding: identity"));
}

#[tokio::test]
async fn only_what_reads_is_tried_again() {
    for (method, expected) in [("GET", 4), ("HEAD", 4), ("POST", 1), ("PUT", 1), ("DELETE", 1)] {
        let (public, _canary) = public_and_canary(|_| Vec::new()).await;
        let host = format!("a.test:{}", public.at.port());
        let guard = Guard::of_test(Book::of(&[("a.test", &[PUBLIC])]), only_the_public_one, true);
        let mut asked = request(&format!("http://{host}/"), &[&host]);
        asked.method = method.to_owned();
        let done = guard.send(asked).await;
        assert!(matches!(done, Err(WebError::NotReached { .. })), "{method}: {done:?}");
        assert_eq!(public.visits(), expected, "{method}");
    }
}

#[tokio::test]
async fn going_in_circles_ends() {
    let (public, _canary) = public_and_canary(|_| sent_on("302 Found", "/")).await;
    let host = format!("a.test:{}", public.at.port());
    let guard = Guard::of_test(Book::of(&[("a.test", &[PUBLIC])]), only_the_public_one, true);
    let done = guard.send(request(&format!("http://{host}/"), &[&host])).await;
    assert_eq!((done, public.visits()), (Err(WebError::TooManyRedirects), 11));
}

#[tokio::test]
async fn headers_of_the_connection_are_not_taken_from_strangers() {
    let guard = Guard::default();
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "proxy-authorization",
        "a b",
    ] {
        let mut asked = request("http://a.test/", &["a.test"]);
        asked.headers = vec![(name.to_owned(), "x".to_owned())];
        assert!(matches!(guard.send(asked).await, Err(WebError::Unusable(_))), "{name}");
    }
}

#[tokio::test]
async fn the_query_is_set_and_not_added_twice() {
    let (public, _canary) =
        public_and_canary(|_| words("200 OK", "content-type: text/plain; charset=latin1\r\n", "x")).await;
    let host = format!("a.test:{}", public.at.port());
    let guard = Guard::of_test(Book::of(&[("a.test", &[PUBLIC])]), only_the_public_one, true);
    let mut asked = request(&format!("http://{host}/p?q=old&r=1#top"), &[&host]);
    asked.query = vec![("q".to_owned(), "a b&c".to_owned())];
    guard.send(asked).await.unwrap();
    assert!(public.heard.lock().unwrap()[0].starts_with("GET /p?r=1&q=a+b%26c HTTP/1.1"));
}
