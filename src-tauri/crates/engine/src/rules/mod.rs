//! Rules as hooks: what a person can have without code (goal-pipeline page, "Events"). One file for each; a new rule is
//! a variant of `HookRule`, a file here and an arm in [`hooks`].
//!
//! Deliberately not here: `forbid`. A forbidden tool is not in the run's catalogue at all, so that no planner hears of
//! it and no step can call it; see [`forbidden`].

mod ask_me;
mod confidence;
mod max_steps;

use std::sync::Arc;

use contract::ports::hook::Hook;
use contract::rule::{AskMe, HookRule};

/// The hooks that carry out rules, in the rules' order. Their ids say which rule it is, and stay the same when a run
/// is continued.
pub fn hooks(rules: &[HookRule]) -> Vec<Arc<dyn Hook>> {
    let hooks = rules
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| -> Option<Arc<dyn Hook>> {
            let id = format!("rule-{}", index + 1);
            let words = rule.words();
            match rule {
                // Before every plan the approval itself asks.
                HookRule::AskMe(AskMe::Plan) | HookRule::Forbid(_) => None,
                HookRule::AskMe(AskMe::Step) => Some(Arc::new(ask_me::AskBeforeStep { id, words, tool: None })),
                HookRule::AskMe(AskMe::Tool(tool)) => Some(Arc::new(ask_me::AskBeforeStep {
                    id,
                    words,
                    tool: Some(tool.clone()),
                })),
                HookRule::MaxSteps(most) => Some(Arc::new(max_steps::MaxSteps { id, most: *most })),
                HookRule::Stop(bound) => Some(Arc::new(confidence::Stop {
                    id,
                    words,
                    bound: *bound,
                })),
                HookRule::Accept(bound) => Some(Arc::new(confidence::Accept {
                    id,
                    words,
                    bound: *bound,
                })),
            }
        });
    hooks.collect()
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
