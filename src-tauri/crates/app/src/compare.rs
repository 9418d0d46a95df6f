//! Two runs side by side: criteria, plan steps, results, tokens, time. Any two: of one task with other models, before and
//! after a change of the task, or of two machines.

use std::collections::BTreeSet;

use contract::AppError;
use contract::criterion::Criterion;
use contract::evaluation::CriterionVerdict;
use contract::hash::Hash;
use contract::ids::RunId;
use contract::plan::{Plan, PlanStep};
use contract::run::{RunStatus, StopReason};
use contract::run_state::{CycleState, RunState};
use contract::step::StepStatus;
use serde::Serialize;

use crate::app::App;

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The one.
    pub left: Side,
    /// The other.
    pub right: Side,
    /// Whether both were given the same task.
    pub same_task: bool,
    /// The criteria of both, by their id and text, with the verdict of each run's last cycle.
    pub criteria: Vec<ComparedCriterion>,
    /// The plans, cycle by cycle.
    pub plans: Vec<ComparedPlan>,
    /// The files and answers that either left behind.
    pub outputs: Vec<ComparedOutput>,
}

/// What one run came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// Which run.
    pub run_id: RunId,
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// The models that were asked, each once.
    pub models: Vec<String>,
    /// How many cycles began.
    pub cycles: u32,
    /// What its model calls cost.
    pub tokens_used: u64,
    /// How long it took, in milliseconds, with the time in which it waited.
    pub duration_ms: u64,
}

/// A criterion in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedCriterion {
    /// Its id.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// What the one run's last cycle says; none when the run has no such criterion, or came to no verdict.
    pub left: Option<CriterionVerdict>,
    /// The same of the other.
    pub right: Option<CriterionVerdict>,
}

/// The plans of a cycle in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedPlan {
    /// Counted from 1.
    pub cycle: u32,
    /// Whether the plans are equal to the last letter.
    pub same: bool,
    /// The steps of both, matched by id, in the order of the one and then the other.
    pub steps: Vec<ComparedStep>,
}

/// A step in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedStep {
    /// Its id.
    pub id: String,
    /// What its definitions have to do with each other.
    pub definition: Definition,
    /// How it ended in the one; none when it is not there.
    pub left: Option<StepStatus>,
    /// How it ended in the other.
    pub right: Option<StepStatus>,
    /// Whether both came to the same output; none when one of them has none.
    pub same_output: Option<bool>,
}

/// What two definitions have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Definition {
    /// They are equal.
    Same,
    /// They differ.
    Changed,
    /// Only the one run has it.
    OnlyLeft,
    /// Only the other has it.
    OnlyRight,
}

/// A result in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedOutput {
    /// The file, relative to the working folder; `answer` for a final answer.
    pub path: String,
    /// The address of what the one made of it; none when it made nothing.
    pub left: Option<Hash>,
    /// The address of what the other made.
    pub right: Option<Hash>,
    /// Whether both are equal.
    pub same: bool,
}

impl App {
    /// Sets two runs side by side.
    pub async fn compare(&self, left: &RunId, right: &RunId) -> Result<Comparison, AppError> {
        Ok(comparison(
            (left.clone(), &self.state(left).await?),
            (right.clone(), &self.state(right).await?),
        ))
    }
}

fn comparison(left: (RunId, &RunState), right: (RunId, &RunState)) -> Comparison {
    let task = |state: &RunState| state.header.as_ref().map(|header| header.task.clone());
    let longest = left.1.cycles.len().max(right.1.cycles.len());
    let plans = (0..longest).map(|at| plans(left.1.cycles.get(at), right.1.cycles.get(at), at));
    Comparison {
        same_task: task(left.1) == task(right.1),
        criteria: criteria(left.1, right.1),
        plans: plans.collect(),
        outputs: outputs(left.1, right.1),
        left: side(left.0, left.1),
        right: side(right.0, right.1),
    }
}

fn side(run_id: RunId, state: &RunState) -> Side {
    let models: BTreeSet<String> = state.calls.values().map(|call| call.model.clone()).collect();
    Side {
        run_id,
        title: state
            .header
            .as_ref()
            .map(|header| header.title.clone())
            .unwrap_or_default(),
        status: state.status(),
        stop_reason: state.result.as_ref().map(|result| result.stop_reason),
        models: models.into_iter().collect(),
        cycles: u32::try_from(state.cycles.len()).unwrap_or(u32::MAX),
        tokens_used: state.tokens_used,
        duration_ms: u64::try_from(state.updated_at_ms - state.started_at_ms).unwrap_or(0),
    }
}

