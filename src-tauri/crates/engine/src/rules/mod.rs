//! Rules as hooks: what a person can have without code (goal-pipeline page, "Events"). One file for each; a new rule is
//! a variant of `HookRule`, a file here and an arm in [`of_rule`].
//!
//! Deliberately not here: `forbid`. A forbidden tool is not in the run's catalogue at all, so that no planner hears of
//! it and no step can call it; see [`forbidden`].

mod ask_me;
mod command;
mod confidence;
mod max_steps;
mod told;
mod webhook;

use std::sync::Arc;

use contract::ports::hook::{Hook, HookEvent};
use contract::rule::{AskMe, HookRule};
use contract::task_effect::TaskEffect;

/// The hooks that carry out rules, in the rules' order. Their ids say which rule it is, and stay the same when a run
/// is continued; those of one rule at several events share theirs.
pub fn hooks(rules: &[HookRule]) -> Vec<Arc<dyn Hook>> {
    let numbered = rules.iter().enumerate();
    numbered
        .flat_map(|(index, rule)| of_rule(format!("rule-{}", index + 1), rule))
        .collect()
}

fn of_rule(id: String, rule: &HookRule) -> Vec<Arc<dyn Hook>> {
    let words = rule.words();
    match rule {
        // Before every plan the approval itself asks.
        HookRule::AskMe(AskMe::Plan) | HookRule::Forbid(_) => Vec::new(),
        HookRule::AskMe(AskMe::Step) => vec![Arc::new(ask_me::AskBeforeStep { id, words, tool: None })],
        HookRule::AskMe(AskMe::Tool(tool)) => vec![Arc::new(ask_me::AskBeforeStep {
            id,
            words,
            tool: Some(tool.clone()),
        })],
        HookRule::MaxSteps(most) => vec![Arc::new(max_steps::MaxSteps { id, most: *most })],
        HookRule::Stop(bound) => vec![Arc::new(confidence::Stop {
            id,
            words,
            bound: *bound,
        })],
        HookRule::Accept(bound) => vec![Arc::new(confidence::Accept {
            id,
            words,
            bound: *bound,
        })],
        HookRule::Command(command) => {
            let at = |event: &HookEvent| -> Arc<dyn Hook> {
                Arc::new(command::RunCommand {
                    id: id.clone(),
                    event: *event,
                    effect: TaskEffect::Command(command.clone()),
                    rule: command.clone(),
                })
            };
            command.on.iter().map(at).collect()
        }
        HookRule::Webhook(webhook) => {
            let at = |event: &HookEvent| -> Arc<dyn Hook> {
                Arc::new(webhook::TellAddress {
                    id: id.clone(),
                    event: *event,
                    effect: TaskEffect::Webhook(webhook.clone()),
                    rule: webhook.clone(),
                })
            };
            webhook.on.iter().map(at).collect()
        }
    }
}

/// Whether a rule forbids this tool.
pub fn forbidden(rules: &[HookRule], tool: &str) -> bool {
    rules
        .iter()
        .any(|rule| matches!(rule, HookRule::Forbid(name) if name == tool))
}

/// Whether a rule wants every plan to be shown.
pub fn asks_for_every_plan(rules: &[HookRule]) -> bool {
    rules.contains(&HookRule::AskMe(AskMe::Plan))
}
