//! Model servers: does this one answer?

use contract::AppError;
use providers::info::KeyNeed;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::roles::ENDPOINT_PROVIDER;
use crate::{accounts, model_server, settings};

/// A server to try, before or after its address is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestProvider {
    /// The account to try; when absent, the chat-completions server at `base_url`.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub provider: Option<String>,
    /// Where the server is; where the account's is when empty.
    pub base_url: String,
    /// The model to ask for. Where a provider has an address of its own, none is needed: its models are listed.
    pub model: String,
    /// Whether to send the stored key along (default true).
    #[serde(default = "yes")]
    #[ts(as = "Option<bool>", optional)]
    pub use_stored_key: bool,
}

fn yes() -> bool {
    true
}

/// What came of trying a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// Whether it answered as it should.
    pub ok: bool,
    /// What happened, in words.
    pub message: String,
    /// The models it offers, when it says.
    pub models: Vec<String>,
}

/// Tries a server.
pub async fn test(app: &App, request: TestProvider) -> Result<ProviderTest, AppError> {
    let name = request.provider.as_deref().unwrap_or(ENDPOINT_PROVIDER);
    let settings = settings::read(&app.rooms.store).await?;
    let found = accounts::find(&app.rooms, &settings, name).ok_or_else(|| accounts::unknown(name))?;
    let key = if request.use_stored_key {
        app.rooms.keys.find(name).await?
    } else {
        None
    };
    if key.is_none() && found.kind.info.key == KeyNeed::Required {
        return Err(accounts::no_key(&found.kind.info));
    }
    let known = found.base_url.clone().filter(|_| request.provider.is_some());
    let base_url = Some(request.base_url).filter(|url| !url.trim().is_empty()).or(known);
    let base_url = base_url.unwrap_or_default();
    Ok(model_server::try_out(&app.rooms, &found, &base_url, &request.model, key).await)
}
