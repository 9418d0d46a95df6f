//! `bench`: everything measured, as a table and as JSON. Ends with 1 when something is not as it must be.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use benches::engines::Programs;
use benches::report::Row;
use benches::{Failed, characters, history, resume, speed};
use clap::Parser;

#[derive(Debug, Parser)]
struct Arguments {
    /// The terminal program, built for release.
    #[arg(long)]
    tepa: PathBuf,
    /// The floor; by default what lies beside this program.
    #[arg(long)]
    floor: Option<PathBuf>,
    /// How often everything is measured.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Where the figures go as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// How many runs the history has that is searched; each has a hundred entries.
    #[arg(long, default_value_t = 100_000)]
    history: u32,
    /// Only these: speed, resume, characters, history, commands.
    #[arg(long)]
    only: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match measure(Arguments::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

async fn measure(arguments: Arguments) -> Result<bool, Failed> {
    let beside = || {
        let own = std::env::current_exe().map_err(|error| Failed::at("the floor", error))?;
        Ok::<_, Failed>(own.with_file_name(format!("floor{}", std::env::consts::EXE_SUFFIX)))
    };
    let programs = Programs {
        floor: arguments.floor.map_or_else(beside, Ok)?,
        tepa: arguments.tepa,
    };
    let wanted = |part: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == part);
    let mut rows = Vec::new();
    if wanted("speed") {
        rows.extend(speed::measure(&programs, arguments.runs).await?);
    }
    if wanted("resume") {
        rows.extend(resume::measure(&programs, arguments.runs).await?);
    }
    if wanted("characters") {
        rows.extend(characters::measure(&programs).await?);
    }
    if wanted("history") {
        rows.extend(history::measure(&programs, arguments.history, arguments.runs).await?);
    }
    #[cfg(target_os = "linux")]
    if wanted("commands") {
        rows.extend(benches::commands::measure(&programs, arguments.runs)?);
    }
    println!(
        "{:<4} {:<58} {:>10} {:<8} {:>22}  must",
        "", "", "median", "", "least .. most"
    );
    for row in &rows {
        println!("{}", row.line());
    }
    let missed = rows.iter().filter(|row| !row.holds()).count();
    println!("\n{} figures, {missed} missed", rows.len());
    if let Some(file) = arguments.json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| Failed::at("the figures", error))?;
        std::fs::write(&file, text + "\n").map_err(|error| Failed::at(&file.display().to_string(), error))?;
    }
    Ok(rows.iter().all(Row::holds))
}
