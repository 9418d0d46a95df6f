//! Data out of a model, and what becomes of a model's failure.

use async_trait::async_trait;
use contract::hash::Hash;
use contract::llm::{LlmError, LlmErrorCode};
use contract::{RunId, StepError};
use engine::kernel::Outcome as Kernel;
use engine::kernel::audit::{LlmTrace, StepArtifact};
use engine::kernel::extract::{Asked, AsksModel, ExtractionStep};
use engine::kernel::run_step::{RunOptions, run};
use engine::kernel::step::OnArtifact;
use serde_json::{Value, json};

use super::stub::{failed, in_words};
use crate::case::{Case, Outcome};
use crate::expect::fields;
use crate::world::wait;

/// A model that says one thing.
struct Model(Result<Asked, StepError>);

#[async_trait]
impl AsksModel for Model {
    type Question = ();

    async fn ask(&self, _question: ()) -> Kernel<Asked> {
        Ok(self.0.clone())
    }
}

/// Somebody who is handed artifacts and fails.
fn fails(_artifact: &StepArtifact) -> Result<(), StepError> {
    Err(StepError::new("failed", "the callback failed"))
}

/// A step that extracts, with a model that answers what the case says.
pub(super) fn extraction(case: &Case) -> Result<Outcome, String> {
    let llm = case.need("llm")?;
    let failure = ["error", "fail", "failure"].iter().find_map(|field| llm.get(field));
    let answer = match (failure, llm["content"].as_str()) {
        (Some(failure), _) => Err(step_error(failure)?),
        (None, Some(content)) => Ok(answer(content, false, case.get("trace"))?),
        (None, None) => return Err("the model neither answers nor fails".to_owned()),
    };
    let actual = extract(Model(answer), case.need("schema")?, None)?;
    fields(case.need("expect")?, &actual)?;
    Ok(Outcome::Passed)
}

fn extract(model: Model, schema: &Value, on_artifact: Option<&OnArtifact>) -> Result<Value, String> {
    let step: ExtractionStep<Model> = ExtractionStep {
        name: "extract".to_owned(),
        input: json!({ "type": "object" }),
        output: schema.clone(),
        request: Box::new(|_input, _context| Ok(())),
    };
    let options = RunOptions {
        on_artifact,
        ..RunOptions::default()
    };
    let result = wait(run(&step, json!({}), &model, options, &|| RunId::new("run")));
    let result = result.map_err(|halt| format!("it halted: {halt:?}"))?;
    let mut actual = in_words(&result);
    if let Ok(result) = &result {
        let kinds: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.kind.as_str()).collect();
        actual["artifactKinds"] = json!(kinds);
        actual["data"] = json!(result.output);
    }
    Ok(actual)
}

fn step_error(failure: &Value) -> Result<StepError, String> {
    let text = |field: &str| failure[field].as_str();
    let code = text("code").ok_or("the failure has no code")?;
    let retryable = failure["retryable"].as_bool().unwrap_or_default();
    Ok(StepError::new(code, text("message").unwrap_or("it failed")).retryable(retryable))
}

fn answer(content: &str, called_a_tool: bool, trace: Option<&Value>) -> Result<Asked, String> {
    let input = json!({ "model": "test" });
    let output = json!({ "model": "test", "content": content, "finishReason": "stop" });
    let hash = |value: &Value| Hash::of_value(value).map_err(|error| error.to_string());
    let trace = match trace {
        Some(trace) => serde_json::from_value(trace.clone()).map_err(|error| format!("`trace`: {error}"))?,
        None => LlmTrace {
            model: "test".to_owned(),
            prompt_tokens: 10,
            completion_tokens: 20,
            duration_ms: 100,
            input_hash: hash(&input)?,
            output_hash: hash(&output)?,
            input: None,
            output: None,
        },
    };
    Ok(Asked {
        content: content.to_owned(),
        called_a_tool,
        trace,
        input,
        output,
    })
}

/// What a model's failure is called, and whether it is safe to ask again.
pub(super) fn failures(case: &Case) -> Result<Outcome, String> {
    case.need_text("provider")?;
    let failure = case.need("failure")?;
    let known = |field: &str| failure.get(field).is_some_and(|value| *value != Value::Bool(false));
    let without_words = |called_a_tool| -> Result<Value, String> {
        let schema = json!({ "type": "object" });
        extract(Model(Ok(answer("", called_a_tool, None)?)), &schema, None)
    };
    let callback = failure
        .as_object()
        .into_iter()
        .flatten()
        .any(|(name, _)| name.to_lowercase().contains("artifact") || name.contains("callback"));
    let actual = if callback {
        extract(
            Model(Ok(answer("{}", false, None)?)),
            &json!({ "type": "object" }),
            Some(&fails),
        )?
    } else if [
        "content_has_tool_use",
        "tool_use",
        "mixed_text_and_tool_use",
        "text_and_tool_use",
    ]
    .iter()
    .any(|field| known(field))
    {
        without_words(true)?
    } else if known("empty_choices") || known("choices") || known("no_choices") {
        let error = providers::answer_of("http://host", &json!({ "choices": [] })).err();
        failed(&error.ok_or("no choice counts as an answer")?.into_step_error())
    } else if known("empty_content") {
        without_words(false)?
    } else if let Some(status) = failure["status"].as_u64() {
        let words = failure.get("message").cloned().unwrap_or_else(|| json!("it failed"));
        let body = json!({ "error": { "message": words, "code": failure.get("code"), "type": failure.get("type") } });
        let status = u16::try_from(status).map_err(|error| error.to_string())?;
        let error = providers::failure_of("http://host", status, body.to_string().as_bytes());
        failed(&error.into_step_error())
    } else if failure.get("code").is_some() || failure.get("type").is_some() {
        // Some servers say it in the body of an answer alone.
        let body = json!({ "error": { "code": failure.get("code"), "type": failure.get("type") } });
        failed(&providers::failure_of("http://host", 400, body.to_string().as_bytes()).into_step_error())
    } else if failure.as_object().is_some_and(serde_json::Map::is_empty)
        || ["network", "message", "error"].iter().any(|field| known(field))
        || failure.get("status").is_some_and(Value::is_null)
    {
        failed(&LlmError::new(LlmErrorCode::Connection, "nobody answers").into_step_error())
    } else {
        return Err(format!("nothing is known about the failure {failure}"));
    };
    fields(case.need("expect")?, &actual)?;
    Ok(Outcome::Passed)
}
