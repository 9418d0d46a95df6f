//! The table of rules in `seeds.md`: complete, and every test that it names is there.
//!
//! What is not here: whether a named test really holds its rule. That is for whoever reads the table.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("seeds.md");
/// How many rules each document has: a row that is lost is a rule that nobody holds.
const RULES: [(char, usize); 5] = [('H', 54), ('D', 99), ('V', 27), ('L', 55), ('A', 30)];

#[derive(Debug, PartialEq)]
enum Held {
    By(Vec<String>),
    NotApplicable,
    Differs,
}

/// The rows as (document, number, rule, proof).
fn rows(table: &str) -> Vec<(char, usize, String, String)> {
    table
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
            let [id, rule, held] = cells.as_slice() else {
                return None;
            };
            let document = id.chars().next().filter(char::is_ascii_uppercase)?;
            let number = id[1..].parse().ok()?;
            Some((document, number, (*rule).to_owned(), (*held).to_owned()))
        })
        .collect()
}

fn read(held: &str) -> Result<Held, String> {
    if let Some(reason) = held.strip_prefix("n/a:") {
        return if reason.trim().is_empty() {
            Err("n/a without a reason".to_owned())
        } else {
            Ok(Held::NotApplicable)
        };
    }
    if let Some(page) = held.strip_prefix("differs:") {
        return if page.trim().is_empty() {
            Err("differs without a page".to_owned())
        } else {
            Ok(Held::Differs)
        };
    }
    let names: Vec<String> = held
        .split(", ")
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect();
    let is_name = |name: &String| {
        let allowed =
            |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "_-/".contains(character);
        name.len() > 8 && name.chars().all(allowed)
    };
    if names.iter().all(is_name) {
        Ok(Held::By(names))
    } else {
        Err(format!("neither tests nor a reason: {held}"))
    }
}

/// What is wrong with a table, given the tests that there are.
fn problems(table: &str, rules: &[(char, usize)], tests: &HashSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<char, usize> = BTreeMap::new();
    for (document, number, rule, held) in rows(table) {
        let last = seen.entry(document).or_default();
        if number != *last + 1 {
            problems.push(format!("{document}{number} comes after {document}{last}"));
        }
        *last = number;
        if rule.is_empty() {
            problems.push(format!("{document}{number} has no rule"));
        }
        match read(&held) {
            Ok(Held::By(names)) => problems.extend(
                names
                    .into_iter()
                    .filter(|name| !tests.contains(name))
                    .map(|name| format!("{document}{number}: there is no test {name}")),
            ),
            Ok(Held::NotApplicable | Held::Differs) => {}
            Err(why) => problems.push(format!("{document}{number}: {why}")),
        }
    }
    for (document, count) in rules {
        let found = seen.get(document).copied().unwrap_or(0);
        if found != *count {
            problems.push(format!("{document} ends at {found} and not at {count}"));
        }
    }
    problems
}

/// The names of all tests: the functions under a test attribute, and the cases of the vectors.
fn tests() -> HashSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names = HashSet::new();
    let mut folders: Vec<PathBuf> = ["src-tauri/crates", "tests"]
        .iter()
        .map(|folder| top.join(folder))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "node_modules" && name != "target" {
                folders.push(path);
            } else if name.ends_with(".rs") {
                names_in(&std::fs::read_to_string(&path).unwrap(), &mut names);
            }
        }
    }
    for entry in std::fs::read_dir(top.join("tests/vectors")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            cases_in(&path, &mut names);
        }
    }
    names
}

fn cases_in(path: &Path, names: &mut HashSet<String>) {
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let stem = path.file_stem().unwrap().to_string_lossy();
    for (group, cases) in file.as_object().unwrap() {
        for id in cases
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|case| case["id"].as_str())
        {
            names.insert(format!("{stem}/{group}/{id}"));
        }
    }
}

fn names_in(source: &str, names: &mut HashSet<String>) {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn "))
            && let Some((name, _)) = rest.split_once('(')
        {
            if is_test {
                names.insert(name.to_owned());
            }
            is_test = false;
        }
    }
}

#[test]
fn every_rule_of_the_seeds_has_its_test_or_a_reason() {
    let problems = problems(TABLE, &RULES, &tests());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let mut counts = [0_usize; 3];
    for (_, _, _, held) in rows(TABLE) {
        match read(&held).unwrap() {
            Held::By(_) => counts[0] += 1,
            Held::NotApplicable => counts[1] += 1,
            Held::Differs => counts[2] += 1,
        }
    }
    println!(
        "rules of the seeds: {} tested, {} not applicable, {} differ",
        counts[0], counts[1], counts[2]
    );
}

#[test]
fn a_table_with_a_gap_a_missing_test_or_no_reason_is_refused() {
    let tests = HashSet::from(["a_rule_is_held".to_owned()]);
    let find = |table: &str| problems(table, &[('H', 2)], &tests);
    let good = "| H1 | A rule | a_rule_is_held |\n| H2 | Another | n/a: packaging |";
    assert!(find(good).is_empty(), "{:?}", find(good));
    assert_eq!(find("| H1 | A rule | a_rule_is_held |"), ["H ends at 1 and not at 2"]);
    assert_eq!(find("| H2 | A rule | a_rule_is_held |"), ["H2 comes after H0"]);
    assert_eq!(
        find("| H1 | A rule | another_rule_is_held |\n| H2 | Another | differs: page |"),
        ["H1: there is no test another_rule_is_held"]
    );
    assert_eq!(
        find("| H1 | A rule | ? |\n| H2 | Another | n/a: |"),
        ["H1: neither tests nor a reason: ?", "H2: n/a without a reason"]
    );
}

#[test]
fn a_helper_function_is_not_taken_for_a_test() {
    let mut names = HashSet::new();
    names_in(
        "#[test]\nfn a_test_stands_here() {\nfn helper_of_a_test() {",
        &mut names,
    );
    assert_eq!(names, HashSet::from(["a_test_stands_here".to_owned()]));
}
