//! SQL over tables: an SQLite database in memory that can be asked and do nothing else.
//!
//! Numbers are 64-bit floats. `SUM` adds with compensation and in the order of the rows, so equal
//! files give equal sums; sums of money are still written `ROUND(SUM(amount), 2)`, because 0.1 has no
//! exact float. `printf('%.2f', …)` keeps both decimals in a text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use crate::sql_functions;
use crate::table::{Cell, ColumnKind, Table, distinct};

/// How far a query may go.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long.
    pub time: Duration,
    /// How many rows it may return.
    pub rows: usize,
    /// How many characters those rows may hold together.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            rows: 100_000,
            bytes: 10 * 1024 * 1024,
        }
    }
}

/// The longest text or blob that a query may read or build, in bytes.
const LONGEST_VALUE: i32 = 1024 * 1024;
/// The longest pattern of `LIKE` and `GLOB`, in bytes: looking for one takes the time of its length times the text's.
const LONGEST_PATTERN: i32 = 100;
/// After how many steps the clock is looked at. One step may be a call of a function.
const STEPS: i32 = 10;
/// What SQLite may take of memory. It counts for the whole process, so it is far above what the
/// history ever needs.
const HEAP: i64 = 512 * 1024 * 1024;

/// What a query returned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Their names; made different where two were the same.
    pub columns: Vec<String>,
    /// In the order of the query.
    pub rows: Vec<Vec<Cell>>,
}

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The text is no query to these tables.
    #[error("the query cannot run: {message} (tables: {tables})")]
    Invalid {
        /// What SQLite says.
        message: String,
        /// What there is to ask.
        tables: String,
    },
    /// It wants more than to read.
    #[error(
        "the query was refused: only a single SELECT over the named tables is allowed, with functions whose result can be repeated"
    )]
    Refused,
    /// It took too long.
    #[error("the query took longer than {0} seconds and was stopped")]
    TooSlow(u64),
    /// The result is too large.
    #[error("the query returns more than {0}; group the rows or add a LIMIT")]
    TooMuch(String),
    /// Memory ran out.
    #[error("the query needs too much memory and was stopped")]
    TooHungry,
    /// A table could not be loaded.
    #[error("the table \"{table}\" cannot be loaded: {message}")]
    Table {
        /// Its name.
        table: String,
        /// What SQLite says.
        message: String,
    },
    /// The one who asked went away.
    #[error("the query was stopped")]
    Cancelled,
}

/// Asks. Dropping the future stops the query.
pub async fn ask(tables: Vec<(String, Table)>, sql: String, limits: Limits) -> Result<Answer, SqlError> {
    let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop.0);
    let asked = tokio::task::spawn_blocking(move || ask_blocking(&tables, &sql, limits, stopped)).await;
    asked.unwrap_or(Err(SqlError::Cancelled))
}

/// What is wrong with the query apart from the names of columns; `tables` may be asked.
pub fn problem(sql: &str, tables: &[&str]) -> Option<String> {
    let look = || -> Result<Option<String>, rusqlite::Error> {
        let connection = Connection::open_in_memory()?;
        for table in tables {
            connection.execute_batch(&format!("CREATE TABLE {} (\"-\")", quoted(table)))?;
        }
        lock(&connection)?;
        let Err(error) = prepared(&connection, sql) else {
            return Ok(None);
        };
        // An unknown column is the one thing that only the files can tell; SQLite gives it no code.
        let message = error.to_string();
        Ok(Some(message).filter(|message| !message.contains("no such column")))
    };
    look().unwrap_or_else(|error| Some(error.to_string()))
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn ask_blocking(
    tables: &[(String, Table)],
    sql: &str,
    limits: Limits,
    stopped: Arc<AtomicBool>,
) -> Result<Answer, SqlError> {
    let in_words = |error: rusqlite::Error| SqlError::Invalid {
        message: message(&error),
        tables: listed(tables),
    };
    let mut connection = Connection::open_in_memory().map_err(in_words)?;
    for (name, table) in tables {
        let failed = |error| SqlError::Table {
            table: name.clone(),
            message: message(&error),
        };
        load(&mut connection, name, table).map_err(failed)?;
    }
    lock(&connection).map_err(in_words)?;
    let started = Instant::now();
    let gone = Arc::clone(&stopped);
    let enough = move || gone.load(Ordering::Relaxed) || started.elapsed() > limits.time;
    connection.progress_handler(STEPS, Some(enough)).map_err(in_words)?;
    let ended = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) if stopped.load(Ordering::Relaxed) => SqlError::Cancelled,
        Some(ErrorCode::OperationInterrupted) => SqlError::TooSlow(limits.time.as_secs()),
        Some(ErrorCode::AuthorizationForStatementDenied) => SqlError::Refused,
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => SqlError::TooHungry,
        _ => in_words(error),
    };
    let mut statement = prepared(&connection, sql).map_err(|problem| match problem {
        Unprepared::Sqlite(error) => ended(error),
        Unprepared::NoQuery => SqlError::Refused,
    })?;
    let columns = distinct(statement.column_names().into_iter().map(str::to_owned).collect());
    let mut found = statement.query([]).map_err(ended)?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = found.next().map_err(ended)? {
        let cells: Result<Vec<Cell>, _> = (0..columns.len()).map(|index| row.get_ref(index).map(cell)).collect();
        let cells = cells.map_err(ended)?;
        bytes += cells
            .iter()
            .map(|cell| if let Cell::Text(words) = cell { words.len() } else { 8 })
            .sum::<usize>();
        if rows.len() == limits.rows {
            return Err(SqlError::TooMuch(format!("{} rows", limits.rows)));
        }
        if bytes > limits.bytes {
            return Err(SqlError::TooMuch(format!("{} MB", limits.bytes / 1024 / 1024)));
        }
        rows.push(cells);
    }
    Ok(Answer { columns, rows })
}

