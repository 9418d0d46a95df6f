//! Takes a key out of a text that a server wrote: some servers repeat the key that they refuse.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

/// What stands in the place of a key.
pub(crate) const REMOVED: &str = "[key removed]";
/// Shorter ones, such as `ollama`, are no secrets, and taking them out would garble the text.
const SHORTEST_SECRET: usize = 8;

/// The text without the key, in any of the forms that servers repeat one in.
pub fn without_key(text: &str, key: Option<&SecretString>) -> String {
    Forms::of(key).without(text)
}

/// A key as it is, as JSON or a URL writes it, in base64, in hexadecimal and backwards; in lower case.
pub(crate) struct Forms(Vec<SecretString>);

impl Forms {
    /// The forms of this key; none of what is no secret.
    pub(crate) fn of(key: Option<&SecretString>) -> Self {
        let key = key.map(|key| key.expose_secret().trim());
        let forms = key.filter(|key| key.len() >= SHORTEST_SECRET).map(forms);
        let lower = |form: String| SecretString::from(form.to_ascii_lowercase());
        Self(forms.into_iter().flatten().map(lower).collect())
    }

    /// Whether there is nothing to take out.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without any of them.
    pub(crate) fn without(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, form| {
            replace_ignoring_case(&text, form.expose_secret())
        })
    }

    /// How many bytes at the end of the text may be the beginning of one of them.
    pub(crate) fn begun(&self, text: &str) -> usize {
        let text = text.as_bytes();
        let begun = |form: &SecretString| {
            let form = form.expose_secret().as_bytes();
            let ends = |length: &usize| text[text.len() - length..].eq_ignore_ascii_case(&form[..*length]);
            (1..form.len().min(text.len() + 1)).rev().find(ends).unwrap_or(0)
        };
        self.0.iter().map(begun).max().unwrap_or(0)
    }
}

fn forms(key: &str) -> Vec<String> {
    let json = serde_json::Value::from(key).to_string();
    let mut forms = vec![
        key.to_owned(),
        json.trim_matches('"').to_owned(),
        percent_encoded(key),
        key.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        key.bytes().map(|byte| format!("{byte:02x}")).collect(),
        key.chars().map(|sign| format!("\\u{:04x}", u32::from(sign))).collect(),
        key.chars().rev().collect(),
    ];
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(key.as_bytes());
        // The first and last characters of base64 mix in the neighbours of the key.
        let inner = |encoded: String| {
            encoded
                .get(offset + 1..encoded.len() - 2)
                .unwrap_or_default()
                .to_owned()
        };
        forms.push(inner(STANDARD_NO_PAD.encode(&bytes)));
        forms.push(inner(URL_SAFE_NO_PAD.encode(&bytes)));
    }
    forms.retain(|form| form.len() >= SHORTEST_SECRET);
    forms
}

fn percent_encoded(key: &str) -> String {
    key.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn replace_ignoring_case(text: &str, form: &str) -> String {
    // ASCII case only, so that places in the lower-cased text are places in the text.
    let lower = text.to_ascii_lowercase();
    if !lower.contains(form) {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (place, _) in lower.match_indices(form) {
        kept.push_str(&text[from..place]);
        kept.push_str(REMOVED);
        from = place + form.len();
    }
    kept.push_str(&text[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    use super::*;

    const CANARY: &str = "sk-canary/+\"ü=4f9c1b7e";

    fn check(text: &str) {
        let key = SecretString::from(CANARY);
        let cleaned = without_key(&format!("before {text} after"), Some(&key));
        assert!(cleaned.contains(REMOVED), "{cleaned}");
        assert!(
            cleaned.starts_with("before ") && cleaned.ends_with(" after"),
            "{cleaned}"
        );
        // What may be left of base64 are the characters at its edges.
        assert!(cleaned.len() < "before  after".len() + REMOVED.len() + 24, "{cleaned}");
    }

    #[test]
    fn takes_the_key_out_in_every_form() {
        check(CANARY);
        check(&CANARY.to_ascii_uppercase());
        check(&serde_json::Value::from(CANARY).to_string());
        check(&percent_encoded(CANARY));
        check(&CANARY.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>());
        check(&CANARY.bytes().map(|byte| format!("{byte:02X}")).collect::<String>());
        check(&CANARY.chars().rev().collect::<String>());
        for before in ["", "x", "Bearer ", "xy"] {
            check(&STANDARD.encode(format!("{before}{CANARY}")));
            check(&URL_SAFE.encode(format!("{before}{CANARY}")));
        }
    }

    #[test]
    fn leaves_the_text_alone_where_there_is_no_secret() {
        let text = "the model ollama is busy";
        assert_eq!(without_key(text, None), text);
        assert_eq!(without_key(text, Some(&SecretString::from("ollama"))), text);
    }
}
