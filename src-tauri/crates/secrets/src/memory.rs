//! Keys that are forgotten when the app closes: for systems without a keychain, and for tests.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::secret::{KeyInfo, KeySource, KeyStore, KeyStoreError};
use secrecy::SecretString;

use crate::shown::info;

/// A store in memory; keys are overwritten with zeros when they are dropped.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<HashMap<String, Kept>>);

#[derive(Debug)]
struct Kept {
    key: SecretString,
    at_ms: i64,
}

impl MemoryStore {
    fn keys(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyStore for MemoryStore {
    fn source(&self) -> KeySource {
        KeySource::Session
    }

    fn set(&self, account: &str, key: &SecretString, at_ms: i64) -> Result<(), KeyStoreError> {
        let key = key.clone();
        self.keys().insert(account.to_owned(), Kept { key, at_ms });
        Ok(())
    }

    fn get(&self, account: &str) -> Result<Option<SecretString>, KeyStoreError> {
        Ok(self.keys().get(account).map(|kept| kept.key.clone()))
    }

    fn info(&self, account: &str) -> Result<Option<KeyInfo>, KeyStoreError> {
        let keys = self.keys();
        let kept = keys.get(account);
        Ok(kept.map(|kept| info(account, &kept.key, Some(kept.at_ms), KeySource::Session)))
    }

    fn delete(&self, account: &str) -> Result<(), KeyStoreError> {
        self.keys().remove(account);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn key(store: &MemoryStore, account: &str) -> Option<String> {
        store.get(account).unwrap().map(|key| key.expose_secret().to_owned())
    }

    #[test]
    fn keeps_replaces_and_forgets_one_key_per_account() {
        let store = MemoryStore::default();
        assert_eq!(key(&store, "a"), None);
        store.set("a", &"first".into(), 1).unwrap();
        store.set("b", &"other".into(), 2).unwrap();
        store.set("a", &"second".into(), 3).unwrap();
        assert_eq!(key(&store, "a").as_deref(), Some("second"));
        store.delete("a").unwrap();
        store.delete("a").unwrap();
        assert_eq!((key(&store, "a"), key(&store, "b").as_deref()), (None, Some("other")));
    }

    #[test]
    fn tells_what_may_be_shown() {
        let store = MemoryStore::default();
        store.set("a", &"sk-1234567890".into(), 7).unwrap();
        let expected = KeyInfo {
            account: "a".to_owned(),
            last4: Some("7890".to_owned()),
            added_at_ms: Some(7),
            source: KeySource::Session,
        };
        assert_eq!(store.info("a").unwrap(), Some(expected));
        assert_eq!(store.info("b").unwrap(), None);
    }

    #[test]
    fn printing_the_store_shows_no_key() {
        let store = MemoryStore::default();
        store.set("a", &"sk-canary".into(), 7).unwrap();
        assert!(!format!("{store:?}").contains("canary"));
    }
}
