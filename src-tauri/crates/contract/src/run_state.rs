//! The state of a run: a fold of its events, the same in Rust here and in TypeScript in the window.
//! Both reproduce the fixtures under `tests/fixtures/run_state`.

mod changes;
mod parts;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::cost::Cost;
use crate::event::{RunEvent, RunEventRecord};
use crate::flow::GuardrailResult;
use crate::run::{RunHeader, RunResult, RunStatus};
use crate::step::StepStatus;
use crate::undo::{FileRestore, NotRestored};
use crate::value_ref::ValueRef;

use self::changes::leaf_of;
pub use self::parts::{
    CallState, ChangedVerdict, CyclePhase, CycleState, FileChange, PhaseState, StepState, ToolState, WaitingFor,
};

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
    /// What a person took back in files or brought again, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<UndoState>>", optional)]
    pub undos: Vec<UndoState>,
}

/// An undo of what the run changed in files, or of an earlier undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoState {
    /// Whether what was undone was brought again.
    pub redo: bool,
    /// The files that were to change.
    pub files: Vec<FileRestore>,
    /// Those of them that could not; none while it is at work, or when it was broken off.
    pub left: Option<Vec<NotRestored>>,
    /// When it began.
    pub at_ms: i64,
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
            RunEvent::FolderChanged { files, .. } => self.change_folder(key, files),
            RunEvent::UndoIntended { redo, files } => self.undos.push(UndoState {
                redo: *redo,
                files: files.clone(),
                left: None,
                at_ms: record.at_ms,
            }),
            RunEvent::UndoFinished { left, .. } => {
                if let Some(undo) = self.undos.last_mut() {
                    undo.left = Some(left.clone());
                }
            }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Key, RunId};
    use crate::person::{Answer, Ask};

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
                cycle: 0,
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
