//! Rules: hooks that a person writes without code (goal-pipeline page, "Events": "who may hook in"). In a task's file
//! they are requests; a run has those that a person allowed.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::ports::hook::HookEvent;
use crate::task_effect::TaskEffect;

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum HookRule {
    /// Ask me first.
    AskMe(AskMe),
    /// Never use this tool.
    Forbid(String),
    /// No plan has more steps.
    MaxSteps(u32),
    /// End the run at a verdict of lower confidence, or at a failed one of higher.
    Stop(Confidence),
    /// Accept a failed verdict of such confidence.
    Accept(Confidence),
    /// Run this command, which is told what happens and may say otherwise.
    Command(CommandRule),
    /// Tell this address what happens; it may say otherwise.
    Webhook(WebhookRule),
}

/// A command as a rule: JSON on its standard input, JSON or nothing on its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandRule {
    /// The command line, for the system's shell, in the working folder.
    pub run: String,
    /// When it is run.
    #[serde(deserialize_with = "one_or_more")]
    pub on: Vec<HookEvent>,
    /// After how many milliseconds it is ended; what the task allows a tool may be less.
    #[serde(default = "half_a_minute")]
    #[ts(type = "number")]
    pub timeout: u64,
    /// Whether the run goes on when it fails.
    #[serde(default)]
    pub continue_on_error: bool,
}

/// A webhook as a rule: JSON in the body of a POST, JSON or nothing in that of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookRule {
    /// The address, beginning with https:// or http://.
    pub url: String,
    /// When it is told.
    #[serde(deserialize_with = "one_or_more")]
    pub on: Vec<HookEvent>,
    /// After how many milliseconds it is given up; what the task allows a tool may be less.
    #[serde(default = "half_a_minute")]
    #[ts(type = "number")]
    pub timeout: u64,
    /// Whether the run goes on when it fails.
    #[serde(default)]
    pub continue_on_error: bool,
}

fn half_a_minute() -> u64 {
    30_000
}

/// One place may be written without a list around it.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HookEvent>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(HookEvent),
        Several(Vec<HookEvent>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(event) => vec![event],
        Written::Several(events) => events,
    })
}

/// When a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AskMe {
    /// Before every plan, whatever was allowed before.
    Plan,
    /// Before every step.
    Step,
    /// Before every step that uses this tool.
    Tool(String),
}

/// A judge's confidence in its verdict, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Confidence {
    /// Lower than this.
    Below(f64),
    /// Higher than this.
    Above(f64),
}

impl Confidence {
    /// Whether a confidence is meant.
    pub fn holds(self, confidence: f64) -> bool {
        match self {
            Self::Below(bound) => confidence < bound,
            Self::Above(bound) => confidence > bound,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Below(bound) => format!("below {bound}"),
            Self::Above(bound) => format!("above {bound}"),
        }
    }
}

/// What a rule may look like, for whoever wrote another thing.
const SHAPES: &str = "write one of askMe: plan, askMe: step, askMe: { tool: NAME }, forbid: TOOL, maxSteps: 6, \
    stop: { below: 0.3 }, accept: { above: 0.9 }, command: { run: ./look.sh, on: postPlanner }, \
    webhook: { url: \"https://example.org/tepa\", on: [postPlanner, postEvaluator] }";

/// What a rule that reaches out may look like.
const REACHING: &str = "write what to do and when: `run` or `url`, `on` (one or a list of prePlanner, postPlanner, \
    preExecutor, preStep, postStep, postExecutor, preEvaluator, postEvaluator), and if you want `timeout` (milliseconds) and \
    `continueOnError`";

/// The longest that a rule may wait, in milliseconds.
const LONGEST: u64 = 3_600_000;

