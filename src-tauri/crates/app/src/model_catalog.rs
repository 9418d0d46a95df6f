//! What is known of each model, put together from four places: what a person typed in wins over what the model was found to
//! be able to do, that over what the provider said when it last listed its models, and that over the catalog that ships (models page, "One trait"). The one place where a
//! model's price is decided.

use std::collections::BTreeMap;

use contract::AppError;
use contract::cost::{Price, Prices};
use contract::dates;
use contract::llm::ModelInfo;
use serde::{Deserialize, Serialize};

use crate::accounts;
use crate::app::Rooms;
use crate::catalog::ProviderModels;
use crate::commands::settings::{Endpoint, ModelOverride, Settings};
use crate::error::{ToAppError, internal};
use crate::settings;

/// The name under which the lists are kept.
const NAME: &str = "listed_models";
/// The name under which is kept what models were found to be able to do.
const PROBED: &str = "probed_models";
/// Prices that nobody typed in are in this currency, as providers publish them.
const CURRENCY: &str = "USD";

/// What an account's provider said when it last listed its models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    /// Where it was asked: another server's models are not these.
    base_url: String,
    /// When.
    at_ms: i64,
    models: Vec<ModelInfo>,
}

/// Everything that is known of models.
pub(crate) struct ModelCatalog {
    settings: Settings,
    /// The server of this process only, in the place of the settings' one.
    instead: Option<Endpoint>,
    listed: BTreeMap<String, Listed>,
    /// What models were found to be able to do; one list for each account, as those.
    probed: BTreeMap<String, Listed>,
    /// The day, as in `2026-11-21`: prices change.
    today: String,
}

/// The catalog as it stands.
pub(crate) async fn read(rooms: &Rooms) -> Result<ModelCatalog, AppError> {
    Ok(ModelCatalog {
        settings: settings::read(&rooms.store).await?,
        instead: rooms.endpoint.clone(),
        listed: kept(rooms, NAME).await?,
        probed: kept(rooms, PROBED).await?,
        today: dates::day(rooms.clock.now_ms()),
    })
}

/// Remembers what a provider listed.
pub(crate) async fn remember(
    rooms: &Rooms,
    account: &str,
    base_url: &str,
    models: &[ModelInfo],
) -> Result<(), AppError> {
    if models.is_empty() {
        return Ok(());
    }
    keep(rooms, NAME, account, base_url, models.to_vec()).await
}

/// Remembers what a model was found to be able to do.
pub(crate) async fn remember_probe(
    rooms: &Rooms,
    account: &str,
    base_url: &str,
    model: ModelInfo,
) -> Result<(), AppError> {
    let before = kept(rooms, PROBED).await?.remove(account);
    let before = before.filter(|probed| probed.base_url == base_url.trim());
    let mut models = before.map(|probed| probed.models).unwrap_or_default();
    models.retain(|probed| probed.id != model.id);
    models.push(model);
    keep(rooms, PROBED, account, base_url, models).await
}

async fn keep(
    rooms: &Rooms,
    name: &str,
    account: &str,
    base_url: &str,
    models: Vec<ModelInfo>,
) -> Result<(), AppError> {
    let mut all = kept(rooms, name).await?;
    let now = Listed {
        base_url: base_url.trim().to_owned(),
        at_ms: rooms.clock.now_ms(),
        models,
    };
    all.insert(account.to_owned(), now);
    let value = serde_json::to_value(&all).map_err(|error| internal(error.to_string()))?;
    let stored = rooms.store.settings().set(name, &value).await;
    stored.map_err(ToAppError::to_app_error)
}

async fn kept(rooms: &Rooms, name: &str) -> Result<BTreeMap<String, Listed>, AppError> {
    let kept = rooms
        .store
        .settings()
        .get(name)
        .await
        .map_err(ToAppError::to_app_error)?;
    // A list that an older app cannot read is asked for again.
    Ok(kept
        .and_then(|kept| serde_json::from_value(kept).ok())
        .unwrap_or_default())
}

impl ModelCatalog {
    /// What is known of a model, written `provider:model`; at least its name.
    pub(crate) fn info(&self, model: &str) -> ModelInfo {
        let (account, name) = model.split_once(':').unwrap_or(("", model));
        let of = |kept: &BTreeMap<String, Listed>| {
            let kept = kept.get(account).filter(|kept| self.is_there(account, kept))?;
            kept.models.iter().find(|kept| kept.id == name).cloned()
        };
        let said = of(&self.listed).unwrap_or_else(|| ModelInfo::named(name));
        let said = of(&self.probed).map_or(said.clone(), |probed| probed.or(said));
        let shipped = providers::catalog::known(&self.kind_of(account), name, &self.today);
        let typed = self.settings.overrides.get(model).map(|known| typed(name, known));
        let known = match typed {
            Some(typed) => typed.or(said),
            None => said,
        };
        known.or(shipped.unwrap_or_default())
    }

