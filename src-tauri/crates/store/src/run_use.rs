//! What a run used of models, and what that cost: part of its row, and the `run_model` table, which finds runs by model.
//!
//! An attempt does not say which model its call is for. The fold remembers the calls that it has seen begin; for a call
//! from before the row was read, the journal is asked.

use std::collections::HashMap;

use contract::cost::{Cost, Prices};
use contract::event::RunEvent;
use contract::ids::Key;
use contract::llm::LlmAttempt;
use contract::run::{ModelUse, RunHeader};
use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use sqlx::SqliteConnection;
use sqlx::types::Json;

use crate::error::StoreError;
use crate::event;

/// The models of a run.
#[derive(Debug, Clone, Default, PartialEq, sqlx::FromRow)]
pub(crate) struct Used {
    /// In money, of all models whose price is known.
    pub(crate) cost: f64,
    /// Empty when no price is known.
    pub(crate) currency: String,
    /// In the order in which they were first asked.
    pub(crate) models: Json<Vec<ModelUse>>,
    /// Whether something was used since it was written.
    #[sqlx(skip)]
    pub(crate) has_paid: bool,
    /// How many of the models have their rows in `run_model`.
    #[sqlx(skip)]
    found_by: usize,
    #[sqlx(skip)]
    begun: Begun,
}

/// What is not kept in the row.
#[derive(Debug, Clone, Default, PartialEq)]
struct Begun {
    /// None while it is not known.
    terms: Option<Terms>,
    /// The models of the calls at work, by their leaves.
    calls: HashMap<String, String>,
}

/// What a run pays.
#[derive(Debug, Clone, PartialEq)]
struct Terms {
    prices: Prices,
    /// A recording answers for the models: none is asked, and nothing is paid.
    is_recorded: bool,
}

impl Terms {
    fn of(header: &RunHeader) -> Self {
        Self {
            prices: header.prices.clone(),
            is_recorded: header.recording.is_some(),
        }
    }
}

impl Used {
    /// As a row of the `run` table has it.
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let text: String = row.get("models")?;
        let models: Vec<ModelUse> = serde_json::from_str(&text)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))?;
        Ok(Self {
            cost: row.get("cost")?,
            currency: row.get("currency")?,
            found_by: models.len(),
            models: Json(models),
            ..Self::default()
        })
    }

    /// The models as their column has them.
    pub(crate) fn models_text(&self) -> Result<String, StoreError> {
        serde_json::to_string(&self.models.0).map_err(|error| StoreError::Storage(error.to_string()))
    }

    /// What it was in money.
    pub(crate) fn cost(&self) -> Cost {
        let unpriced = self.models.iter().filter(|used| used.cost.is_none() && used.tokens > 0);
        Cost {
            amount: self.cost,
            currency: self.currency.clone(),
            unpriced: unpriced.map(|used| used.model.clone()).collect(),
        }
    }

    /// Looks up what an attempt needs whose call began before the row was read.
    pub(crate) fn prepare(
        &mut self,
        connection: &Connection,
        run: i64,
        key: &Key,
        event: &RunEvent,
    ) -> Result<(), StoreError> {
        if !matches!(event, RunEvent::ModelAttempted { .. }) || run == 0 {
            return Ok(());
        }
        if self.begun.terms.is_none()
            && let Some(RunEvent::RunStarted { header }) = event::beginning(connection, run)?
        {
            self.begun.terms = Some(Terms::of(&header));
        }
        let leaf = leaf_of(key);
        if !self.begun.calls.contains_key(leaf)
            && let Some(RunEvent::ModelCallStarted { model, .. }) =
                event::at_key(connection, run, &format!("{leaf}:started"))?
        {
            self.begun.calls.insert(leaf.to_owned(), model);
        }
        Ok(())
    }

    /// Takes the next event in.
    pub(crate) fn apply(&mut self, key: &Key, event: &RunEvent) {
        if let RunEvent::RunStarted { header } = event {
            self.begun.terms = Some(Terms::of(header));
        }
        if let RunEvent::ModelCallStarted { model, .. } = event {
            self.begun.calls.insert(leaf_of(key).to_owned(), model.clone());
        }
        if let RunEvent::ModelAttempted { attempt } = event {
            self.attempted(key, attempt);
        }
        if let RunEvent::ModelCallFinished { .. } = event {
            self.begun.calls.remove(leaf_of(key));
        }
    }

    fn attempted(&mut self, key: &Key, attempt: &LlmAttempt) {
        let (Some(terms), Some(own)) = (&self.begun.terms, self.begun.calls.get(leaf_of(key))) else {
            return;
        };
        if terms.is_recorded {
            return;
        }
        let model = attempt.asked(own);
        let place = self.models.iter().position(|used| used.model == model);
        let place = place.unwrap_or_else(|| {
            self.models.push(ModelUse {
                model: model.to_owned(),
                ..ModelUse::default()
            });
            self.models.len() - 1
        });
        self.has_paid = true;
        let used = &mut self.models[place];
        used.time_ms = used.time_ms.saturating_add(attempt.duration_ms);
        let Some(usage) = &attempt.usage else { return };
        used.tokens = used.tokens.saturating_add(usage.total());
        if let Some(price) = terms.prices.of(model) {
            let cost = price.of(usage);
            used.cost = Some(used.cost.unwrap_or_default() + cost);
            self.cost += cost;
            self.currency.clone_from(&terms.prices.currency);
        }
    }

    /// The models that have no row in `run_model` yet; they have one from now on.
    pub(crate) fn take_new(&mut self) -> Vec<String> {
        let new = self.models[self.found_by..]
            .iter()
            .map(|used| used.model.clone())
            .collect();
        self.found_by = self.models.len();
        new
    }

    /// Says which runs asked which models anew, for one run.
    pub(crate) async fn index(&mut self, connection: &mut SqliteConnection, run: i64) -> Result<(), StoreError> {
        self.found_by = 0;
        sqlx::query("DELETE FROM run_model WHERE run = ?")
            .bind(run)
            .execute(&mut *connection)
            .await?;
        for model in self.take_new() {
            sqlx::query("INSERT INTO name (text) VALUES (?) ON CONFLICT (text) DO NOTHING")
                .bind(&model)
                .execute(&mut *connection)
                .await?;
            sqlx::query("INSERT INTO run_model (model, run) SELECT id, ? FROM name WHERE text = ?")
                .bind(run)
                .bind(&model)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}

/// Says that a run asked a model.
pub(crate) fn write(connection: &Connection, model: i64, run: i64) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO run_model (model, run) VALUES (?, ?)")?
        .execute([model, run])?;
    Ok(())
}

