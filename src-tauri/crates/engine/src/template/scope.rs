//! What a reference's first name may lead to.

use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The values that templates and conditions see. What lies below a root is found by the path itself.
pub trait Scope {
    /// The value with exactly this name; other spellings are asked for one after the other.
    fn root(&self, name: &str) -> Option<&Value>;
}

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
}

impl<S: Scope + ?Sized> Scope for &S {
    fn root(&self, name: &str) -> Option<&Value> {
        (**self).root(name)
    }
}
