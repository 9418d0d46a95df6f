//! What a task's file has the app itself do, outside of any step: a command or a request as a rule, a command as a check
//! (tools page, "Permissions"). A file asks for it; it is off until a person allows it, by its content.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hash::Hash;
use crate::rule::{CommandRule, WebhookRule};

/// One such effect, whole: what a person allows is exactly this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TaskEffect {
    /// A command that checks a result.
    Check {
        /// The command line.
        run: String,
    },
    /// A command that is told what happens.
    Command(CommandRule),
    /// An address that is told what happens.
    Webhook(WebhookRule),
}

/// An effect that a task asks for, and whether a person allowed it when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskedEffect {
    /// What is asked for.
    pub effect: TaskEffect,
    /// Its address, by which it is allowed.
    pub hash: Hash,
    /// Whether it is allowed already; the run asks about it otherwise.
    pub allowed: bool,
}

impl AskedEffect {
    /// What is asked for and allowed by nobody yet.
    pub fn new(effect: TaskEffect) -> Self {
        Self {
            hash: effect.hash(),
            effect,
            allowed: false,
        }
    }
}

impl TaskEffect {
    /// The address of all that it says. Whatever is changed in it, it is another one.
    pub fn hash(&self) -> Hash {
        let value = serde_json::to_value(self).unwrap_or_default();
        // Only a number that no rule has could not be written canonically.
        Hash::of_value(&value).unwrap_or_else(|_| Hash::of_bytes(value.to_string().as_bytes()))
    }

    /// What it does, in words that go on after "may" or "wants to". The command or the address stands in it whole.
    pub fn wants(&self) -> String {
        let when = |on: &[crate::ports::hook::HookEvent]| {
            let places: Vec<&str> = on.iter().map(|event| event.words()).collect();
            places.join(", ")
        };
        match self {
            Self::Check { run } => format!("run \"{run}\" to check results"),
            Self::Command(rule) => format!(
                "run \"{}\" {}, with the task, its plans and its results as input",
                rule.run,
                when(&rule.on)
            ),
            Self::Webhook(rule) => format!(
                "send the task, its plans and its results to \"{}\" {}",
                rule.url,
                when(&rule.on)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::hook::HookEvent;

    fn command(run: &str, on: HookEvent) -> TaskEffect {
        TaskEffect::Command(CommandRule {
            run: run.to_owned(),
            on: vec![on],
            timeout: 5_000,
            continue_on_error: false,
        })
    }

    #[test]
    fn whatever_is_changed_in_it_makes_it_another_one() {
        let one = command("./look.sh", HookEvent::PostPlanner);
        assert_eq!(one.hash(), command("./look.sh", HookEvent::PostPlanner).hash());
        for other in [
            command("./look.sh ", HookEvent::PostPlanner),
            command("./look.sh", HookEvent::PreStep),
            TaskEffect::Check {
                run: "./look.sh".to_owned(),
            },
        ] {
            assert_ne!(one.hash(), other.hash(), "{other:?}");
        }
    }

    #[test]
    fn says_all_that_would_be_done() {
        assert_eq!(
            command("./look.sh --all", HookEvent::PreStep).wants(),
            "run \"./look.sh --all\" before each step, with the task, its plans and its results as input"
        );
        let check = TaskEffect::Check {
            run: "make test".to_owned(),
        };
        assert_eq!(check.wants(), "run \"make test\" to check results");
    }

    #[test]
    fn is_written_flat() {
        let written = serde_json::to_value(command("ls", HookEvent::PostStep)).unwrap();
        let expected = serde_json::json!({
            "kind": "command", "run": "ls", "on": ["postStep"], "timeout": 5000, "continueOnError": false,
        });
        assert_eq!(written, expected);
        assert_eq!(
            serde_json::from_value::<TaskEffect>(written).unwrap(),
            command("ls", HookEvent::PostStep)
        );
    }
}
