//! The events of a flow's run in latent's names. One function makes them of the run's own events, so
//! that nothing says them twice.

use std::collections::{HashMap, HashSet};
use std::fmt;

use contract::event::{Purpose, RunEvent, RunEventRecord};
use contract::ids::Key;
use contract::llm::Usage;
use contract::step::code;
use contract::value_ref::ValueRef;
use serde::Serialize;
use serde_json::Value;

/// How much of an output `PhaseCompleted` shows, in characters.
const PREVIEW: usize = 200;

/// What whoever listens to a flow hears (seed *latent-pipeline-agents*, "Event Stream").
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum FlowEvent {
    /// A phase is about to begin.
    StepBoundary,
    /// A phase begins.
    PhaseStarted {
        /// Its path.
        key: String,
        /// How often it has run before.
        visits: u32,
    },
    /// A model is asked.
    #[serde(rename = "LLMCallStart")]
    LlmCallStart {
        /// `provider:model`.
        model: String,
    },
    /// Words on the way to an answer.
    ReasoningDelta {
        /// The words.
        text: String,
    },
    /// A model has answered, or not.
    #[serde(rename = "LLMCallEnd")]
    LlmCallEnd {
        /// What it cost.
        usage: Usage,
    },
    /// A phase is done.
    PhaseCompleted {
        /// Its path.
        key: String,
        /// The beginning of its output.
        preview: String,
    },
    /// The flow goes on to another phase; never said of its end.
    PhaseRouted {
        /// The path of the phase before.
        from: String,
        /// The key of the phase after.
        to: String,
    },
    /// The answer.
    TextDelta {
        /// The words.
        text: String,
    },
    /// The flow failed; only `Usage` follows.
    Error {
        /// Why, to decide by.
        code: String,
        /// Why, in words.
        message: String,
    },
    /// What the whole run cost; the last event.
    Usage {
        /// All calls together.
        usage: Usage,
    },
}

impl fmt::Display for FlowEvent {
    /// The event in short: `PhaseStarted:classify:0`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepBoundary => formatter.write_str("StepBoundary"),
            Self::PhaseStarted { key, visits } => write!(formatter, "PhaseStarted:{key}:{visits}"),
            Self::LlmCallStart { .. } => formatter.write_str("LLMCallStart"),
            Self::ReasoningDelta { .. } => formatter.write_str("ReasoningDelta"),
            Self::LlmCallEnd { .. } => formatter.write_str("LLMCallEnd"),
            Self::PhaseCompleted { key, .. } => write!(formatter, "PhaseCompleted:{key}"),
            Self::PhaseRouted { from, to } => write!(formatter, "PhaseRouted:{from}>{to}"),
            Self::TextDelta { .. } => formatter.write_str("TextDelta"),
            Self::Error { .. } => formatter.write_str("Error"),
            Self::Usage { .. } => formatter.write_str("Usage"),
        }
    }
}

/// Makes a flow's events of its run's entries, in order.
#[derive(Debug, Default)]
pub struct FlowEvents {
    usage: Usage,
    /// The calls whose words are the answer itself.
    answering: HashMap<String, bool>,
    /// The calls whose words were told as they came.
    told: HashSet<String>,
    /// By the address of a step in its state: the last visit in which it ran, and how often it ran before that one.
    ran: HashMap<String, (u32, u32)>,
}

impl FlowEvents {
    /// How often a step ran before this visit in the same state: a visit that skipped it does not count.
    fn ran_before(&mut self, key: &Key, visit: u32) -> u32 {
        let place = key.as_str().rsplit_once('/').map_or("", |(place, _)| place);
        match self.ran.get_mut(place) {
            None => {
                self.ran.insert(place.to_owned(), (visit, 0));
                0
            }
            Some((last, before)) => {
                *before += u32::from(*last != visit);
                *last = visit;
                *before
            }
        }
    }

    /// The event that words make while a call is still at work; none for the words of the answer, which are told when it
    /// is whole. What was told like this is not told again at the end of the call.
    pub fn say(&mut self, call: &Key, words: &str) -> Option<FlowEvent> {
        if words.is_empty() || *self.answering.get(call.as_str())? {
            return None;
        }
        self.told.insert(call.as_str().to_owned());
        let text = words.to_owned();
        Some(FlowEvent::ReasoningDelta { text })
    }

