//! The window itself: where its page keeps things, and how it comes to the front.

use app::paths::Places;
use tauri::{AppHandle, Manager, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

/// Its name in tauri.conf.json and in the capability.
const LABEL: &str = "main";

/// What is remembered of it between two starts.
pub(crate) const REMEMBERED: StateFlags = StateFlags::SIZE
    .union(StateFlags::POSITION)
    .union(StateFlags::MAXIMIZED);

/// Opens the window as tauri.conf.json describes it. What the page remembers lies in the data folder like all the
/// rest, so that another data folder is another Tepa.
pub(crate) fn open(handle: &AppHandle) -> tauri::Result<()> {
    let Some(config) = handle.config().app.windows.iter().find(|window| window.label == LABEL) else {
        return Err(tauri::Error::WindowNotFound);
    };
    let mut window = WebviewWindowBuilder::from_config(handle, config)?;
    // Without a data folder the page still opens, and shows what the app says about that.
    if let Ok(places) = Places::find(None) {
        window = window.data_directory(places.data.join("page"));
    }
    window.build()?;
    Ok(())
}

/// Brings the window to the front, for a person who started Tepa a second time.
pub(crate) fn show(handle: &AppHandle) {
    let Some(window) = handle.get_webview_window(LABEL) else {
        return;
    };
    for outcome in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(error) = outcome {
            tracing::warn!(%error, "the window could not be brought to the front");
        }
    }
}
