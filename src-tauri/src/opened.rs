//! The app behind the window, opened by whoever asks first.
//!
//! The window does not wait for it: the page is painted while the app opens. Opening that failed is tried again at
//! the next question, so that a person who made room on a disk presses *Try again* and goes on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use app::handed::file_among;
use app::{App, Config};
use contract::AppError;
use tauri::{AppHandle, Manager, async_runtime};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::event_forwarder;

/// How long closing waits for what is still being written. Nothing is lost after that either: a run that did not
/// say goodbye is one that was interrupted, and can be continued.
const PATIENCE: Duration = Duration::from_secs(2);

/// The app, once it is open.
#[derive(Default)]
pub(crate) struct Opened(OnceCell<App>);

/// The app of this window.
pub(crate) async fn app(handle: AppHandle) -> Result<App, AppError> {
    let opened = handle.state::<Opened>();
    opened.0.get_or_try_init(|| open(handle.clone())).await.cloned()
}

async fn open(handle: AppHandle) -> Result<App, AppError> {
    // On a thread of its own: opening is work on files, and its future is not one that moves between threads.
    let opening = async_runtime::spawn_blocking(|| {
        let config = Config {
            webview: tauri::webview_version().ok(),
            ..Config::default()
        };
        async_runtime::block_on(App::open(config))
    });
    let app = opening
        .await
        .map_err(|error| AppError::new("internal", format!("the app did not open: {error}")))??;
    if let Err(error) = app::logging::start(app.data_folder()) {
        crate::say(&format!("Tepa cannot write its log: {error}"));
    }
    event_forwarder::start(handle, app.signals());
    Ok(app)
}

/// Hands the run file among these words to the page, once the app is open.
pub(crate) fn hand_over(handle: &AppHandle, words: impl IntoIterator<Item = PathBuf>, folder: &Path) {
    let Some(file) = file_among(words, folder) else { return };
    let handle = handle.clone();
    async_runtime::spawn(async move {
        match app(handle).await {
            Ok(app) => app.hand_over(file),
            Err(error) => tracing::warn!(%error, "a file that was handed over waits in vain"),
        }
    });
}

/// Leaves every run where it stands; the journal has it.
pub(crate) fn close(handle: &AppHandle) {
    let opened = handle.state::<Opened>();
    let Some(app) = opened.0.get() else { return };
    match async_runtime::block_on(async { timeout(PATIENCE, app.close()).await }) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "the app did not close in order"),
        Err(_) => tracing::warn!("the app was still writing when the window closed"),
    }
}
