//! A run's log: a fold of its journal into lines for people (seed *tepa-pipeline-in-detail*, "LogEntry"). Nothing of
//! it is stored: the journal says it all.

use std::collections::HashSet;

use crate::evaluation::Verdict;
use crate::event::{RunEvent, RunEventRecord};
use crate::ports::hook::HookEvent;
use crate::run::LogEntry;
use crate::step::StepStatus;

/// The lines of a run, in order. A line whose event a hook prevented is left out.
pub fn entries(events: &[RunEventRecord]) -> Vec<LogEntry> {
    let prevented: HashSet<(String, HookEvent)> = events.iter().filter_map(prevented).collect();
    let mut log = Log {
        prevented,
        tools: std::collections::HashMap::new(),
        cycle: 0,
    };
    events.iter().flat_map(|record| log.lines(record)).collect()
}

/// The address that a hook's owner has, and its event, when the hook prevented the built-in line.
fn prevented(record: &RunEventRecord) -> Option<(String, HookEvent)> {
    let RunEvent::HookFinished {
        event,
        prevent_default: true,
        ..
    } = &record.event
    else {
        return None;
    };
    let (owner, _) = record.key.as_str().split_once("/hook/")?;
    Some((owner.to_owned(), *event))
}

struct Log {
    prevented: HashSet<(String, HookEvent)>,
    /// The step and the tool of each tool execution that began.
    tools: std::collections::HashMap<String, (String, String)>,
    cycle: u32,
}

