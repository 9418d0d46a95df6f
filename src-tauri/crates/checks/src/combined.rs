//! `all`, `any` and `not`: checks made of checks. A check that could not run proves nothing, so its opposite does not
//! hold either.

use std::sync::Arc;

use async_trait::async_trait;
use contract::criterion::CheckSpec;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;

/// How deep checks may stand in one another.
pub(crate) const DEPTH: usize = 8;
/// How many checks may stand beside one another.
const BESIDE: usize = 100;

/// `all`.
pub(crate) struct All;

/// `any`.
pub(crate) struct Any;

/// `not`.
pub(crate) struct Not;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Several {
    /// The checks, each as it is written for a criterion.
    #[schemars(title = "Checks", schema_with = "checks_schema")]
    checks: Vec<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    /// The check, as it is written for a criterion.
    #[schemars(title = "Check", schema_with = "check_schema")]
    check: Value,
}

fn checks_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": BESIDE,
        "items": { "type": ["string", "object"] }
    })
}

fn check_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["object", "string"] })
}

const SEVERAL: Option<&str> = Some("checks");

fn several(args: &Value) -> Vec<Value> {
    let read = arguments::read::<Several>(args, SEVERAL);
    read.map(|several| several.checks).unwrap_or_default()
}

/// The check of a `not`. `{ contains: … }` is the check itself; `{ check: … }` is the long form.
fn one(args: &Value) -> Value {
    // What is not the long form is the check itself.
    arguments::read::<One>(args, None).map_or_else(|_| args.clone(), |long| long.check)
}

/// The checks inside a combined one, each with its place; none inside any other.
pub(crate) fn inside(spec: &CheckSpec) -> Vec<(String, Value)> {
    match spec.name.as_str() {
        "all" | "any" => {
            let checks = several(&spec.args).into_iter().enumerate();
            checks
                .map(|(index, check)| (format!("{}[{index}]", spec.name), check))
                .collect()
        }
        "not" => vec![("not".to_owned(), one(&spec.args))],
        _ => Vec::new(),
    }
}

#[async_trait]
impl Check for All {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "all".to_owned(),
            title: "All of several checks".to_owned(),
            description: "Every one of several checks holds.".to_owned(),
            schema: arguments::schema::<Several>(SEVERAL),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Several>("all", args, SEVERAL)
    }

    fn commands(&self, args: &Value) -> Vec<String> {
        commands_of(&several(args))
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        let outcomes = run_each(&several(args), target, files).await;
        let (held, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|outcome| outcome.pass);
        match failed.is_empty() {
            true => CheckOutcome::pass(evidence(&held), None),
            // One that is known to fail decides; without it nothing is known.
            false => CheckOutcome {
                ran: failed.iter().any(|outcome| outcome.ran),
                refused: failed.iter().all(|outcome| outcome.refused),
                ..CheckOutcome::fail(evidence(&failed), None)
            },
        }
    }
}

#[async_trait]
impl Check for Any {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "any".to_owned(),
            title: "One of several checks".to_owned(),
            description: "At least one of several checks holds.".to_owned(),
            schema: arguments::schema::<Several>(SEVERAL),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Several>("any", args, SEVERAL)
    }

    fn commands(&self, args: &Value) -> Vec<String> {
        commands_of(&several(args))
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        let outcomes = run_each(&several(args), target, files).await;
        let (held, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|outcome| outcome.pass);
        match held.is_empty() {
            false => CheckOutcome::pass(evidence(&held), None),
            true => CheckOutcome {
                ran: failed.iter().all(|outcome| outcome.ran),
                // What nobody allowed might have held.
                refused: failed.iter().any(|outcome| outcome.refused),
                ..CheckOutcome::fail(evidence(&failed), None)
            },
        }
    }
}

#[async_trait]
impl Check for Not {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "not".to_owned(),
            title: "The opposite of a check".to_owned(),
            description: "A check could look, and does not hold.".to_owned(),
            schema: arguments::schema::<One>(Some("check")),
            needs_file: false,
        }
    }

    fn commands(&self, args: &Value) -> Vec<String> {
        commands_of(&[one(args)])
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        let outcome = run_one(&one(args), target, files).await;
        CheckOutcome {
            pass: outcome.ran && !outcome.pass,
            ..outcome
        }
    }
}

/// The commands of checks, in order.
fn commands_of(checks: &[Value]) -> Vec<String> {
    let specs = checks.iter().filter_map(|check| CheckSpec::read(check).ok());
    let found = specs.filter_map(|spec| Some(crate::find(&spec.name)?.commands(&spec.args)));
    found.flatten().collect()
}

async fn run_each(checks: &[Value], target: &CheckTarget, files: &Arc<dyn Files>) -> Vec<CheckOutcome> {
    let mut outcomes = Vec::new();
    for check in checks {
        outcomes.push(run_one(check, target, files).await);
    }
    outcomes
}

async fn run_one(check: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
    let spec = match CheckSpec::read(check) {
        Ok(spec) => spec,
        Err(reason) => return CheckOutcome::could_not_run(reason),
    };
    match crate::find(&spec.name) {
        Some(check) => check.run(&spec.args, target, files).await,
        None => CheckOutcome::could_not_run(format!("\"{}\" is not a check", spec.name)),
    }
}

fn evidence(outcomes: &[CheckOutcome]) -> String {
    let said: Vec<&str> = outcomes.iter().map(|outcome| outcome.evidence.as_str()).collect();
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes, run_on_nothing};

    #[tokio::test]
    async fn all_hold_or_what_does_not_is_told() {
        let checks = json!([{"contains": "a"}, {"words": {"max": 2}}]);
        passes(&All, checks.clone(), "a b", "\"a\" in line 1; 2 words").await;
        fails(&All, checks, "a b c", "3 words, at most 2 allowed").await;
    }

    #[tokio::test]
    async fn any_holds_with_one_of_them() {
        let checks = json!([{"contains": "x"}, {"any": ["json", {"words": {"max": 2}}]}]);
        passes(&Any, checks.clone(), "a b", "2 words").await;
        let evidence = "\"x\" is not in it; line 1, column 1: expected value; 3 words, at most 2 allowed";
        fails(&Any, checks, "a b c", evidence).await;
    }

    #[tokio::test]
    async fn not_turns_a_check_round() {
        passes(&Not, json!({"contains": "x"}), "a", "\"x\" is not in it").await;
        fails(&Not, json!({"check": {"contains": "a"}}), "a", "\"a\" in line 1").await;
        passes(
            &Not,
            json!("json"),
            "{",
            "line 1, column 1: EOF while parsing an object",
        )
        .await;
        passes(&Not, json!({"not": {"contains": "a"}}), "a", "\"a\" in line 1").await;
    }

    #[tokio::test]
    async fn the_opposite_of_what_could_not_run_does_not_hold() {
        for args in [
            json!({"contains": "x"}),
            json!({"not": {"contains": "x"}}),
            json!({"all": [{"contains": "x"}]}),
            json!({"any": [{"contains": "x"}, "exists"]}),
        ] {
            let evidence = run_on_nothing(&Not, args).await;
            assert!(evidence.contains("could not run"), "{evidence}");
        }
    }
}
