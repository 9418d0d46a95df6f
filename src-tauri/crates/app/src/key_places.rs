//! Where each stored key may go: only to the server that it was stored for (models page, "Keys"). A person who changes the
//! address of a server has not said that whoever is there may have the key.
//!
//! What is remembered is the server's address, never anything of the key. A key of the environment is for its provider's
//! own server, and for the one that a person keeps in the settings for that account; not for one that is only tried out.

use contract::AppError;
use contract::secret::KeySource;
use providers::endpoint::Address;
use providers::info::KeyNeed;
use secrecy::SecretString;
use serde_json::Value;
use store::Store;

use crate::accounts::Found;
use crate::app::Rooms;
use crate::error::ToAppError;
use crate::key_ring::KeyRing;
use crate::searching;

/// The name under which the addresses of all accounts were kept together.
const ALL: &str = "key_places";

/// What is kept in the place of an address while there is none: the key goes to nobody.
const NOBODY: Value = Value::Bool(false);

/// What a key of the environment is for where the way to its server is open to others.
const ENCRYPTED: &str = "a server with https://";

/// What is said of a key when nobody can tell any more where it may go.
const UNREADABLE: &str = "a server that cannot be told any more";

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

/// Where the key of an account may go, as far as that is known.
#[derive(Debug, PartialEq)]
enum Place {
    /// Only to this server.
    Server(String),
    /// A person stored it without an address: to the first server that they use it for, and from then on only there.
    Unsaid,
    /// Nothing is kept: only to the provider's own server, or the one that a person keeps for the account.
    Unknown,
    /// What is kept cannot be read, or another key is just being stored: to nobody.
    Nobody,
}

/// A key that is being stored for a server. Each account has a row of its own, so that two keys that are stored at once
/// do not lose each other's.
pub(crate) struct Placing {
    account: String,
    before: Value,
    server: Value,
}

/// Says for which server a key is about to be stored. Until that has ended the account's key goes to nobody: neither the
/// key before to the new server, nor the new key to the one before, whatever is cut off in the middle.
pub(crate) async fn begin(rooms: &Rooms, account: &str, base_url: Option<&str>) -> Result<Placing, AppError> {
    let placing = Placing {
        account: account.to_owned(),
        before: kept(&rooms.store, account).await?.unwrap_or_default(),
        server: Value::String(base_url.and_then(server).unwrap_or_default()),
    };
    if placing.before != placing.server {
        write(rooms, account, &NOBODY).await?;
    }
    Ok(placing)
}

impl Placing {
    /// The key is stored, or it could not be and the one before stays.
    pub(crate) async fn end(self, rooms: &Rooms, is_stored: bool) -> Result<(), AppError> {
        let place = if is_stored { self.server } else { self.before };
        write(rooms, &self.account, &place).await
    }
}

/// Forgets it with the key.
pub(crate) async fn forget(rooms: &Rooms, account: &str) -> Result<(), AppError> {
    write(rooms, account, &Value::Null).await
}

/// The key that an account may send to this address.
///
/// A server on this machine that needs none does not wait for a keychain: where no key was ever stored for it the keychain
/// is not asked, and one that is locked counts as empty.
pub(crate) async fn signing(rooms: &Rooms, found: &Found, base_url: &str) -> Result<Signing, AppError> {
    let account = &found.account.name;
    let place = place(&rooms.store, account).await?;
    let (here, wanted) = (is_here(base_url), server(base_url));
    let keyless = found.kind.info.key != KeyNeed::Required && here;
    let is_its = matches!((&place, &wanted), (Place::Server(place), Some(wanted)) if place == wanted);
    let looked = match keyless && matches!(place, Place::Unsaid | Place::Unknown) {
        true => rooms.keys.find_at_hand(account).await?,
        false => match rooms.keys.find(account).await {
            Err(_) if keyless && !is_its => None,
            other => other?,
        },
    };
    let Some((key, source)) = looked else {
        return Ok(Signing::default());
    };
    let sent = |key| Signing {
        key: Some(key),
        withheld: None,
    };
    let withheld = |place: String| Signing {
        key: None,
        withheld: Some(place),
    };
    let Some(wanted) = wanted else {
        return Ok(sent(key));
    };
    let elsewhere = || elsewhere(found.kind.info.base_url, found.base_url.as_deref(), &wanted);
    if source == KeySource::Environment {
        // Nobody agreed that it travels where others can read it.
        return Ok(match elsewhere() {
            Some(place) => withheld(place),
            None if is_plain(base_url) => withheld(ENCRYPTED.to_owned()),
            None => sent(key),
        });
    }
    Ok(match place {
        Place::Server(place) if place == wanted => sent(key),
        Place::Server(place) => withheld(place),
        Place::Nobody => withheld(UNREADABLE.to_owned()),
        Place::Unsaid => {
            write(rooms, account, &Value::String(wanted)).await?;
            sent(key)
        }
        Place::Unknown => match elsewhere() {
            Some(place) => withheld(place),
            None => {
                write(rooms, account, &Value::String(wanted)).await?;
                sent(key)
            }
        },
    })
}

/// The key that the search service at this address may be sent, which is the one of the settings.
pub(crate) async fn of_search(store: &Store, keys: &KeyRing, base_url: &str) -> Result<Signing, AppError> {
    let Some((key, source)) = keys.find(searching::ACCOUNT).await? else {
        return Ok(Signing::default());
    };
    let place = place(store, searching::ACCOUNT).await?;
    let is_its = matches!((&place, server(base_url)), (Place::Server(place), Some(wanted)) if *place == wanted);
    let withheld = match place {
        _ if is_its => None,
        // Nobody agreed that it travels where others can read it.
        _ if source == KeySource::Environment => is_plain(base_url).then(|| ENCRYPTED.to_owned()),
        Place::Server(place) => Some(place),
        Place::Unsaid | Place::Unknown => Some(NOWHERE.to_owned()),
        Place::Nobody => Some(UNREADABLE.to_owned()),
    };
    Ok(Signing {
        key: withheld.is_none().then_some(key),
        withheld,
    })
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

async fn place(store: &Store, account: &str) -> Result<Place, AppError> {
    Ok(match kept(store, account).await? {
        Some(Value::String(server)) if !server.is_empty() => Place::Server(server),
        Some(Value::String(_)) => Place::Unsaid,
        Some(Value::Null) | None => Place::Unknown,
        Some(_) => Place::Nobody,
    })
}

async fn kept(store: &Store, account: &str) -> Result<Option<Value>, AppError> {
    let settings = store.settings();
    let own = settings.get(&row(account)).await.map_err(ToAppError::to_app_error)?;
    if own.is_some() {
        return Ok(own);
    }
    // As all of them were kept at first.
    Ok(match settings.get(ALL).await.map_err(ToAppError::to_app_error)? {
        Some(Value::Object(mut all)) => all.remove(account),
        Some(_) => Some(NOBODY),
        None => None,
    })
}

async fn write(rooms: &Rooms, account: &str, place: &Value) -> Result<(), AppError> {
    let stored = rooms.store.settings().set(&row(account), place).await;
    stored.map_err(ToAppError::to_app_error)
}

fn row(account: &str) -> String {
    format!("key_place/{account}")
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
