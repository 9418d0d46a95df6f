//! The models that can be asked.

use app::{App, Config};
use contract::AppError;

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
        let title = screen.bold(&provider.title);
        screen.line(&format!("{title}{}", screen.dim(&address.unwrap_or_default())));
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
