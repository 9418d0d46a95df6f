//! A flow, read once: every template and condition in it is parsed before the first step runs, so
//! that running a step costs what the step costs.
//!
//! Deliberately not here: the rules that a person who writes a flow is told about, with their places.

use std::collections::HashMap;
use std::sync::Arc;

use contract::flow::{
    AgentMode, Dialect, Flow, FlowRun, FlowStep, GroupMode, GroupStep, OnFailure, Order, Route, RouteTarget, StepKind,
};
use contract::step::{StepError, code};
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::forgetting::forgotten_after;
use crate::condition::Condition;
use crate::flow::by_spelling;
use crate::flow::input::InputSchema;
use crate::kernel::keys;
use crate::template::{Mapping, Template};

/// How deep steps may lie in each other (flows page).
pub(super) const DEEPEST: u32 = 16;

/// The flow of a run and everything that it refers to.
pub(super) struct Program {
    /// The flow itself.
    pub(super) root: Arc<Body>,
    /// What a `ref` may name, by id.
    pub(super) refs: HashMap<String, Referred>,
}

/// A flow or agent that others may name.
pub(super) struct Referred {
    /// Its steps.
    pub(super) body: Arc<Body>,
    /// What a model that may call it reads.
    pub(super) description: String,
    /// JSON Schema of what it is given.
    pub(super) input: Option<Value>,
}

/// Steps with a state of their own: a flow, or a group in one.
pub(super) struct Body {
    pub(super) id: String,
    pub(super) dialect: Dialect,
    pub(super) stages: Vec<Stage>,
    pub(super) by_key: HashMap<String, usize>,
    pub(super) mode: Mode,
    pub(super) order: Order,
    pub(super) on_failure: OnFailure,
    pub(super) output: Option<Mapping>,
    pub(super) declared: Option<InputSchema>,
    pub(super) initial: usize,
    pub(super) first_answer: Option<usize>,
    /// The most steps that run; none where there is no such limit.
    pub(super) most_phases: Option<u32>,
    /// The most branches at once.
    pub(super) most_at_once: Option<usize>,
    pub(super) model: Option<Arc<str>>,
    /// For each step, the steps whose outputs nobody asks for once it is over.
    pub(super) forgotten_after: Vec<Vec<usize>>,
}

/// How the steps of a body follow each other.
pub(super) enum Mode {
    Sequence { until: Option<(Condition, u32)> },
    Parallel,
    ForEach { items: Mapping, concurrency: Option<usize> },
}

/// One step.
pub(super) struct Stage {
    /// Where its output lands.
    pub(super) key: String,
    /// What names it in a trace, when that is not the key.
    pub(super) id: Option<String>,
    /// Its part of an address; another for each step of the body.
    pub(super) part: String,
    pub(super) kind: &'static str,
    pub(super) work: Work,
    pub(super) reads: Option<Vec<(String, Mapping)>>,
    pub(super) when: Option<Condition>,
    /// None: to the next step.
    pub(super) ways: Option<Vec<Way>>,
    pub(super) set: Vec<(String, Mapping)>,
    pub(super) declared: Option<InputSchema>,
    /// Whether it sees what it is given and nothing else.
    pub(super) is_private: bool,
    pub(super) output: Option<Value>,
    pub(super) model: Option<Arc<str>>,
}

/// What a step does.
pub(super) enum Work {
    Ask {
        instructions: Template,
        prompt: Option<Template>,
        temperature: f32,
        max_tokens: u32,
    },
    Tool {
        tool: String,
        args: Vec<(String, Mapping)>,
    },
    Agent {
        instructions: Template,
        tools: Vec<String>,
        mode: AgentMode,
        /// Complete arguments by tool.
        args: Vec<(String, Mapping)>,
        temperature: f32,
        max_tokens: u32,
    },
    Group(Arc<Body>),
    Gate {
        text: Template,
        question: Option<Value>,
    },
    Answer {
        text: Template,
    },
    Task {
        goal: Template,
        context: Mapping,
        expected: Mapping,
    },
    Ref(String),
}

/// A route.
pub(super) struct Way {
    pub(super) when: Option<Condition>,
    pub(super) leads: Leads,
    pub(super) set: Vec<(String, Mapping)>,
    pub(super) log: Option<Template>,
}

/// Where a route leads.
pub(super) enum Leads {
    To(usize),
    Finish {
        text: Template,
        rewrite: Option<(Template, Option<Arc<str>>)>,
    },
}

impl Program {
    /// Reads the flow of a run.
    ///
    /// # Errors
    /// `flow_invalid` with the step, for what cannot be run.
    pub(super) fn of(run: &FlowRun) -> Result<Self, StepError> {
        let mut refs = HashMap::new();
        for (id, flow) in &run.refs {
            let referred = Referred {
                body: Arc::new(Body::of_flow(flow, &run.refs)?),
                description: flow
                    .description
                    .clone()
                    .unwrap_or_else(|| flow.name.clone().unwrap_or_else(|| flow.id.clone())),
                input: flow.input.clone(),
            };
            refs.insert(id.clone(), referred);
        }
        let root = Arc::new(Body::of_flow(&run.flow, &run.refs)?);
        Ok(Self { root, refs })
    }
}

