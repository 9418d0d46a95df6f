//! `command: { run: ./look.sh, on: postPlanner }`: a command is told what happens, and may put other data in its place.

use async_trait::async_trait;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::rule::CommandRule;
use contract::step::StepError;
use contract::task_effect::TaskEffect;
use serde_json::Value;

use super::told::{failed, last_line, reply, told};

/// Runs a command at one event.
pub(super) struct RunCommand {
    pub(super) id: String,
    pub(super) event: HookEvent,
    pub(super) effect: TaskEffect,
    pub(super) rule: CommandRule,
}

#[async_trait]
impl Hook for RunCommand {
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
            Some(Ok(done)) => read(&self.rule.run, done),
            Some(Err(error)) => Err(failed(format!(
                "your rule \"{}\" could not run: {}",
                self.rule.run, error.message
            ))),
        }
    }
}

fn read(run: &str, done: &Value) -> Result<HookReply, StepError> {
    let text = |name: &str| done[name].as_str().unwrap_or_default();
    if done["timedOut"].as_bool().unwrap_or_default() {
        return Err(failed(format!("your rule \"{run}\" took too long and was ended")));
    }
    match done["exitCode"].as_i64() {
        // A person says that it did its work; what it said nobody heard.
        None => Ok(HookReply::Unchanged),
        Some(0) => reply(text("stdout"), &format!("your rule \"{run}\"")),
        Some(code) => Err(failed(format!(
            "your rule \"{run}\" ended with {code}{}",
            last_line(text("stderr"))
        ))),
    }
}

#[cfg(test)]
mod tests {
    use contract::ports::hook::CycleMetadata;
    use serde_json::json;

    use super::*;

    fn call(done: Option<Result<Value, StepError>>) -> Result<HookReply, StepError> {
        let rule = CommandRule {
            run: "./look.sh".to_owned(),
            on: vec![HookEvent::PostPlanner],
            timeout: 1_000,
            continue_on_error: true,
        };
        let hook = RunCommand {
            id: "rule-1".to_owned(),
            event: HookEvent::PostPlanner,
            effect: TaskEffect::Command(rule.clone()),
            rule,
        };
        assert!(hook.continue_on_error() && !hook.may_change_plans());
        let meta = CycleMetadata {
            cycle_number: 2,
            total_cycles_used: 1,
            tokens_used: 30,
        };
        let context = HookContext::new(meta, None).after(done.as_ref());
        futures::executor::block_on(hook.call(&json!({ "steps": [] }), &context))
    }

    fn ended(exit: i64, stdout: &str) -> Option<Result<Value, StepError>> {
        let done = json!({ "exitCode": exit, "stdout": stdout, "stderr": "a\nwhy\n", "timedOut": false });
        Some(Ok(done))
    }

    #[test]
    fn it_is_told_the_event_the_cycle_and_the_data_and_does_nothing_by_itself() {
        let Ok(HookReply::Perform { effect, input }) = call(None) else {
            panic!("it has to ask for it")
        };
        assert!(matches!(effect, TaskEffect::Command(rule) if rule.run == "./look.sh"));
        let told: Value = serde_json::from_str(&input).unwrap();
        let cycle = json!({ "cycleNumber": 2, "totalCyclesUsed": 1, "tokensUsed": 30 });
        assert_eq!(
            told,
            json!({ "event": "postPlanner", "cycle": cycle, "data": { "steps": [] } })
        );
    }

    #[test]
    fn what_it_writes_stands_in_the_place_of_the_data() {
        assert_eq!(call(ended(0, "{\"a\": 1}")), Ok(HookReply::Replaced(json!({ "a": 1 }))));
        assert_eq!(call(ended(0, "")), Ok(HookReply::Unchanged));
    }

    #[test]
    fn a_failure_says_how_it_ended() {
        let message = |done| call(done).unwrap_err().message;
        assert_eq!(message(ended(3, "{}")), "your rule \"./look.sh\" ended with 3: why");
        assert!(message(ended(0, "hello")).contains("neither JSON nor nothing"));
        let late = json!({ "exitCode": 137, "stdout": "", "stderr": "", "timedOut": true });
        assert!(message(Some(Ok(late))).contains("took too long"));
        let refused = StepError::new("permission_denied", "no");
        assert!(message(Some(Err(refused))).contains("could not run: no"));
    }
}
