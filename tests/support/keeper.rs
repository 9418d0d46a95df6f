//! Nothing but the keeper of commands and of programs that are talked to: what tests start in the place of the app's own
//! program.

use std::process::ExitCode;

fn main() -> ExitCode {
    app::serve_if_asked().unwrap_or(ExitCode::FAILURE)
}