fn criteria(left: &RunState, right: &RunState) -> Vec<ComparedCriterion> {
    let of = |state: &RunState| -> Vec<Criterion> {
        state
            .header
            .as_ref()
            .map(|header| header.task.criteria())
            .unwrap_or_default()
    };
    let mut compared: Vec<ComparedCriterion> = Vec::new();
    for (state, is_left) in [(left, true), (right, false)] {
        for criterion in of(state) {
            let verdict = verdict_of(state, &criterion.id);
            let found = compared
                .iter_mut()
                .find(|one| one.id == criterion.id && one.text == criterion.text);
            match found {
                Some(one) if !is_left => one.right = verdict,
                _ => compared.push(ComparedCriterion {
                    id: criterion.id,
                    text: criterion.text,
                    left: verdict.filter(|_| is_left),
                    right: verdict.filter(|_| !is_left),
                }),
            }
        }
    }
    compared
}

fn verdict_of(state: &RunState, id: &str) -> Option<CriterionVerdict> {
    let evaluation = state.cycles.iter().rev().find_map(|cycle| cycle.evaluation.as_ref())?;
    let result = evaluation.criteria.iter().find(|result| result.id == id)?;
    Some(result.verdict)
}

fn plans(left: Option<&CycleState>, right: Option<&CycleState>, at: usize) -> ComparedPlan {
    let hash = |cycle: Option<&CycleState>| cycle.and_then(|cycle| cycle.plan_hash.clone());
    let definitions = |cycle: Option<&CycleState>| -> Vec<PlanStep> {
        let plan: Option<&Plan> = cycle.and_then(|cycle| cycle.plan.as_ref());
        plan.map(|plan| plan.steps.clone()).unwrap_or_default()
    };
    let (lefts, rights) = (definitions(left), definitions(right));
    let by_id = |steps: &[PlanStep]| -> std::collections::HashMap<String, PlanStep> {
        steps.iter().map(|step| (step.id.clone(), step.clone())).collect()
    };
    let (in_left, in_right) = (by_id(&lefts), by_id(&rights));
    let only_right = rights.iter().filter(|step| !in_left.contains_key(&step.id));
    let steps = lefts.iter().chain(only_right).map(|step| {
        let definition = match (in_left.get(&step.id), in_right.get(&step.id)) {
            (Some(left), Some(right)) if left == right => Definition::Same,
            (Some(_), Some(_)) => Definition::Changed,
            (Some(_), None) => Definition::OnlyLeft,
            (None, _) => Definition::OnlyRight,
        };
        let state = |cycle: Option<&CycleState>| cycle.and_then(|cycle| cycle.steps.get(&step.id).cloned());
        let (left, right) = (state(left), state(right));
        let output = |state: &Option<contract::run_state::StepState>| {
            state
                .as_ref()
                .and_then(|state| state.output.as_ref().map(|output| output.hash.clone()))
        };
        ComparedStep {
            id: step.id.clone(),
            definition,
            same_output: output(&left).zip(output(&right)).map(|(left, right)| left == right),
            left: left.map(|state| state.status),
            right: right.map(|state| state.status),
        }
    });
    ComparedPlan {
        cycle: u32::try_from(at + 1).unwrap_or(u32::MAX),
        same: hash(left).is_some() && hash(left) == hash(right),
        steps: steps.collect(),
    }
}

fn outputs(left: &RunState, right: &RunState) -> Vec<ComparedOutput> {
    let left_behind = |state: &RunState| -> std::collections::BTreeMap<String, Hash> {
        let files = state.files.iter().filter(|file| file.done);
        let files = files.filter_map(|file| Some((file.path.clone(), file.after.clone()?)));
        let outputs = state.result.iter().flat_map(|result| &result.outputs);
        let answers = outputs.filter_map(|output| Some((output.path.clone(), output.value.as_ref()?.hash.clone())));
        files.chain(answers).collect()
    };
    let (lefts, rights) = (left_behind(left), left_behind(right));
    let paths: BTreeSet<&String> = lefts.keys().chain(rights.keys()).collect();
    let compared = paths.into_iter().map(|path| {
        let (left, right) = (lefts.get(path).cloned(), rights.get(path).cloned());
        ComparedOutput {
            path: path.clone(),
            same: left == right,
            left,
            right,
        }
    });
    compared.collect()
}
