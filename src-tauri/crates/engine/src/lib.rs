//! The engine: it plans, runs and judges, and knows when it is done.
//!
//! Start at [`task_loop::drive`]: it takes a run of the journal from where it stands to its end, or
//! to the next question for a person. The loop calls the [`planner`], the [`executor`] and the
//! [`evaluator`]; each of their model calls, tool executions, checks and questions is a leaf that
//! goes through the [`kernel`], so that a run that was killed goes on where it was.
//!
//! Deliberately not here: providers, tools, checks, SQL, files and windows. They are behind the
//! ports of `contract`, gathered in [`world::World`].

pub mod registry;
pub mod task_loop;
pub mod task_rules;
pub mod world;

pub use registry::Registry;
pub use task_loop::{Driven, drive, start};
pub use world::{Unwatched, Watcher, World};
