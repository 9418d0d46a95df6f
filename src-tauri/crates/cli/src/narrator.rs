//! What a run looks like in words, one event after the other.
//!
//! The same for a run at work and one from history. It prints nothing that a model could use to repaint the terminal.

use std::collections::HashSet;

use app::FlowEvents;
use contract::Hash;
use contract::criterion::{Criterion, DecidedBy};
use contract::error::AppError;
use contract::evaluation::{CriterionResult, CriterionVerdict, Evaluation, Verdict};
use contract::event::{ApprovedBy, RunEvent, RunEventRecord};
use contract::flow::{Dialect, GuardrailOutcome};
use contract::person::{AllowedFor, Answer, Ask};
use contract::plan::Plan;
use contract::rule::HookRule;
use contract::run::{RunHeader, RunResult, RunStatus, StopReason};
use contract::run_state::RunState;
use contract::step::{StepError, StepStatus, code};
use contract::task::ExpectedOutput;
use serde_json::Value;

use crate::paint::{Screen, clean, count, duration, number};
use crate::plan_words::{Since, difference, since, tools_and_needs};
use crate::{envelope_words, estimate_words};

/// Evidence longer than this is cut in a line.
const EVIDENCE: usize = 160;
/// What takes less than this, in milliseconds, takes no time.
const NOTICEABLE: u64 = 100;

/// Tells a run.
pub(crate) struct Narrator {
    screen: Screen,
    json: bool,
    /// Makes the events of a flow in latent's names, when these are wished.
    latent: Option<FlowEvents>,
    state: RunState,
    /// The criteria whose result was told in this cycle.
    told: HashSet<String>,
}

impl Narrator {
    /// Tells it on the screen; as lines of JSON when programs listen.
    pub(crate) fn new(screen: Screen, json: bool) -> Self {
        Self {
            screen,
            json,
            latent: None,
            state: RunState::default(),
            told: HashSet::new(),
        }
    }

    /// Tells the events of a flow in latent's names from now on.
    pub(crate) fn name_as_latent(&mut self) {
        self.latent = Some(FlowEvents::default());
    }

