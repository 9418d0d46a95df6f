//! Nothing but the keeper of a command: what tests and figures start in the place of the app's own program.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::serve_if_asked().unwrap_or(ExitCode::FAILURE)
}
