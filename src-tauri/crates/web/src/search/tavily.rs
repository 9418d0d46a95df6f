//! The Tavily Search API.

use contract::ports::web::{SecretHeader, WebRequest, WebResponse};
use serde_json::json;

use super::{Kind, Question, hit};

pub(super) const KIND: Kind = Kind {
    name: "tavily",
    title: "Tavily",
    base_url: "https://api.tavily.com",
    needs_key: true,
    keys_page: Some("https://app.tavily.com/home"),
    request,
    read: |answer| {
        let results = answer.get("results")?.as_array()?;
        Some(results.iter().filter_map(|result| hit(result, "content")).collect())
    },
    refuses_key,
    instead_of_a_page: "check the address",
};

fn request(question: &Question) -> WebRequest {
    let mut request = question.to("POST", "/search");
    request.body = Some(json!({ "query": question.query, "max_results": question.count }).to_string());
    request
        .headers
        .push(("content-type".to_owned(), "application/json".to_owned()));
    request.secret = question
        .key
        .map(|key| SecretHeader::of("authorization", "Bearer ", key));
    request
}

fn refuses_key(answer: &WebResponse) -> bool {
    matches!(answer.status, 401 | 403)
}
