//! The `draft` table: texts that are still being written, under a name.

use contract::ports::journal::Durability;

use crate::error::StoreError;
use crate::open::Store;

/// A text that is still being written.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// When it was last kept.
    pub updated_at_ms: i64,
}

/// What can be asked about drafts.
#[derive(Debug, Clone, Copy)]
pub struct Drafts<'a> {
    store: &'a Store,
}

impl Store {
    /// The drafts.
    pub fn drafts(&self) -> Drafts<'_> {
        Drafts { store: self }
    }
}

impl Drafts<'_> {
    /// The draft under a name.
    pub async fn get(&self, name: &str) -> Result<Option<Draft>, StoreError> {
        Ok(sqlx::query_as("SELECT text, updated_at_ms FROM draft WHERE name = ?")
            .bind(name)
            .fetch_optional(self.store.readers())
            .await?)
    }

    /// Keeps a draft in place of the one before. It survives the end of the process, not a power cut:
    /// drafts are kept at every pause in the typing.
    pub async fn set(&self, name: &str, text: &str, at_ms: i64) -> Result<(), StoreError> {
        let (name, text) = (name.to_owned(), text.to_owned());
        let setting = self.store.writer().write(Durability::Commit, move |connection| {
            Box::pin(async move {
                sqlx::query(
                    "INSERT INTO draft (name, text, updated_at_ms) VALUES (?, ?, ?)
                    ON CONFLICT (name) DO UPDATE SET text = excluded.text, updated_at_ms = excluded.updated_at_ms",
                )
                .bind(name)
                .bind(text)
                .bind(at_ms)
                .execute(connection)
                .await?;
                Ok(())
            })
        });
        setting.await
    }

    /// Forgets a draft, if there is one.
    pub async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        let deleting = self.store.writer().write(Durability::Commit, move |connection| {
            Box::pin(async move {
                sqlx::query("DELETE FROM draft WHERE name = ?")
                    .bind(name)
                    .execute(connection)
                    .await?;
                Ok(())
            })
        });
        deleting.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open;

    #[tokio::test]
    async fn keeps_the_last_text_until_it_is_deleted() {
        let (_folder, store) = open().await;
        let drafts = store.drafts();
        drafts.set("new task", "goal: s", 1).await.unwrap();
        drafts.set("new task", "goal: sum", 2).await.unwrap();
        let draft = Draft {
            text: "goal: sum".to_owned(),
            updated_at_ms: 2,
        };
        assert_eq!(drafts.get("new task").await.unwrap(), Some(draft));
        assert_eq!(drafts.get("other").await.unwrap(), None);
        drafts.delete("new task").await.unwrap();
        drafts.delete("new task").await.unwrap();
        assert_eq!(drafts.get("new task").await.unwrap(), None);
    }
}
