//! The `task` and `task_version` tables: what people composed, every version as it was written.

use contract::ports::journal::Durability;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::open::Store;

/// A task, whatever its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct TaskId(pub i64);

/// One version of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct TaskVersionId(pub i64);

/// A version to save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveTask {
    /// The task it is a version of; when absent, the one with the same path, or a new one.
    pub task: Option<TaskId>,
    /// What it is called.
    pub title: String,
    /// The YAML, as it was written.
    pub source: String,
    /// The file it is kept in, if it is kept in one.
    pub path: Option<String>,
}

/// Where a version was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct SavedTask {
    /// The task.
    pub task: TaskId,
    /// The version.
    pub version: TaskVersionId,
}

/// A task in the list of recent ones.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct RecentTask {
    /// The task.
    pub task: TaskId,
    /// What it is called.
    pub title: String,
    /// The file it is kept in.
    pub path: Option<String>,
    /// When it was last saved.
    pub updated_at_ms: i64,
}

/// A version of a task as it was written.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct TaskSource {
    /// The task.
    pub task: TaskId,
    /// The version.
    pub version: TaskVersionId,
    /// What the task is called.
    pub title: String,
    /// The YAML.
    pub source: String,
    /// The file it is kept in.
    pub path: Option<String>,
    /// When this version was saved.
    pub saved_at_ms: i64,
}

/// What can be asked about tasks.
#[derive(Debug, Clone, Copy)]
pub struct Tasks<'a> {
    store: &'a Store,
}

impl Store {
    /// The tasks.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { store: self }
    }
}

const RECENT: &str =
    "SELECT id AS task, title, path, updated_at_ms FROM task ORDER BY updated_at_ms DESC, id DESC LIMIT ?";
const OPEN: &str = "SELECT task.id AS task, task_version.id AS version, title, source, path, saved_at_ms
    FROM task JOIN task_version ON task_version.task = task.id
    WHERE task.id = ? ORDER BY number DESC LIMIT 1";
const OPEN_VERSION: &str = "SELECT task.id AS task, task_version.id AS version, title, source, path, saved_at_ms
    FROM task_version JOIN task ON task.id = task_version.task WHERE task_version.id = ?";

impl Tasks<'_> {
    /// Saves a version. A text that equals the task's newest one is that version, not another.
    pub async fn save_version(&self, save: SaveTask, at_ms: i64) -> Result<SavedTask, StoreError> {
        self.store
            .writer()
            .write(Durability::Barrier, move |connection| {
                Box::pin(save_version(connection, save, at_ms))
            })
            .await
    }

    /// The tasks that were saved last, newest first.
    pub async fn recent(&self, limit: u32) -> Result<Vec<RecentTask>, StoreError> {
        Ok(sqlx::query_as(RECENT)
            .bind(limit)
            .fetch_all(self.store.readers())
            .await?)
    }

    /// The newest version of a task.
    pub async fn open(&self, task: TaskId) -> Result<Option<TaskSource>, StoreError> {
        Ok(sqlx::query_as(OPEN)
            .bind(task)
            .fetch_optional(self.store.readers())
            .await?)
    }

    /// One version of a task.
    pub async fn open_version(&self, version: TaskVersionId) -> Result<Option<TaskSource>, StoreError> {
        Ok(sqlx::query_as(OPEN_VERSION)
            .bind(version)
            .fetch_optional(self.store.readers())
            .await?)
    }
}

async fn save_version(connection: &mut SqliteConnection, save: SaveTask, at_ms: i64) -> Result<SavedTask, StoreError> {
    let task = match find(&mut *connection, &save).await? {
        Some(task) => update(&mut *connection, task, &save, at_ms).await?,
        None => insert(&mut *connection, &save, at_ms).await?,
    };
    let newest: Option<(TaskVersionId, i64, String)> =
        sqlx::query_as("SELECT id, number, source FROM task_version WHERE task = ? ORDER BY number DESC LIMIT 1")
            .bind(task)
            .fetch_optional(&mut *connection)
            .await?;
    let number = match newest {
        Some((version, _, source)) if source == save.source => return Ok(SavedTask { task, version }),
        Some((_, number, _)) => number + 1,
        None => 1,
    };
    let version = sqlx::query_scalar(
        "INSERT INTO task_version (task, number, source, saved_at_ms) VALUES (?, ?, ?, ?) RETURNING id",
    )
    .bind(task)
    .bind(number)
    .bind(save.source)
    .bind(at_ms)
    .fetch_one(connection)
    .await?;
    Ok(SavedTask { task, version })
}

async fn find(connection: &mut SqliteConnection, save: &SaveTask) -> Result<Option<TaskId>, StoreError> {
    if save.task.is_some() {
        return Ok(save.task);
    }
    let Some(path) = &save.path else {
        return Ok(None);
    };
    Ok(sqlx::query_scalar("SELECT id FROM task WHERE path = ?")
        .bind(path)
        .fetch_optional(connection)
        .await?)
}

async fn insert(connection: &mut SqliteConnection, save: &SaveTask, at_ms: i64) -> Result<TaskId, StoreError> {
    Ok(
        sqlx::query_scalar("INSERT INTO task (title, path, updated_at_ms) VALUES (?, ?, ?) RETURNING id")
            .bind(&save.title)
            .bind(&save.path)
            .bind(at_ms)
            .fetch_one(connection)
            .await?,
    )
}

