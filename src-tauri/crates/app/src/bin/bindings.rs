//! Writes `ui/src/contract/index.ts`; with `--check` only says whether it is up to date.

use std::path::Path;
use std::process::ExitCode;

const COMMAND: &str = "cargo run -p app --bin bindings";

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/contract/index.ts");
    let wanted = app::typescript::bindings();
    if std::env::args().any(|argument| argument == "--check") {
        return check(&file, &wanted);
    }
    match write(&file, &wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{} could not be written: {error}", file.display()));
            ExitCode::FAILURE
        }
    }
}

fn check(file: &Path, wanted: &str) -> ExitCode {
    match std::fs::read_to_string(file) {
        Ok(found) if found == wanted => ExitCode::SUCCESS,
        Ok(_) => {
            say(&format!(
                "ui/src/contract/index.ts is not what the Rust types say. Run `{COMMAND}`."
            ));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!(
                "ui/src/contract/index.ts cannot be read ({error}). Run `{COMMAND}`."
            ));
            ExitCode::FAILURE
        }
    }
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}

#[expect(clippy::print_stderr, reason = "a command for the terminal")]
fn say(sentence: &str) {
    eprintln!("{sentence}");
}
