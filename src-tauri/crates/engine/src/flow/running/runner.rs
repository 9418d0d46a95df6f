//! What the work of a flow reaches: the driver, the flows that are known, the conversation; and where
//! in the run it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contract::flow::{ChatMessage, ChatRole};
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::Message;
use contract::step::{StepError, code};
use serde_json::{Value, json};

use super::effects::Effects;
use super::program::{DEEPEST, Program, Stage};
use super::{Outputs, prepared};
use crate::kernel::driver::Driver;
use crate::schedule::Turn;

/// Given to everything that runs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Runner<'a> {
    pub(super) driver: &'a Driver,
    pub(super) program: &'a Program,
    pub(super) chat: &'a Chat,
    /// What everything may do to the world.
    pub(super) effects: &'a Effects<'a>,
    /// How many steps the run has had.
    pub(super) steps: &'a Steps,
    /// Which outputs are held.
    pub(super) outputs: Outputs,
    /// The model of the flow around, for steps that name none.
    pub(super) model: Arc<str>,
    pub(super) depth: u32,
    /// The turn of whatever is beside others; none where one step follows the other.
    pub(super) turn: Option<Turn>,
}

/// How many steps a run may have, all in all: flows that name each other may come to more than any
/// limit of a single flow allows, and not all of them cost tokens.
pub(super) struct Steps {
    most: u32,
    had: AtomicU32,
}

impl Default for Steps {
    fn default() -> Self {
        Self::at_most(100_000)
    }
}

impl Steps {
    fn at_most(most: u32) -> Self {
        Self {
            most,
            had: AtomicU32::new(0),
        }
    }

    /// Counts one more, recorded or not: after a restart the run comes to the same end.
    ///
    /// # Errors
    /// `phase_limit`, when there are too many.
    pub(super) fn count(&self, path: &str) -> Result<(), StepError> {
        if self.had.fetch_add(1, Ordering::Relaxed) < self.most {
            return Ok(());
        }
        self.had.fetch_sub(1, Ordering::Relaxed);
        let message = format!(
            "\"{path}\" would be step {} of the run, and a run has at most {}: its loops, lists or flows within \
             flows come to too many",
            u64::from(self.most) + 1,
            self.most
        );
        Err(StepError::new(code::PHASE_LIMIT, message))
    }
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
            effects: self.effects,
            steps: self.steps,
            outputs: self.outputs,
            model: Arc::clone(&self.model),
            depth: self.depth,
            turn: self.turn.clone(),
        }
    }

    /// The same for one of several that are beside each other.
    pub(super) fn with_turn(&self, turn: Turn) -> Self {
        Self {
            turn: Some(turn),
            ..self.clone()
        }
    }

    /// How many may be begun at once where this many are wanted: never more than the run allows.
    pub(super) fn most_at_once(&self, wanted: Option<usize>) -> usize {
        let limit = self.driver.header.task.limits.max_parallel as usize;
        wanted.unwrap_or(limit).min(limit).max(1)
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

    /// Whether it is the flow itself.
    pub(super) fn is_outermost(&self) -> bool {
        self.around.is_none()
    }

    /// Inside a visit of a step, or of a part of it.
    pub(super) fn inside(visit: &Key, path: &str) -> Self {
        Self {
            around: Some(visit.clone()),
            path: path.to_owned(),
        }
    }

    /// The address of a visit, without its attempt.
    pub(super) fn visit(&self, stage: &Stage, visit: u32) -> Key {
        let phase = match &self.around {
            Some(around) => around.child("phase"),
            None => Key::new("phase"),
        };
        phase.child(&stage.part).child(visit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_only_so_many_steps() {
        let steps = Steps::at_most(2);
        assert_eq!((steps.count("a"), steps.count("b")), (Ok(()), Ok(())));
        for _ in 0..2 {
            let error = steps.count("c").unwrap_err();
            assert_eq!(error.code, code::PHASE_LIMIT);
            assert!(
                error.message.starts_with("\"c\" would be step 3 of the run"),
                "{}",
                error.message
            );
        }
    }
}
