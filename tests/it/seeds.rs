//! The table of rules in `seeds.md`: complete, and every test that it names is there, is not ignored, and is one: a name
//! that two files have stands there with its file. A case of the vectors counts when it is run; one that only states
//! something does not, since it names a test itself.
//!
//! What is not here: whether a named test really holds its rule. That is for whoever reads the table.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use vectors::repository::{Found, Tests};

const TABLE: &str = include_str!("seeds.md");
/// How many rules each document has: a row that is lost is a rule that nobody holds.
const RULES: [(char, usize); 5] = [('H', 54), ('D', 105), ('V', 27), ('L', 55), ('A', 30)];

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
        name.len() > 8 && name.replace("::", "_").chars().all(allowed)
    };
    if names.iter().all(is_name) {
        Ok(Held::By(names))
    } else {
        Err(format!("neither tests nor a reason: {held}"))
    }
}

/// What is wrong with a table, given what a name leads to.
fn problems(table: &str, rules: &[(char, usize)], find: impl Fn(&str) -> Found) -> Vec<String> {
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
            Ok(Held::By(names)) => problems.extend(names.into_iter().filter_map(|name| match find(&name) {
                Found::One => None,
                Found::None => Some(format!("{document}{number}: there is no test {name}")),
                Found::Many => Some(format!("{document}{number}: several tests are called {name}")),
            })),
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

/// What names lead to: the functions under a test attribute, and the cases of the vectors that are run.
fn all_tests() -> impl Fn(&str) -> Found {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let report = vectors::run_folder(&folder);
    let passed = report.lines.iter().filter_map(|line| line.strip_prefix("passed "));
    let names = passed.map(|name| name.split(' ').next().unwrap_or_default().to_owned());
    let cases: HashSet<String> = names.collect();
    move |name: &str| match cases.contains(name) {
        true => Found::One,
        false => Tests::here().find(name),
    }
}

#[test]
fn every_rule_of_the_seeds_has_its_test_or_a_reason() {
    let problems = problems(TABLE, &RULES, all_tests());
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
    let tests = |name: &str| match name {
        "a_rule_is_held" | "one::a_rule_is_held_twice" => Found::One,
        "a_rule_is_held_twice" => Found::Many,
        _ => Found::None,
    };
    let find = |table: &str| problems(table, &[('H', 2)], tests);
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
    assert_eq!(
        find("| H1 | A rule | a_rule_is_held_twice |\n| H2 | Another | one::a_rule_is_held_twice |"),
        ["H1: several tests are called a_rule_is_held_twice"]
    );
}

#[test]
fn a_case_that_only_states_something_is_no_test() {
    let find = all_tests();
    assert_eq!(find("verist/hashing/hash-01"), Found::One);
    assert_eq!(find("verist/hash_notes/hashnote-01"), Found::None);
}
