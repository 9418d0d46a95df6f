//! What a file is, for the checks that open it: format, pages and dimensions.

use std::sync::Arc;

use contract::ports::check::{CheckTarget, Subject};
use contract::ports::documents::{Facts, LARGEST};
use contract::ports::files::Files;

/// What a file is, found by opening it; of anything else why not.
pub(crate) async fn facts(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<Facts, String> {
    let Subject::File(path) = &target.subject else {
        return Err("an answer is no file".to_owned());
    };
    let bytes = files.read(path, LARGEST).await.map_err(|error| error.to_string())?;
    let facts = files.documents().facts(bytes).await;
    facts.map_err(|error| format!("\"{path}\" cannot be opened: {error}"))
}
