//! The one command that the page can call. Which commands that reaches is the app's table, not Tauri's.

use contract::AppError;
use serde_json::Value;
use tauri::AppHandle;

use crate::opened;

/// Passes a request on to the app. A command without a request may leave it out.
#[tauri::command]
pub(crate) async fn ipc(handle: AppHandle, name: String, request: Option<Value>) -> Result<Value, AppError> {
    let app = opened::app(handle).await?;
    app::ipc::dispatch(&app, &name, request.unwrap_or_default()).await
}
