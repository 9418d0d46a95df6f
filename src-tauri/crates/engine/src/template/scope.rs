//! What a reference's first name may lead to.

use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The values that templates and conditions see. What lies below a root is found by the path itself.
pub trait Scope {
    /// The value with exactly this name.
    fn root(&self, name: &str) -> Option<&Value>;

    /// The value with this name, where the name is the id of a step: only an id has two spellings.
    fn by_id(&self, name: &str) -> Option<&Value> {
        self.root(name)
    }

    /// Whether the names below this one are ids of steps.
    fn has_ids_below(&self, name: &str) -> bool {
        LISTS_OF_STEPS.contains(&name)
    }
}

/// What holds something for each step.
pub const LISTS_OF_STEPS: [&str; 3] = ["outputs", "retries", "retry_counts"];

impl Scope for Value {
    fn root(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }
}

impl Scope for Map<String, Value> {
    fn root(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Scope for IndexMap<String, Value> {
    fn root(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

/// The first scope wins.
impl<A: Scope, B: Scope> Scope for (A, B) {
    fn root(&self, name: &str) -> Option<&Value> {
        self.0.root(name).or_else(|| self.1.root(name))
    }

    fn by_id(&self, name: &str) -> Option<&Value> {
        self.0.by_id(name).or_else(|| self.1.by_id(name))
    }

    fn has_ids_below(&self, name: &str) -> bool {
        match self.0.root(name) {
            Some(_) => self.0.has_ids_below(name),
            None => self.1.has_ids_below(name),
        }
    }
}

impl<S: Scope + ?Sized> Scope for &S {
    fn root(&self, name: &str) -> Option<&Value> {
        (**self).root(name)
    }

    fn by_id(&self, name: &str) -> Option<&Value> {
        (**self).by_id(name)
    }

    fn has_ids_below(&self, name: &str) -> bool {
        (**self).has_ids_below(name)
    }
}
