//! The SQLite store: the journal of runs, what is drawn from it, and what people composed.
//!
//! Read in this order: `open` (how a data folder becomes a [`Store`]), `folder_lock`, `connection`
//! and `migration` (its parts), `writer` (the one thread that writes) with `append` (what it does most), `journal` (the
//! port), then one file per table: `event` with `payload`, `artifact`, `run` (with `run_use` and `run_list`), `run_search` (with `snippet`), `task`, `setting`, `draft`.
//! `run_deletion` lets a run go with what only it used. `content` holds bytes that are too large for a row, `parts` keeps texts once that stand in much, `inflate` unpacks
//! what may be damaged, `rebuild` makes projections anew, `health` looks it all through, `backup` copies it, and
//! `run_lock` says who drives a run, and `private` keeps all of it from others.
//!
//! Deliberately not here: what a run means (the engine), time (an argument), secrets (the keychain).

mod append;
mod artifact;
mod backup;
mod connection;
mod content;
mod deflate;
mod draft;
mod error;
mod event;
mod folder_lock;
mod grant;
mod health;
mod inflate;
mod journal;
mod migration;
mod names;
mod open;
mod parts;
mod payload;
pub mod private;
mod rebuild;
mod run;
mod run_deletion;
mod run_list;
mod run_lock;
mod run_search;
mod run_use;
mod setting;
mod snippet;
mod task;
#[cfg(test)]
mod testing;
mod writer;

pub use artifact::UsedArtifact;
pub use draft::{Draft, Drafts};
pub use error::StoreError;
pub use grant::{Grant, Grants, NewGrant};
pub use health::{Health, format, sqlite_version};
pub use open::Store;
pub use run_deletion::Deletion;
pub use run_list::{CostRange, RunFilter, RunPage, Runs};
pub use run_lock::RunLock;
pub use setting::Settings;
pub use task::{RecentTask, SaveTask, SavedTask, TaskId, TaskSource, TaskVersionId, Tasks};
