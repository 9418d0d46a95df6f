//! Whether a run's models can do what the run needs, said before it starts (models page, "Providers").
//!
//! Only what is known counts: a model of which nobody knows whether it calls tools is let try. What stands in for a model
//! must be able to do the same.

use contract::AppError;
use contract::llm::ModelInfo;
use contract::run::{Part, RunHeader};
use providers::local::{GOOD_CONTEXT, LEAST_CONTEXT};

use crate::model_catalog::ModelCatalog;

/// Refuses a run that one of its models cannot carry out.
pub(crate) fn check(header: &RunHeader, catalog: &ModelCatalog) -> Result<(), AppError> {
    if header.recording.is_some() || header.flow.is_some() {
        return Ok(());
    }
    let roles = &header.roles;
    for part in Part::ALL {
        let model = roles.model(part);
        let calls_tools = matches!(part, Part::ExecutorLow | Part::ExecutorHigh);
        for asked in [Some(model), roles.fallback(Some(part), model)].into_iter().flatten() {
            if let Some(problem) = problem(asked, &catalog.info(asked), calls_tools) {
                return Err(problem);
            }
        }
    }
    Ok(())
}

/// What a model lacks, and what would do.
fn problem(model: &str, known: &ModelInfo, calls_tools: bool) -> Option<AppError> {
    if calls_tools && known.capabilities.tools == Some(false) {
        let message = format!("{model} cannot call tools, and the steps of a plan work through tools");
        return Some(AppError::new("model_unfit", message).hint(
            "Choose a model that calls tools in Settings: on your own machine for example qwen3 or llama3.1, or one of a \
             provider. If it does call tools, test the connection there and say so.",
        ));
    }
    let reads = known.context_window.filter(|window| *window < LEAST_CONTEXT)?;
    let message = format!(
        "{model} reads only {reads} tokens at once as it is set up, and a plan with its tools needs at least {LEAST_CONTEXT}"
    );
    Some(AppError::new("model_unfit", message).hint(format!(
        "Test the connection in Settings, where a model of Ollama can be set up to read {GOOD_CONTEXT} tokens; elsewhere \
         set the context length in the server program, or choose another model."
    )))
}

#[cfg(test)]
mod tests {
    use contract::llm::Capabilities;

    use super::*;

    fn known(tools: Option<bool>, context_window: Option<u64>) -> ModelInfo {
        ModelInfo {
            context_window,
            capabilities: Capabilities {
                tools,
                ..Capabilities::default()
            },
            ..ModelInfo::named("m")
        }
    }

    fn check(known: &ModelInfo, calls_tools: bool, words: Option<&str>) {
        let problem = problem("local:m", known, calls_tools);
        assert_eq!(problem.is_some(), words.is_some(), "{problem:?}");
        if let (Some(problem), Some(words)) = (problem, words) {
            assert!(
                problem.message.contains(words) && problem.code == "model_unfit",
                "{problem}"
            );
            assert!(problem.hint.is_some());
        }
    }

    #[test]
    fn says_what_a_model_lacks_and_lets_an_unknown_one_try() {
        check(&known(None, None), true, None);
        check(&known(Some(true), Some(8_192)), true, None);
        check(&known(Some(false), None), true, Some("cannot call tools"));
        check(&known(Some(false), None), false, None);
        check(&known(Some(true), Some(4_096)), false, Some("reads only 4096 tokens"));
    }
}
