//! The menu bar and the symbol in the system's tray. Their words and what they do are the page's: it says what there
//! is, and hears which entry was chosen. Deliberately not here: any word that a person reads, but for what macOS wants in
//! every menu bar.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
#[cfg(target_os = "macos")]
use tauri::menu::SubmenuBuilder;
use tauri::menu::{IsMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem, Submenu};
use tauri::tray::{MouseButton, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Emitter, Wry};

use crate::window;

/// What the page listens to: the name of the entry that was chosen.
const EVENT: &str = "menu";
/// The one entry that needs no page.
const QUIT: &str = "quit";
/// In front of the names of what stands in the tray, since both kinds of entry are told in one place.
const TRAY: &str = "tray/";
/// The tray's symbol.
const SYMBOL: &str = "tepa";

/// Something to choose, or a line between two such things where there is no name.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Entry {
    /// What the page calls it.
    id: String,
    /// What a person reads.
    title: String,
    /// The keys that do the same, such as `CmdOrCtrl+N`.
    keys: Option<String>,
}

/// One menu of the bar.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Group {
    title: String,
    /// `None` is a line.
    entries: Vec<Option<Entry>>,
}

/// What stands in the tray.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Tray {
    /// What its symbol says when it is pointed at.
    standing: String,
    /// `None` is a line.
    entries: Vec<Option<Entry>>,
}

/// Shows this bar instead of the one before.
#[tauri::command]
pub(crate) fn menu_bar(handle: AppHandle, bar: Vec<Group>) {
    beside_the_page(&handle, move |handle| make_bar(handle, &bar));
}

/// Shows this in the tray instead of what was there before.
#[tauri::command]
pub(crate) fn menu_tray(handle: AppHandle, tray: Tray) {
    beside_the_page(&handle, move |handle| make_tray(handle, &tray));
}

/// Menus belong to the thread of the window. Nobody needs them, so that what goes wrong with them is only noted; and a
/// tray without its library does not refuse but panics.
fn beside_the_page(handle: &AppHandle, work: impl FnOnce(&AppHandle) -> tauri::Result<()> + Send + 'static) {
    let again = handle.clone();
    let begun = handle.run_on_main_thread(move || match catch_unwind(AssertUnwindSafe(|| work(&again))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "a menu could not be made"),
        Err(_) => tracing::info!("this system has no library for symbols in the tray"),
    });
    if let Err(error) = begun {
        tracing::warn!(%error, "a menu could not be made");
    }
}

/// Passes on what was chosen.
pub(crate) fn chosen(handle: &AppHandle, event: &MenuEvent) {
    let name = event.id().as_ref();
    let name = match name.strip_prefix(TRAY) {
        // Who chooses something beside the window wants to see it.
        Some(name) if name != QUIT => {
            window::show(handle);
            name
        }
        Some(name) => name,
        None => name,
    };
    if name == QUIT {
        handle.exit(0);
    } else if let Err(error) = handle.emit(EVENT, name) {
        tracing::warn!(%error, "the page did not hear what was chosen");
    }
}

fn make_bar(handle: &AppHandle, groups: &[Group]) -> tauri::Result<()> {
    let bar = Menu::new(handle)?;
    #[cfg(target_os = "macos")]
    bar.append(&of_the_system(handle)?)?;
    for (place, group) in groups.iter().enumerate() {
        // There the keys for copying and pasting work only where a menu has them, after the first one by custom.
        #[cfg(target_os = "macos")]
        if place == 1 {
            bar.append(&editing(handle)?)?;
        }
        let submenu = Submenu::with_id(handle, format!("menu-{place}"), &group.title, true)?;
        for entry in &group.entries {
            submenu.append(&*item(handle, "", entry.as_ref())?)?;
        }
        bar.append(&submenu)?;
    }
    handle.set_menu(bar).map(drop)
}

/// The menu with the app's own name, in the system's words.
#[cfg(target_os = "macos")]
fn of_the_system(handle: &AppHandle) -> tauri::Result<Submenu<Wry>> {
    let menu = SubmenuBuilder::new(handle, &handle.package_info().name);
    menu.services()
        .separator()
        .hide()
        .hide_others()
        .show_all()
        .separator()
        .quit()
        .build()
}

#[cfg(target_os = "macos")]
fn editing(handle: &AppHandle) -> tauri::Result<Submenu<Wry>> {
    let menu = SubmenuBuilder::new(handle, "Edit");
    menu.undo().redo().separator().cut().copy().paste().select_all().build()
}

fn make_tray(handle: &AppHandle, tray: &Tray) -> tauri::Result<()> {
    let menu = Menu::new(handle)?;
    for entry in &tray.entries {
        menu.append(&*item(handle, TRAY, entry.as_ref())?)?;
    }
    if let Some(symbol) = handle.tray_by_id(SYMBOL) {
        symbol.set_menu(Some(menu))?;
        return symbol.set_tooltip(Some(&tray.standing));
    }
    let mut symbol = TrayIconBuilder::with_id(SYMBOL)
        .menu(&menu)
        .tooltip(&tray.standing)
        .show_menu_on_left_click(false)
        .on_tray_icon_event(|symbol, event| {
            let is_left = |button| button == MouseButton::Left;
            if matches!(event, TrayIconEvent::Click { button, .. } if is_left(button)) {
                window::show(symbol.app_handle());
            }
        });
    if let Some(icon) = handle.default_window_icon() {
        symbol = symbol.icon(icon.clone());
    }
    symbol.build(handle).map(drop)
}

/// An entry, or the line that stands for none.
fn item(handle: &AppHandle, place: &str, entry: Option<&Entry>) -> tauri::Result<Box<dyn IsMenuItem<Wry>>> {
    let Some(Entry { id, title, keys }) = entry else {
        return Ok(Box::new(PredefinedMenuItem::separator(handle)?));
    };
    let item = MenuItem::with_id(handle, format!("{place}{id}"), title, true, keys.as_deref())?;
    Ok(Box::new(item))
}
