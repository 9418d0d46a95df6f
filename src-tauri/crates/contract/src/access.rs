//! What a step may touch: the envelope that a person approves, and what a tool asks for.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One thing that a tool call would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Access {
    /// Reads this path, relative to the working folder.
    Read {
        /// As the tool was given it.
        path: String,
    },
    /// Changes or makes this path.
    Write {
        /// As the tool was given it.
        path: String,
    },
    /// Writes to the run's scratchpad.
    WriteScratchpad,
}

impl Access {
    /// Whether the call leaves a trace in the world, so that repeating it is not harmless.
    pub fn is_effect(&self) -> bool {
        match self {
            Self::Write { .. } => true,
            Self::Read { .. } | Self::WriteScratchpad => false,
        }
    }
}

/// What a run may touch, shown with the plan and approved with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// The working folder, absolute.
    pub folder: String,
    /// Whether files in it may be changed; reading it is always part of the grant.
    pub write: bool,
    /// The most tokens the run may use.
    pub max_tokens: u64,
    /// The most cycles it may take.
    pub max_cycles: u32,
}

/// What the envelope says about one access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Inside the envelope.
    Allow,
    /// Outside it, with the reason in words.
    Deny(String),
}
