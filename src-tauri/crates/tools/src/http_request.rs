//! `http_request`: asks a host of the web, held to what was granted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::ports::web::{Web, WebRequest, only_reads};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use workspace::schema;

use crate::input;

pub(crate) struct HttpRequest {
    pub(crate) web: Arc<dyn Web>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The address, beginning with https:// or http://.
    url: String,
    /// The method, such as GET or POST.
    #[serde(default = "get")]
    #[schemars(regex(pattern = "^[A-Za-z]{1,16}$"))]
    method: String,
    /// Headers by name.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// What to set in the address after its question mark, by name.
    #[serde(default)]
    query_params: BTreeMap<String, String>,
    /// What to send; not for GET and HEAD.
    body: Option<String>,
    /// After how many milliseconds to give up. What the task allows a tool may be less.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 1, max = 3600000))]
    timeout: u64,
}

fn get() -> String {
    "GET".to_owned()
}

fn half_a_minute() -> u64 {
    30_000
}

/// The method of a call, in upper case.
fn method(args: &Value) -> String {
    args.get("method")
        .and_then(Value::as_str)
        .unwrap_or("GET")
        .to_ascii_uppercase()
}

#[async_trait]
impl Tool for HttpRequest {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "http_request".to_owned(),
            description: "Asks a host of the web and returns { status, statusText, headers, body }, whatever the \
                status. Redirects are followed; the body is text of at most 5 MB."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let host = args
            .get("url")
            .and_then(Value::as_str)
            .and_then(|url| self.web.host(url).ok());
        let effect = !only_reads(&method(args));
        host.map(|host| Access::Network { host, effect }).into_iter().collect()
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        let method = method(args);
        if only_reads(&method) {
            return None;
        }
        let url = args.get("url").and_then(Value::as_str)?;
        Some(OutsideEffect {
            what: format!("{method} {url}"),
            output: json!({
                "status": null, "statusText": "", "headers": {}, "body": "",
                "note": "the app ended while this request was under way; a person says that it was done",
            }),
        })
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let request = WebRequest {
            method: input.method.to_ascii_uppercase(),
            url: input.url,
            query: input.query_params.into_iter().collect(),
            headers: input.headers.into_iter().collect(),
            secret: None,
            body: input.body,
            timeout: Duration::from_millis(input.timeout.min(context.limit_ms)),
            hosts: context.granted.hosts.clone(),
        };
        let answer = self.web.send(request).await.map_err(|error| ToolError {
            retryable: error.retryable(),
            message: error.to_string(),
        })?;
        let headers: Map<String, Value> = answer
            .headers
            .into_iter()
            .map(|(name, value)| (name, Value::from(value)))
            .collect();
        Ok(ToolOutput::value(json!({
            "status": answer.status,
            "statusText": answer.status_text,
            "headers": headers,
            "body": answer.body,
        })))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use contract::access::{Granted, HostGrant};
    use contract::ports::web::{WebError, WebResponse};

    use super::*;
    use crate::test_place::place;

    #[derive(Default)]
    struct Heard(Mutex<Vec<WebRequest>>);

    #[async_trait]
    impl Web for Heard {
        fn host(&self, url: &str) -> Result<String, WebError> {
            let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
            host.map(str::to_owned).ok_or(WebError::TooLarge)
        }

        async fn send(&self, request: WebRequest) -> Result<WebResponse, WebError> {
            self.0.lock().unwrap().push(request);
            Ok(WebResponse {
                status: 404,
                status_text: "Not Found".to_owned(),
                headers: vec![("a".to_owned(), "b".to_owned())],
                body: "no".to_owned(),
            })
        }
    }

    fn tool() -> (HttpRequest, Arc<Heard>) {
        let web = Arc::new(Heard::default());
        let tool = HttpRequest {
            web: Arc::clone(&web) as _,
        };
        (tool, web)
    }

    #[tokio::test]
    async fn sends_what_it_is_told_to_the_hosts_that_were_granted() {
        let (tool, web) = tool();
        let mut place = place(&[]);
        let hosts = vec![HostGrant {
            host: "a.org".to_owned(),
            change: true,
            private: false,
        }];
        place.context.granted = Arc::new(Granted {
            hosts: hosts.clone(),
            ..Granted::default()
        });
        let args = json!({
            "url": "https://a.org/x", "method": "post", "body": "words", "headers": {"x": "y"},
            "queryParams": {"q": "1"}, "timeout": 5,
        });
        let done = place.run(&tool, args).await;
        assert_eq!(
            done,
            Ok(json!({"status": 404, "statusText": "Not Found", "headers": {"a": "b"}, "body": "no"}))
        );
        let expected = WebRequest {
            method: "POST".to_owned(),
            url: "https://a.org/x".to_owned(),
            query: vec![("q".to_owned(), "1".to_owned())],
            headers: vec![("x".to_owned(), "y".to_owned())],
            secret: None,
            body: Some("words".to_owned()),
            timeout: Duration::from_millis(5),
            hosts,
        };
        assert_eq!(*web.0.lock().unwrap(), [expected]);
    }

    #[test]
    fn says_which_host_and_whether_something_changes_there() {
        let (tool, _) = tool();
        let check = |args: Value, effect: bool| {
            let host = "a.org".to_owned();
            assert_eq!(tool.access(&args), [Access::Network { host, effect }]);
            assert_eq!(tool.outside_effect(&args).is_some(), effect);
        };
        check(json!({"url": "https://a.org/"}), false);
        check(json!({"url": "https://a.org/", "method": "head"}), false);
        check(json!({"url": "https://a.org/", "method": "Post"}), true);
        check(json!({"url": "https://a.org/", "method": "DELETE"}), true);
        assert_eq!(tool.access(&json!({"url": "nonsense"})), []);
    }
}
