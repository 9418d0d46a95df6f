//! Getting data out of a model (seed *verist-steps*, "Extraction steps"): ask, strip a fence, read
//! JSON, hold it against the whole schema.
//!
//! Planner and judge ask through [`ask_model`] and note the same event. They are no [`ExtractionStep`]s:
//! they find the JSON in prose too, hold it against rules that no schema says, and tell the model what
//! was wrong before they give up.

use async_trait::async_trait;
use contract::hash::Hash;
use contract::step::{StepError, code};
use serde_json::{Value, json};

use super::audit::{AuditEvent, LlmTrace, StepArtifact};
use super::driver::{Driver, Outcome};
use super::model_call::{ModelAnswer, ModelCall};
use super::snapshot::unnamed;
use super::step::{Fault, Step, StepContext, StepReturn, settle};
use crate::schema;

/// The event that an extraction notes when it succeeds.
pub const EXTRACTED: &str = "llm.extracted";

/// A world with a model in it.
#[async_trait]
pub trait AsksModel: Send + Sync {
    /// How a question is put to it.
    type Question: Send;

    /// Asks; the failure of a model is a failure of the step.
    async fn ask(&self, question: Self::Question) -> Outcome<Asked>;
}

/// A model's answer, with what belongs to it for an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its words.
    pub content: String,
    /// Whether it called a tool, where words were asked for.
    pub called_a_tool: bool,
    /// The call in numbers and addresses.
    pub trace: LlmTrace,
    /// The request as it was sent; its address is in the trace.
    pub input: Value,
    /// `{ model, content, finishReason }`; its address is in the trace.
    pub output: Value,
}

#[async_trait]
impl AsksModel for Driver {
    type Question = ModelCall;

    async fn ask(&self, question: ModelCall) -> Outcome<Asked> {
        let key = question.key.clone();
        let answer = match self.ask_model(question).await? {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(error)),
        };
        Ok(asked(&answer, self.duration_of(&key)))
    }
}

/// An answer of a provider with its trace.
///
/// # Errors
/// A value in it has no canonical form.
pub fn asked(answer: &ModelAnswer, duration_ms: u64) -> Result<Asked, StepError> {
    let response = &answer.response;
    let input = json!(answer.request);
    let output = json!({ "model": response.model, "content": response.text, "finishReason": response.finish_reason });
    let trace = LlmTrace {
        model: response.model.clone(),
        prompt_tokens: response.usage.input,
        completion_tokens: response.usage.output,
        duration_ms,
        input_hash: Hash::of_value(&input).map_err(unnamed)?,
        output_hash: Hash::of_value(&output).map_err(unnamed)?,
        input: None,
        output: None,
    };
    Ok(Asked {
        content: response.text.clone(),
        called_a_tool: !response.tool_uses.is_empty(),
        trace,
        input,
        output,
    })
}

/// What an extraction found.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The data, with defaults and without unknown keys.
    pub data: Value,
    /// The answer that it stood in.
    pub asked: Asked,
}

/// Asks a model for words, and hands on request and answer as artifacts when it answers.
pub async fn ask<A: AsksModel + ?Sized>(context: &StepContext<'_, A>, question: A::Question) -> Outcome<Asked> {
    let asked = match context.adapters.ask(question).await? {
        Ok(asked) => asked,
        Err(error) => return Ok(Err(error)),
    };
    Ok(words_only(asked).and_then(|asked| {
        hand_on(context, &asked)?;
        Ok(asked)
    }))
}

/// As [`ask`], for a step of the app that reads the whole answer itself and may ask again: planner and
/// judge. What it makes of it, it notes with [`note`].
pub async fn ask_model(context: &StepContext<'_>, question: ModelCall) -> Outcome<(ModelAnswer, LlmTrace)> {
    let key = question.key.clone();
    let answer = match context.adapters.ask_model(question).await? {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(error)),
    };
    let asked = asked(&answer, context.adapters.duration_of(&key));
    Ok(asked.and_then(|asked| {
        hand_on(context, &asked)?;
        Ok((answer, asked.trace))
    }))
}

/// Hands on request and answer as artifacts.
fn hand_on<A: ?Sized>(context: &StepContext<'_, A>, asked: &Asked) -> Result<(), StepError> {
    let artifact = |kind: &str, hash: &Hash, content: &Value| StepArtifact {
        kind: kind.to_owned(),
        hash: hash.clone(),
        content: Some(content.clone()),
    };
    let handed_on = [
        artifact("llm-input", &asked.trace.input_hash, &asked.input),
        artifact("llm-output", &asked.trace.output_hash, &asked.output),
    ];
    for artifact in handed_on {
        let handed = context.on_artifact(artifact);
        handed.map_err(|error| StepError::new(code::CALLBACK_ERROR, error.message))?;
    }
    Ok(())
}

