//! What a step says should happen next: a closed set, strictly read (kernel page, "Commands").
//!
//! Deliberately not here: carrying them out; [`super::work`] does.

use contract::hash::{Hash, NotCanonical, canonical};
use contract::ids::RunId;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::audit::present;

/// What should happen next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Command {
    /// Run a step.
    Invoke {
        /// Its name.
        step: String,
        /// Its input.
        input: Value,
    },
    /// Run a step once for each input.
    Fanout {
        /// Its name.
        step: String,
        /// The inputs.
        inputs: Vec<Value>,
    },
    /// Let a person look first; the other commands wait.
    Review {
        /// Why, in words.
        reason: String,
        /// What to look at.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        payload: Option<Value>,
    },
    /// Tell the outside.
    Emit {
        /// Under which topic.
        topic: String,
        /// What.
        payload: Value,
    },
    /// Wait for data from outside; the other commands are dropped.
    Suspend {
        /// What is waited for, in words.
        reason: String,
        /// What the step needs to go on.
        checkpoint: Value,
        /// The step that goes on; the same one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text")]
        resume_step: Option<String>,
    },
}

/// A name that is there: `null` is none.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Category {
    /// It runs steps.
    Control,
    /// Nothing goes on before somebody answers.
    Blocking,
    /// It reaches the outside, and is never repeated.
    Effect,
}

impl Command {
    /// Reads a command: one of the five, all its fields, no other field, and no empty name.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let command: Self = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
        let named = match &command {
            Self::Invoke { step, .. } | Self::Fanout { step, .. } => vec![("step", step)],
            Self::Emit { topic, .. } => vec![("topic", topic)],
            Self::Review { reason, .. } => vec![("reason", reason)],
            Self::Suspend {
                reason, resume_step, ..
            } => {
                let resume_step = resume_step.iter().map(|step| ("resumeStep", step));
                std::iter::once(("reason", reason)).chain(resume_step).collect()
            }
        };
        match named.into_iter().find(|(_, text)| text.is_empty()) {
            Some((field, _)) => Err(format!("`{field}` must not be empty")),
            None => Ok(command),
        }
    }

    /// Run a step.
    pub fn invoke(step: impl Into<String>, input: Value) -> Self {
        Self::Invoke {
            step: step.into(),
            input,
        }
    }

    /// Tell the outside.
    pub fn emit(topic: impl Into<String>, payload: Value) -> Self {
        Self::Emit {
            topic: topic.into(),
            payload,
        }
    }

    /// What it does.
    pub fn category(&self) -> Category {
        match self {
            Self::Invoke { .. } | Self::Fanout { .. } => Category::Control,
            Self::Review { .. } | Self::Suspend { .. } => Category::Blocking,
            Self::Emit { .. } => Category::Effect,
        }
    }

    /// The address by which a command that is delivered twice is known.
    ///
    /// # Errors
    /// A value in it has no canonical form.
    pub fn dedupe(&self, workflow: &str, run: &RunId, step: &str) -> Result<Hash, NotCanonical> {
        Hash::of_value(&json!({ "workflow": workflow, "run": run, "step": step, "command": self }))
    }
}

/// The commands of a result, which may hold at most one that blocks.
///
/// # Errors
/// There are more.
pub fn blocking(commands: &[Command]) -> Result<Option<usize>, String> {
    let mut blocking = commands
        .iter()
        .enumerate()
        .filter(|(_, command)| command.category() == Category::Blocking);
    let first = blocking.next().map(|(index, _)| index);
    if blocking.next().is_some() {
        return Err("a step returned multiple blocking commands: review or suspend, and one of them".to_owned());
    }
    Ok(first)
}

/// Commands as they are compared: only what they mean, sorted by type, by step or topic, by content.
///
/// # Errors
/// A value in them has no canonical form.
pub fn normalise(commands: &[Command]) -> Result<Vec<Value>, NotCanonical> {
    let values: Vec<Value> = commands.iter().map(|command| json!(command)).collect();
    normalise_values(&values)
}

