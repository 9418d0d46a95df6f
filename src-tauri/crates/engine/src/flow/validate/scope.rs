//! Which names a template or a condition may use, and from which steps.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use contract::flow::camel_case;

use crate::flow::by_spelling;
use crate::flow::running::BY_CHANCE;
use crate::template::{Path, Segment, kebab_case};

/// Which outputs of its own level a step sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Those of the steps before it.
    Earlier,
    /// All: what has not been computed yet is null, as in a loop.
    Always,
    /// None: the steps run at once.
    Never,
}

/// The names of one level, and of those around it that can be seen from there.
pub(super) struct Scope<'p> {
    around: Option<(&'p Scope<'p>, usize)>,
    /// What lies around it and cannot be seen from here.
    hidden: Option<(&'p Scope<'p>, usize)>,
    names: HashSet<String>,
    keys: HashMap<String, usize>,
    /// The keys as they are, by the number of the step.
    pub(super) own_keys: Vec<String>,
    seen: Seen,
    /// The steps that run after all others, wherever they are declared.
    last: HashSet<usize>,
    /// The inputs, where the steps run in the order of what they read.
    by_reading: Option<HashSet<String>>,
    /// Which step was found to read which other one.
    read: RefCell<Vec<(usize, usize)>>,
}

/// What a name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Something that is there.
    There,
    /// The output of the step with this number, which is there.
    Step(usize),
    /// The output of a later step with this number, or of the step itself.
    Later(usize),
    /// The output of a step that runs at the same time.
    Beside(usize),
    /// Something around a group, which sees what it is given and nothing else.
    Hidden,
    /// What steps leave that run in the order of reading: who is faster decides what is there.
    ByChance,
    /// Nothing.
    Unknown,
}

impl<'p> Scope<'p> {
    pub(super) fn new(
        around: Option<(&'p Scope<'p>, usize)>,
        names: Vec<String>,
        seen: Seen,
        own_keys: Vec<String>,
    ) -> Self {
        Self {
            around,
            hidden: None,
            names: names.into_iter().collect(),
            keys: by_spelling(&own_keys),
            own_keys,
            seen,
            last: HashSet::new(),
            by_reading: None,
            read: RefCell::default(),
        }
    }

    /// The same with what lies around it hidden, seen from its step with this number.
    pub(super) fn hiding(mut self, around: Option<(&'p Scope<'p>, usize)>) -> Self {
        self.hidden = around;
        self
    }

    /// Which step reads which other one, as far as its texts were looked at.
    pub(super) fn reads(&self) -> Vec<(usize, usize)> {
        self.read.borrow().clone()
    }

    /// The same where the steps run in the order of what they read: only these inputs are there from the beginning.
    pub(super) fn by_reading(mut self, inputs: &[String]) -> Self {
        self.by_reading = Some(inputs.iter().cloned().collect());
        self
    }

    /// The same where the steps with these numbers run after all others.
    pub(super) fn with_last(mut self, last: impl IntoIterator<Item = usize>) -> Self {
        self.last.extend(last);
        self
    }

    /// The same after the step with this number, whose own output is there under its key, and as `output`.
    pub(super) fn after(&'p self, index: usize) -> Scope<'p> {
        let own = self.own_keys.get(index).cloned();
        let own = own
            .into_iter()
            .flat_map(|key| [camel_case(&key), kebab_case(&key), key]);
        let names = own.chain(["output".to_owned()]).collect();
        Scope::new(Some((self, index)), names, Seen::Always, Vec::new())
    }

    /// The number of the step with this key, in either spelling.
    pub(super) fn step(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied()
    }

    /// What a path leads to, seen from the step with this number, or after all steps.
    pub(super) fn find(&self, path: &Path, from: Option<usize>) -> Found {
        let is_outputs = path.root() == "outputs" && self.knows("outputs");
        match path.segments().get(1) {
            Some(Segment::Name { name, .. }) if is_outputs => self.find_name(name, from),
            _ => self.find_name(path.root(), from),
        }
    }

    /// Whether something here or around has this name.
    fn has(&self, name: &str, index: usize) -> bool {
        let around = |(around, at): (&Scope<'_>, usize)| around.has(name, at);
        self.names.contains(name)
            || self.keys.get(name).is_some_and(|other| *other != index)
            || self.around.or(self.hidden).is_some_and(around)
    }

    fn knows(&self, name: &str) -> bool {
        self.names.contains(name) || self.around.is_some_and(|(around, _)| around.knows(name))
    }

    fn find_name(&self, name: &str, from: Option<usize>) -> Found {
        let is_by_chance = |inputs: &HashSet<String>| BY_CHANCE.contains(&name) && !inputs.contains(name);
        if from.is_some() && self.by_reading.as_ref().is_some_and(is_by_chance) {
            return Found::ByChance;
        }
        if self.names.contains(name) {
            return Found::There;
        }
        match (self.keys.get(name).copied(), from, self.seen) {
            (Some(index), None, _) => Found::Step(index),
            (Some(index), Some(from), Seen::Always) => {
                self.read.borrow_mut().push((from, index));
                Found::Step(index)
            }
            (Some(index), Some(_), Seen::Never) => Found::Beside(index),
            (Some(index), Some(from), Seen::Earlier)
                if index < from || (index != from && self.last.contains(&from)) =>
            {
                Found::Step(index)
            }
            (Some(index), Some(_), Seen::Earlier) => Found::Later(index),
            (None, ..) => match self.around {
                // What is around has keys of its own numbers.
                Some((around, index)) => match around.find_name(name, Some(index)) {
                    Found::Step(_) => Found::There,
                    other => other,
                },
                None => match self.hidden {
                    Some((hidden, index)) if hidden.has(name, index) => Found::Hidden,
                    _ => Found::Unknown,
                },
            },
        }
    }
}
