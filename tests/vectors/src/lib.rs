//! Runs vectors: small cases that say what agntz, Verist and latent do, restated for this engine.
//!
//! A vector file is an object: `_meta.system` names the system, every other key is a group of cases.
//! Each system is a file with a table from group names to functions: [`verist`], [`agntz`],
//! [`latent`]. A function reads a case by its fields, never by its id, so that a case it has not seen
//! before is run like those it knows. [`case`] reads cases, [`expect`] compares, [`wording`] compares
//! problems, [`prose`] knows the tests that cover what cannot be run and [`repository`] which tests there are, [`stage`]
//! plays a flow by a script, [`run`] goes through a folder.
//!
//! Deliberately not here: rules. A case that fails is mended in the engine.

pub mod agntz;
pub mod case;
pub mod expect;
pub mod latent;
pub mod prose;
pub mod repository;
pub mod run;
pub mod stage;
pub mod verist;
pub mod wording;
pub mod world;

pub use case::{Case, Check, Groups, Outcome};
pub use run::{Report, run_folder};
