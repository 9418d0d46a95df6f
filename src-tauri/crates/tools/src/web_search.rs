//! `web_search`: asks the search service that a person set up, and hands on what it found.
//!
//! Not here: which service, its key and its address. A model says what is searched for, and nothing of that.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::search::{LONGEST_QUERY, MOST_RESULTS, Search, SearchRequest};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// How long a search may take at most, in milliseconds.
const PATIENCE: u64 = 30_000;

pub(crate) struct WebSearch {
    pub(crate) search: Arc<dyn Search>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to search for, as a person types it into a search engine. It leaves this computer: nothing from files goes
    /// into it that the task does not ask to look up.
    #[schemars(length(min = 1, max = LONGEST_QUERY))]
    query: String,
    /// The most results.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = MOST_RESULTS))]
    count: usize,
}

fn five() -> usize {
    5
}

#[async_trait]
impl Tool for WebSearch {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "web_search".to_owned(),
            description:
                "Searches the web and returns { query, results: [{ title, url, text }] }, best first; text is \
                what the search service says about the page, not the page itself. Results may be empty."
                    .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        vec![Access::Search]
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let Some(host) = context.granted.search.clone() else {
            return Err(ToolError::new("this run may not search the web"));
        };
        let request = SearchRequest {
            query: input.query.clone(),
            count: input.count,
            timeout: Duration::from_millis(PATIENCE.min(context.limit_ms)),
            host,
        };
        let hits = self.search.search(request).await.map_err(|error| ToolError {
            retryable: error.retryable(),
            message: error.to_string(),
        })?;
        let results: Vec<Value> = hits
            .into_iter()
            .take(input.count)
            .map(|hit| json!({ "title": hit.title, "url": hit.url, "text": hit.text }))
            .collect();
        Ok(ToolOutput::value(json!({ "query": input.query, "results": results })))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::access::Granted;
    use contract::ports::search::{SearchError, SearchHit};

    use super::*;
    use crate::test_place::{Place, place};

    struct Finds {
        heard: Mutex<Vec<SearchRequest>>,
        found: Result<usize, SearchError>,
    }

    #[async_trait]
    impl Search for Finds {
        async fn search(&self, request: SearchRequest) -> Result<Vec<SearchHit>, SearchError> {
            self.heard.lock().unwrap().push(request);
            let count = self.found.clone()?;
            let hit = |n: usize| SearchHit {
                title: format!("t{n}"),
                url: format!("https://a.org/{n}"),
                text: "about".to_owned(),
            };
            Ok((0..count).map(hit).collect())
        }
    }

    fn finding(found: Result<usize, SearchError>) -> (WebSearch, Arc<Finds>) {
        let finds = Arc::new(Finds {
            heard: Mutex::default(),
            found,
        });
        let tool = WebSearch {
            search: Arc::clone(&finds) as _,
        };
        (tool, finds)
    }

    fn granted() -> Place {
        let mut place = place(&[]);
        place.context.granted = Arc::new(Granted {
            search: Some("s.org".to_owned()),
            ..Granted::default()
        });
        place
    }

    #[tokio::test]
    async fn hands_on_no_more_than_was_asked_for() {
        let (tool, finds) = finding(Ok(3));
        let done = granted().run(&tool, json!({"query": "tea", "count": 2})).await.unwrap();
        assert_eq!(
            done,
            json!({"query": "tea", "results": [
                {"title": "t0", "url": "https://a.org/0", "text": "about"},
                {"title": "t1", "url": "https://a.org/1", "text": "about"},
            ]})
        );
        let heard = finds.heard.lock().unwrap();
        assert_eq!(
            (heard[0].query.as_str(), heard[0].count, heard[0].host.as_str()),
            ("tea", 2, "s.org")
        );
        assert!(heard[0].timeout <= Duration::from_millis(PATIENCE));
    }

    #[tokio::test]
    async fn asks_nobody_where_the_run_may_not_search() {
        let (tool, finds) = finding(Ok(1));
        let done = place(&[]).run(&tool, json!({"query": "tea"})).await;
        assert_eq!(done, Err(ToolError::new("this run may not search the web")));
        assert_eq!(finds.heard.lock().unwrap().len(), 0);
    }

    #[tokio::test]
    async fn says_why_nothing_was_found_out() {
        let (tool, _) = finding(Err(SearchError::KeyRefused));
        let done = granted().run(&tool, json!({"query": "tea"})).await;
        assert!(done.unwrap_err().message.contains("enter it again in Settings"));
    }
}
