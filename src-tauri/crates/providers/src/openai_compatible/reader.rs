//! Reads the bytes of an answer: a stream of events, or one JSON object from a server that does not
//! stream. No I/O here, so that every way of cutting the bytes can be tried.

use contract::llm::{LlmError, LlmErrorCode};
use contract::ports::provider::Sink;
use secrecy::SecretString;
use serde_json::Value;

use super::reply::Reply;
use crate::http::cut;
use crate::refusal::{is_web_page, refusal_inside, web_page};
use crate::retry::{Answer, Failure};
use crate::sse::{Event, Parser};

/// What the first byte that is no space told.
#[derive(Debug)]
enum Form {
    Unknown,
    Events(Parser),
    Json,
    Page,
}

/// An answer that is arriving.
pub(super) struct Reader<'a> {
    server: String,
    key: Option<&'a SecretString>,
    form: Form,
    held: Vec<u8>,
    reply: Reply,
    done: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(server: String, key: Option<&'a SecretString>) -> Self {
        Self {
            server,
            key,
            form: Form::Unknown,
            held: Vec::new(),
            reply: Reply::default(),
            done: false,
        }
    }

    /// Whether the server said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &dyn Sink) -> Result<(), Failure> {
        if let Form::Events(parser) = &mut self.form {
            let events = parser.push(bytes);
            return self.take_all(events, sink);
        }
        self.held.extend_from_slice(bytes);
        if matches!(self.form, Form::Unknown)
            && let Some(form) = form(&self.held)
        {
            self.form = form;
            if let Form::Events(parser) = &mut self.form {
                let events = parser.push(&std::mem::take(&mut self.held));
                return self.take_all(events, sink);
            }
        }
        Ok(())
    }

    /// The answer, now that no more bytes come. `whole` is false when the connection broke off.
    pub(super) fn finish(mut self, whole: bool, sink: &dyn Sink) -> Result<Answer, Failure> {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown if whole => return Err(self.bad("answered with nothing at all")),
            Form::Unknown => {}
            Form::Page => return Err(self.failure(web_page(&self.server))),
            Form::Json => self.take_json(sink)?,
            Form::Events(parser) if !self.done => {
                // Half an event is no error of its own: the answer broke off, which is said below.
                if let Some(event) = parser.finish()
                    && (event.data == "[DONE]" || serde_json::from_str::<Value>(&event.data).is_ok())
                {
                    self.take(&event, sink)?;
                }
            }
            Form::Events(_) => {}
        }
        if self.done || self.reply.finished() {
            self.reply.into_answer(&self.server)
        } else {
            Err(self.failure(cut(&self.server)))
        }
    }

    fn take_all(&mut self, events: Vec<Event>, sink: &dyn Sink) -> Result<(), Failure> {
        events.iter().try_for_each(|event| self.take(event, sink))
    }

    fn take(&mut self, event: &Event, sink: &dyn Sink) -> Result<(), Failure> {
        let data = event.data.trim();
        if data.is_empty() || self.done {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let Ok(piece) = serde_json::from_str::<Value>(data) else {
            return Err(self.bad("answered with something that is not JSON"));
        };
        if event.name == "error" || is_error(&piece) {
            return Err(self.failure(refusal_inside(&self.server, self.key, &piece)));
        }
        self.reply.take(&piece, sink);
        Ok(())
    }

    fn take_json(&mut self, sink: &dyn Sink) -> Result<(), Failure> {
        match serde_json::from_slice::<Value>(&self.held) {
            Ok(error) if is_error(&error) => Err(self.failure(refusal_inside(&self.server, self.key, &error))),
            Ok(answer) => {
                self.reply.take(&answer, sink);
                self.done = true;
                Ok(())
            }
            // Not whole: said by the caller.
            Err(error) if error.is_eof() => Ok(()),
            Err(_) => Err(self.bad("answered with something that is not JSON")),
        }
    }

    fn bad(&self, what: &str) -> Failure {
        let message = format!(
            "{} {what}: check the address of the model server in Settings, and try again",
            self.server
        );
        self.failure(LlmError::new(LlmErrorCode::BadResponse, message))
    }

    fn failure(&self, error: LlmError) -> Failure {
        Failure {
            usage: self.reply.usage(),
            ..error.into()
        }
    }
}

fn is_error(value: &Value) -> bool {
    let error = value.get("error").is_some_and(|error| !error.is_null());
    error || value.get("object").and_then(Value::as_str) == Some("error")
}

fn form(held: &[u8]) -> Option<Form> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if MARK.starts_with(held) {
        return None;
    }
    let text = held.strip_prefix(MARK).unwrap_or(held);
    let first = text.trim_ascii_start().first()?;
    Some(match first {
        _ if is_web_page(held) => Form::Page,
        b'{' | b'[' => Form::Json,
        _ => Form::Events(Parser::default()),
    })
}

#[cfg(test)]
mod tests {
    use contract::llm::{Delta, FinishReason, LlmResponse, ToolUse, Usage};
    use serde_json::json;

    use super::*;
    use crate::testing::Heard;

    const STREAM: &str = concat!(
        ": OPENROUTER PROCESSING\n\n",
        "data: {\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Grüße \"}}]}\r\n\r\n",
        "data: {\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"👋\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",",
        "\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\"\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":\\\"ü\\\"}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\n",
        "data: \"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n",
        "data: [DONE]\n\n",
    );