impl HookRule {
    /// Reads a rule as a task's file writes it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(value: &Value) -> Result<Self, String> {
        let reaches = |key: &str| value.get(key).is_some();
        let rule: Self = serde_json::from_value(value.clone()).map_err(|_| {
            if reaches("command") || reaches("webhook") {
                REACHING
            } else {
                SHAPES
            }
            .to_owned()
        })?;
        match &rule {
            Self::MaxSteps(0) => Err("maxSteps: write a whole number, 1 or more".to_owned()),
            Self::Forbid(tool) | Self::AskMe(AskMe::Tool(tool)) if tool.trim().is_empty() => {
                Err("write the name of a tool".to_owned())
            }
            Self::Stop(Confidence::Below(bound) | Confidence::Above(bound))
            | Self::Accept(Confidence::Below(bound) | Confidence::Above(bound))
                if !(0.0..=1.0).contains(bound) =>
            {
                Err("write a confidence from 0 to 1".to_owned())
            }
            Self::Command(CommandRule { on, timeout, .. }) | Self::Webhook(WebhookRule { on, timeout, .. })
                if !are_places(on) || !(1..=LONGEST).contains(timeout) =>
            {
                Err(REACHING.to_owned())
            }
            Self::Command(rule) if rule.run.trim().is_empty() => Err("write the command to run".to_owned()),
            Self::Webhook(rule) if !is_address(&rule.url) => {
                Err("write an address that begins with https:// or http://".to_owned())
            }
            Self::AskMe(_)
            | Self::Forbid(_)
            | Self::MaxSteps(_)
            | Self::Stop(_)
            | Self::Accept(_)
            | Self::Command(_)
            | Self::Webhook(_) => Ok(rule),
        }
    }

    /// What it has the app do by itself, which a person allows by its content; none for a rule that only decides.
    pub fn effect(&self) -> Option<TaskEffect> {
        match self {
            Self::Command(rule) => Some(TaskEffect::Command(rule.clone())),
            Self::Webhook(rule) => Some(TaskEffect::Webhook(rule.clone())),
            Self::AskMe(_) | Self::Forbid(_) | Self::MaxSteps(_) | Self::Stop(_) | Self::Accept(_) => None,
        }
    }

    /// The rule as a sentence, to show before it is allowed.
    pub fn words(&self) -> String {
        match self {
            Self::AskMe(AskMe::Plan) => "Ask me before every plan".to_owned(),
            Self::AskMe(AskMe::Step) => "Ask me before every step".to_owned(),
            Self::AskMe(AskMe::Tool(tool)) => format!("Ask me before a step uses \"{tool}\""),
            Self::Forbid(tool) => format!("Never use \"{tool}\""),
            Self::MaxSteps(most) => format!("At most {most} steps in a plan"),
            Self::Stop(confidence @ Confidence::Below(_)) => {
                format!("Stop when results are judged with a confidence {}", confidence.words())
            }
            Self::Stop(confidence) => {
                format!(
                    "Stop when a check of the results fails with a confidence {}",
                    confidence.words()
                )
            }
            Self::Accept(confidence) => {
                format!("Accept results that fail with a confidence {}", confidence.words())
            }
            Self::Command(CommandRule { run, on, .. }) => format!("Run \"{run}\" {}", when(on)),
            Self::Webhook(WebhookRule { url, on, .. }) => format!("Tell \"{url}\" {}", when(on)),
        }
    }
}

fn when(on: &[HookEvent]) -> String {
    let places: Vec<&str> = on.iter().map(|event| event.words()).collect();
    places.join(", ")
}

/// At least one, and none twice.
fn are_places(on: &[HookEvent]) -> bool {
    let is_first = |(place, event): (usize, &HookEvent)| !on[..place].contains(event);
    !on.is_empty() && on.iter().enumerate().all(is_first)
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.trim().is_empty()) && !url.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: Value, expected: Result<&str, &str>) {
        match (HookRule::read(&value).map(|rule| rule.words()), expected) {
            (Ok(words), Ok(expected)) => assert_eq!(words, expected),
            (Err(words), Err(expected)) => assert!(words.contains(expected), "{words}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn reads_every_rule() {
        check(json!({ "askMe": "plan" }), Ok("Ask me before every plan"));
        check(json!({ "askMe": "step" }), Ok("Ask me before every step"));
        check(
            json!({ "askMe": { "tool": "file_write" } }),
            Ok("Ask me before a step uses \"file_write\""),
        );
        check(json!({ "forbid": "shell" }), Ok("Never use \"shell\""));
        check(json!({ "maxSteps": 6 }), Ok("At most 6 steps in a plan"));
        check(
            json!({ "stop": { "below": 0.3 } }),
            Ok("Stop when results are judged with a confidence below 0.3"),
        );
        check(
            json!({ "stop": { "above": 0.9 } }),
            Ok("Stop when a check of the results fails with a confidence above 0.9"),
        );
        check(
            json!({ "accept": { "above": 0.9 } }),
            Ok("Accept results that fail with a confidence above 0.9"),
        );
        check(
            json!({ "command": { "run": "./look.sh", "on": "postPlanner" } }),
            Ok("Run \"./look.sh\" after planning"),
        );
        check(
            json!({ "webhook": { "url": "https://a.org/x", "on": ["preStep", "postStep"], "timeout": 500 } }),
            Ok("Tell \"https://a.org/x\" before each step, after each step"),
        );
    }

    #[test]
    fn says_what_a_rule_looks_like() {
        check(json!({ "command": "./look.sh" }), Err("write what to do and when"));
        check(
            json!({ "command": { "run": "ls", "on": [] } }),
            Err("write what to do and when"),
        );
        check(
            json!({ "command": { "run": "ls", "on": ["preStep", "preStep"] } }),
            Err("write what to do and when"),
        );
        check(
            json!({ "command": { "run": "ls", "on": "preStep", "timeout": 0 } }),
            Err("write what to do and when"),
        );
        check(
            json!({ "command": { "run": "ls", "on": "preStep", "shell": "sh" } }),
            Err("write what to do and when"),
        );
        check(
            json!({ "command": { "run": " ", "on": "preStep" } }),
            Err("write the command"),
        );
        check(
            json!({ "webhook": { "url": "ftp://example.org", "on": "preStep" } }),
            Err("begins with https://"),
        );
        check(json!({ "askMe": "sometimes" }), Err("write one of"));
        check(json!({ "maxSteps": 0 }), Err("1 or more"));
        check(json!({ "stop": { "below": 7 } }), Err("from 0 to 1"));
        check(json!("forbid"), Err("write one of"));
    }
}
