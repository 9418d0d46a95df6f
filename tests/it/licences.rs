//! No package with a licence that deny.toml does not allow. Only what is built for this system is looked at; the
//! whole list, for every system, is what `cargo deny check` reads.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use crate::cargo::{cargo, metadata, top};

#[derive(Deserialize)]
struct DenyToml {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

/// What is wrong with a package's licence, as a sentence.
fn problem(package: &str, licence: Option<&str>, allowed: &[Licensee]) -> Option<String> {
    let Some(licence) = licence else {
        return Some(format!("{package} names no licence"));
    };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Some(format!("the licence of {package} cannot be read: {licence}"));
    };
    let fine = expression.evaluate(|asked| allowed.iter().any(|licensee| licensee.satisfies(asked)));
    (!fine).then(|| format!("{package} is under {licence}, which deny.toml does not allow"))
}

fn allowed() -> Vec<Licensee> {
    let deny = std::fs::read_to_string(top().join("deny.toml")).unwrap();
    let deny: DenyToml = toml::from_str(&deny).unwrap();
    deny.licenses
        .allow
        .iter()
        .map(|name| Licensee::parse(name).unwrap())
        .collect()
}

fn host() -> String {
    let version = cargo(&["--version", "--verbose"]);
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.unwrap().to_owned()
}

#[test]
fn every_package_is_under_an_allowed_licence() {
    let metadata = metadata(&["--filter-platform", &host()]);
    let built: HashSet<&Value> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| &node["id"])
        .collect();
    let allowed = allowed();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let problems: Vec<String> = packages
        .filter(|package| built.contains(&package["id"]))
        .filter_map(|package| problem(package["name"].as_str().unwrap(), package["license"].as_str(), &allowed))
        .collect();
    assert_eq!(problems, Vec::<String>::new());
}

fn check(licence: Option<&str>, expected: Option<&str>) {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception"].map(|name| Licensee::parse(name).unwrap());
    assert_eq!(problem("it", licence, &allowed).as_deref(), expected);
}

#[test]
fn one_allowed_licence_of_several_is_enough() {
    check(Some("GPL-3.0-only OR MIT"), None);
    check(Some("MIT/Apache-2.0"), None);
}

#[test]
fn every_licence_that_applies_must_be_allowed() {
    check(
        Some("MIT AND GPL-3.0-only"),
        Some("it is under MIT AND GPL-3.0-only, which deny.toml does not allow"),
    );
}

#[test]
fn an_exception_counts() {
    check(Some("Apache-2.0 WITH LLVM-exception"), None);
    check(
        Some("Apache-2.0"),
        Some("it is under Apache-2.0, which deny.toml does not allow"),
    );
}

#[test]
fn a_package_without_a_licence_is_a_problem() {
    check(None, Some("it names no licence"));
    check(
        Some("as you like"),
        Some("the licence of it cannot be read: as you like"),
    );
}
