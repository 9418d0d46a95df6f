//! What a server is: how it is reached, and the names of what it is given. The values are in the keychain.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The longest name of a server, in bytes: it stands before a tool's in the 64 that models take.
pub const LONGEST_NAME: usize = 32;

/// A server that a person added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerConfig {
    /// Its name here: letters, digits, `_` and `-`.
    pub name: String,
    /// How it is reached.
    pub launch: Launch,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Launch {
    /// A program on this computer, talked to through its input and output.
    Program {
        /// The program, looked for where programs are.
        command: String,
        /// Its arguments, which are shown. In the place of a secret stands `${name}`.
        args: Vec<String>,
        /// The variables that it is given, by name.
        variables: Vec<String>,
        /// The folder in which it starts; the person's own when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        folder: Option<String>,
        /// The names of the values that stand in its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        hidden: Vec<String>,
    },
    /// An address, asked over HTTP.
    Address {
        /// Where it is. In the place of a secret stands `${name}`.
        url: String,
        /// The headers that are sent along, by name.
        headers: Vec<String>,
        /// The names of the values that stand in its address.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        hidden: Vec<String>,
    },
}

impl Launch {
    /// The names of the values that belong to it.
    pub fn names(&self) -> Vec<String> {
        let (named, hidden) = match self {
            Self::Program { variables, hidden, .. } => (variables, hidden),
            Self::Address { headers, hidden, .. } => (headers, hidden),
        };
        named.iter().chain(hidden).cloned().collect()
    }
}

/// A name as servers have them here; none when nothing of it can be used.
pub fn name_of(written: &str) -> Option<String> {
    let mut name = String::new();
    for letter in written.trim().chars() {
        let letter = if letter.is_ascii_alphanumeric() || letter == '_' {
            letter
        } else {
            '-'
        };
        // Two underlines part the server from the tool.
        if !(matches!(letter, '_' | '-') && name.ends_with(['_', '-'])) {
            name.push(letter);
        }
    }
    name.truncate(LONGEST_NAME);
    let name = name.trim_matches(['_', '-']);
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Option<&str>) {
        assert_eq!(name_of(written).as_deref(), expected, "{written:?}");
    }

    #[test]
    fn a_name_can_stand_before_a_tools() {
        check("time", Some("time"));
        check(" Brave Search ", Some("Brave-Search"));
        check("a__b", Some("a_b"));
        check("@scope/server", Some("scope-server"));
        check("Büro", Some("B-ro"));
        check("日本", None);
        check(&"x".repeat(99), Some(&"x".repeat(32)));
    }
}
