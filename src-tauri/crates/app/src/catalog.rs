//! What there is to choose from: checks and models.

use contract::AppError;
use contract::llm::ModelInfo;
use contract::ports::check::CheckInfo;
use contract::secret::KeyInfo;
use futures::future::join_all;
use providers::info::KeyNeed;
use serde::Serialize;
use ts_rs::TS;

use crate::accounts::{self, Found};
use crate::app::App;
use crate::commands::settings::Settings;
use crate::error::sentence;
use crate::roles::ENDPOINT_PROVIDER;
use crate::{key_places, model_catalog, settings};

/// A model account, with the models that it offers here.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderModels {
    /// Its name, the part before the colon in `provider:model`.
    pub provider: String,
    /// The name of its kind, such as `anthropic`.
    pub kind: String,
    /// The name of its kind, for people.
    pub title: String,
    /// Where its server is, if that is known.
    pub base_url: Option<String>,
    /// What may be shown of its key, and where the key is from.
    pub key: Option<KeyInfo>,
    /// The model that runs ask when their task names none.
    pub chosen: Option<String>,
    /// The models that the server lists, with what else is known of them.
    pub models: Vec<ModelInfo>,
    /// The model to propose for each tier, from fast to advanced, of those that the server lists.
    pub recommended: Vec<String>,
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
        let mut listed = listed.into_iter().collect::<Result<Vec<ProviderModels>, AppError>>()?;
        for account in &listed {
            let base_url = account.base_url.as_deref().unwrap_or_default();
            model_catalog::remember(&self.rooms, &account.provider, base_url, &account.models).await?;
        }
        let catalog = model_catalog::read(&self.rooms).await?;
        for account in &mut listed {
            for model in &mut account.models {
                *model = catalog
                    .info(&format!("{}:{}", account.provider, model.id))
                    .or(model.clone());
            }
            account.recommended = catalog.recommended(account);
        }
        Ok(listed)
    }

    /// What was known of the models of every account when they were last listed; nobody is asked.
    pub async fn known_models(&self) -> Result<Vec<ProviderModels>, AppError> {
        let settings = settings::read(&self.rooms.store).await?;
        let catalog = model_catalog::read(&self.rooms).await?;
        let mut known = Vec::new();
        for name in accounts::names(&settings) {
            let Some(found) = accounts::find(&self.rooms, &settings, &name) else {
                continue;
            };
            let mut account = self.account(&found, &settings, None).await?;
            account.models = catalog.listed(&name);
            account.recommended = catalog.recommended(&account);
            known.push(account);
        }
        Ok(known)
    }

    /// What an account is, without its models.
    async fn account(&self, found: &Found, settings: &Settings, url: Option<&str>) -> Result<ProviderModels, AppError> {
        let name = &found.account.name;
        // A keychain that is locked keeps its own account's key to itself, and nobody else's models.
        let (key, problem) = match self.rooms.keys.info(name.clone()).await {
            Ok(key) => (key, None),
            Err(_) if found.kind.info.key != KeyNeed::Required => (None, None),
            Err(error) => (None, Some(sentence(&error.message))),
        };
        Ok(ProviderModels {
            provider: name.clone(),
            kind: found.account.kind.clone(),
            title: found.kind.info.title.to_owned(),
            base_url: url.map(str::to_owned).or_else(|| found.base_url.clone()),
            key,
            chosen: chosen(name, settings, url),
            models: Vec::new(),
            recommended: Vec::new(),
            problem,
        })
    }

    async fn list_models(
        &self,
        found: Found,
        settings: &Settings,
        url: Option<&str>,
    ) -> Result<ProviderModels, AppError> {
        let info = &found.kind.info;
        let mut listed = self.account(&found, settings, url).await?;
        let Some(base_url) = listed.base_url.clone() else {
            listed.problem = Some("No server is set up; name one with --url URL.".to_owned());
            return Ok(listed);
        };
        let signing = match key_places::signing(&self.rooms, &found, &base_url).await {
            Ok(signing) => signing,
            Err(error) => {
                listed.problem = Some(sentence(&error.message));
                return Ok(listed);
            }
        };
        let withheld = signing.withheld.map(|withheld| key_places::words(&withheld, &base_url));
        let key = signing.key;
        if let (None, Some(withheld)) = (&key, &withheld) {
            listed.problem = Some(withheld.clone());
        }
        if key.is_none() && listed.problem.is_some() && info.key == KeyNeed::Required {
            return Ok(listed);
        }
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
            Ok(models) => listed.models = models,
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
