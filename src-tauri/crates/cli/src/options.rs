//! What a person wants to be different from the task's file, for this run.

use app::RunOptions;
use app::commands::settings::Endpoint;
use clap::{Args, ValueEnum};
use contract::AppError;
use contract::run::{Fallbacks, PerRole};
use contract::task::Approval;
use serde_json::{Map, Value};

use crate::permissions::Permissions;

/// The options of a run.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Ask the model server at this address, such as http://localhost:11434.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Ask this model, such as anthropic:claude-sonnet-5-5, or the one of this name at the --url; with planner=, judge=,
    /// low= or high= before it, only for that. May be given several times.
    #[arg(long, value_name = "[ROLE=]MODEL")]
    model: Vec<String>,
    /// Ask this model when the one that should answer does not (its server is down, the account has no credit, the model
    /// is gone); with planner=, judge=, low= or high= before it, only for that. May be given several times.
    #[arg(long, value_name = "[ROLE=]MODEL")]
    fallback: Vec<String>,
    /// How much the models think: low, medium or high; with planner=, judge=, low= or high= before it, only for that. May
    /// be given several times.
    #[arg(long, value_name = "[ROLE=]EFFORT")]
    reasoning: Vec<String>,
    /// The most cycles of plan, run and judge.
    #[arg(long, value_name = "N")]
    max_cycles: Option<u64>,
    /// The most tokens.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// The most money, in the currency of the settings; the prices of its models must stand there.
    #[arg(long, value_name = "AMOUNT")]
    max_cost: Option<f64>,
    /// The most minutes at work; what it waits for you does not count.
    #[arg(long, value_name = "N")]
    max_minutes: Option<u64>,
    /// How many steps may run at once.
    #[arg(long, value_name = "N")]
    max_parallel: Option<u64>,
    /// How long one tool may take, in seconds.
    #[arg(long, value_name = "SECONDS")]
    tool_timeout: Option<u64>,
    /// Who approves plans; the file can ask for less than that, and only you can grant it.
    #[arg(long, value_name = "WHICH")]
    approval: Option<Which>,
    /// Follow the rules that the file brings (its hooks); without this they are off. Commands and webhooks among them are
    /// allowed with --allow-effects.
    #[arg(long)]
    allow_hooks: bool,
    /// Allow the commands and webhooks that the file brings as rules and checks, exactly as they stand in it now; without
    /// this you are asked about each.
    #[arg(long)]
    pub(crate) allow_effects: bool,
    /// Grant everything that the file asks for under `permissions`; without this, what lies outside is asked about.
    #[arg(long)]
    allow_permissions: bool,
    #[command(flatten)]
    permissions: Permissions,
}

/// Which plans a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Every plan.
    #[value(name = "every_plan")]
    EveryPlan,
    /// The first plan; revisions inside its limits run without asking.
    #[value(name = "first_plan")]
    FirstPlan,
    /// None.
    #[value(name = "never")]
    Never,
}

/// The roles that can be named, each with its place in the task.
const ROLES: [(&str, &[&str]); 6] = [
    ("planner", &["planner"]),
    ("judge", &["judge"]),
    ("low", &["executor", "low"]),
    ("high", &["executor", "high"]),
    ("executor.low", &["executor", "low"]),
    ("executor.high", &["executor", "high"]),
];

impl Options {
    /// The model server that was named, if one was.
    pub(crate) fn endpoint(&self) -> Result<Option<Endpoint>, AppError> {
        for (option, said) in [
            ("--model", &self.model),
            ("--fallback", &self.fallback),
            ("--reasoning", &self.reasoning),
        ] {
            said.iter().try_for_each(|said| named(option, said))?;
            if said.iter().filter(|said| role(said).is_none()).count() > 1 {
                let message = format!("{option} was given twice for everything");
                return Err(
                    usage(&message).hint("Give it once, and with planner=, judge=, low= or high= for the others.")
                );
            }
        }
        let model = self.model.iter().find(|model| role(model).is_none());
        match (&self.url, model) {
            // A model of an account, or of the settings' server.
            (None, _) => Ok(None),
            (Some(url), Some(model)) => Ok(Some(Endpoint {
                base_url: url.clone(),
                model: model.clone(),
            })),
            (Some(_), None) => Err(usage("--url needs the name of a model there: --model MODEL")),
        }
    }

