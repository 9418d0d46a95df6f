//! Reads the bytes of an answer: a stream of events, or one JSON object from a server that does not
//! stream. What the events say is a protocol's [`Reply`]. No I/O here, so that every way of cutting the bytes can be
//! tried.

use contract::llm::{LlmError, LlmErrorCode, Usage};
use contract::ports::provider::Sink;
use secrecy::SecretString;
use serde_json::Value;

use crate::endpoint::Host;
use crate::http::cut;
use crate::refusal::{is_web_page, refusal_inside, web_page};
use crate::retry::{Answer, Failure};
use crate::sse::{Event, Parser};

/// An answer that is put together from its pieces, in the words of one protocol.
pub(crate) trait Reply: Send {
    /// Takes one piece, or a whole answer where the server does not stream. An error that the server put into the
    /// piece is handed back.
    fn take(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Value>;
    /// Whether the model said that it has finished: if nothing follows, the answer is whole.
    fn finished(&self) -> bool;
    /// Whether the server said that nothing follows.
    fn done(&self) -> bool;
    /// What the answer cost so far, if the server said so.
    fn usage(&self) -> Option<Usage>;
    /// The whole answer, or why it is none.
    fn into_answer(self, server: &Host) -> Result<Answer, Failure>;
}

/// What the first byte that is no space told.
#[derive(Debug)]
enum Form {
    Unknown,
    Events(Parser),
    Json,
    Page,
}

/// An answer that is arriving.
pub(crate) struct Reader<'a, R> {
    server: Host,
    key: Option<&'a SecretString>,
    form: Form,
    held: Vec<u8>,
    reply: R,
    done: bool,
    pieces: u64,
}

impl<'a, R: Reply> Reader<'a, R> {
    /// Reads into this answer. The key is kept out of what is said about it.
    pub(crate) fn new(reply: R, server: Host, key: Option<&'a SecretString>) -> Self {
        Self {
            server,
            key,
            form: Form::Unknown,
            held: Vec::new(),
            reply,
            done: false,
            pieces: 0,
        }
    }

    /// Whether the server said that nothing follows.
    pub(crate) fn is_done(&self) -> bool {
        self.done || self.reply.done()
    }

    /// How many pieces have come that say something: a comment, an event that only keeps the line open, and white space
    /// before an answer are none. An answer in one piece says something when it is whole.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], sink: &dyn Sink) -> Result<(), Failure> {
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
    pub(crate) fn finish(mut self, whole: bool, sink: &dyn Sink) -> Result<Answer, Failure> {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown if whole => return Err(self.bad("answered with nothing at all")),
            Form::Unknown => {}
            Form::Page => return Err(self.failure(web_page(&self.server))),
            Form::Json => self.take_json(sink)?,
            Form::Events(parser) if !self.is_done() => {
                // Half an event is no error of its own: the answer broke off, which is said below.
                if let Some(event) = parser.finish()
                    && (event.data == "[DONE]" || serde_json::from_str::<Value>(&event.data).is_ok())
                {
                    self.take(&event, sink)?;
                }
            }
            Form::Events(_) => {}
        }
        if self.is_done() || self.reply.finished() {
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
        if data.is_empty() || self.is_done() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let Ok(piece) = serde_json::from_str::<Value>(data) else {
            return Err(self.bad("answered with something that is not JSON"));
        };
        self.pieces += u64::from(event.name != "ping" && piece["type"] != "ping");
        if event.name == "error" || is_error(&piece) {
            return Err(self.failure(refusal_inside(&self.server, self.key, &piece)));
        }
        self.give(&piece, sink)
    }

    fn take_json(&mut self, sink: &dyn Sink) -> Result<(), Failure> {
        match serde_json::from_slice::<Value>(&self.held) {
            Ok(error) if is_error(&error) => Err(self.failure(refusal_inside(&self.server, self.key, &error))),
            Ok(answer) => {
                self.give(&answer, sink)?;
                self.done = true;
                Ok(())
            }
            // Not whole: said by the caller.
            Err(error) if error.is_eof() => Ok(()),
            Err(_) => Err(self.bad("answered with something that is not JSON")),
        }
    }

