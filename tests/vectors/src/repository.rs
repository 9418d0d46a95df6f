//! The tests of this repository by name, read from its source: what a table that names tests is held against.
//!
//! A function counts that stands under `#[test]` or `#[tokio::test…]`, or inside `proptest!`, is not ignored, and has a
//! body. Whether the body can fail is not looked at.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// All tests that count, each as `place::name`. The place is the file, or of a `tests.rs`, `lib.rs` or `main.rs` its
/// folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests(BTreeSet<String>);

/// What a name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// One test.
    One,
    /// None that counts.
    None,
    /// Several: it has to be said where.
    Many,
}

impl Tests {
    /// The tests of the repository that this was compiled in.
    pub fn here() -> &'static Self {
        static TESTS: OnceLock<Tests> = OnceLock::new();
        TESTS.get_or_init(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let mut tests = Self::default();
            for folder in ["src-tauri", "tests", "benches"] {
                tests.collect(&root.join(folder));
            }
            tests
        })
    }

    /// What `name` or `place::name` leads to.
    pub fn find(&self, name: &str) -> Found {
        let fits = |test: &&String| match name.contains("::") {
            true => test.as_str() == name,
            false => test.rsplit("::").next() == Some(name),
        };
        match self.0.iter().filter(fits).count() {
            0 => Found::None,
            1 => Found::One,
            _ => Found::Many,
        }
    }

    fn collect(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                let name = entry.file_name();
                if name != "target" && name != "node_modules" {
                    self.collect(&path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.add(&place_of(&path), &std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }

    /// Adds the tests in a file's source.
    fn add(&mut self, place: &str, source: &str) {
        let lines: Vec<&str> = source.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let (mut is_test, mut is_ignored) = (false, false);
        for (at, line) in lines.iter().enumerate() {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if line.starts_with("#[ignore") {
                is_ignored = true;
            } else if let Some(rest) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn ")) {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                if is_test && !is_ignored && !is_empty(line, lines.get(at + 1).copied()) {
                    self.0.insert(format!("{place}::{name}"));
                }
                (is_test, is_ignored) = (false, false);
            } else if !line.starts_with("#[") && !line.starts_with("//") {
                (is_test, is_ignored) = (false, false);
            }
        }
    }
}

fn is_empty(line: &str, next: Option<&str>) -> bool {
    line.ends_with("{}") || line.ends_with("{ }") || (line.ends_with('{') && next == Some("}"))
}

fn place_of(path: &Path) -> String {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let own = name(path);
    let folders = path.ancestors().skip(1).map(name);
    if ["tests", "lib", "main", "mod"].contains(&own.as_str()) {
        return folders.into_iter().find(|folder| folder != "src").unwrap_or(own);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sources: &[(&str, &str)]) -> Tests {
        let mut tests = Tests::default();
        for (place, source) in sources {
            tests.add(place, source);
        }
        tests
    }

    #[test]
    fn a_test_that_is_ignored_or_empty_or_only_a_helper_does_not_count() {
        let source = "#[test]\n/// Words.\nfn one() {\n    check(1);\n}\nfn two() {\n    1;\n}\n\
            #[tokio::test(flavor = \"x\")]\n#[ignore]\nasync fn three() {\n    check(3);\n}\n\
            #[test]\nfn four() {}\n#[test]\nfn five() {\n}\n\
            #[ignore = \"slow\"]\n#[test]\nfn six() {\n    check(6);\n}\n\
            #[test]\n#[should_panic]\nfn seven() {\n    check(7);\n}\n";
        let tests = of(&[("place", source)]);
        let expected = ["place::one", "place::seven"].map(str::to_owned);
        assert_eq!(tests, Tests(BTreeSet::from(expected)));
    }

    #[test]
    fn a_name_that_two_files_have_needs_its_place() {
        let source = "#[test]\nfn holds() {\n    check(1);\n}";
        let tests = of(&[("one", source), ("two", source)]);
        assert_eq!(tests.find("holds"), Found::Many);
        assert_eq!(tests.find("one::holds"), Found::One);
        assert_eq!(tests.find("three::holds"), Found::None);
        assert_eq!(tests.find("older"), Found::None);
    }

    #[test]
    fn finds_the_tests_of_the_repository() {
        assert_eq!(Tests::here().find("finds_the_tests_of_the_repository"), Found::One);
        assert_eq!(
            Tests::here().find("repository::finds_the_tests_of_the_repository"),
            Found::One
        );
        assert_eq!(Tests::here().find("is_empty"), Found::None);
    }
}
