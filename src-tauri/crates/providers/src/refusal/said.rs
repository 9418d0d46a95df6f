//! What stands in the body of an error, whichever server wrote it.

use serde_json::Value;

/// What a server put into the body of an error.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) codes: Vec<String>,
    pub(super) param: Option<String>,
    pub(super) tokens: Option<(u64, u64)>,
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
        message,
        codes: codes.into_iter().flatten().collect(),
        param: text("param"),
        wait_ms: detail("retryDelay").and_then(|delay| milliseconds(&delay)),
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

/// How many tokens were asked for and how many fit, from the words of servers that put both there and nothing else.
fn too_many(message: &str) -> Option<(u64, u64)> {
    match numbers(message)[..] {
        [one, other] => Some((one.max(other), one.min(other))),
        // Anthropic adds up what is read and what may be written.
        [read, written, fit] if message.contains(" + ") => Some((read.saturating_add(written), fit)),
        _ => None,
    }
}

/// A wait such as `34s` or `1.5s`.
fn milliseconds(delay: &str) -> Option<u64> {
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let wait = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_millis()).ok()
}
