//! Cases that are sentences: which test of the repository covers which.
//!
//! A table holds rows of words and a test. The first row whose words all stand in the case, in any
//! case of letters, names the test. That the test exists is checked for every stated case.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use crate::case::{Case, Outcome};

/// Words that a sentence holds, and the test that covers it.
pub type Row = (&'static [&'static str], &'static str);

/// The test that covers a prose case: of the first row whose words all stand in it.
///
/// # Errors
/// No row fits.
pub fn stated(case: &Case, rows: &[Row]) -> Result<Outcome, String> {
    let words = case.value.to_string().to_lowercase();
    let row = rows
        .iter()
        .find(|(needed, _)| needed.iter().all(|word| words.contains(&word.to_lowercase())));
    match row {
        Some((_, test)) => Ok(Outcome::Stated(test)),
        None => Err("it only states something, and no test is known that covers it".to_owned()),
    }
}

/// Whether the repository has a test of this name.
pub fn is_a_test(name: &str) -> bool {
    static TESTS: OnceLock<BTreeSet<String>> = OnceLock::new();
    let tests = TESTS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = BTreeSet::new();
        for folder in ["src-tauri", "tests"] {
            collect(&root.join(folder), &mut found);
        }
        found
    });
    tests.contains(name)
}

/// The names of all test functions below a folder.
fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let name = entry.file_name();
            if name != "target" && name != "node_modules" {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(test_names(&std::fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// The names of the functions that stand under `#[test]`, `#[tokio::test…]`, or inside `proptest!`.
fn test_names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn ")) {
            if is_test {
                names.extend(rest.split('(').next().map(str::to_owned));
            }
            is_test = false;
        } else if !line.starts_with("#[") && !line.is_empty() {
            is_test = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_names_of_tests_and_of_nothing_else() {
        let source =
            "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test(flavor = \"x\")]\n#[ignore]\nasync fn three() {}";
        assert_eq!(test_names(source), ["one", "three"]);
    }

    #[test]
    fn finds_the_tests_of_the_repository() {
        assert!(is_a_test("finds_the_tests_of_the_repository"));
        assert!(!is_a_test("is_a_test"));
    }
}
