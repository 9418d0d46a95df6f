//! The plan of a run that passed, as a flow that needs no planner (flows page, "Files").
//!
//! Deliberately not here: what such a flow looks like (`engine::flow::from_plan`), and its file ([`crate::flow_files`]).

use contract::error::Problem;
use contract::flow::Flow;
use contract::run::RunStatus;
use contract::run_state::RunState;
use contract::value_ref::ValueRef;
use contract::{AppError, RunId};
use engine::flow::from_plan::{Results, plan_to_flow};
use serde_json::Value;

use crate::app::App;
use crate::commands::files::{self, ReadArtifact};

impl App {
    /// The flow that does what the plan of a run did with which it passed. Results of earlier cycles that the plan used
    /// become inputs of the flow, with what they were as defaults.
    ///
    /// # Errors
    /// The run has not passed, made no plan, or what its plan used is gone.
    pub async fn flow_of(&self, run: &RunId) -> Result<Flow, AppError> {
        let state = self.state(run).await?;
        if state.result.as_ref().map(|result| result.status) != Some(RunStatus::Pass) {
            return Err(
                AppError::new("not_passed", "only the plan of a run that passed is kept as a flow")
                    .hint("Go on with the run until it passes, or accept what it made."),
            );
        }
        let plan = state.cycles.last().and_then(|cycle| cycle.plan.as_ref());
        let (Some(header), Some(plan)) = (&state.header, plan) else {
            return Err(AppError::new("no_plan", "this run made no plan that could be kept")
                .hint("A run of a flow needs no other file than the flow's own."));
        };
        let mut results = Results::new();
        for name in plan.steps.iter().flat_map(|step| &step.inputs) {
            if let Some(value) = earlier(&state, name) {
                results.insert(name.clone(), self.whole(value).await?);
            }
        }
        plan_to_flow(plan, &header.task, &results).map_err(|problems: Vec<Problem>| AppError {
            problems,
            ..AppError::new("flow_invalid", "the plan cannot be kept as a flow")
                .hint("What it used of earlier cycles has to be in the history still.")
        })
    }

    /// A recorded value, however long it is.
    async fn whole(&self, value: &ValueRef) -> Result<Value, AppError> {
        if let Some(inline) = &value.inline {
            return Ok(inline.clone());
        }
        let hash = value.hash.clone();
        Ok(files::artifact(self, ReadArtifact { hash }).await?.value)
    }
}

/// A result under its name in later cycles, such as `cycle_1.step_3`.
fn earlier<'s>(state: &'s RunState, name: &str) -> Option<&'s ValueRef> {
    let (cycle, step) = name.split_once('.')?;
    let number: u32 = cycle.strip_prefix("cycle_")?.parse().ok()?;
    let cycle = state.cycles.iter().find(|cycle| cycle.number == number)?;
    cycle.steps.get(step)?.output.as_ref()
}
