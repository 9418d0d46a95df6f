//! Passes the app's signals on to the page, as they are and in their order.
//!
//! A signal only says that there is something new, so a window that is slow or not yet there misses nothing.

use app::Signals;
use tauri::{AppHandle, Emitter, async_runtime};

/// What the page listens to.
const EVENT: &str = "signal";

/// Passes on until the app is closed.
pub(crate) fn start(handle: AppHandle, mut signals: Signals) {
    async_runtime::spawn(async move {
        while let Some(signal) = signals.next().await {
            if let Err(error) = handle.emit(EVENT, signal) {
                tracing::warn!(%error, "the page did not hear a signal");
            }
        }
    });
}
