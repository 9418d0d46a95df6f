//! Settings: how the app looks, where runs stop, and which model they ask.

use std::collections::BTreeMap;

use contract::AppError;
use contract::access::{CommandGrant, Preset};
use contract::cost::Prices;
use contract::llm::ModelTier;
use contract::run::Fallbacks;
use contract::task::{Limits, TaskModels};
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
    /// Model accounts besides the one that each kind of provider has by itself, under the kind's own name; or that one
    /// at another address.
    pub accounts: Vec<Account>,
    /// Which model does what when a task does not say, each written `provider:model`.
    pub models: TaskModels,
    /// What is asked when a model does not answer; nothing where a person set nothing.
    #[serde(skip_serializing_if = "Fallbacks::is_empty")]
    #[ts(as = "Option<Fallbacks>", optional)]
    pub fallbacks: Fallbacks,
    /// What a person knows better about a model than its provider and the catalog, by `provider:model`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, ModelOverride>>", optional)]
    pub overrides: BTreeMap<String, ModelOverride>,
    /// What runs may do when nobody says otherwise.
    pub permissions: PermissionDefaults,
    /// The service that searches the web; none where nobody set one up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub search: Option<SearchService>,
}

/// A service that searches the web. Its key is kept like those of model accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchService {
    /// The kind, such as `searxng`.
    pub kind: String,
    /// Where it is; the kind's own address when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
}

/// What runs may do when nobody says otherwise: when a person is asked, and about commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionDefaults {
    /// When a person is asked.
    pub preset: Preset,
    /// Which commands may be run.
    pub commands: CommandGrant,
}

/// What a person knows better about a model; what is absent is as its provider or the catalog has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields = nullable)]
pub struct ModelOverride {
    /// How much it can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<ModelTier>,
    /// How many tokens it can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How many tokens it can answer with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether it calls tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
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

/// A model account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// What stands before the colon in `provider:model`; its key is kept under this name.
    pub name: String,
    /// The kind of provider, such as `anthropic`.
    pub kind: String,
    /// Where it is; the provider's own address when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
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
