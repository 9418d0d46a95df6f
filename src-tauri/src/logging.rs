//! Where the app's log lines go: to the terminal, and to a file per start in the data folder.
//!
//! Every line passes through [`redacted`] on its way out. Keys are wrapped in types that do not print
//! themselves; this is the second lock on the same door, for text that came from outside.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

/// How many earlier starts keep their log.
const KEPT: usize = 9;
/// What a word that looks like a key becomes.
const MASK: &str = "[hidden]";

/// Starts the log. `TEPA_LOG` says what is written, in the words of `RUST_LOG`; a folder that cannot be written
/// to costs the file, never the start.
pub(crate) fn start(folder: &Path) {
    let filter = EnvFilter::try_from_env("TEPA_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let file = open(folder).map(|file| {
        tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(Redacting(Mutex::new(file)))
    });
    let (file, problem) = match file {
        Ok(layer) => (Some(layer), None),
        Err(error) => (None, Some(error)),
    };
    let terminal = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Redacting(Mutex::new(io::stderr())))
        .with_filter(tracing_subscriber::filter::LevelFilter::WARN);
    let started = tracing_subscriber::registry()
        .with(filter)
        .with(file)
        .with(terminal)
        .try_init();
    if let Some(error) = problem.filter(|_| started.is_ok()) {
        tracing::warn!(%error, folder = %folder.display(), "no log file is written");
    }
}

/// A new file named by the second it was opened in; the oldest ones beyond [`KEPT`] go.
fn open(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    for old in surplus(logs_in(folder)?) {
        fs::remove_file(old)?;
    }
    let second = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let path = folder.join(format!("tepa-{second:012}.log"));
    File::options().create(true).append(true).open(path)
}

fn logs_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The files beyond the newest [`KEPT`]; their names sort by age.
fn surplus(mut logs: Vec<PathBuf>) -> Vec<PathBuf> {
    logs.sort();
    logs.truncate(logs.len().saturating_sub(KEPT));
    logs
}

/// The line with everything that looks like a key masked: what follows `Bearer`, and words that start the way
/// the vendors' keys do.
fn redacted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut after_bearer = false;
    for piece in line.split_inclusive(|c: char| c.is_whitespace() || "\"',;()[]{}<>=&?".contains(c)) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || "\"',;()[]{}<>=&?".contains(c));
        let end = &piece[word.len()..];
        if !word.is_empty() && (after_bearer || looks_like_a_key(word)) {
            out.push_str(MASK);
        } else {
            out.push_str(word);
        }
        out.push_str(end);
        if !word.is_empty() {
            after_bearer = word.eq_ignore_ascii_case("bearer");
        }
    }
    out
}

fn looks_like_a_key(word: &str) -> bool {
    let starts = [
        "sk-",
        "sk_",
        "AIza",
        "gsk_",
        "xai-",
        "pplx-",
        "hf_",
        "ghp_",
        "github_pat_",
    ];
    word.len() >= 20 && starts.iter().any(|start| word.starts_with(start))
}

/// Hands out writers that mask before they write; one formatted event is one write.
struct Redacting<W>(Mutex<W>);

struct RedactingLine<'a, W>(&'a Mutex<W>);

impl<'a, W: Write + 'a> MakeWriter<'a> for Redacting<W> {
    type Writer = RedactingLine<'a, W>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactingLine(&self.0)
    }
}

impl<W: Write> Write for RedactingLine<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = redacted(&String::from_utf8_lossy(bytes));
        let mut writer = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        writer.write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut writer = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(redacted(line), expected);
    }

    #[test]
    fn masks_what_follows_bearer() {
        check(
            "authorization: Bearer abc.def, next",
            "authorization: Bearer [hidden], next",
        );
        check(
            "Authorization=\"bearer  t0k3n\"\n",
            "Authorization=\"bearer  [hidden]\"\n",
        );
    }

    #[test]
    fn masks_words_that_look_like_a_vendors_key() {
        check("key=\"sk-ant-0123456789abcdefghij\" sent", "key=\"[hidden]\" sent");
        check(
            "https://x.test/?key=AIzaSy0123456789abcdefghij&alt=sse",
            "https://x.test/?key=[hidden]&alt=sse",
        );
    }

    #[test]
    fn leaves_ordinary_lines_as_they_are() {
        check(
            "step \"read\" of run 0198 took 12 ms (sk-1)\n",
            "step \"read\" of run 0198 took 12 ms (sk-1)\n",
        );
    }

    #[test]
    fn a_line_written_to_the_log_is_masked_in_the_file() {
        let file = Mutex::new(Vec::new());
        RedactingLine(&file).write_all(b"Bearer secret-thing\n").unwrap();
        assert_eq!(file.into_inner().unwrap(), b"Bearer [hidden]\n");
    }

    #[test]
    fn keeps_the_newest_logs_only() {
        let logs = (0..12)
            .rev()
            .map(|n| PathBuf::from(format!("tepa-{n:012}.log")))
            .collect();
        let gone: Vec<_> = (0..3).map(|n| PathBuf::from(format!("tepa-{n:012}.log"))).collect();
        assert_eq!(surplus(logs), gone);
    }
}
