//! Templates and conditions of a flow: their grammar, and where they lead.

use contract::flow::{AgentMode, Flow, FlowStep, GuardrailRule, Route, RouteTarget, StepKind, Timing};
use serde_json::Value;

use super::Checker;
use super::scope::{Found, Scope, Seen};
use crate::condition::Condition;
use crate::flow::from_plan::result_name;
use crate::flow::join;
use crate::template::{Mapping, Path, Template};

/// A value that nothing leads to: must it be put right, or only be looked at?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Wrong,
    Warned,
}

/// A value with templates in it, seen from the step with this number, or after all.
pub(super) fn mapping(checker: &mut Checker, value: &Value, scope: &Scope, from: Option<usize>, path: &str) {
    match Mapping::parse(value) {
        Ok(mapping) => {
            for (place, reference) in mapping.references() {
                reference_to(
                    checker,
                    &reference.path,
                    scope,
                    from,
                    &join_place(path, &place),
                    Unknown::Wrong,
                );
            }
        }
        Err(errors) => {
            for error in errors {
                checker.wrong(&join_place(path, &error.path), error.error.to_string());
            }
        }
    }
}

/// A text, which may have blocks.
fn text(checker: &mut Checker, text: &str, scope: &Scope, from: Option<usize>, path: &str) {
    match Template::parse(text) {
        Ok(template) => {
            for reference in template.references() {
                reference_to(checker, &reference.path, scope, from, path, Unknown::Wrong);
            }
        }
        Err(error) => checker.wrong(path, error.to_string()),
    }
}

/// A condition, seen from the step with this number, or after all.
pub(super) fn condition(checker: &mut Checker, text: &str, scope: &Scope, from: Option<usize>, path: &str) {
    let condition = match Condition::parse(text) {
        Ok(condition) => condition,
        Err(error) => return checker.wrong(path, format!("invalid condition: {error}")),
    };
    if condition.has_constant() {
        checker.warn(
            path,
            "a part of the condition refers to nothing, so that it never changes",
        );
    }
    let is_reference = |value: &Value| value.as_str().is_some_and(|text| text.contains("{{"));
    if condition.literals().any(is_reference) {
        checker.warn(
            path,
            "a reference between quotation marks is only text: take the marks away",
        );
    }
    // In a manifest a name that nothing has is null, also one that a caller may add.
    let unknown = if checker.is_manifest() {
        Unknown::Warned
    } else {
        Unknown::Wrong
    };
    for reference in condition.references() {
        reference_to(checker, reference, scope, from, path, unknown);
    }
}

fn reference_to(
    checker: &mut Checker,
    reference: &Path,
    scope: &Scope,
    from: Option<usize>,
    path: &str,
    unknown: Unknown,
) {
    let root = reference.root();
    match scope.find(reference, from) {
        Found::There | Found::Step(_) => {}
        Found::Later(index) if Some(index) == from => checker.wrong(
            path,
            format!("{{{{{reference}}}}} is not there yet: \"{root}\" is this step itself, and this is no loop"),
        ),
        Found::Later(_) => checker.wrong(
            path,
            format!("{{{{{reference}}}}} is not there yet: \"{root}\" runs later, and this is no loop"),
        ),
        Found::Beside(_) => checker.wrong(
            path,
            format!("{{{{{reference}}}}} cannot be seen from here: \"{root}\" is a branch that runs at the same time"),
        ),
        Found::ByChance => checker.wrong(
            path,
            format!(
                "{{{{{reference}}}}} depends on who is faster: where steps run in the order of what they read, a step sees \
                 only what it names, such as \"outputs.some-step\""
            ),
        ),
        Found::Hidden => checker.wrong(
            path,
            format!(
                "{{{{{reference}}}}} cannot be seen from here: what has a state of its own sees what it is given; write \
                 reads: {{ {root}: \"{{{{{root}}}}}\" }} where it stands"
            ),
        ),
        Found::Unknown => {
            let message = format!(
                "{{{{{reference}}}}} leads nowhere: unknown name \"{root}\", which is no input and no state key of a step \
                 here"
            );
            match unknown {
                Unknown::Wrong => checker.wrong(path, message),
                Unknown::Warned => checker.warn(path, message + ", so that it is null"),
            }
        }
    }
}