/// A tool call where words were asked for is the provider's failure, which repeating does not mend. No words at all
/// are an answer: they are no JSON.
fn words_only(asked: Asked) -> Result<Asked, StepError> {
    if asked.called_a_tool {
        let message = "the model called a tool where it was asked for words";
        return Err(StepError::new(code::PROVIDER_ERROR, message));
    }
    Ok(asked)
}

/// Asks a model for data of this shape.
///
/// # Errors
/// `json_error` (safe to repeat) when the answer is no JSON, `schema_error` when it has another shape,
/// and the model's own failures.
pub async fn extract<A: AsksModel + ?Sized>(
    context: &StepContext<'_, A>,
    question: A::Question,
    schema: &Value,
) -> Outcome<Extracted> {
    let asked = match ask(context, question).await? {
        Ok(asked) => asked,
        Err(error) => return Ok(Err(error)),
    };
    let data = match read(&asked.content, schema) {
        Ok(data) => data,
        Err(error) => return Ok(Err(error)),
    };
    note(context, &asked.trace);
    Ok(Ok(Extracted { data, asked }))
}

/// Notes that an extraction succeeded.
pub fn note<A: ?Sized>(context: &StepContext<'_, A>, trace: &LlmTrace) {
    context.emit_event(AuditEvent {
        llm_trace: Some(trace.clone()),
        ..AuditEvent::new(EXTRACTED)
    });
}

/// The data in a model's words.
///
/// # Errors
/// `json_error` or `schema_error`.
pub fn read(content: &str, schema: &Value) -> Result<Value, StepError> {
    let value: Value = serde_json::from_str(without_fence(content)).map_err(|error| {
        StepError::new(
            code::JSON_ERROR,
            format!("JSON.parse failed: the answer is no JSON: {error}"),
        )
        .retryable(true)
    })?;
    schema::normalise(schema, value).map_err(|problems| {
        let message = format!("Schema validation failed: {}", problems.join("; "));
        StepError::new(code::SCHEMA_ERROR, message)
    })
}

