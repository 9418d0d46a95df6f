//! What a step refers to in the state around it.

use std::collections::HashMap;

use super::program::{Mode, Referred, Stage, Work};
use crate::template::{Mapping, Path};

/// Everything in the state around it that a step refers to.
pub(super) fn paths<'p>(refs: &'p HashMap<String, Referred>, stage: &'p Stage) -> impl Iterator<Item = &'p Path> {
    let reads = stage.reads.iter().flatten().map(|(_, mapping)| mapping);
    let sets = stage.set.iter().map(|(_, mapping)| mapping);
    let (mappings, templates): (Vec<_>, Vec<_>) = match &stage.work {
        Work::Ask {
            instructions, prompt, ..
        } => (
            Vec::new(),
            [Some(instructions), prompt.as_ref()].into_iter().flatten().collect(),
        ),
        Work::Agent { instructions, args, .. } => {
            (args.iter().map(|(_, mapping)| mapping).collect(), vec![instructions])
        }
        Work::Tool { args, .. } => (args.iter().map(|(_, mapping)| mapping).collect(), Vec::new()),
        Work::Gate { text, .. } | Work::Answer { text } => (Vec::new(), vec![text]),
        Work::Task {
            goal,
            context,
            expected,
        } => (vec![context, expected], vec![goal]),
        Work::Group(_) | Work::Ref(_) => (Vec::new(), Vec::new()),
    };
    // What a step with a state of its own says is about that state; only what it reads is about this one.
    let own = !stage.is_private;
    let list = items_of(refs, stage);
    let inside = mappings.into_iter().filter(move |_| own).chain(list);
    let in_templates = templates
        .into_iter()
        .filter(move |_| own)
        .flat_map(|template| template.references().map(|reference| &reference.path));
    let under_its_own_name = |path: &&Path| {
        let mut read = stage.reads.iter().flatten();
        read.any(|(name, _)| name == path.root())
    };
    let inside = referred(inside)
        .chain(in_templates)
        .filter(move |path| !under_its_own_name(path));
    let in_condition = stage.when.iter().flat_map(|when| when.references());
    // In what it sets, `output` is its own.
    let in_sets = referred(sets).filter(|path| path.root() != "output");
    referred(reads).chain(inside).chain(in_condition).chain(in_sets)
}

pub(super) fn referred<'p>(mappings: impl Iterator<Item = &'p Mapping>) -> impl Iterator<Item = &'p Path> {
    mappings.flat_map(|mapping| mapping.references().into_iter().map(|(_, reference)| &reference.path))
}

/// The list that the steps inside a step are run for.
fn items_of<'p>(refs: &'p HashMap<String, Referred>, stage: &'p Stage) -> Option<&'p Mapping> {
    let body = match &stage.work {
        Work::Group(body) => body,
        Work::Ref(id) => &refs.get(id)?.body,
        _ => return None,
    };
    match &body.mode {
        Mode::ForEach { items, .. } => Some(items),
        Mode::Sequence { .. } | Mode::Parallel => None,
    }
}
