//! The criterion checks that the app decides itself, each one file. A new check is a file like the
//! others and a line in [`all`]; its schema draws the composer's form.
//!
//! Evidence is written for people: the place and the value. A check that cannot run has failed, and
//! its evidence says why. Numbers are equal when they differ by less than [`TOLERANCE`].
//!
//! In a task file an argument may be written short: `contains: "Total"` for `contains: { text: Total }`.
//! The schema describes the long form; its `x-short` names the property that the short one stands for.

mod arguments;
mod bounds;
mod contains;
mod csv;
mod exists;
mod json;
mod matches;
mod not_empty;
mod phrases;
mod query;
mod target;
mod words;

use std::sync::Arc;

use contract::criterion::CheckSpec;
use contract::ports::check::Check;

/// Half a cent: numbers that differ by less are equal.
pub const TOLERANCE: f64 = 0.005;

/// Every check, in the order in which a composer offers them.
pub fn all() -> Vec<Arc<dyn Check>> {
    vec![
        Arc::new(exists::Exists),
        Arc::new(not_empty::NotEmpty),
        Arc::new(contains::Contains),
        Arc::new(matches::Matches),
        Arc::new(words::Words),
        Arc::new(csv::Csv),
        Arc::new(query::Query),
        Arc::new(json::Json),
    ]
}

/// Everything that is wrong with a written check: its name, its arguments, what they say.
pub fn problems(spec: &CheckSpec) -> Vec<String> {
    let checks = all();
    let Some(check) = checks.iter().find(|check| check.info().name == spec.name) else {
        let names: Vec<String> = checks.iter().map(|check| check.info().name).collect();
        return vec![format!(
            "\"{}\" is not a check; the checks are {}",
            spec.name,
            names.join(", ")
        )];
    };
    check.problems(&spec.args)
}

#[cfg(test)]
mod test_place;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value, expected: &[&str]) {
        let found = problems(&CheckSpec::read(&spec).unwrap());
        assert_eq!(found, expected, "{spec}");
    }

    #[test]
    fn accepts_the_forms_that_people_write() {
        for spec in [
            json!("exists"),
            json!("not_empty"),
            json!("json"),
            json!({"exists": {}}),
            json!({"exists": true}),
            json!({"contains": "Total"}),
            json!({"contains": ["Total", "Sum"]}),
            json!({"contains": {"text": "total", "ignore_case": true}}),
            json!({"matches": "^# .+"}),
            json!({"words": {"max": 400}}),
            json!({"csv": {"columns": ["id"], "rows": {"min": 1}, "unique": ["id"], "sorted": "id"}}),
            json!({"csv": {"unique": "id", "not_null": "id"}}),
            json!({"csv": {"sum": {"column": "amount", "equals_sum_of": {"path": "a.csv", "column": "amount", "where": "amount > 500"}}}}),
            json!({"query": {"files": {"r": "r.csv"}, "sql": "SELECT COUNT(*) FROM r", "equals": 3}}),
            json!({"query": {"files": {"r": "r.csv"}, "sql": "SELECT 1 FROM r", "equals": {"files": {"s": "s.csv"}, "sql": "SELECT 1 FROM s"}}}),
        ] {
            check(spec, &[]);
        }
    }

    #[test]
    fn names_the_checks_when_there_is_none_of_that_name() {
        let expected =
            "\"word\" is not a check; the checks are exists, not_empty, contains, matches, words, csv, query, json";
        check(json!({"word": {"max": 3}}), &[expected]);
    }

    #[test]
    fn lists_every_argument_that_does_not_fit() {
        check(
            json!({"words": {"max": "many", "most": 3}}),
            &[
                "words.max: \"many\" is not of type \"integer\"",
                "words: Additional properties are not allowed ('most' was unexpected)",
            ],
        );
        check(json!("words"), &["words: needs at least one of min and max"]);
        check(json!({"exists": 3}), &["exists: takes no arguments"]);
        check(json!("contains"), &["contains: \"text\" is a required property"]);
    }

    #[test]
    fn looks_beyond_the_schema() {
        check(json!({"words": {"min": 5, "max": 3}}), &["words: min is more than max"]);
        check(
            json!({"csv": {}}),
            &["csv: say what should hold, such as columns or rows"],
        );
        let problems_of = |spec: Value| problems(&CheckSpec::read(&spec).unwrap());
        assert!(problems_of(json!({"matches": "("}))[0].contains("regular expression"));
        assert!(
            problems_of(json!({"query": {"files": {"r": "r.csv"}, "sql": "SELEC", "equals": 1}}))[0].contains("SELEC")
        );
        assert!(problems_of(json!({"query": {"files": {"r": "r"}, "sql": "DELETE FROM r", "equals": 1}})).len() == 1);
        assert!(problems_of(json!({"csv": {"sum": {"column": "a"}}}))[0].contains("equals"));
        let bad_where =
            json!({"csv": {"sum": {"column": "a", "equals_sum_of": {"path": "x", "column": "a", "where": "a >"}}}});
        assert_eq!(problems_of(bad_where).len(), 1);
    }

    #[test]
    fn every_property_has_a_title_and_a_description_for_its_form() {
        fn look(name: &str, schema: &Value) {
            for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
                let title = schema["title"].as_str().unwrap_or_default();
                assert!(
                    title.chars().next().is_some_and(char::is_uppercase),
                    "{name}.{property} {schema}"
                );
                assert!(schema["description"].is_string(), "{name}.{property}");
                look(property, schema);
            }
        }
        for check in all() {
            let info = check.info();
            assert!(
                info.schema.is_null() || jsonschema::draft202012::new(&info.schema).is_ok(),
                "{}",
                info.name
            );
            look(&info.name, &info.schema);
        }
    }
}