impl Body {
    fn of_flow(flow: &Flow, refs: &IndexMap<String, Flow>) -> Result<Self, StepError> {
        let reader = Reader { flow, refs };
        let body = reader.body(&flow.id, &flow.steps, &flow.mode, flow.order, flow.output.as_ref(), 0)?;
        let initial = match &flow.initial {
            Some(key) => *body
                .by_key
                .get(key)
                .ok_or_else(|| invalid(&flow.id, format!("it begins with \"{key}\", which is not there")))?,
            None => body.initial,
        };
        Ok(Self {
            initial,
            declared: declared(&flow.id, flow.input.as_ref())?,
            model: flow.model.as_deref().map(Arc::from),
            ..body
        })
    }

    /// Whether it has an end of its own: an answer, or a route.
    fn has_limit(dialect: Dialect, order: Order, stages: &[Stage]) -> bool {
        let is_flow = match dialect {
            Dialect::Flow => true,
            Dialect::Manifest | Dialect::Plan => false,
        };
        let ends = |stage: &Stage| stage.ways.is_some() || matches!(stage.work, Work::Answer { .. });
        is_flow && order == Order::Chain && stages.iter().any(ends)
    }
}

struct Reader<'a> {
    flow: &'a Flow,
    refs: &'a IndexMap<String, Flow>,
}

impl Reader<'_> {
    fn body(
        &self,
        id: &str,
        steps: &[FlowStep],
        mode: &GroupMode,
        order: Order,
        output: Option<&Value>,
        depth: u32,
    ) -> Result<Body, StepError> {
        if depth > DEEPEST {
            return Err(invalid(
                id,
                format!("groups lie more than {DEEPEST} deep in each other"),
            ));
        }
        let dialect = self.flow.dialect;
        let keys: Vec<String> = steps
            .iter()
            .map(|step| step.state_key(dialect, self.referred(step)))
            .collect();
        let by_key = by_spelling(&keys);
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let mut stages = Vec::with_capacity(steps.len());
        for (step, key) in steps.iter().zip(&keys) {
            let before = seen.entry(key).or_insert(0);
            *before += 1;
            let part = match *before {
                1 => keys::safe(key),
                again => format!("{}~{again}", keys::safe(key)),
            };
            stages.push(self.stage(step, key.clone(), part, &by_key, depth)?);
        }
        let is_answer = |stage: &Stage| matches!(stage.work, Work::Answer { .. });
        let initial = stages
            .iter()
            .position(|stage| !is_answer(stage))
            .ok_or_else(|| invalid(id, "it has no step to begin with".to_owned()))?;
        let limits = &self.flow.limits;
        let mode = self.mode(id, mode)?;
        let output = output.map(|output| mapping(id, output)).transpose()?;
        let forgotten_after = forgotten_after(&stages, &by_key, &mode, order, output.as_ref());
        Ok(Body {
            forgotten_after,
            id: id.to_owned(),
            dialect,
            most_phases: Body::has_limit(dialect, order, &stages).then_some(limits.max_total_phases),
            most_at_once: limits.max_parallel.map(|most| most as usize),
            first_answer: stages.iter().position(is_answer),
            mode,
            order,
            on_failure: self.flow.on_failure,
            output,
            declared: None,
            model: None,
            by_key,
            stages,
            initial,
        })
    }

    fn referred(&self, step: &FlowStep) -> Option<&Flow> {
        match &step.kind {
            StepKind::Ref(id) => self.refs.get(id),
            _ => None,
        }
    }

    fn mode(&self, id: &str, mode: &GroupMode) -> Result<Mode, StepError> {
        Ok(match mode {
            GroupMode::Sequence { until: None, .. } => Mode::Sequence { until: None },
            GroupMode::Sequence {
                until: Some(until),
                max,
            } => {
                let max = max.ok_or_else(|| invalid(id, "a loop needs the most passes it may take".to_owned()))?;
                Mode::Sequence {
                    until: Some((condition(id, until)?, max)),
                }
            }
            GroupMode::Parallel => Mode::Parallel,
            GroupMode::ForEach { items, concurrency } => Mode::ForEach {
                items: mapping(id, items)?,
                concurrency: concurrency.map(|most| most as usize),
            },
        })
    }

    fn stage(
        &self,
        step: &FlowStep,
        key: String,
        part: String,
        by_key: &HashMap<String, usize>,
        depth: u32,
    ) -> Result<Stage, StepError> {
        let id = &step.id;
        let ways = step
            .ways()
            .map(|routes| routes.iter().map(|route| way(id, route, by_key)).collect())
            .transpose()?;
        let (kind, work) = self.work(step, depth)?;
        let alone = matches!(work, Work::Group(_) | Work::Ref(_)) || step.input.is_some();
        Ok(Stage {
            id: (*id != key).then(|| id.clone()),
            key,
            part,
            kind,
            work,
            reads: step.reads.as_ref().map(|reads| mappings(id, reads)).transpose()?,
            when: step.when.as_deref().map(|when| condition(id, when)).transpose()?,
            ways,
            set: mappings(id, &step.set)?,
            declared: declared(&step.id, step.input.as_ref())?,
            is_private: alone || self.flow.dialect == Dialect::Manifest,
            output: step.output.clone(),
            model: step.model.as_deref().map(Arc::from),
        })
    }

    fn work(&self, step: &FlowStep, depth: u32) -> Result<(&'static str, Work), StepError> {
        let id = &step.id;
        Ok(match &step.kind {
            StepKind::Ask(ask) => (
                "ask",
                Work::Ask {
                    instructions: template(id, &ask.instructions)?,
                    prompt: ask.prompt.as_deref().map(|prompt| template(id, prompt)).transpose()?,
                    temperature: ask.temperature,
                    max_tokens: ask.max_tokens,
                },
            ),
            StepKind::Tool(tool) => (
                "tool",
                Work::Tool {
                    tool: tool.tool.clone(),
                    args: mappings(id, &tool.args)?,
                },
            ),
            StepKind::Agent(agent) => (
                "agent",
                Work::Agent {
                    instructions: template(id, &agent.instructions)?,
                    tools: agent.tools.clone(),
                    mode: agent.mode,
                    args: mappings(id, &agent.args)?,
                    temperature: agent.temperature,
                    max_tokens: agent.max_tokens,
                },
            ),
            StepKind::Group(group) => ("group", Work::Group(Arc::new(self.group(id, group, step, depth)?))),
            StepKind::Gate(gate) => (
                "gate",
                Work::Gate {
                    text: template(id, &gate.text)?,
                    question: gate.question.clone(),
                },
            ),
            StepKind::Answer(answer) => (
                "answer",
                Work::Answer {
                    text: template(id, &answer.text)?,
                },
            ),
            StepKind::Task(task) => {
                let expected = serde_json::to_value(&task.expected_output).unwrap_or_default();
                (
                    "task",
                    Work::Task {
                        goal: template(id, &task.goal)?,
                        context: mapping(id, &json!(task.context))?,
                        expected: mapping(id, &expected)?,
                    },
                )
            }
            StepKind::Ref(other) => ("ref", Work::Ref(other.clone())),
        })
    }

    fn group(&self, id: &str, group: &GroupStep, step: &FlowStep, depth: u32) -> Result<Body, StepError> {
        let body = self.body(
            id,
            &group.steps,
            &group.mode,
            group.order,
            group.output.as_ref(),
            depth + 1,
        )?;
        Ok(Body {
            declared: declared(&step.id, step.input.as_ref())?,
            ..body
        })
    }
}

