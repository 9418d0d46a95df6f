//! How single parts of a run's state change: what the arms of [`RunState::apply`] share.

use super::{CyclePhase, CycleState, FileChange, PhaseState, RunState, StepState, WaitingFor};
use crate::event::LogLine;
use crate::hash::Hash;
use crate::ids::Key;
use crate::llm::LlmAttempt;
use crate::person::{Answer, Ask};
use crate::run::RunResult;
use crate::step::{StepError, StepStatus};
use crate::task::Limits;
use crate::undo::FileDelta;
use crate::value_ref::ValueRef;

impl RunState {
    pub(super) fn raise(&mut self, limits: &Limits) {
        if let Some(header) = &mut self.header {
            header.envelope.max_tokens = limits.max_tokens;
            header.envelope.max_cycles = limits.max_cycles;
            header.task.limits = limits.clone();
        }
    }

    /// Counts an attempt of the call at this leaf.
    pub(super) fn count(&mut self, leaf: &str, attempt: &LlmAttempt) {
        let Some(usage) = &attempt.usage else { return };
        self.tokens_used += usage.total();
        if usage.estimated {
            self.tokens_estimated += usage.total();
        }
        if let (Some(header), Some(call)) = (&self.header, self.calls.get(leaf))
            && header.recording.is_none()
        {
            self.cost.add(&header.prices, attempt.asked(&call.model), usage);
        }
    }

    pub(super) fn finish(&mut self, result: &RunResult) {
        self.result = Some(result.clone());
        self.waiting = None;
        self.waiting_also.clear();
        if let Some(cycle) = self.cycles.last_mut() {
            cycle.phase = CyclePhase::Ended;
            // The end came before these did anything.
            let idle = |step: &&mut StepState| step.status == StepStatus::Running && step.leaves.is_empty();
            for step in cycle.steps.values_mut().filter(idle) {
                step.status = StepStatus::Waiting;
                step.started_at_ms = None;
            }
        }
    }

    pub(super) fn ask(&mut self, key: &Key, ask: &Ask, at_ms: i64) {
        match ask {
            Ask::UncertainEffect { cycle, step, .. } => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::Uncertain);
            }
            Ask::RunStep { cycle, step, .. } => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::WaitingForPerson);
            }
            Ask::Permission { cycle, step, .. } | Ask::Gate { cycle, phase: step, .. } => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::WaitingForPerson);
                self.in_phase(key, |state| state.status = StepStatus::WaitingForPerson);
            }
            Ask::ApprovePlan { .. } | Ask::AllowEffect { .. } => {}
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
    pub(super) fn take_question(&mut self, key: &Key) -> Option<WaitingFor> {
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

    pub(super) fn answer(&mut self, key: &Key, answer: &Answer) {
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
            (Ask::Permission { cycle, step, .. } | Ask::Gate { cycle, phase: step, .. }, _) => {
                self.in_step(*cycle, step, |state| state.status = StepStatus::Running);
                self.in_phase(&waiting.key, |state| state.status = StepStatus::Running);
            }
            (Ask::ApprovePlan { .. } | Ask::AllowEffect { .. }, _) => {}
        }
    }

    pub(super) fn intend(&mut self, key: &Key, path: &str, before: &Option<Hash>, after: &Option<Hash>) {
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

    pub(super) fn change_folder(&mut self, key: &Key, files: &[FileDelta]) {
        let Some(tool) = self.tools.get(&leaf_of(key)) else {
            return;
        };
        self.files.extend(files.iter().map(|file| FileChange {
            path: file.path.clone(),
            before: file.before.as_ref().map(|face| face.hash.clone()),
            after: file.after.as_ref().map(|face| face.hash.clone()),
            cycle: tool.cycle,
            step: tool.step.clone(),
            done: true,
        }));
    }

    pub(super) fn finish_tool(
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

    pub(super) fn add_leaf(&mut self, cycle: u32, step: Option<&str>, key: &Key) {
        let leaf = Key::new(leaf_of(key));
        self.in_phase(key, |state| state.leaves.push(leaf));
        if let Some(step) = step {
            self.in_step(cycle, step, |state| state.leaves.push(Key::new(leaf_of(key))));
        }
    }

    /// Changes the innermost visit of a flow's step that an address lies in.
    pub(super) fn in_phase(&mut self, key: &Key, change: impl FnOnce(&mut PhaseState)) {
        let mut place = key.as_str();
        while let Some(slash) = place.rfind('/') {
            place = &place[..slash];
            if let Some(phase) = self.phases.get_mut(place) {
                return change(phase);
            }
        }
    }

    pub(super) fn in_cycle(&mut self, number: u32, change: impl FnOnce(&mut CycleState)) {
        if let Some(cycle) = self.cycles.iter_mut().rev().find(|cycle| cycle.number == number) {
            change(cycle);
        }
    }

    pub(super) fn in_step(&mut self, cycle: u32, step: &str, change: impl FnOnce(&mut StepState)) {
        self.in_cycle(cycle, |cycle| {
            if let Some(step) = cycle.steps.get_mut(step) {
                change(step);
            }
        });
    }
}

/// The leaf that an entry belongs to: its key without the mark after the colon.
pub(super) fn leaf_of(key: &Key) -> String {
    match key.as_str().rfind([':', '/']) {
        Some(place) if key.as_str()[place..].starts_with(':') => key.as_str()[..place].to_owned(),
        Some(_) | None => key.as_str().to_owned(),
    }
}
