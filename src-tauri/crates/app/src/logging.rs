//! The log: one file in the data folder, without keys.
//!
//! Every key that passes through the app is made known here first, and taken out of every line. Events, tasks and
//! files are not logged at all; the journal has them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A log that has grown beyond this starts anew; the old one is kept beside it.
const LARGE: u64 = 5 * 1024 * 1024;
/// Shorter keys, such as `ollama`, are no secrets, and taking them out would garble the log.
const SHORTEST_SECRET: usize = 8;
/// What stands in the place of a key.
const REMOVED: &str = "[key removed]";

static SECRETS: Mutex<Vec<SecretString>> = Mutex::new(Vec::new());

/// Starts the log of this process. A process that has one already keeps it.
pub fn start(data_folder: &Path) -> io::Result<()> {
    let folder = data_folder.join("logs");
    store::private::own_folder(&folder)?;
    let path = folder.join("tepa.log");
    if path.metadata().is_ok_and(|metadata| metadata.len() > LARGE) {
        std::fs::rename(&path, folder.join("tepa.old.log"))?;
    }
    drop(store::private::own_file(&path)?);
    let file = OpenOptions::new().append(true).open(path)?;
    let filter = EnvFilter::try_from_env("TEPA_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn,rmcp=error"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(LogFile(Arc::new(file)));
    let _ = subscriber.try_init();
    Ok(())
}

/// Makes a key known, so that it never stands in the log.
pub(crate) fn hide(key: &SecretString) {
    if key.expose_secret().len() < SHORTEST_SECRET {
        return;
    }
    let mut secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    if !secrets.iter().any(|known| known.expose_secret() == key.expose_secret()) {
        secrets.push(key.clone());
    }
}

/// Forgets the copy of a key that is deleted, which is zeroed with it. It passes through the app no more.
pub(crate) fn forget(key: &SecretString) {
    let mut secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    secrets.retain(|known| known.expose_secret() != key.expose_secret());
}

fn without_keys(line: &str) -> String {
    let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    secrets
        .iter()
        .fold(line.to_owned(), |line, key| line.replace(key.expose_secret(), REMOVED))
}

#[derive(Clone)]
struct LogFile(Arc<File>);

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for LogFile {
    /// Called once for every whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let clean = without_keys(&String::from_utf8_lossy(line));
        (&*self.0).write_all(clean.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_log_is_its_owners_alone_in_a_folder_that_others_may_look_into() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        start(folder.path()).unwrap();
        let mode = |path: &str| folder.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("logs"), mode("logs/tepa.log")), (0o700, 0o600));
    }

    #[test]
    fn a_key_never_stands_in_the_log() {
        hide(&SecretString::from("sk-very-secret-1"));
        assert_eq!(
            without_keys("sent sk-very-secret-1 twice: sk-very-secret-1"),
            format!("sent {REMOVED} twice: {REMOVED}")
        );
    }

    #[test]
    fn the_copy_of_a_key_goes_with_the_key() {
        let key = SecretString::from("sk-deleted-later-1");
        hide(&key);
        forget(&key);
        let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(secrets.iter().all(|known| known.expose_secret() != key.expose_secret()));
    }

    #[test]
    fn a_short_word_is_no_secret() {
        hide(&SecretString::from("local"));
        assert_eq!(without_keys("a local server"), "a local server");
    }
}
