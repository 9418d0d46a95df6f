//! The shared vocabulary of Tepa: plain data, the journal's events, and the ports through which the
//! engine reaches the world.
//!
//! Read in this order: [`ids`] and [`hash`] (how things are named), [`task`], [`criterion`], [`plan`]
//! and [`evaluation`] (what a person asks for and what comes of it), [`flow`] (steps with fixed routes), [`event`],
//! [`run`] and [`run_state`] (what happened, and the fold that draws it), [`undo`] (taking it back), [`packed`] (how little of a disk it takes),
//! [`llm`], [`access`], [`task_effect`], [`person`], [`picture`] (what passes through the ports), and [`ports`].
//!
//! Deliberately not here: I/O, a runtime, and any decision that needs more than its arguments.

pub mod access;
pub mod audit;
pub mod cost;
pub mod criterion;
pub mod dates;
pub mod error;
pub mod evaluation;
pub mod event;
pub mod flow;
pub mod found;
pub mod hash;
pub mod ids;
pub mod llm;
pub mod packed;
pub mod person;
pub mod picture;
pub mod plan;
pub mod ports;
pub mod rule;
pub mod run;
pub mod run_log;
pub mod run_state;
pub mod secret;
pub mod server_tool;
pub mod step;
pub mod task;
pub mod task_effect;
pub mod undo;
pub mod value_ref;

pub use error::AppError;
pub use hash::Hash;
pub use ids::{Key, RunId};
pub use step::StepError;
pub use value_ref::ValueRef;
