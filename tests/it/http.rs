//! A model server of a test: it answers each request as it is told to and remembers what it heard.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::kept;

/// What a server heard: the line and the headers of each request.
pub(crate) type Heard = Arc<Mutex<Vec<String>>>;

/// A status, a header line or nothing, and a body.
pub(crate) type Said = (u16, &'static str, String);

/// A server that answers as it is told; the first argument is the line of the request, such as `GET /v1/models`.
pub(crate) fn server(answer: impl Fn(&str, &Value) -> Said + Send + 'static) -> (String, Heard) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let heard = Heard::default();
    let noted = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                continue;
            }
            let line = head
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches(" HTTP/1.1")
                .to_owned();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let (status, header, text) = answer(&line, &body);
            kept::body(&line, &body);
            keep(&line, status, &text);
            noted.lock().unwrap().push(head);
            let header = if header.is_empty() {
                String::new()
            } else {
                format!("{header}\r\n")
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{header}content-length: {}\r\n\r\n",
                text.len()
            );
            // Whoever asked may be gone.
            let _ = write!(stream.get_mut(), "{head}{text}");
        }
    });
    (url, heard)
}

/// Keeps what was said where it says what a model does; what is no JSON is meant to be wrong.
fn keep(line: &str, status: u16, text: &str) {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.filter_map(|data| serde_json::from_str(data).ok()).collect();
    let whole: Option<Value> = serde_json::from_str(text).ok();
    if status == 200 && (whole.is_some() || !events.is_empty()) {
        kept::answer(line, &events, whole.as_ref());
    }
}
