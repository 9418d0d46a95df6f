//! Model servers: does this one answer?

use contract::AppError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::model_server;
use crate::roles::ENDPOINT_PROVIDER;

/// A server to try, before or after its address is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestProvider {
    /// Where the server is.
    pub base_url: String,
    /// The model to ask for.
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
    let key = if request.use_stored_key {
        app.rooms.keys.find(ENDPOINT_PROVIDER).await?
    } else {
        None
    };
    Ok(model_server::try_out(&request.base_url, &request.model, key, &app.rooms.clock).await)
}
