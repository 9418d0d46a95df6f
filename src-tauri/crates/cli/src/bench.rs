//! `tepa bench`: a workload, measured.

use app::bench::{Bench, Measured};
use contract::AppError;
use serde_json::json;

use crate::Exit;
use crate::arguments::BenchArguments;
use crate::paint::Screen;

/// Carries the workload out and prints what it took, or why it stopped in the middle.
pub(crate) async fn run(arguments: BenchArguments) -> Result<Exit, AppError> {
    let bench = Bench {
        workload: arguments.workload,
        width: arguments.width,
        model_url: arguments.model_url,
        model: arguments.model,
        database: arguments.db,
        strict: arguments.strict,
    };
    match bench.run().await? {
        Measured::Report(report) => {
            let line = serde_json::to_string(&report).map_err(|error| AppError::new("internal", error.to_string()))?;
            Screen::out().line(&line);
            Ok(Exit::Pass)
        }
        Measured::Stopped(error) => {
            Screen::out().json(&json!({ "error": error }));
            Ok(Exit::Stopped)
        }
    }
}
