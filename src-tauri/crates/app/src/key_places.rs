//! Where each stored key may go: only to the server that it was stored for (models page, "Keys"). A person who changes the
//! address of a server has not said that whoever is there may have the key.
//!
//! What is remembered is the server's address, never anything of the key. A key of the environment is not bound: whoever
//! set the variable chose where it goes by starting the app with it.

use std::collections::BTreeMap;

use contract::AppError;
use contract::secret::KeySource;
use providers::endpoint::Address;
use providers::info::KeyNeed;
use secrecy::SecretString;

use crate::accounts::Found;
use crate::app::Rooms;
use crate::error::{ToAppError, internal};

/// The name under which the addresses are kept.
const NAME: &str = "key_places";

/// A key for an address, or why there is none.
#[derive(Default)]
pub(crate) struct Signing {
    /// The key to send.
    pub(crate) key: Option<SecretString>,
    /// The server that a key is stored for, which is another one.
    pub(crate) withheld: Option<String>,
}

/// Remembers for which server an account's key was stored; without an address, for the first that it is used for.
pub(crate) async fn remember(rooms: &Rooms, account: &str, base_url: Option<&str>) -> Result<(), AppError> {
    let server = base_url.and_then(server).unwrap_or_default();
    let mut places = read(rooms).await?;
    if places.get(account) == Some(&server) {
        return Ok(());
    }
    places.insert(account.to_owned(), server);
    write(rooms, &places).await
}

/// Forgets it with the key.
pub(crate) async fn forget(rooms: &Rooms, account: &str) -> Result<(), AppError> {
    let mut places = read(rooms).await?;
    match places.remove(account) {
        Some(_) => write(rooms, &places).await,
        None => Ok(()),
    }
}

/// The key that an account may send to this address.
///
/// A server on this machine that needs none does not wait for a keychain: where no key was ever stored for it the keychain
/// is not asked, and one that is locked counts as empty.
pub(crate) async fn signing(rooms: &Rooms, found: &Found, base_url: &str) -> Result<Signing, AppError> {
    let account = &found.account.name;
    let place = read(rooms).await?.get(account).cloned();
    let (here, wanted) = (is_here(base_url), server(base_url));
    let keyless = found.kind.info.key != KeyNeed::Required && here;
    let looked = match keyless && place.is_none() {
        true => rooms.keys.find_at_hand(account).await?,
        false => match rooms.keys.find(account).await {
            Err(_) if keyless && place != wanted => None,
            other => other?,
        },
    };
    let Some((key, source)) = looked else {
        return Ok(Signing::default());
    };
    let sent = Signing {
        key: Some(key),
        withheld: None,
    };
    let Some(wanted) = wanted.filter(|_| source != KeySource::Environment) else {
        return Ok(sent);
    };
    match place.filter(|place| !place.is_empty()) {
        Some(place) if place != wanted => Ok(Signing {
            key: None,
            withheld: Some(place),
        }),
        Some(_) => Ok(sent),
        None => {
            remember(rooms, account, Some(&wanted)).await?;
            Ok(sent)
        }
    }
}

/// The words about a key that stayed here.
pub(crate) fn words(withheld: &str, base_url: &str) -> String {
    let wanted = server(base_url).unwrap_or_else(|| base_url.to_owned());
    format!("The stored key was not sent: it is for {withheld}, and this is {wanted}. Enter the key for this server.")
}

fn server(base_url: &str) -> Option<String> {
    Address::parse(base_url).ok().map(|address| address.server())
}

fn is_here(base_url: &str) -> bool {
    Address::parse(base_url).is_ok_and(|address| address.is_this_machine())
}

async fn read(rooms: &Rooms) -> Result<BTreeMap<String, String>, AppError> {
    let kept = rooms
        .store
        .settings()
        .get(NAME)
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(kept
        .and_then(|kept| serde_json::from_value(kept).ok())
        .unwrap_or_default())
}

async fn write(rooms: &Rooms, places: &BTreeMap<String, String>) -> Result<(), AppError> {
    let value = serde_json::to_value(places).map_err(|error| internal(error.to_string()))?;
    let stored = rooms.store.settings().set(NAME, &value).await;
    stored.map_err(ToAppError::to_app_error)
}
