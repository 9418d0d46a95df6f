//! Facts about the app for somebody who helps, without anything about a person's work.

use app::{App, Config};
use contract::AppError;

use crate::Exit;
use crate::arguments::DiagnosticsArguments;
use crate::paint::{Screen, clean};

/// `tepa diagnostics --out FILE`.
pub(crate) async fn write(arguments: DiagnosticsArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let written = app.diagnostics(&arguments.out, false).await;
    app.close().await?;
    let written = written?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&written);
        return Ok(Exit::Pass);
    }
    screen.line(&format!("Written to {}", clean(&written.path)));
    screen.line(&screen.dim(&format!("  {}", written.parts.join(", "))));
    screen.line("Nothing of your tasks, files and keys is in it. Have a look before you send it on.");
    Ok(Exit::Pass)
}
