//! A query that wants all the memory. In a process of its own, because SQLite counts memory for the
//! whole process, and other queries would be refused theirs meanwhile.

use std::time::Duration;

use workspace::sql::{Limits, SqlError, ask};

#[tokio::test]
async fn a_query_that_fills_the_memory_is_stopped() {
    let hungry = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        SELECT COUNT(*) FROM (SELECT DISTINCT zeroblob(7000000) || i FROM n)";
    let patient = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    assert_eq!(
        ask(Vec::new(), hungry.to_owned(), patient).await,
        Err(SqlError::TooHungry)
    );
}
