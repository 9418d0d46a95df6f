//! `scratchpad`: what one step leaves for later ones, in the run's own scratchpad.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// What the app writes after every cycle, for the planner to read.
const APPS_OWN: &str = "_execution_summary";

pub(crate) struct Scratchpad;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to do.
    action: Action,
    /// The name of the entry, to read or write it.
    key: Option<String>,
    /// What to write: any JSON value.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
}

/// An explicit null is a value too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Action {
    Read,
    Write,
    List,
}

#[async_trait]
impl Tool for Scratchpad {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "scratchpad".to_owned(),
            description: "Notes that all steps of this run share. read returns { found, key, value? }, write returns \
                { success, key }, list returns { keys }."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        match args.get("action").and_then(Value::as_str) {
            Some("write") => vec![Access::WriteScratchpad],
            _ => Vec::new(),
        }
    }

    fn writes_scratchpad(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let key = || {
            let key = input.key.clone().filter(|key| !key.is_empty());
            key.ok_or_else(|| ToolError::new("write which entry you mean as \"key\""))
        };
        match input.action {
            Action::List => {
                let mut keys: Vec<&String> = context.scratchpad.keys().collect();
                keys.sort();
                Ok(ToolOutput::value(json!({"keys": keys})))
            }
            Action::Read => {
                let key = key()?;
                let entry = context.scratchpad.get(&key);
                Ok(ToolOutput::value(match entry {
                    Some(value) => json!({"found": true, "key": key, "value": value}),
                    None => json!({"found": false, "key": key}),
                }))
            }
            Action::Write => {
                let key = key()?;
                if key == APPS_OWN {
                    let message = format!("\"{APPS_OWN}\" is what the app notes itself; choose another key");
                    return Err(ToolError::new(message));
                }
                let value = input
                    .value
                    .clone()
                    .ok_or_else(|| ToolError::new("write what to keep as \"value\""))?;
                let output = ToolOutput::value(json!({"success": true, "key": key}));
                Ok(ToolOutput {
                    scratchpad: vec![(key, value)],
                    ..output
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indexmap::IndexMap;

    use super::*;
    use crate::test_place::{Place, place};

    fn with_notes() -> Place {
        let mut place = place(&[]);
        let notes = [("b".to_owned(), json!({"n": 1})), ("a".to_owned(), json!("x"))];
        place.context.scratchpad = Arc::new(IndexMap::from(notes));
        place
    }

    #[tokio::test]
    async fn reads_and_lists_what_the_step_sees() {
        let place = with_notes();
        let run = async |args| place.run(&Scratchpad, args).await.unwrap();
        let found = json!({"found": true, "key": "b", "value": {"n": 1}});
        assert_eq!(run(json!({"action": "read", "key": "b"})).await, found);
        assert_eq!(
            run(json!({"action": "read", "key": "c"})).await,
            json!({"found": false, "key": "c"})
        );
        assert_eq!(run(json!({"action": "list"})).await, json!({"keys": ["a", "b"]}));
    }

    #[tokio::test]
    async fn hands_over_what_to_write() {
        let place = with_notes();
        let args = json!({"action": "write", "key": "c", "value": [1, 2]});
        let output = Scratchpad.execute(args.clone(), &place.context).await.unwrap();
        assert_eq!(output.value, json!({"success": true, "key": "c"}));
        assert_eq!(output.scratchpad, [("c".to_owned(), json!([1, 2]))]);
        assert_eq!(Scratchpad.access(&args), [Access::WriteScratchpad]);
        assert_eq!(Scratchpad.access(&json!({"action": "list"})), []);
    }

    #[tokio::test]
    async fn asks_for_what_is_missing() {
        let place = with_notes();
        let failed = async |args| place.run(&Scratchpad, args).await.unwrap_err().message;
        assert!(failed(json!({"action": "read"})).await.contains("\"key\""));
        assert!(
            failed(json!({"action": "write", "key": "a"}))
                .await
                .contains("\"value\"")
        );
    }

    #[tokio::test]
    async fn what_the_app_notes_itself_is_not_overwritten() {
        let args = json!({"action": "write", "key": "_execution_summary", "value": "all went well"});
        let error = place(&[]).run(&Scratchpad, args).await.unwrap_err();
        assert!(error.message.contains("choose another key"), "{error}");
    }
}
