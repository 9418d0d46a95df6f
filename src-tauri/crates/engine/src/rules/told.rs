//! What a command or a webhook is told, and how what it says is read (goal-pipeline page, "Events"): JSON, or nothing.

use contract::ports::hook::{CycleMetadata, HookEvent, HookReply};
use contract::step::{StepError, code};
use serde_json::{Value, json};

/// What it is told: the event, where the run stands, and the data that a hook of this event is given.
pub(super) fn told(event: HookEvent, meta: CycleMetadata, data: &Value) -> String {
    json!({ "event": event, "cycle": meta, "data": data }).to_string()
}

/// What it says: nothing (and `null`) lets the data pass, anything else stands in its place.
///
/// # Errors
/// `callback_error` when it is no JSON.
pub(super) fn reply(words: &str, who: &str) -> Result<HookReply, StepError> {
    if words.trim().is_empty() {
        return Ok(HookReply::Unchanged);
    }
    match serde_json::from_str(words) {
        Ok(Value::Null) => Ok(HookReply::Unchanged),
        Ok(data) => Ok(HookReply::Replaced(data)),
        Err(error) => Err(failed(format!(
            "{who} answered with something that is neither JSON nor nothing: {error}"
        ))),
    }
}

/// The failure of a rule.
pub(super) fn failed(message: String) -> StepError {
    StepError::new(code::CALLBACK_ERROR, message)
}

/// The last of what was said, in one line.
pub(super) fn last_line(text: &str) -> String {
    const SHOWN: usize = 200;
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    let line: String = line.unwrap_or_default().chars().take(SHOWN).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_through_and_json_stands_in_its_place() {
        assert_eq!(reply(" \n", "it"), Ok(HookReply::Unchanged));
        assert_eq!(reply("null", "it"), Ok(HookReply::Unchanged));
        assert_eq!(reply("{\"a\": 1}\n", "it"), Ok(HookReply::Replaced(json!({ "a": 1 }))));
        let error = reply("done!", "the command").unwrap_err();
        assert_eq!(error.code, code::CALLBACK_ERROR);
        assert!(error.message.starts_with("the command answered"), "{}", error.message);
    }
}
