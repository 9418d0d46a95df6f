//! The state of a run: a fold of its events, the same in Rust here and in TypeScript in the window.
//! Both reproduce the fixtures under `tests/fixtures/run_state`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::access::Access;
use crate::cost::Cost;
use crate::evaluation::{CriterionResult, Evaluation};
use crate::event::{ApprovedBy, LogLine, Purpose, RunEvent, RunEventRecord};
use crate::flow::GuardrailResult;
use crate::hash::Hash;
use crate::ids::Key;
use crate::llm::LlmAttempt;
use crate::person::{Answer, Ask};
use crate::plan::{Plan, PlanStep};
use crate::run::{RunHeader, RunResult, RunStatus};
use crate::step::{StepError, StepStatus};
use crate::task::Limits;
use crate::value_ref::ValueRef;

/// Everything that the run's screens draw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    /// The last event that is in it.
    pub last_seq: u64,
    /// How the run began.
    pub header: Option<RunHeader>,
    /// When it began.
    pub started_at_ms: i64,
    /// When something last happened.
    pub updated_at_ms: i64,
    /// How it ended.
    pub result: Option<RunResult>,
    /// The cycles, in order.
    pub cycles: Vec<CycleState>,
    /// The question that waits for a person; of several, the first that was asked.
    pub waiting: Option<WaitingFor>,
    /// The questions that wait besides, in the order in which they were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<WaitingFor>>", optional)]
    pub waiting_also: Vec<WaitingFor>,
    /// What all attempts of all model calls cost.
    pub tokens_used: u64,
    /// How many of these tokens are the app's own guess, because a server did not say.
    #[serde(default)]
    pub tokens_estimated: u64,
    /// What the tokens cost in money, as far as prices are known; nothing for a recording.
    #[serde(default)]
    pub cost: Cost,
    /// Whether a person paused it.
    #[serde(default)]
    pub paused: bool,
    /// What a person said to the planners of later cycles, in order.
    #[serde(default)]
    pub guidance: Vec<String>,
    /// The scratchpad, in the order of first writing.
    #[ts(type = "{ [name: string]: ValueRef }")]
    pub scratchpad: IndexMap<String, ValueRef>,
    /// Files that the run changed, in order; the first change holds the bytes from before the run.
    pub files: Vec<FileChange>,
    /// Every model call by its key.
    #[ts(type = "{ [key: string]: CallState }")]
    pub calls: IndexMap<String, CallState>,
    /// Every tool execution by its key.
    #[ts(type = "{ [key: string]: ToolState }")]
    pub tools: IndexMap<String, ToolState>,
    /// Every visit of a flow's step by its key, in the order of their beginning.
    #[serde(default)]
    #[ts(type = "{ [key: string]: PhaseState }")]
    pub phases: IndexMap<String, PhaseState>,
    /// A flow's answer.
    #[serde(default)]
    pub answer: Option<ValueRef>,
    /// What the flow's guardrails found.
    #[serde(default)]
    pub guardrails: Vec<GuardrailResult>,
}

/// A cycle of plan, run and judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CycleState {
    /// Counted from 1.
    pub number: u32,
    /// How far it is.
    pub phase: CyclePhase,
    /// What its planner was told to change.
    pub feedback: Option<String>,
    /// What was wrong with the planner's last reply.
    pub plan_problems: Vec<String>,
    /// The plan.
    pub plan: Option<Plan>,
    /// The plan's address.
    pub plan_hash: Option<Hash>,
    /// Who let it run.
    pub approved_by: Option<ApprovedBy>,
    /// The plan's steps by id, in the plan's order.
    #[ts(type = "{ [step: string]: StepState }")]
    pub steps: IndexMap<String, StepState>,
    /// What the app's checks found so far.
    pub checks: Vec<CriterionResult>,
    /// The verdict.
    pub evaluation: Option<Evaluation>,
    /// The verdict that counts in its place, when a hook or a person changed it.
    #[serde(default)]
    pub changed_verdict: Option<ChangedVerdict>,
}

/// A verdict over the judge's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedVerdict {
    /// Who changed it: hooks, or `person`.
    pub by: Vec<String>,
    /// The verdict that counts.
    pub evaluation: Evaluation,
}

