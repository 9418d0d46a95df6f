//! The app itself: its version, its data, and what is registered in it.

use contract::AppError;
use contract::ports::check::CheckInfo;
use contract::ports::tool::ToolInfo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
