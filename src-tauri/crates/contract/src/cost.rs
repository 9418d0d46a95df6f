//! What models cost, from prices that a person typed in (goal-pipeline page, "Limits": `maxCost`). A price that is
//! not known is said, never taken as nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::llm::Usage;

/// Prices by model, in one currency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Prices {
    /// The currency, such as `USD`.
    pub currency: String,
    /// The prices by `provider:model`, or by the model's name alone.
    pub models: BTreeMap<String, Price>,
}

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
    /// A million tokens that came from the provider's cache; as `input` when absent.
    #[ts(optional = nullable)]
    pub cache_read: Option<f64>,
    /// A million tokens that were put into it; as `input` when absent.
    #[ts(optional = nullable)]
    pub cache_write: Option<f64>,
}

/// What a run cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// The sum of all attempts whose price is known.
    pub amount: f64,
    /// In which currency; empty when no price is known.
    pub currency: String,
    /// Models that were used and whose price is not known: their tokens are not in the sum.
    pub unpriced: Vec<String>,
}

impl Prices {
    /// Whether no price is known.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The price of a model, by its whole name or by the part after the provider.
    pub fn of(&self, model: &str) -> Option<&Price> {
        self.models.get(model).or_else(|| {
            let (_, name) = model.split_once(':')?;
            self.models.get(name)
        })
    }
}

impl Price {
    /// What an attempt cost. Input includes what the cache read and wrote; each token is counted once.
    pub fn of(&self, usage: &Usage) -> f64 {
        let plain = usage
            .input
            .saturating_sub(usage.cache_read)
            .saturating_sub(usage.cache_write);
        let millionths = count(plain) * self.input
            + count(usage.cache_read) * self.cache_read.unwrap_or(self.input)
            + count(usage.cache_write) * self.cache_write.unwrap_or(self.input)
            + count(usage.output) * self.output;
        millionths / 1_000_000.0
    }
}

impl Cost {
    /// Adds an attempt of a model.
    pub fn add(&mut self, prices: &Prices, model: &str, usage: &Usage) {
        match prices.of(model) {
            Some(price) => {
                self.amount += price.of(usage);
                self.currency.clone_from(&prices.currency);
            }
            None if self.unpriced.iter().any(|known| known == model) => {}
            None => self.unpriced.push(model.to_owned()),
        }
    }
}

/// Token counts are far below 2^53, where every whole number is exact.
#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn count(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let price = Price {
            input: 2.0,
            output: 10.0,
            cache_read: Some(0.5),
            cache_write: None,
        };
        Prices {
            currency: "EUR".to_owned(),
            models: BTreeMap::from([("m".to_owned(), price)]),
        }
    }

    #[test]
    fn each_token_is_paid_once_at_its_own_price() {
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 400_000,
            cache_write: 100_000,
            ..Usage::default()
        };
        let mut cost = Cost::default();
        cost.add(&prices(), "scripted:m", &usage);
        assert!(
            (cost.amount - (0.5 * 2.0 + 0.4 * 0.5 + 0.1 * 2.0 + 0.1 * 10.0)).abs() < 1e-9,
            "{cost:?}"
        );
        assert_eq!((cost.currency.as_str(), cost.unpriced.len()), ("EUR", 0));
    }

    #[test]
    fn a_price_that_is_not_known_is_said() {
        let usage = Usage {
            input: 5,
            ..Usage::default()
        };
        let mut cost = Cost::default();
        cost.add(&prices(), "scripted:other", &usage);
        cost.add(&prices(), "scripted:other", &usage);
        assert_eq!((cost.amount, cost.unpriced), (0.0, vec!["scripted:other".to_owned()]));
    }
}