/// How far a cycle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CyclePhase {
    /// A planner is at work.
    Planning,
    /// There is a plan, not yet approved.
    Proposed,
    /// The steps run.
    Running,
    /// The judge is at work.
    Judging,
    /// It has its verdict, or the run ended.
    Ended,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StepState {
    /// Where it stands.
    pub status: StepStatus,
    /// When it began.
    pub started_at_ms: Option<i64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What its model calls cost.
    pub tokens_used: u64,
    /// What it was given, by name.
    pub inputs: Vec<String>,
    /// Its output.
    pub output: Option<ValueRef>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// Where a kept result was really made, such as `cycle_1.step_3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept_from: Option<String>,
    /// The keys of its model calls and tool executions, in order.
    pub leaves: Vec<Key>,
}

/// One visit of a flow's step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhaseState {
    /// The step's path.
    pub phase: String,
    /// What kind of step; none when it was skipped.
    pub kind: Option<String>,
    /// Which visit, from 1 on.
    pub visit: u32,
    /// Where it stands.
    pub status: StepStatus,
    /// When it began.
    pub started_at_ms: i64,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it alone was given.
    pub inputs: Option<ValueRef>,
    /// Its output.
    pub output: Option<ValueRef>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// The key of the step after it.
    pub routed_to: Option<String>,
    /// The keys of its model calls and tool executions, in order.
    pub leaves: Vec<Key>,
}

/// A model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// Whose.
    pub cycle: u32,
    /// What for.
    pub purpose: Purpose,
    /// Which step.
    pub step: Option<String>,
    /// `provider:model`.
    pub model: String,
    /// The request.
    pub request: ValueRef,
    /// The attempts so far.
    pub attempts: Vec<LlmAttempt>,
    /// The whole answer.
    pub response: Option<ValueRef>,
    /// Why there is none.
    pub error: Option<StepError>,
    /// How long it took; none while it is at work.
    pub duration_ms: Option<u64>,
}

/// A tool execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolState {
    /// Whose.
    pub cycle: u32,
    /// Which step.
    pub step: String,
    /// Which tool.
    pub tool: String,
    /// Its arguments.
    pub args: ValueRef,
    /// What it touches.
    pub access: Vec<Access>,
    /// What it returned.
    pub output: Option<ValueRef>,
    /// Why it did not.
    pub error: Option<StepError>,
    /// What it wrote to the log.
    pub logs: Vec<LogLine>,
    /// How long it took; none while it is at work.
    pub duration_ms: Option<u64>,
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The file, relative to the working folder.
    pub path: String,
    /// The address of its bytes before; none when it was not there.
    pub before: Option<Hash>,
    /// The address of its bytes after.
    pub after: Option<Hash>,
    /// Whose.
    pub cycle: u32,
    /// Which step.
    pub step: String,
    /// Whether the change is known to have been made.
    pub done: bool,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// The question's address; the answer goes there.
    pub key: Key,
    /// The question.
    pub ask: Ask,
    /// Since when.
    pub since_ms: i64,
}

impl RunState {
    /// The state after these events.
    pub fn of(events: &[RunEventRecord]) -> Self {
        let mut state = Self::default();
        for record in events {
            state.apply(record);
        }
        state
    }

    /// Every question that waits for a person, in the order in which they were asked.
    pub fn questions(&self) -> impl Iterator<Item = &WaitingFor> {
        self.waiting.iter().chain(&self.waiting_also)
    }

    /// Where the run stands.
    pub fn status(&self) -> RunStatus {
        match (&self.result, &self.waiting) {
            (Some(result), _) => result.status,
            (None, _) if self.paused => RunStatus::Paused,
            (None, Some(_)) => RunStatus::Waiting,
            (None, None) => RunStatus::Running,
        }
    }

