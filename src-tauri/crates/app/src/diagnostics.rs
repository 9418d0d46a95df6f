//! What a person can hand to somebody who helps them: a zip with facts about the app, and nothing about their work.
//!
//! What is in it is chosen and never searched for secrets afterwards: numbers, names that the program itself has, codes.
//! No text of a person, a model, a file or another program comes in: of a line of the log its time, its level, its place
//! and the words that the program wrote, without the values in them. `README.txt` in it says so to whoever opens it.

mod log;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use contract::AppError;
use contract::run::{RunStatus, RunSummary, StopReason};
use serde::Serialize;
use serde_json::{Value, json};
use store::{Health, RunFilter};
use ts_rs::TS;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::app::App;
use crate::commands::about;
use crate::commands::settings::Settings;
use crate::error::{ToAppError, internal, thread_ended};
use crate::{accounts, settings};

/// How many of the newest runs are counted in it.
const RUNS: u32 = 50;

const README: &str = "\
Tepa: diagnostics

versions.json  the versions of Tepa, of SQLite, of the system and of the window
settings.json  what is set, without names, addresses and keys
history.json   the format of the history, what its check found, how large it is
runs.json      how the newest runs ended, and the codes of what failed in them
log.txt        when the program noted what, without the values

No goals, no names of tasks, no paths, no contents of files, no answers of models, no keys.
Have a look before you send it on: these are plain texts.
";

/// Where diagnostics were written, and what is in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WrittenDiagnostics {
    /// The file, absolute.
    pub path: String,
    /// The names of the texts in it.
    pub parts: Vec<String>,
}

impl App {
    /// Writes a zip with facts about the app to a file. One that is there is only replaced when a person was asked.
    ///
    /// # Errors
    /// The history cannot be read, or the file cannot be written.
    pub async fn diagnostics(&self, file: &Path, replace: bool) -> Result<WrittenDiagnostics, AppError> {
        let parts = self.parts().await?;
        let names = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
        let path = file.to_owned();
        let written = tokio::task::spawn_blocking(move || write(&path, &parts, replace));
        let written = written.await.map_err(thread_ended)?;
        written.map_err(|error| unwritable(file, &error))?;
        Ok(WrittenDiagnostics {
            path: file.display().to_string(),
            parts: names,
        })
    }

    async fn parts(&self) -> Result<Vec<(&'static str, String)>, AppError> {
        let versions = about::versions(self);
        let kept = settings::read(&self.rooms.store).await?;
        let health = self.rooms.store.health().await.map_err(ToAppError::to_app_error)?;
        let runs = self.newest_runs().await?;
        let log = self.rooms.places.data.join("logs").join("tepa.log");
        let log = tokio::task::spawn_blocking(move || log::recent(&log))
            .await
            .map_err(thread_ended)?;
        let keychain = self.rooms.keys.problem().await.is_none();
        Ok(vec![
            ("README.txt", README.to_owned()),
            ("versions.json", pretty(&versions)?),
            ("settings.json", pretty(&facts_of(&kept, keychain))?),
            ("history.json", pretty(&facts_of_history(&health))?),
            ("runs.json", pretty(&runs)?),
            ("log.txt", log),
        ])
    }

    /// The newest runs by how they stand, and the codes of what failed in them.
    async fn newest_runs(&self) -> Result<Vec<Value>, AppError> {
        let page = self.rooms.store.runs().list(&RunFilter::default(), None, RUNS).await;
        let mut facts = Vec::new();
        for run in page.map_err(ToAppError::to_app_error)?.runs {
            facts.push(self.facts_of_run(&run).await);
        }
        Ok(facts)
    }

    async fn facts_of_run(&self, run: &RunSummary) -> Value {
        let mut codes: BTreeMap<String, u32> = BTreeMap::new();
        // What cannot be read says nothing about its steps; that it cannot is a fact, too.
        let state = self.state(&run.run_id).await;
        let is_readable = state.is_ok();
        if let Ok(state) = &state {
            let steps = state.cycles.iter().flat_map(|cycle| cycle.steps.values());
            let of_steps = steps.filter_map(|step| step.error.as_ref());
            let of_end = state.result.iter().filter_map(|result| result.error.as_ref());
            for error in of_steps.chain(of_end) {
                *codes.entry(code(&error.code)).or_default() += 1;
            }
        }
        let status: RunStatus = run.status;
        let reason: Option<StopReason> = run.stop_reason;
        json!({
            "startedAtMs": run.started_at_ms,
            "status": status,
            "stopReason": reason,
            "isDriven": run.driven,
            "isRecorded": run.recorded,
            "cycles": run.cycles,
            "tokens": run.tokens_used,
            "workedMs": run.worked_ms,
            "isReadable": is_readable,
            "errorCodes": codes,
        })
    }
}