    /// What the person said about approval.
    pub(crate) fn approval(&self) -> Option<Approval> {
        self.approval.map(|which| match which {
            Which::EveryPlan => Approval::EveryPlan,
            Which::FirstPlan => Approval::FirstPlan,
            Which::Never => Approval::Never,
        })
    }

    /// The stand-ins that the person named; those of the settings count when there are none.
    fn fallbacks(&self) -> Option<Fallbacks> {
        let mut roles = PerRole::default();
        for (place, model) in self.fallback.iter().flat_map(|model| for_roles(model)) {
            let role = match place {
                "planner" => &mut roles.planner,
                "judge" => &mut roles.judge,
                "executorLow" => &mut roles.executor_low,
                _ => &mut roles.executor_high,
            };
            *role = Some(model.to_owned());
        }
        (!roles.is_empty()).then(|| Fallbacks {
            roles,
            ..Fallbacks::default()
        })
    }

    /// What the person grants besides.
    pub(crate) fn granted(&self) -> RunOptions {
        RunOptions {
            allow_hooks: self.allow_hooks,
            fallbacks: self.fallbacks(),
            allow_permissions: self.allow_permissions,
            ..self.permissions.granted()
        }
    }

    /// The task as it was written, with these options in the place of its own words. What they may be is the task's
    /// rule, which reads them afterwards.
    pub(crate) fn over(&self, task: &Value) -> Value {
        let mut task = task.clone();
        let limits = [
            ("maxCycles", self.max_cycles),
            ("maxTokens", self.max_tokens),
            ("maxParallel", self.max_parallel),
            ("maxMinutes", self.max_minutes),
            (
                "toolTimeout",
                self.tool_timeout.map(|seconds| seconds.saturating_mul(1_000)),
            ),
        ];
        for (name, value) in limits {
            if let Some(value) = value {
                put(&mut task, &["limits", name], Value::from(value));
            }
        }
        if let Some(cost) = self.max_cost {
            put(&mut task, &["limits", "maxCost"], Value::from(cost));
        }
        if let Some(model) = self
            .model
            .iter()
            .find(|model| self.url.is_none() && role(model).is_none())
        {
            for path in [
                &["planner"][..],
                &["judge"],
                &["executor", "low"],
                &["executor", "high"],
            ] {
                let path: Vec<&str> = std::iter::once("models").chain(path.iter().copied()).collect();
                put(&mut task, &path, Value::from(model.as_str()));
            }
        }
        for (place, effort) in self.reasoning.iter().flat_map(|effort| for_roles(effort)) {
            put(&mut task, &["models", "reasoning", place], Value::from(effort));
        }
        for (place, model) in self.model.iter().filter_map(|model| role(model)) {
            let path: Vec<&str> = std::iter::once("models").chain(place.iter().copied()).collect();
            put(&mut task, &path, Value::from(model));
        }
        task
    }
}

/// Refuses what an option can only mean by mistake: nothing, or a role that there is not.
fn named(option: &str, said: &str) -> Result<(), AppError> {
    if role(said).map_or(said, |(_, said)| said).trim().is_empty() {
        return Err(usage(&format!("{option} needs a name after it")));
    }
    match said.split_once('=') {
        Some((name, _))
            if role(said).is_none() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '.') =>
        {
            let message = format!("there is no role \"{name}\" ({option} {said})");
            Err(usage(&message).hint("Write planner=, judge=, low= or high=, or the name alone for everything."))
        }
        _ => Ok(()),
    }
}

