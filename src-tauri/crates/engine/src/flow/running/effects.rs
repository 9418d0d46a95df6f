//! The most that the steps of a flow may do to the world, known before they run: others wait by it
//! ([`crate::schedule`]). With the actual arguments it may turn out to be less.

use std::collections::HashMap;

use contract::access::Access;
use contract::ports::tool::Tool;
use contract::step::StepError;
use serde_json::{Map, Value};

use super::prepared::{Job, Prepared};
use super::program::{Body, Program, Stage, Work};
use crate::registry::Registry;
use crate::schedule::{Item, Use};
use crate::template::Mapping;
use crate::uses;

/// The most that something does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Most {
    pub(super) uses: Use,
    /// Whether it may write to the scratchpad.
    scratchpad: bool,
}

impl Most {
    fn and(self, other: Self) -> Self {
        Self {
            uses: self.uses.max(other.uses),
            scratchpad: self.scratchpad || other.scratchpad,
        }
    }

    /// The same as an item that comes after these. A step that may write to the scratchpad runs alone.
    pub(super) fn item(self, after: Vec<usize>) -> Item {
        Item {
            after,
            uses: self.uses,
            alone: self.scratchpad,
        }
    }
}

/// What everything in a run's flows may do.
pub(super) struct Effects<'a> {
    tools: &'a Registry<dyn Tool>,
    refs: HashMap<&'a str, Most>,
}

impl<'a> Effects<'a> {
    /// Looks at every flow that can be named, until nothing more comes to light: they may name each other in a circle.
    pub(super) fn of(program: &'a Program, tools: &'a Registry<dyn Tool>) -> Self {
        let mut effects = Self {
            tools,
            refs: HashMap::with_capacity(program.refs.len()),
        };
        loop {
            let mut is_new = false;
            for (id, referred) in &program.refs {
                let most = effects.of_body(&referred.body);
                is_new |= effects.refs.insert(id, most) != Some(most);
            }
            if !is_new {
                return effects;
            }
        }
    }

    /// The most that the steps of a body do.
    pub(super) fn of_body(&self, body: &Body) -> Most {
        let each = body.stages.iter().map(|stage| self.of_stage(stage));
        each.fold(Most::default(), Most::and)
    }

    /// The most that a step does.
    pub(super) fn of_stage(&self, stage: &Stage) -> Most {
        match &stage.work {
            Work::Ask { .. } | Work::Gate { .. } | Work::Answer { .. } => Most::default(),
            Work::Tool { tool, args } => self.of_tool(tool, plain(args).as_ref()),
            Work::Agent { tools, .. } => self.of_tools(tools),
            Work::Group(body) => self.of_body(body),
            Work::Ref(id) => self.refs.get(id.as_str()).copied().unwrap_or_default(),
            // Its planner may take any tool; its scratchpad is its own.
            Work::Task { .. } => Most {
                uses: self.of_tools(&self.tools.names()).uses,
                scratchpad: false,
            },
        }
    }

    /// The most that these tools, or flows, do.
    pub(super) fn of_tools<S: AsRef<str>>(&self, names: &[S]) -> Most {
        let each = names.iter().map(|name| self.of_tool(name.as_ref(), None));
        each.fold(Most::default(), Most::and)
    }

    fn of_tool(&self, name: &str, args: Option<&Value>) -> Most {
        let Some(tool) = self.tools.get(name) else {
            return self.refs.get(name).copied().unwrap_or_default();
        };
        match args {
            Some(args) => Most {
                uses: uses::of_call(tool.as_ref(), args),
                scratchpad: tool.access(args).contains(&Access::WriteScratchpad),
            },
            None => Most {
                uses: if tool.info().has_effects {
                    Use::Writes
                } else {
                    Use::Reads
                },
                scratchpad: tool.writes_scratchpad(),
            },
        }
    }

    /// What a step does now that its inputs are known; nothing to add where only its work will tell.
    pub(super) fn of_prepared(&self, prepared: &Result<Prepared<'_>, StepError>) -> Option<Use> {
        match prepared {
            Err(_) => Some(Use::Nothing),
            Ok(Prepared {
                job:
                    Job::Tool {
                        tool,
                        args,
                        texts: None,
                    },
                ..
            }) => Some(self.of_tool(tool, Some(args)).uses),
            Ok(_) => None,
        }
    }
}

/// Arguments that are the same in every state.
fn plain(args: &[(String, Mapping)]) -> Option<Value> {
    let plain = |(name, mapping): &(String, Mapping)| match mapping {
        Mapping::Plain(value) => Some((name.clone(), value.clone())),
        Mapping::Template(_) | Mapping::List(_) | Mapping::Object(_) => None,
    };
    let args: Option<Map<String, Value>> = args.iter().map(plain).collect();
    args.map(Value::Object)
}