/// A file belongs to one task: saving another task over it takes it from the one before.
async fn update(
    connection: &mut SqliteConnection,
    task: TaskId,
    save: &SaveTask,
    at_ms: i64,
) -> Result<TaskId, StoreError> {
    if let Some(path) = &save.path {
        sqlx::query("UPDATE task SET path = NULL WHERE path = ? AND id <> ?")
            .bind(path)
            .bind(task)
            .execute(&mut *connection)
            .await?;
    }
    let updated: Option<TaskId> = sqlx::query_scalar(
        "UPDATE task SET title = ?, path = coalesce(?, path), updated_at_ms = ? WHERE id = ? RETURNING id",
    )
    .bind(&save.title)
    .bind(&save.path)
    .bind(at_ms)
    .bind(task)
    .fetch_optional(connection)
    .await?;
    updated.ok_or_else(|| StoreError::NotFound("such task".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{count, explain, open};

    fn task(title: &str, source: &str, path: Option<&str>) -> SaveTask {
        SaveTask {
            task: None,
            title: title.to_owned(),
            source: source.to_owned(),
            path: path.map(str::to_owned),
        }
    }

    #[tokio::test]
    async fn opens_the_newest_version_and_keeps_the_older_ones() {
        let (_folder, store) = open().await;
        let first = store
            .tasks()
            .save_version(task("Sum", "goal: sum", None), 1)
            .await
            .unwrap();
        let mut second = task("Total", "goal: total", None);
        second.task = Some(first.task);
        let second = store.tasks().save_version(second, 2).await.unwrap();
        assert_eq!(first.task, second.task);
        let newest = store.tasks().open(first.task).await.unwrap().unwrap();
        let expected = TaskSource {
            task: first.task,
            version: second.version,
            title: "Total".to_owned(),
            source: "goal: total".to_owned(),
            path: None,
            saved_at_ms: 2,
        };
        assert_eq!(newest, expected);
        let older = store.tasks().open_version(first.version).await.unwrap().unwrap();
        assert_eq!((older.source.as_str(), older.saved_at_ms), ("goal: sum", 1));
        assert_eq!(store.tasks().open(TaskId(99)).await.unwrap(), None);
        assert_eq!(store.tasks().open_version(TaskVersionId(99)).await.unwrap(), None);
    }

    #[tokio::test]
    async fn saving_the_same_text_again_is_the_same_version() {
        let (_folder, store) = open().await;
        let save = task("Sum", "goal: sum", Some("sum.yaml"));
        let first = store.tasks().save_version(save.clone(), 1).await.unwrap();
        assert_eq!(store.tasks().save_version(save, 2).await.unwrap(), first);
        assert_eq!(count(&store, "task_version").await, 1);
    }

    #[tokio::test]
    async fn a_file_is_one_task() {
        let (_folder, store) = open().await;
        let first = store
            .tasks()
            .save_version(task("A", "a", Some("sum.yaml")), 1)
            .await
            .unwrap();
        let again = store
            .tasks()
            .save_version(task("B", "b", Some("sum.yaml")), 2)
            .await
            .unwrap();
        assert_eq!(first.task, again.task);
        let mut over = task("C", "c", None);
        let other = store.tasks().save_version(over.clone(), 3).await.unwrap();
        over.task = Some(other.task);
        over.path = Some("sum.yaml".to_owned());
        store.tasks().save_version(over, 4).await.unwrap();
        assert_eq!(store.tasks().open(first.task).await.unwrap().unwrap().path, None);
    }

    #[tokio::test]
    async fn lists_the_last_saved_first() {
        let (_folder, store) = open().await;
        for (number, title) in ["A", "B", "C"].iter().enumerate() {
            let path = format!("{title}.yaml");
            store
                .tasks()
                .save_version(task(title, "x", Some(&path)), number as i64)
                .await
                .unwrap();
        }
        store
            .tasks()
            .save_version(task("A", "y", Some("A.yaml")), 9)
            .await
            .unwrap();
        let titles: Vec<String> = store
            .tasks()
            .recent(2)
            .await
            .unwrap()
            .into_iter()
            .map(|task| task.title)
            .collect();
        assert_eq!(titles, ["A", "C"]);
    }

    #[tokio::test]
    async fn refuses_a_version_of_a_task_that_is_not_there() {
        let (_folder, store) = open().await;
        let mut save = task("A", "a", None);
        save.task = Some(TaskId(7));
        let error = store.tasks().save_version(save, 1).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no such task");
        assert_eq!(count(&store, "task_version").await, 0);
    }

    #[tokio::test]
    async fn opens_and_lists_without_scanning_or_sorting() {
        let (_folder, store) = open().await;
        for sql in [OPEN, OPEN_VERSION] {
            let plan = explain(&store, sql, &["1"]).await;
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let plan = explain(&store, RECENT, &["10"]).await;
        assert!(
            plan.contains("SCAN task USING INDEX task_updated") && !plan.contains("TEMP B-TREE"),
            "{plan}"
        );
    }
}
