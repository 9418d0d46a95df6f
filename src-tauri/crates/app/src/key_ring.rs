//! Where keys of model accounts are looked for: what a person put in until the app closes, then the system's keychain,
//! then the environment.
//!
//! Looking may block, for as long as a person needs to unlock their keychain; everything here runs off the runtime.

use std::sync::Arc;

use contract::AppError;
use contract::secret::{KeyInfo, KeySource, KeyStore, KeyStoreError};
use secrecy::{ExposeSecret, SecretString};
use secrets::environment;

use crate::error::{ToAppError, thread_ended};
use crate::{accounts, logging, searching};

/// Longer names and keys are mistakes.
const LONGEST: usize = 8 * 1024;

/// The stores of keys, in the order in which they are asked.
#[derive(Clone)]
pub(crate) struct KeyRing {
    /// Where keys are kept for good.
    pub(crate) lasting: Arc<dyn KeyStore>,
    /// Where they are until the app closes, when nothing else can keep them.
    pub(crate) session: Arc<dyn KeyStore>,
}

impl KeyRing {
    /// Keeps a key: for good if the system can, otherwise, or where a person wants it so, until the app closes. The
    /// reply says which.
    pub(crate) async fn set(
        &self,
        account: String,
        key: SecretString,
        at_ms: i64,
        until_close: bool,
    ) -> Result<KeyInfo, AppError> {
        let (account, key) = (account_name(account)?, usable(key)?);
        logging::hide(&key);
        self.blocking(move |ring| {
            let lasting = match until_close {
                true => Err(KeyStoreError::Unavailable(String::new())),
                false => ring.lasting.set(&account, &key, at_ms),
            };
            let kept = match lasting {
                Ok(()) => {
                    // Or it would still be asked first. Where nothing lasts, the two stores are one.
                    if !Arc::ptr_eq(&ring.session, &ring.lasting) {
                        ring.session.delete(&account)?;
                    }
                    &ring.lasting
                }
                Err(KeyStoreError::Unavailable(_)) => {
                    ring.session.set(&account, &key, at_ms)?;
                    &ring.session
                }
                Err(error) => return Err(error),
            };
            Ok(kept.info(&account)?.unwrap_or(KeyInfo {
                account,
                last4: None,
                added_at_ms: None,
                source: kept.source(),
            }))
        })
        .await
    }

    /// What may be shown about a key; none when there is none.
    pub(crate) async fn info(&self, account: String) -> Result<Option<KeyInfo>, AppError> {
        let account = account_name(account)?;
        self.blocking(move |ring| {
            // What a person put in for now is meant to be used, whatever the keychain has.
            if let Some(info) = ring.session.info(&account)? {
                return Ok(Some(info));
            }
            let lasting = ring.lasting.info(&account);
            if let Ok(Some(info)) = lasting {
                return Ok(Some(info));
            }
            if let Some(info) = environment::info(&account, variables(&account)) {
                return Ok(Some(info));
            }
            // A system without a keychain has no key; a locked one may have.
            match lasting {
                Err(KeyStoreError::Unavailable(_)) => Ok(None),
                other => other,
            }
        })
        .await
    }

    /// The key that signs requests to an account, and where it is from; none when there is none anywhere.
    pub(crate) async fn find(&self, account: &str) -> Result<Option<(SecretString, KeySource)>, AppError> {
        let account = account_name(account.to_owned())?;
        let found = self
            .blocking(move |ring| {
                if let Some(key) = ring.session.get(&account)? {
                    return Ok(Some((key, ring.session.source())));
                }
                let lasting = ring.lasting.get(&account);
                if let Ok(Some(key)) = lasting {
                    return Ok(Some((key, ring.lasting.source())));
                }
                match (ring.at_hand(&account)?, lasting) {
                    (Some(found), _) => Ok(Some(found)),
                    (None, Err(KeyStoreError::Unavailable(_)) | Ok(_)) => Ok(None),
                    (None, Err(error)) => Err(error),
                }
            })
            .await?;
        Ok(hidden(found))
    }

