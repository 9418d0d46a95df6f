//! `ask_person`: a question to the person, who may take their time. The engine asks; nothing is executed.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{Question, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

pub(crate) struct AskPerson;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What the person reads: one clear question, with all that they need to answer it.
    #[schemars(length(min = 1))]
    question: String,
    /// The answers to choose from; without them the person answers in their own words.
    #[serde(default)]
    choices: Vec<String>,
}

#[async_trait]
impl Tool for AskPerson {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "ask_person".to_owned(),
            description:
                "Asks the person who started the task and waits for the answer, which is returned as text. Only \
                for what the files and the task cannot tell."
                    .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    fn asks(&self, args: &Value) -> Option<Question> {
        let Input { question, choices } = input::read(args).ok()?;
        let answer = match choices.as_slice() {
            [] => json!({ "type": "string", "minLength": 1 }),
            _ => json!({ "type": "string", "enum": choices }),
        };
        Some(Question { text: question, answer })
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new("nobody was there to be asked"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_for_words_or_for_one_of_the_choices() {
        let asked = |args: Value| AskPerson.asks(&args).unwrap();
        let free = asked(json!({"question": "Which year?"}));
        assert_eq!(
            (free.text.as_str(), free.answer),
            ("Which year?", json!({"type": "string", "minLength": 1}))
        );
        let one = asked(json!({"question": "Which?", "choices": ["a", "b"]}));
        assert_eq!(one.answer, json!({"type": "string", "enum": ["a", "b"]}));
        assert_eq!(AskPerson.access(&json!({"question": "Which?"})), []);
    }
}
