//! What others call a check that is here under another name.

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

/// The name of a check here, for one that goes by another elsewhere.
pub(crate) fn called_here(name: &str) -> Option<&'static str> {
    let (_, here) = ALSO_CALLED.iter().find(|(there, _)| *there == name)?;
    Some(here)
}
