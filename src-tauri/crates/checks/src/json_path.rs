//! `json_path`: the values at a place in JSON. Places are written as RFC 9535 has them.

mod cost;

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::{QueryRef, js_path_process};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::bounds::{Count, Range};
use crate::phrases::{count, number, quote, some_of};
use crate::{TOLERANCE, arguments, target};

const SHORT: Option<&str> = Some("path");
/// A longer path is no path that a person wrote.
const LONGEST: usize = 1_000;

pub(crate) struct JsonPath;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The place, such as $.items[*].price; alone it means that there is something.
    #[schemars(title = "Place", length(min = 1))]
    path: String,
    /// The value that must be there; every one, when the place leads to several.
    #[serde(default, deserialize_with = "present")]
    #[schemars(title = "Equals", schema_with = "any_schema")]
    equals: Option<Value>,
    /// The smallest number that is right there.
    #[schemars(title = "At least")]
    min: Option<f64>,
    /// The largest number that is right there.
    #[schemars(title = "At most")]
    max: Option<f64>,
    /// How many values there are.
    #[serde(default)]
    #[schemars(title = "Number of values", schema_with = "count_schema")]
    count: Option<HowMany>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum HowMany {
    Exactly(u64),
    Between(Count),
}

/// A value that is written as null is there all the same.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn any_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [
            { "title": "A value", "type": ["number", "string", "boolean"] },
            { "title": "Nothing, a list or an object" }
        ]
    })
}

fn count_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let between = generator.subschema_for::<Count>();
    schemars::json_schema!({ "anyOf": [{ "title": "Exactly", "type": "integer", "minimum": 0 }, between] })
}

impl HowMany {
    fn bounds(self) -> Count {
        match self {
            Self::Between(bounds) => bounds,
            Self::Exactly(number) => Count {
                min: Some(number),
                max: Some(number),
            },
        }
    }
}

impl Args {
    fn range(&self) -> Option<Range> {
        (self.min.is_some() || self.max.is_some()).then_some(Range {
            min: self.min,
            max: self.max,
        })
    }

    fn query(&self) -> Result<JpQuery, String> {
        let wrong = |reason: &str| format!("{} is not a JSON path: {reason}", quote(&self.path));
        if self.path.len() > LONGEST {
            return Err(wrong("it is too long"));
        }
        let query = parse_json_path(&self.path).map_err(|error| {
            let said = error.to_string();
            let reason = said.lines().last().unwrap_or(&said);
            wrong(reason.trim().trim_start_matches("= "))
        })?;
        if cost::too_high(&query) {
            return Err(format!(
                "{} would look at the same values too many times; use fewer \"..\" and shorter lists",
                quote(&self.path)
            ));
        }
        Ok(query)
    }

    fn problem(&self) -> Option<String> {
        let bounds = self.range().and_then(Range::problem);
        let how_many = self.count.and_then(|count| count.bounds().problem());
        match (self.query(), bounds, how_many) {
            (Err(reason), _, _) => Some(format!("json_path.path: {reason}")),
            (Ok(_), Some(problem), _) => Some(format!("json_path: {problem}")),
            (Ok(_), None, Some(problem)) => Some(format!("json_path.count: {problem}")),
            (Ok(_), None, None) => None,
        }
    }
}

#[async_trait]
impl Check for JsonPath {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "json_path".to_owned(),
            title: "Has a value in JSON".to_owned(),
            description: "What stands at a place in JSON is as described.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("json_path", args, SHORT);
        match arguments::read::<Args>(args, SHORT) {
            Ok(args) if problems.is_empty() => args.problem().into_iter().collect(),
            _ => problems,
        }
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let query = args.query()?;
    let value = target::json(target, files).await?;
    // Seconds of work for a large file: the runtime's other work goes on meanwhile.
    let looked = tokio::task::spawn_blocking(move || judge(&args, &query, &value)).await;
    looked.map_err(|_| "looking at it ended unexpectedly".to_owned())?
}

fn judge(args: &Args, query: &JpQuery, value: &Value) -> Result<CheckOutcome, String> {
    let found = js_path_process(query, value).map_err(|error| error.to_string())?;
    let observed = match found.as_slice() {
        [one] if !one.val.is_object() && !one.val.is_array() => one.val.clone(),
        several => Value::from(several.len()),
    };
    let how_many = count(found.len(), "value", "values");
    if let Some(bounds) = args.count.map(HowMany::bounds)
        && let Some(broken) = bounds.broken_by(found.len())
    {
        return Ok(CheckOutcome::fail(
            format!("{how_many} at {}, {broken}", args.path),
            observed,
        ));
    }
    let wanted = args.equals.is_some() || args.range().is_some() || args.count.is_none();
    if found.is_empty() && wanted {
        return Ok(CheckOutcome::fail(format!("nothing stands at {}", args.path), observed));
    }
    let wrong: Vec<String> = found.iter().filter_map(|one| args.broken_by(one)).collect();
    if !wrong.is_empty() {
        return Ok(CheckOutcome::fail(some_of(&wrong, "; "), observed));
    }
    let evidence = match found.as_slice() {
        [one] => format!("{} is {}", place(&one.path), shown(one.val)),
        _ => format!("{how_many} at {}", args.path),
    };
    Ok(CheckOutcome::pass(evidence, observed))
}