    /// The value that has to be there as a whole when this event is told.
    pub(crate) fn needs<'r>(&self, record: &'r RunEventRecord) -> Option<&'r Hash> {
        let value = match &record.event {
            RunEvent::AnswerGiven { text, .. } => text,
            RunEvent::ModelCallFinished {
                response: Some(response),
                ..
            } => &response.value,
            _ => return None,
        };
        (self.latent.is_some() && value.inline.is_none()).then_some(&value.hash)
    }

    /// Up to where it was told.
    pub(crate) fn last_seq(&self) -> u64 {
        self.state.last_seq
    }

    /// What was told so far.
    pub(crate) fn state(&self) -> &RunState {
        &self.state
    }

    /// Tells the next event, with the value that it needs as a whole.
    pub(crate) fn tell(&mut self, record: &RunEventRecord, whole: Option<&Value>) {
        if let Some(latent) = &mut self.latent {
            self.state.apply(record);
            for event in latent.take(record, &|_| whole.cloned()) {
                self.screen.json(&event);
            }
            return;
        }
        if self.json {
            self.state.apply(record);
            self.screen.line(&serde_json::to_string(record).unwrap_or_default());
            return;
        }
        self.state.apply(record);
        match &record.event {
            RunEvent::RunStarted { header } => self.started(header),
            RunEvent::RunReopened { why } => self.screen.wrapped(0, why),
            RunEvent::RunFinished { result } => self.finished(result, record.at_ms),
            RunEvent::CycleStarted { cycle } => self.cycle_started(*cycle),
            RunEvent::PlanningStarted { feedback, .. } => self.planning(feedback.as_deref()),
            RunEvent::PlanRefused { problems, again, .. } => self.refused(problems, *again),
            RunEvent::PlanProposed { cycle, plan, .. } => self.proposed(*cycle, plan),
            RunEvent::PersonAsked { ask } => self.asked(ask),
            RunEvent::PersonAnswered { answer } => self.answered(answer),
            RunEvent::PlanApproved { by, .. } => self.approved(*by),
            RunEvent::StepFinished {
                cycle,
                step,
                status,
                error,
                duration_ms,
                ..
            } => {
                self.step_finished(*cycle, step, *status, error.as_ref(), *duration_ms);
            }
            RunEvent::JudgingStarted { .. } => self.screen.line(&format!("  {}", self.screen.bold("Check"))),
            RunEvent::CheckFinished { result, .. } => self.judged(result),
            RunEvent::CycleJudged { cycle, evaluation, .. } => self.verdict(*cycle, evaluation),
            RunEvent::ModelAttempted { attempt } => {
                if let (Some(instead), None) = (&attempt.instead, attempt.wait_ms) {
                    let message = format!("{}; asked {} in its place", instead.because, instead.model);
                    self.screen.wrapped(4, &self.screen.yellow(&clean(&message)));
                }
                if let (Some(error), Some(wait)) = (&attempt.error, attempt.wait_ms) {
                    let message = format!("{error}; trying again in {}", duration(wait));
                    self.screen.wrapped(4, &self.screen.yellow(&clean(&message)));
                }
            }
            RunEvent::AttemptOpened { .. }
            | RunEvent::StepStarted { .. }
            | RunEvent::ModelCallStarted { .. }
            | RunEvent::ModelCallFinished { .. }
            | RunEvent::ToolStarted { .. }
            | RunEvent::EffectIntended { .. }
            | RunEvent::OutsideEffectIntended { .. }
            | RunEvent::ToolFinished { .. }
            | RunEvent::ScratchpadWritten { .. }
            | RunEvent::HookFinished { .. }
            | RunEvent::WorkFinished { .. }
            | RunEvent::TopicEmitted { .. }
            | RunEvent::WorkUnblocked { .. }
            | RunEvent::OverlayWritten { .. }
            | RunEvent::PhaseRouted { log: None, .. }
            // The end of the run says it.
            | RunEvent::AnswerGiven { .. }
            | RunEvent::JudgeAsked { .. } => {}
            RunEvent::PhaseStarted { phase, id, .. } => {
                let named = id.as_ref().map_or_else(|| phase.clone(), |id| format!("{phase} ({id})"));
                self.screen.wrapped(2, &clean(&named));
            }
            RunEvent::PhaseSkipped { phase, .. } => self.screen.wrapped(2, &format!("{}: skipped", clean(phase))),
            RunEvent::PhaseFinished { error: None, .. } => {}
            RunEvent::PhaseFinished {
                phase,
                error: Some(error),
                ..
            } => self
                .screen
                .wrapped(2, &clean(&format!("{phase}: failed: {}", error.message))),
            RunEvent::PhaseRouted { log: Some(log), .. } => self.screen.wrapped(4, &clean(log)),
            RunEvent::GuardrailJudged { result } if result.violated => {
                let words = match result.outcome {
                    GuardrailOutcome::Active => format!("Stopped by guardrail {}", result.rail),
                    GuardrailOutcome::Passive => format!("Noticed by guardrail {}, which lets it pass", result.rail),
                };
                self.screen.wrapped(2, &self.screen.yellow(&clean(&words)));
            }
            RunEvent::GuardrailJudged { .. } => {}
            RunEvent::PlanChanged { by, steps, .. } => {
                let by = if by.is_empty() { "You".to_owned() } else { by.join(", ") };
                let words = format!("{by} changed the plan: {}", steps.join(", "));
                self.screen.wrapped(2, &clean(&words));
            }
            RunEvent::StepChanged { by, step, .. } => {
                let words = format!("{} changed the step \"{}\"", by.join(", "), step.title());
                self.screen.wrapped(2, &clean(&words));
            }
            RunEvent::VerdictChanged { by, evaluation, .. } => {
                let why = evaluation.summary.as_ref().or(evaluation.feedback.as_ref());
                let words = format!(
                    "{} changed the verdict. {}",
                    by.join(", "),
                    why.map_or("", String::as_str)
                );
                self.screen.wrapped(2, &clean(&words));
            }
            RunEvent::GuidanceGiven { words } => self.screen.wrapped(2, &format!("You said: {}", clean(words))),
            RunEvent::LimitsRaised { limits } => {
                let most = count(u64::from(limits.max_cycles), "cycle", "cycles");
                let words = format!("At most {} tokens and {most} from now on.", number(limits.max_tokens));
                self.screen.wrapped(2, &words);
            }
            RunEvent::FolderChanged { files, .. } => {
                let words = format!("It changed {}.", count(files.len() as u64, "file", "files"));
                self.screen.wrapped(4, &words);
            }
            RunEvent::UndoIntended { redo, files } => {
                let files = count(files.len() as u64, "file", "files");
                let words = match redo {
                    false => format!("Undoing what it changed in {files}."),
                    true => format!("Bringing back what it changed in {files}."),
                };
                self.screen.wrapped(0, &words);
            }
            RunEvent::UndoFinished { left, .. } => {
                for file in left {
                    let words = format!("{}: {}", file.path, file.why);
                    self.screen.wrapped(2, &self.screen.yellow(&clean(&words)));
                }
            }
            RunEvent::RunPaused => self.screen.line("  Paused."),
            RunEvent::RunContinued => self.screen.line("  It goes on."),
        }
    }

    fn started(&self, header: &RunHeader) {
        let screen = self.screen;
        screen.line(&screen.bold(&clean(&header.title)));
        if header.task.goal != header.title {
            screen.wrapped(0, &screen.dim(&clean(&header.task.goal)));
        }
        screen.line("");
        screen.line(&format!("Folder  {}", clean(&header.envelope.folder)));
        match &header.recording {
            Some(label) => screen.line(&format!(
                "Model   none: {} (files, tools and checks are real)",
                lower(label)
            )),
            None => screen.line(&format!("Model   {}", clean(&models(header)))),
        }
        // Those that reach out are asked about one by one, and stand with what the run may touch.
        let deciding = header.rules.iter().filter(|rule| rule.effect().is_none());
        let rules: Vec<String> = deciding.map(HookRule::words).collect();
        if !rules.is_empty() {
            screen.line(&format!("Rules   {}", clean(&rules.join("; "))));
        }
    }

    fn cycle_started(&mut self, cycle: u32) {
        self.told.clear();
        let most = self
            .state
            .header
            .as_ref()
            .map_or(cycle, |header| header.envelope.max_cycles);
        self.screen.line("");
        self.screen
            .line(&self.screen.bold(&format!("Cycle {cycle} of at most {most}")));
    }

    fn planning(&self, feedback: Option<&str>) {
        let screen = self.screen;
        match feedback {
            None => screen.line(&screen.dim("  Making a plan …")),
            Some(feedback) => {
                screen.line(&screen.dim("  Making a new plan, told what to change:"));
                screen.wrapped(4, &clean(feedback));
            }
        }
    }

    fn refused(&self, problems: &[String], again: bool) {
        let screen = self.screen;
        let then = if again {
            "the planner is told and tries again"
        } else {
            "that was its second try"
        };
        screen.line(&screen.yellow(&format!("  The plan cannot be run; {then}:")));
        for problem in problems {
            screen.wrapped(4, &clean(problem));
        }
    }

    fn proposed(&self, cycle: u32, plan: &Plan) {
        let screen = self.screen;
        let tokens = number(plan.estimated_tokens.max(0.0) as u64);
        let steps = count(plan.steps.len() as u64, "step", "steps");
        let before = self.plan_of(cycle.saturating_sub(1));
        let difference = difference(before, plan)
            .map(|words| format!(" ({words})"))
            .unwrap_or_default();
        screen.line(&format!(
            "  {}  {steps}{difference}, about {tokens} tokens",
            screen.bold("Plan")
        ));
        let widest = plan
            .steps
            .iter()
            .map(|step| step.title().chars().count())
            .max()
            .unwrap_or(0)
            .min(48);
        for (place, step) in plan.steps.iter().enumerate() {
            let title = format!("{:<widest$}", clean(step.title()));
            let (mark, title) = match since(before, step) {
                Since::Same => (" ", title),
                Since::Changed => ("~", screen.yellow(&title)),
                Since::New => ("+", screen.green(&title)),
            };
            let about = screen.dim(&clean(&tools_and_needs(plan, step)));
            screen.line(&format!("  {mark} {:>2}  {title}  {about}", place + 1));
        }
        screen.wrapped(8, &clean(&plan.reasoning));
    }

    fn plan_of(&self, cycle: u32) -> Option<&Plan> {
        self.state
            .cycles
            .iter()
            .find(|state| state.number == cycle)?
            .plan
            .as_ref()
    }

    fn asked(&self, ask: &Ask) {
        let screen = self.screen;
        match ask {
            Ask::ApprovePlan { envelope, .. } => {
                screen.wrapped(2, &clean(&envelope_words::of(envelope)));
            }
            Ask::RunStep { title, tools, rule, .. } => {
                let uses = if tools.is_empty() {
                    String::new()
                } else {
                    format!(" (uses {})", tools.join(", "))
                };
                screen.wrapped(2, &clean(&format!("{rule}: {title}{uses}.")));
            }
            Ask::UncertainEffect { tool, path, .. } => {
                let words = format!(
                    "{tool} had begun when the app ended: {path}. Whether it was done cannot be told from here: look where it \
                     would show."
                );
                screen.wrapped(2, &screen.yellow(&clean(&words)));
            }
            Ask::Permission {
                step, wants, reason, ..
            } => {
                let words = format!("Step \"{step}\" wants to {wants}, and {reason}.");
                screen.wrapped(2, &screen.yellow(&clean(&words)));
            }
            Ask::AllowEffect { wants, .. } => {
                let words =
                    format!("The task's file wants to {wants}. Nothing of that is done until you allow exactly it.");
                screen.wrapped(2, &screen.yellow(&clean(&words)));
            }
            Ask::Gate { text, .. } => screen.wrapped(2, &clean(text)),
        }
    }

    fn answered(&self, answer: &Answer) {
        let screen = self.screen;
        match answer {
            Answer::AskForChanges { words } => screen.wrapped(2, &format!("You asked for changes: {}", clean(words))),
            Answer::Reject { .. } => screen.line("  You said no."),
            Answer::MarkDone => screen.line("  You said that it was done."),
            Answer::RunAgain => screen.line("  You said to do it again."),
            Answer::StopRun => screen.line("  You stopped the run."),
            Answer::Allow { scope } => screen.line(match scope {
                AllowedFor::Once => "  You allowed it once.",
                AllowedFor::Run => "  You allowed it for this run.",
                AllowedFor::Task => "  You allowed it for every run of this task.",
            }),
            Answer::AllowedMeanwhile => screen.line("  You allowed the same meanwhile."),
            // What follows says it.
            Answer::Approve { .. } | Answer::ApproveEdited { .. } | Answer::Reply { .. } => {}
        }
    }

    fn approved(&self, by: ApprovedBy) {
        let words = match by {
            ApprovedBy::Person => "Approved.",
            ApprovedBy::EarlierApproval => "Inside what was approved before.",
            ApprovedBy::NoApprovalNeeded => "The task asks for no approval.",
        };
        self.screen.line(&format!("  {words}"));
        self.screen.line(&format!("  {}", self.screen.bold("Run")));
    }

    fn step_finished(&self, cycle: u32, id: &str, status: StepStatus, error: Option<&StepError>, duration_ms: u64) {
        let screen = self.screen;
        let plan = self.plan_of(cycle);
        let step = plan.and_then(|plan| plan.steps.iter().find(|step| step.id == id));
        let title = clean(step.map_or(id, |step| step.title()));
        let (mark, after) = match status {
            StepStatus::Done if duration_ms < NOTICEABLE => (screen.green("✓"), String::new()),
            StepStatus::Done => (screen.green("✓"), screen.dim(&duration(duration_ms))),
            StepStatus::Kept => (screen.green("="), screen.dim("kept from the cycle before")),
            StepStatus::Failed => (screen.red("✗"), screen.red("failed")),
            StepStatus::Skipped => (screen.dim("–"), screen.dim("skipped")),
            StepStatus::Waiting | StepStatus::Running | StepStatus::WaitingForPerson | StepStatus::Uncertain => {
                (screen.dim("·"), String::new())
            }
        };
        screen.line(format!("    {mark} {title}  {after}").trim_end());
        if let Some(error) = error {
            screen.wrapped(6, &clean(&error.message));
        }
    }

    fn judged(&mut self, result: &CriterionResult) {
        if !self.told.insert(result.id.clone()) {
            return;
        }
        let screen = self.screen;
        let mark = match result.verdict {
            CriterionVerdict::Pass => screen.green("✓"),
            CriterionVerdict::Fail => screen.red("✗"),
            CriterionVerdict::Unknown => screen.yellow("?"),
            CriterionVerdict::NotJudged => screen.dim("–"),
        };
        let criterion = self.criterion(&result.id);
        let text = criterion
            .as_ref()
            .map_or(result.id.clone(), |criterion| criterion.text.clone());
        let about = criterion
            .and_then(|criterion| criterion.path)
            .filter(|path| !text.contains(path.as_str()));
        let about = about.map(|path| format!("{path}: ")).unwrap_or_default();
        screen.line(&format!("    {mark} {}", clean(&format!("{about}{text}"))));
        let by = match (result.by, result.verdict) {
            (_, CriterionVerdict::NotJudged) => "not judged".to_owned(),
            (DecidedBy::App, _) => format!("checked by the app: {}", result.evidence),
            (DecidedBy::Model, _) => format!("judged by the model: {}", result.evidence),
        };
        screen.wrapped(6, &cut(&clean(&by)));
    }

    fn criterion(&self, id: &str) -> Option<Criterion> {
        let header = self.state.header.as_ref()?;
        let Some(run) = &header.flow else {
            return header.task.criteria().into_iter().find(|criterion| criterion.id == id);
        };
        // Those of the tasks that are steps of the flow; where two share an address, their words must be the same.
        let expected = run.flow.expected_outputs();
        let mut all = expected
            .into_iter()
            .flat_map(ExpectedOutput::criteria)
            .filter(|criterion| criterion.id == id);
        let first = all.next()?;
        all.all(|other| other.text == first.text).then_some(first)
    }

    fn verdict(&mut self, cycle: u32, evaluation: &Evaluation) {
        for result in &evaluation.criteria {
            self.judged(result);
        }
        let screen = self.screen;
        let passed = evaluation
            .criteria
            .iter()
            .filter(|result| result.verdict == CriterionVerdict::Pass)
            .count();
        let of = format!("{passed} of {} criteria hold", evaluation.criteria.len());
        match evaluation.verdict {
            Verdict::Pass => screen.line(&format!("  {} {of}", screen.green(&format!("Cycle {cycle} passed:")))),
            Verdict::Fail => screen.line(&format!("  {} {of}", screen.yellow(&format!("Cycle {cycle} failed:")))),
        }
    }

    fn finished(&self, result: &RunResult, at_ms: i64) {
        let screen = self.screen;
        let words = ending(result);
        let painted = match result.status {
            RunStatus::Pass => screen.green(&words),
            RunStatus::Fail => screen.red(&words),
            RunStatus::Terminated | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {
                screen.yellow(&words)
            }
        };
        let is_flow = self.state.header.as_ref().is_some_and(|header| header.flow.is_some());
        let cycles = match is_flow {
            true => String::new(),
            false => count(u64::from(result.cycles), "cycle", "cycles") + ", ",
        };
        let took = duration(u64::try_from(at_ms - self.state.started_at_ms).unwrap_or(0));
        screen.line("");
        screen.line(&format!(
            "{}  {cycles}{} tokens{}, {took}",
            screen.bold(&painted),
            number(result.tokens_used),
            result.cost.as_ref().map(estimate_words::spent).unwrap_or_default()
        ));
        screen.wrapped(0, &clean(&result.feedback));
        if let Some(error) = &result.error {
            screen.line(&screen.dim(&clean(&self.code(&error.code))));
        }
        self.files(result);
    }

    /// A failure's code; of a manifest with the one that its own system has for it (flows page, "Failure").
    fn code(&self, code: &str) -> String {
        let flow = self.state.header.as_ref().and_then(|header| header.flow.as_deref());
        match flow.map(|run| run.flow.dialect) {
            Some(Dialect::Manifest) => format!("{code} (in agntz {})", app::agntz_code(code)),
            Some(Dialect::Flow | Dialect::Plan) | None => code.to_owned(),
        }
    }

    /// The files that the run leaves behind, each where it is.
    fn files(&self, result: &RunResult) {
        let Some(header) = &self.state.header else { return };
        let mut paths: Vec<&str> = self
            .state
            .files
            .iter()
            .filter(|file| file.done)
            .map(|file| file.path.as_str())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        if !paths.is_empty() {
            self.screen.line("");
            self.screen.line(&self.screen.bold("Files written"));
            let folder = std::path::Path::new(&header.envelope.folder);
            for path in paths {
                self.screen
                    .line(&format!("  {}", clean(&folder.join(path).display().to_string())));
            }
        }
        for value in result.outputs.iter().filter_map(|output| output.value.as_ref()) {
            self.screen.line("");
            self.screen.line(&self.screen.bold("Answer"));
            match (&value.inline, &value.excerpt) {
                (Some(value), _) => self.answer(value),
                (None, Some(beginning)) => self.screen.wrapped(2, &format!("{} …", clean(beginning))),
                (None, None) => {}
            }
        }
    }

    /// An answer of which the run's end has shown the beginning.
    pub(crate) fn whole_answer(&self, value: &serde_json::Value) {
        if !self.json {
            self.aside("\nAll of it:");
            self.answer(value);
        }
    }

    /// An answer as it is: words as words, anything else as JSON.
    fn answer(&self, value: &serde_json::Value) {
        match value.as_str() {
            Some(words) => self.screen.wrapped(2, &clean(words)),
            None => {
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                for line in text.lines() {
                    self.screen.line(&format!("  {}", clean(line)));
                }
            }
        }
    }

    /// Says why the run stopped in the middle.
    pub(crate) fn interrupted(&self, error: &AppError) {
        let screen = self.screen;
        if self.json {
            screen.json(&serde_json::json!({ "interrupted": error }));
            return;
        }
        screen.line("");
        screen.line(&screen.bold(&screen.yellow("INTERRUPTED")));
        let message = clean(&error.message);
        let mut letters = message.chars();
        let capital: String = letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect())
            .unwrap_or_default();
        screen.wrapped(0, &format!("{capital}. {}", error.hint.as_deref().unwrap_or_default()));
    }

    /// Says something that is not part of the run, to people only.
    pub(crate) fn aside(&self, words: &str) {
        if !self.json {
            self.screen.wrapped(0, words);
        }
    }
}

