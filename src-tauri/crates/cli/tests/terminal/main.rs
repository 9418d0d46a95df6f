//! The program as scripts see it: what it prints, and how it ends.

#![allow(clippy::unwrap_used)]

mod flows;
mod going_on;
mod granting;
#[cfg(target_os = "linux")]
mod killed;
mod lists;
mod past;
mod tasks;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};

/// A data folder and a working folder, and the program on them.
struct Terminal {
    data: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl Terminal {
    fn new() -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            work: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.output(arguments);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.code().unwrap(), text)
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tepa"));
        // Whoever runs the tests may have keys of their own, and no test asks a provider.
        for variable in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
        ] {
            command.env_remove(variable);
        }
        command
            .args(arguments)
            .current_dir(self.work.path())
            .env("TEPA_DATA_DIR", self.data.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The one JSON document that these arguments print.
    fn document(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.output(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// How many runs there are.
    fn runs(&self) -> usize {
        self.document(&["history", "--json"])["runs"].as_array().unwrap().len()
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.work.path().join(name), text).unwrap();
    }
}

/// A model server that answers every call with these words.
fn model(words: String) -> String {
    let message = serde_json::json!({ "content": words });
    server(serde_json::json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string())
}

/// A server that answers every call with this body.
fn server(body: String) -> String {
    server_of(vec![body])
}

/// A server that answers each call that says something with the next body, and with the last from then on.
fn server_of(bodies: Vec<String>) -> String {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut said = 0;
        for call in server.incoming() {
            let mut call = BufReader::new(call.unwrap());
            let (mut length, mut line, mut asks) = (0, String::new(), false);
            while call.read_line(&mut line).unwrap() > 2 {
                let header = line.to_lowercase();
                asks |= header.starts_with("post /v1/chat/completions");
                if let Some(bytes) = header.strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                line.clear();
            }
            call.read_exact(&mut vec![0; length]).unwrap();
            let body = bodies.get(said).or(bodies.last()).unwrap();
            said += usize::from(asks);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            write!(call.get_mut(), "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    url
}

/// A plan of one step that writes a file.
fn writing_plan() -> String {
    let write = serde_json::json!({ "file_write": { "path": "out.txt", "content": "x" } });
    let step = serde_json::json!({ "id": "a", "description": "Write", "tools": ["file_write"], "expectedOutcome": "a file",
        "dependencies": [], "args": write });
    serde_json::json!({ "reasoning": "Because.", "estimatedTokens": 1234, "steps": [step] }).to_string()
}
