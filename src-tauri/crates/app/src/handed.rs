//! A file that the system hands to the app: a person opened a run file with it, or named one when they started it.
//!
//! Nothing is read here. The page takes the name, says what it would do with the file, and imports it when the person
//! says so.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::app::App;
use crate::event_log::Signal;

/// The ending of a run file, as `tauri.conf.json` has it for the systems.
const ENDING: &str = "tepa";

/// The file that no page has taken yet; the newest one.
#[derive(Debug, Default)]
pub(crate) struct Handed(Mutex<Option<PathBuf>>);

impl App {
    /// Hands a file over to the page, which takes it when it is there.
    pub fn hand_over(&self, file: PathBuf) {
        *self.rooms.handed.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        self.rooms.events.say(Signal::FileHanded);
    }

    /// The file that was handed over, once.
    pub(crate) fn take_handed(&self) -> Option<PathBuf> {
        self.rooms
            .handed
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// The run file among the words that the app was started with in a folder, its own name left out; none when there is no
/// such file.
pub fn file_among(words: impl IntoIterator<Item = PathBuf>, folder: &Path) -> Option<PathBuf> {
    let files = words.into_iter().map(|word| folder.join(word));
    let mut runs = files.filter(|file| {
        file.extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
    });
    runs.find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, KeyPlace};

    #[test]
    fn a_run_file_is_found_among_the_words_of_a_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("run.TEPA"), "x").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
        let found = |words: &[&str]| file_among(words.iter().map(PathBuf::from), folder.path());
        assert_eq!(found(&["run.TEPA"]), Some(folder.path().join("run.TEPA")));
        assert_eq!(found(&["--flag", "notes.txt", "gone.tepa"]), None);
        assert_eq!(found(&[]), None);
        let whole = folder.path().join("run.TEPA");
        assert_eq!(file_among([whole.clone()], Path::new("/elsewhere")), Some(whole));
    }

    #[tokio::test]
    async fn a_handed_file_is_told_and_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let app = App::open(Config {
            data_folder: Some(folder.path().to_owned()),
            keys: KeyPlace::Memory,
            ..Config::default()
        });
        let app = app.await.unwrap();
        let mut signals = app.signals();
        app.hand_over(PathBuf::from("/runs/one.tepa"));
        assert_eq!(signals.next().await, Some(Signal::FileHanded));
        assert_eq!(app.take_handed(), Some(PathBuf::from("/runs/one.tepa")));
        assert_eq!(app.take_handed(), None);
        app.close().await.unwrap();
    }
}