/// The text inside a fence that opens it, or the text itself.
fn without_fence(content: &str) -> &str {
    let text = content.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let inside = inside.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// A step that asks a model once and returns the data.
pub struct ExtractionStep<A: AsksModel + ?Sized> {
    /// Its name.
    pub name: String,
    /// JSON Schema of its input.
    pub input: Value,
    /// JSON Schema of the data; all of it, not partial.
    pub output: Value,
    /// The question for an input.
    pub request: Box<Request<A>>,
}

/// Makes the question of an [`ExtractionStep`] from its input.
pub type Request<A> =
    dyn Fn(&Value, &StepContext<'_, A>) -> Result<<A as AsksModel>::Question, StepError> + Send + Sync;

#[async_trait]
impl<A: AsksModel + ?Sized> Step<A> for ExtractionStep<A> {
    fn name(&self) -> &str {
        &self.name
    }

    fn input_schema(&self) -> Value {
        self.input.clone()
    }

    fn output_schema(&self) -> Value {
        self.output.clone()
    }

    async fn run(&self, input: Value, context: &StepContext<'_, A>) -> Result<StepReturn, Fault> {
        let question = (self.request)(&input, context)?;
        let extracted = settle(extract(context, question, &self.output).await)?;
        Ok(StepReturn::output(extracted.data))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::ids::RunId;
    use futures::executor::block_on;

    use super::super::run_step::{RunOptions, run};
    use super::super::step::StepResult;
    use super::*;

    fn check(content: &str, expected: Result<Value, (&str, bool)>) {
        let schema = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } } });
        let found = read(content, &schema).map_err(|error| (error.code, error.retryable));
        assert_eq!(
            found,
            expected.map_err(|(code, retryable)| (code.to_owned(), retryable)),
            "{content}"
        );
    }

    /// Says the same to whatever it is asked, and keeps the questions.
    struct Model(&'static str, Mutex<Vec<Value>>);

    #[async_trait]
    impl AsksModel for Model {
        type Question = Value;

        async fn ask(&self, question: Value) -> Outcome<Asked> {
            self.1.lock().unwrap().push(question.clone());
            let output = json!({ "content": self.0 });
            Ok(Ok(Asked {
                content: self.0.to_owned(),
                called_a_tool: false,
                trace: LlmTrace {
                    model: "m".to_owned(),
                    prompt_tokens: 1,
                    completion_tokens: 1,
                    duration_ms: 1,
                    input_hash: Hash::of_value(&question).unwrap(),
                    output_hash: Hash::of_value(&output).unwrap(),
                    input: None,
                    output: None,
                },
                input: question,
                output,
            }))
        }
    }

    fn run_with(model: &Model, step: &dyn Step<Model>) -> Result<StepResult, StepError> {
        let options = RunOptions::default();
        block_on(run(step, json!({"text": "seven"}), model, options, &|| RunId::new("r"))).unwrap()
    }

    fn number() -> ExtractionStep<Model> {
        ExtractionStep {
            name: "number".to_owned(),
            input: json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } }),
            output: json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } }),
            request: Box::new(|input, _context| Ok(json!({ "about": input["text"] }))),
        }
    }

    #[test]
    fn the_question_is_made_from_the_input_and_the_answer_read_by_the_schema() {
        let model = Model("{\"n\": 7, \"more\": 1}", Mutex::default());
        let result = run_with(&model, &number()).unwrap();
        assert_eq!(result.output, json!({"n": 7}));
        assert_eq!(*model.1.lock().unwrap(), [json!({"about": "seven"})]);
        let wrong = Model("{\"n\": \"7\"}", Mutex::default());
        assert_eq!(run_with(&wrong, &number()).unwrap_err().code, code::SCHEMA_ERROR);
    }

    #[test]
    fn an_answer_without_words_is_no_json_and_may_be_asked_for_again() {
        let error = run_with(&Model("", Mutex::default()), &number()).unwrap_err();
        assert_eq!((&*error.code, error.retryable), (code::JSON_ERROR, true));
    }

    #[test]
    fn request_and_answer_are_artifacts_at_the_addresses_of_the_trace() {
        let result = run_with(&Model("{\"n\": 7}", Mutex::default()), &number()).unwrap();
        let trace = result.events[0].llm_trace.clone().unwrap();
        let found: Vec<_> = result
            .artifacts
            .iter()
            .map(|artifact| (&*artifact.kind, &artifact.hash))
            .collect();
        assert_eq!(
            found,
            [("llm-input", &trace.input_hash), ("llm-output", &trace.output_hash)]
        );
        assert_eq!(result.artifacts[0].content, Some(json!({"about": "seven"})));
    }

    /// A step that extracts in the middle of its own work.
    struct Doubles;

    #[async_trait]
    impl Step<Model> for Doubles {
        fn name(&self) -> &str {
            "doubles"
        }

        fn input_schema(&self) -> Value {
            json!({ "type": "object" })
        }

        fn output_schema(&self) -> Value {
            json!({ "type": "object", "properties": { "twice": { "type": "integer" } } })
        }

        async fn run(&self, _input: Value, context: &StepContext<'_, Model>) -> Result<StepReturn, Fault> {
            let found = settle(extract(context, json!("how many?"), &number().output).await)?;
            Ok(StepReturn::output(
                json!({ "twice": found.data["n"].as_i64().unwrap() * 2 }),
            ))
        }
    }

    #[test]
    fn a_step_of_ones_own_may_extract_too() {
        let result = run_with(&Model("```\n{\"n\": 7}\n```", Mutex::default()), &Doubles).unwrap();
        assert_eq!(result.output, json!({"twice": 14}));
        assert_eq!(result.events[0].kind, EXTRACTED);
    }

    #[test]
    fn data_stands_alone_or_in_a_fence() {
        for content in [
            "{\"a\": 1}",
            "  {\"a\": 1}\n",
            "```json\n{\"a\": 1}\n```",
            "```\r\n{\"a\": 1}```  ",
            "```json\n{\"a\": 1, \"b\": 2}",
        ] {
            check(content, Ok(json!({"a": 1})));
        }
    }

    #[test]
    fn no_json_is_worth_another_try_and_another_shape_is_not() {
        check("I cannot.", Err((code::JSON_ERROR, true)));
        check("", Err((code::JSON_ERROR, true)));
        check("{\"a\": \"1\"}", Err((code::SCHEMA_ERROR, false)));
        check("{}", Err((code::SCHEMA_ERROR, false)));
    }
}
