//! One step function, one journal (kernel page). Every unit of work passes through [`run_step`];
//! every model call, tool execution, check, hook and answer is a leaf whose result is recorded, so
//! that running a driver again repeats none of them.
//!
//! A step is in [`step`], and [`run_step`](run_step::run_step) runs it. Of what it leaves, [`audit`]
//! has the words, [`snapshot`] keeps it, [`recompute`] runs it again, and [`diff`] (by place) and
//! [`keyed`] (by id) say what changed. [`extract`] gets data out of a model. What a step says should
//! happen next is a [`command`]; [`work`] carries commands out over a state in [`layers`].
//!
//! A model that does not answer may have a stand-in ([`fallback`]). `replay` drives a run with an older journal, [`recompute_run`] makes its model calls again.
//!
//! Deliberately not here: what the work is. That is in the planner, the executor and the evaluator.

pub mod audit;
mod check_call;
pub mod command;
pub mod controls;
pub mod diff;
pub mod driver;
mod estimate;
pub mod extract;
mod fallback;
pub mod final_hash;
mod folder_changes;
pub mod keyed;
pub mod keys;
pub mod layers;
mod mismatch;
pub mod model_call;
pub(crate) mod perform;
pub(crate) mod permit;
mod person_call;
pub mod recompute;
pub mod recompute_run;
mod replay;
pub mod run_journal;
pub mod run_step;
pub mod snapshot;
pub mod step;
pub mod tool_call;
pub mod work;
mod work_clock;

pub use driver::{Driver, Halt, Outcome};
pub use mismatch::forks_at;
pub(crate) use mismatch::history_differs;
pub use model_call::{ModelAnswer, ModelCall};
pub use tool_call::ToolCall;
