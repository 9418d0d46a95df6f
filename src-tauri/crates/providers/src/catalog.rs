//! What is known of the providers' models without asking: tier, size and price (models page, "One trait").
//!
//! The knowledge is a file of its own, `catalog.json`, so that it can be read and mended without reading code: a row for
//! each model, prices in dollars for a million tokens, each from a day on. What a provider says about its own models is
//! newer and wins, and what a person typed in wins over both; putting the three together is the app's part.

use std::sync::LazyLock;

use contract::cost::{ListedPrice, Price};
use contract::llm::{Capabilities, ModelInfo, ModelTier};
use serde::Deserialize;

/// The file, as it is kept.
const TEXT: &str = include_str!("../catalog.json");

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Catalog {
    currency: String,
    models: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    kind: String,
    id: String,
    tier: ModelTier,
    #[serde(default)]
    recommended: bool,
    /// The day on which this row was last compared with what is public about the model.
    as_of: String,
    context_window: Option<u64>,
    max_output: Option<u64>,
    effort: bool,
    /// Whether the provider takes the shape of an answer as such.
    #[serde(default)]
    shapes: bool,
    /// Whether a tool can be forced on the model.
    #[serde(default = "yes")]
    forced_tools: bool,
    prices: Vec<Dated>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
struct Dated {
    /// The first day of this price, as in `2027-01-01`; from the beginning when absent.
    from: Option<String>,
    #[serde(flatten)]
    price: Price,
}

/// What is known of a model of this kind of provider on a day such as `2026-11-21`.
///
/// A name with a date at its end is the model without it: `claude-haiku-4-5-20251001`, `gpt-6-sol-2026-09-22`.
pub fn known(kind: &str, model: &str, today: &str) -> Option<ModelInfo> {
    Some(info(row(kind, model)?, model, today))
}

fn row(kind: &str, model: &str) -> Option<&'static Row> {
    let of_kind = || CATALOG.models.iter().filter(|row| row.kind == kind);
    of_kind()
        .find(|row| row.id == model)
        .or_else(|| of_kind().find(|row| row.id == undated(model)))
}

/// Whether a model of this kind of provider is known to take the shape of an answer as such.
pub fn takes_shapes(kind: &str, model: &str) -> bool {
    row(kind, model).is_some_and(|row| row.shapes)
}

/// Whether a tool can be forced on a model of this kind of provider: false only where it is known that it cannot.
pub fn may_force_tools(kind: &str, model: &str) -> bool {
    row(kind, model).is_none_or(|row| row.forced_tools)
}

/// Every model of this kind of provider that is known, as the file has them.
pub fn all(kind: &str, today: &str) -> Vec<ModelInfo> {
    let rows = CATALOG.models.iter().filter(|row| row.kind == kind);
    rows.map(|row| info(row, &row.id, today)).collect()
}

/// The model to propose for each tier of this kind of provider, from fast to advanced.
pub fn recommended(kind: &str, today: &str) -> Vec<ModelInfo> {
    let rows = CATALOG.models.iter().filter(|row| row.kind == kind && row.recommended);
    let mut models: Vec<ModelInfo> = rows.map(|row| info(row, &row.id, today)).collect();
    models.sort_by_key(|model| model.tier);
    models
}

/// Whether a model of this kind of provider can be told how much to think, or may be: false only where it is known that it
/// cannot.
pub fn may_take_effort(kind: &str, model: &str) -> bool {
    known(kind, model, "").is_none_or(|known| known.capabilities.effort != Some(false))
}

fn info(row: &Row, id: &str, today: &str) -> ModelInfo {
    let has_begun = |dated: &&Dated| dated.from.as_deref().is_none_or(|from| from <= today);
    ModelInfo {
        id: id.to_owned(),
        description: None,
        context_window: row.context_window,
        max_output: row.max_output,
        tier: Some(row.tier),
        capabilities: Capabilities {
            tools: Some(true),
            shapes: Some(true),
            effort: Some(row.effort),
        },
        price: row.prices.iter().rfind(has_begun).map(|dated| ListedPrice {
            price: dated.price,
            currency: CATALOG.currency.clone(),
            as_of: Some(row.as_of.clone()),
        }),
    }
}

/// The name of a model without the date at its end, written as `20251001` or as `2026-09-22`.
fn undated(model: &str) -> &str {
    let is_number = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((name, last)) = model.rsplit_once('-') else {
        return model;
    };
    if is_number(last, 8) {
        return name;
    }
    let parts: Vec<&str> = model.rsplitn(4, '-').collect();
    match parts[..] {
        [day, month, year, name] if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) => name,
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const TODAY: &str = "2026-11-22";

    fn price(kind: &str, model: &str, today: &str) -> Option<(f64, f64)> {
        let price = known(kind, model, today)?.price?.price;
        Some((price.input, price.output))
    }

    #[test]
    fn the_file_is_whole() {
        let catalog: Catalog = serde_json::from_str(TEXT).unwrap();
        let names: HashSet<(&str, &str)> = catalog.models.iter().map(|row| (&*row.kind, &*row.id)).collect();
        assert_eq!(names.len(), catalog.models.len(), "a model stands there twice");
        for row in &catalog.models {
            let mut from = None;
            for dated in &row.prices {
                assert!(
                    dated.from >= from,
                    "{}: prices stand in the order of their days",
                    row.id
                );
                from.clone_from(&dated.from);
                assert!(dated.price.output >= dated.price.input, "{}", row.id);
                let sane = |amount: &f64| amount.is_finite() && (0.0..=1_000.0).contains(amount);
                assert!(dated.price.amounts().iter().all(sane), "{}", row.id);
            }
            let day: Vec<usize> = row.as_of.split('-').map(str::len).collect();
            assert!(
                day == [4, 2, 2] && row.as_of.as_str() <= TODAY,
                "{}: {}",
                row.id,
                row.as_of
            );
            assert!(!row.prices.is_empty() && row.prices[0].from.is_none(), "{}", row.id);
        }
    }

    #[test]
    fn every_kind_with_an_address_of_its_own_has_one_model_to_propose_for_each_tier() {
        for kind in crate::all().into_iter().filter(|kind| !kind.info.needs_base_url) {
            let tiers: Vec<Option<ModelTier>> = recommended(kind.info.name, TODAY)
                .iter()
                .map(|model| model.tier)
                .collect();
            assert_eq!(
                tiers,
                [ModelTier::Fast, ModelTier::Balanced, ModelTier::Advanced].map(Some),
                "{}",
                kind.info.name
            );
        }
    }

    #[test]
    fn a_date_at_the_end_of_a_name_is_no_other_model() {
        let plain = price("anthropic", "claude-haiku-4-5", TODAY);
        assert!(plain.is_some());
        assert_eq!(price("anthropic", "claude-haiku-4-5-20251001", TODAY), plain);
        assert_eq!(
            price("openai", "gpt-6-sol-2026-09-22", TODAY),
            price("openai", "gpt-6-sol", TODAY)
        );
        assert_eq!(known("openai", "gpt-6-sol-mini", TODAY), None);
        assert_eq!(known("openai", "claude-haiku-4-5", TODAY), None);
        assert_eq!(known("openai", "", TODAY), None);
    }

    #[test]
    fn a_price_that_was_announced_counts_from_its_day_on() {
        let flash = |today| price("gemini", "gemini-3.8-flash", today);
        assert_eq!(flash("2026-12-31"), Some((0.75, 3.75)));
        assert_eq!(flash("2027-01-01"), Some((1.5, 7.5)));
    }
}
