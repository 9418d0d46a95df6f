//! The models that can be asked.

use app::commands::settings::Endpoint;
use app::{App, Config};
use contract::AppError;
use contract::llm::{ModelInfo, ModelTier};
use contract::secret::{KeyInfo, KeySource};

use crate::Exit;
use crate::arguments::ModelsArguments;
use crate::paint::{Screen, clean, number};

/// `tepa models`.
pub(crate) async fn list(arguments: ModelsArguments) -> Result<Exit, AppError> {
    // Whoever types an address means it: it is no server that is only tried out, and is given the environment's key.
    let endpoint = arguments.url.clone().map(|base_url| Endpoint {
        base_url,
        model: String::new(),
    });
    let config = Config {
        endpoint,
        ..Config::default()
    };
    let app = App::open(config).await?;
    let providers = app.models(arguments.url.as_deref()).await?;
    app.close().await?;
    let screen = Screen::out();
    // An address that was named and does not answer with models is what was asked, and could not be done.
    let exit = match arguments.url.is_some() && providers.iter().any(|provider| provider.problem.is_some()) {
        true => Exit::Usage,
        false => Exit::Pass,
    };
    if arguments.json {
        screen.document(&providers);
        return Ok(exit);
    }
    for provider in &providers {
        let address = provider.base_url.as_deref().map(|url| format!("  {}", clean(url)));
        let title = screen.bold(&format!("{}  {}:", provider.title, clean(&provider.provider)));
        screen.line(&format!("{title}{}", screen.dim(&address.unwrap_or_default())));
        if let Some(key) = &provider.key {
            screen.line(&format!("    {}", screen.dim(&key_words(key))));
        }
        if let Some(problem) = &provider.problem {
            screen.wrapped(2, &screen.yellow(&clean(problem)));
        }
        for model in &provider.models {
            let mark = if provider.chosen.as_ref() == Some(&model.id) {
                "*"
            } else {
                " "
            };
            let known = facts(model).map(|facts| screen.dim(&format!("  {facts}")));
            screen.line(&format!("  {mark} {}{}", clean(&model.id), known.unwrap_or_default()));
        }
    }
    Ok(exit)
}

/// What is known of a model in a few words: `fast · 1,000k tokens · 0.10 / 0.50 USD a million`; none when nothing is.
fn facts(model: &ModelInfo) -> Option<String> {
    let tier = model.tier.map(|tier| match tier {
        ModelTier::Fast => "fast".to_owned(),
        ModelTier::Balanced => "balanced".to_owned(),
        ModelTier::Advanced => "advanced".to_owned(),
    });
    let window = model
        .context_window
        .map(|tokens| format!("reads {} tokens", number(tokens)));
    let price = model.price.as_ref().map(|listed| {
        let (input, output, currency) = (listed.price.input, listed.price.output, clean(&listed.currency));
        let day = listed.as_of.as_ref().map(|day| format!(" ({})", clean(day)));
        format!(
            "{input:.2} / {output:.2} {currency} a million{}",
            day.unwrap_or_default()
        )
    });
    let tools = (model.capabilities.tools == Some(false)).then(|| "calls no tools".to_owned());
    let known: Vec<String> = [tier, window, price, tools].into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(" · "))
}

/// Where a key is from, and its end.
fn key_words(key: &KeyInfo) -> String {
    let end = key.last4.as_ref().map(|last4| format!(" …{}", clean(last4)));
    let from = match key.source {
        KeySource::Keychain => "from the keychain",
        KeySource::Session => "kept until Tepa ends",
        KeySource::Environment => "from the environment",
    };
    format!("key{} {from}", end.unwrap_or_default())
}
