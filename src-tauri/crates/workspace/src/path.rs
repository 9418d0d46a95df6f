//! Path strings as people and models write them, made relative to the working folder.
//!
//! This is about the text only; links are the business of the folder's handle.

use std::path::{Component, Path, PathBuf};

use contract::ports::files::FilesError;

/// The path relative to one of these roots (the same folder under several names), with `/` and
/// without `.` or `..`; empty for the folder itself.
pub(crate) fn relative(roots: &[PathBuf], path: &str) -> Result<String, FilesError> {
    let outside = || FilesError::Outside(path.to_owned());
    if path.contains('\0') {
        return Err(FilesError::Io {
            path: path.replace('\0', "\u{2400}"),
            message: "a path cannot contain a null character".to_owned(),
        });
    }
    let written = Path::new(path);
    let parts = normal_parts(written).ok_or_else(outside)?;
    if !written.has_root() && !matches!(written.components().next(), Some(Component::Prefix(_))) {
        return Ok(parts.join("/"));
    }
    roots
        .iter()
        .filter(|root| same_start(root, written))
        .filter_map(|root| normal_parts(root))
        .find_map(|root| parts.strip_prefix(root.as_slice()).map(|rest| rest.join("/")))
        .ok_or_else(outside)
}

/// The named parts of a path with `.` and `..` resolved; none when it climbs above its start.
fn normal_parts(path: &Path) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_str()?.to_owned()),
        }
    }
    Some(parts)
}

/// Whether both begin with the same drive, where there are drives.
fn same_start(left: &Path, right: &Path) -> bool {
    let prefix = |path: &Path| match path.components().next() {
        Some(Component::Prefix(prefix)) => Some(prefix.as_os_str().to_ascii_lowercase()),
        _ => None,
    };
    prefix(left) == prefix(right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        let found = relative(&[PathBuf::from("/home/zoe/expenses")], path);
        assert_eq!(found.ok().as_deref(), expected, "{path:?}");
    }

    #[test]
    fn drops_dots_and_doubled_slashes() {
        check("./report//totals.md", Some("report/totals.md"));
        check("report/./totals.md/", Some("report/totals.md"));
        check(".", Some(""));
        check("", Some(""));
    }

    #[test]
    fn resolves_a_parent_that_stays_inside() {
        check("report/../totals.md", Some("totals.md"));
    }

    #[test]
    fn refuses_to_climb_out_even_when_it_would_come_back() {
        check("../expenses/totals.md", None);
        check("report/../../totals.md", None);
        check("/home/zoe/expenses/../secret", None);
        check("/../../home/zoe/expenses/a", None);
    }

    #[test]
    fn accepts_an_absolute_path_only_inside_the_folder() {
        check("/home/zoe/expenses/report.md", Some("report.md"));
        check("/home/zoe/expenses", Some(""));
        check("/home/zoe/expenses-2/report.md", None);
        check("/etc/passwd", None);
    }

    #[test]
    fn refuses_a_null_character() {
        check("report\0.md", None);
    }

    proptest! {
        #[test]
        fn no_text_leads_out_of_the_folder(path in "(/home/zoe/expenses)?([./]|\\.\\.|/|\\\\|[a-c]|~|C:|\u{2025}){0,12}") {
            if let Ok(found) = relative(&[PathBuf::from("/home/zoe/expenses")], &path) {
                prop_assert!(!Path::new(&found).has_root());
                prop_assert!(Path::new(&found).components().all(|part| matches!(part, Component::Normal(_))));
            }
        }

        #[test]
        fn any_text_at_all_is_answered(path in ".*") {
            if let Ok(found) = relative(&[PathBuf::from("/home/zoe/expenses")], &path) {
                prop_assert!(Path::new(&found).components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
