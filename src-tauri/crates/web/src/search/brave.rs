//! The Brave Search API.

use contract::ports::search::SearchHit;
use contract::ports::web::{SecretHeader, WebRequest, WebResponse};
use serde_json::Value;

use super::{Kind, Question, hit};

pub(super) const KIND: Kind = Kind {
    name: "brave",
    title: "Brave Search",
    base_url: "https://api.search.brave.com",
    needs_key: true,
    keys_page: Some("https://api-dashboard.search.brave.com/app/keys"),
    request,
    read,
    refuses_key,
    instead_of_a_page: "check the address",
};

fn request(question: &Question) -> WebRequest {
    let query = [
        ("q", question.query.to_owned()),
        ("count", question.count.to_string()),
        // Without marks around the words that were searched for.
        ("text_decorations", "false".to_owned()),
    ];
    let mut request = question.to("GET", "/res/v1/web/search");
    request.query = query.map(|(name, value)| (name.to_owned(), value)).into();
    request.secret = question
        .key
        .map(|key| SecretHeader::of("x-subscription-token", "", key));
    request
}

/// A search that finds nothing has no `web` in its answer.
fn read(answer: &Value) -> Option<Vec<SearchHit>> {
    let Some(web) = answer.get("web") else {
        return (answer.get("type")? == "search").then(Vec::new);
    };
    let results = web.get("results")?.as_array()?;
    Some(results.iter().filter_map(|result| hit(result, "description")).collect())
}

/// A wrong key is 422 there, like other mistakes; the code says which.
fn refuses_key(answer: &WebResponse) -> bool {
    matches!(answer.status, 401 | 403) || (answer.status == 422 && answer.body.contains("SUBSCRIPTION_TOKEN_INVALID"))
}
