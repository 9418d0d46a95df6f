//! Questions to files: each is loaded as a table of its name, then asked with SQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::ports::files::{Files, FilesError};
use serde::Serialize;

use crate::document;
use crate::sql::{self, Answer, Limits, SqlError};
use crate::table::{LIMIT, Table, TableError};

/// An answer, and what of the files is not in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Queried {
    /// Columns and rows.
    pub answer: Answer,
    /// The lines that could not be read, file by file.
    pub skipped: Vec<SkippedLine>,
    /// What must be known of the files to read the answer right, such as which sheet of a workbook was asked.
    pub notes: Vec<String>,
    /// The files that were documents, each with what held the process that read it.
    pub held: Vec<(String, String)>,
}

/// A line of a file that is not in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedLine {
    /// Relative to the working folder.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// Why, in words.
    pub reason: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A file is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The query.
    #[error(transparent)]
    Sql(#[from] SqlError),
}

/// Loads these files (`{ table: path }`, of a workbook also `{ table: path#sheet }`) and asks them.
pub async fn ask(files: &Arc<dyn Files>, sources: &BTreeMap<String, String>, sql: &str) -> Result<Queried, QueryError> {
    together(files, sources).await.map_err(TableError::from)?;
    let mut tables = Vec::new();
    let (mut skipped, mut notes, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for (name, source) in sources {
        let table = Table::load(files.as_ref(), source).await?;
        let file = files.relative(document::source(source).0).map_err(TableError::from)?;
        held.extend(table.held.iter().map(|by| (file.clone(), by.clone())));
        notes.extend(table.notes.iter().map(|note| format!("{file}: {note}")));
        skipped.extend(table.skipped.iter().map(|line| SkippedLine {
            file: file.clone(),
            line: line.line,
            reason: line.reason.clone(),
        }));
        tables.push((name.clone(), table));
    }
    let answer = sql::ask(tables, sql.to_owned(), Limits::default()).await?;
    Ok(Queried {
        answer,
        skipped,
        notes,
        held,
    })
}

/// All tables of a query are in memory at once, so what holds for one file holds for all of them.
async fn together(files: &Arc<dyn Files>, sources: &BTreeMap<String, String>) -> Result<(), FilesError> {
    let mut size = 0_u64;
    for source in sources.values() {
        let path = document::source(source).0;
        let (_, bytes) = files
            .stat(path)
            .await?
            .ok_or_else(|| FilesError::NotFound(path.to_owned()))?;
        size = size.saturating_add(bytes);
        if size > LIMIT {
            let path = sources.values().cloned().collect::<Vec<_>>().join(", ");
            return Err(FilesError::TooLarge {
                path,
                size,
                limit: LIMIT,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use crate::table::Cell;

    #[tokio::test]
    async fn joins_a_csv_and_a_json_file_and_reports_what_is_missing() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.csv"), "id;name\n1;Zoë\n2\n3;Łu\n").unwrap();
        std::fs::write(place.path().join("b.json"), r#"[{"id": 1, "n": 5}, {"id": 3, "n": 6}]"#).unwrap();
        let files: Arc<dyn Files> = Arc::new(Folder::open(place.path()).unwrap());
        let sources = BTreeMap::from([
            ("a".to_owned(), "./a.csv".to_owned()),
            ("b".to_owned(), "b.json".to_owned()),
        ]);
        let queried = ask(
            &files,
            &sources,
            "SELECT name, n FROM a JOIN b USING (id) ORDER BY n DESC",
        )
        .await
        .unwrap();
        let expected = [
            [Cell::Text("Łu".to_owned()), Cell::Integer(6)].to_vec(),
            [Cell::Text("Zoë".to_owned()), Cell::Integer(5)].to_vec(),
        ];
        assert_eq!(queried.answer.rows, expected);
        let missing = SkippedLine {
            file: "a.csv".to_owned(),
            line: 3,
            reason: "1 value instead of 2".to_owned(),
        };
        assert_eq!(queried.skipped, [missing]);
    }

    #[tokio::test]
    async fn one_large_file_under_many_names_is_as_large_as_many() {
        let place = tempfile::tempdir().unwrap();
        let large = std::fs::File::create(place.path().join("large.csv")).unwrap();
        large.set_len(LIMIT / 2 + 1).unwrap();
        let files: Arc<dyn Files> = Arc::new(Folder::open(place.path()).unwrap());
        let sources = ["a", "b"].map(|name| (name.to_owned(), "large.csv".to_owned())).into();
        let error = ask(&files, &sources, "SELECT 1").await.unwrap_err();
        let expected = format!(
            "\"large.csv, large.csv\" has {} bytes; at most {LIMIT} can be read at once",
            LIMIT + 2
        );
        assert_eq!(error.to_string(), expected);
    }
}
