//! What a revised plan need not do again: a step that equals one that succeeded in an earlier cycle,
//! and whose world still is as it left it, is taken over from the journal (goal-pipeline page,
//! "Planner"). It is shown as kept and costs nothing.
//!
//! Equal: the same kind, tools, arguments, and for whatever a model had to make up the same description,
//! expected outcome, model and scratchpad, and what a hook made of goal and context; and the same inputs by their addresses. Ids and names of
//! inputs do not count. Taken over: reasoning; calls that only read what still is the same; changes of
//! files that still are as they were left. Never: what a tool says cannot be repeated (an append), what
//! nobody can look up, and what the failing feedback names; where it names no step, what the failing result was made
//! from.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::evaluation::{CriterionVerdict, Evaluation};
use contract::event::{NamedHash, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::plan::{Mode, Plan, PlanStep};
use contract::ports::tool::ToolContext;
use serde_json::{Value, json};

use crate::executor::Earlier;
use crate::kernel::driver::{Driver, Halt};
use crate::kernel::keys;
use crate::permissions;
use crate::references;
use crate::schedule::Turn;
use crate::step_work::model_of;

/// One tool execution of a step that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Arc<Value>,
    /// What it left.
    pub left: Left,
}

/// What a tool execution left behind to be looked up later.
#[derive(Debug, Clone, PartialEq)]
pub enum Left {
    /// It read; the addresses of what it read.
    Read(Vec<NamedHash>),
    /// It changed a file; the address of its bytes since.
    Changed(String, Option<Hash>),
    /// It cannot be told.
    Nothing,
}

/// A step that succeeded.
#[derive(Debug, Clone)]
struct Past {
    /// The last cycle that had it, and its ids there.
    last: (u32, Vec<String>),
    /// Where it was really done, such as `cycle_1.step_3`.
    origin: String,
    output: Arc<Value>,
    traces: Arc<[Trace]>,
}

/// A result that is taken over.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Where it was really done, such as `cycle_1.step_3`.
    pub origin: String,
    /// The output.
    pub output: Arc<Value>,
}

/// What earlier cycles of a run left to be taken over, by what it means.
#[derive(Debug, Default)]
pub struct Reusable {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_meaning: HashMap<Hash, Past>,
    /// What this cycle did and took over, by the step's id. It counts from the next cycle on: which of two equal
    /// steps of one plan is first is a matter of timing.
    done: BTreeMap<String, (Hash, Past)>,
    kept: BTreeMap<String, (Hash, u32)>,
    /// The steps of the last plan that nothing else needed: the final answer comes from them.
    last_steps: Vec<String>,
    /// What each step of the last plan was made from: its dependencies and its inputs.
    made_from: HashMap<String, Vec<String>>,
}

impl Reusable {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a step that was done.
    pub fn note_done(&self, meaning: Option<Hash>, cycle: u32, id: &str, output: &Arc<Value>, traces: Vec<Trace>) {
        let past = Past {
            last: (cycle, vec![id.to_owned()]),
            origin: format!("cycle_{cycle}.{id}"),
            output: Arc::clone(output),
            traces: traces.into(),
        };
        if let Some(meaning) = meaning {
            self.known().done.insert(id.to_owned(), (meaning, past));
        }
    }

    /// Notes that a step was taken over: what is later said about this id is about it.
    pub fn note_kept(&self, meaning: &Option<Hash>, cycle: u32, id: &str) {
        if let Some(meaning) = meaning {
            self.known().kept.insert(id.to_owned(), (meaning.clone(), cycle));
        }
    }

    /// Notes the plan that was run: what it did can be taken over from now on.
    pub fn note_plan(&self, plan: &Plan) {
        let needed: HashSet<&String> = plan.steps.iter().flat_map(|step| &step.dependencies).collect();
        let last = plan.steps.iter().filter(|step| !needed.contains(&step.id));
        let mut known = self.known();
        known.last_steps = last.map(|step| step.id.clone()).collect();
        let from = |step: &PlanStep| step.dependencies.iter().chain(&step.inputs).cloned().collect();
        known.made_from = plan.steps.iter().map(|step| (step.id.clone(), from(step))).collect();
        for (id, (meaning, cycle)) in std::mem::take(&mut known.kept) {
            match known.by_meaning.get_mut(&meaning) {
                Some(past) if past.last.0 == cycle => past.last.1.push(id),
                Some(past) => past.last = (cycle, vec![id]),
                None => {}
            }
        }
        for (id, (meaning, past)) in std::mem::take(&mut known.done) {
            match known.by_meaning.get_mut(&meaning) {
                Some(known) if known.last.0 == past.last.0 => known.last.1.push(id),
                Some(_) | None => {
                    known.by_meaning.insert(meaning, past);
                }
            }
        }
    }

