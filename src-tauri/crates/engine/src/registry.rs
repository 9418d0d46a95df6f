//! Tools and checks by name.

use std::sync::Arc;

use contract::ports::check::{Check, CheckInfo};
use contract::ports::tool::{Tool, ToolInfo};
use indexmap::IndexMap;

use crate::tool_schema;

/// Registered things by name, in the order of their registration. Cheap to clone.
pub struct Registry<T: ?Sized> {
    by_name: Arc<IndexMap<String, Arc<T>>>,
}

impl<T: ?Sized> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self {
            by_name: Arc::clone(&self.by_name),
        }
    }
}

impl<T: ?Sized> Registry<T> {
    /// The thing of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<T>> {
        self.by_name.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.by_name.keys().map(String::as_str).collect()
    }

    /// All things, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_name.values()
    }

    /// Only the ones that `keep` wants, by name.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.by_name.iter().filter(|(name, _)| keep(name));
        Self {
            by_name: Arc::new(kept.map(|(name, thing)| (name.clone(), Arc::clone(thing))).collect()),
        }
    }
}

impl Registry<dyn Tool> {
    /// Registers tools. Of two with the same name the later counts. One whose parameters are listed as Tepa lists them
    /// (seed *tepa-pipeline-in-detail*, `ToolSchema`) has a JSON Schema from here on.
    pub fn of_tools(tools: Vec<Arc<dyn Tool>>) -> Self {
        let named = tools.into_iter().map(|tool| {
            let tool = tool_schema::with_json_schema(tool);
            (tool.info().name, tool)
        });
        Self {
            by_name: Arc::new(named.collect()),
        }
    }

    /// What planners read.
    pub fn infos(&self) -> Vec<ToolInfo> {
        self.iter().map(|tool| tool.info()).collect()
    }
}

impl Registry<dyn Check> {
    /// Registers checks. Of two with the same name the later counts.
    pub fn of_checks(checks: Vec<Arc<dyn Check>>) -> Self {
        Self {
            by_name: Arc::new(checks.into_iter().map(|check| (check.info().name, check)).collect()),
        }
    }

    /// What composers read.
    pub fn infos(&self) -> Vec<CheckInfo> {
        self.iter().map(|check| check.info()).collect()
    }
}
