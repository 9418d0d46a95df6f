//! Keys of model accounts. They go in; only what may be shown comes out.

use contract::AppError;
use contract::secret::KeyInfo;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::key_ring::must_be_account;
use crate::{accounts, key_places, settings};

/// A key to keep.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetKey {
    /// The account it belongs to, such as `openai_compatible`.
    pub account: String,
    /// The key itself.
    #[ts(type = "string")]
    pub key: SecretString,
    /// The server that it is for, where that is not the one in the settings; it is sent nowhere else.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub base_url: Option<String>,
    /// Whether a person agreed that it goes to that server without encryption, where the address says so.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub plain: Option<bool>,
    /// Whether it is kept only until the app closes, where a person wants that or the keychain is locked.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub until_close: Option<bool>,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyAccount {
    /// Its name, such as `openai_compatible`.
    pub account: String,
}

/// Keeps a key, and says where it was kept.
pub async fn set(app: &App, request: SetKey) -> Result<KeyInfo, AppError> {
    must_be_account(&request.account)?;
    let now = app.rooms.clock.now_ms();
    let settings = settings::read(&app.rooms.store).await?;
    let known = accounts::address(&settings, app.rooms.endpoint.as_ref(), &request.account);
    let base_url = request.base_url.filter(|url| !url.trim().is_empty()).or(known);
    if base_url.as_deref().is_some_and(key_places::is_plain) && request.plain != Some(true) {
        let message = "this address begins with http://, so that the key would travel without encryption";
        return Err(AppError::new("key_plain", message)
            .hint("Write https:// if the server has it, or agree that others on the way can read the key."));
    }
    let placing = key_places::begin(&app.rooms, &request.account, base_url.as_deref()).await?;
    let until_close = request.until_close == Some(true);
    let kept = app.rooms.keys.set(request.account, request.key, now, until_close).await;
    placing.end(&app.rooms, kept.is_ok()).await?;
    kept
}

/// What may be shown about a key.
pub async fn info(app: &App, request: KeyAccount) -> Result<Option<KeyInfo>, AppError> {
    must_be_account(&request.account)?;
    app.rooms.keys.info(request.account).await
}

/// Forgets a key.
pub async fn delete(app: &App, request: KeyAccount) -> Result<(), AppError> {
    must_be_account(&request.account)?;
    app.rooms.keys.delete(request.account.clone()).await?;
    key_places::forget(&app.rooms, &request.account).await
}
