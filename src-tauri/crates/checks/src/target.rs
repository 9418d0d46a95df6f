//! What a check looks at, as text or as a table.

use std::sync::Arc;

use contract::ports::check::{CheckOutcome, CheckTarget, Subject};
use contract::ports::files::Files;
use serde_json::Value;
use workspace::document::{self, Words};
use workspace::table::{LIMIT, Table};

/// An outcome; what could not be looked at has failed, and says why.
pub(crate) fn settled(looked: Result<CheckOutcome, String>) -> CheckOutcome {
    looked.unwrap_or_else(CheckOutcome::could_not_run)
}

/// The text of a file or an answer.
pub(crate) async fn text(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<String, String> {
    match &target.subject {
        Subject::Answer(answer) => Ok(answer.clone()),
        Subject::File(path) => text_of(path, files).await,
    }
}

/// The text of a file, or what a document says.
pub(crate) async fn text_of(path: &str, files: &Arc<dyn Files>) -> Result<String, String> {
    let words = document::words(files.as_ref(), path, LIMIT).await;
    words.map(Words::written).map_err(|error| error.to_string())
}

/// The JSON value in a file or an answer.
pub(crate) async fn json(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<Value, String> {
    let text = text(target, files).await?;
    serde_json::from_str(&text).map_err(|error| format!("it is not JSON: {}", syntax_error(&error)))
}

/// Where and why a text is not JSON: `line 3, column 7: expected a colon`.
pub(crate) fn syntax_error(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let reason = said.split(" at line ").next().unwrap_or(&said);
    format!("line {}, column {}: {reason}", error.line(), error.column())
}

/// The table in a file or an answer; of a workbook this sheet, or the first one.
pub(crate) async fn table(target: &CheckTarget, sheet: Option<&str>, files: &Arc<dyn Files>) -> Result<Table, String> {
    match &target.subject {
        Subject::Answer(_) if sheet.is_some() => Err("an answer has no sheets".to_owned()),
        Subject::Answer(answer) => {
            Table::from_csv(answer).map_err(|reason| format!("the answer is no table: {reason}"))
        }
        Subject::File(path) => Table::load_sheet(files.as_ref(), path, sheet)
            .await
            .map_err(|error| error.to_string()),
    }
}
