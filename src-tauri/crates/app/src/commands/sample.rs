//! The sample that ships with the app.

use contract::AppError;

use crate::app::App;
use crate::commands::runs::StartedRun;

/// Puts the sample's data into a new folder and runs the sample's task on it.
pub async fn start(app: &App, (): ()) -> Result<StartedRun, AppError> {
    let header = app.new_sample().await?;
    Ok(StartedRun {
        run_id: app.start(header).await?,
    })
}