/// The texts of a step that is no group.
pub(super) fn kind(checker: &mut Checker, step: &FlowStep, scope: &Scope, path: &str) {
    let manifest = checker.is_manifest();
    // A single agent has its fields at the top of the file.
    let body = |word: &str| match (manifest, path.is_empty()) {
        (true, true) => String::new(),
        (true, false) => join(path, "agent"),
        (false, _) => join(path, word),
    };
    let instruction = if manifest { "instruction" } else { "instructions" };
    match &step.kind {
        StepKind::Ask(ask) => {
            text(
                checker,
                &ask.instructions,
                scope,
                None,
                &join(&body("ask"), instruction),
            );
            if let Some(prompt) = &ask.prompt {
                text(checker, prompt, scope, None, &join(&body("ask"), "prompt"));
            }
        }
        StepKind::Agent(agent) => {
            text(
                checker,
                &agent.instructions,
                scope,
                None,
                &join(&body("agent"), instruction),
            );
            let results = (1..agent.tools.len()).map(result_name).collect();
            let with_results = Scope::new(Some((scope, 0)), results, Seen::Always, Vec::new());
            for (key, value) in &agent.args {
                let place = join(&body("agent"), &format!("args.{key}"));
                if !agent.tools.contains(key) {
                    checker.warn(
                        &place,
                        format!("\"{key}\" is none of its tools, so that these are never given"),
                    );
                }
                mapping(checker, value, &with_results, None, &place);
            }
            if !agent.args.is_empty() && agent.mode != AgentMode::EachOnce {
                let place = join(&body("agent"), "args");
                checker.warn(&place, "an agent that uses its tools freely makes all arguments itself");
            }
        }
        StepKind::Tool(tool) => {
            let args = if manifest { "tool.params" } else { "args" };
            let place = join(&body("tool"), args);
            let plumbing = Scope::new(
                Some((scope, 0)),
                vec!["secrets".to_owned(), "env".to_owned()],
                Seen::Always,
                Vec::new(),
            );
            let scope = if manifest { &plumbing } else { scope };
            for (key, value) in &tool.args {
                let place = join(&place, key);
                if manifest && names_surroundings(value) {
                    let message =
                        "flows are given no secrets and no environment here: what is asked for becomes nothing";
                    checker.warn(&place, message);
                }
                mapping(checker, value, scope, None, &place);
            }
        }
        StepKind::Gate(gate) => text(checker, &gate.text, scope, None, &join(&body("gate"), "text")),
        StepKind::Answer(answer) => text(checker, &answer.text, scope, None, &join(&body("answer"), "text")),
        StepKind::Task(task) => {
            text(checker, &task.goal, scope, None, &join(&body("task"), "goal"));
            for (key, value) in &task.context {
                mapping(
                    checker,
                    value,
                    scope,
                    None,
                    &join(&body("task"), &format!("context.{key}")),
                );
            }
            let expected = serde_json::to_value(&task.expected_output).unwrap_or_default();
            mapping(checker, &expected, scope, None, &join(&body("task"), "expectedOutput"));
        }
        StepKind::Group(_) | StepKind::Ref(_) => {}
    }
}

/// The texts of a route, seen from after its step.
pub(super) fn route(checker: &mut Checker, route: &Route, scope: &Scope, path: &str) {
    let from = None;
    if let Some(when) = &route.when {
        condition(checker, when, scope, from, &join(path, "when"));
    }
    for (key, value) in &route.set {
        mapping(checker, value, scope, from, &join(path, &format!("set.{key}")));
    }
    if let Some(log) = &route.log {
        text(checker, log, scope, from, &join(path, "log"));
    }
    if let RouteTarget::Finish(finish) = &route.target {
        text(checker, &finish.text, scope, from, &join(path, "finish.text"));
        if let Some(rewrite) = &finish.rewrite {
            text(
                checker,
                &rewrite.instructions,
                scope,
                from,
                &join(path, "finish.rewrite.instructions"),
            );
        }
    }
}

/// The rules around a run, which see what came in and what goes out.
pub(super) fn guardrails(checker: &mut Checker, flow: &Flow) {
    let seen = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned());
        Scope::new(None, names.collect(), Seen::Always, Vec::new())
    };
    let (before, after) = (seen(&["prompt", "messages"]), seen(&["prompt", "messages", "answer"]));
    for (index, guardrail) in flow.guardrails.iter().enumerate() {
        let scope = match guardrail.timing {
            Timing::Pre => &before,
            Timing::Post => &after,
        };
        let path = format!("guardrails[{index}]");
        match &guardrail.rule {
            GuardrailRule::Condition(rule) => condition(checker, rule, scope, None, &join(&path, "condition")),
            GuardrailRule::Judged(rule) => text(checker, rule, scope, None, &join(&path, "judged")),
            GuardrailRule::Contains(words) if words.is_empty() => {
                checker.wrong(
                    &join(&path, "contains"),
                    "no words are in every text: write what must not be there",
                );
            }
            GuardrailRule::Contains(_) => {}
        }
        if !(0.0..=1.0).contains(&guardrail.threshold) {
            checker.wrong(&join(&path, "threshold"), "a threshold lies between 0 and 1");
        }
    }
}

/// A path, and the place inside its value: `input.a`, `[0].b`.
fn join_place(path: &str, place: &str) -> String {
    match place.starts_with('[') {
        true => format!("{path}{place}"),
        false => join(path, place),
    }
}

/// Whether a template in it asks for what agntz gives tools from around a run (its manifests, "secrets" and "env").
fn names_surroundings(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let inside = text.split("{{").skip(1).map(str::trim_start);
            inside
                .into_iter()
                .any(|rest| rest.starts_with("secrets.") || rest.starts_with("env."))
        }
        Value::Array(items) => items.iter().any(names_surroundings),
        Value::Object(fields) => fields.values().any(names_surroundings),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
