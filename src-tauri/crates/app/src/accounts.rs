//! Model accounts: the one that each kind of provider has by itself, and those that a person added. An account's name
//! stands before the colon in `provider:model`, and its key is kept under the same name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::AppError;
use contract::llm::{LlmError, LlmErrorCode};
use providers::gate::Gate;
use providers::info::{KeyNeed, ProviderInfo};
use providers::learned::Learned;
use providers::server::ModelServer;
use providers::{Kind, endpoint};
use secrecy::SecretString;

use crate::app::Rooms;
use crate::commands::settings::{Account, Endpoint, Settings};
use crate::key_ring::is_account_name;
use crate::roles::{self, ENDPOINT_PROVIDER};
use crate::{key_places, settings};

/// How many requests each account may have under way, for all runs of this process together, and what was learned of it.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    gates: Mutex<HashMap<String, Arc<Gate>>>,
    learned: Mutex<HashMap<String, Arc<Learned>>>,
}

impl Gates {
    pub(crate) fn of(&self, account: &str) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(account.to_owned()).or_default())
    }

    /// What the account's models were found to understand.
    fn learned(&self, account: &str) -> Arc<Learned> {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(learned.entry(account.to_owned()).or_default())
    }
}

/// An account with what is needed to ask it.
pub(crate) struct Found {
    pub(crate) account: Account,
    pub(crate) kind: Kind,
    /// Where it is; none where nobody has said.
    pub(crate) base_url: Option<String>,
}

/// The names that may stand before the colon.
pub(crate) fn names(settings: &Settings) -> Vec<String> {
    let mut names: Vec<String> = providers::all().iter().map(|kind| kind.info.name.to_owned()).collect();
    for account in &settings.accounts {
        if !names.contains(&account.name) {
            names.push(account.name.clone());
        }
    }
    names
}

/// A kind of provider by its name.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    providers::all().into_iter().find(|kind| kind.info.name == name)
}

/// An account by its name.
pub(crate) fn find(rooms: &Rooms, settings: &Settings, name: &str) -> Option<Found> {
    let own = || Account {
        name: name.to_owned(),
        kind: name.to_owned(),
        base_url: None,
    };
    let added = settings.accounts.iter().find(|account| account.name == name);
    // Settings of another hand may name anything.
    if !is_account_name(name) {
        return None;
    }
    let account = added.cloned().unwrap_or_else(own);
    let kind = kind(&account.kind)?;
    Some(Found {
        base_url: address(settings, rooms.endpoint.as_ref(), name),
        account,
        kind,
    })
}

/// Where an account's server is: the account's own address, the settings' server (or `instead`, for this process only)
/// for the account that stands for it, or the kind's; none where nobody has said.
pub(crate) fn address(settings: &Settings, instead: Option<&Endpoint>, name: &str) -> Option<String> {
    let added = settings.accounts.iter().find(|account| account.name == name);
    let own = added.and_then(|account| account.base_url.clone());
    let endpoint = instead
        .or(settings.endpoint.as_ref())
        .filter(|_| name == ENDPOINT_PROVIDER);
    let kind = kind(added.map_or(name, |account| &account.kind));
    own.or_else(|| endpoint.map(|endpoint| endpoint.base_url.clone()))
        .or_else(|| Some(kind?.info.base_url.to_owned()).filter(|url| !url.is_empty()))
}

/// Opens an account by its name, with the key that is kept for it.
///
/// # Errors
/// Nobody knows the account, where it is, or its key.
pub(crate) async fn open(rooms: &Rooms, name: &str) -> Result<Arc<dyn ModelServer>, AppError> {
    let settings = settings::read(&rooms.store).await?;
    let found = find(rooms, &settings, name).ok_or_else(|| unknown(name))?;
    let base_url = found.base_url.clone().ok_or_else(roles::no_model)?;
    let signing = key_places::signing(rooms, &found, &base_url).await?;
    if signing.key.is_none() && found.kind.info.key == KeyNeed::Required {
        let missing = no_key(&found.kind.info);
        return Err(match signing.withheld {
            Some(withheld) => missing.hint(key_places::words(&withheld, &base_url)),
            None => missing,
        });
    }
    open_at(rooms, &found, &base_url, signing.key).map_err(in_words)
}

/// Opens an account at an address that a person may not have kept yet.
pub(crate) fn open_at(
    rooms: &Rooms,
    found: &Found,
    base_url: &str,
    key: Option<SecretString>,
) -> Result<Arc<dyn ModelServer>, LlmError> {
    let name = &found.account.name;
    let endpoint = endpoint::Endpoint {
        gate: rooms.gates.of(name),
        learned: rooms.gates.learned(name),
        ..endpoint::Endpoint::new(base_url, key)
    };
    (found.kind.open)(name, endpoint, Arc::clone(&rooms.clock))
}

/// A provider without the key that it needs.
pub(crate) fn no_key(info: &ProviderInfo) -> AppError {
    let message = format!("there is no key for {} yet", info.title);
    let hint = match info.environment.first() {
        Some(variable) => format!("Add the key in Settings, or start Tepa with {variable} set."),
        None => "Add the key in Settings.".to_owned(),
    };
    AppError::new("no_key", message).hint(hint)
}

/// A name before the colon that nobody knows.
pub(crate) fn unknown(name: &str) -> AppError {
    let message = format!("the task asks for the model provider \"{name}\", which this version does not have");
    AppError::new("no_provider", message).hint("Take the model out of the task, so that the one in Settings is used.")
}

/// Why an address cannot be opened, for a person.
pub(crate) fn in_words(error: LlmError) -> AppError {
    let (code, hint) = match error.code {
        LlmErrorCode::InvalidRequest => (
            "endpoint_invalid",
            "Open Settings and correct the address of the model server.",
        ),
        _ => ("endpoint_failed", "Open Settings and test the connection."),
    };
    AppError::new(code, error.message).hint(hint)
}
