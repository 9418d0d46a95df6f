//! The composition root: everything that a window, a terminal or a test reaches of Tepa.
//!
//! [`app`] wires the rooms together, and is the only place that does. From the outside in: [`ipc`] (the command
//! table) with [`commands`] and [`typescript`]; `new_run` and [`new_flow`] (how a run begins; `flow_models`, which models a
//! flow asks; [`flow_changes`], what a flow's could change) and `runs` (what people do with one), [`undoing`] (taking back what it changed in files), [`mod@compare`],
//! [`archive`], [`recordings`] and [`replays`] (what they do with those of the past), [`estimate`] (what a plan will cost), [`catalog`] (what there is to choose from),
//! [`active_runs`], [`approvals`] and [`event_log`] (the drivers, the person, and whoever watches); `world`, `roles`,
//! `model_server` and `key_ring` (what a driver is given); [`servers`] (MCP servers as they are kept); [`task_files`], `task_desk` and `sample` (tasks as text);
//! [`flow_files`] (flows as text) and `saved_plan` (a plan that passed as one); `settings`, `preview`, `folder_info`, [`paths`], [`logging`] and `error`. Apart from
//! all that stands [`bench`].
//!
//! Deliberately not here: how a run works (the engine), and anything that draws.

pub mod app;
pub mod bench;
pub mod commands;
pub mod config;
pub mod ipc;
pub mod typescript;

pub mod archive;
pub mod catalog;
pub mod compare;
mod deletion;
pub mod diagnostics;
pub mod estimate;
pub mod export;
pub mod flow_changes;
mod flow_models;
mod flow_tools;
mod forks;
pub mod handed;
pub mod new_flow;
pub mod new_run;
pub mod plan_edits;
pub mod recordings;
pub mod replays;
mod runs;
mod saved_plan;
mod steering;
pub mod step_models;
pub mod undoing;

pub mod active_runs;
mod announced_journal;
pub mod approvals;
pub mod event_log;

mod accounts;
mod fitness;
mod grants;
mod key_places;
mod key_ring;
mod missing_folder;
mod model_catalog;
mod model_server;
mod roles;
mod searching;
pub mod servers;
mod world;

mod sample;
mod task_desk;
pub mod task_files;

pub mod flow_files;

mod clock;
mod error;
mod folder_info;
pub mod logging;
pub mod paths;
mod preview;
mod settings;

pub use active_runs::Outcome;
pub use app::App;
pub use config::{Config, JournalDecorator, KeyPlace, Pace};
pub use engine::flow::agntz_code;
pub use engine::flow::events::FlowEvents;
pub use engine::undo::Wish as UndoWish;
pub use error::{explain, explain_flow};
pub use event_log::{Signal, Signals};
pub use flow_changes::FlowChange;
pub use new_flow::FlowInput;
pub use new_run::RunOptions;
pub use steering::LimitsChange;

/// What this process is when the app started it beside itself: the keeper of a command, or the reader of a document. It
/// does that, and says how it ends; none in every other process. Every `main` begins with it: nothing may be open and no
/// thread may run.
pub fn serve_if_asked() -> Option<std::process::ExitCode> {
    sandbox::serve_if_asked().or_else(documents::serve_if_asked)
}