    /// Takes the next event in. An event that is already in it changes nothing.
    pub fn apply(&mut self, record: &RunEventRecord) {
        if record.seq <= self.last_seq {
            return;
        }
        self.last_seq = record.seq;
        self.updated_at_ms = record.at_ms;
        let key = &record.key;
        match &record.event {
            RunEvent::RunStarted { header } => {
                self.header = Some((**header).clone());
                self.started_at_ms = record.at_ms;
            }
            RunEvent::RunReopened { .. } => {
                self.result = None;
                self.paused = false;
            }
            RunEvent::RunPaused => self.paused = true,
            RunEvent::RunContinued => self.paused = false,
            RunEvent::GuidanceGiven { words } => self.guidance.push(words.clone()),
            RunEvent::LimitsRaised { limits } => self.raise(limits),
            RunEvent::RunFinished { result } => self.finish(result),
            RunEvent::CycleStarted { cycle } => self.cycles.push(CycleState::new(*cycle)),
            RunEvent::AttemptOpened { .. }
            | RunEvent::HookFinished { .. }
            | RunEvent::JudgeAsked { .. }
            | RunEvent::WorkFinished { .. }
            | RunEvent::TopicEmitted { .. }
            | RunEvent::WorkUnblocked { .. }
            | RunEvent::OverlayWritten { .. } => {}
            RunEvent::PlanningStarted { cycle, feedback, .. } => self.in_cycle(*cycle, |state| {
                state.phase = CyclePhase::Planning;
                state.feedback.clone_from(feedback);
            }),
            RunEvent::PlanRefused { cycle, problems, .. } => {
                self.in_cycle(*cycle, |state| state.plan_problems.clone_from(problems));
            }
            RunEvent::PlanProposed {
                cycle, plan, plan_hash, ..
            } => self.in_cycle(*cycle, |state| state.propose(plan, plan_hash)),
            RunEvent::PlanChanged {
                cycle, plan, plan_hash, ..
            } => self.in_cycle(*cycle, |state| state.change_plan(plan, plan_hash)),
            RunEvent::StepChanged { cycle, step, .. } => self.in_cycle(*cycle, |state| state.change_step(step)),
            RunEvent::PersonAsked { ask } => self.ask(key, ask, record.at_ms),
            RunEvent::PersonAnswered { answer } => self.answer(key, answer),
            RunEvent::PlanApproved { cycle, by, .. } => self.in_cycle(*cycle, |state| {
                state.approved_by = Some(*by);
                state.phase = CyclePhase::Running;
            }),
            RunEvent::StepStarted { cycle, step, inputs } => self.in_step(*cycle, step, |state| {
                state.status = StepStatus::Running;
                state.started_at_ms = Some(record.at_ms);
                state.inputs = inputs.iter().map(|input| input.name.clone()).collect();
            }),
            RunEvent::StepFinished {
                cycle,
                step,
                status,
                output,
                error,
                tokens_used,
                duration_ms,
                kept_from,
            } => {
                self.in_step(*cycle, step, |state| {
                    state.status = *status;
                    state.output.clone_from(output);
                    state.error.clone_from(error);
                    state.tokens_used = *tokens_used;
                    state.duration_ms = Some(*duration_ms);
                    state.kept_from.clone_from(kept_from);
                });
            }
            RunEvent::ModelCallStarted {
                cycle,
                purpose,
                step,
                model,
                request,
                ..
            } => {
                let call = CallState {
                    cycle: *cycle,
                    purpose: *purpose,
                    step: step.clone(),
                    model: model.clone(),
                    request: request.clone(),
                    attempts: Vec::new(),
                    response: None,
                    error: None,
                    duration_ms: None,
                };
                self.add_leaf(*cycle, step.as_deref(), key);
                self.calls.insert(leaf_of(key), call);
            }
            RunEvent::ModelAttempted { attempt } => {
                self.count(&leaf_of(key), attempt);
                if let Some(call) = self.calls.get_mut(&leaf_of(key)) {
                    call.attempts.push(attempt.clone());
                }
            }
            RunEvent::ModelCallFinished {
                response,
                error,
                duration_ms,
            } => {
                if let Some(call) = self.calls.get_mut(&leaf_of(key)) {
                    call.response = response.as_ref().map(|response| response.value.clone());
                    call.error.clone_from(error);
                    call.duration_ms = Some(*duration_ms);
                }
            }
            RunEvent::ToolStarted {
                cycle,
                step,
                tool,
                args,
                access,
                ..
            } => {
                let execution = ToolState {
                    cycle: *cycle,
                    step: step.clone(),
                    tool: tool.clone(),
                    args: args.clone(),
                    access: access.clone(),
                    output: None,
                    error: None,
                    logs: Vec::new(),
                    duration_ms: None,
                };
                self.add_leaf(*cycle, Some(step), key);
                self.tools.insert(leaf_of(key), execution);
            }
            RunEvent::EffectIntended {
                path, before, after, ..
            } => self.intend(key, path, before, after),
            RunEvent::OutsideEffectIntended { .. } => {}
            RunEvent::ToolFinished {
                output,
                error,
                scratchpad,
                logs,
                duration_ms,
                ..
            } => {
                for entry in scratchpad {
                    self.scratchpad.insert(entry.name.clone(), entry.value.clone());
                }
                self.finish_tool(key, output, error, logs, *duration_ms);
            }
            RunEvent::ScratchpadWritten { entry } => {
                self.scratchpad.insert(entry.name.clone(), entry.value.clone());
            }
            RunEvent::JudgingStarted { cycle } => self.in_cycle(*cycle, |state| state.phase = CyclePhase::Judging),
            RunEvent::CheckFinished { cycle, result, .. } => {
                self.in_cycle(*cycle, |state| state.checks.push(result.clone()));
            }
            RunEvent::CycleJudged { cycle, evaluation, .. } => self.in_cycle(*cycle, |state| {
                state.evaluation = Some(evaluation.clone());
                state.phase = CyclePhase::Ended;
            }),
            RunEvent::PhaseStarted {
                phase,
                kind,
                visit,
                inputs,
                ..
            } => {
                let begun = PhaseState {
                    kind: Some(kind.clone()),
                    status: StepStatus::Running,
                    inputs: inputs.clone(),
                    ..PhaseState::new(phase, *visit, record.at_ms)
                };
                self.phases.insert(leaf_of(key), begun);
            }
            RunEvent::PhaseSkipped { phase, visit, .. } => {
                let skipped = PhaseState::new(phase, *visit, record.at_ms);
                self.phases.insert(leaf_of(key), skipped);
            }
            RunEvent::PhaseFinished {
                output,
                error,
                duration_ms,
                ..
            } => {
                if let Some(phase) = self.phases.get_mut(&leaf_of(key)) {
                    phase.status = if error.is_none() {
                        StepStatus::Done
                    } else {
                        StepStatus::Failed
                    };
                    phase.output.clone_from(output);
                    phase.error.clone_from(error);
                    phase.duration_ms = Some(*duration_ms);
                }
            }
            RunEvent::PhaseRouted { to, .. } => {
                if let Some(phase) = self.phases.get_mut(&leaf_of(key)) {
                    phase.routed_to.clone_from(to);
                }
            }
            RunEvent::AnswerGiven { text, .. } => self.answer = Some(text.clone()),
            RunEvent::GuardrailJudged { result } => self.guardrails.push(result.clone()),
            RunEvent::VerdictChanged { cycle, by, evaluation } => self.in_cycle(*cycle, |state| {
                let (by, evaluation) = (by.clone(), evaluation.clone());
                state.changed_verdict = Some(ChangedVerdict { by, evaluation });
            }),
        }
    }

