//! The keychain of the system: Secret Service on Linux, Keychain on macOS, Credential Manager on
//! Windows.
//!
//! The connection is made when it is first needed and made again after it failed, so that a person
//! can start or unlock their keyring while the app is open. `keyring` itself would keep the first
//! failure until the app is started again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::secret::{KeyInfo, KeySource, KeyStore, KeyStoreError};
use keyring_core::api::CredentialStore;
use keyring_core::{Entry, Error};
use secrecy::{ExposeSecret, SecretString};

use crate::shown::info;

/// The name under which the system shows our entries.
pub const SERVICE: &str = "dev.tepa.desktop";
/// The attribute of an entry that says when it was added; Windows has no other place for it.
const ADDED_AT: &str = if cfg!(windows) { "comment" } else { "added_at_ms" };
const INSTEAD: &str = "or keep the key until the app closes";

/// The system's keychain.
#[derive(Debug, Default)]
pub struct Keychain(Mutex<Option<Arc<CredentialStore>>>);

impl Keychain {
    /// Works on one account's entry; a connection that broke is not used again.
    fn with_entry<T>(
        &self,
        account: &str,
        work: impl FnOnce(&Entry) -> Result<T, Error>,
    ) -> Result<Option<T>, KeyStoreError> {
        let store = self.store()?;
        let done = store.build(SERVICE, account, None).and_then(|entry| work(&entry));
        match done {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => {
                if matches!(error, Error::PlatformFailure(_)) {
                    *self.connection() = None;
                }
                Err(in_words(&error))
            }
        }
    }

    fn store(&self) -> Result<Arc<CredentialStore>, KeyStoreError> {
        if let Some(store) = &*self.connection() {
            return Ok(Arc::clone(store));
        }
        // Not under the lock: connecting can take as long as a person needs to answer.
        let store = platform_store().map_err(|error| unavailable(&error))?;
        *self.connection() = Some(Arc::clone(&store));
        Ok(store)
    }

    fn connection(&self) -> MutexGuard<'_, Option<Arc<CredentialStore>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyStore for Keychain {
    fn source(&self) -> KeySource {
        KeySource::Keychain
    }

    fn set(&self, account: &str, key: &SecretString, at_ms: i64) -> Result<(), KeyStoreError> {
        let kept = self.with_entry(account, |entry| {
            entry.set_password(key.expose_secret())?;
            // Where entries have no attributes, the date stays unknown: the key is what matters.
            let _ = entry.update_attributes(&HashMap::from([(ADDED_AT, at_ms.to_string().as_str())]));
            Ok(())
        })?;
        kept.ok_or_else(|| KeyStoreError::Failed("the entry vanished while it was written; try again".to_owned()))
    }

    fn get(&self, account: &str) -> Result<Option<SecretString>, KeyStoreError> {
        self.with_entry(account, |entry| entry.get_password().map(SecretString::from))
    }

    fn info(&self, account: &str) -> Result<Option<KeyInfo>, KeyStoreError> {
        self.with_entry(account, |entry| {
            let key = SecretString::from(entry.get_password()?);
            let attributes = entry.get_attributes().unwrap_or_default();
            let added_at_ms = attributes.get(ADDED_AT).and_then(|text| text.parse().ok());
            Ok(info(account, &key, added_at_ms, KeySource::Keychain))
        })
    }

    fn delete(&self, account: &str) -> Result<(), KeyStoreError> {
        self.with_entry(account, Entry::delete_credential).map(|_| ())
    }
}

#[cfg(target_os = "linux")]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn platform_store() -> Result<Arc<CredentialStore>, Error> {
    Err(Error::NotSupportedByStore(
        "this system has no keychain that the app knows".to_owned(),
    ))
}

/// Why there is no connection, and what to do.
fn unavailable(error: &Error) -> KeyStoreError {
    let what = if !cfg!(target_os = "linux") {
        format!("{error}; try again, {INSTEAD}")
    } else if is_io(error) {
        format!("there is no D-Bus session, through which keyrings are reached; log in to a desktop, {INSTEAD}")
    } else {
        format!(
            "no keyring program is running; start one, such as GNOME Keyring, KWallet or KeePassXC, and try again, {INSTEAD}"
        )
    };
    KeyStoreError::Unavailable(what)
}

/// What the store said about one entry, and what to do. Never repeats what is stored.
fn in_words(error: &Error) -> KeyStoreError {
    let again = format!("unlock it and try again, {INSTEAD}");
    match error {
        Error::NoStorageAccess(_) => KeyStoreError::Locked(again),
        Error::PlatformFailure(_) if cfg!(target_os = "linux") => KeyStoreError::Unavailable(format!(
            "it stopped answering ({error}); start it and try again, {INSTEAD}"
        )),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            KeyStoreError::Failed("what is stored there is no key; remove it and enter the key again".to_owned())
        }
        Error::Ambiguous(_) => KeyStoreError::Failed(format!(
            "there are several entries for this account; remove those of {SERVICE} in your keyring program and enter the key again"
        )),
        Error::TooLong(..) => KeyStoreError::Failed("the key is longer than it can keep".to_owned()),
        // The list is open: later versions may know more.
        other => KeyStoreError::Failed(other.to_string()),
    }
}

/// Whether the connection itself could not be opened.
fn is_io(error: &Error) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(first), |cause| cause.source());
    causes.any(|cause| cause.is::<std::io::Error>() || cause.is::<Arc<std::io::Error>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> Box<dyn std::error::Error + Send + Sync> {
        text.into()
    }

    #[test]
    fn a_locked_keychain_is_told_from_one_that_fails() {
        assert!(matches!(
            in_words(&Error::NoStorageAccess(platform("x"))),
            KeyStoreError::Locked(_)
        ));
        let failed = in_words(&Error::TooLong("key".to_owned(), 9));
        assert_eq!(
            failed.to_string(),
            "the system's keychain answered: the key is longer than it can keep"
        );
    }

    #[test]
    fn an_error_never_repeats_what_is_stored() {
        for error in [
            Error::BadEncoding(b"sk-canary".to_vec()),
            Error::BadDataFormat(b"sk-canary".to_vec(), platform("sk-canary")),
        ] {
            let words = in_words(&error);
            assert!(!format!("{words} {words:?}").contains("canary"));
        }
    }
}
