//! The layers of a workflow's state: what steps computed, and what people wrote over it (kernel page,
//! "Commands").
//!
//! Steps never write the overlay, and running a step again never touches it: a person's correction
//! survives. What counts is worked out each time and never stored.

use serde_json::{Map, Value};

use super::diff::Diff;

/// A state in its layers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    /// What steps computed, field by field, later ones over earlier ones.
    pub computed: Map<String, Value>,
    /// What people wrote.
    pub overlay: Map<String, Value>,
}

impl Layers {
    /// Takes a step's output in.
    pub fn compute(&mut self, output: &Value) {
        write(&mut self.computed, output);
    }

    /// Takes a person's correction in.
    pub fn write_over(&mut self, values: &Value) {
        write(&mut self.overlay, values);
    }

    /// What counts: a field that a person wrote, whole, before one that was computed.
    pub fn effective(&self) -> Value {
        let mut effective = self.computed.clone();
        for (name, value) in &self.overlay {
            effective.insert(name.clone(), value.clone());
        }
        Value::Object(effective)
    }

    /// What changed in what counts.
    pub fn diff(&self, after: &Self) -> Diff {
        Diff::between(&self.effective(), &after.effective())
    }
}

fn write(layer: &mut Map<String, Value>, values: &Value) {
    for (name, value) in values.as_object().into_iter().flatten() {
        layer.insert(name.clone(), value.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_correction_survives_what_is_computed_later() {
        let mut state = Layers::default();
        state.compute(&json!({"score": 0.7, "o": {"a": 1, "b": 2}}));
        state.write_over(&json!({"score": 0.9, "o": {"a": 9}}));
        state.compute(&json!({"score": 0.8}));
        assert_eq!(state.effective(), json!({"score": 0.9, "o": {"a": 9}}));
        assert_eq!(state.computed["score"], json!(0.8));
    }

    #[test]
    fn only_what_counts_is_compared() {
        let mut before = Layers::default();
        before.compute(&json!({"a": 1, "b": 1}));
        let mut after = before.clone();
        after.write_over(&json!({"a": 2}));
        let corrected = after.clone();
        after.compute(&json!({"a": 3}));
        assert_eq!(before.diff(&after).to_string(), "  a: 1 → 2");
        assert_eq!(corrected.diff(&after), Diff::default());
    }
}
