//! What there is to choose from: checks and models.

use contract::AppError;
use contract::ports::check::CheckInfo;
use contract::ports::provider::LlmProvider;
use serde::Serialize;

use crate::app::App;
use crate::error::sentence;
use crate::roles::ENDPOINT_PROVIDER;
use crate::{model_server, settings};

/// A kind of provider, with the models that it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderModels {
    /// Its name, the part before the colon in `provider:model`.
    pub provider: String,
    /// Its name for people.
    pub title: String,
    /// Where its server is, if one is set up.
    pub base_url: Option<String>,
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
    /// The models of every provider. `url` is a server to ask in the place of the settings' one.
    pub async fn models(&self, url: Option<&str>) -> Result<Vec<ProviderModels>, AppError> {
        let saved = settings::read(&self.rooms.store).await?.endpoint;
        let mut listed = Vec::new();
        for info in providers::all() {
            let mut provider = ProviderModels {
                provider: info.name.to_owned(),
                title: info.title.to_owned(),
                base_url: None,
                chosen: None,
                models: Vec::new(),
                problem: None,
            };
            if info.name == ENDPOINT_PROVIDER {
                let chosen = saved
                    .as_ref()
                    .filter(|saved| url.is_none_or(|url| url == saved.base_url));
                provider.base_url = url
                    .map(str::to_owned)
                    .or_else(|| chosen.map(|saved| saved.base_url.clone()));
                provider.chosen = chosen.map(|saved| saved.model.clone());
            }
            match provider.base_url.clone() {
                None => provider.problem = Some("No server is set up; name one with --url URL.".to_owned()),
                Some(base_url) => self.list_models(&base_url, &mut provider).await?,
            }
            listed.push(provider);
        }
        Ok(listed)
    }

    async fn list_models(&self, base_url: &str, provider: &mut ProviderModels) -> Result<(), AppError> {
        let key = self.rooms.keys.find(&provider.provider).await?;
        let server = model_server::open(base_url, key, &self.rooms.clock)?;
        match server.models().await {
            Ok(models) => provider.models = models.into_iter().map(|model| model.id).collect(),
            Err(error) => provider.problem = Some(sentence(&error.message)),
        }
        Ok(())
    }
}
