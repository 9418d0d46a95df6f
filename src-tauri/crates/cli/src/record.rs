//! A run as a recording.

use app::{App, Config};
use contract::AppError;

use crate::Exit;
use crate::arguments::RecordArguments;
use crate::history::find;
use crate::paint::{Screen, clean, count};
use crate::run::absolute;

/// `tepa record RUN FILE`.
pub(crate) async fn run(arguments: RecordArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let recorded = app.record(&run, &absolute(&arguments.file)?).await?;
    app.close().await?;
    let screen = Screen::out();
    if arguments.json {
        screen.document(&recorded);
        return Ok(Exit::Pass);
    }
    let answers = count(recorded.calls, "answer", "answers");
    screen.line(&format!("{answers} written to {}", clean(&recorded.file)));
    screen.line(
        "To play them in the place of models: tepa run TASK --recording FILE, or tepa flow run FLOW --recording FILE",
    );
    Ok(Exit::Pass)
}