    /// What the model calls that are wanted cost, such as those of a step or a cycle; nothing for a recording. The sum of
    /// all of them is [`RunState::cost`].
    pub fn cost_of(&self, wanted: impl Fn(&CallState) -> bool) -> Cost {
        let mut cost = Cost::default();
        let Some(header) = self.header.as_ref().filter(|header| header.recording.is_none()) else {
            return cost;
        };
        for call in self.calls.values().filter(|call| wanted(call)) {
            for usage in call.attempts.iter().filter_map(|attempt| attempt.usage.as_ref()) {
                cost.add(&header.prices, &call.model, usage);
            }
        }
        cost
    }

    fn raise(&mut self, limits: &Limits) {
        if let Some(header) = &mut self.header {
            header.envelope.max_tokens = limits.max_tokens;
            header.envelope.max_cycles = limits.max_cycles;
            header.task.limits = limits.clone();
        }
    }

    /// Counts an attempt of the call at this leaf.
    fn count(&mut self, leaf: &str, attempt: &LlmAttempt) {
        let Some(usage) = &attempt.usage else { return };
        self.tokens_used += usage.total();
        if usage.estimated {
            self.tokens_estimated += usage.total();
        }
        if let (Some(header), Some(call)) = (&self.header, self.calls.get(leaf))
            && header.recording.is_none()
        {
            self.cost.add(&header.prices, &call.model, usage);
        }
    }

