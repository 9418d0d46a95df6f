//! A run as a page: the goal, the verdict with its evidence, each cycle's plan and what became of it, the files.
//!
//! Everything in it was written by people, models and tools, and is shown as text: the page is made with every sign
//! escaped, and its policy forbids scripts and requests besides.

use contract::criterion::DecidedBy;
use contract::dates::moment;
use contract::evaluation::{CriterionResult, CriterionVerdict};
use contract::ids::RunId;
use contract::run::{RunStatus, StopReason};
use contract::run_state::{CycleState, RunState, StepState};
use contract::step::StepStatus;
use contract::value_ref::ValueRef;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

/// A step's result is shown up to so many characters.
const MOST_RESULT: usize = 2_000;

#[derive(Debug, Serialize)]
pub(super) struct Page {
    title: String,
    run: String,
    goal: String,
    /// Name and value of what the task said beforehand.
    facts: Vec<(String, String)>,
    /// `pass`, `fail` or `open`.
    mood: &'static str,
    ending: &'static str,
    feedback: String,
    started: String,
    took: String,
    tokens: u64,
    cost: String,
    models: Vec<(&'static str, String)>,
    criteria: Vec<Line>,
    cycles: Vec<Cycle>,
    files: Vec<File>,
    answers: Vec<Answer>,
    app: String,
}

/// A criterion through all cycles.
#[derive(Debug, Serialize)]
struct Line {
    text: String,
    about: String,
    required: bool,
    /// One for each cycle, in their order.
    results: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    word: &'static str,
    by: &'static str,
    evidence: String,
}

#[derive(Debug, Serialize)]
struct Cycle {
    number: u32,
    reasoning: String,
    feedback: String,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    name: String,
    description: String,
    word: &'static str,
    tools: String,
    took: String,
    tokens: u64,
    result: String,
}

#[derive(Debug, Serialize)]
struct File {
    path: String,
    word: &'static str,
    cycle: u32,
}

/// A final answer.
#[derive(Debug, Serialize)]
struct Answer {
    about: String,
    text: String,
}

impl Page {
    /// The page of a run, with its final answers: what each is, and its text.
    pub(super) fn of(run: &RunId, state: &RunState, answers: Vec<(String, String)>) -> Self {
        let header = state.header.as_ref();
        let task = header.map(|header| &header.task);
        let result = state.result.as_ref();
        let took = u64::try_from(state.updated_at_ms.saturating_sub(state.started_at_ms)).unwrap_or(0);
        Self {
            title: header.map(|header| header.title.clone()).unwrap_or_default(),
            run: run.as_str().to_owned(),
            goal: task.map(|task| task.goal.clone()).unwrap_or_default(),
            facts: task.map(facts).unwrap_or_default(),
            mood: match result.map(|result| result.status) {
                Some(RunStatus::Pass) => "pass",
                Some(_) => "fail",
                None => "open",
            },
            ending: result.map_or("Not at its end yet", |result| ending(result.stop_reason)),
            feedback: result.map(|result| result.feedback.clone()).unwrap_or_default(),
            started: moment(state.started_at_ms),
            took: duration(took),
            tokens: state.tokens_used,
            cost: cost(state),
            models: header.map(|header| models(&header.roles)).unwrap_or_default(),
            criteria: criteria(state),
            cycles: state.cycles.iter().map(cycle).collect(),
            files: state.files.iter().filter(|file| file.done).map(file).collect(),
            answers: answers
                .into_iter()
                .map(|(about, text)| Answer { about, text })
                .collect(),
            app: header.map(|header| header.app_version.clone()).unwrap_or_default(),
        }
    }

    /// As a page for a browser.
    pub(super) fn html(&self) -> Result<String, minijinja::Error> {
        self.render("page.html", include_str!("page.html"))
    }

    /// As Markdown.
    pub(super) fn markdown(&self) -> Result<String, minijinja::Error> {
        self.render("page.md", include_str!("page.md"))
    }

