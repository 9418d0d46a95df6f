//! What the app and the process that reads a document say to each other. The app sends a line with its [`Order`] and the
//! bytes of the file; the process answers with a line that says how it is held, and one with its [`Report`].

use contract::ports::documents::{DocumentError, DocumentText, Facts, Sheet};
use serde::{Deserialize, Serialize};

/// More is not handed over, in bytes.
pub(crate) const MOST: usize = 48 * 1024 * 1024;

/// What is asked of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Question {
    /// Its words.
    Text,
    /// The rows of one of its sheets.
    Sheet {
        /// Which one; the first that is not hidden when there is none.
        name: Option<String>,
    },
    /// What it is.
    Facts,
}

/// A document to be read; its bytes follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    pub(crate) question: Question,
    /// How many bytes follow.
    pub(crate) length: u64,
    /// What reading it may take of memory, in MB.
    pub(crate) megabytes: u64,
    /// What it may take of the processor's time, in seconds.
    pub(crate) seconds: u64,
}

/// How the process is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// The version of Landlock's rules that keep it from all files; 0 where there is no Landlock.
    pub landlock: u8,
    /// Whether it may ask nothing of the kernel but memory.
    pub system_calls: bool,
    /// Whether the kernel counts its memory and time.
    pub limits: bool,
}

impl Held {
    /// What is missing of what a process must be held by; none when it may read. Without Landlock it opens no file
    /// either: the filter lets nothing be opened.
    pub(crate) fn missing(self) -> Option<&'static str> {
        match (self.system_calls, self.limits) {
            (true, true) => None,
            (false, _) => Some("its system calls cannot be filtered"),
            (true, false) => Some("its memory and time cannot be limited"),
        }
    }

    /// In words, for whoever asks how a document was read.
    pub(crate) fn words(self) -> String {
        let landlock = match self.landlock {
            0 => String::new(),
            abi => format!("landlock {abi}, "),
        };
        format!("{landlock}a filter of system calls, limits of memory and time")
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Report {
    Text(DocumentText),
    Sheet(Sheet),
    Facts(Facts),
    Failed(DocumentError),
}
