//! Runs to files and from files.

use std::path::Path;

use app::archive::Archived;
use app::export::ExportForm;
use app::{App, Config};
use contract::AppError;

use crate::Exit;
use crate::arguments::{ExportArguments, ExportAs, ImportArguments};
use crate::history::find;
use crate::paint::{Screen, clean, count};

/// `tepa export RUN [FILE]`.
pub(crate) async fn export(arguments: ExportArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let (file, folder) = (arguments.file.as_deref(), Path::new(""));
    let form = match arguments.form {
        ExportAs::Run => None,
        ExportAs::Html => Some(ExportForm::Html),
        ExportAs::Markdown => Some(ExportForm::Markdown),
        ExportAs::Steps => Some(ExportForm::Steps),
        ExportAs::Calls => Some(ExportForm::Calls),
    };
    if let Some(form) = form {
        let written = app.export_as(&run, form, file, folder).await?;
        app.close().await?;
        let screen = Screen::out();
        match arguments.json {
            true => screen.document(&written),
            false => screen.line(&format!("Written to {}", clean(&written.file.display().to_string()))),
        }
        return Ok(Exit::Pass);
    }
    let written = app.export(&run, file, folder).await?;
    app.close().await?;
    tell(
        &written,
        arguments.json,
        "Exported to",
        "To look at it elsewhere: tepa import FILE",
    );
    Ok(Exit::Pass)
}

/// `tepa import FILE`.
pub(crate) async fn import(arguments: ImportArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let read = app.import(&arguments.file).await?;
    app.close().await?;
    let then = format!("To look at it: tepa show {}", read.run_id);
    tell(&read, arguments.json, "Imported from", &then);
    Ok(Exit::Pass)
}

fn tell(archived: &Archived, json: bool, done: &str, then: &str) {
    let screen = Screen::out();
    if json {
        screen.document(archived);
        return;
    }
    screen.line(&screen.bold(&clean(&archived.title)));
    screen.line(&format!("{done} {}", clean(&archived.file.display().to_string())));
    screen.line(&format!(
        "  {}, {}",
        count(archived.events, "event", "events"),
        count(archived.artifacts, "value", "values")
    ));
    screen.line(&screen.dim(&format!("  {}", archived.final_hash.as_str())));
    screen.line(then);
}
