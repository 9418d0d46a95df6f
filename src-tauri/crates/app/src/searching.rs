//! The search service of `web_search`: which one a person set up, its key, and whether a run is offered it.
//!
//! The service's host stands in the run's envelope, where a person sees it; a service that was set up since is not asked by
//! a run that began before. Asking is `web`'s.

use std::sync::Arc;

use async_trait::async_trait;
use contract::AppError;
use contract::ports::search::{Search, SearchError, SearchHit, SearchRequest};
use contract::ports::web::Web;
use contract::run::RunHeader;
use providers::without_key;
use secrecy::SecretString;
use store::Store;
use tools::WEB_SEARCH;
use web::search::{self, Kind, Question};

use crate::app::{App, Rooms};
use crate::commands::settings::{SearchService, Settings};
use crate::key_places::{self, Signing};
use crate::key_ring::KeyRing;
use crate::{flow_tools, settings};

/// The account under which the key of the service is kept.
pub(crate) const ACCOUNT: &str = "web_search";
/// The environment variables that may hold it, for terminals and servers without a keychain.
pub(crate) const ENVIRONMENT: &[&str] = &["TEPA_SEARCH_KEY"];

/// A service with its address.
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) base_url: String,
}

/// A kind of service by its name.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    search::all().into_iter().find(|kind| kind.name == name)
}

/// Where a service is: where a person says, or where its kind always is; none where nobody has said.
pub(crate) fn address(service: &SearchService) -> Option<String> {
    let usual = || kind(&service.kind).map(|kind| kind.base_url.to_owned());
    let address = service.base_url.clone().or_else(usual);
    address.filter(|address| !address.is_empty())
}

/// The service of the settings, with its address.
pub(crate) fn of(settings: &Settings) -> Option<Found> {
    let service = settings.search.as_ref()?;
    Some(Found {
        kind: kind(&service.kind)?,
        base_url: address(service)?,
    })
}

/// Asks the service that is set up.
pub(crate) struct SearchDesk {
    pub(crate) store: Store,
    pub(crate) keys: KeyRing,
    pub(crate) web: Arc<dyn Web>,
}

impl SearchDesk {
    async fn key(&self, found: &Found) -> Result<Option<SecretString>, SearchError> {
        if !found.kind.needs_key {
            return Ok(None);
        }
        let no_key = |error: AppError| SearchError::NoKey(error.message);
        let signing = key_places::of_search(&self.store, &self.keys, &found.base_url).await;
        match signing.map_err(no_key)? {
            Signing { key: Some(key), .. } => Ok(Some(key)),
            Signing {
                withheld: Some(place), ..
            } => Err(SearchError::NoKey(key_places::words(&place, &found.base_url))),
            Signing { .. } => Err(SearchError::NoKey("enter it in Settings, under Web search".to_owned())),
        }
    }
}

#[async_trait]
impl Search for SearchDesk {
    async fn search(&self, request: SearchRequest) -> Result<Vec<SearchHit>, SearchError> {
        let settings = settings::read(&self.store).await;
        let settings = settings.map_err(|error| SearchError::NoKey(error.message))?;
        let found = of(&settings).ok_or(SearchError::NotSetUp)?;
        if search::host(&found.base_url).map_err(SearchError::Web)? != request.host {
            return Err(SearchError::Changed);
        }
        let key = self.key(&found).await?;
        let question = Question {
            base_url: &found.base_url,
            key: key.as_ref(),
            query: &request.query,
            count: request.count,
            timeout: request.timeout,
        };
        let done = search::ask(&*self.web, &found.kind, &question).await;
        // Some servers repeat the key that they were sent.
        let clean = |text: String| without_key(&text, key.as_ref());
        match done {
            Ok(hits) => Ok(hits
                .into_iter()
                .map(|hit| SearchHit {
                    title: clean(hit.title),
                    url: clean(hit.url),
                    text: clean(hit.text),
                })
                .collect()),
            Err(SearchError::Refused { status, said }) => Err(SearchError::Refused {
                status,
                said: clean(said),
            }),
            Err(error) => Err(error),
        }
    }
}

/// The host of the service, once everything is there that it needs. No lock is opened to tell: a keychain that is locked
/// may have the key.
pub(crate) async fn ready(rooms: &Rooms) -> Result<Option<String>, AppError> {
    let settings = settings::read(&rooms.store).await?;
    let Some(found) = of(&settings) else { return Ok(None) };
    let has_key = !found.kind.needs_key || !matches!(rooms.keys.info(ACCOUNT.to_owned()).await, Ok(None));
    let host = search::host(&found.base_url).ok();
    Ok(host.filter(|_| has_key))
}

impl App {
    /// The header with the search service that its run may ask: the one that is set up, unless the run uses other tools
    /// or a rule forbids this one.
    pub(crate) async fn with_search(&self, mut header: RunHeader) -> Result<RunHeader, AppError> {
        let named = match (&header.flow, &header.task.tools) {
            (Some(flow), _) => Some(flow_tools::of(flow).contains(WEB_SEARCH)),
            (None, Some(tools)) => Some(tools.iter().any(|tool| tool == WEB_SEARCH)),
            (None, None) => None,
        };
        header.envelope.search = None;
        if named == Some(false) || engine::rules::forbidden(&header.rules, WEB_SEARCH) {
            return Ok(header);
        }
        header.envelope.search = ready(&self.rooms).await?;
        match (named, &header.envelope.search) {
            (Some(true), None) => Err(not_set_up()),
            _ => Ok(header),
        }
    }
}

fn not_set_up() -> AppError {
    AppError::new(
        "search_not_set_up",
        "the task searches the web, and no search service is set up here",
    )
    .hint("Set one up in Settings, under Web search, or take web_search out of the task.")
}
