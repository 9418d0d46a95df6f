//! What a task may ask of a check some day and not of this version, so that a task that needs it is refused before it
//! costs anything.

/// Checks that need programs, or formats of offices and images.
const CHECKS: [(&str, &str); 4] = [
    ("command", "run a command"),
    ("format", "open images, PDF and office files"),
    ("pages", "count the pages of a document"),
    ("dimensions", "measure an image"),
];

/// Checks that need not look into a file.
const OUTSIDE: [&str; 6] = ["exists", "not_empty", "size", "same_as", "changed", "unchanged"];

/// Names that others give to a check (promptfoo's assertions), and its name here.
const ALSO_CALLED: [(&str, &str); 14] = [
    ("contains-all", "contains"),
    ("contains-any", "contains_any"),
    ("icontains", "contains with ignore_case"),
    ("icontains-all", "contains with ignore_case"),
    ("icontains-any", "contains_any with ignore_case"),
    ("not-contains", "not_contains"),
    ("starts-with", "starts_with"),
    ("regex", "matches"),
    ("word-count", "words"),
    ("is-json", "json, or json_schema"),
    ("is_json", "json, or json_schema"),
    ("is-yaml", "yaml"),
    ("not-empty", "not_empty"),
    ("file-exists", "exists"),
];

/// Why a check of this name cannot be asked for, if it is one that will be there later.
pub(crate) fn check(name: &str) -> Option<String> {
    let (_, what) = CHECKS.iter().find(|(later, _)| *later == name)?;
    Some(format!(
        "{name}: this version cannot {what}; leave the check out, and a model judges the sentence"
    ))
}

/// The name of a check here, for one that goes by another elsewhere.
pub(crate) fn called_here(name: &str) -> Option<&'static str> {
    let (_, here) = ALSO_CALLED.iter().find(|(there, _)| *there == name)?;
    Some(here)
}

/// Why this check cannot look at a file of this name, if it is a spreadsheet.
pub(crate) fn inside(check: &str, path: &str) -> Option<String> {
    if OUTSIDE.contains(&check) {
        return None;
    }
    spreadsheet(path).map(|problem| format!("{check}: {problem}"))
}

/// Why a file of this name cannot be read as a table.
pub(crate) fn spreadsheet(path: &str) -> Option<String> {
    let name = path.to_ascii_lowercase();
    let is_one = [".xlsx", ".xlsm", ".xls", ".ods"]
        .iter()
        .any(|ending| name.ends_with(ending));
    is_one.then(|| format!("this version cannot look into a spreadsheet such as \"{path}\"; use a CSV file"))
}
