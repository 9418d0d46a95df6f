//! `vectors` runs the folder of `TEPA_VECTORS`, or the one beside it, and ends with the counts.

#![allow(clippy::print_stdout, reason = "its whole purpose is to print")]

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A case may break down on purpose; the report says which did without one.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = std::env::var_os("TEPA_VECTORS").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let report = vectors::run_folder(&folder);
    for line in &report.lines {
        println!("{line}");
    }
    println!("{}", report.loose_line());
    println!("{}", report.last_line());
    if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
