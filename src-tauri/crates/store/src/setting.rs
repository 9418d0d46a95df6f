//! The `setting` table: what the person chose, as JSON. Secrets are in the keychain, never here.

use contract::ports::journal::Durability;
use serde_json::Value;

use crate::error::StoreError;
use crate::open::Store;

/// What can be asked about settings.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    store: &'a Store,
}

impl Store {
    /// The settings.
    pub fn settings(&self) -> Settings<'_> {
        Settings { store: self }
    }
}

impl Settings<'_> {
    /// A setting; none when it was never set.
    pub async fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
        let value: Option<String> = sqlx::query_scalar("SELECT value FROM setting WHERE key = ?")
            .bind(key)
            .fetch_optional(self.store.readers())
            .await?;
        let Some(value) = value else {
            return Ok(None);
        };
        serde_json::from_str(&value).map_err(|error| StoreError::Corrupted(format!("the setting \"{key}\": {error}")))
    }

    /// Sets a setting, safe from a power cut when it returns.
    pub async fn set(&self, key: &str, value: &Value) -> Result<(), StoreError> {
        let (key, value) = (key.to_owned(), value.to_string());
        let setting = self.store.writer().write(Durability::Barrier, move |connection| {
            Box::pin(async move {
                sqlx::query(
                    "INSERT INTO setting (key, value) VALUES (?, ?)
                    ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                )
                .bind(key)
                .bind(value)
                .execute(connection)
                .await?;
                Ok(())
            })
        });
        setting.await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::error::StoreError;
    use crate::testing::{execute, open};

    #[tokio::test]
    async fn returns_what_was_set_last() {
        let (_folder, store) = open().await;
        assert_eq!(store.settings().get("theme").await.unwrap(), None);
        for value in [json!("dark"), json!({"budget": 1.5, "on": [true, null]})] {
            store.settings().set("theme", &value).await.unwrap();
            assert_eq!(store.settings().get("theme").await.unwrap(), Some(value));
        }
        assert_eq!(store.settings().get("Theme").await.unwrap(), None);
    }

    #[tokio::test]
    async fn says_which_setting_is_unreadable() {
        let (_folder, store) = open().await;
        execute(&store, "INSERT INTO setting (key, value) VALUES ('theme', '{')").await;
        let error = store.settings().get("theme").await.unwrap_err();
        assert!(
            matches!(&error, StoreError::Corrupted(why) if why.contains("theme")),
            "{error}"
        );
    }
}
