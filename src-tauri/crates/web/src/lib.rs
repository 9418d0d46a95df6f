//! Requests to other computers, with a guard before each (tools page, "Permissions").
//!
//! A name is looked up once, every address that it leads to is checked, and the connection goes to a checked address
//! and nowhere else: who answers for the name cannot answer otherwise in between. The same again for every redirect.
//! There are no proxies: one would look names up by itself.
//!
//! Read in this order: [`guard`] (a request and its redirects), `place` (hosts and who may ask them), [`address`]
//! (which addresses are public), [`names`] (looking names up), [`steady`] (the same for talks that go on), [`search`]
//! (search services).
//!
//! Deliberately not here: whether a request may be sent. That is decided before; here it is enforced.

pub mod address;
pub mod guard;
pub mod names;
mod place;
pub mod search;
pub mod steady;

pub use guard::Guard;
pub use steady::client_of;

#[cfg(test)]
mod tests;
