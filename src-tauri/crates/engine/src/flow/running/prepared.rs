//! A step that is about to run, with everything it needs from the state already in it: nothing of the
//! state is looked at while a step works, so that branches cannot see each other.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use contract::event::Purpose;
use contract::flow::{AgentMode, Dialect};
use contract::hash::Hash;
use contract::llm::Message;
use contract::step::{StepError, code};
use serde_json::{Map, Value, json};

use super::declared::{self, Given};
use super::program::{Body, Mode, Stage, Work};
use super::runner::Runner;
use super::state::State;
use crate::flow::input::{InputSchema, USER_QUERY};
use crate::template::{self, Mapping, Path, Scope, Template};

/// A step with its inputs.
pub(super) struct Prepared<'a> {
    /// What it alone is given, for the journal; none when it sees the state around it.
    pub(super) inputs: Option<Value>,
    pub(super) job: Job<'a>,
}

/// What is to be done.
pub(super) enum Job<'a> {
    Ask(Question),
    Tool {
        tool: &'a str,
        args: Value,
        /// The same with what templates came to as texts, which is what a manifest's tools are given.
        texts: Option<Value>,
    },
    Agent {
        question: Question,
        tools: &'a [String],
        mode: AgentMode,
        args: Fixed<'a>,
    },
    Body {
        body: &'a Body,
        given: Given,
        /// One run of the body for each.
        items: Option<(Vec<Value>, Option<usize>)>,
    },
    Gate {
        text: String,
        question: Option<&'a Value>,
    },
    Answer(String),
    Task {
        goal: String,
        context: Value,
        expected: Value,
    },
}

/// Arguments of an agent's tools that need no model, and what they refer to.
pub(super) struct Fixed<'a> {
    args: &'a [(String, Mapping)],
    seen: Map<String, Value>,
}

impl<'a> Fixed<'a> {
    fn of(args: &'a [(String, Mapping)], scope: &dyn Scope) -> Self {
        let references = args.iter().flat_map(|(_, mapping)| mapping.references());
        let mut seen = Map::new();
        for (_, reference) in references {
            if let Some((name, value)) = reference.path.find_root(scope)
                && !seen.contains_key(name)
            {
                seen.insert(name.to_owned(), value.clone());
            }
        }
        Self { args, seen }
    }

    /// Those of a tool, after `results` of the tools before it; none when a model makes them.
    ///
    /// # Errors
    /// As [`Mapping::value`].
    pub(super) fn of_tool(&self, tool: &str, results: &Map<String, Value>) -> Option<Result<Value, StepError>> {
        let (_, mapping) = self.args.iter().find(|(name, _)| name == tool)?;
        Some(mapping.value(&(results, &self.seen)))
    }
}

/// Words for a model.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) purpose: Purpose,
    pub(super) model: Arc<str>,
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) schema: Option<Value>,
    pub(super) temperature: f32,
    pub(super) max_tokens: u32,
    pub(super) definition: Value,
    pub(super) inputs: BTreeMap<String, Hash>,
}

/// What a step sees: what it reads, over the state; or only what it is given, and the conversation.
enum Seen<'a> {
    Around(Map<String, Value>, &'a State),
    Alone(Map<String, Value>, &'a State),
}

impl Scope for Seen<'_> {
    fn root(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Around(reads, state) => reads.get(name).or_else(|| state.root(name)),
            Self::Alone(given, state) if name == "messages" => given.get(name).or_else(|| state.root(name)),
            Self::Alone(given, _) => given.get(name),
        }
    }

    fn by_id(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Around(_, state) => state.by_id(name),
            Self::Alone(..) => None,
        }
    }

    fn has_ids_below(&self, name: &str) -> bool {
        match self {
            Self::Around(reads, state) => !reads.contains_key(name) && state.has_ids_below(name),
            Self::Alone(..) => false,
        }
    }
}

