//! What the app starts beside itself, for tests: the keeper of a command, or the reader of a document.

use std::process::ExitCode;

fn main() -> ExitCode {
    app::serve_if_asked().unwrap_or(ExitCode::FAILURE)
}