    fn give(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Failure> {
        let taken = self.reply.take(piece, sink);
        taken.map_err(|error| self.failure(refusal_inside(&self.server, self.key, &error)))
    }

    fn bad(&self, what: &str) -> Failure {
        let message = format!("{} {what}: {}", self.server, self.server.look());
        self.failure(LlmError::new(LlmErrorCode::BadResponse, message).remedy(self.server.remedy()))
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
    error
        || ["object", "type"]
            .iter()
            .any(|name| value.get(name).and_then(Value::as_str) == Some("error"))
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

/// What every protocol's streams are tried with.
#[cfg(test)]
pub(crate) mod trying {
    use contract::llm::{Delta, LlmResponse};

    use super::*;
    use crate::refusal::refusal;
    use crate::server::Protocol;
    use crate::testing::Heard;

    /// Reads these pieces; `whole` is whether the connection ended as it should.
    pub(crate) fn read<R: Reply>(reply: R, pieces: &[&[u8]], whole: bool) -> (Result<Answer, Failure>, Vec<Delta>) {
        let heard = Heard::default();
        let mut reader = Reader::new(reply, Host::of_a_person("http://host"), None);
        for piece in pieces {
            if let Err(failure) = reader.push(piece, &heard) {
                return (Err(failure), heard.deltas());
            }
        }
        (reader.finish(whole, &heard), heard.deltas())
    }

    /// The stream must say the same wherever it is cut in two, and byte by byte. Broken off anywhere it is either
    /// whole, from the byte at `finished` on, or cut: no half of a tool call is ever kept.
    pub(crate) fn same_however_it_arrives<R: Reply>(
        reply: impl Fn() -> R,
        stream: &str,
        finished: usize,
        expected: &LlmResponse,
    ) {
        let bytes = stream.as_bytes();
        let (_, deltas) = read(reply(), &[bytes], true);
        for place in 0..=bytes.len() {
            let (answer, heard) = read(reply(), &[&bytes[..place], &bytes[place..]], true);
            assert_eq!(answer.unwrap().response, *expected, "cut at {place}");
            assert_eq!(heard, deltas, "cut at {place}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(reply(), &single, true).0.unwrap().response, *expected);
        for place in 1..bytes.len() {
            // Whether the connection says that it ended makes no difference, and both are tried all over the stream.
            match read(reply(), &[&bytes[..place]], place % 2 == 0).0 {
                Ok(answer) => {
                    assert!(place >= finished, "broken off at {place}");
                    assert_eq!(answer.response.tool_uses, expected.tool_uses);
                }
                Err(failure) => {
                    assert!(place < finished, "broken off at {place}: {}", failure.error);
                    assert_eq!(failure.error.code, LlmErrorCode::StreamCut, "broken off at {place}");
                }
            }
        }
    }

    /// Every kept exchange of a provider, however its stream arrives, and damaged in many ways.
    pub(crate) fn all_exchanges<P: Protocol>(provider: &str) {
        for exchange in crate::exchange::all(provider) {
            assert_eq!(
                P::body(&exchange.request, P::EVERYTHING),
                exchange.body,
                "{}",
                exchange.name
            );
            let mut terms = P::EVERYTHING;
            for (step, simpler) in exchange.simpler.iter().enumerate() {
                let refused = refusal(
                    &Host::of_a_person("http://host"),
                    None,
                    400,
                    simpler.refusal.to_string().as_bytes(),
                );
                let place = format!("{} {step}: {}", exchange.name, refused.error);
                terms = P::simpler(terms, &exchange.request, &refused).expect(&place);
                assert_eq!(P::body(&exchange.request, terms), simpler.body, "{place}");
            }
            let reply = |request| P::reply(request, P::EVERYTHING);
            let stream = exchange.stream();
            let mut first = reply(&exchange.request);
            let finished = exchange.events.iter().position(|event| {
                first.take(event, &Heard::default()).unwrap();
                first.finished()
            });
            let finished = exchange.end_of(finished.unwrap());
            // What names the request stands in a header here.
            let alone = read(reply(&exchange.request), &[stream.as_bytes()], true)
                .0
                .unwrap()
                .response;
            let expected = LlmResponse {
                request_id: alone.request_id,
                ..exchange.response.clone()
            };
            same_however_it_arrives(|| reply(&exchange.request), &stream, finished, &expected);
            survives_damage(|| reply(&exchange.request), &stream);
        }
    }

    /// Damaged copies of the stream each end in an answer or in an error with words.
    pub(crate) fn survives_damage<R: Reply>(reply: impl Fn() -> R, stream: &str) {
        let seed = 0x7e9a;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..300 {
            let mut bytes = stream.as_bytes().to_vec();
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
            let (answer, _) = read(reply(), &[&bytes[..cut], &bytes[cut..]], random.bool());
            if let Err(failure) = answer {
                assert!(!failure.error.message.is_empty(), "seed {seed:#x}, round {round}");
            }
        }
    }
}