fn load(connection: &mut Connection, name: &str, table: &Table) -> rusqlite::Result<()> {
    let declared = |kind| match kind {
        ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
        ColumnKind::Number => "REAL",
        ColumnKind::Text => "TEXT",
    };
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| format!("{} {}", quoted(&column.name), declared(column.kind)))
        .collect();
    let transaction = connection.transaction()?;
    transaction.execute_batch(&format!("CREATE TABLE {} ({})", quoted(name), columns.join(", ")))?;
    {
        let places = vec!["?"; columns.len()].join(", ");
        let mut insert = transaction.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(name)))?;
        for row in &table.rows {
            insert.execute(params_from_iter(row.cells.iter().map(parameter)))?;
        }
    }
    transaction.commit()
}

/// From here on the connection can be asked and do nothing else.
fn lock(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "hard_heap_limit", HEAP)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN)?;
    sql_functions::make(connection, usize::try_from(LONGEST_VALUE).unwrap_or_default())?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A misspelt "column" is an error, not a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if sql_functions::is_allowed(function_name) => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

enum Unprepared {
    Sqlite(rusqlite::Error),
    NoQuery,
}

impl std::fmt::Display for Unprepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) => {
                write!(formatter, "{}", SqlError::Refused)
            }
            Self::Sqlite(error) => formatter.write_str(&message(error)),
            Self::NoQuery => write!(formatter, "{}", SqlError::Refused),
        }
    }
}

fn prepared<'connection>(
    connection: &'connection Connection,
    sql: &str,
) -> Result<rusqlite::Statement<'connection>, Unprepared> {
    let statement = connection.prepare(sql).map_err(Unprepared::Sqlite)?;
    if statement.column_count() == 0 || !statement.readonly() || statement.is_explain() != 0 {
        return Err(Unprepared::NoQuery);
    }
    Ok(statement)
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(integer) => Cell::integer(integer),
        ValueRef::Real(number) if number.is_finite() => Cell::Number(number),
        ValueRef::Real(_) => Cell::Null,
        ValueRef::Text(words) => Cell::Text(String::from_utf8_lossy(words).into_owned()),
        ValueRef::Blob(bytes) => Cell::Text(hex::encode(bytes)),
    }
}

fn parameter(cell: &Cell) -> rusqlite::types::Value {
    use rusqlite::types::Value;
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(integer) => Value::Integer(*integer),
        Cell::Number(number) => Value::Real(*number),
        Cell::Boolean(flag) => Value::Integer(i64::from(*flag)),
        Cell::Text(words) => Value::Text(words.clone()),
    }
}

/// A name as SQL takes it, whatever is in it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}

fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "it holds more than one statement".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

