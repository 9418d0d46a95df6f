//! Which model does what: the task's wishes, then the settings.

use contract::AppError;
use contract::flow::Dialect;
use contract::run::{Fallbacks, Part, PerRole, Roles};
use contract::task::TaskModels;

use crate::commands::settings::Endpoint;

/// The name of the provider behind the settings' endpoint.
pub(crate) const ENDPOINT_PROVIDER: &str = "openai_compatible";

/// Gives every role a model, written `provider:model`. `providers` are the names that may stand before the colon;
/// without one, the model is the endpoint's.
pub(crate) fn assign(
    wishes: Option<&TaskModels>,
    endpoint: Option<&Endpoint>,
    providers: &[&str],
    fallbacks: &Fallbacks,
) -> Result<Roles, AppError> {
    let full_name = |model: &String| match model.split_once(':') {
        Some((provider, _)) if providers.contains(&provider) => model.clone(),
        // Models have colons in their names too, such as `llama3:8b`.
        _ => format!("{ENDPOINT_PROVIDER}:{model}"),
    };
    let usual = endpoint.map(|endpoint| format!("{ENDPOINT_PROVIDER}:{}", endpoint.model));
    let wished = wishes.cloned().unwrap_or_default();
    let steps = wished.executor.unwrap_or_default();
    let planner = wished.planner.as_ref().map(full_name).or(usual);
    let role = |wish: Option<&String>| wish.map(full_name).or_else(|| planner.clone()).ok_or_else(no_model);
    let roles = Roles {
        planner: role(None)?,
        judge: role(wished.judge.as_ref())?,
        executor_low: role(steps.low.as_ref().or(steps.high.as_ref()))?,
        executor_high: role(steps.high.as_ref().or(steps.low.as_ref()))?,
        reasoning: wished.reasoning,
        fallbacks: Fallbacks::default(),
    };
    Ok(Roles {
        fallbacks: meant(fallbacks, &roles, full_name),
        ..roles
    })
}

/// The fallbacks that can be asked in a run with these roles, in their whole names: no model stands in for itself, and
/// the model of a task may still be asked of any account.
fn meant(set: &Fallbacks, roles: &Roles, full_name: impl Fn(&String) -> String) -> Fallbacks {
    let of = |part: Part| {
        let fallback = full_name(set.roles.of(part)?);
        (fallback != roles.model(part)).then_some(fallback)
    };
    let accounts = set.accounts.iter();
    Fallbacks {
        roles: PerRole {
            planner: of(Part::Planner),
            judge: of(Part::Judge),
            executor_low: of(Part::ExecutorLow),
            executor_high: of(Part::ExecutorHigh),
        },
        accounts: accounts
            .map(|(account, model)| (account.clone(), full_name(model)))
            .collect(),
    }
}

/// A flow's model, written `provider:model`. A manifest names a provider of its own system; where it is not one of
/// ours, the model is the endpoint's.
pub(crate) fn full_name(model: &str, dialect: Dialect, providers: &[String]) -> String {
    match (model.split_once(':'), dialect) {
        (Some((provider, _)), _) if providers.iter().any(|known| known == provider) => model.to_owned(),
        (Some((_, name)), Dialect::Manifest) => format!("{ENDPOINT_PROVIDER}:{name}"),
        _ => format!("{ENDPOINT_PROVIDER}:{model}"),
    }
}

/// The models of the roles, and those that stand in for any of these models.
pub(crate) fn with_fallbacks<'a>(roles: &'a Roles, models: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Part::ALL.iter().map(|part| roles.model(*part)).chain(models).collect();
    let of_roles = Part::ALL
        .iter()
        .filter_map(|part| roles.fallback(Some(*part), roles.model(*part)));
    let of_models = all.iter().filter_map(|model| roles.fallback(None, model));
    let fallbacks: Vec<&str> = of_roles.chain(of_models).collect();
    all.extend(fallbacks);
    all
}

