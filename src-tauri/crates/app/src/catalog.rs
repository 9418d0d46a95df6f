//! What there is to choose from: checks and models.

use contract::AppError;
use contract::ports::check::CheckInfo;
use contract::secret::KeyInfo;
use futures::future::join_all;
use providers::info::KeyNeed;
use serde::Serialize;

use crate::accounts::{self, Found};
use crate::app::App;
use crate::commands::settings::Settings;
use crate::error::sentence;
use crate::roles::ENDPOINT_PROVIDER;
use crate::settings;

/// A model account, with the models that it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderModels {
    /// Its name, the part before the colon in `provider:model`.
    pub provider: String,
    /// The name of its kind, for people.
    pub title: String,
    /// Where its server is, if that is known.
    pub base_url: Option<String>,
    /// What may be shown of its key, and where the key is from.
    pub key: Option<KeyInfo>,
    /// The model that runs ask when their task names none.
    pub chosen: Option<String>,
    /// The models that the server lists.
    pub models: Vec<String>,
    /// Why there are none, in words.
    pub problem: Option<String>,
}

/// The checks that a criterion can name, in the order in which a composer offers them.
pub fn checks() -> Vec<CheckInfo> {
    checks::all().iter().map(|check| check.info()).collect()
}

impl App {
    /// The models of every account; with `url`, those of the server there and nothing else.
    pub async fn models(&self, url: Option<&str>) -> Result<Vec<ProviderModels>, AppError> {
        let settings = settings::read(&self.rooms.store).await?;
        let names = match url {
            Some(_) => vec![ENDPOINT_PROVIDER.to_owned()],
            None => accounts::names(&settings),
        };
        let found = names
            .iter()
            .filter_map(|name| accounts::find(&self.rooms, &settings, name));
        let listed = join_all(found.map(|found| self.list_models(found, &settings, url))).await;
        listed.into_iter().collect()
    }

    async fn list_models(
        &self,
        found: Found,
        settings: &Settings,
        url: Option<&str>,
    ) -> Result<ProviderModels, AppError> {
        let (name, info) = (&found.account.name, &found.kind.info);
        let mut listed = ProviderModels {
            provider: name.clone(),
            title: info.title.to_owned(),
            base_url: url.map(str::to_owned).or_else(|| found.base_url.clone()),
            key: self.rooms.keys.info(name.clone()).await?,
            chosen: chosen(name, settings, url),
            models: Vec::new(),
            problem: None,
        };
        let key = self.rooms.keys.find(name).await?;
        let Some(base_url) = listed.base_url.clone() else {
            listed.problem = Some("No server is set up; name one with --url URL.".to_owned());
            return Ok(listed);
        };
        if key.is_none() && info.key == KeyNeed::Required {
            let variables = info.environment.join(" or ");
            listed.problem = Some(format!("There is no key yet; add one in Settings, or set {variables}."));
            return Ok(listed);
        }
        let models = match accounts::open_at(&self.rooms, &found, &base_url, key) {
            Ok(server) => server.models().await,
            Err(error) => Err(error),
        };
        match models {
            Ok(models) => listed.models = models.into_iter().map(|model| model.id).collect(),
            Err(error) => listed.problem = Some(sentence(&error.message)),
        }
        Ok(listed)
    }
}

/// The model of an account that runs ask when their task names none.
fn chosen(account: &str, settings: &Settings, url: Option<&str>) -> Option<String> {
    if let Some((provider, model)) = settings.models.planner.as_ref().and_then(|model| model.split_once(':')) {
        return (provider == account).then(|| model.to_owned());
    }
    let endpoint = settings.endpoint.as_ref().filter(|_| account == ENDPOINT_PROVIDER)?;
    url.is_none_or(|url| url == endpoint.base_url)
        .then(|| endpoint.model.clone())
}
