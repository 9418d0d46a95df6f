//! The app itself: its version, its data, and what is registered in it.

use contract::AppError;
use contract::ports::check::CheckInfo;
use contract::ports::tool::ToolInfo;
use providers::info::ProviderInfo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;

/// What the app is and where it keeps things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// The version of the app.
    pub version: String,
    /// Where history, settings and logs are, absolute.
    pub data_folder: String,
    /// Why the system's keychain cannot keep keys, in words; none when it can.
    pub keychain_problem: Option<String>,
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
        data_folder: app.data_folder().display().to_string(),
        keychain_problem: app.rooms.keys.problem().await,
    })
}

/// The checks that a criterion can name.
pub async fn checks(app: &App, (): ()) -> Result<CheckList, AppError> {
    Ok(CheckList {
        checks: app.rooms.checks.infos(),
    })
}

/// The tools that a plan can use.
pub async fn tools(app: &App, (): ()) -> Result<ToolList, AppError> {
    Ok(ToolList {
        tools: app.rooms.tools.infos(),
    })
}

/// The kinds of model servers that can be set up.
pub async fn providers(_app: &App, (): ()) -> Result<ProviderList, AppError> {
    Ok(ProviderList {
        providers: providers::all().into_iter().map(|kind| kind.info).collect(),
    })
}