    /// What the provider of an account said about all of its models when it last listed them; before it ever did, those
    /// that the catalog has of its kind.
    pub(crate) fn listed(&self, account: &str) -> Vec<ModelInfo> {
        let known = |model: &ModelInfo| self.info(&format!("{account}:{}", model.id));
        match self.listed.get(account).filter(|listed| self.is_there(account, listed)) {
            Some(listed) => listed.models.iter().map(known).collect(),
            None => {
                let shipped = providers::catalog::all(&self.kind_of(account), &self.today);
                shipped.iter().map(known).collect()
            }
        }
    }

    /// The model to propose for each tier, from fast to advanced, of those that an account lists.
    pub(crate) fn recommended(&self, account: &ProviderModels) -> Vec<String> {
        let proposed = providers::catalog::recommended(&account.kind, &self.today);
        let is_there = |model: &ModelInfo| account.models.iter().any(|listed| listed.id == model.id);
        proposed.into_iter().filter(is_there).map(|model| model.id).collect()
    }

    /// The price of a model: a person's, else the published one where it is in the same currency, since amounts of two
    /// currencies cannot be added up. With no price of a person's the currency is that of the published ones.
    ///
    /// What a person did not type in of a price, what the cache and long questions cost, stays as it is published.
    pub(crate) fn price(&self, model: &str) -> Option<Price> {
        let published = self.info(model).price;
        let published = published.filter(|published| published.currency == self.currency());
        let published = published.map(|published| published.price);
        match self.settings.prices.of(model) {
            Some(typed) => Some(beside(*typed, published.unwrap_or_default())),
            None => published,
        }
    }

    /// The prices of these models, as far as they are known.
    pub(crate) fn prices<'a>(&self, models: impl IntoIterator<Item = &'a str>) -> Prices {
        let known = models
            .into_iter()
            .filter_map(|model| Some((model.to_owned(), self.price(model)?)));
        let models: BTreeMap<String, Price> = known.collect();
        let currency = if models.is_empty() { "" } else { self.currency() };
        Prices {
            currency: currency.to_owned(),
            models,
        }
    }

    /// The currency that every amount is in.
    pub(crate) fn currency(&self) -> &str {
        match self.settings.prices.is_empty() {
            true => CURRENCY,
            false => self.settings.prices.currency.trim(),
        }
    }

    /// The kind of provider behind an account.
    fn kind_of(&self, account: &str) -> String {
        let added = self.settings.accounts.iter().find(|added| added.name == account);
        added.map_or_else(|| account.to_owned(), |added| added.kind.clone())
    }

    /// Whether the account is still where it was when it listed its models.
    fn is_there(&self, account: &str, listed: &Listed) -> bool {
        accounts::address(&self.settings, self.instead.as_ref(), account)
            .is_some_and(|url| url.trim() == listed.base_url)
    }
}

/// A typed price, completed from a published one.
fn beside(typed: Price, published: Price) -> Price {
    Price {
        cache_read: typed.cache_read.or(published.cache_read),
        cache_write: typed.cache_write.or(published.cache_write),
        long: typed.long.or(published.long),
        ..typed
    }
}

/// What a person knows about a model, as the provider would say it.
fn typed(name: &str, known: &ModelOverride) -> ModelInfo {
    let mut info = ModelInfo {
        context_window: known.context_window,
        max_output: known.max_output,
        tier: known.tier,
        ..ModelInfo::named(name)
    };
    info.capabilities.tools = known.tools;
    info
}

#[cfg(test)]
mod tests {
    use contract::cost::ListedPrice;
    use contract::llm::ModelTier;

    use super::*;
    use crate::commands::settings::Account;

    const SERVER: &str = "http://localhost:1";

    fn catalog(settings: Settings) -> ModelCatalog {
        let listed = |base_url: &str, model: ModelInfo| Listed {
            base_url: base_url.to_owned(),
            at_ms: 0,
            models: vec![model],
        };
        let local = ModelInfo {
            context_window: Some(4_096),
            price: Some(ListedPrice {
                price: price(3.0),
                currency: "USD".to_owned(),
                as_of: None,
            }),
            ..ModelInfo::named("small")
        };
        let haiku = ModelInfo {
            context_window: Some(500_000),
            ..ModelInfo::named("claude-haiku-4-5")
        };
        let listed = [
            ("openai_compatible".to_owned(), listed(SERVER, local)),
            ("anthropic".to_owned(), listed("https://api.anthropic.com", haiku)),
        ];
        ModelCatalog {
            settings,
            instead: None,
            listed: listed.into(),
            probed: BTreeMap::new(),
            today: "2026-11-21".to_owned(),
        }
    }

