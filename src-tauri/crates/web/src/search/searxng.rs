//! SearXNG: a search engine that people run themselves, often on this computer. It answers in JSON when its settings say so.

use contract::ports::web::{WebRequest, WebResponse};

use super::{Kind, Question, hit};

pub(super) const KIND: Kind = Kind {
    name: "searxng",
    title: "SearXNG",
    base_url: "",
    needs_key: false,
    keys_page: None,
    request,
    read: |answer| {
        let results = answer.get("results")?.as_array()?;
        Some(results.iter().filter_map(|result| hit(result, "content")).collect())
    },
    refuses_key,
    instead_of_a_page: "SearXNG answers with results only when its settings.yml lists json under search, formats",
};

fn request(question: &Question) -> WebRequest {
    let query = [("q", question.query), ("format", "json")];
    WebRequest {
        query: query.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..question.to("GET", "/search")
    }
}

/// It has no keys.
fn refuses_key(_answer: &WebResponse) -> bool {
    false
}
