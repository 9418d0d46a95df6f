//! What models cost, from prices that a person typed in, a provider lists, or the catalog has (goal-pipeline page,
//! "Limits": `maxCost`; models page, "One trait"). A price that is
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
    /// What a long question costs in all its parts, where the provider takes more for those.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub long: Option<LongPrice>,
}

/// What a million tokens cost when a question is long: every token of such a call, the answer's too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LongPrice {
    /// A question is long when it has more tokens than this, what the cache read and wrote included.
    pub above: u64,
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
    /// A million tokens that came from the provider's cache; as `input` when absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cache_read: Option<f64>,
    /// A million tokens that were put into it; as `input` when absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cache_write: Option<f64>,
}

/// A price as somebody publishes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListedPrice {
    /// What a million tokens cost.
    #[serde(flatten)]
    pub price: Price,
    /// In which currency, such as `USD`.
    pub currency: String,
    /// The day on which that was so, as in `2026-11-21`; absent when the provider said it just now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub as_of: Option<String>,
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
        let price = self.for_question_of(usage.input);
        let plain = usage
            .input
            .saturating_sub(usage.cache_read)
            .saturating_sub(usage.cache_write);
        let millionths = count(plain) * price.input
            + count(usage.cache_read) * price.cache_read.unwrap_or(price.input)
            + count(usage.cache_write) * price.cache_write.unwrap_or(price.input)
            + count(usage.output) * price.output;
        millionths / 1_000_000.0
    }

    /// The price of a call whose question has so many tokens.
    fn for_question_of(&self, tokens: u64) -> Self {
        match self.long {
            Some(long) if tokens > long.above => Self {
                input: long.input,
                output: long.output,
                cache_read: long.cache_read,
                cache_write: long.cache_write,
                long: None,
            },
            _ => *self,
        }
    }

    /// Every amount in it, to hold against what an amount can be.
    pub fn amounts(&self) -> Vec<f64> {
        let mut amounts = vec![Some(self.input), Some(self.output), self.cache_read, self.cache_write];
        if let Some(long) = &self.long {
            amounts.extend([Some(long.input), Some(long.output), long.cache_read, long.cache_write]);
        }
        amounts.into_iter().flatten().collect()
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
            long: None,
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
    fn every_token_of_a_long_question_costs_more() {
        let long = LongPrice {
            above: 100,
            input: 4.0,
            output: 20.0,
            cache_read: None,
            cache_write: None,
        };
        let price = Price {
            input: 2.0,
            output: 10.0,
            long: Some(long),
            ..Price::default()
        };
        let usage = |input| Usage {
            input,
            output: 10,
            ..Usage::default()
        };
        let check = |input, expected: f64| {
            let cost = price.of(&usage(input)) * 1_000_000.0;
            assert!((cost - expected).abs() < 1e-6, "{input}: {cost}");
        };
        check(100, 300.0);
        check(101, 101.0 * 4.0 + 200.0);
        assert_eq!(price.amounts(), [2.0, 10.0, 4.0, 20.0]);
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
