//! A plan that a person changes before they approve it: held against the engine's own rules while they change it, and
//! again when it is approved.
//!
//! Deliberately not here: the rules (`engine::plan_rules`), and what becomes of an approved plan (`engine::task_loop`).

use contract::error::Problem;
use contract::plan::Plan;
use contract::ports::tool::Tool;
use contract::run_state::RunState;
use contract::{AppError, Hash, RunId};
use engine::Registry;
use engine::plan_rules::{self, Known, PlanProblem};
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

use crate::app::App;
use crate::estimate::Estimate;
use crate::world;

/// A plan that was held against the rules.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckedPlan {
    /// What is wrong with it; nothing when it may run.
    pub problems: Vec<LocatedProblem>,
    /// The address that an approval would bind; none while something is wrong.
    pub plan_hash: Option<Hash>,
    /// What the run would still cost with it; none while something is wrong.
    pub estimate: Option<Estimate>,
    /// The tools that its steps may use.
    pub tools: Vec<String>,
    /// The models that its steps may name.
    pub models: Vec<String>,
}

/// Something that is wrong with a plan, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LocatedProblem {
    /// The steps that it is about, by their place in the plan, from 0; none when it is about the plan as a whole.
    pub steps: Vec<usize>,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl App {
    /// Holds a plan that a person changes against the rules of plans.
    pub async fn check_plan(&self, run: &RunId, plan: &Value) -> Result<CheckedPlan, AppError> {
        let state = self.state(run).await?;
        let header = self.header_of(run).await?;
        let tools = world::tools(&self.rooms, &header);
        let models = models_of(&state);
        let read = plan_rules::read_located(plan, &known(&tools, &models, &earlier_of(&state)));
        let (problems, plan) = match read {
            Ok(plan) => (Vec::new(), Some(plan)),
            Err(problems) => (problems.into_iter().map(located).collect(), None),
        };
        let estimate = match &plan {
            Some(plan) => self.estimate_of(run, &state, plan).await?,
            None => None,
        };
        Ok(CheckedPlan {
            problems,
            plan_hash: plan.as_ref().and_then(|plan| plan.hash().ok()),
            estimate,
            tools: tools.names().into_iter().map(str::to_owned).collect(),
            models,
        })
    }

    /// Refuses an approval of a changed plan that breaks the rules: nothing of it is kept.
    pub(crate) async fn check_edited(&self, run: &RunId, state: &RunState, plan: &Plan) -> Result<(), AppError> {
        let header = self.header_of(run).await?;
        let tools = world::tools(&self.rooms, &header);
        let value = serde_json::to_value(plan).unwrap_or_default();
        let read = plan_rules::read_located(&value, &known(&tools, &models_of(state), &earlier_of(state)));
        let Err(problems) = read else { return Ok(()) };
        let place = |problem: &PlanProblem| {
            let step = problem.steps.first();
            step.map(|step| format!("steps[{step}]")).unwrap_or_default()
        };
        Err(AppError {
            problems: problems
                .iter()
                .map(|problem| Problem::new(place(problem), problem.message.clone()))
                .collect(),
            ..AppError::new(
                "plan_invalid_edit",
                "the changed plan breaks the rules of plans, so it cannot run",
            )
            .hint("Put right what is marked on its steps.")
        })
    }
}

fn known<'a>(tools: &'a Registry<dyn Tool>, models: &'a [String], earlier: &'a [String]) -> Known<'a> {
    Known { tools, models, earlier }
}

fn located(problem: PlanProblem) -> LocatedProblem {
    LocatedProblem {
        steps: problem.steps,
        message: problem.message,
    }
}

/// The models that a step of this run may name.
fn models_of(state: &RunState) -> Vec<String> {
    let header = state.header.as_ref();
    header.map(|header| header.step_models()).unwrap_or_default()
}

/// The results of earlier cycles that a plan may use, such as `cycle_1.step_3`.
fn earlier_of(state: &RunState) -> Vec<String> {
    let last = state.cycles.last().map_or(0, |cycle| cycle.number);
    let before = state.cycles.iter().filter(|cycle| cycle.number < last);
    before
        .flat_map(|cycle| {
            let done = cycle
                .steps
                .iter()
                .filter(|(_, step)| step.status.is_success() && step.output.is_some());
            done.map(|(id, _)| format!("cycle_{}.{id}", cycle.number))
        })
        .collect()
}
