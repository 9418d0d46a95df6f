//! Model servers: does this one answer?

use contract::AppError;
use contract::llm::Remedy;
use providers::info::{KeyNeed, UsualAddress};
use providers::local::{self, FoundServer};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::catalog::ProviderModels;
use crate::key_places::{self, Signing};
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
    /// What helps, when it did not answer and something is known to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remedy: Option<Remedy>,
    /// What is missing for runs although it answers, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub lacks: Option<String>,
    /// Whether what is missing can be set up here: an Ollama model that reads too little.
    #[serde(default)]
    pub can_widen: bool,
    /// Whether what is missing is tool calls, where a person may know better than one trial.
    #[serde(default)]
    pub calls_no_tools: bool,
}

/// Whose models to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ListModels {
    /// Whether to ask the servers; otherwise what they said last is told.
    pub refresh: bool,
}

/// The models of every account.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// The accounts, those of each kind's own first.
    pub accounts: Vec<ProviderModels>,
}

/// Lists the models of every account.
pub async fn list(app: &App, request: ListModels) -> Result<ModelList, AppError> {
    let accounts = match request.refresh {
        true => app.models(None).await?,
        false => app.known_models().await?,
    };
    Ok(ModelList { accounts })
}

/// Tries a server.
pub async fn test(app: &App, request: TestProvider) -> Result<ProviderTest, AppError> {
    let name = request.provider.as_deref().unwrap_or(ENDPOINT_PROVIDER);
    let settings = settings::read(&app.rooms.store).await?;
    let found = accounts::find(&app.rooms, &settings, name).ok_or_else(|| accounts::unknown(name))?;
    let known = found.base_url.clone().filter(|_| request.provider.is_some());
    let base_url = Some(request.base_url).filter(|url| !url.trim().is_empty()).or(known);
    let base_url = base_url.unwrap_or_default();
    let signing = match request.use_stored_key {
        true => key_places::signing(&app.rooms, &found, &base_url).await?,
        false => Signing::default(),
    };
    if signing.key.is_none() && signing.withheld.is_none() && found.kind.info.key == KeyNeed::Required {
        return Err(accounts::no_key(&found.kind.info));
    }
    let mut tested = model_server::try_out(&app.rooms, &found, &base_url, &request.model, signing.key).await;
    if let Some(withheld) = signing.withheld {
        tested.message = format!("{} {}", tested.message, key_places::words(&withheld, &base_url));
        if !tested.ok {
            tested.remedy = Some(Remedy::Key);
        }
    }
    Ok(tested)
}

/// The servers that were found on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundServers {
    /// Those that answer at their usual addresses.
    pub servers: Vec<FoundServer>,
}

/// Looks for model servers on this machine. No key is sent.
pub async fn find(app: &App, (): ()) -> Result<FoundServers, AppError> {
    let usual: Vec<UsualAddress> = providers::all()
        .into_iter()
        .flat_map(|kind| kind.info.usual_addresses)
        .copied()
        .collect();
    Ok(FoundServers {
        servers: local::find(&usual, &app.rooms.clock).await,
    })
}

/// A model of an Ollama that should read more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WidenModel {
    /// Where the Ollama is.
    pub base_url: String,
    /// The model.
    pub model: String,
}

/// A model that reads more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WideModel {
    /// Its name.
    pub model: String,
    /// How many tokens it reads.
    pub context_window: u64,
}

/// Sets a copy of an Ollama model up that reads enough.
pub async fn widen(app: &App, request: WidenModel) -> Result<WideModel, AppError> {
    let context_window = local::GOOD_CONTEXT;
    let model = local::widen(&request.base_url, &request.model, context_window, &app.rooms.clock)
        .await
        .map_err(accounts::in_words)?;
    Ok(WideModel { model, context_window })
}
