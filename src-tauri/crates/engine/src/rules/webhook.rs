//! `webhook: { url: https://example.org/tepa, on: postEvaluator }`: an address is told what happens, and may put other data
//! in its place.

use async_trait::async_trait;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::rule::WebhookRule;
use contract::step::StepError;
use contract::task_effect::TaskEffect;
use serde_json::Value;

use super::told::{failed, last_line, reply, told};

/// Tells an address at one event.
pub(super) struct TellAddress {
    pub(super) id: String,
    pub(super) event: HookEvent,
    pub(super) effect: TaskEffect,
    pub(super) rule: WebhookRule,
}

#[async_trait]
impl Hook for TellAddress {
    fn id(&self) -> &str {
        &self.id
    }

    fn event(&self) -> HookEvent {
        self.event
    }

    fn continue_on_error(&self) -> bool {
        self.rule.continue_on_error
    }

    fn needs(&self) -> Option<&TaskEffect> {
        Some(&self.effect)
    }

    async fn call(&self, data: &Value, context: &HookContext<'_>) -> Result<HookReply, StepError> {
        match context.done {
            None => Ok(HookReply::Perform {
                effect: self.effect.clone(),
                input: told(self.event, context.meta, data),
            }),
            Some(Ok(done)) => read(&self.rule.url, done),
            Some(Err(error)) => Err(failed(format!(
                "your webhook \"{}\" could not be told: {}",
                self.rule.url, error.message
            ))),
        }
    }
}

fn read(url: &str, done: &Value) -> Result<HookReply, StepError> {
    let body = done["body"].as_str().unwrap_or_default();
    match done["status"].as_u64() {
        // A person says that it was told; what it said nobody heard.
        None => Ok(HookReply::Unchanged),
        Some(200..=299) => reply(body, &format!("your webhook \"{url}\"")),
        Some(status) => Err(failed(format!(
            "your webhook \"{url}\" answered with {status}{}",
            last_line(body)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(done: Value, expected: Result<HookReply, &str>) {
        match (read("https://a.org", &done), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => assert!(error.message.contains(expected), "{}", error.message),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn only_a_good_answer_counts_and_an_empty_one_lets_the_data_pass() {
        check(json!({ "status": 204, "body": "" }), Ok(HookReply::Unchanged));
        check(
            json!({ "status": 200, "body": "[1]" }),
            Ok(HookReply::Replaced(json!([1]))),
        );
        check(json!({ "status": null, "body": "" }), Ok(HookReply::Unchanged));
        check(json!({ "status": 200, "body": "ok" }), Err("neither JSON nor nothing"));
        check(
            json!({ "status": 503, "body": "{}\nbusy" }),
            Err("answered with 503: busy"),
        );
        check(json!({ "status": 302, "body": "" }), Err("answered with 302"));
    }
}