/// The leaf that a key accompanies: what stands before its last colon.
fn leaf_of(key: &Key) -> &str {
    key.as_str().rsplit_once(':').map_or(key.as_str(), |(leaf, _)| leaf)
}

#[cfg(test)]
mod tests {
    use contract::ids::RunId;
    use contract::ports::journal::NewEntry;
    use contract::run::StopReason;

    use super::*;
    use crate::open::Store;
    use crate::testing::{answered_by, append, asks, finished, open, paying, prices, run_id};

    fn a_run() -> Vec<NewEntry> {
        vec![
            paying("Priced", prices()),
            asks("cycle/1/plan#0", "a:large"),
            answered_by("cycle/1/plan#0", 0, 999, None),
            asks("cycle/1/step/x#0/call/0", "a:small"),
            answered_by("cycle/1/step/x#0/call/0", 0, 99, Some("b:unknown")),
            answered_by("cycle/1/step/x#0/call/0", 1, 199, None),
            finished(StopReason::Passed, "good"),
        ]
    }

    async fn check_used(store: &Store, run: RunId) {
        let summary = store.runs().get(&run).await.unwrap().unwrap();
        let used = |model: &str, tokens, cost| ModelUse {
            model: model.to_owned(),
            tokens,
            cost,
            time_ms: 5,
        };
        assert_eq!(
            summary.models,
            [
                used("a:large", 1_000, Some(999.0 * 2_000.0 / 1_000_000.0)),
                used("b:unknown", 100, None),
                used("a:small", 200, Some(199.0 * 10.0 / 1_000_000.0)),
            ]
        );
        let cost = summary.cost.unwrap();
        assert!((cost.amount - 1.999_99).abs() < 1e-9, "{cost:?}");
        assert_eq!(
            (cost.currency.as_str(), cost.unpriced),
            ("EUR", vec!["b:unknown".to_owned()])
        );
    }

    #[tokio::test]
    async fn a_run_says_what_it_used_of_each_model() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, a_run()).await.unwrap();
        check_used(&store, run_id(1)).await;
        store.rebuild_runs().await.unwrap();
        check_used(&store, run_id(1)).await;
    }

    #[tokio::test]
    async fn an_attempt_is_paid_for_that_comes_after_the_app_was_opened_again() {
        let (folder, store) = open().await;
        store.close().await.unwrap();
        for (seq, entry) in (1..).zip(a_run()) {
            let store = Store::open(folder.path()).await.unwrap();
            append(&store, 1, seq, vec![entry]).await.unwrap();
            store.close().await.unwrap();
        }
        check_used(&Store::open(folder.path()).await.unwrap(), run_id(1)).await;
    }
}
