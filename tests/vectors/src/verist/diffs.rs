//! What changed: found, printed, applied, by id, and in layers.

use engine::kernel::diff::Diff;
use engine::kernel::keyed::{apply_by_id, by_id, diff_by_id};
use engine::kernel::layers::Layers;
use serde_json::{Value, json};

use super::stub::key_by;
use crate::case::{Case, Outcome};
use crate::expect::{equal, error_likeness, same};

/// A diff between two values; a side that is missing is absent.
pub(super) fn diffs(case: &Case) -> Result<Outcome, String> {
    equal("entries", case.need("expect")?, &json!(diff_of(case)?))?;
    Ok(Outcome::Passed)
}

/// A diff as people read it.
pub(super) fn text(case: &Case) -> Result<Outcome, String> {
    equal("text", case.need("expect")?, &json!(diff_of(case)?.to_string()))?;
    Ok(Outcome::Passed)
}

fn diff_of(case: &Case) -> Result<Diff, String> {
    if let Some(entries) = case.get("entries") {
        return read(entries);
    }
    if case.get("before").is_none() && case.get("after").is_none() {
        return Err("the case has neither `before` nor `after`".to_owned());
    }
    Ok(Diff::of(case.get("before"), case.get("after")))
}

fn read(entries: &Value) -> Result<Diff, String> {
    serde_json::from_value(entries.clone()).map_err(|error| format!("`entries`: {error}"))
}

/// Applying the diff of two values makes the second of the first, which stays as it was.
pub(super) fn apply(case: &Case) -> Result<Outcome, String> {
    let base = case.need("base")?;
    let kept = base.clone();
    let diff = match case.get("entries") {
        Some(entries) => read(entries)?,
        None => Diff::between(base, case.need("target")?),
    };
    let applied = diff.apply(base);
    if !same(base, &kept) {
        return Err("the base has changed".to_owned());
    }
    match (applied, case.text("error")) {
        (Ok(value), None) => {
            let target = case.get("target").or_else(|| case.get("expect"));
            equal("result", target.ok_or("the case has no `target`")?, &value)?;
            Ok(Outcome::Passed)
        }
        (Err(error), Some(wanted)) => same_words(wanted, &error.to_string()),
        (Ok(value), Some(wanted)) => Err(format!("it came to {value}, and should fail with: {wanted}")),
        (Err(error), None) => Err(format!("it failed: {error}")),
    }
}

fn same_words(wanted: &str, error: &str) -> Result<Outcome, String> {
    let likeness = error_likeness(wanted, error);
    let likeness = likeness.ok_or_else(|| format!("the error is \"{error}\", not \"{wanted}\""))?;
    Ok(Outcome::by(likeness))
}

/// Lists are compared by the ids of their items.
pub(super) fn keyed(case: &Case) -> Result<Outcome, String> {
    let key_by = key_by(Some(case.need("keyBy")?))?;
    let (before, after) = (case.need("before")?, case.need("after")?);
    match (diff_by_id(before, after, &key_by), case.text("error")) {
        (Ok(diff), None) => {
            equal("entries", case.need("expect")?, &json!(diff))?;
            let applied = apply_by_id(before, &diff, &key_by).map_err(|error| error.to_string())?;
            let [made, target] =
                [&applied, after].map(|value| by_id(value, &key_by).map_err(|error| error.to_string()));
            equal("applied", &target?, &made?)?;
            Ok(Outcome::Passed)
        }
        (Err(error), Some(wanted)) => same_words(wanted, &error.to_string()),
        (Ok(diff), Some(wanted)) => Err(format!("it came to {diff}, and should fail with: {wanted}")),
        (Err(error), None) => Err(format!("it failed: {error}")),
    }
}

/// What changed in what counts.
pub(super) fn layers(case: &Case) -> Result<Outcome, String> {
    let [before, after] = ["before", "after"].map(|side| case.get(side).map(layers_of));
    // Layers without a before stand in the case itself.
    let after = after.or_else(|| case.get("computed").map(|_| layers_of(case.value)));
    if let Some(expected) = case.get("effective") {
        let last = after.as_ref().or(before.as_ref()).ok_or("the case has no layers")?;
        equal("effective", expected, &last.effective())?;
        if before.is_none() || after.is_none() {
            return Ok(Outcome::Passed);
        }
    }
    let before = before.ok_or("the case has no `before`")?;
    let after = after.ok_or("the case has no `after`")?;
    equal("entries", case.need("expect")?, &json!(before.diff(&after)))?;
    Ok(Outcome::Passed)
}

fn layers_of(side: &Value) -> Layers {
    let mut layers = Layers::default();
    layers.compute(&side["computed"]);
    layers.write_over(&side["overlay"]);
    layers
}