    /// The same without asking the keychain, which may be locked and wait for a person.
    pub(crate) async fn find_at_hand(&self, account: &str) -> Result<Option<(SecretString, KeySource)>, AppError> {
        let account = account_name(account.to_owned())?;
        let found = self.blocking(move |ring| ring.at_hand(&account)).await?;
        Ok(hidden(found))
    }

    /// The key in memory or in the environment.
    fn at_hand(&self, account: &str) -> Result<Option<(SecretString, KeySource)>, KeyStoreError> {
        if let Some(key) = self.session.get(account)? {
            return Ok(Some((key, self.session.source())));
        }
        let key = environment::key(variables(account));
        Ok(key.map(|key| (key, KeySource::Environment)))
    }

    /// Forgets a key wherever it was kept.
    pub(crate) async fn delete(&self, account: String) -> Result<(), AppError> {
        let account = account_name(account)?;
        self.blocking(move |ring| {
            // The log's copies go with the key; a store that does not hand it out deletes it all the same.
            let gone: Vec<SecretString> = [&ring.session, &ring.lasting]
                .into_iter()
                .filter_map(|store| store.get(&account).ok().flatten())
                .collect();
            ring.session.delete(&account)?;
            match ring.lasting.delete(&account) {
                Ok(()) | Err(KeyStoreError::Unavailable(_)) => {}
                other => return other,
            }
            gone.iter().for_each(logging::forget);
            Ok(())
        })
        .await
    }

    /// Why keys cannot be kept for good, in words; none when they can.
    pub(crate) async fn problem(&self) -> Option<String> {
        // An account that nobody has: looking for it opens no lock.
        let asked = self
            .blocking(|ring| ring.lasting.info("availability").map(|_| ()))
            .await;
        asked.err().map(|error| error.message)
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, AppError> {
        let ring = self.clone();
        let done = tokio::task::spawn_blocking(move || work(ring))
            .await
            .map_err(thread_ended)?;
        done.map_err(ToAppError::to_app_error)
    }
}

/// What was found, after the logs know what they must not show.
fn hidden(found: Option<(SecretString, KeySource)>) -> Option<(SecretString, KeySource)> {
    if let Some((key, _)) = &found {
        logging::hide(key);
    }
    found
}

/// The environment variables of an account, for terminals and servers without a keychain.
fn variables(account: &str) -> &'static [&'static str] {
    match account {
        searching::ACCOUNT => searching::ENVIRONMENT,
        _ => accounts::kind(account).map_or(&[], |kind| kind.info.environment),
    }
}

/// Whether this can be the name of an account: letters, digits, `_` and `-`, so that it can stand before a colon and be
/// the name of a key.
pub(crate) fn is_account_name(account: &str) -> bool {
    is_name(account) && !account.starts_with(OF_A_SERVER)
}

/// What the names begin with under which the values of MCP servers are kept; no account's may.
pub(crate) const OF_A_SERVER: &str = "mcp__";

fn is_name(account: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !account.is_empty() && account.len() <= 64 && account.bytes().all(is_plain)
}

/// Refuses what is no name of a model account, before anything is kept, looked for or sent under it.
pub(crate) fn must_be_account(account: &str) -> Result<(), AppError> {
    match is_account_name(account) {
        true => Ok(()),
        false => Err(no_account()),
    }
}

fn no_account() -> AppError {
    AppError::new("invalid_request", "this is not the name of a model account")
}

/// The name, or why it is none.
fn account_name(account: String) -> Result<String, AppError> {
    match is_name(&account) {
        true => Ok(account),
        false => Err(no_account()),
    }
}

/// A key as people paste it, without the white space around it.
fn usable(key: SecretString) -> Result<SecretString, AppError> {
    let text = key.expose_secret();
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(
            AppError::new("key_empty", "there is no key in the field").hint("Paste the key from your provider.")
        );
    }
    if trimmed.len() > LONGEST || trimmed.chars().any(char::is_control) {
        return Err(AppError::new("key_unusable", "this does not look like a key")
            .hint("Copy only the key itself: one line, without other words."));
    }
    if trimmed.len() == text.len() {
        Ok(key)
    } else {
        Ok(SecretString::from(trimmed))
    }
}
