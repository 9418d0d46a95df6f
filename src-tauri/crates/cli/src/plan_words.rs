//! A plan in words: what each step does, and how it differs from the plan before.

use contract::plan::{Plan, PlanStep};

/// What became of a step since the plan before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// It was there, and is the same.
    Same,
    /// It was there, and is different now.
    Changed,
    /// It was not there.
    New,
}

/// What became of a step since the plan before; of a first plan's, nothing.
pub(crate) fn since(before: Option<&Plan>, step: &PlanStep) -> Since {
    let Some(before) = before else { return Since::Same };
    match before.steps.iter().find(|earlier| earlier.id == step.id) {
        Some(earlier) if earlier == step => Since::Same,
        Some(_) => Since::Changed,
        None => Since::New,
    }
}

/// How a plan differs from the one before: `1 changed, 2 new, 1 dropped`; none for a first plan.
pub(crate) fn difference(before: Option<&Plan>, plan: &Plan) -> Option<String> {
    let before = before?;
    let of = |wanted| {
        plan.steps
            .iter()
            .filter(|step| since(Some(before), step) == wanted)
            .count()
    };
    let is_there = |step: &&PlanStep| plan.steps.iter().any(|later| later.id == step.id);
    let dropped = before.steps.len() - before.steps.iter().filter(is_there).count();
    let counts = [
        (of(Since::Changed), "changed"),
        (of(Since::New), "new"),
        (dropped, "dropped"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    Some(if words.is_empty() {
        "the same as before".to_owned()
    } else {
        words.join(", ")
    })
}

/// Its tools, and the steps it builds on by their place in the plan: `data_query, after 1, 3`.
pub(crate) fn tools_and_needs(plan: &Plan, step: &PlanStep) -> String {
    let place = |id: &String| {
        plan.steps
            .iter()
            .position(|step| step.id == *id)
            .map(|place| (place + 1).to_string())
    };
    let needs: Vec<String> = step.dependencies.iter().filter_map(place).collect();
    let tools = if step.tools.is_empty() {
        "thinks".to_owned()
    } else {
        step.tools.join(", ")
    };
    if needs.is_empty() {
        tools
    } else {
        format!("{tools}, after {}", needs.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(steps: &[(&str, &str)]) -> Plan {
        let steps: Vec<_> = steps
            .iter()
            .map(|(id, description)| {
                json!({ "id": id, "description": description, "tools": [], "expectedOutcome": "", "dependencies": ["a"] })
            })
            .collect();
        serde_json::from_value(json!({ "steps": steps, "estimatedTokens": 1, "reasoning": "" })).unwrap()
    }

    #[test]
    fn says_what_changed_since_the_plan_before() {
        let before = plan(&[("a", "x"), ("b", "y"), ("c", "z")]);
        let after = plan(&[("a", "x"), ("b", "other"), ("d", "w"), ("e", "v")]);
        assert_eq!(
            difference(Some(&before), &after).as_deref(),
            Some("1 changed, 2 new, 1 dropped")
        );
        assert_eq!(
            difference(Some(&before), &before).as_deref(),
            Some("the same as before")
        );
        assert_eq!(difference(None, &before), None);
        assert_eq!(since(Some(&before), &after.steps[2]), Since::New);
    }

    #[test]
    fn names_needs_by_their_place() {
        let plan = plan(&[("a", "x"), ("b", "y")]);
        assert_eq!(tools_and_needs(&plan, &plan.steps[1]), "thinks, after 1");
    }
}