    fn whole() -> LlmResponse {
        let usage = Usage {
            input: 9,
            output: 4,
            ..Usage::default()
        };
        LlmResponse {
            text: "Grüße 👋".to_owned(),
            tool_uses: vec![ToolUse {
                id: "c1".to_owned(),
                name: "look".to_owned(),
                input: json!({"at": "ü"}),
            }],
            finish_reason: FinishReason::ToolUse,
            usage,
            model: "m".to_owned(),
            request_id: Some("r1".to_owned()),
        }
    }

    fn read(pieces: &[&[u8]], whole: bool) -> (Result<Answer, Failure>, Vec<Delta>) {
        let heard = Heard::default();
        let mut reader = Reader::new("http://host".to_owned(), None);
        for piece in pieces {
            if let Err(failure) = reader.push(piece, &heard) {
                return (Err(failure), heard.deltas());
            }
        }
        (reader.finish(whole, &heard), heard.deltas())
    }

    fn check_error(body: &str, code: LlmErrorCode, words: &str) {
        let failure = read(&[body.as_bytes()], true).0.unwrap_err();
        assert_eq!(failure.error.code, code, "{}", failure.error);
        assert!(failure.error.message.contains(words), "{}", failure.error);
    }

    #[test]
    fn reads_the_same_wherever_the_stream_is_cut_in_two() {
        let bytes = STREAM.as_bytes();
        let (_, expected) = read(&[bytes], true);
        for place in 0..=bytes.len() {
            let (answer, deltas) = read(&[&bytes[..place], &bytes[place..]], true);
            assert_eq!(answer.unwrap().response, whole(), "cut at {place}");
            assert_eq!(deltas, expected, "cut at {place}");
        }
    }

    #[test]
    fn reads_the_same_byte_by_byte() {
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes, true).0.unwrap().response, whole());
    }

    #[test]
    fn a_stream_that_breaks_off_anywhere_is_cut_and_keeps_no_half_tool_call() {
        let finish = STREAM.find("\"tool_calls\"}]}\n\n").unwrap() + "\"tool_calls\"}]}".len();
        for place in 0..STREAM.len() {
            for ended_well in [true, false] {
                let answer = read(&[&STREAM.as_bytes()[..place]], ended_well).0;
                match answer {
                    // Once the model said that it has finished, only the usage can be missing.
                    Ok(answer) => {
                        assert!(place >= finish, "cut at {place}");
                        assert_eq!(answer.response.tool_uses, whole().tool_uses);
                    }
                    Err(failure) => {
                        assert!(place < finish, "cut at {place}: {}", failure.error);
                        let nothing = STREAM[..place.min(1)].is_empty() && ended_well;
                        let code = if nothing {
                            LlmErrorCode::BadResponse
                        } else {
                            LlmErrorCode::StreamCut
                        };
                        assert_eq!(failure.error.code, code, "cut at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn takes_one_json_answer_from_a_server_that_does_not_stream() {
        let call = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"ü\"}"}});
        let body = json!({
            "id": "r1", "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 4}, "choices": [{
                "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Grüße 👋", "tool_calls": [call]},
            }],
        })
        .to_string();
        assert_eq!(read(&[body.as_bytes()], true).0.unwrap().response, whole());
        for place in 1..body.len() {
            let failure = read(&[&body.as_bytes()[..place]], false).0.unwrap_err();
            assert_eq!(failure.error.code, LlmErrorCode::StreamCut, "cut at {place}");
        }
    }

    #[test]
    fn says_what_came_instead_of_an_answer() {
        check_error(
            "\n <!doctype html><p>Hi",
            LlmErrorCode::BadResponse,
            "a web page, not a model API",
        );
        check_error("data: {nonsense\n\n", LlmErrorCode::BadResponse, "not JSON");
        check_error("{nonsense}", LlmErrorCode::BadResponse, "not JSON");
        check_error("", LlmErrorCode::BadResponse, "nothing at all");
        check_error(
            "data: [DONE]\n\n",
            LlmErrorCode::BadResponse,
            "nothing that a model says",
        );
        check_error("[]", LlmErrorCode::BadResponse, "nothing that a model says");
        check_error("plain words", LlmErrorCode::StreamCut, "broke off");
    }

    #[test]
    fn an_error_in_the_middle_of_a_stream_is_that_error() {
        let started = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
        let check = |event: &str, code, words| check_error(&format!("{started}{event}\n\n"), code, words);
        check(
            "data: {\"error\":{\"code\":502,\"message\":\"no GPU\"}}",
            LlmErrorCode::Server,
            "no GPU",
        );
        check(
            "event: error\ndata: {\"message\":\"full\"}",
            LlmErrorCode::Server,
            "full",
        );
        let long = "data: {\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"x\"}}";
        check(long, LlmErrorCode::ContextLength, "too long");
    }

    #[test]
    fn a_thousand_damaged_answers_each_end_in_an_answer_or_a_typed_error() {
        let seed = 0x7e9a;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..1_000 {
            let mut bytes = STREAM.as_bytes().to_vec();
            for _ in 0..random.usize(1..6) {
                let place = random.usize(..bytes.len());
                match random.u8(..4) {
                    0 => bytes[place] = random.u8(..),
                    1 => bytes.truncate(place.max(1)),
                    2 => drop(bytes.drain(place..(place + random.usize(..40)).min(bytes.len()))),
                    _ => bytes.insert(place, random.u8(..)),
                }
                if bytes.is_empty() {
                    bytes.push(b'\n');
                }
            }
            let cut = random.usize(..=bytes.len());
            let (answer, _) = read(&[&bytes[..cut], &bytes[cut..]], random.bool());
            if let Err(failure) = answer {
                assert!(!failure.error.message.is_empty(), "seed {seed:#x}, round {round}");
            }
        }
    }
}
