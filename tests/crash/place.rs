//! The folders of a victim, and starting it there.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The program that is started.
pub(crate) const VICTIM: &str = env!("CARGO_BIN_EXE_crash_work");
/// Longer than any of them takes, in seconds: whoever is not done by then hangs.
const HANGS: &str = "120";

/// Where a victim works.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// How a victim ended, and what it said and did.
#[derive(Debug)]
pub(crate) struct Ran {
    status: ExitStatus,
    /// What it printed.
    pub(crate) said: Vec<String>,
    /// What it complained about.
    pub(crate) complained: String,
    /// The model calls and tool executions that it began.
    pub(crate) log: Vec<String>,
}

impl Place {
    /// Empty folders.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// Empties the folders.
    pub(crate) fn clear(&self) {
        for name in ["data", "work"] {
            let _ = std::fs::remove_dir_all(self.root().join(name));
        }
        std::fs::create_dir(self.root().join("work")).unwrap();
    }

    /// The folder that holds the others.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// A file of the working folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root().join("work").join(name)
    }

    /// The files of the working folder with what is in them, temporary ones apart.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(self.root().join("work")).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if !name.starts_with(".tepa-") {
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
        files
    }

    /// Starts the victim under another program, which may do it harm.
    pub(crate) fn run_under(&self, program: &[&str], how: &[&str]) -> Ran {
        let log = self.root().join("log");
        let _ = std::fs::remove_file(&log);
        let under = match program {
            [] => &["timeout", HANGS],
            _ => program,
        };
        let output = Command::new(under[0])
            .args(&under[1..])
            .arg(VICTIM)
            .arg(self.root())
            .args(how)
            .stdin(Stdio::null())
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap();
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        Ran {
            status: output.status,
            said: lines(&String::from_utf8_lossy(&output.stdout)),
            complained: String::from_utf8_lossy(&output.stderr).into_owned(),
            log: lines(&log),
        }
    }

    /// Starts the victim undisturbed.
    pub(crate) fn run(&self, how: &[&str]) -> Ran {
        self.run_under(&[], how)
    }
}

impl Ran {
    /// Whether it was killed.
    pub(crate) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Whether its run came to an end.
    pub(crate) fn finished(&self) -> bool {
        self.status.success()
    }

    /// An error unless its run came to an end.
    pub(crate) fn must_finish(&self) -> Result<(), String> {
        self.no_panic()?;
        match self.finished() {
            true => Ok(()),
            false => Err(format!(
                "it did not go on: {:?} {} {:?}",
                self.status,
                self.complained,
                self.said.last()
            )),
        }
    }

    /// An error when it hung or panicked.
    pub(crate) fn no_panic(&self) -> Result<(), String> {
        if self.status.code() == Some(124) {
            return Err("it hangs".to_owned());
        }
        match self.complained.contains("panicked at") {
            true => Err(format!("it panicked: {}", self.complained)),
            false => Ok(()),
        }
    }

    /// The last entry of which it was told that it is written, or synced.
    pub(crate) fn told(&self, words: &[&str]) -> u64 {
        let numbers = self.said.iter().filter_map(|line| {
            let (word, number) = line.split_once(' ')?;
            words.contains(&word).then(|| number.parse().ok())?
        });
        numbers.max().unwrap_or(0)
    }
}
