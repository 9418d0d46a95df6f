//! The key stores: the keychain of the system, and memory.
//!
//! Read in this order: [`shown`] (what may be known about a key), [`keychain`] and [`memory`] (the
//! places), [`environment`] (keys that were there before the app was started),
//! [`core_dumps`] (where no key must end).
//!
//! Deliberately not here: in which order the places are asked, and files. A key is never written to
//! one.

pub mod core_dumps;
pub mod environment;
pub mod keychain;
pub mod memory;
pub mod shown;

pub use keychain::Keychain;
pub use memory::MemoryStore;
