//! The models that can be asked.

use app::{App, Config};
use contract::AppError;
use contract::secret::{KeyInfo, KeySource};

use crate::Exit;
use crate::arguments::ModelsArguments;
use crate::paint::{Screen, clean};

/// `tepa models`.
pub(crate) async fn list(arguments: ModelsArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let providers = app.models(arguments.url.as_deref()).await?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&providers);
        return Ok(Exit::Pass);
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
            let mark = if provider.chosen.as_ref() == Some(model) {
                "*"
            } else {
                " "
            };
            screen.line(&format!("  {mark} {}", clean(model)));
        }
    }
    Ok(Exit::Pass)
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
