//! Keys of model accounts: what may be known about one without ever showing it.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The keychain of the operating system.
    Keychain,
    /// Memory, until the app closes.
    Session,
    /// An environment variable of the app.
    Environment,
}

/// All that the window may know about a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyInfo {
    /// The account it belongs to, such as `openai_compatible`.
    pub account: String,
    /// Its last four characters, for keys long enough that these give nothing away.
    pub last4: Option<String>,
    /// When it was stored, if that is known.
    pub added_at_ms: Option<i64>,
    /// Where it is.
    pub source: KeySource,
}

/// Why a key could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyStoreError {
    /// There is no keychain on this system, or it does not answer.
    #[error("the system's keychain is not available: {0}")]
    Unavailable(String),
    /// The keychain is locked, or refused.
    #[error("the system's keychain is locked: {0}")]
    Locked(String),
    /// Anything else that the store said.
    #[error("the system's keychain answered: {0}")]
    Failed(String),
}

/// A place for keys. Implementations may block; callers keep them off the runtime.
pub trait KeyStore: Send + Sync {
    /// Where keys stored here are.
    fn source(&self) -> KeySource;
    /// Stores or replaces the key of an account.
    fn set(&self, account: &str, key: &SecretString, at_ms: i64) -> Result<(), KeyStoreError>;
    /// The key of an account, for the provider that signs a request with it.
    fn get(&self, account: &str) -> Result<Option<SecretString>, KeyStoreError>;
    /// What may be shown about the key of an account.
    fn info(&self, account: &str) -> Result<Option<KeyInfo>, KeyStoreError>;
    /// Forgets the key of an account; nothing stored is fine.
    fn delete(&self, account: &str) -> Result<(), KeyStoreError>;
}
