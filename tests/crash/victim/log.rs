//! What the victim did, one line each, in a file that outlives it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

pub(crate) struct Log(pub(crate) PathBuf);

impl Log {
    pub(crate) fn line(&self, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        if let Ok(mut file) = file {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
