//! The desktop shell: a window around the app, and the only code that knows Tauri.
//!
//! From the outside in: `window` (what opens), `menu` (what stands above it and in the tray), `ipc` (what the page calls), `event_forwarder` (what it hears), `opened`
//! (the app they reach). What a command does, what is kept and what is allowed is decided below, in the app;
//! nothing is decided here.

mod event_forwarder;
mod ipc;
mod menu;
mod opened;
mod window;

use std::path::{Path, PathBuf};

use opened::Opened;
use tauri::{RunEvent, async_runtime};

/// Opens the window and returns when the person has closed it.
pub fn run() -> tauri::Result<()> {
    let tepa = tauri::Builder::default()
        // First of all plugins, so that a second start ends before it touches anything.
        .plugin(tauri_plugin_single_instance::init(|handle, arguments, folder| {
            window::show(handle);
            opened::hand_over(
                handle,
                arguments.into_iter().skip(1).map(PathBuf::from),
                Path::new(&folder),
            );
        }))
        .plugin(
            tauri_plugin_window_state::Builder::default()
                .with_state_flags(window::REMEMBERED)
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_fs::init())
        .plugin(tauri_plugin_opener::init())
        .manage(Opened::default())
        .on_menu_event(|handle, event| menu::chosen(handle, &event))
        .invoke_handler(tauri::generate_handler![ipc::ipc, menu::menu_bar, menu::menu_tray])
        .setup(|tepa| {
            // Its outcome is the page's first answer.
            async_runtime::spawn(opened::app(tepa.handle().clone()));
            let words = std::env::args_os().skip(1).map(PathBuf::from);
            opened::hand_over(tepa.handle(), words, &std::env::current_dir().unwrap_or_default());
            Ok(window::open(tepa.handle())?)
        })
        .build(tauri::generate_context!())?;
    tepa.run(|handle, event| match event {
        RunEvent::Exit => opened::close(handle),
        // Here files that are opened with the app come by themselves, and not as words of its start.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => {
            let files = urls.into_iter().filter_map(|url| url.to_file_path().ok());
            opened::hand_over(handle, files, Path::new("/"));
        }
        _ => {}
    });
    Ok(())
}

/// Says something in the terminal: without a window or a log it is the only place.
#[expect(clippy::print_stderr, reason = "for what has no other place")]
pub fn say(sentence: &str) {
    eprintln!("{sentence}");
}