/// The names of the providers that these models need.
pub(crate) fn providers_of<'a>(models: &[&'a str]) -> Vec<&'a str> {
    let mut names: Vec<&str> = models
        .iter()
        .filter_map(|model| model.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The code of [`no_model`].
pub(crate) const NO_MODEL: &str = "no_model";

/// No model was chosen yet.
pub(crate) fn no_model() -> AppError {
    AppError::new(NO_MODEL, "no model is connected yet")
        .hint("Open Settings and enter the address of a model server and the name of a model.")
}

#[cfg(test)]
mod tests {
    use contract::task::ExecutorModels;

    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            base_url: "http://localhost:11434/v1".to_owned(),
            model: "qwen3:8b".to_owned(),
        }
    }

    fn check(wishes: TaskModels, endpoint: Option<Endpoint>, expected: [&str; 4]) {
        let known = [ENDPOINT_PROVIDER, "scripted"];
        let roles = assign(Some(&wishes), endpoint.as_ref(), &known, &Fallbacks::default()).unwrap();
        let [planner, judge, executor_low, executor_high] = expected.map(str::to_owned);
        assert_eq!(
            roles,
            Roles {
                planner,
                judge,
                executor_low,
                executor_high,
                ..Roles::all("")
            }
        );
    }

    fn text(words: &str) -> Option<String> {
        Some(words.to_owned())
    }

    #[test]
    fn the_settings_model_does_everything_by_default() {
        check(
            TaskModels::default(),
            Some(endpoint()),
            ["openai_compatible:qwen3:8b"; 4],
        );
    }

    #[test]
    fn a_task_names_its_own_models() {
        let executor = Some(ExecutorModels {
            low: text("llama3:8b"),
            ..ExecutorModels::default()
        });
        let wishes = TaskModels {
            planner: text("scripted:clever"),
            executor,
            ..TaskModels::default()
        };
        let small = "openai_compatible:llama3:8b";
        check(
            wishes,
            Some(endpoint()),
            ["scripted:clever", "scripted:clever", small, small],
        );
    }

    #[test]
    fn a_planner_without_an_endpoint_does_everything() {
        let wishes = TaskModels {
            planner: text("scripted:clever"),
            ..TaskModels::default()
        };
        check(wishes, None, ["scripted:clever"; 4]);
    }

    #[test]
    fn without_any_model_there_is_no_run() {
        assert_eq!(
            assign(None, None, &[], &Fallbacks::default()).unwrap_err().code,
            "no_model"
        );
    }

    #[test]
    fn a_fallback_stands_in_for_the_model_that_it_was_set_for_and_never_for_itself() {
        let set = Fallbacks {
            roles: PerRole {
                planner: text("scripted:spare"),
                judge: text("scripted:clever"),
                ..PerRole::default()
            },
            accounts: [(ENDPOINT_PROVIDER.to_owned(), "llama3:8b".to_owned())].into(),
        };
        let wishes = TaskModels {
            planner: text("scripted:clever"),
            ..TaskModels::default()
        };
        let roles = assign(Some(&wishes), Some(&endpoint()), &[ENDPOINT_PROVIDER, "scripted"], &set).unwrap();
        assert_eq!(
            roles.fallback(Some(Part::Planner), "scripted:clever"),
            Some("scripted:spare")
        );
        // Another role with the same model shares it; a model of the account has the account's.
        assert_eq!(
            roles.fallback(Some(Part::Judge), "scripted:clever"),
            Some("scripted:spare")
        );
        let small = "openai_compatible:llama3:8b";
        assert_eq!(roles.fallback(None, "openai_compatible:big"), Some(small));
        assert_eq!(roles.fallback(None, small), None);
        assert_eq!(roles.fallback(None, "scripted:other"), None);
        let asked = with_fallbacks(&roles, ["openai_compatible:big"]);
        assert!(asked.contains(&"scripted:spare") && asked.contains(&small), "{asked:?}");
    }
}
