//! What the work of a flow reaches: the driver, the flows that are known, the conversation; and where
//! in the run it is.

use std::sync::Arc;

use contract::flow::{ChatMessage, ChatRole};
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::Message;
use contract::step::{StepError, code};
use serde_json::{Value, json};

use super::prepared;
use super::program::{DEEPEST, Program, Stage};
use crate::kernel::driver::Driver;
use crate::kernel::keys;

/// Given to everything that runs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Runner<'a> {
    pub(super) driver: &'a Driver,
    pub(super) program: &'a Program,
    pub(super) chat: &'a Chat,
    /// The model of the flow around, for steps that name none.
    pub(super) model: Arc<str>,
    pub(super) depth: u32,
}

impl<'a> Runner<'a> {
    /// The model of a step.
    pub(super) fn model_of(&self, stage: &Stage) -> Arc<str> {
        stage.model.clone().unwrap_or_else(|| Arc::clone(&self.model))
    }

    /// The same, one level deeper.
    pub(super) fn deeper(&self, key: &str) -> Result<Self, StepError> {
        if self.depth >= DEEPEST {
            let message = format!("\"{key}\" lies more than {DEEPEST} deep in other steps");
            return Err(StepError::new(code::FLOW_INVALID, message));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self.clone()
        })
    }

    /// The same, driven by another driver of the same run.
    pub(super) fn driven_by<'b>(&self, driver: &'b Driver) -> Runner<'b>
    where
        'a: 'b,
    {
        Runner {
            driver,
            program: self.program,
            chat: self.chat,
            model: Arc::clone(&self.model),
            depth: self.depth,
        }
    }
}

/// The conversation that a run begins with.
pub(super) struct Chat {
    /// As templates see it.
    pub(super) value: Arc<Value>,
    /// As models see it.
    pub(super) turns: Vec<Message>,
    pub(super) hash: Hash,
    last: Option<String>,
}

impl Chat {
    pub(super) fn of(messages: &[ChatMessage]) -> Result<Self, StepError> {
        let value = json!(messages);
        let turn = |message: &ChatMessage| match message.role {
            ChatRole::User => Message::user(message.content.clone()),
            ChatRole::Assistant => Message::assistant(message.content.clone()),
        };
        Ok(Self {
            hash: prepared::hash(&value)?,
            value: Arc::new(value),
            turns: messages.iter().map(turn).collect(),
            last: messages.last().map(|message| message.content.clone()),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// What was said last.
    pub(super) fn last_words(&self) -> Option<&str> {
        self.last.as_deref()
    }
}

/// Where in the run some steps are.
#[derive(Clone)]
pub(super) struct Place {
    /// The address of what they lie in; none for the flow itself.
    around: Option<Key>,
    /// The same for people: the keys of what they lie in.
    path: String,
}

impl Place {
    /// The flow itself.
    pub(super) fn outermost() -> Self {
        Self {
            around: None,
            path: String::new(),
        }
    }

    /// Inside a visit of a step, or of a part of it.
    pub(super) fn inside(visit: &Key, path: &str) -> Self {
        Self {
            around: Some(visit.clone()),
            path: path.to_owned(),
        }
    }

    /// The address of a visit.
    pub(super) fn visit(&self, stage: &Stage, visit: u32) -> Key {
        let phase = match &self.around {
            Some(around) => around.child("phase"),
            None => Key::new("phase"),
        };
        keys::attempt(&phase.child(&stage.part).child(visit), 0)
    }

    /// A step's path.
    pub(super) fn path(&self, stage: &Stage) -> String {
        if self.path.is_empty() {
            stage.key.clone()
        } else {
            format!("{}/{}", self.path, stage.key)
        }
    }
}