impl Log {
    fn lines(&mut self, record: &RunEventRecord) -> Vec<LogEntry> {
        let key = record.key.as_str();
        let owner = key
            .rsplit_once(':')
            .filter(|(_, mark)| !mark.contains('/'))
            .map_or(key, |(owner, _)| owner);
        let line = |cycle: u32, message: String| LogEntry {
            timestamp: record.at_ms,
            cycle,
            step: None,
            tool: None,
            message,
            duration_ms: None,
            tokens_used: None,
        };
        let silent = |event: HookEvent| self.prevented.contains(&(owner.to_owned(), event));
        // Hooks see a step once, before its first attempt.
        let silent_before = |attempt: &str| {
            let step = attempt.rsplit_once('#').map_or(attempt, |(step, _)| step);
            self.prevented.contains(&(format!("{step}#0"), HookEvent::PreStep))
        };
        let silent_after = |cycle| {
            self.prevented
                .contains(&(format!("cycle/{cycle}/execute"), HookEvent::PostExecutor))
        };
        match &record.event {
            RunEvent::RunStarted { header } => vec![line(0, format!("Run started: {}", header.title))],
            RunEvent::RunReopened { why } => vec![line(self.cycle, format!("Run reopened: {why}"))],
            RunEvent::UndoIntended { redo, files } => {
                let what = if *redo { "Brought back" } else { "Undone" };
                vec![line(self.cycle, format!("{what} by you: {} files", files.len()))]
            }
            RunEvent::RunPaused => vec![line(self.cycle, "Run paused".to_owned())],
            RunEvent::RunContinued => vec![line(self.cycle, "Run continued".to_owned())],
            RunEvent::GuidanceGiven { words } => vec![line(self.cycle, format!("You said: {words}"))],
            RunEvent::LimitsRaised { limits } => vec![line(
                self.cycle,
                format!("New limits: {} cycles, {} tokens", limits.max_cycles, limits.max_tokens),
            )],
            RunEvent::RunFinished { result } => vec![LogEntry {
                tokens_used: Some(result.tokens_used),
                ..line(result.cycles, format!("Run ended: {}", result.feedback))
            }],
            RunEvent::CycleStarted { cycle } => {
                self.cycle = *cycle;
                Vec::new()
            }
            RunEvent::PlanningStarted { cycle, .. } if !silent(HookEvent::PrePlanner) => {
                vec![line(*cycle, "Planning".to_owned())]
            }
            RunEvent::PlanRefused { cycle, problems, .. } => {
                vec![line(
                    *cycle,
                    format!("The plan cannot be used: {}", problems.join("; ")),
                )]
            }
            RunEvent::PlanProposed { cycle, plan, .. } if !silent(HookEvent::PostPlanner) => {
                vec![line(*cycle, format!("A plan of {} steps", plan.steps.len()))]
            }
            RunEvent::PlanChanged { cycle, by, steps, .. } => {
                let by = if by.is_empty() { "You".to_owned() } else { by.join(", ") };
                vec![line(*cycle, format!("{by} changed the plan: {}", steps.join(", ")))]
            }
            RunEvent::StepChanged { cycle, by, step } => vec![LogEntry {
                step: Some(step.id.clone()),
                ..line(*cycle, format!("{} changed the step", by.join(", ")))
            }],
            RunEvent::PlanApproved { cycle, .. } if !silent(HookEvent::PreExecutor) => {
                vec![line(*cycle, "Running the plan".to_owned())]
            }
            RunEvent::ScratchpadWritten { .. } if key.ends_with(":summary") && !silent_after(self.cycle) => {
                vec![line(self.cycle, "The steps are done".to_owned())]
            }
            RunEvent::StepStarted { cycle, step, .. } if !silent_before(owner) => vec![LogEntry {
                step: Some(step.clone()),
                ..line(*cycle, format!("Step \"{step}\" started"))
            }],
            RunEvent::StepFinished {
                cycle,
                step,
                status,
                error,
                tokens_used,
                duration_ms,
                ..
            } if !silent(HookEvent::PostStep) => {
                let why = error
                    .as_ref()
                    .map(|error| format!(": {}", error.message))
                    .unwrap_or_default();
                vec![LogEntry {
                    step: Some(step.clone()),
                    duration_ms: Some(*duration_ms),
                    tokens_used: Some(*tokens_used),
                    ..line(*cycle, format!("Step \"{step}\" {}{why}", word(*status)))
                }]
            }
            RunEvent::ToolStarted { step, tool, .. } => {
                self.tools.insert(owner.to_owned(), (step.clone(), tool.clone()));
                Vec::new()
            }
            RunEvent::ToolFinished {
                error,
                logs,
                duration_ms,
                ..
            } => {
                let Some((step, tool)) = self.tools.get(owner).cloned() else {
                    return Vec::new();
                };
                let of_tool = |message: String| LogEntry {
                    step: Some(step.clone()),
                    tool: Some(tool.clone()),
                    ..line(self.cycle, message)
                };
                let ended = match error {
                    Some(error) => format!("\"{tool}\" failed: {}", error.message),
                    None => format!("\"{tool}\" finished"),
                };
                let mut lines: Vec<LogEntry> = logs.iter().map(|log| of_tool(log.message.clone())).collect();
                lines.push(LogEntry {
                    duration_ms: Some(*duration_ms),
                    ..of_tool(ended)
                });
                lines
            }
            RunEvent::JudgingStarted { cycle } if !silent(HookEvent::PreEvaluator) => {
                vec![line(*cycle, "Judging".to_owned())]
            }
            RunEvent::CycleJudged { cycle, evaluation, .. } if !silent(HookEvent::PostEvaluator) => {
                let verdict = match evaluation.verdict {
                    Verdict::Pass => "pass",
                    Verdict::Fail => "fail",
                };
                vec![LogEntry {
                    tokens_used: Some(evaluation.tokens_used),
                    ..line(
                        *cycle,
                        format!("Verdict: {verdict}, confidence {}", evaluation.confidence),
                    )
                }]
            }
            RunEvent::VerdictChanged { cycle, by, evaluation } => {
                let verdict = match evaluation.verdict {
                    Verdict::Pass => "pass",
                    Verdict::Fail => "fail",
                };
                vec![line(
                    *cycle,
                    format!("{} changed the verdict: {verdict}", by.join(", ")),
                )]
            }
            _ => Vec::new(),
        }
    }
}

fn word(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Done => "completed",
        StepStatus::Kept => "was kept",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "was skipped",
        StepStatus::Waiting | StepStatus::Running => "goes on",
        StepStatus::WaitingForPerson => "waits for you",
        StepStatus::Uncertain => "may have happened",
    }
}
