//! One step function, one journal (kernel page). Every unit of work passes through [`run_step`];
//! every model call, tool execution, check, hook and answer is a leaf whose result is recorded, so
//! that running a driver again repeats none of them.
//!
//! Deliberately not here: what the work is. That is in the planner, the executor and the evaluator.

mod check_call;
pub mod driver;
pub mod final_hash;
pub mod keys;
pub mod model_call;
mod person_call;
pub mod run_journal;
pub mod run_step;
pub mod tool_call;

pub use driver::{Driver, Halt, Outcome};
pub use model_call::{ModelAnswer, ModelCall};
pub use tool_call::ToolCall;
