//! The `task_grant` table: what a person allowed for every run of a task, until it is revoked.

use contract::access::Access;
use contract::hash::Hash;
use contract::ports::journal::Durability;
use sqlx::FromRow;

use crate::error::StoreError;
use crate::open::Store;

/// A grant to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The task's identity.
    pub task: Hash,
    /// What the task is called.
    pub title: String,
    /// Where it works.
    pub folder: String,
    /// What is allowed.
    pub access: Access,
}

/// A grant as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub id: i64,
    /// What the task was called when it was granted.
    pub title: String,
    /// Where it works.
    pub folder: String,
    /// What is allowed.
    pub access: Access,
    /// Milliseconds since 1970, UTC.
    pub granted_at_ms: i64,
}

#[derive(FromRow)]
struct Row {
    id: i64,
    title: String,
    folder: String,
    access: String,
    granted_at_ms: i64,
}

/// What can be asked about grants.
#[derive(Debug, Clone, Copy)]
pub struct Grants<'a> {
    store: &'a Store,
}

impl Store {
    /// The grants.
    pub fn grants(&self) -> Grants<'_> {
        Grants { store: self }
    }
}

impl Grants<'_> {
    /// All of them, newest first. One of a newer version's kind is left out: it grants nothing here.
    pub async fn all(&self) -> Result<Vec<Grant>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, title, folder, access, granted_at_ms FROM task_grant ORDER BY granted_at_ms DESC, id DESC",
        )
        .fetch_all(self.store.readers())
        .await?;
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// What is allowed for a task, in the order in which it was granted.
    pub async fn of(&self, task: &Hash) -> Result<Vec<Access>, StoreError> {
        let rows: Vec<(String,)> = sqlx::query_as("SELECT access FROM task_grant WHERE task = ? ORDER BY id")
            .bind(task.as_str())
            .fetch_all(self.store.readers())
            .await?;
        let read = |(access,): (String,)| serde_json::from_str(&access).ok();
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Keeps grants; what is granted already stays as it is.
    pub async fn add(&self, grants: Vec<NewGrant>, at_ms: i64) -> Result<(), StoreError> {
        let adding = self.store.writer().write(Durability::Barrier, move |connection| {
            Box::pin(async move {
                for grant in grants {
                    let access = serde_json::to_string(&grant.access)
                        .map_err(|error| StoreError::Corrupted(error.to_string()))?;
                    sqlx::query(
                        "INSERT INTO task_grant (task, title, folder, access, granted_at_ms) VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT (task, access) DO NOTHING",
                    )
                    .bind(grant.task.as_str().to_owned())
                    .bind(grant.title)
                    .bind(grant.folder)
                    .bind(access)
                    .bind(at_ms)
                    .execute(&mut *connection)
                    .await?;
                }
                Ok(())
            })
        });
        adding.await
    }

    /// Takes a grant back, and says whether there was one.
    pub async fn revoke(&self, id: i64) -> Result<bool, StoreError> {
        let revoking = self.store.writer().write(Durability::Barrier, move |connection| {
            Box::pin(async move {
                let gone = sqlx::query("DELETE FROM task_grant WHERE id = ?")
                    .bind(id)
                    .execute(connection)
                    .await?;
                Ok(gone.rows_affected() > 0)
            })
        });
        revoking.await
    }
}

fn read(row: Row) -> Option<Grant> {
    Some(Grant {
        id: row.id,
        title: row.title,
        folder: row.folder,
        access: serde_json::from_str(&row.access).ok()?,
        granted_at_ms: row.granted_at_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open;

    fn grant(task: &str, command: &str) -> NewGrant {
        NewGrant {
            task: Hash::of_bytes(task.as_bytes()),
            title: task.to_owned(),
            folder: "/home/zoë".to_owned(),
            access: Access::Execute {
                command: command.to_owned(),
            },
        }
    }

    #[tokio::test]
    async fn a_grant_counts_for_its_task_until_it_is_revoked() {
        let (_folder, store) = open().await;
        let grants = store.grants();
        let two = vec![grant("a", "make"), grant("b", "ls")];
        grants.add(two, 1).await.unwrap();
        grants.add(vec![grant("a", "make")], 2).await.unwrap();
        let all = grants.all().await.unwrap();
        assert_eq!(all.len(), 2, "the same is kept once: {all:?}");
        let of_a = grants.of(&grant("a", "").task).await.unwrap();
        assert_eq!(of_a, [grant("a", "make").access]);
        let first = all.iter().find(|one| one.title == "a").unwrap();
        assert!(grants.revoke(first.id).await.unwrap());
        assert!(!grants.revoke(first.id).await.unwrap());
        assert_eq!(grants.of(&grant("a", "").task).await.unwrap(), []);
        assert_eq!(grants.all().await.unwrap().len(), 1);
    }
}
