//! The window's program. Everything it does is in the library beside it.

// No console window beside the app on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(ended) = app::serve_if_asked() {
        return ended;
    }
    match tepa_desktop::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tepa_desktop::say(&format!("Tepa could not open its window: {error}"));
            ExitCode::FAILURE
        }
    }
}
