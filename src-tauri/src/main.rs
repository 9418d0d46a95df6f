//! The window's program. Everything it does is in the library beside it.

// No console window beside the app on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match tepa_desktop::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tepa_desktop::say_why_it_did_not_start(&error);
            ExitCode::FAILURE
        }
    }
}
