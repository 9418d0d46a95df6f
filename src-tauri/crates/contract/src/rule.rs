//! Rules: hooks that a person writes without code (goal-pipeline page, "Events": "who may hook in"). In a task's file
//! they are requests; a run has those that a person allowed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

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
    stop: { below: 0.3 }, accept: { above: 0.9 }";

impl HookRule {
    /// Reads a rule as a task's file writes it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(value: &Value) -> Result<Self, String> {
        for (key, what) in [("command", "run commands"), ("webhook", "call webhooks")] {
            if value.get(key).is_some() {
                return Err(format!(
                    "this version cannot {what} as hooks yet; take it out, or {SHAPES}"
                ));
            }
        }
        let rule: Self = serde_json::from_value(value.clone()).map_err(|_| SHAPES.to_owned())?;
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
            Self::AskMe(_) | Self::Forbid(_) | Self::MaxSteps(_) | Self::Stop(_) | Self::Accept(_) => Ok(rule),
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
        }
    }
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
    }

    #[test]
    fn says_what_a_rule_looks_like() {
        check(
            json!({ "command": "./look.sh" }),
            Err("cannot run commands as hooks yet"),
        );
        check(json!({ "webhook": "https://example.org" }), Err("cannot call webhooks"));
        check(json!({ "askMe": "sometimes" }), Err("write one of"));
        check(json!({ "maxSteps": 0 }), Err("1 or more"));
        check(json!({ "stop": { "below": 7 } }), Err("from 0 to 1"));
        check(json!("forbid"), Err("write one of"));
    }
}
