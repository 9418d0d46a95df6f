//! Nothing but the keeper of a server: what tests start in the place of the app's own program.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::serve_if_asked().unwrap_or(ExitCode::FAILURE)
}
