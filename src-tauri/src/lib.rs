//! The desktop shell: a window around the app, and the only code that knows Tauri.
//!
//! It opens the window, lets the page call the app, and passes the app's signals on. What a command does, what
//! is kept and what is allowed is decided below, in the app; nothing is decided here.

mod logging;

use tauri::{AppHandle, Manager};

/// Opens the window and returns when the person has closed it.
pub fn run() -> tauri::Result<()> {
    tauri::Builder::default()
        // First of all plugins, so that a second start ends before it touches anything.
        .plugin(tauri_plugin_single_instance::init(|app, _arguments, _folder| {
            show_window(app)
        }))
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_fs::init())
        .plugin(tauri_plugin_opener::init())
        .setup(|app| {
            logging::start(&app.path().app_log_dir()?);
            Ok(())
        })
        .run(tauri::generate_context!())
}

/// Tells the terminal and the log why there is no window.
pub fn say_why_it_did_not_start(error: &tauri::Error) {
    tracing::error!(%error, "the window did not open");
    #[expect(
        clippy::print_stderr,
        reason = "without a window the terminal is the only place to say it"
    )]
    {
        eprintln!("Tepa could not open its window: {error}");
    }
}

fn show_window(app: &AppHandle) {
    let Some(window) = app.get_webview_window("main") else {
        return;
    };
    for outcome in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(error) = outcome {
            tracing::warn!(%error, "the window could not be brought to the front");
        }
    }
}
