//! What a person sees when something cannot be done: the only error that crosses to the window.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What happened, in words, and what to do next. `code` is what programs decide by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct AppError {
    /// Stable, snake_case.
    pub code: String,
    /// What happened, in lower case, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether the same request may succeed if it is made again.
    pub retryable: bool,
    /// Every single problem, when there are several, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl AppError {
    /// An error that trying again will not mend.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            retryable: false,
            problems: Vec::new(),
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks that trying again may help.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }
}

/// One thing that is wrong with something a person or a model wrote, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The path to the place, such as `expectedOutput[0].criteria[2].check`; empty for the whole.
    pub path: String,
    /// What is wrong and what would be right, in words.
    pub message: String,
    /// Whether it only deserves attention (an unknown key) rather than a correction.
    #[serde(default)]
    pub warning: bool,
}

impl Problem {
    /// Something that must be put right.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            warning: false,
        }
    }

    /// Something to look at that stops nothing.
    pub fn warning(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            warning: true,
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            return formatter.write_str(&self.message);
        }
        write!(formatter, "{}: {}", self.path, self.message)
    }
}
