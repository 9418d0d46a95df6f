//! The rules between the parts of a flow (flows page, "Model" and "Semantics"): where references lead, where routes
//! lead, what a child needs, and what loops, groups and limits must be. Every problem is listed at once with its path in
//! the words of the file's dialect; warnings stop nothing. The time grows with the size of the flow.
//!
//! Deliberately not here: what a single part must hold, which reading it has said already.

mod child;
mod refs;
mod routes;
mod scope;
mod texts;

use contract::error::Problem;
use contract::flow::{Dialect, Flow, FlowStep, GroupMode, Order, RouteTarget, StepKind};
use serde_json::{Map, Value};

use self::scope::{Scope, Seen};
use super::input::{InputSchema, USER_QUERY};
use super::join;
use super::reading::Refs;

/// How often groups, agents and flows may lie inside each other.
pub const DEEPEST: usize = 16;

/// Everything that is wrong with a flow. Without `refs`, whether what a `ref` names is there is not looked at.
pub fn problems(flow: &Flow, refs: Option<&Refs>) -> Vec<Problem> {
    let mut checker = Checker {
        problems: Vec::new(),
        dialect: flow.dialect,
        refs,
    };
    checker.flow(flow);
    if let Some(refs) = refs {
        refs::check(&mut checker, flow, refs);
    }
    checker.problems
}

struct Checker<'a> {
    problems: Vec<Problem>,
    dialect: Dialect,
    refs: Option<&'a Refs>,
}

/// Steps on one level, with what decides their order.
#[derive(Clone, Copy)]
struct Level<'a> {
    steps: &'a [FlowStep],
    mode: &'a GroupMode,
    order: Order,
    output: Option<&'a Value>,
}

/// What is around the steps of a level.
#[derive(Clone, Copy)]
enum Around<'s> {
    /// What the flow is given.
    Given(&'s Scope<'s>),
    /// The step that holds them.
    Step {
        /// What its own texts see.
        inside: &'s Scope<'s>,
        /// What the steps in it do not see.
        hidden: Option<(&'s Scope<'s>, usize)>,
    },
}

impl<'s> Around<'s> {
    fn hidden(self) -> Option<(&'s Scope<'s>, usize)> {
        match self {
            Self::Given(_) => None,
            Self::Step { hidden, .. } => hidden,
        }
    }
}

/// These names, and the conversation that every step may read.
fn with_messages(names: &[String]) -> Vec<String> {
    names.iter().cloned().chain(["messages".to_owned()]).collect()
}

/// Names that every step of our own flows may read, beside its flow's inputs and outputs.
const OWN_NAMES: [&str; 8] = [
    "messages",
    "outputs",
    "metadata",
    "retries",
    "retry_counts",
    "phase_history",
    "current_phase",
    "input",
];

/// Whether every flow has this name itself.
pub(crate) fn is_own_name(name: &str) -> bool {
    OWN_NAMES.contains(&name) || name == USER_QUERY || name == "output"
}