    /// Forgets what the feedback before this cycle is about.
    pub fn forget_blamed(&self, driver: &Driver, cycle: u32) {
        let Some(last) = cycle.checked_sub(1).filter(|last| *last > 0) else {
            return;
        };
        let mut known = self.known();
        let mut blame = Blame::of(driver, cycle, &known.last_steps);
        blame.spread(&known, last);
        known.by_meaning.retain(|_, past| !blame.is_on(past, last));
    }
}

/// What the feedback on a cycle is about.
#[derive(Debug, Default)]
struct Blame {
    words: HashSet<String>,
    paths: HashSet<String>,
    /// The steps whose outputs are the final answer, when that is what failed.
    answering: HashSet<String>,
    /// What the blamed results were made from, by their ids or by names such as `cycle_1.step_3`.
    behind: HashSet<String>,
}

impl Blame {
    fn of(driver: &Driver, cycle: u32, last_steps: &[String]) -> Self {
        let mut blame = Self::default();
        let planning = last_attempt(driver, &keys::planner(cycle), |key| key.mark("started"));
        if let Some(RunEvent::PlanningStarted {
            feedback: Some(feedback),
            ..
        }) = planning.as_deref()
        {
            blame.words = words(feedback).map(str::to_owned).collect();
        }
        let judged = last_attempt(driver, &keys::judge(cycle - 1), |key| key);
        if let Some(RunEvent::CycleJudged { evaluation, .. }) = judged.as_deref() {
            blame.take_criteria(driver, evaluation, last_steps);
        }
        blame
    }

    fn take_criteria(&mut self, driver: &Driver, evaluation: &Evaluation, last_steps: &[String]) {
        let criteria = driver.header.task.criteria();
        for result in &evaluation.criteria {
            match result.verdict {
                CriterionVerdict::Pass | CriterionVerdict::NotJudged => continue,
                CriterionVerdict::Fail | CriterionVerdict::Unknown => {}
            }
            let path = criteria.iter().find(|criterion| criterion.id == result.id);
            match path.and_then(|criterion| criterion.path.as_deref()) {
                Some(path) => {
                    let path = driver.world.files.relative(path).unwrap_or_else(|_| path.to_owned());
                    self.paths.insert(path);
                }
                None => self.answering.extend(last_steps.iter().cloned()),
            }
        }
    }

    /// Where the feedback names no step, what a blamed result was made from may be wrong as well: a file that only
    /// copies a wrong thought would be copied wrong for ever.
    fn spread(&mut self, known: &Known, last: u32) {
        if known.made_from.keys().any(|id| self.words.contains(id)) {
            return;
        }
        let wrote = |past: &&Past| past.last.0 == last && self.wrote(past);
        let writers = known
            .by_meaning
            .values()
            .filter(wrote)
            .flat_map(|past| past.last.1.iter().cloned());
        let mut open: Vec<String> = self.answering.iter().cloned().chain(writers).collect();
        while let Some(id) = open.pop() {
            for from in known.made_from.get(&id).into_iter().flatten() {
                if self.behind.insert(from.clone()) {
                    open.push(from.clone());
                }
            }
        }
    }

    fn wrote(&self, past: &Past) -> bool {
        let changed = |trace: &Trace| matches!(&trace.left, Left::Changed(path, _) if self.paths.contains(path));
        past.traces.iter().any(changed)
    }

    /// Whether it is about this result, given what the last cycle was.
    fn is_on(&self, past: &Past, last: u32) -> bool {
        let (cycle, ids) = &past.last;
        let read = |id: &String| self.behind.contains(&format!("cycle_{cycle}.{id}"));
        let named = |id: &String| self.words.contains(id) || self.answering.contains(id) || self.behind.contains(id);
        self.behind.contains(&past.origin)
            || ids.iter().any(read)
            || (*cycle == last && (ids.iter().any(named) || self.wrote(past)))
    }
}

/// What could be the id of a step, in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_alphanumeric() || character == '-' || character == '_'))
        .filter(|word| !word.is_empty())
}