    /// The events that an entry makes. `value` brings what an entry names when it is too large to stand
    /// in it; an excerpt is said where it brings nothing.
    pub fn take(&mut self, record: &RunEventRecord, value: &dyn Fn(&ValueRef) -> Option<Value>) -> Vec<FlowEvent> {
        let full = |named: &ValueRef| named.inline.clone().or_else(|| value(named));
        match &record.event {
            RunEvent::PhaseStarted { phase, visit, .. } => vec![
                FlowEvent::StepBoundary,
                FlowEvent::PhaseStarted {
                    key: phase.clone(),
                    visits: self.ran_before(&record.key, *visit),
                },
            ],
            RunEvent::ModelCallStarted { model, purpose, .. } => {
                let key = record.key.as_str().trim_end_matches(":started");
                // An answer inside a step is on the way to the flow's own.
                let own = key.matches("phase/").count() <= 1;
                let silent = match purpose {
                    Purpose::Answer => own,
                    Purpose::Guardrail => true,
                    Purpose::Plan
                    | Purpose::Arguments
                    | Purpose::Reasoning
                    | Purpose::Agent
                    | Purpose::Judge
                    | Purpose::Phase => false,
                };
                self.answering.insert(key.to_owned(), silent);
                vec![FlowEvent::LlmCallStart { model: model.clone() }]
            }
            RunEvent::ModelAttempted { attempt } => {
                if let Some(usage) = &attempt.usage {
                    add(&mut self.usage, usage);
                }
                Vec::new()
            }
            RunEvent::ModelCallFinished { response, .. } => {
                let mut events = Vec::new();
                let is_answer = self.answering.remove(record.key.as_str()).unwrap_or_default();
                let silent = self.told.remove(record.key.as_str()) || is_answer;
                if let (Some(response), false) = (response, silent) {
                    let text = match full(&response.value) {
                        Some(value) => value["text"].as_str().unwrap_or_default().to_owned(),
                        None => response.value.excerpt.clone().unwrap_or_default(),
                    };
                    if !text.is_empty() {
                        events.push(FlowEvent::ReasoningDelta { text });
                    }
                }
                events.push(FlowEvent::LlmCallEnd {
                    usage: response.as_ref().map(|response| response.usage).unwrap_or_default(),
                });
                events
            }
            RunEvent::PhaseFinished {
                phase,
                output: Some(output),
                error: None,
                ..
            } => vec![FlowEvent::PhaseCompleted {
                key: phase.clone(),
                preview: preview(output),
            }],
            RunEvent::PhaseRouted { from, to: Some(to), .. } => vec![FlowEvent::PhaseRouted {
                from: from.clone(),
                to: beside(from, to),
            }],
            RunEvent::AnswerGiven { text, .. } => {
                let text = match full(text) {
                    Some(Value::String(text)) => text,
                    Some(other) => other.to_string(),
                    None => text.excerpt.clone().unwrap_or_default(),
                };
                vec![FlowEvent::TextDelta { text }]
            }
            RunEvent::RunFinished { result } => {
                let mut events = Vec::new();
                if let Some(error) = &result.error
                    && error.code != code::BLOCKED_BY_GUARDRAIL
                {
                    events.push(FlowEvent::Error {
                        code: error.code.clone(),
                        message: error.message.clone(),
                    });
                }
                events.push(FlowEvent::Usage { usage: self.usage });
                events
            }
            _ => Vec::new(),
        }
    }
}

fn preview(output: &ValueRef) -> String {
    let text = match (&output.inline, &output.excerpt) {
        (Some(Value::String(text)), _) | (None, Some(text)) => text.clone(),
        (Some(value), _) => value.to_string(),
        (None, None) => String::new(),
    };
    text.chars().take(PREVIEW).collect()
}

fn add(sum: &mut Usage, usage: &Usage) {
    sum.input = sum.input.saturating_add(usage.input);
    sum.output = sum.output.saturating_add(usage.output);
    sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
    sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
    sum.reasoning = sum.reasoning.saturating_add(usage.reasoning);
}

/// The path of a step that lies beside another one.
fn beside(path: &str, key: &str) -> String {
    match path.rsplit_once('/') {
        Some((around, _)) => format!("{around}/{key}"),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests;