    fn finish(&mut self, result: &RunResult) {
        self.result = Some(result.clone());
        self.waiting = None;
        self.waiting_also.clear();
        if let Some(cycle) = self.cycles.last_mut() {
            cycle.phase = CyclePhase::Ended;
        }
    }

    fn ask(&mut self, key: &Key, ask: &Ask, at_ms: i64) {
        match ask {
            Ask::UncertainEffect { cycle, step, .. } => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::Uncertain);
            }
            Ask::Gate { .. } => self.in_phase(key, |state| state.status = StepStatus::WaitingForPerson),
            Ask::RunStep { cycle, step, .. } => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::WaitingForPerson);
            }
            Ask::ApprovePlan { .. } => {}
        }
        let question = WaitingFor {
            key: Key::new(leaf_of(key)),
            ask: ask.clone(),
            since_ms: at_ms,
        };
        match self.waiting {
            None => self.waiting = Some(question),
            Some(_) => self.waiting_also.push(question),
        }
    }

    /// Takes the question out that an answer at this key belongs to.
    fn take_question(&mut self, key: &Key) -> Option<WaitingFor> {
        let key = leaf_of(key);
        let also = self.waiting_also.iter();
        match also.map(|waiting| waiting.key.as_str()).position(|other| other == key) {
            Some(place) => Some(self.waiting_also.remove(place)),
            None => {
                let next = (!self.waiting_also.is_empty()).then(|| self.waiting_also.remove(0));
                std::mem::replace(&mut self.waiting, next)
            }
        }
    }

    fn answer(&mut self, key: &Key, answer: &Answer) {
        let Some(waiting) = self.take_question(key) else {
            return;
        };
        match (&waiting.ask, answer) {
            (Ask::UncertainEffect { cycle, step, .. } | Ask::RunStep { cycle, step, .. }, _) => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::Running);
            }
            (Ask::ApprovePlan { cycle, .. }, Answer::AskForChanges { .. }) => {
                self.in_cycle(*cycle, |state| state.phase = CyclePhase::Planning);
            }
            (Ask::Gate { .. }, _) => self.in_phase(&waiting.key, |state| state.status = StepStatus::Running),
            (Ask::ApprovePlan { .. }, _) => {}
        }
    }

    fn intend(&mut self, key: &Key, path: &str, before: &Option<Hash>, after: &Option<Hash>) {
        let Some(tool) = self.tools.get(&leaf_of(key)) else {
            return;
        };
        self.files.push(FileChange {
            path: path.to_owned(),
            before: before.clone(),
            after: after.clone(),
            cycle: tool.cycle,
            step: tool.step.clone(),
            done: false,
        });
    }

    fn finish_tool(
        &mut self,
        key: &Key,
        output: &Option<ValueRef>,
        error: &Option<StepError>,
        logs: &[LogLine],
        duration_ms: u64,
    ) {
        let Some(tool) = self.tools.get_mut(&leaf_of(key)) else {
            return;
        };
        tool.output.clone_from(output);
        tool.error.clone_from(error);
        tool.logs = logs.to_vec();
        tool.duration_ms = Some(duration_ms);
        if error.is_none() {
            let (cycle, step) = (tool.cycle, tool.step.clone());
            for change in self
                .files
                .iter_mut()
                .filter(|change| change.cycle == cycle && change.step == step)
            {
                change.done = true;
            }
        }
    }

    fn add_leaf(&mut self, cycle: u32, step: Option<&str>, key: &Key) {
        let leaf = Key::new(leaf_of(key));
        self.in_phase(key, |state| state.leaves.push(leaf));
        if let Some(step) = step {
            self.in_step(cycle, step, |state| state.leaves.push(Key::new(leaf_of(key))));
        }
    }

    /// Changes the innermost visit of a flow's step that an address lies in.
    fn in_phase(&mut self, key: &Key, change: impl FnOnce(&mut PhaseState)) {
        let mut place = key.as_str();
        while let Some(slash) = place.rfind('/') {
            place = &place[..slash];
            if let Some(phase) = self.phases.get_mut(place) {
                return change(phase);
            }
        }
    }

    fn in_cycle(&mut self, number: u32, change: impl FnOnce(&mut CycleState)) {
        if let Some(cycle) = self.cycles.iter_mut().rev().find(|cycle| cycle.number == number) {
            change(cycle);
        }
    }

    fn in_step(&mut self, cycle: u32, step: &str, change: impl FnOnce(&mut StepState)) {
        self.in_cycle(cycle, |cycle| {
            if let Some(step) = cycle.steps.get_mut(step) {
                change(step);
            }
        });
    }
}