fn way(id: &str, route: &Route, by_key: &HashMap<String, usize>) -> Result<Way, StepError> {
    let leads = match &route.target {
        RouteTarget::To(key) => Leads::To(
            *by_key
                .get(key)
                .ok_or_else(|| invalid(id, format!("it leads to \"{key}\", which is not there")))?,
        ),
        RouteTarget::Finish(finish) => {
            let rewrite = match &finish.rewrite {
                Some(rewrite) => Some((
                    template(id, &rewrite.instructions)?,
                    rewrite.model.as_deref().map(Arc::from),
                )),
                None => None,
            };
            Leads::Finish {
                text: template(id, &finish.text)?,
                rewrite,
            }
        }
    };
    Ok(Way {
        when: route.when.as_deref().map(|when| condition(id, when)).transpose()?,
        leads,
        set: mappings(id, &route.set)?,
        log: route.log.as_deref().map(|log| template(id, log)).transpose()?,
    })
}

fn mappings(id: &str, from: &IndexMap<String, Value>) -> Result<Vec<(String, Mapping)>, StepError> {
    from.iter()
        .map(|(name, value)| Ok((name.clone(), mapping(id, value)?)))
        .collect()
}

fn mapping(id: &str, value: &Value) -> Result<Mapping, StepError> {
    Mapping::parse(value).map_err(|errors| {
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        invalid(id, words.join("; "))
    })
}

fn template(id: &str, text: &str) -> Result<Template, StepError> {
    Template::parse(text).map_err(|error| invalid(id, error.to_string()))
}

fn condition(id: &str, text: &str) -> Result<Condition, StepError> {
    Condition::parse(text).map_err(|error| invalid(id, error.to_string()))
}

fn declared(id: &str, schema: Option<&Value>) -> Result<Option<InputSchema>, StepError> {
    let read = |schema: &Value| {
        InputSchema::read(schema).map_err(|problems| {
            let words: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            invalid(id, words.join("; "))
        })
    };
    schema.map(read).transpose()
}

fn invalid(id: &str, what: String) -> StepError {
    StepError::new(code::FLOW_INVALID, format!("\"{id}\" cannot be run: {what}"))
}
