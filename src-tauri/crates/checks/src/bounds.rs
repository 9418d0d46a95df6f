//! At least and at most.

use contract::ports::check::CheckOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{arguments, phrases};

/// A number of things.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Count {
    /// The smallest number that is right.
    #[schemars(title = "At least")]
    pub(crate) min: Option<u64>,
    /// The largest number that is right.
    #[schemars(title = "At most")]
    pub(crate) max: Option<u64>,
}

/// An amount.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    /// The smallest value that is right.
    #[schemars(title = "At least")]
    pub(crate) min: Option<f64>,
    /// The largest value that is right.
    #[schemars(title = "At most")]
    pub(crate) max: Option<f64>,
}

impl Count {
    /// What is wrong with the bounds themselves.
    pub(crate) fn problem(self) -> Option<&'static str> {
        self.range().problem()
    }

    /// What of them a number breaks, in words.
    pub(crate) fn broken_by(self, count: usize) -> Option<String> {
        self.range().broken_by(count as f64)
    }

    /// Whether a number is right, with this said about it.
    pub(crate) fn outcome(self, count: usize, said: String) -> CheckOutcome {
        match self.broken_by(count) {
            Some(broken) => CheckOutcome::fail(format!("{said}, {broken}"), Value::from(count)),
            None => CheckOutcome::pass(said, Value::from(count)),
        }
    }

    fn range(self) -> Range {
        Range {
            min: self.min.map(|min| min as f64),
            max: self.max.map(|max| max as f64),
        }
    }
}

impl Range {
    /// What is wrong with the bounds themselves.
    pub(crate) fn problem(self) -> Option<&'static str> {
        match (self.min, self.max) {
            (None, None) => Some("needs at least one of min and max"),
            (Some(min), Some(max)) if min > max => Some("min is more than max"),
            _ => None,
        }
    }

    /// What of them a value breaks, in words.
    pub(crate) fn broken_by(self, value: f64) -> Option<String> {
        let below = self
            .min
            .filter(|min| value < *min)
            .map(|min| format!("at least {} expected", phrases::number(min)));
        let above = self
            .max
            .filter(|max| value > *max)
            .map(|max| format!("at most {} allowed", phrases::number(max)));
        below.or(above)
    }
}

/// What is wrong with the bounds that a check of this name was given as its arguments.
pub(crate) fn count_problems(name: &str, args: &Value) -> Vec<String> {
    let problems = arguments::problems::<Count>(name, args, None);
    if !problems.is_empty() {
        return problems;
    }
    let bounds = arguments::read::<Count>(args, None).ok();
    let problem = bounds.and_then(Count::problem);
    problem
        .map(|problem| format!("{name}: {problem}"))
        .into_iter()
        .collect()
}