/// The leaf that an entry belongs to: its key without the mark after the colon.
fn leaf_of(key: &Key) -> String {
    match key.as_str().rfind([':', '/']) {
        Some(place) if key.as_str()[place..].starts_with(':') => key.as_str()[..place].to_owned(),
        Some(_) | None => key.as_str().to_owned(),
    }
}

impl CycleState {
    fn new(number: u32) -> Self {
        Self {
            number,
            phase: CyclePhase::Planning,
            feedback: None,
            plan_problems: Vec::new(),
            plan: None,
            plan_hash: None,
            approved_by: None,
            steps: IndexMap::new(),
            checks: Vec::new(),
            evaluation: None,
            changed_verdict: None,
        }
    }

    /// Takes another plan in the place of the proposed one; what its steps did so far stays.
    fn change_plan(&mut self, plan: &Plan, plan_hash: &Hash) {
        self.steps = plan
            .steps
            .iter()
            .map(|step| (step.id.clone(), self.steps.get(&step.id).cloned().unwrap_or_default()))
            .collect();
        self.plan = Some(plan.clone());
        self.plan_hash = Some(plan_hash.clone());
    }

    fn change_step(&mut self, step: &PlanStep) {
        let found = self
            .plan
            .iter_mut()
            .flat_map(|plan| &mut plan.steps)
            .find(|known| known.id == step.id);
        if let Some(found) = found {
            found.clone_from(step);
        }
    }

    fn propose(&mut self, plan: &Plan, plan_hash: &Hash) {
        self.phase = CyclePhase::Proposed;
        self.plan_problems.clear();
        self.steps = plan
            .steps
            .iter()
            .map(|step| (step.id.clone(), StepState::default()))
            .collect();
        self.plan = Some(plan.clone());
        self.plan_hash = Some(plan_hash.clone());
    }
}

impl PhaseState {
    fn new(phase: &str, visit: u32, at_ms: i64) -> Self {
        Self {
            phase: phase.to_owned(),
            kind: None,
            visit,
            status: StepStatus::Skipped,
            started_at_ms: at_ms,
            duration_ms: None,
            inputs: None,
            output: None,
            error: None,
            routed_to: None,
            leaves: Vec::new(),
        }
    }
}

impl Default for StepState {
    fn default() -> Self {
        Self {
            status: StepStatus::Waiting,
            started_at_ms: None,
            duration_ms: None,
            tokens_used: 0,
            inputs: Vec::new(),
            output: None,
            error: None,
            kept_from: None,
            leaves: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RunId;

    fn after(state: &RunState, key: &str, event: RunEvent) -> RunState {
        let mut state = state.clone();
        let seq = state.last_seq + 1;
        state.apply(&RunEventRecord {
            run_id: RunId::new("r"),
            seq,
            at_ms: 0,
            key: Key::new(key),
            event,
        });
        state
    }

    #[test]
    fn of_several_questions_each_is_answered_by_itself() {
        let waiting =
            |state: &RunState| -> Vec<String> { state.questions().map(|one| one.key.as_str().to_owned()).collect() };
        let answer = |state: &RunState, key: &str| {
            let answer = Answer::Approve { revisions: false };
            after(state, key, RunEvent::PersonAnswered { answer })
        };
        let asked = ["g/1", "g/2", "g/3"].iter().fold(RunState::default(), |state, key| {
            let ask = Ask::Gate {
                phase: "p".to_owned(),
                text: "Go on?".to_owned(),
                question: None,
            };
            after(&state, &format!("{key}:asked"), RunEvent::PersonAsked { ask })
        });
        assert_eq!(waiting(&asked), ["g/1", "g/2", "g/3"]);
        let second = answer(&asked, "g/2");
        assert_eq!(waiting(&second), ["g/1", "g/3"]);
        let first = answer(&second, "g/1");
        assert_eq!(
            (waiting(&first), first.status()),
            (vec!["g/3".to_owned()], RunStatus::Waiting)
        );
        assert_eq!(answer(&first, "g/3").status(), RunStatus::Running);
    }
}
