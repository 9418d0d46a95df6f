//! What a server was found to understand, so that a refusal is paid for once: remembered for each address and model, for
//! as long as the process lives, and shared by all that ask the same account.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A server's address and a model's name.
type Place = (String, String);

/// What was learned of one account. Empty at first.
#[derive(Default)]
pub struct Learned(Mutex<HashMap<Place, Box<dyn Any + Send>>>);

impl Learned {
    /// The terms that a model of this server was last asked in with success; none where it was not, or by another protocol.
    pub(crate) fn terms<T: Copy + 'static>(&self, server: &str, model: &str) -> Option<T> {
        let all = self.all();
        all.get(&(server.to_owned(), model.to_owned()))?.downcast_ref().copied()
    }

    /// Remembers them.
    pub(crate) fn remember<T: Copy + Send + 'static>(&self, server: &str, model: &str, terms: T) {
        let place = (server.to_owned(), model.to_owned());
        self.all().insert(place, Box::new(terms));
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Place, Box<dyn Any + Send>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Learned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Learned({})", self.all().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_of_one_server_or_model_is_not_said_of_another() {
        let learned = Learned::default();
        learned.remember("http://a", "m", 7_u8);
        assert_eq!(learned.terms("http://a", "m"), Some(7_u8));
        assert_eq!(learned.terms::<u8>("http://b", "m"), None);
        assert_eq!(learned.terms::<u8>("http://a", "n"), None);
        // Another protocol's terms are none of this one.
        assert_eq!(learned.terms::<u16>("http://a", "m"), None);
    }
}