    fn price(input: f64) -> Price {
        Price {
            input,
            output: 9.0,
            ..Price::default()
        }
    }

    fn with_server(base_url: &str) -> Settings {
        let endpoint = Endpoint {
            base_url: base_url.to_owned(),
            model: "small".to_owned(),
        };
        Settings {
            endpoint: Some(endpoint),
            ..Settings::default()
        }
    }

    #[test]
    fn a_person_knows_best_then_the_provider_then_the_catalog() {
        let mut settings = with_server(SERVER);
        let model = "anthropic:claude-haiku-4-5";
        let known = catalog(settings.clone()).info(model);
        // The window as the provider said it, the rest from the catalog.
        assert_eq!(
            (known.context_window, known.max_output, known.tier),
            (Some(500_000), Some(64_000), Some(ModelTier::Fast))
        );
        let typed = ModelOverride {
            context_window: Some(7),
            tools: Some(false),
            ..ModelOverride::default()
        };
        settings.overrides.insert(model.to_owned(), typed);
        let known = catalog(settings).info(model);
        assert_eq!(
            (known.context_window, known.capabilities.tools, known.max_output),
            (Some(7), Some(false), Some(64_000))
        );
    }

    #[test]
    fn an_added_account_has_the_models_of_its_kind() {
        let work = Account {
            name: "work".to_owned(),
            kind: "anthropic".to_owned(),
            base_url: None,
        };
        let settings = Settings {
            accounts: vec![work],
            ..Settings::default()
        };
        assert_eq!(
            catalog(settings).info("work:claude-haiku-4-5").tier,
            Some(ModelTier::Fast)
        );
    }

    #[test]
    fn a_typed_price_keeps_the_published_ones_of_the_cache_and_of_long_questions() {
        let model = "anthropic:claude-haiku-4-5";
        let published = catalog(Settings::default()).price(model).unwrap();
        assert!(published.cache_read.is_some(), "{published:?}");
        let typed = |price: Price, currency: &str| {
            let prices = Prices {
                currency: currency.to_owned(),
                models: [(model.to_owned(), price)].into(),
            };
            catalog(Settings {
                prices,
                ..Settings::default()
            })
            .price(model)
        };
        let plain = Price {
            input: published.input,
            output: published.output,
            ..Price::default()
        };
        assert_eq!(typed(plain, "USD"), Some(published));
        // Amounts of another currency are no part of it.
        assert_eq!(typed(plain, "EUR"), Some(plain));
        let own = Price {
            cache_read: Some(0.5),
            ..plain
        };
        assert_eq!(typed(own, "USD").unwrap().cache_read, Some(0.5));
    }

    #[test]
    fn what_another_server_said_does_not_count() {
        let window = |base_url| {
            catalog(with_server(base_url))
                .info("openai_compatible:small")
                .context_window
        };
        assert_eq!(window(SERVER), Some(4_096));
        assert_eq!(window("http://localhost:2"), None);
        assert_eq!(catalog(with_server(SERVER)).listed("openai_compatible").len(), 1);
        assert!(catalog(Settings::default()).listed("gemini").len() > 3);
        assert!(
            catalog(with_server("http://localhost:2"))
                .listed("openai_compatible")
                .is_empty()
        );
    }

    #[test]
    fn published_prices_count_only_in_the_currency_of_those_that_were_typed_in() {
        let mut settings = with_server(SERVER);
        let both = [
            "openai_compatible:small",
            "anthropic:claude-haiku-4-5",
            "gemini:no-such",
        ];
        let prices = catalog(settings.clone()).prices(both);
        assert_eq!((&*prices.currency, prices.models.len()), ("USD", 2));
        assert_eq!(prices.of(both[0]).unwrap().input, 3.0);

        settings.prices.currency = "EUR".to_owned();
        settings.prices.models.insert("small".to_owned(), price(1.0));
        let prices = catalog(settings.clone()).prices(both);
        assert_eq!((&*prices.currency, prices.models.len()), ("EUR", 1));
        assert_eq!(prices.of(both[0]).unwrap().input, 1.0);

        settings.prices.currency = "USD".to_owned();
        assert_eq!(catalog(settings).prices(both).models.len(), 2);
        assert_eq!(
            catalog(Settings::default()).prices(["gemini:no-such"]),
            Prices::default()
        );
    }
}
