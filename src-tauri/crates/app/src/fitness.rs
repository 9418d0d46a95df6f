//! Whether a run's models can do what the run needs, said before it starts (models page, "Providers").
//!
//! Only what is known counts: what a server nearby does not say of itself when it is asked, nobody holds against its
//! model. What stands in for a model
//! must be able to do the same.

use contract::AppError;
use contract::llm::ModelInfo;
use contract::run::{Part, RunHeader};
use providers::endpoint;
use providers::local::{self, GOOD_CONTEXT, LEAST_CONTEXT};

use crate::app::Rooms;
use crate::model_catalog::{self, ModelCatalog};
use crate::roles::ENDPOINT_PROVIDER;
use crate::{accounts, flow_models, settings};

/// What is known of models once those on machines nearby were looked at of which nobody has said anything yet. Their own
/// server programs are asked, for nothing and for no longer than a second or two each; what they say is remembered.
pub(crate) async fn look(rooms: &Rooms, models: &[&str]) -> Result<ModelCatalog, AppError> {
    let catalog = model_catalog::read(rooms).await?;
    let settings = settings::read(&rooms.store).await?;
    let mut unknown: Vec<&str> = models
        .iter()
        .filter(|model| is_unknown(&catalog.info(model)))
        .copied()
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    let mut learned = false;
    for model in unknown {
        let Some((account, name)) = model.split_once(':') else {
            continue;
        };
        let found = accounts::find(rooms, &settings, account).filter(|found| found.account.kind == ENDPOINT_PROVIDER);
        let Some(base_url) = found
            .and_then(|found| found.base_url)
            .filter(|url| endpoint::is_near(url))
        else {
            continue;
        };
        if let Some(probed) = local::said(&base_url, name, &rooms.clock).await {
            model_catalog::remember_probe(rooms, account, &base_url, probed.info(name)).await?;
            learned = true;
        }
    }
    match learned {
        true => model_catalog::read(rooms).await,
        false => Ok(catalog),
    }
}

/// Whether something that a run rests on is not known of it.
fn is_unknown(known: &ModelInfo) -> bool {
    known.capabilities.tools.is_none() || known.context_window.is_none()
}

/// Refuses a run that one of its models cannot carry out.
pub(crate) fn check(header: &RunHeader, catalog: &ModelCatalog) -> Result<(), AppError> {
    if header.recording.is_some() {
        return Ok(());
    }
    // Of a flow it is known who is given tools; how much its questions need is its author's.
    if let Some(flow) = header.flow.as_deref() {
        let mut asked = flow_models::calling_tools(flow);
        asked.extend(
            asked
                .clone()
                .into_iter()
                .filter_map(|model| header.roles.fallback(None, model)),
        );
        let refused = asked
            .into_iter()
            .find_map(|model| no_tools(model, &catalog.info(model)));
        return refused.map_or(Ok(()), Err);
    }
    let roles = &header.roles;
    let asked = |part| {
        let model = roles.model(part);
        [Some(model), roles.fallback(Some(part), model)].into_iter().flatten()
    };
    // What no setting can mend comes first.
    let of_tools = [Part::ExecutorLow, Part::ExecutorHigh]
        .into_iter()
        .flat_map(asked)
        .find_map(|model| no_tools(model, &catalog.info(model)));
    let of_room = || {
        Part::ALL
            .into_iter()
            .flat_map(asked)
            .find_map(|model| no_room(model, &catalog.info(model)))
    };
    of_tools.or_else(of_room).map_or(Ok(()), Err)
}

/// That a model calls no tools, and what would do.
fn no_tools(model: &str, known: &ModelInfo) -> Option<AppError> {
    if known.capabilities.tools != Some(false) {
        return None;
    }
    let message = format!("{model} cannot call tools, and the steps of a plan work through tools");
    Some(AppError::new("model_unfit", message).hint(
        "Choose a model that calls tools in Settings: on your own machine for example qwen3 or llama3.1, or one of a \
         provider. If it does call tools, test the connection there and say so.",
    ))
}

/// That a model reads too little at once, and what would do.
fn no_room(model: &str, known: &ModelInfo) -> Option<AppError> {
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
        let tools = calls_tools.then(|| no_tools("local:m", known)).flatten();
        let problem = tools.or_else(|| no_room("local:m", known));
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