/// A code as codes are written; anything else could be somebody's words.
fn code(code: &str) -> String {
    let fits = !code.is_empty()
        && code.len() <= 48
        && code
            .bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_');
    if fits { code.to_owned() } else { "other".to_owned() }
}

/// What is set, as far as the program itself has words for it.
fn facts_of(settings: &Settings, keychain: bool) -> Value {
    let kind = |model: &Option<String>| {
        let account = model.as_deref()?.split_once(':')?.0;
        Some(if accounts::kind(account).is_some() {
            account.to_owned()
        } else {
            "another account".to_owned()
        })
    };
    let executor = settings.models.executor.clone().unwrap_or_default();
    let accounts: Vec<Value> = settings
        .accounts
        .iter()
        .map(|account| {
            let known = accounts::kind(&account.kind).map(|kind| kind.info.name.to_owned());
            json!({ "kind": known, "hasOwnAddress": account.base_url.is_some() })
        })
        .collect();
    json!({
        "theme": settings.theme,
        "limits": {
            "maxCycles": settings.limits.max_cycles,
            "maxTokens": settings.limits.max_tokens,
            "toolTimeout": settings.limits.tool_timeout,
            "maxParallel": settings.limits.max_parallel,
            "retryAttempts": settings.limits.retry_attempts,
            "maxCost": settings.limits.max_cost,
        },
        "permissions": settings.permissions.preset,
        "hasOwnServer": settings.endpoint.is_some(),
        "accounts": accounts,
        "roles": {
            "planner": kind(&settings.models.planner),
            "judge": kind(&settings.models.judge),
            "executorLow": kind(&executor.low),
            "executorHigh": kind(&executor.high),
        },
        "prices": settings.prices.models.len(),
        "modelFacts": settings.overrides.len(),
        "keychainWorks": keychain,
    })
}

fn facts_of_history(health: &Health) -> Value {
    json!({
        "format": health.format,
        "isWhole": health.is_whole,
        "findings": health.findings,
        "bytesOnDisk": health.bytes,
        "rows": health.rows,
    })
}

fn pretty(value: &impl Serialize) -> Result<String, AppError> {
    serde_json::to_string_pretty(value).map_err(|error| internal(error.to_string()))
}

fn write(path: &Path, parts: &[(&str, String)], replace: bool) -> io::Result<()> {
    if !replace {
        let file = File::create_new(path)?;
        return zip(file, parts).inspect_err(|_| drop(std::fs::remove_file(path)));
    }
    // Beside it first, so that half a file never takes the place of a whole one.
    let half: PathBuf = path.with_extension("part");
    zip(File::create(&half)?, parts)?;
    std::fs::rename(half, path)
}

fn zip(file: impl Write + Seek, parts: &[(&str, String)]) -> io::Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut writer = ZipWriter::new(file);
    for (name, text) in parts {
        writer.start_file(*name, options)?;
        writer.write_all(text.as_bytes())?;
    }
    writer.finish()?.flush()
}

fn unwritable(path: &Path, error: &io::Error) -> AppError {
    let path = path.display();
    let message = match error.kind() {
        io::ErrorKind::AlreadyExists => format!("\"{path}\" is there already, and is not overwritten"),
        _ => format!("\"{path}\" cannot be written: {error}"),
    };
    AppError::new("diagnostics_unwritable", message).hint("Choose another name, or another folder.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_code_and_no_words() {
        let check = |given: &str, expected: &str| assert_eq!(code(given), expected);
        check("json_error", "json_error");
        check("http_429", "http_429");
        check("Sum up my salary", "other");
        check("", "other");
        check(&"a".repeat(49), "other");
    }

    #[test]
    fn names_and_addresses_of_accounts_stay_out() {
        let mut settings = Settings::default();
        settings.models.planner = Some("marys_account:canary-model".to_owned());
        settings.endpoint = Some(crate::commands::settings::Endpoint {
            base_url: "http://canary.example".to_owned(),
            model: "canary-model".to_owned(),
        });
        let facts = facts_of(&settings, true).to_string();
        assert!(!facts.contains("canary") && !facts.contains("mary"), "{facts}");
        assert!(facts.contains("\"hasOwnServer\":true"), "{facts}");
        assert!(facts.contains("another account"), "{facts}");
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_when_that_was_asked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("facts.zip");
        let parts = [("a.txt", "b".to_owned())];
        write(&file, &parts, false).unwrap();
        assert_eq!(
            write(&file, &parts, false).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        std::fs::write(&file, "old").unwrap();
        write(&file, &parts, true).unwrap();
        assert!(std::fs::read(&file).unwrap().starts_with(b"PK"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
