//! What a task has the app do by itself: commands and webhooks as rules, commands as checks (tools page, "Permissions").
//! Which there are is read from the run's rules and criteria, and from nothing that a model, a file or a tool says.

use contract::criterion::CheckSpec;
use contract::hash::Hash;
use contract::ports::check::Check;
use contract::rule::HookRule;
use contract::task::Task;
use contract::task_effect::{AskedEffect, TaskEffect};

use crate::registry::Registry;

/// All that these rules and this task's criteria would do, each once, in their order.
pub fn of(rules: &[HookRule], task: &Task, checks: &Registry<dyn Check>) -> Vec<TaskEffect> {
    let criteria = task.criteria();
    let of_checks = criteria.iter().filter_map(|criterion| criterion.check.as_ref());
    let commands = of_checks.flat_map(|check| commands_of(check, checks));
    let all = rules
        .iter()
        .filter_map(HookRule::effect)
        .chain(commands.map(|run| TaskEffect::Check { run }));
    let mut once: Vec<TaskEffect> = Vec::new();
    for effect in all {
        if !once.contains(&effect) {
            once.push(effect);
        }
    }
    once
}

/// The same for an envelope, with what a person allowed by its content.
pub fn asked(
    rules: &[HookRule],
    task: &Task,
    checks: &Registry<dyn Check>,
    allowed: impl Fn(&TaskEffect, &Hash) -> bool,
) -> Vec<AskedEffect> {
    let all = of(rules, task, checks).into_iter().map(AskedEffect::new);
    all.map(|asked| AskedEffect {
        allowed: allowed(&asked.effect, &asked.hash),
        ..asked
    })
    .collect()
}

/// The command lines that a check would run.
pub fn commands_of(check: &CheckSpec, checks: &Registry<dyn Check>) -> Vec<String> {
    let found = checks.get(&check.name);
    found.map(|found| found.commands(&check.args)).unwrap_or_default()
}
