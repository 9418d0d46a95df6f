//! Goes through a folder of vectors and says what became of each case.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use serde_json::Value;

use crate::case::{Case, Check, Groups, Outcome};
use crate::repository::{Found, Tests};
use crate::{agntz, latent, prose, verist};

/// What became of all cases.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// One line a case, `file/group/id` with what became of it.
    pub lines: Vec<String>,
    /// How many were run and are as expected.
    pub passed: usize,
    /// How many of these say what is wrong in other words than the expected ones.
    pub in_other_words: usize,
    /// How many are not; also a file, group or case that cannot be read.
    pub failed: usize,
    /// How many are prose that a test of the repository covers.
    pub stated: usize,
}

impl Report {
    /// Whether there were cases, and none failed.
    pub fn is_good(&self) -> bool {
        self.failed == 0 && self.passed + self.stated > 0
    }

    /// The counts in one line.
    pub fn last_line(&self) -> String {
        format!("{} passed, {} failed, {} stated", self.passed, self.failed, self.stated)
    }

    /// How many of the passed were compared loosely, in one line.
    pub fn loose_line(&self) -> String {
        format!("{} of the passed say what is wrong in other words", self.in_other_words)
    }

    fn note(&mut self, name: &str, outcome: Result<Outcome, String>) {
        let line = match outcome {
            Ok(Outcome::Passed) => {
                self.passed += 1;
                format!("passed {name}")
            }
            Ok(Outcome::InOtherWords) => {
                self.passed += 1;
                self.in_other_words += 1;
                format!("passed {name} (in other words)")
            }
            Ok(Outcome::Stated(test)) if Tests::here().find(test) == Found::One => {
                self.stated += 1;
                format!("stated {name}: by the test {test}")
            }
            Ok(Outcome::Stated(test)) => {
                self.failed += 1;
                format!("FAILED {name}: there is not one test {test} that could cover it")
            }
            Err(why) => {
                self.failed += 1;
                format!("FAILED {name}: {why}")
            }
        };
        self.lines.push(line);
    }
}

/// Runs every `*.json` of a folder, in the order of the names.
pub fn run_folder(folder: &Path) -> Report {
    let mut report = Report::default();
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    if paths.is_empty() {
        report.note(
            &folder.display().to_string(),
            Err("there are no vectors here".to_owned()),
        );
    }
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
            Ok(file) => run_file(&name, &file, &mut report),
            Err(error) => report.note(&name, Err(format!("it cannot be read: {error}"))),
        }
    }
    report
}

/// Runs the groups of one file.
pub fn run_file(name: &str, file: &Value, report: &mut Report) {
    let system = file["_meta"]["system"].as_str().unwrap_or_default();
    let Some(groups) = groups_of(system) else {
        return report.note(name, Err(format!("there is no system `{system}`")));
    };
    let Some(file) = file.as_object() else { return };
    if file.len() < 2 {
        report.note(name, Err("it has no groups".to_owned()));
    }
    for (group, cases) in file.iter().filter(|(group, _)| *group != "_meta") {
        run_group(&format!("{name}/{group}"), groups, group, cases, report);
    }
}

fn groups_of(system: &str) -> Option<Groups> {
    match system.split(' ').next().unwrap_or_default().to_lowercase().as_str() {
        "agntz" => Some(agntz::GROUPS),
        "verist" => Some(verist::GROUPS),
        "latent" => Some(latent::GROUPS),
        _ => None,
    }
}

fn run_group(name: &str, groups: Groups, group: &str, cases: &Value, report: &mut Report) {
    let Some(cases) = cases.as_array().filter(|cases| !cases.is_empty()) else {
        return report.note(name, Err("the group is no list of cases".to_owned()));
    };
    let check = groups
        .iter()
        .find(|(known, _)| *known == group)
        .map(|(_, check)| *check);
    let mut seen = HashSet::new();
    for (index, value) in cases.iter().enumerate() {
        let case = Case { group: cases, value };
        let mut name = format!("{name}/{}", case.id());
        let outcome = match (value["id"].as_str(), check) {
            (None, _) => {
                let _ = write!(name, " (number {index})");
                Err("the case has no id".to_owned())
            }
            (Some(id), _) if !seen.insert(id) => Err("the id is there twice".to_owned()),
            (Some(_), None) => Err(format!("there is no group `{group}`")),
            (Some(_), Some(check)) => std::panic::catch_unwind(AssertUnwindSafe(|| judge(&case, check)))
                .unwrap_or_else(|_panic| Err("it broke down".to_owned())),
        };
        report.note(&name, outcome);
    }
}