/// Prepares a step against the state around it.
///
/// # Errors
/// `not_found` for a `ref` that leads nowhere; what a template comes to is too large; a list that is none.
pub(super) fn prepare<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    stage: &'a Stage,
    state: &State,
) -> Result<Prepared<'a>, StepError> {
    let reads = match &stage.reads {
        Some(reads) => Some(resolve(reads, state)?),
        None => None,
    };
    let given = || match &reads {
        Some(reads) => Given::Explicit(reads.clone()),
        None => state.given(),
    };
    if let Some((inner, items)) = inner(runner, stage)? {
        let items = match items {
            Some((items, most)) => {
                let scope = Seen::Around(reads.clone().unwrap_or_default(), state);
                Some((list(items, &scope, &stage.key)?, most))
            }
            None => None,
        };
        let given = given();
        let inputs = given.clone().into_value();
        held_to(inner.declared.as_ref(), &inputs, &stage.key)?;
        return Ok(Prepared {
            inputs: Some(inputs),
            job: Job::Body {
                body: inner,
                given,
                items,
            },
        });
    }
    let scope = if stage.is_private {
        let given = given();
        if stage.declared.is_some() {
            held_to(stage.declared.as_ref(), &given.clone().into_value(), &stage.key)?;
        }
        Seen::Alone(declared::begin(stage.declared.as_ref(), body.dialect, given), state)
    } else {
        Seen::Around(reads.unwrap_or_default(), state)
    };
    let job = job(runner, body, stage, &scope)?;
    let inputs = match scope {
        Seen::Alone(given, _) => Some(Value::Object(given)),
        Seen::Around(reads, _) if !reads.is_empty() => Some(Value::Object(reads)),
        Seen::Around(..) => None,
    };
    Ok(Prepared { inputs, job })
}

/// Holds what a step is given against what it declares, as what the whole flow is given is.
fn held_to(declared: Option<&InputSchema>, given: &Value, key: &str) -> Result<(), StepError> {
    let problems = declared.map(|declared| declared.problems(given)).unwrap_or_default();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("the input of \"{key}\" does not fit: {}", problems.join("; "));
    Err(StepError::new(code::INPUT_VALIDATION, message))
}

type Items<'a> = Option<(&'a Mapping, Option<usize>)>;

/// The steps inside a step, and the list that they are run for.
fn inner<'a>(runner: &Runner<'a>, stage: &'a Stage) -> Result<Option<(&'a Body, Items<'a>)>, StepError> {
    let body: &'a Body = match &stage.work {
        Work::Group(body) => body,
        Work::Ref(id) => {
            let found = runner.program.refs.get(id).ok_or_else(|| {
                let message = format!(
                    "\"{}\" refers to \"{id}\", and there is no such flow or agent",
                    stage.key
                );
                StepError::new(code::NOT_FOUND, message)
            })?;
            &found.body
        }
        _ => return Ok(None),
    };
    let items = match &body.mode {
        Mode::ForEach { items, concurrency } => Some((items, *concurrency)),
        Mode::Sequence { .. } | Mode::Parallel => None,
    };
    Ok(Some((body, items)))
}

fn list(items: &Mapping, scope: &dyn Scope, key: &str) -> Result<Vec<Value>, StepError> {
    match items.value(scope)? {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(Vec::new()),
        _ => Err(StepError::new(
            code::INPUT_VALIDATION,
            format!("\"{key}\" works through a list, and what it is given is none"),
        )),
    }
}

fn job<'a>(runner: &Runner<'a>, body: &Body, stage: &'a Stage, scope: &Seen<'_>) -> Result<Job<'a>, StepError> {
    Ok(match &stage.work {
        Work::Ask {
            instructions,
            prompt,
            temperature,
            max_tokens,
        } => {
            let question = Question {
                temperature: *temperature,
                max_tokens: *max_tokens,
                ..question(runner, body, stage, scope, instructions, prompt.as_ref())?
            };
            Job::Ask(question)
        }
        Work::Agent {
            instructions,
            tools,
            mode,
            args,
            temperature,
            max_tokens,
        } => Job::Agent {
            question: Question {
                temperature: *temperature,
                max_tokens: *max_tokens,
                ..question(runner, body, stage, scope, instructions, None)?
            },
            tools,
            mode: *mode,
            args: Fixed::of(args, scope),
        },
        Work::Tool { tool, args } => {
            let filled = Value::Object(resolve(args, scope)?);
            let texts = (body.dialect == Dialect::Manifest).then(|| as_texts(args, &filled));
            Job::Tool {
                tool,
                args: filled,
                texts,
            }
        }
        Work::Gate { text, question } => Job::Gate {
            text: text.render(scope)?,
            question: question.as_ref(),
        },
        Work::Answer { text } if stage.model.is_some() => {
            let question = Question {
                purpose: Purpose::Answer,
                ..question(runner, body, stage, scope, text, None)?
            };
            Job::Ask(question)
        }
        Work::Answer { text } => Job::Answer(text.render(scope)?),
        Work::Task {
            goal,
            context,
            expected,
        } => Job::Task {
            goal: goal.render(scope)?,
            context: context.value(scope)?,
            expected: expected.value(scope)?,
        },
        Work::Group(_) | Work::Ref(_) => {
            let message = format!("\"{}\" holds steps of its own", stage.key);
            return Err(StepError::new(code::EXECUTION_FAILED, message));
        }
    })
}

