//! A model server made of bytes: it sends exactly what a test says, and remembers what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::kept;

/// What one connection gets.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// These bytes, each part in a packet of its own, and the end of the connection.
    Send(Vec<Vec<u8>>),
    /// These bytes, and then nothing, with the connection left open.
    Hang(Vec<u8>),
    /// These bytes, and then one more again and again, for as long as anybody listens.
    Drip(Vec<u8>, u8),
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
    head: String,
}

impl Seen {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines
        .filter(|(field, _)| field.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
        .next()
}

/// The server; it ends with the test.
pub(crate) struct Fake {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Fake {
    /// Plays these scripts, one per connection, in this order.
    pub(crate) async fn playing(scripts: Vec<Script>) -> Self {
        let mut scripts = scripts.into_iter();
        Self::with(move |_| scripts.next().expect("one more request than scripts")).await
    }

    /// Asks `next` what to do with each request.
    pub(crate) async fn with(mut next: impl FnMut(&Seen) -> Script + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = seen.clone();
        let task = tokio::spawn(async move {
            let (mut open, mut drips) = (Vec::new(), Vec::new());
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                // A client that was too impatient is not the end of the server.
                let Some(request) = read(&mut stream).await else {
                    continue;
                };
                let script = next(&request);
                kept::body(&request.line, &request.body);
                noted.lock().unwrap().push(request);
                match script {
                    Script::Send(parts) => {
                        for part in parts {
                            // The other side may have heard enough.
                            let _ = stream.write_all(&part).await;
                            tokio::task::yield_now().await;
                        }
                        let _ = stream.shutdown().await;
                    }
                    Script::Drip(bytes, drop) => drips.push(Ends(tokio::spawn(drip(stream, bytes, drop)))),
                    Script::Hang(bytes) => {
                        let _ = stream.write_all(&bytes).await;
                        open.push(stream);
                        // Nobody waits for the older ones any more.
                        if open.len() > 4 {
                            open.remove(0);
                        }
                    }
                }
            }
        });
        Self { url, seen, task }
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A task that ends with the server.
struct Ends(JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn drip(mut stream: TcpStream, bytes: Vec<u8>, drop: u8) {
    let mut more = stream.write_all(&bytes).await;
    while more.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        more = stream.write_all(&[drop]).await;
    }
}

/// One request; none when the client went away before it was whole.
async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let (head, start) = loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break (String::from_utf8(bytes[..end].to_vec()).unwrap(), end + 4);
        }
    };
    let length: usize = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < start + length {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
    Some(Seen {
        line: head.lines().next().unwrap().to_owned(),
        authorization: header(&head, "authorization").map(str::to_owned),
        body: serde_json::from_slice(&bytes[start..]).unwrap_or(Value::Null),
        head,
    })
}

/// A whole answer with a body of known length.
pub(crate) fn answer(status: u16, headers: &[&str], body: &str) -> Script {
    let mut head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    Script::Send(vec![format!("{head}\r\n{body}").into_bytes()])
}

/// The head of a stream that ends with the connection.
pub(crate) const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A stream of events.
pub(crate) fn stream(events: &[Value]) -> Script {
    kept::answer("POST /v1/chat/completions", events, None);
    let mut parts = vec![STREAM_HEAD.as_bytes().to_vec()];
    parts.extend(events.iter().map(|event| format!("data: {event}\n\n").into_bytes()));
    parts.push(b"data: [DONE]\n\n".to_vec());
    Script::Send(parts)
}
