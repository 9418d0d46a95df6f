//! What cargo knows about this workspace, asked once per question.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The top level of the checkout.
pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What the command prints; stops the test when it fails.
pub(crate) fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(top()).output().unwrap();
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "cargo {}:\n{complained}", arguments.join(" "));
    said.into_owned()
}

/// `cargo metadata` with these further arguments.
pub(crate) fn metadata(arguments: &[&str]) -> Value {
    let all = [&["metadata", "--format-version", "1", "--locked"], arguments].concat();
    serde_json::from_str(&cargo(&all)).unwrap()
}
