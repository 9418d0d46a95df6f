//! The app itself: its version, its data, and what is registered in it.

use std::path::Path;

use contract::AppError;
use contract::dates::moment;
use contract::ports::check::CheckInfo;
use contract::ports::tool::ToolInfo;
use providers::info::ProviderInfo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::diagnostics::WrittenDiagnostics;
use crate::error::ToAppError;
use crate::searching;

/// What the app is and where it keeps things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// The version of the app.
    pub version: String,
    /// The versions of the app and of what it stands on.
    pub versions: Versions,
    /// Where history, settings and logs are, absolute.
    pub data_folder: String,
    /// Why the system's keychain cannot keep keys, in words; none when it can.
    pub keychain_problem: Option<String>,
}

/// The versions of the app and of what it stands on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// Of the app.
    pub app: String,
    /// Of the history's format.
    pub format: String,
    /// Of SQLite, which is built in.
    pub sqlite: String,
    /// Of the system, as it calls itself.
    pub system: String,
    /// The machine's kind, such as `x86_64`.
    pub architecture: String,
    /// Of what draws the window; none without one.
    pub webview: Option<String>,
}

/// A file to write diagnostics to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveDiagnostics {
    /// The file, absolute.
    pub path: String,
    /// Whether a file that is there may be replaced: a person was asked about it.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub replace: bool,
}

/// How large the data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DataSize {
    /// Bytes of history, settings and recorded values on disk.
    pub bytes: u64,
}

/// Where a copy of the data goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackUp {
    /// The folder that a person picked, absolute; the copy is a new folder in it.
    pub folder: String,
}

/// A copy of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackedUp {
    /// The new folder, absolute.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
}

/// The checks that a criterion can name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckList {
    /// In the order in which a composer offers them.
    pub checks: Vec<CheckInfo>,
}

/// The tools that a plan can use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolList {
    /// In the order in which a planner reads them.
    pub tools: Vec<ToolInfo>,
}

/// The kinds of model servers that can be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// In the order in which the settings show them.
    pub providers: Vec<ProviderInfo>,
}

/// What the app is and where it keeps things.
pub async fn info(app: &App, (): ()) -> Result<AppInfo, AppError> {
    Ok(AppInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        versions: versions(app),
        data_folder: app.data_folder().display().to_string(),
        keychain_problem: app.rooms.keys.problem().await,
    })
}

/// The versions of the app and of what it stands on.
pub(crate) fn versions(app: &App) -> Versions {
    Versions {
        app: env!("CARGO_PKG_VERSION").to_owned(),
        format: store::format().to_string(),
        sqlite: store::sqlite_version().to_owned(),
        system: system(),
        architecture: std::env::consts::ARCH.to_owned(),
        webview: app.rooms.webview.clone(),
    }
}

/// The system as it calls itself, where it has a file about that.
fn system() -> String {
    let told = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    name_in(&told).unwrap_or_else(|| std::env::consts::OS.to_owned())
}

fn name_in(told: &str) -> Option<String> {
    let line = told.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name: String = line
        .chars()
        .filter(|sign| *sign != '"' && !sign.is_control())
        .take(80)
        .collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Writes facts about the app to a file, for somebody who helps.
pub async fn diagnostics(app: &App, request: SaveDiagnostics) -> Result<WrittenDiagnostics, AppError> {
    app.diagnostics(absolute(&request.path)?, request.replace).await
}

/// How large the data is.
pub async fn size(app: &App, (): ()) -> Result<DataSize, AppError> {
    let bytes = app.rooms.store.bytes_on_disk().map_err(ToAppError::to_app_error)?;
    Ok(DataSize { bytes })
}

/// Copies the data into a new folder, while the app is in use.
pub async fn back_up(app: &App, request: BackUp) -> Result<BackedUp, AppError> {
    let now = moment(app.rooms.clock.now_ms()).replace([' ', ':'], "-");
    let folder = absolute(&request.folder)?.join(format!("tepa-backup-{now}"));
    let bytes = app
        .rooms
        .store
        .back_up(&folder)
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(BackedUp {
        path: folder.display().to_string(),
        bytes,
    })
}

fn absolute(path: &str) -> Result<&Path, AppError> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(AppError::new("invalid_request", "a place is named from the root of the disk").hint("Choose the place again."))
}

/// The checks that a criterion can name.
pub async fn checks(app: &App, (): ()) -> Result<CheckList, AppError> {
    Ok(CheckList {
        checks: app.rooms.checks.infos(),
    })
}

/// The tools that a plan can use.
pub async fn tools(app: &App, (): ()) -> Result<ToolList, AppError> {
    let may_search = searching::ready(&app.rooms).await?.is_some();
    let is_there = |name: &str| may_search || name != tools::WEB_SEARCH;
    Ok(ToolList {
        tools: app.rooms.tools.only(is_there).infos(),
    })
}

/// The kinds of model servers that can be set up.
pub async fn providers(_app: &App, (): ()) -> Result<ProviderList, AppError> {
    Ok(ProviderList {
        providers: providers::all().into_iter().map(|kind| kind.info).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_called_as_it_calls_itself() {
        let told = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(name_in(told).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(name_in("ID=x"), None);
        assert_eq!(name_in("PRETTY_NAME=\"\""), None);
    }
}
