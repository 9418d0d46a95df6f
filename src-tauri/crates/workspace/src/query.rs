//! Questions to files: each is loaded as a table of its name, then asked with SQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::ports::files::Files;
use serde::Serialize;

use crate::sql::{self, Answer, Limits, SqlError};
use crate::table::{Table, TableError};

/// An answer, and what of the files is not in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Queried {
    /// Columns and rows.
    pub answer: Answer,
    /// The lines that could not be read, file by file.
    pub skipped: Vec<SkippedLine>,
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

/// Loads these files (`{ table: path }`) and asks them.
pub async fn ask(files: &Arc<dyn Files>, sources: &BTreeMap<String, String>, sql: &str) -> Result<Queried, QueryError> {
    let mut tables = Vec::new();
    let mut skipped = Vec::new();
    for (name, path) in sources {
        let table = Table::load(files.as_ref(), path).await?;
        let file = files.relative(path).map_err(TableError::from)?;
        skipped.extend(table.skipped.iter().map(|line| SkippedLine {
            file: file.clone(),
            line: line.line,
            reason: line.reason.clone(),
        }));
        tables.push((name.clone(), table));
    }
    let answer = sql::ask(tables, sql.to_owned(), Limits::default()).await?;
    Ok(Queried { answer, skipped })
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
}