/// How a run ended, in words.
pub(crate) fn ending(result: &RunResult) -> String {
    match result.stop_reason {
        StopReason::Passed => "PASS",
        StopReason::Accepted => "PASS (accepted by you)",
        StopReason::MaxCycles => "FAIL (no cycles left)",
        StopReason::NoProgress => "FAIL (no progress: another cycle would have come to the same)",
        StopReason::Rejected => "FAIL (you said no)",
        StopReason::Error if is_blocked(result) => "FAIL (a guardrail stopped it)",
        StopReason::Error => "FAIL (something went wrong)",
        // Of the two the engine says which, in the words of the reference implementation.
        StopReason::Budget if result.feedback.starts_with("Cost budget") => "STOPPED (the money is used up)",
        StopReason::Budget => "STOPPED (the tokens are used up)",
        StopReason::Cancelled => "STOPPED (by you)",
    }
    .to_owned()
}

/// Whether a guardrail did what it is for.
fn is_blocked(result: &RunResult) -> bool {
    let error = result.error.as_ref();
    error.is_some_and(|error| error.code == code::BLOCKED_BY_GUARDRAIL)
}

fn models(header: &RunHeader) -> String {
    let roles = &header.roles;
    // The provider says nothing to a person who has set up one server.
    let name = |role: &String| role.strip_prefix("openai_compatible:").unwrap_or(role).to_owned();
    let [planner, judge, low, high] =
        [&roles.planner, &roles.judge, &roles.executor_low, &roles.executor_high].map(name);
    if [&judge, &low, &high].iter().all(|other| **other == planner) {
        return planner;
    }
    format!("{planner} plans, {judge} judges, {low} and {high} do the steps")
}

fn lower(label: &str) -> String {
    let mut letters = label.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(EVIDENCE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