/// The place of a role and its model, when a role is named.
fn role(model: &str) -> Option<(&'static [&'static str], &str)> {
    let (name, model) = model.split_once('=')?;
    let (_, place) = ROLES.iter().find(|(role, _)| *role == name)?;
    Some((place, model))
}

/// The roles that something is said for, in the words of the settings: the one that is named before it, or all.
fn for_roles(said: &str) -> Vec<(&'static str, &str)> {
    const ALL: [&str; 4] = ["planner", "judge", "executorLow", "executorHigh"];
    match role(said) {
        None => ALL.iter().map(|place| (*place, said)).collect(),
        Some((place, said)) => match place {
            [name @ ("planner" | "judge")] => vec![(*name, said)],
            [_, "low"] => vec![("executorLow", said)],
            _ => vec![("executorHigh", said)],
        },
    }
}

/// Puts a value at a place; what stands in the way and is no object stays, and the task's rules name it.
fn put(value: &mut Value, path: &[&str], new: Value) {
    let [name, rest @ ..] = path else {
        *value = new;
        return;
    };
    if let Value::Object(fields) = value {
        let inner = fields.entry(*name).or_insert_with(|| Value::Object(Map::new()));
        put(inner, rest, new);
    }
}

fn usage(message: &str) -> AppError {
    AppError::new("usage", message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_stand_in_the_place_of_the_files_words() {
        let options = Options {
            url: Some("http://localhost".to_owned()),
            model: vec!["planner=big".to_owned(), "high=x:y".to_owned(), "m".to_owned()],
            max_cycles: Some(2),
            tool_timeout: Some(5),
            ..Options::default()
        };
        let task = json!({"goal": "g", "limits": {"maxCycles": 9, "maxTokens": 7}, "models": {"judge": "j"}});
        assert_eq!(
            options.over(&task),
            json!({
                "goal": "g",
                "limits": {"maxCycles": 2, "maxTokens": 7, "toolTimeout": 5000},
                "models": {"judge": "j", "planner": "big", "executor": {"high": "x:y"}}
            })
        );
        let options = Options {
            fallback: vec!["openai:spare".to_owned(), "judge=gemini:j".to_owned()],
            reasoning: vec!["low".to_owned(), "planner=high".to_owned()],
            ..options
        };
        let told = &options.over(&task)["models"]["reasoning"];
        assert_eq!(
            *told,
            json!({"planner": "high", "judge": "low", "executorLow": "low", "executorHigh": "low"})
        );
        let fallbacks = options.granted().fallbacks.unwrap().roles;
        assert_eq!(
            (fallbacks.planner.as_deref(), fallbacks.judge.as_deref()),
            (Some("openai:spare"), Some("gemini:j"))
        );
        assert_eq!(options.over(&json!({"limits": 3}))["limits"], json!(3));
        assert_eq!(Options::default().over(&task), task);
    }

    #[test]
    fn a_mistake_in_an_option_is_not_taken_for_a_model() {
        let refused = |model: &[&str]| {
            let options = Options {
                model: model.iter().map(|model| (*model).to_owned()).collect(),
                ..Options::default()
            };
            options.endpoint().err().map(|error| error.message)
        };
        assert_eq!(refused(&["m", "judge=x:y"]), None);
        assert_eq!(refused(&["llama3:8b"]), None);
        assert_eq!(refused(&["hf.co/a?b=c"]), None);
        assert_eq!(
            refused(&["m", "wizard=x"]).unwrap(),
            "there is no role \"wizard\" (--model wizard=x)"
        );
        assert_eq!(refused(&["m", "n"]).unwrap(), "--model was given twice for everything");
        assert_eq!(refused(&[""]).unwrap(), "--model needs a name after it");
        assert_eq!(refused(&["judge="]).unwrap(), "--model needs a name after it");
    }
}
