//! What stands in the body of an error, whichever server wrote it.

use serde_json::Value;

/// How long a body may be that is the server's words as they are.
const LONGEST_WORDS: usize = 1_000;

/// What a server put into the body of an error.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) codes: Vec<String>,
    pub(super) param: Option<String>,
    /// How many tokens were asked for, and how many the model reads.
    pub(super) tokens: Option<(u64, u64)>,
    /// How many tokens were asked for, and how many the account may send in a minute, where that is less.
    pub(super) per_minute: Option<(u64, u64)>,
    /// Whether it is a page, which a proxy or a gateway wrote.
    pub(super) is_page: bool,
    /// Whether it is plain words.
    pub(super) is_text: bool,
    pub(super) wait_ms: Option<u64>,
}

/// Reads the body of an error.
pub(super) fn said(value: &Value) -> Said {
    // Gemini's errors may come as the only part of a list.
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let words = ["message", "detail", "error", "msg"]
        .iter()
        .find_map(|name| error.get(name));
    let message = match error.as_str().or_else(|| words.and_then(Value::as_str)) {
        Some(text) => text.to_owned(),
        None => words.map(ToString::to_string).unwrap_or_default(),
    };
    let text = |name: &str| match error.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let count = |name: &str| error.get(name).and_then(Value::as_u64);
    // Gemini tells more in a list of its own.
    let details = error.get("details").and_then(Value::as_array);
    let detail = |name: &str| {
        let mut texts = details
            .into_iter()
            .flatten()
            .filter_map(|detail| detail.get(name)?.as_str());
        texts.next().map(ToOwned::to_owned)
    };
    // The most telling first.
    let codes = [detail("reason"), text("code"), text("type"), text("status")];
    Said {
        tokens: count("n_prompt_tokens")
            .zip(count("n_ctx"))
            .or_else(|| too_many(&message)),
        per_minute: per_minute(&message),
        is_page: false,
        is_text: false,
        message,
        codes: codes.into_iter().flatten().collect(),
        param: text("param"),
        wait_ms: detail("retryDelay").and_then(|delay| milliseconds(&delay)),
    }
}

/// A body that is no JSON: short words are its message, and a page is known by what it begins with.
pub(super) fn said_in_words(body: &[u8], is_page: bool) -> Said {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    let is_words = text.len() <= LONGEST_WORDS && !text.starts_with(['{', '[']) && !text.contains(is_control);
    Said {
        message: if is_page || is_words {
            text.to_owned()
        } else {
            String::new()
        },
        is_page,
        is_text: is_words && !is_page && !text.is_empty(),
        ..Said::default()
    }
}

/// The whole numbers of a text that may count tokens.
pub(super) fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| word.len() > 2)
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// How many tokens were asked for and how many fit.
fn too_many(message: &str) -> Option<(u64, u64)> {
    let lower = message.to_lowercase();
    // OpenAI, vLLM, OpenRouter: more numbers follow, of which these are the sum.
    let room = after(&lower, &["maximum context length is", "context length is only"]);
    let asked = after(&lower, &["requested", "resulted in", "request has", "you passed"]);
    if let Some((asked, room)) = asked.zip(room) {
        return (asked > room).then_some((asked, room));
    }
    // Where both are there and nothing else.
    match numbers(message)[..] {
        [one, other] => Some((one.max(other), one.min(other))),
        // Anthropic adds up what is read and what may be written.
        [read, written, fit] if message.contains(" + ") => Some((read.saturating_add(written), fit)),
        _ => None,
    }
}

/// How many tokens were asked for and how many the account may send in a minute, where one request is too large: OpenAI, Groq.
fn per_minute(message: &str) -> Option<(u64, u64)> {
    let lower = message.to_lowercase();
    let both = after(&lower, &["requested"]).zip(after(&lower, &["limit"]));
    both.filter(|(asked, room)| lower.contains("tokens per min") && asked > room)
}

/// The number right after one of these words, which may say "about".
fn after(text: &str, words: &[&str]) -> Option<u64> {
    words.iter().find_map(|words| {
        let rests = text
            .match_indices(words)
            .map(|(place, _)| text.get(place + words.len()..));
        rests.flatten().find_map(number)
    })
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(':').trim_start();
    let text = text.strip_prefix("about").map_or(text, str::trim_start);
    let is_part = |c: &char| c.is_ascii_digit() || *c == ',';
    let digits: String = text.chars().take_while(is_part).filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A wait such as `34s` or `1.5s`.
fn milliseconds(delay: &str) -> Option<u64> {
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let wait = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_millis()).ok()
}
