//! `task_webhook`: tells an address that the task itself brings what happens. No plan can name it: the address is what a
//! person allowed by its content.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::ports::web::{Web, WebRequest};
use contract::rule::WebhookRule;
use contract::task_effect::TaskEffect;
use serde_json::{Value, json};

use crate::task_effects::{Carried, schema};

pub(crate) struct TaskWebhook {
    pub(crate) web: Arc<dyn Web>,
}

fn webhook(args: &Value) -> Result<(WebhookRule, String), ToolError> {
    let Carried { effect, input } = Carried::read(args)?;
    match effect {
        TaskEffect::Webhook(rule) => Ok((rule, input)),
        TaskEffect::Check { .. } | TaskEffect::Command(_) => Err(ToolError::new("a command is no webhook")),
    }
}

#[async_trait]
impl Tool for TaskWebhook {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "task_webhook".to_owned(),
            description: "Tells an address that the task brings what happens.".to_owned(),
            parameters: schema(),
            has_effects: true,
        }
    }

    /// The effect first; its host is allowed with it, and no other.
    fn access(&self, args: &Value) -> Vec<Access> {
        let Ok((rule, _)) = webhook(args) else {
            return Vec::new();
        };
        let host = self.web.host(&rule.url).ok();
        let network = host.map(|host| Access::Network { host, effect: true });
        let effect = TaskEffect::Webhook(rule);
        std::iter::once(Access::TaskEffect { effect }).chain(network).collect()
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        let (rule, _) = webhook(args).ok()?;
        Some(OutsideEffect {
            what: format!("POST {}", rule.url),
            output: json!({
                "status": null, "statusText": "", "body": "",
                "note": "the app ended while this request was under way; a person says that it was done",
            }),
        })
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (rule, input) = webhook(&args)?;
        let request = WebRequest {
            method: "POST".to_owned(),
            url: rule.url,
            query: Vec::new(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            secret: None,
            body: Some(input),
            timeout: Duration::from_millis(rule.timeout.min(context.limit_ms)),
            hosts: context.granted.hosts.clone(),
        };
        let answer = self.web.send(request).await.map_err(|error| ToolError {
            retryable: error.retryable(),
            message: error.to_string(),
        })?;
        Ok(ToolOutput::value(json!({
            "status": answer.status,
            "statusText": answer.status_text,
            "body": answer.body,
        })))
    }
}
