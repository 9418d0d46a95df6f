//! What a server says about itself: the last lines, for its page, and a file of its own. Values that it was given by name
//! do not stand in it.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How many lines are kept for the page.
const LINES: usize = 100;
/// How much of a line is kept, in bytes.
const LONGEST: usize = 500;
/// A file that is larger starts anew, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Shorter values are no secrets, and taking them out would garble the lines.
const SHORTEST_SECRET: usize = 4;

/// The log of one server. Cheap to clone.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    lines: VecDeque<String>,
    path: Option<PathBuf>,
    file: Option<(File, u64)>,
    secrets: Vec<SecretString>,
}

impl Log {
    /// A log that is written to this file too.
    pub fn at(path: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(Kept {
            path: Some(path),
            ..Kept::default()
        })))
    }

    /// Makes values known that must not stand in it.
    pub fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s SecretString>) {
        let mut kept = self.kept();
        for secret in secrets {
            if secret.expose_secret().len() >= SHORTEST_SECRET {
                kept.secrets.push(secret.clone());
            }
        }
        // A value that holds another is taken out first.
        kept.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        kept.secrets
            .dedup_by(|one, other| one.expose_secret() == other.expose_secret());
    }

    /// Adds a line.
    pub fn say(&self, line: &str) {
        self.kept().say(line);
    }

    /// The last lines, the oldest first.
    pub fn tail(&self, most: usize) -> Vec<String> {
        let kept = self.kept();
        let left = kept.lines.len().saturating_sub(most);
        kept.lines.iter().skip(left).cloned().collect()
    }

    /// The last thing that was said; empty when nothing was.
    pub fn last(&self) -> String {
        self.tail(1).pop().unwrap_or_default()
    }

    /// Reads a stream to its end, line by line, however long they are.
    pub(crate) async fn read(self, mut stream: impl AsyncRead + Unpin) {
        let mut piece = vec![0; 8 * 1024];
        let mut line = Vec::new();
        while let Ok(read @ 1..) = stream.read(&mut piece).await {
            for part in piece[..read].split_inclusive(|byte| *byte == b'\n') {
                // Of a line without an end only the beginning is kept.
                let room = (4 * LONGEST).saturating_sub(line.len());
                line.extend_from_slice(&part[..part.len().min(room)]);
                if part.ends_with(b"\n") {
                    self.say(&String::from_utf8_lossy(&line));
                    line.clear();
                }
            }
        }
        if !line.is_empty() {
            self.say(&String::from_utf8_lossy(&line));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn say(&mut self, line: &str) {
        let hidden = self.secrets.iter().fold(line.to_owned(), |line, secret| {
            line.replace(secret.expose_secret(), "[value removed]")
        });
        let plain = plain(&hidden);
        if plain.trim().is_empty() {
            return;
        }
        self.write(&plain);
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(plain);
    }

    /// A log that cannot be written keeps its lines for the page, and stops nothing.
    fn write(&mut self, line: &str) {
        let Some(path) = &self.path else { return };
        if self.file.as_ref().is_none_or(|(_, size)| *size > LARGEST) {
            let _ = path.parent().map(std::fs::create_dir_all);
            self.file = made(path).ok().map(|file| (file, 0));
        }
        if let Some((file, size)) = &mut self.file {
            let _ = writeln!(file, "{line}");
            *size += line.len() as u64 + 1;
        }
    }
}

/// An empty file, which is its owner's alone.
fn made(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A line without what a terminal would obey, and not too long.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut letters = line.trim_end().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if letters.peek() == Some(&'[') => {
                letters.next();
                for end in letters.by_ref() {
                    if ('@'..='~').contains(&end) {
                        break;
                    }
                }
            }
            '\t' => plain.push(' '),
            letter if letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter) => {}
            letter => plain.push(letter),
        }
        if plain.len() >= LONGEST {
            plain.push('…');
            break;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_the_last_lines_however_much_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::at(folder.path().join("logs/a.log"));
        let mut flood = Vec::new();
        for n in 0..50_000 {
            flood.extend_from_slice(format!("line {n} {}\n", "x".repeat(40)).as_bytes());
        }
        flood.extend_from_slice(&vec![b'y'; 3_000_000]);
        flood.extend_from_slice(b"\n\xff\x00\x1b[31mred\x1b[0m\n\n");
        log.clone().read(&flood[..]).await;
        let tail = log.tail(3);
        assert!(tail[0].starts_with("line 49999"), "{tail:?}");
        assert!(tail[1].starts_with("yyy") && tail[1].len() < 600);
        assert_eq!(tail[2], "\u{fffd}red");
        assert_eq!(log.tail(1_000).len(), LINES);
        let size = std::fs::metadata(folder.path().join("logs/a.log")).unwrap().len();
        assert!(size <= LARGEST + 4 * LONGEST as u64, "{size}");
    }

    #[test]
    fn shows_no_value_that_the_server_was_given() {
        let log = Log::default();
        log.hide(&[
            SecretString::from("sk-1"),
            SecretString::from("sk-1234"),
            SecretString::from("on"),
        ]);
        log.say("token sk-1234, sk-1, on");
        assert_eq!(log.last(), "token [value removed], [value removed], on");
    }
}
