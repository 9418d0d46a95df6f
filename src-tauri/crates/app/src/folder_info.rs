//! A folder at a glance: what is directly in it, for the person who just picked it.

use std::collections::BTreeMap;
use std::path::Path;

use contract::ports::files::{FileKind, Files};
use workspace::Folder;

use crate::commands::files::{FileCount, FolderInfo};
use crate::error::sentence;
use crate::new_run;

/// Larger tables are not counted while a person waits.
const COUNTED: u64 = 4 * 1024 * 1024;

/// What is in a folder, or why it cannot be worked in.
pub(crate) async fn of(path: &str, opened: Result<Folder, contract::ports::files::FilesError>) -> FolderInfo {
    let name = name_of(path);
    let listed = match &opened {
        Ok(folder) => folder.list("").await.map(|entries| (folder, entries)),
        Err(error) => Err(error.clone()),
    };
    let (folder, entries) = match listed {
        Ok(listed) => listed,
        Err(error) => return without(name, Path::new(path).is_dir(), sentence(&error.to_string())),
    };
    let files: Vec<_> = entries.iter().filter(|entry| entry.kind == FileKind::File).collect();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for file in &files {
        *counts.entry(extension(&file.name)).or_default() += 1;
    }
    let mut counts: Vec<FileCount> = counts
        .into_iter()
        .map(|(extension, count)| FileCount { extension, count })
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    let tables: Vec<&str> = files
        .iter()
        .filter(|file| extension(&file.name) == "csv")
        .map(|file| file.name.as_str())
        .collect();
    let size: u64 = files
        .iter()
        .filter(|file| extension(&file.name) == "csv")
        .map(|file| file.size)
        .sum();
    let rows = if tables.is_empty() || size > COUNTED {
        None
    } else {
        rows(folder, &tables).await
    };
    let folders = entries.iter().filter(|entry| entry.kind == FileKind::Folder).count();
    FolderInfo {
        exists: true,
        name,
        files: counts,
        folders: u32::try_from(folders).unwrap_or(u32::MAX),
        rows,
        problem: None,
    }
}

/// A folder that no run may work in, because the app's own data is there.
pub(crate) fn own_data(path: &str) -> FolderInfo {
    without(name_of(path), true, sentence(&new_run::own_data(path).message))
}

fn name_of(path: &str) -> String {
    Path::new(path)
        .file_name()
        .map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn without(name: String, exists: bool, problem: String) -> FolderInfo {
    FolderInfo {
        exists,
        name,
        files: Vec::new(),
        folders: 0,
        rows: None,
        problem: Some(problem),
    }
}

fn extension(name: &str) -> String {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy());
    extension.unwrap_or_default().to_lowercase()
}

/// Lines that hold something, without the first of each file: rows as a person counts them at a glance.
async fn rows(folder: &Folder, tables: &[&str]) -> Option<u64> {
    let mut rows = 0;
    for table in tables {
        let bytes = folder.read(table, COUNTED).await.ok()?;
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .count();
        rows += (lines as u64).saturating_sub(1);
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_what_is_directly_inside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expenses");
        std::fs::create_dir_all(path.join("old")).unwrap();
        for (name, text) in [
            ("april.csv", "id,sum\n1,2\n3,4\n\n"),
            ("may.CSV", "id,sum\r\n5,6"),
            ("notes", "x"),
        ] {
            std::fs::write(path.join(name), text).unwrap();
        }
        let info = of(path.to_str().unwrap(), Folder::open(&path)).await;
        let count = |extension: &str, count| FileCount {
            extension: extension.to_owned(),
            count,
        };
        let expected = FolderInfo {
            exists: true,
            name: "expenses".to_owned(),
            files: vec![count("csv", 2), count("", 1)],
            folders: 1,
            rows: Some(3),
            problem: None,
        };
        assert_eq!(info, expected);
    }

    #[tokio::test]
    async fn says_why_a_folder_cannot_be_worked_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone");
        let info = of(path.to_str().unwrap(), Folder::open(&path)).await;
        assert!(!info.exists);
        assert!(info.problem.unwrap().contains("is not there"));
    }
}
