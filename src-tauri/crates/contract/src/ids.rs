//! Names of things. An id is opaque text; a key is an address inside one run.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(pub String);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// One execution of a task; a UUID of version 7, so ids sort by the time they were made.
    RunId
}

text_id! {
    /// Where in a run something happened, such as `cycle/1/step/step_3#0/tool/1/call`.
    ///
    /// Keys never depend on timing; `(run, key)` is unique in the journal. What belongs to a leaf
    /// but is not its result hangs off its key with a colon: `…/call/0:started`.
    Key
}

impl Key {
    /// The address one level below this one.
    pub fn child(&self, part: impl fmt::Display) -> Self {
        Self(format!("{}/{part}", self.0))
    }

    /// An entry that accompanies the one at this address, such as `started`.
    pub fn mark(&self, what: impl fmt::Display) -> Self {
        Self(format!("{}:{what}", self.0))
    }
}
