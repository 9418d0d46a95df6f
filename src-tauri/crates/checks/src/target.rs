//! What a check looks at, as text or as a table.

use std::sync::Arc;

use contract::ports::check::{CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use workspace::table::{LIMIT, Table};
use workspace::text;

/// An outcome; what could not be looked at has failed, and says why.
pub(crate) fn settled(looked: Result<CheckOutcome, String>) -> CheckOutcome {
    looked.unwrap_or_else(|reason| CheckOutcome::fail(format!("the check could not run: {reason}"), None))
}

/// The text of a file or an answer.
pub(crate) async fn text(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<String, String> {
    match target {
        CheckTarget::Answer(answer) => Ok(answer.clone()),
        CheckTarget::File(path) => {
            let bytes = files.read(path, LIMIT).await.map_err(|error| error.to_string())?;
            text::guess(&bytes).map_err(|error| format!("\"{path}\" cannot be read: {error}"))
        }
    }
}

/// The table in a file or an answer.
pub(crate) async fn table(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<Table, String> {
    match target {
        CheckTarget::Answer(answer) => {
            Table::from_csv(answer).map_err(|reason| format!("the answer is no table: {reason}"))
        }
        CheckTarget::File(path) => Table::load(files.as_ref(), path)
            .await
            .map_err(|error| error.to_string()),
    }
}
