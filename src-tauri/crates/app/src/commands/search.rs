//! Searching the web: which kinds of services there are, and whether the one that is set up answers. Its key goes in with
//! `key_set`; nothing of it comes out.

use std::time::Duration;

use contract::AppError;
use contract::ports::search::{SearchError, SearchRequest};
use serde::Serialize;
use ts_rs::TS;

use crate::app::App;
use crate::error::sentence;
use crate::searching;

/// What is searched for to see whether a service answers.
const TRIAL: &str = "weather";

/// A kind of search service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchKind {
    /// Its name in the settings.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Where it is when nobody says; empty where a person must.
    pub base_url: &'static str,
    /// Whether it needs a key.
    pub needs_key: bool,
    /// Where a person makes a key.
    pub keys_page: Option<&'static str>,
}

/// The kinds of search services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchKinds {
    /// In the order in which a person chooses.
    pub kinds: Vec<SearchKind>,
    /// The account under which the key of the service is kept.
    pub account: &'static str,
}

/// What came of asking the service that is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchTest {
    /// Whether it answered with results.
    pub ok: bool,
    /// What happened, in words.
    pub message: String,
}

/// The kinds of search services.
pub async fn kinds(_app: &App, (): ()) -> Result<SearchKinds, AppError> {
    let kinds = web::search::all().into_iter().map(|kind| SearchKind {
        name: kind.name,
        title: kind.title,
        base_url: kind.base_url,
        needs_key: kind.needs_key,
        keys_page: kind.keys_page,
    });
    Ok(SearchKinds {
        kinds: kinds.collect(),
        account: searching::ACCOUNT,
    })
}

/// Asks the service that is set up once.
pub async fn test(app: &App, (): ()) -> Result<SearchTest, AppError> {
    let settings = crate::settings::read(&app.rooms.store).await?;
    let found = searching::of(&settings).and_then(|found| web::search::host(&found.base_url).ok());
    let done = match found {
        None => Err(SearchError::NotSetUp),
        Some(host) => {
            let request = SearchRequest {
                query: TRIAL.to_owned(),
                count: 5,
                timeout: Duration::from_secs(20),
                host,
            };
            app.rooms.search.search(request).await
        }
    };
    Ok(match done {
        Ok(hits) if hits.is_empty() => SearchTest {
            ok: true,
            message: format!("It answers, and found nothing for \"{TRIAL}\"."),
        },
        Ok(hits) => SearchTest {
            ok: true,
            message: match hits.len() {
                1 => "It works: one result came back.".to_owned(),
                count => format!("It works: {count} results came back."),
            },
        },
        Err(error) => SearchTest {
            ok: false,
            message: sentence(&error.to_string()),
        },
    })
}
