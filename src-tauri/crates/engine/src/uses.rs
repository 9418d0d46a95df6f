//! What a step's tools would do to the world: before the arguments are there, the most that they may
//! do; with the actual arguments, what they will (goal-pipeline page, "Executor").

use contract::access::Access;
use contract::plan::PlanStep;
use contract::ports::tool::Tool;
use serde_json::Value;

use crate::references;
use crate::registry::Registry;
use crate::schedule::Use;

/// What a call with these arguments does.
pub fn of_call(tool: &dyn Tool, args: &Value) -> Use {
    if !tool.info().has_effects {
        return Use::Reads;
    }
    let changes = |access: &Access| access.is_effect() || *access == Access::WriteScratchpad;
    if tool.access(args).iter().any(changes) {
        Use::Writes
    } else {
        Use::Reads
    }
}

/// The most that each tool of a step may do, in the step's order.
pub fn of_tools(step: &PlanStep, tools: &Registry<dyn Tool>) -> Vec<Use> {
    let most = |name: &String| match tools.get(name) {
        None => Use::Nothing,
        Some(tool) => match known_args(step, name) {
            Some(args) => of_call(tool.as_ref(), args),
            None if tool.info().has_effects => Use::Writes,
            None => Use::Reads,
        },
    };
    step.tools.iter().map(most).collect()
}

/// Whether the step may write to the scratchpad.
pub fn may_write_scratchpad(step: &PlanStep, tools: &Registry<dyn Tool>) -> bool {
    let writes = |name: &String| {
        tools.get(name).is_some_and(|tool| match known_args(step, name) {
            Some(args) => tool.access(args).contains(&Access::WriteScratchpad),
            None => tool.writes_scratchpad(),
        })
    };
    step.tools.iter().any(writes)
}

/// The arguments that the plan gives, when nothing is put into them later.
fn known_args<'s>(step: &'s PlanStep, tool: &str) -> Option<&'s Value> {
    step.args.get(tool).filter(|args| !references::has_any(args))
}
