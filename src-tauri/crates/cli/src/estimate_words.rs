//! What a plan will cost, in words.

use app::estimate::{Estimate, Expected, Limited, MoneyRange, Range};
use contract::cost::Cost;

use crate::paint::{clean, number};

/// `This plan takes about 900 to 8,000 tokens (0.002 to 0.03 USD), …`, and what that rests on.
pub(crate) fn of(estimate: &Estimate) -> String {
    if estimate.recorded {
        return "A recording answers in the place of models: this costs nothing.".to_owned();
    }
    let rests_on = match estimate.past_runs {
        0 => "This is reckoned from its steps: the task has not run before.".to_owned(),
        1 => "This is what an earlier run of the task took.".to_owned(),
        runs => format!("This is what {runs} earlier runs of the task took."),
    };
    let unpriced = match &estimate.unpriced[..] {
        [] => String::new(),
        models => format!(" What {} costs is not known.", clean(&models.join(", "))),
    };
    let whole = match estimate.run == estimate.cycle {
        true => String::new(),
        false => format!("; the whole run {}", expected(&estimate.run)),
    };
    let limited = match estimate.limited {
        Limited::No => "",
        Limited::Perhaps => " Its limits may stop the run before that.",
        Limited::Surely => " That is more than the limits leave: they will stop the run before this plan is done.",
    };
    format!(
        "This plan and its verdict will take about {}{whole}.{limited} {rests_on}{unpriced}",
        expected(&estimate.cycle),
    )
}

/// What a run cost, behind its tokens: ` (0.021 USD)`; nothing where no price is known.
pub(crate) fn spent(cost: &Cost) -> String {
    let known = match cost.currency.is_empty() {
        true => return String::new(),
        false => format!("{} {}", amount(cost.amount), clean(&cost.currency)),
    };
    match &cost.unpriced[..] {
        [] => format!(" ({known})"),
        models => format!(" ({known}, and what {} cost is not known)", clean(&models.join(", "))),
    }
}

fn expected(expected: &Expected) -> String {
    let tokens = tokens(expected.tokens);
    match &expected.cost {
        Some(cost) => format!("{tokens} tokens ({})", money(cost)),
        None => format!("{tokens} tokens"),
    }
}

fn tokens(range: Range) -> String {
    match (rounded(range.low), rounded(range.high)) {
        (low, high) if low == high => number(high),
        (low, high) => format!("{} to {}", number(low), number(high)),
    }
}

/// To two digits: a guess is no count.
fn rounded(tokens: u64) -> u64 {
    let step = 10_u64.pow(tokens.checked_ilog10().unwrap_or(0).saturating_sub(1));
    tokens.div_ceil(step) * step
}

fn money(range: &MoneyRange) -> String {
    let (low, high) = (amount(range.low), amount(range.high));
    let currency = clean(&range.currency);
    match low == high {
        true => format!("{high} {currency}"),
        false => format!("{low} to {high} {currency}"),
    }
}

/// An amount with as many places as it needs to be more than nothing.
pub(crate) fn amount(amount: f64) -> String {
    match amount {
        0.0 => "0".to_owned(),
        amount if amount < 0.001 => "less than 0.001".to_owned(),
        amount if amount < 0.1 => format!("{amount:.3}"),
        amount => format!("{amount:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(past_runs: u32, cost: Option<MoneyRange>, unpriced: &[&str]) -> Estimate {
        let expected = Expected {
            tokens: Range {
                low: 1_234,
                high: 23_456,
            },
            cost,
        };
        let run = Expected {
            tokens: Range {
                low: 1_234,
                high: 64_000,
            },
            cost: expected.cost.clone(),
        };
        Estimate {
            cycle: expected,
            run,
            past_runs,
            unpriced: unpriced.iter().map(|model| (*model).to_owned()).collect(),
            recorded: false,
            limited: Limited::No,
        }
    }

    #[test]
    fn says_a_range_and_what_it_rests_on() {
        let cost = MoneyRange {
            low: 0.0004,
            high: 0.25,
            currency: "USD".to_owned(),
        };
        assert_eq!(
            of(&estimate(2, Some(cost), &[])),
            "This plan and its verdict will take about 1,300 to 24,000 tokens (less than 0.001 to 0.25 USD); the whole \
             run 1,300 to 64,000 tokens (less than 0.001 to 0.25 USD). This is what 2 earlier runs of the task took."
        );
        let words = of(&estimate(0, None, &["local:m"]));
        assert!(
            words.ends_with("has not run before. What local:m costs is not known."),
            "{words}"
        );
        assert!(!words.contains("USD"));
        let words = of(&Estimate {
            limited: Limited::Surely,
            ..estimate(0, None, &[])
        });
        assert!(
            words.contains("they will stop the run before this plan is done."),
            "{words}"
        );
    }

    #[test]
    fn says_what_was_spent_and_what_of_it_is_not_known() {
        let mut cost = Cost {
            amount: 0.0213,
            currency: "USD".to_owned(),
            unpriced: Vec::new(),
        };
        assert_eq!(spent(&cost), " (0.021 USD)");
        cost.unpriced.push("local:m".to_owned());
        assert_eq!(spent(&cost), " (0.021 USD, and what local:m cost is not known)");
        assert_eq!(spent(&Cost::default()), "");
    }

    #[test]
    fn a_small_count_is_not_rounded_away() {
        assert_eq!([0, 7, 42, 421, 99_500].map(rounded), [0, 7, 42, 430, 100_000]);
    }
}
