//! Nothing but the process that reads documents: what tests start in the place of the app's own program.

use std::process::ExitCode;

fn main() -> ExitCode {
    documents::serve_if_asked().unwrap_or(ExitCode::FAILURE)
}