impl Checker<'_> {
    fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    fn warn(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::warning(path, message));
    }

    fn is_manifest(&self) -> bool {
        self.dialect == Dialect::Manifest
    }

    fn flow(&mut self, flow: &Flow) {
        if flow.steps.is_empty() {
            self.wrong(
                "steps",
                "a flow needs at least one step: an empty pipeline does nothing",
            );
        }
        if flow.limits.max_total_phases == 0 {
            let message =
                "\"maxTotalPhases\" must be a positive whole number: at least one step must be allowed to run";
            self.wrong("limits.maxTotalPhases", message);
        }
        if flow.limits.max_parallel == Some(0) {
            let message = "\"maxParallel\" must be a positive whole number: at least one step must be allowed to run";
            self.wrong("limits.maxParallel", message);
        }
        let inputs = self.schema(flow.input.as_ref(), "input");
        let mut names = declared(inputs.as_ref());
        if !self.is_manifest() {
            names.push(USER_QUERY.to_owned());
        }
        let level = Level {
            steps: &flow.steps,
            mode: &flow.mode,
            order: flow.order,
            output: flow.output.as_ref(),
        };
        if self.is_manifest() && is_single(flow) {
            // The one step of a single agent has the agent's own fields.
            let scope = Scope::new(None, names, Seen::Always, Vec::new());
            if let Some(step) = flow.steps.first() {
                self.kind(step, &scope, 0, "", 1);
            }
            return;
        }
        let reserved = if self.is_manifest() {
            Vec::new()
        } else {
            OWN_NAMES.map(str::to_owned).to_vec()
        };
        let inputs = names.clone();
        names.extend(reserved);
        let given = Scope::new(None, inputs.clone(), Seen::Always, Vec::new());
        self.level(level, Around::Given(&given), &names, &inputs, "", 1);
        if self.dialect == Dialect::Flow {
            routes::check_flow(self, flow);
        }
        texts::guardrails(self, flow);
        self.unknown_keys(flow);
    }

    /// A schema that was written in our own dialect; those of manifests were read before.
    fn schema(&mut self, schema: Option<&Value>, path: &str) -> Option<InputSchema> {
        match InputSchema::read(schema?) {
            Ok(schema) => Some(schema),
            Err(_) if self.is_manifest() => None,
            Err(problems) => {
                for problem in problems {
                    self.wrong(&join(path, &problem.path), problem.message);
                }
                None
            }
        }
    }

    /// One level; `inputs` are those of `names` that a step's key may not take.
    fn level(&mut self, level: Level, around: Around, names: &[String], inputs: &[String], path: &str, depth: usize) {
        let list = if self.is_manifest() && *level.mode == GroupMode::Parallel {
            "branches"
        } else {
            "steps"
        };
        if depth > DEEPEST {
            self.wrong(
                &join(path, list),
                format!("steps may lie inside each other {DEEPEST} times, not more"),
            );
            return;
        }
        let keys: Vec<String> = level
            .steps
            .iter()
            .map(|step| step.state_key(self.dialect, self.referred(step)))
            .collect();
        self.keys(level, &keys, inputs, path, list);
        self.mode(level, path);
        let seen = self.seen(level);
        let mut names = names.to_vec();
        if !self.is_manifest() {
            // Every level has a state of its own.
            names.extend(OWN_NAMES.map(str::to_owned));
        }
        if matches!(level.mode, GroupMode::ForEach { .. }) {
            names.extend(["item".to_owned(), "index".to_owned()]);
        }
        let answers = level.steps.iter().enumerate();
        let answers = answers.filter(|(_, step)| matches!(step.kind, StepKind::Answer(_)));
        let mut scope = Scope::new(None, names, seen, keys)
            .hiding(around.hidden())
            .with_last(answers.map(|(index, _)| index));
        if level.order == Order::Reads && *level.mode != GroupMode::Parallel && self.dialect == Dialect::Flow {
            scope = scope.by_reading(inputs);
        }
        for (index, step) in level.steps.iter().enumerate() {
            self.step(step, &scope, index, &join(path, &format!("{list}[{index}]")), depth);
        }
        routes::check_level(self, level, &scope, path, list);
        if let GroupMode::Sequence { until: Some(until), .. } = level.mode {
            texts::condition(self, until, &scope, None, &join(path, "until"));
        }
        if let GroupMode::ForEach { items, .. } = level.mode {
            let outside = match around {
                Around::Given(given) => given,
                Around::Step { inside, .. } => inside,
            };
            texts::mapping(self, items, outside, None, &join(path, "items"));
        }
        if let Some(output) = level.output {
            texts::mapping(self, output, &scope, None, &join(path, "output"));
        }
        if level.order == Order::Reads {
            routes::check_circles(self, level, &scope, path);
        }
    }

    fn seen(&self, level: Level) -> Seen {
        let has_routes = || level.steps.iter().any(|step| step.ways().is_some());
        match level.mode {
            GroupMode::Parallel => Seen::Never,
            GroupMode::Sequence { until: Some(_), .. } => Seen::Always,
            GroupMode::Sequence { .. } | GroupMode::ForEach { .. } => match level.order {
                Order::Reads => Seen::Always,
                Order::Chain if has_routes() => Seen::Always,
                Order::Chain => Seen::Earlier,
            },
        }
    }

    fn keys(&mut self, level: Level, keys: &[String], inputs: &[String], path: &str, list: &str) {
        let mut taken = std::collections::HashSet::new();
        let inputs: std::collections::HashSet<&str> = inputs.iter().map(String::as_str).collect();
        for (index, key) in keys.iter().enumerate() {
            let place = join(path, &format!("{list}[{index}]"));
            if !taken.insert(key.as_str()) {
                match self.is_manifest() {
                    true => self.warn(
                        &place,
                        format!("duplicate key: \"{key}\" is used by multiple steps, and the later output replaces the earlier one"),
                    ),
                    false => self.wrong(
                        &place,
                        format!(
                            "duplicate key \"{key}\": the names of steps must be unique; give one of the two another \"key\""
                        ),
                    ),
                }
            }
            if inputs.contains(key.as_str()) {
                let word = if self.is_manifest() { "stateKey" } else { "key" };
                self.wrong(
                    &place,
                    format!(
                        "the {word} \"{key}\" collides with input \"{key}\": a step's key and an input key must not be the \
                         same; give the step another {word}"
                    ),
                );
            } else if !self.is_manifest() && OWN_NAMES.contains(&key.as_str()) {
                self.wrong(
                    &place,
                    format!("the key \"{key}\" is a name that every flow has: give the step another key"),
                );
            }
        }
        if level.steps.is_empty() && !path.is_empty() {
            self.wrong(&join(path, list), "a group needs at least one step");
        }
    }

    fn mode(&mut self, level: Level, path: &str) {
        let max = if self.is_manifest() { "maxIterations" } else { "max" };
        match level.mode {
            GroupMode::Sequence {
                until: Some(_),
                max: None,
            } => self.wrong(
                &join(path, "until"),
                format!("an \"until\" needs \"{max}\": the most passes before the loop gives up"),
            ),
            GroupMode::Sequence {
                until: None,
                max: Some(_),
            } => {
                self.warn(&join(path, max), format!("\"{max}\" does nothing without \"until\""));
            }
            GroupMode::Sequence { max: Some(0), .. } => self.wrong(&join(path, max), positive(max)),
            GroupMode::Sequence { until: Some(_), .. } if level.order == Order::Reads => self.wrong(
                &join(path, "until"),
                "an \"until\" needs steps that follow each other: in the order of what they read, each runs once",
            ),
            GroupMode::ForEach {
                concurrency: Some(0), ..
            } => {
                self.wrong(
                    &join(path, "concurrency"),
                    "\"concurrency\" must be a positive whole number: at least one item must be allowed at a time",
                );
            }
            GroupMode::Sequence { .. } | GroupMode::Parallel | GroupMode::ForEach { .. } => {}
        }
    }

    fn referred(&self, step: &FlowStep) -> Option<&Flow> {
        match &step.kind {
            StepKind::Ref(id) => self.refs?.get(id),
            _ => None,
        }
    }

    fn step(&mut self, step: &FlowStep, scope: &Scope, index: usize, path: &str, depth: usize) {
        let reads = if self.is_manifest() { "input" } else { "reads" };
        if let Some(when) = &step.when {
            texts::condition(self, when, scope, Some(index), &join(path, "when"));
        }
        for (key, value) in step.reads.iter().flatten() {
            texts::mapping(self, value, scope, Some(index), &join(path, &format!("{reads}.{key}")));
        }
        child::check(self, step, path);
        for (key, value) in &step.set {
            texts::mapping(
                self,
                value,
                &scope.after(index),
                None,
                &join(path, &format!("set.{key}")),
            );
        }
        for key in ["until", "max", "maxIterations"]
            .into_iter()
            .filter(|key| step.extra.contains_key(*key))
        {
            self.wrong(
                &join(path, key),
                format!("\"{key}\" belongs to a group of steps, not to a single step"),
            );
        }
        self.kind(step, scope, index, path, depth);
    }

    /// What a step does, seen from where it stands.
    fn kind(&mut self, step: &FlowStep, scope: &Scope, index: usize, path: &str, depth: usize) {
        let inner = self.inner_names(step);
        let own = |around| Scope::new(around, inner.clone(), Seen::Always, Vec::new());
        let inside = match (self.is_manifest(), step.input.is_some()) {
            // An agent sees what it is given and nothing else.
            (true, _) => own(None),
            (false, true) => {
                Scope::new(None, with_messages(&inner), Seen::Always, Vec::new()).hiding(Some((scope, index)))
            }
            (false, false) => own(Some((scope, index))),
        };
        if let StepKind::Group(group) = &step.kind {
            let level = Level {
                steps: &group.steps,
                mode: &group.mode,
                order: group.order,
                output: group.output.as_ref(),
            };
            let path = join(path, if self.is_manifest() { "agent" } else { "group" });
            if group.extra.contains_key("when") {
                self.wrong(
                    &join(&path, "when"),
                    "a \"when\" belongs to the step that holds the group",
                );
            }
            // The list of items is made where the group stands, with what the step reads.
            let reads = step.reads.iter().flatten().map(|(key, _)| key.clone());
            let inside = Scope::new(Some((scope, index)), reads.collect(), Seen::Always, Vec::new());
            let around = Around::Step {
                inside: &inside,
                hidden: (!self.is_manifest()).then_some((scope, index)),
            };
            self.level(level, around, &inner, &inner, &path, depth + 1);
        } else {
            texts::kind(self, step, &inside, path);
        }
    }

    /// The names that a step's own texts have, beside what is around it: what it declares, else what it reads, else the
    /// one value that it is given.
    fn inner_names(&self, step: &FlowStep) -> Vec<String> {
        let schema = step.input.as_ref().and_then(|schema| InputSchema::read(schema).ok());
        match &step.reads {
            Some(reads) if schema.is_none() && !self.is_manifest() => reads.keys().cloned().collect(),
            _ => declared(schema.as_ref()),
        }
    }

    fn unknown_keys(&mut self, flow: &Flow) {
        if self.is_manifest() {
            return;
        }
        self.unknown_in(&flow.extra, "", "a flow");
        self.unknown_in(&flow.limits.extra, "limits", "\"limits\"");
        for (index, guardrail) in flow.guardrails.iter().enumerate() {
            self.unknown_in(&guardrail.extra, &format!("guardrails[{index}]"), "a guardrail");
        }
        for (index, step) in flow.steps.iter().enumerate() {
            self.unknown_step_keys(step, &format!("steps[{index}]"));
        }
    }

    fn unknown_in(&mut self, extra: &Map<String, Value>, path: &str, who: &str) {
        for key in extra.keys() {
            self.unknown_key(key, path, who);
        }
    }

    fn unknown_key(&mut self, key: &str, path: &str, who: &str) {
        let message = format!("{who} has no \"{key}\": it is kept, and does nothing");
        self.warn(&join(path, key), message);
    }

    fn unknown_step_keys(&mut self, step: &FlowStep, path: &str) {
        let (word, extra) = match &step.kind {
            StepKind::Ask(ask) => ("ask", Some(&ask.extra)),
            StepKind::Tool(tool) => ("tool", Some(&tool.extra)),
            StepKind::Agent(agent) => ("agent", Some(&agent.extra)),
            StepKind::Group(group) => ("group", Some(&group.extra)),
            StepKind::Gate(gate) => ("gate", Some(&gate.extra)),
            StepKind::Answer(answer) => ("answer", Some(&answer.extra)),
            StepKind::Task(task) => ("task", Some(&task.extra)),
            StepKind::Ref(_) => ("ref", None),
        };
        let named_already = ["until", "max", "maxIterations", "when"];
        let unknown = step.extra.keys().filter(|key| !named_already.contains(&key.as_str()));
        for key in unknown {
            self.unknown_key(key, path, "a step");
        }
        for key in extra
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .filter(|key| *key != "when")
        {
            self.unknown_key(key, &join(path, word), &format!("\"{word}\""));
        }
        for (index, route) in step.routes.iter().flatten().enumerate() {
            let place = join(path, &format!("routes[{index}]"));
            self.unknown_in(&route.extra, &place, "a route");
            if let RouteTarget::Finish(finish) = &route.target {
                let place = join(&place, "finish");
                self.unknown_in(&finish.extra, &place, "\"finish\"");
                if let Some(rewrite) = &finish.rewrite {
                    self.unknown_in(&rewrite.extra, &join(&place, "rewrite"), "\"rewrite\"");
                }
            }
        }
        if let StepKind::Group(group) = &step.kind {
            for (index, inner) in group.steps.iter().enumerate() {
                self.unknown_step_keys(inner, &join(path, &format!("group.steps[{index}]")));
            }
        }
    }
}

/// What is said of a limit that is none, by its name in the file.
pub(crate) fn positive(name: &str) -> String {
    format!("\"{name}\" must be a positive whole number: an integer from 1")
}

/// The names that a schema gives, or the one name without a schema.
fn declared(schema: Option<&InputSchema>) -> Vec<String> {
    match schema {
        Some(schema) => schema.keys.iter().map(|key| key.name.clone()).collect(),
        None => vec![USER_QUERY.to_owned()],
    }
}

/// Whether a manifest is a single agent, so that its one step has no place of its own in the file.
fn is_single(flow: &Flow) -> bool {
    flow.extra
        .get(super::manifest::KEPT)
        .is_some_and(|kept| kept.get("kind").is_some())
}

#[cfg(test)]
mod tests;
