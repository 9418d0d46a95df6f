//! Settings: how the app looks, where runs stop, and which model they ask.

use contract::AppError;
use contract::cost::Prices;
use contract::task::Limits;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::settings;

/// Everything that can be set, except keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Light, dark, or as the system has it.
    pub theme: Theme,
    /// Where a run stops when its task does not say.
    pub limits: Limits,
    /// The model that runs ask when their task names none.
    pub endpoint: Option<Endpoint>,
    /// What models cost, as a person typed it in.
    pub prices: Prices,
}

/// How the app looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// A model behind a chat-completions server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Where the server is, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
}

/// The settings as they were last kept.
pub async fn get(app: &App, (): ()) -> Result<Settings, AppError> {
    settings::read(&app.rooms.store).await
}

/// Keeps settings, and returns them as they were kept.
pub async fn set(app: &App, request: Settings) -> Result<Settings, AppError> {
    settings::write(&app.rooms.store, request).await
}
