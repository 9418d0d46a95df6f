//! A working folder with one file, `it`, for tests of checks.

use std::sync::Arc;

use contract::ports::check::{Check, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;
use workspace::Folder;

/// Runs a check on a file with this text, beside other files, and on an answer of the same text when
/// it needs no file; both must agree. Returns whether it passed, and the evidence.
pub(crate) async fn run_beside(check: &dyn Check, args: Value, text: &str, others: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in others.iter().chain(&[("it", text)]) {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
    assert_eq!(check.problems(&args), Vec::<String>::new());
    let found = check.run(&args, &CheckTarget::file("it"), &files).await;
    if !check.info().needs_file {
        let answered = check.run(&args, &CheckTarget::answer(text), &files).await;
        assert_eq!(answered, found);
    }
    (found.pass, found.evidence)
}

/// The same without other files.
pub(crate) async fn run(check: &dyn Check, args: Value, text: &str) -> (bool, String) {
    run_beside(check, args, text, &[]).await
}

/// The evidence of a check on a file that is not there.
pub(crate) async fn run_on_nothing(check: &dyn Check, args: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
    let found = check.run(&args, &CheckTarget::file("it"), &files).await;
    assert!(!found.pass);
    found.evidence
}

/// It passes with this evidence.
pub(crate) async fn passes(check: &dyn Check, args: Value, text: &str, evidence: &str) {
    assert_eq!(run(check, args, text).await, (true, evidence.to_owned()));
}

/// It fails with this evidence.
pub(crate) async fn fails(check: &dyn Check, args: Value, text: &str, evidence: &str) {
    assert_eq!(run(check, args, text).await, (false, evidence.to_owned()));
}