impl Args {
    /// What is wrong with a value, in words.
    fn broken_by(&self, found: &QueryRef<'_, Value>) -> Option<String> {
        let said = |what: String| Some(format!("{} is {}, {what}", place(&found.path), shown(found.val)));
        if let Some(expected) = &self.equals
            && !same(found.val, expected)
        {
            return said(format!("expected {}", shown(expected)));
        }
        let range = self.range()?;
        match found.val.as_f64() {
            None => said("not a number".to_owned()),
            Some(value) => range.broken_by(value).and_then(said),
        }
    }
}

/// Numbers may differ by rounding; all else is equal as it stands.
fn same(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() < TOLERANCE,
        _ => found == expected,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(found) => found.as_f64().map_or_else(|| found.to_string(), number),
        Value::String(text) => quote(text),
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(_) | Value::Object(_) => crate::json::shape(value),
    }
}

/// `$.items[3].price` for `$['items'][3]['price']`.
fn place(path: &str) -> String {
    let mut shown = String::from("$");
    for part in path.trim_start_matches('$').split_inclusive(']') {
        let name = part.strip_prefix("['").and_then(|part| part.strip_suffix("']"));
        match name.filter(|name| name.chars().all(|sign| sign.is_alphanumeric() || sign == '_')) {
            Some(name) => {
                shown.push('.');
                shown.push_str(name);
            }
            None => shown.push_str(part),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes, run};

    const ORDERS: &str = r#"{"total": 12.5, "paid": true, "items": [{"id": 1, "price": 5}, {"id": 2, "price": 7.5}]}"#;

    #[tokio::test]
    async fn something_must_stand_there() {
        passes(&JsonPath, json!("$.total"), ORDERS, "$.total is 12.50").await;
        passes(&JsonPath, json!("$.items[*].id"), ORDERS, "2 values at $.items[*].id").await;
        fails(&JsonPath, json!("$.tax"), ORDERS, "nothing stands at $.tax").await;
    }

    #[tokio::test]
    async fn every_value_there_must_be_right() {
        let equals = |path: &str, value: Value| json!({"path": path, "equals": value});
        passes(&JsonPath, equals("$.total", json!(12.5)), ORDERS, "$.total is 12.50").await;
        passes(&JsonPath, equals("$.paid", json!(true)), ORDERS, "$.paid is true").await;
        fails(
            &JsonPath,
            equals("$.items[*].price", json!(5)),
            ORDERS,
            "$.items[1].price is 7.50, expected 5",
        )
        .await;
        fails(
            &JsonPath,
            equals("$.tax", Value::Null),
            ORDERS,
            "nothing stands at $.tax",
        )
        .await;
        passes(&JsonPath, equals("$.a", Value::Null), r#"{"a": null}"#, "$.a is null").await;
    }

    #[tokio::test]
    async fn numbers_lie_between_bounds() {
        let args = json!({"path": "$..price", "min": 6});
        fails(&JsonPath, args, ORDERS, "$.items[0].price is 5, at least 6 expected").await;
        let args = json!({"path": "$..price", "min": 5, "max": 7.5, "count": 2});
        passes(&JsonPath, args, ORDERS, "2 values at $..price").await;
        let args = json!({"path": "$.paid", "max": 1});
        fails(&JsonPath, args, ORDERS, "$.paid is true, not a number").await;
    }

    #[tokio::test]
    async fn counts_the_values() {
        let args = |count: Value| json!({"path": "$.items[?@.price > 6]", "count": count});
        passes(
            &JsonPath,
            args(json!(1)),
            ORDERS,
            "$.items[1] is an object with 2 fields",
        )
        .await;
        fails(
            &JsonPath,
            args(json!({"min": 2})),
            ORDERS,
            "1 value at $.items[?@.price > 6], at least 2 expected",
        )
        .await;
        let none = json!({"path": "$.items[?@.price > 60]", "count": 0});
        passes(&JsonPath, none, ORDERS, "0 values at $.items[?@.price > 60]").await;
    }

    #[tokio::test]
    async fn what_is_not_json_fails_with_the_place() {
        let (pass, evidence) = run(&JsonPath, json!("$.a"), "{\"a\": }").await;
        assert!(
            !pass && evidence.contains("it is not JSON: line 1, column 7"),
            "{evidence}"
        );
    }

    #[test]
    fn a_path_that_is_none_or_costs_too_much_is_refused() {
        let problem = |path: &str| JsonPath.problems(&json!(path)).join("; ");
        assert!(
            problem("items[").starts_with("json_path.path: "),
            "{}",
            problem("items[")
        );
        assert_eq!(problem("$..a..b"), "");
        for costly in [
            "$..*..*..*",
            "$[*,*,*,*,*,*,*][*,*,*,*,*,*,*][*,*,*,*,*,*,*][*,*,*,*,*,*,*][*,*,*,*,*,*,*]",
            "$[?count($..*) > 1]",
        ] {
            assert!(
                problem(costly).contains("too many times"),
                "{costly}: {}",
                problem(costly)
            );
        }
    }
}
