//! The one-word names of the contract's small enums, as their JSON has them, for columns that people
//! may read too.

use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// The word for a value.
pub(crate) fn to_name<T: Serialize>(value: &T) -> Result<String, StoreError> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        _ => Err(StoreError::Storage("a name is not one word".to_owned())),
    }
}

/// The value that a word stands for.
pub(crate) fn from_name<'a, T: Deserialize<'a>>(name: &'a str) -> Result<T, StoreError> {
    let deserializer: StrDeserializer<'a, Error> = name.into_deserializer();
    T::deserialize(deserializer).map_err(|_| StoreError::Corrupted(format!("\"{name}\" is not a known word")))
}

#[cfg(test)]
mod tests {
    use contract::run::{RunStatus, StopReason};

    use super::*;

    #[test]
    fn every_word_leads_back_to_its_value() {
        for status in [RunStatus::Running, RunStatus::Waiting, RunStatus::Terminated] {
            let name = to_name(&status).unwrap();
            assert_eq!(from_name::<RunStatus>(&name).unwrap(), status);
        }
        assert_eq!(to_name(&StopReason::MaxCycles).unwrap(), "max_cycles");
        assert!(from_name::<StopReason>("tired").is_err());
    }
}