/// The entry of the last attempt at an address that has one.
fn last_attempt(driver: &Driver, of: &Key, entry: impl Fn(Key) -> Key) -> Option<Arc<RunEvent>> {
    let attempts = (0_u32..).map_while(|n| driver.journal.recorded(&entry(keys::attempt(of, n))));
    attempts.last()
}

/// The address of what a step means, whatever it and its inputs are called; none when it has none.
pub fn meaning(driver: &Driver, step: &PlanStep, given: &Earlier) -> Option<Hash> {
    let tools = &driver.world.tools;
    let made_up =
        step.mode == Mode::Free || step.tools.is_empty() || step.tools.iter().any(|tool| !step.args.contains_key(tool));
    let looks_at_notes = made_up
        || step
            .tools
            .iter()
            .any(|tool| tools.get(tool).is_some_and(|tool| tool.writes_scratchpad()));
    let args: Vec<Value> = step
        .args
        .values()
        .map(|args| references::rename(args, &|name| given.get(name).map(|(_, hash)| hash.as_str().to_owned())))
        .collect();
    let mut inputs: Vec<&str> = given.values().map(|(_, hash)| hash.as_str()).collect();
    inputs.sort_unstable();
    inputs.dedup();
    let made_up = made_up.then(|| {
        let task = driver.shown_task();
        json!({ "goal": task.goal, "context": task.context, "description": step.description, "expectedOutcome": step.expected_outcome, "model": model_of(driver, step),
            "maxRounds": step.max_rounds })
    });
    let notes = driver.scratchpad();
    let notes = looks_at_notes.then(|| crate::scratchpad::of_steps(&notes));
    Hash::of_value(&json!({
        "mode": step.mode, "tools": step.tools, "argsOf": step.args.keys().collect::<Vec<_>>(), "args": args,
        "inputs": inputs, "madeUp": made_up, "notes": notes,
    }))
    .ok()
}

/// The result of an earlier cycle that stands for this one, when there is one and the world still is
/// as it left it. The world is looked at when it is the step's turn.
pub async fn find(driver: &Driver, meaning: &Option<Hash>, turn: &Turn) -> Result<Option<Kept>, Halt> {
    let past = meaning
        .as_ref()
        .and_then(|meaning| driver.reusable.known().by_meaning.get(meaning).cloned());
    let Some(past) = past else { return Ok(None) };
    if past.traces.iter().any(|trace| matches!(trace.left, Left::Changed(..))) {
        turn.to_write().await?;
    } else if !past.traces.is_empty() {
        turn.to_read().await?;
    }
    for trace in past.traces.iter() {
        if !still_holds(driver, trace).await {
            return Ok(None);
        }
    }
    Ok(Some(Kept {
        origin: past.origin,
        output: past.output,
    }))
}

async fn still_holds(driver: &Driver, trace: &Trace) -> bool {
    let Some(tool) = driver.world.tools.get(&trace.tool) else {
        return false;
    };
    if !tool.may_be_kept(&trace.args) {
        return false;
    }
    match &trace.left {
        Left::Nothing => false,
        Left::Changed(path, after) => driver.world.files.hash(path).await.as_ref() == Ok(after),
        Left::Read(observed) => {
            let context = ToolContext {
                files: Arc::clone(&driver.world.files),
                scratchpad: driver.scratchpad(),
                now_ms: driver.world.clock.now_ms(),
                limit_ms: driver.header.task.limits.tool_timeout,
                granted: Arc::new(permissions::granted(&driver.header.envelope, &[])),
            };
            tool.observe(&trace.args, &context).await.as_ref() == Some(observed)
        }
    }
}

/// What the execution at this address left, as the journal has it.
pub fn left_by(driver: &Driver, run: &Key) -> Left {
    let intended = driver.journal.count(0, |n| keys::intended(run, n)).checked_sub(1);
    let last = intended.and_then(|n| driver.journal.recorded(&keys::intended(run, n)));
    if let Some(RunEvent::EffectIntended { path, after, .. }) = last.as_deref() {
        return Left::Changed(path.clone(), after.clone());
    }
    match driver.journal.recorded(run).as_deref() {
        Some(RunEvent::ToolFinished {
            observed: Some(observed),
            error: None,
            ..
        }) => Left::Read(observed.clone()),
        _ => Left::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_named_only_as_a_whole_word() {
        let named: Vec<&str> = words("Redo \"step_1\", not step_12; see Schritt-1_ä.").collect();
        assert_eq!(named, ["Redo", "step_1", "not", "step_12", "see", "Schritt-1_ä"]);
    }
}
