//! The criterion checks that the app decides itself, each one file. A new check is a file like the
//! others and a line in [`all`]; its schema draws the composer's form.
//!
//! Evidence is written for people: the place and the value. A check that cannot run has failed, and
//! its evidence says why. Numbers are equal when they differ by less than [`TOLERANCE`].
//!
//! In a task file an argument may be written short: `contains: "Total"` for `contains: { text: Total }`.
//! The schema describes the long form; its `x-short` names the property that the short one stands for.

mod arguments;
mod before;
mod bounds;
mod characters;
mod combined;
mod command;
mod contains;
mod contains_any;
mod csv;
mod dimensions;
mod equals;
mod exists;
mod format;
mod json;
mod json_path;
mod json_schema;
mod lines;
mod markdown;
mod matches;
mod not_contains;
mod not_empty;
mod opened;
mod other_names;
mod pages;
mod phrases;
mod query;
mod same_as;
mod size;
mod starts_with;
mod target;
mod texts;
mod words;
mod yaml;

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
        Arc::new(size::Size),
        Arc::new(contains::Contains),
        Arc::new(contains_any::ContainsAny),
        Arc::new(not_contains::NotContains),
        Arc::new(starts_with::StartsWith),
        Arc::new(equals::Equals),
        Arc::new(matches::Matches),
        Arc::new(words::Words),
        Arc::new(lines::Lines),
        Arc::new(characters::Characters),
        Arc::new(csv::Csv),
        Arc::new(query::Query),
        Arc::new(markdown::Markdown),
        Arc::new(json::Json),
        Arc::new(json_path::JsonPath),
        Arc::new(json_schema::JsonSchemaCheck),
        Arc::new(yaml::Yaml),
        Arc::new(format::Format),
        Arc::new(pages::Pages),
        Arc::new(dimensions::Dimensions),
        Arc::new(same_as::SameAs),
        Arc::new(before::Changed),
        Arc::new(before::Unchanged),
        Arc::new(command::Command),
        Arc::new(combined::All),
        Arc::new(combined::Any),
        Arc::new(combined::Not),
    ]
}

/// The check of this name.
pub fn find(name: &str) -> Option<Arc<dyn Check>> {
    all().into_iter().find(|check| check.info().name == name)
}

/// Everything that is wrong with a written check: its name, its arguments and what they say. Every check that there is
/// can look at every file, and at an answer.
pub fn problems(_path: Option<&str>, spec: &CheckSpec) -> Vec<String> {
    problems_at(spec, 1)
}

fn problems_at(spec: &CheckSpec, depth: usize) -> Vec<String> {
    let Some(check) = find(&spec.name) else {
        return vec![unknown(&spec.name)];
    };
    if depth > combined::DEPTH {
        return vec![format!(
            "checks stand in one another more than {} deep",
            combined::DEPTH
        )];
    }
    let mut problems = check.problems(&spec.args);
    for (place, check) in combined::inside(spec) {
        let inner = match CheckSpec::read(&check) {
            Ok(spec) => problems_at(&spec, depth + 1),
            Err(reason) => vec![reason],
        };
        problems.extend(inner.into_iter().map(|problem| format!("{place}: {problem}")));
    }
    problems
}

fn unknown(name: &str) -> String {
    if let Some(here) = other_names::called_here(name) {
        return format!("\"{name}\" is not a check; it is called {here} here");
    }
    let names: Vec<String> = all().iter().map(|check| check.info().name).collect();
    format!("\"{name}\" is not a check; the checks are {}", names.join(", "))
}

#[cfg(test)]
mod test_place;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value, expected: &[&str]) {
        let found = problems(Some("it"), &CheckSpec::read(&spec).unwrap());
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
            json!({"csv": {"sheet": "May", "rows": {"min": 1}}}),
            json!({"size": {"max": 1000}}),
            json!({"contains_any": ["Total", "Sum"]}),
            json!({"not_contains": "TODO"}),
            json!({"equals": "42"}),
            json!({"format": "pdf"}),
            json!({"pages": {"max": 3}}),
            json!({"dimensions": {"width": {"min": 800}}}),
            json!({"json_path": {"path": "$.total", "equals": 3}}),
            json!({"json_schema": {"type": "object"}}),
            json!({"markdown": {"headings": ["Summary"], "links_resolve": true, "tables": {"min": 1}}}),
            json!({"same_as": "other.md"}),
            json!({"command": "make test"}),
            json!({"command": {"run": "./look.sh", "exit": 2, "stdout_matches": "^ok"}}),
            json!("changed"),
            json!({"unchanged": "input.csv"}),
            json!({"all": ["exists", {"not": {"contains": "x"}}]}),
            json!({"csv": {"sum": {"column": "amount", "equals_sum_of": {"path": "a.csv", "column": "amount", "where": "amount > 500"}}}}),
            json!({"query": {"files": {"r": "r.csv"}, "sql": "SELECT COUNT(*) FROM r", "equals": 3}}),
            json!({"query": {"files": {"r": "r.csv"}, "sql": "SELECT 1 FROM r", "equals": {"files": {"s": "s.csv"}, "sql": "SELECT 1 FROM s"}}}),
        ] {
            check(spec, &[]);
        }
    }

    #[test]
    fn names_the_checks_when_there_is_none_of_that_name() {
        let expected = "\"word\" is not a check; the checks are exists, not_empty, size, contains, contains_any, \
            not_contains, starts_with, equals, matches, words, lines, characters, csv, query, markdown, json, json_path, \
            json_schema, yaml, format, pages, dimensions, same_as, changed, unchanged, command, all, any, not";
        check(json!({"word": {"max": 3}}), &[expected]);
        check(
            json!({"regex": "a"}),
            &["\"regex\" is not a check; it is called matches here"],
        );
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
    fn says_which_commands_a_check_would_run_wherever_they_stand() {
        let commands = |spec: Value| {
            let spec = CheckSpec::read(&spec).unwrap();
            find(&spec.name).unwrap().commands(&spec.args)
        };
        assert_eq!(commands(json!({"command": "make"})), ["make"]);
        let deep = json!({"all": ["exists", {"any": [{"not": {"command": {"run": "a"}}}, {"command": "b"}]}]});
        assert_eq!(commands(deep), ["a", "b"]);
        assert_eq!(commands(json!({"contains": "command"})), Vec::<String>::new());
    }

    #[test]
    fn looks_into_combined_checks() {
        check(
            json!({"all": [{"words": {"min": 5, "max": 3}}, "exist", {"not": {"a": 1, "b": 2}}]}),
            &[
                "all[0]: words: min is more than max",
                &format!("all[1]: {}", unknown("exist")),
                "all[2]: not: write one check, such as `words: { max: 400 }`",
            ],
        );
        check(json!({"any": []}), &["any.checks: [] has less than 1 item"]);
        let nested = (0..40).fold(json!("exists"), |inner, _| json!({ "not": inner }));
        let problems = problems(None, &CheckSpec::read(&nested).unwrap());
        assert_eq!(problems.len(), 1);
        assert!(problems[0].ends_with("checks stand in one another more than 8 deep"));
    }

    #[test]
    fn looks_beyond_the_schema() {
        check(json!({"words": {"min": 5, "max": 3}}), &["words: min is more than max"]);
        check(
            json!({"csv": {}}),
            &["csv: say what should hold, such as columns or rows"],
        );
        let problems_of = |spec: Value| problems(Some("it"), &CheckSpec::read(&spec).unwrap());
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
