//! Server-sent events, as they arrive: bytes in, whole events out.
//!
//! Follows the event-stream format of the HTML standard, except that `id` and `retry` are ignored,
//! since a model's answer is never taken up again half-way. Lines are decoded only when they are
//! whole, so a character split between two packets stays one character.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its kind; empty for the usual one.
    pub(crate) name: String,
    /// Its data, the lines joined.
    pub(crate) data: String,
}

/// Cuts a stream of bytes into events, wherever the packets end.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    after_carriage_return: bool,
    past_first_line: bool,
    name: String,
    data: Option<String>,
}

impl Parser {
    /// The events that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_half_of_line_end = byte == b'\n' && self.after_carriage_return;
            self.after_carriage_return = byte == b'\r';
            match byte {
                _ if second_half_of_line_end => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// The event that was not yet closed by an empty line when the stream ended.
    ///
    /// The standard drops it. Some servers close without the empty line, and a half event cannot be
    /// taken for a whole one where the data is a JSON object, so it is handed out.
    pub(crate) fn finish(mut self) -> Option<Event> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let first = !std::mem::replace(&mut self.past_first_line, true);
        let line = if first {
            line.trim_start_matches('\u{feff}')
        } else {
            &*line
        };
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", none) => *none = Some(value.to_owned()),
            ("event", _) => value.clone_into(&mut self.name),
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream must be the same wherever it is cut in two.
    fn check(stream: &str, expected: &[(&str, &str)]) {
        let bytes = stream.as_bytes();
        for cut in 0..=bytes.len() {
            let mut parser = Parser::default();
            let mut events = parser.push(&bytes[..cut]);
            events.extend(parser.push(&bytes[cut..]));
            events.extend(parser.finish());
            let events: Vec<(&str, &str)> = events.iter().map(|event| (&*event.name, &*event.data)).collect();
            assert_eq!(events, expected, "cut at {cut}");
        }
    }

    #[test]
    fn reads_events_however_their_lines_end() {
        check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
        check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn joins_several_lines_of_data() {
        check("data: a\ndata\ndata:b\n\n", &[("", "a\n\nb")]);
    }

    #[test]
    fn ignores_comments_and_fields_it_does_not_know() {
        check(
            ": keep-alive\n\nid: 7\nretry: 3\nother\ndata: a\n: more\n\n",
            &[("", "a")],
        );
    }

    #[test]
    fn keeps_the_kind_of_an_event_to_that_event() {
        check("event: error\ndata: a\n\ndata: b\n\n", &[("error", "a"), ("", "b")]);
    }

    #[test]
    fn keeps_characters_whole_that_arrive_in_two_packets() {
        check("data: Grüße, 世界 👋\n\n", &[("", "Grüße, 世界 👋")]);
    }

    #[test]
    fn takes_off_one_space_and_the_mark_at_the_beginning_only() {
        check(
            "\u{feff}data:  a\n\ndata: \u{feff}b\n\n",
            &[("", " a"), ("", "\u{feff}b")],
        );
    }

    #[test]
    fn hands_out_an_event_that_the_end_of_the_stream_closes() {
        check("data: a\n\ndata: [DONE]", &[("", "a"), ("", "[DONE]")]);
        check("data: a\n", &[("", "a")]);
        check("event: x\n", &[]);
    }
}
