//! What was allowed for every run of a task, and taking it back.

use app::{App, Config};
use contract::AppError;
use serde_json::json;

use crate::Exit;
use crate::arguments::GrantsArguments;
use crate::paint::{Screen, clean};

/// `tepa grants`, `tepa grants revoke ID`.
pub(crate) async fn list(arguments: GrantsArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let screen = Screen::out();
    if let Some(id) = arguments.revoked() {
        app::ipc::dispatch(&app, "grant_revoke", json!({ "id": id })).await?;
        if !arguments.json {
            screen.line("Taken back. Runs that have begun keep it; later ones ask again.");
        }
        app.close().await?;
        return Ok(Exit::Pass);
    }
    let grants = app::commands::grants::list(&app, ()).await?;
    if arguments.json {
        screen.document(&grants);
    } else if grants.is_empty() {
        screen.line("Nothing is allowed for good. What you allow for a task when a run asks is listed here.");
    } else {
        for grant in &grants {
            let id = screen.bold(&grant.id.to_string());
            let what = grant.access.wants();
            screen.line(&format!("{id}  {}", clean(&what)));
            screen.line(&screen.dim(&clean(&format!("   {} in {}", grant.title, grant.folder))));
        }
    }
    app.close().await?;
    Ok(Exit::Pass)
}