/// As [`normalise`], for stored commands, to which a runner may have added words of its own.
///
/// # Errors
/// A value in them has no canonical form.
pub fn normalise_values(commands: &[Value]) -> Result<Vec<Value>, NotCanonical> {
    let mut sorted = commands
        .iter()
        .map(|command| {
            let meant = meaning(command);
            let text = |field: &str| meant.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            let order = (text("type"), text("step") + &text("topic"), canonical(&meant)?);
            Ok((order, meant))
        })
        .collect::<Result<Vec<_>, NotCanonical>>()?;
    sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(sorted.into_iter().map(|(_, command)| command).collect())
}

/// The fields that make up a command's meaning.
fn meaning(command: &Value) -> Value {
    let fields: &[&str] = match command.get("type").and_then(Value::as_str) {
        Some("invoke") => &["type", "step", "input"],
        Some("fanout") => &["type", "step", "inputs"],
        Some("review") => &["type", "reason", "payload"],
        Some("emit") => &["type", "topic", "payload"],
        Some("suspend") => &["type", "reason", "checkpoint", "resumeStep"],
        _ => return command.clone(),
    };
    let kept = fields
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), command.get(field)?.clone())));
    Value::Object(kept.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, expected: Option<Category>) {
        let parsed = Command::parse(&value);
        assert_eq!(
            parsed.as_ref().ok().map(Command::category),
            expected,
            "{value} {parsed:?}"
        );
        if let Ok(command) = parsed {
            assert_eq!(json!(command), value, "it is written as it was read");
        }
    }

    #[test]
    fn reads_the_five_commands() {
        check(
            json!({"type": "invoke", "step": "a", "input": null}),
            Some(Category::Control),
        );
        check(
            json!({"type": "fanout", "step": "a", "inputs": []}),
            Some(Category::Control),
        );
        check(json!({"type": "review", "reason": "a"}), Some(Category::Blocking));
        check(
            json!({"type": "review", "reason": "a", "payload": null}),
            Some(Category::Blocking),
        );
        check(
            json!({"type": "emit", "topic": "a", "payload": 1}),
            Some(Category::Effect),
        );
        check(
            json!({"type": "suspend", "reason": "a", "checkpoint": {}, "resumeStep": "b"}),
            Some(Category::Blocking),
        );
    }

    #[test]
    fn refuses_everything_else() {
        check(json!({"type": "fan_out", "step": "a", "inputs": []}), None);
        check(json!({"type": "invoke", "step": "", "input": {}}), None);
        check(json!({"type": "invoke", "step": "a"}), None);
        check(json!({"type": "invoke", "step": "a", "input": {}, "id": 1}), None);
        check(json!({"type": "fanout", "step": "a", "inputs": {}}), None);
        check(json!({"type": "emit", "topic": "", "payload": {}}), None);
        check(
            json!({"type": "suspend", "reason": "a", "checkpoint": {}, "resumeStep": ""}),
            None,
        );
        check(json!("invoke"), None);
    }

    #[test]
    fn at_most_one_command_may_block() {
        let review = Command::parse(&json!({"type": "review", "reason": "a"})).unwrap();
        let emit = Command::emit("t", json!(1));
        assert_eq!(blocking(&[emit.clone(), review.clone()]), Ok(Some(1)));
        assert_eq!(blocking(&[emit]), Ok(None));
        assert!(blocking(&[review.clone(), review]).is_err());
    }

    #[test]
    fn what_a_runner_added_does_not_count() {
        let stored = json!([{"type": "emit", "topic": "t", "payload": 1, "id": "c-1", "at": 5}]);
        let normal = normalise_values(stored.as_array().unwrap()).unwrap();
        assert_eq!(normal, [json!({"type": "emit", "topic": "t", "payload": 1})]);
    }

    #[test]
    fn a_command_is_known_by_workflow_run_step_and_content() {
        let hash =
            |workflow: &str, step: &str, n: u8| Command::emit("t", json!(n)).dedupe(workflow, &RunId::new("r"), step);
        assert_eq!(hash("w", "s", 1), hash("w", "s", 1));
        for other in [hash("v", "s", 1), hash("w", "z", 1), hash("w", "s", 2)] {
            assert_ne!(hash("w", "s", 1), other);
        }
    }
}