fn listed(tables: &[(String, Table)]) -> String {
    let one = |(name, table): &(String, Table)| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{name}({})", columns.join(", "))
    };
    tables.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Vec<(String, Table)> {
        let july = "id,amount,\"the \"\"note\"\"\"\n1,0.1,a\n2,0.2,b\n3,0.3,\n";
        vec![("july".to_owned(), Table::from_csv(july).unwrap())]
    }

    fn limits() -> Limits {
        Limits {
            time: Duration::from_millis(200),
            rows: 10,
            bytes: 1024 * 1024,
        }
    }

    async fn ask_july(sql: &str) -> Result<Answer, SqlError> {
        ask(tables(), sql.to_owned(), limits()).await
    }

    async fn refuses(sql: &str) {
        assert_eq!(ask_july(sql).await, Err(SqlError::Refused), "{sql}");
    }

    #[tokio::test]
    async fn answers_with_typed_columns() {
        let answer =
            ask_july("SELECT COUNT(*) AS n, ROUND(SUM(amount), 2) AS total, MAX(id), \"the \"\"note\"\"\" FROM july;")
                .await;
        let answer = answer.unwrap();
        assert_eq!(answer.columns, ["n", "total", "MAX(id)", "the \"note\""]);
        assert_eq!(
            answer.rows[0],
            [Cell::Integer(3), Cell::Number(0.6), Cell::Integer(3), Cell::Null]
        );
    }

    #[tokio::test]
    async fn names_two_equal_columns_apart() {
        assert_eq!(
            ask_july("SELECT id, id FROM july").await.unwrap().columns,
            ["id", "id_2"]
        );
    }

    #[tokio::test]
    async fn refuses_whatever_is_not_a_question() {
        for sql in [
            "ATTACH DATABASE '/etc/x.db' AS other",
            "PRAGMA table_info(july)",
            "SELECT * FROM pragma_database_list",
            "INSERT INTO july VALUES (4, 1, 'x')",
            "UPDATE july SET amount = 0",
            "DELETE FROM july",
            "DROP TABLE july",
            "CREATE TABLE t (a)",
            "CREATE TEMP TABLE t (a)",
            "CREATE VIRTUAL TABLE t USING fts5(a)",
            "BEGIN",
            "VACUUM INTO '/tmp/x'",
            "EXPLAIN SELECT * FROM july",
        ] {
            refuses(sql).await;
        }
        for sql in [
            "SELECT load_extension('x')",
            "SELECT random()",
            "SELECT CURRENT_TIMESTAMP",
        ] {
            let error = ask_july(sql).await.unwrap_err().to_string();
            assert!(error.contains("not authorized to use function"), "{error}");
        }
        assert!(ask_july("SELECT 1; SELECT 2").await.is_err());
        assert!(ask_july("").await.is_err());
        assert!(ask_july("SELECT readfile('/etc/passwd')").await.is_err());
    }

    #[tokio::test]
    async fn stops_a_query_without_end() {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
        let brief = Limits {
            time: Duration::from_millis(50),
            ..limits()
        };
        assert_eq!(
            ask(tables(), endless.to_owned(), brief).await,
            Err(SqlError::TooSlow(0))
        );
    }

    #[tokio::test]
    async fn no_single_call_of_a_function_outlasts_its_time() {
        let long = "printf('%.1000000c', 'a')";
        for expression in [
            format!("instr({long}, printf('%.500000c', 'a') || 'b')"),
            format!("length(replace({long}, printf('%.500000c', 'a') || 'b', ''))"),
            format!("length(trim({long}, printf('%.500000c', 'b') || 'a'))"),
        ] {
            // The time that everybody has; SQLite's own functions would take a hundred times as much.
            let question = format!("SELECT {expression}");
            let answer = ask(tables(), question, Limits::default()).await.unwrap();
            assert_eq!(answer.rows.len(), 1, "{expression}");
        }
        for (expression, said) in [
            (format!("{long} LIKE printf('%.500c', '%')"), "pattern too complex"),
            (format!("{long} GLOB printf('%.500c', '*')"), "pattern too complex"),
            (
                "json_patch('{}', '{}')".to_owned(),
                "not authorized to use function: json_patch",
            ),
            (
                "hex(unhex('00', 'x'))".to_owned(),
                "not authorized to use function: unhex",
            ),
        ] {
            let error = ask_july(&format!("SELECT {expression}")).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        // Many calls that each take their time are stopped between them.
        let many = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            SELECT SUM({long} LIKE '%' || printf('%.90c', 'a') || 'b') FROM n"
        );
        assert_eq!(ask_july(&many).await, Err(SqlError::TooSlow(0)));
    }

    #[test]
    fn stops_when_nobody_waits_any_more() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_time()
            .build()
            .unwrap();
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
        let patient = Limits {
            time: Duration::from_secs(3600),
            ..limits()
        };
        let asking =
            async { tokio::time::timeout(Duration::from_millis(50), ask(tables(), endless.to_owned(), patient)).await };
        assert!(runtime.block_on(asking).is_err());
        // This waits for the thread of the query.
        drop(runtime);
    }

    #[tokio::test]
    async fn a_recursive_query_with_an_end_is_answered() {
        let five = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n";
        assert_eq!(ask_july(five).await.unwrap().rows.len(), 5);
    }

    #[tokio::test]
    async fn refuses_results_without_measure() {
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n";
        assert_eq!(ask_july(many).await, Err(SqlError::TooMuch("10 rows".to_owned())));
        assert_eq!(
            ask_july("SELECT zeroblob(1000000)").await,
            Err(SqlError::TooMuch("1 MB".to_owned()))
        );
        assert_eq!(ask_july("SELECT zeroblob(900000000)").await, Err(SqlError::TooHungry));
    }

    #[tokio::test]
    async fn says_what_there_is_when_a_name_is_wrong() {
        let error = ask_july("SELECT amout FROM july").await.unwrap_err().to_string();
        assert_eq!(
            error,
            "the query cannot run: no such column: amout (tables: july(id, amount, the \"note\"))"
        );
        assert!(ask_july("SELECT \"amout\" FROM july").await.is_err());
    }

    #[test]
    fn finds_problems_before_there_are_files() {
        assert_eq!(problem("SELECT SUM(amount) FROM july", &["july"]), None);
        assert!(problem("SELEC 1", &["july"]).is_some_and(|problem| problem.contains("syntax error")));
        assert!(problem("SELECT 1 FROM august", &["july"]).is_some_and(|problem| problem.contains("august")));
        assert!(problem("DELETE FROM july", &["july"]).is_some());
    }
}