/// Runs a case; one that allows several readings passes with any of them, and a sentence is looked up.
fn judge(case: &Case, check: Check) -> Result<Outcome, String> {
    if case.is_only_words() {
        return check(case).or_else(|_| prose::stated(case, prose::OF_ANY_GROUP));
    }
    // Pipelines know readings of their own.
    let Some(readings) = case
        .get("accepted")
        .filter(|_| case.get("manifest").is_none() && case.get("phases").is_none())
    else {
        return check(case);
    };
    let readings = readings.as_array().filter(|readings| !readings.is_empty());
    let mut problems = Vec::new();
    for reading in readings.ok_or("`accepted` is no list of readings")? {
        let mut value = case.value.clone();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("accepted");
            fields.insert("expect".to_owned(), reading.clone());
        }
        match check(&Case { value: &value, ..*case }) {
            Ok(outcome) => return Ok(outcome),
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems.join("; or: "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Runs one file of Verist with these groups.
    fn run(groups: Value) -> Report {
        let mut file = json!({ "_meta": { "system": "Verist" } });
        file.as_object_mut()
            .unwrap()
            .extend(groups.as_object().unwrap().clone());
        let mut report = Report::default();
        run_file("file", &file, &mut report);
        report
    }

    fn check_fails(groups: Value, why: &str) {
        let report = run(groups);
        assert!(!report.is_good(), "{report:?}");
        assert!(
            report
                .lines
                .iter()
                .any(|line| line.starts_with("FAILED") && line.contains(why)),
            "{report:?}"
        );
    }

    const EMPTY: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    #[test]
    fn a_case_is_reported_by_file_group_and_id() {
        let report = run(json!({ "hashing": [{ "id": "x", "value": {}, "expect": EMPTY }] }));
        assert_eq!(report.lines, ["passed file/hashing/x"]);
        assert_eq!(report.last_line(), "1 passed, 0 failed, 0 stated");
    }

    #[test]
    fn what_is_wrong_in_other_words_is_counted_apart() {
        let twice = json!({ "list": [{ "id": "x" }, { "id": "x" }] });
        let case = |error: &str| json!({ "id": error, "keyBy": { "list": "id" }, "before": twice, "after": {}, "error": error });
        let report = run(json!({ "keyed_diffs": [case("two of \"x\""), case("\"x\"")] }));
        assert_eq!((report.passed, report.in_other_words), (2, 1), "{report:?}");
        assert!(report.loose_line().starts_with("1 of the passed"), "{report:?}");
    }

    #[test]
    fn a_wrong_expectation_fails() {
        check_fails(
            json!({ "hashing": [{ "id": "x", "value": [], "expect": EMPTY }] }),
            "file/hashing/x: `hash` is",
        );
    }

    #[test]
    fn a_group_that_nobody_knows_fails_in_each_of_its_cases() {
        let report = run(json!({ "hashes": [{ "id": "x" }, { "id": "y" }] }));
        assert_eq!(report.failed, 2);
        check_fails(json!({ "hashes": [{ "id": "x" }] }), "there is no group `hashes`");
        check_fails(json!({ "hashing": [] }), "the group is no list of cases");
    }

    #[test]
    fn a_case_without_a_body_fails() {
        check_fails(
            json!({ "hashing": [{ "id": "x", "expect": EMPTY }] }),
            "the case has no `value`",
        );
        check_fails(
            json!({ "hashing": [{ "id": "x", "value": 1 }] }),
            "the case has no `expect`",
        );
        check_fails(
            json!({ "hashing": [{ "value": {}, "expect": EMPTY }] }),
            "the case has no id",
        );
    }

    #[test]
    fn an_id_that_is_there_twice_fails() {
        let case = json!({ "id": "x", "value": {}, "expect": EMPTY });
        check_fails(json!({ "hashing": [case, case] }), "the id is there twice");
    }

    #[test]
    fn a_system_that_nobody_knows_fails() {
        let mut report = Report::default();
        run_file(
            "file",
            &json!({ "_meta": { "system": "verisT2" }, "hashing": [] }),
            &mut report,
        );
        assert_eq!(report.lines, ["FAILED file: there is no system `verisT2`"]);
    }

    #[test]
    fn a_sentence_counts_as_stated_only_when_a_known_test_covers_it() {
        let report = run(json!({ "hash_notes": [{ "id": "x", "rule": "top-level absent value hashes like null" }] }));
        assert_eq!((report.stated, report.passed), (1, 0), "{report:?}");
        check_fails(
            json!({ "hash_notes": [{ "id": "x", "rule": "the moon is a cheese" }] }),
            "no test is known that covers it",
        );
        let mut report = Report::default();
        report.note("x", Ok(Outcome::Stated("a_test_that_is_not_there")));
        assert_eq!(report.failed, 1, "{report:?}");
    }

    #[test]
    fn a_sentence_may_stand_in_any_group() {
        let report = run(json!({ "extraction": [{ "id": "x", "what": "a fence around the JSON is dropped" }] }));
        assert_eq!((report.stated, report.failed), (1, 0), "{report:?}");
        check_fails(
            json!({ "extraction": [{ "id": "x", "what": "the moon is a cheese" }] }),
            "no test is known that covers it",
        );
    }

    #[test]
    fn one_of_the_accepted_readings_is_enough() {
        let report = run(json!({ "hashing": [{ "id": "x", "value": {}, "accepted": ["sha256:0", EMPTY] }] }));
        assert_eq!((report.passed, report.failed), (1, 0), "{report:?}");
        check_fails(
            json!({ "hashing": [{ "id": "x", "value": {}, "accepted": ["sha256:0", "sha256:1"] }] }),
            "; or: ",
        );
        check_fails(
            json!({ "hashing": [{ "id": "x", "value": {}, "accepted": [] }] }),
            "no list of readings",
        );
    }

    #[test]
    fn a_folder_without_vectors_fails() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!run_folder(folder.path()).is_good());
        std::fs::write(folder.path().join("a.json"), "{").unwrap();
        assert_eq!(run_folder(folder.path()).failed, 1);
    }
}
