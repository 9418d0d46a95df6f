//! What may be shown about a key.

use contract::secret::{KeyInfo, KeySource};
use secrecy::{ExposeSecret, SecretString};

/// In shorter keys the last four characters would be too much of the whole.
const SHORTEST_WITH_END: usize = 12;
const END: usize = 4;

/// Describes a key without giving it away.
pub fn info(account: &str, key: &SecretString, added_at_ms: Option<i64>, source: KeySource) -> KeyInfo {
    KeyInfo {
        account: account.to_owned(),
        last4: last4(key),
        added_at_ms,
        source,
    }
}

fn last4(key: &SecretString) -> Option<String> {
    let characters = key.expose_secret().chars();
    let count = characters.clone().count();
    (count >= SHORTEST_WITH_END).then(|| characters.skip(count - END).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expected: Option<&str>) {
        assert_eq!(last4(&SecretString::from(key)).as_deref(), expected);
    }

    #[test]
    fn shows_the_end_of_long_keys_only() {
        check("sk-123456789", Some("6789"));
        check("sk-12345678", None);
        check("", None);
    }

    #[test]
    fn counts_characters_and_not_bytes() {
        check("üüüüüüüü", None);
        check("üüüüüüüüüüüü", Some("üüüü"));
    }
}