fn question(
    runner: &Runner<'_>,
    body: &Body,
    stage: &Stage,
    scope: &Seen<'_>,
    instructions: &Template,
    prompt: Option<&Template>,
) -> Result<Question, StepError> {
    let mut inputs = BTreeMap::new();
    read_by(instructions, scope, &mut inputs)?;
    let messages = match prompt {
        Some(prompt) => {
            read_by(prompt, scope, &mut inputs)?;
            vec![Message::user(prompt.render(scope)?)]
        }
        None => said(runner, body, scope, &mut inputs)?,
    };
    let definition = json!({
        "step": stage.key,
        "instructions": instructions.source(),
        "prompt": prompt.map(Template::source),
        "output": stage.output,
    });
    Ok(Question {
        purpose: Purpose::Phase,
        model: runner.model_of(stage),
        system: instructions.render(scope)?,
        messages,
        schema: stage.output.clone(),
        temperature: 0.0,
        max_tokens: 4096,
        definition,
        inputs,
    })
}

/// What the person said: the run's messages, or what a manifest's child is given alone.
fn said(
    runner: &Runner<'_>,
    body: &Body,
    scope: &Seen<'_>,
    inputs: &mut BTreeMap<String, Hash>,
) -> Result<Vec<Message>, StepError> {
    let query = scope.root(USER_QUERY).map(text_of);
    let in_conversation = match body.dialect {
        Dialect::Flow | Dialect::Plan => !runner.chat.is_empty(),
        Dialect::Manifest => query.is_some() && query.as_deref() == runner.chat.last_words(),
    };
    if in_conversation {
        inputs.insert("messages".to_owned(), runner.chat.hash.clone());
        return Ok(runner.chat.turns.clone());
    }
    let words = match (query, scope) {
        (Some(query), _) => query,
        (None, Seen::Alone(given, _)) => Value::Object(given.clone()).to_string(),
        (None, Seen::Around(reads, _)) => Value::Object(reads.clone()).to_string(),
    };
    inputs.insert(USER_QUERY.to_owned(), hash(&Value::String(words.clone()))?);
    Ok(vec![Message::user(if words.is_empty() {
        "Begin.".to_owned()
    } else {
        words
    })])
}

/// A value as words: a text as it is, nothing for null, anything else as JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => template::printed(other),
    }
}

/// The values of templates by name.
pub(super) fn resolve(templates: &[(String, Mapping)], scope: &dyn Scope) -> Result<Map<String, Value>, StepError> {
    templates
        .iter()
        .map(|(name, mapping)| Ok((name.clone(), mapping.value(scope)?)))
        .collect()
}

/// Adds the addresses of what a text reads.
pub(super) fn read_by(
    template: &Template,
    scope: &dyn Scope,
    inputs: &mut BTreeMap<String, Hash>,
) -> Result<(), StepError> {
    for reference in template.references() {
        let name = reference.path.to_string();
        if let Entry::Vacant(place) = inputs.entry(name) {
            place.insert(hash(found(&reference.path, scope))?);
        }
    }
    Ok(())
}

fn found<'s>(path: &Path, scope: &'s dyn Scope) -> &'s Value {
    path.find(scope).unwrap_or(&Value::Null)
}

/// The address of a value.
pub(super) fn hash(value: &Value) -> Result<Hash, StepError> {
    Hash::of_value(value).map_err(|error| StepError::new(code::INPUT_VALIDATION, error.to_string()))
}

/// What is written without a template stays what it is.
fn as_texts(written: &[(String, Mapping)], filled: &Value) -> Value {
    let text = |(name, mapping): &(String, Mapping)| {
        let value = &filled[name.as_str()];
        let value = match mapping {
            Mapping::Plain(_) => value.clone(),
            Mapping::Template(_) | Mapping::List(_) | Mapping::Object(_) => Value::String(text_of(value)),
        };
        (name.clone(), value)
    };
    written.iter().map(text).collect()
}
