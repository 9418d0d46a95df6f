//! The engine: it plans, runs and judges, and knows when it is done.
//!
//! Start at [`driving::drive`]: it takes a run of the journal from where it stands to its end, or
//! to the next question for a person. The loop calls the [`planner`], the [`executor`] and the
//! [`evaluator`]; each of their model calls, tool executions, checks and questions is a leaf that
//! goes through the [`kernel`], so that a run that was killed goes on where it was.
//!
//! Deliberately not here: providers, tools, checks, SQL, files and windows. They are behind the
//! ports of `contract`, gathered in [`world::World`].

pub mod driving;
pub mod task_loop;
pub mod task_rules;
pub mod world;

pub mod evaluator;
pub mod executor;
pub mod planner;

mod agent_step;
pub mod approval;
pub mod effects;
pub mod hooks;
pub mod order;
pub mod permissions;
pub mod plan_rules;
pub mod requests;
pub mod reuse;
pub mod rules;
pub mod schedule;
pub mod step_work;
pub mod uses;
pub mod verdict;
mod whole;

pub mod condition;
pub mod flow;
pub mod template;

pub mod absence;
pub mod artifacts;
mod depth;
pub mod ending;
mod envelope_text;
pub mod evidence;
pub mod json_reply;
pub mod judge_call;
pub mod judged_before;
pub mod judgement;
mod makers;
pub mod outputs;
pub mod prompts;
pub mod references;
pub mod registry;
pub mod results;
pub mod schema;
pub mod scratchpad;
pub mod table_profile;
pub mod task_data;
pub mod tool_schema;
pub mod tool_talk;
pub mod undo;

pub mod kernel;

#[cfg(test)]
mod testing;

pub use driving::{Driven, drive, drive_with, replay, start};
pub use ending::{GoOn, accept, go_on};
pub use kernel::controls::Controls;
pub use kernel::final_hash::final_hash;
pub use registry::Registry;
pub use world::{Unwatched, Watcher, World};
