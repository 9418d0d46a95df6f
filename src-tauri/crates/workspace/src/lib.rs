//! The outside world of tools and checks: the working folder and the tables in it.
//!
//! Read in this order: [`folder`] (the only door to files; `path` and `atomic` are its hinges, `reach` opens others
//! beside it), [`mod@save`] (a file that a person named),
//! [`text`] (bytes that are words), [`document`] (office files and PDF as words and tables),
//! [`table`] (CSV, JSON and sheets as typed rows; `csv` splits the records),
//! [`sql`] and [`query`] (questions to tables), [`render`] (answers as rows, CSV and Markdown), and
//! [`schema`] (how the arguments of tools and checks are described).
//!
//! Deliberately not here: what a step may touch is decided in the engine; which tool or check does
//! what is in their own crates.

mod atomic;
mod csv;
pub mod document;
pub mod folder;
mod path;
pub mod query;
mod reach;
pub mod render;
pub mod save;
pub mod schema;
pub mod sql;
mod sql_functions;
pub mod table;
pub mod text;

pub use folder::Folder;
pub use save::save;