    fn render(&self, name: &str, template: &str) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.set_auto_escape_callback(|name| match name {
            "page.html" => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        environment.add_filter("quoted", quoted);
        environment.add_filter("cell", cell);
        environment.render_named_str(name, template, context! { page => Value::from(Serde(self)) })
    }
}

fn facts(task: &contract::task::Task) -> Vec<(String, String)> {
    let facts = task.context.iter();
    facts.map(|(name, value)| (name.clone(), text_of(value))).collect()
}

fn models(roles: &contract::run::Roles) -> Vec<(&'static str, String)> {
    vec![
        ("Planner", roles.planner.clone()),
        ("Judge", roles.judge.clone()),
        ("Simple steps", roles.executor_low.clone()),
        ("Difficult steps", roles.executor_high.clone()),
    ]
}

fn criteria(state: &RunState) -> Vec<Line> {
    let all = state
        .header
        .as_ref()
        .map(|header| header.task.criteria())
        .unwrap_or_default();
    let line = |criterion: contract::criterion::Criterion| Line {
        results: state.cycles.iter().map(|cycle| found(cycle, &criterion.id)).collect(),
        about: criterion.path.unwrap_or_default(),
        required: criterion.required,
        text: criterion.text,
    };
    all.into_iter().map(line).collect()
}

/// What a cycle found of a criterion.
fn found(cycle: &CycleState, id: &str) -> Found {
    let judged = cycle.changed_verdict.as_ref().map(|changed| &changed.evaluation);
    let judged = judged.or(cycle.evaluation.as_ref());
    let results = judged.map_or(cycle.checks.as_slice(), |evaluation| &evaluation.criteria);
    match results.iter().find(|result| result.id == id) {
        Some(result) => Found {
            word: verdict(result),
            by: match result.by {
                DecidedBy::App => "checked by Tepa",
                DecidedBy::Model => "judged by the model",
            },
            evidence: result.evidence.clone(),
        },
        None => Found {
            word: "not judged",
            by: "",
            evidence: String::new(),
        },
    }
}

fn verdict(result: &CriterionResult) -> &'static str {
    match result.verdict {
        CriterionVerdict::Pass => "holds",
        CriterionVerdict::Fail => "does not hold",
        CriterionVerdict::Unknown => "could not be told",
        CriterionVerdict::NotJudged => "not judged",
    }
}

fn cycle(cycle: &CycleState) -> Cycle {
    let plan = cycle.plan.as_ref();
    let steps = plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let step = |planned: &contract::plan::PlanStep| {
        let state = cycle.steps.get(&planned.id);
        Step {
            name: planned.name.clone().unwrap_or_else(|| planned.description.clone()),
            description: planned.description.clone(),
            word: state.map_or("not started", |state| status(state.status)),
            tools: planned.tools.join(", "),
            took: state
                .and_then(|state| state.duration_ms)
                .map(duration)
                .unwrap_or_default(),
            tokens: state.map_or(0, |state| state.tokens_used),
            result: state.map(result).unwrap_or_default(),
        }
    };
    let evaluation = cycle.evaluation.as_ref();
    Cycle {
        number: cycle.number,
        reasoning: plan.map(|plan| plan.reasoning.clone()).unwrap_or_default(),
        feedback: evaluation.and_then(|found| found.feedback.clone()).unwrap_or_default(),
        steps: steps.iter().map(step).collect(),
    }
}

fn result(step: &StepState) -> String {
    if let Some(error) = &step.error {
        return error.message.clone();
    }
    step.output.as_ref().map(shown).unwrap_or_default()
}

/// A value of a step, or its beginning.
fn shown(value: &ValueRef) -> String {
    let text = match &value.inline {
        Some(value) => text_of(value),
        None => format!("{} …", value.excerpt.as_deref().unwrap_or_default()),
    };
    match text.char_indices().nth(MOST_RESULT) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

fn file(change: &contract::run_state::FileChange) -> File {
    File {
        path: change.path.clone(),
        word: match (&change.before, &change.after) {
            (None, _) => "new",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) => "changed",
        },
        cycle: change.cycle,
    }
}

pub(super) fn status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Waiting => "not started",
        StepStatus::Running => "at work",
        StepStatus::Done => "done",
        StepStatus::Kept => "kept from before",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
        StepStatus::WaitingForPerson => "waits for you",
        StepStatus::Uncertain => "uncertain",
    }
}

fn ending(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Passed => "Passed",
        StopReason::Accepted => "Accepted by a person",
        StopReason::MaxCycles => "Did not pass: no cycles left",
        StopReason::NoProgress => "Did not pass: another cycle would have come to the same",
        StopReason::Rejected => "Did not pass: the plan was refused",
        StopReason::Error => "Did not pass: something went wrong",
        StopReason::Budget => "Stopped: the budget is used up",
        StopReason::Cancelled => "Stopped by a person",
    }
}

fn cost(state: &RunState) -> String {
    if state.cost.currency.is_empty() {
        return String::new();
    }
    let rest = match state.cost.unpriced.is_empty() {
        true => "",
        false => " and what models without a known price cost",
    };
    format!("{:.4} {}{rest}", state.cost.amount, state.cost.currency)
}

/// `0.4 s`, `12 s`, `3 min 5 s`.
fn duration(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.1} s", std::time::Duration::from_millis(ms).as_secs_f64()),
        10_000..60_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}

/// Words as they are, anything else as JSON.
pub(super) fn text_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Text as a quotation of Markdown, so that nothing in it is a heading, a table or a page's code.
fn quoted(text: &str) -> String {
    // A fence that the text does not have.
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Text in a line or a table of Markdown: in one line, and without what would be markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '&' | '~' => out.extend(['\\', sign]),
            sign => out.push(sign),
        }
    }
    out
}
