//! Keys in environment variables: for terminals and servers without a keychain.
//!
//! Which variables belong to an account is the provider's to say. The variables are read each time,
//! so that nothing has to be kept.

use contract::secret::{KeyInfo, KeySource};
use secrecy::SecretString;

use crate::shown;

/// The key in the first of these variables that is set and not empty.
pub fn key(variables: &[&str]) -> Option<SecretString> {
    first(variables, |variable| std::env::var(variable).ok())
}

/// What may be shown about that key.
pub fn info(account: &str, variables: &[&str]) -> Option<KeyInfo> {
    key(variables).map(|key| shown::info(account, &key, None, KeySource::Environment))
}

fn first(variables: &[&str], read: impl Fn(&str) -> Option<String>) -> Option<SecretString> {
    variables.iter().find_map(|variable| {
        let value = SecretString::from(read(variable)?);
        let text = secrecy::ExposeSecret::expose_secret(&value).trim();
        (!text.is_empty()).then(|| SecretString::from(text))
    })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn check(set: &[(&str, &str)], expected: Option<&str>) {
        let read = |variable: &str| {
            let found = set.iter().find(|(name, _)| *name == variable);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = first(&["FIRST", "SECOND"], read);
        assert_eq!(found.as_ref().map(|key| key.expose_secret()), expected);
    }

    #[test]
    fn takes_the_first_variable_that_holds_something() {
        check(&[("FIRST", "a"), ("SECOND", "b")], Some("a"));
        check(&[("FIRST", " "), ("SECOND", " b\n")], Some("b"));
        check(&[("OTHER", "c")], None);
    }

    #[test]
    fn reads_the_real_environment_too() {
        // Cargo sets this one for every test.
        assert!(info("a", &["CARGO_PKG_NAME"]).is_some_and(|info| info.source == KeySource::Environment));
        assert!(key(&["TEPA_NO_SUCH_VARIABLE"]).is_none());
    }
}
