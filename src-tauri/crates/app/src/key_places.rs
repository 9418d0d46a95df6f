//! Where each stored key may go: only to the server that it was stored for (models page, "Keys"). A person who changes the
//! address of a server has not said that whoever is there may have the key.
//!
//! What is remembered is the server's address, never anything of the key. A key of the environment is for its provider's
//! own server, and for the one that a person keeps in the settings for that account; not for one that is only tried out.

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

/// What a key of the environment is for while no server is kept.
const NOWHERE: &str = "the server that the settings name";

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
    let Some(wanted) = wanted else {
        return Ok(sent);
    };
    if source == KeySource::Environment {
        let withheld = elsewhere(found.kind.info.base_url, found.base_url.as_deref(), &wanted);
        return Ok(match withheld {
            None => sent,
            Some(place) => Signing {
                key: None,
                withheld: Some(place),
            },
        });
    }
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

/// The server that a key of the environment is for, where that is another one than is `wanted`: the provider's `own`, or
/// the one that is `kept` in the settings.
fn elsewhere(own: &str, kept: Option<&str>, wanted: &str) -> Option<String> {
    let places: Vec<String> = [Some(own), kept].into_iter().flatten().filter_map(server).collect();
    match places.iter().any(|place| place == wanted) {
        true => None,
        false => Some(places.into_iter().next().unwrap_or_else(|| NOWHERE.to_owned())),
    }
}

/// The words about a key that stayed here.
pub(crate) fn words(withheld: &str, base_url: &str) -> String {
    let wanted = server(base_url).unwrap_or_else(|| base_url.to_owned());
    format!("The key was not sent: it is for {withheld}, and this is {wanted}. Enter the key for this server.")
}

fn server(base_url: &str) -> Option<String> {
    Address::parse(base_url).ok().map(|address| address.server())
}

/// Whether what is sent there can be read and changed on the way.
pub(crate) fn is_plain(base_url: &str) -> bool {
    Address::parse(base_url).is_ok_and(|address| address.server().starts_with("http://") && !address.is_this_machine())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_environment_is_for_its_providers_server_and_the_one_that_is_kept() {
        let own = "https://api.openai.com";
        let at = |wanted: &str, kept| elsewhere(own, kept, &server(wanted).unwrap());
        assert_eq!(at("https://api.openai.com/v1", None), None);
        assert_eq!(at("https://proxy.example/v1", Some("https://proxy.example")), None);
        let other = at("https://other.example/v1", Some("https://proxy.example"));
        assert_eq!(other, server(own));
        assert_eq!(at("http://api.openai.com", None), server(own));
        let any = |kept| elsewhere("", kept, "http://127.0.0.1:1");
        assert_eq!(any(None).as_deref(), Some(NOWHERE));
        assert_eq!(any(Some("http://127.0.0.1:1/v1")), None);
    }

    #[test]
    fn what_is_sent_without_encryption_is_known() {
        for plain in ["http://192.168.0.7:11434", "http://models.example/v1"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in [
            "https://models.example",
            "http://localhost:1",
            "http://[::1]:1",
            "http://127.0.0.1:1",
            "",
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
