//! The order of steps (seed *tepa-pipeline-in-detail*, "Topological sorting"): Kahn's algorithm,
//! first in, first out, the plan's order among steps that are ready together.

use std::collections::{HashMap, VecDeque};

use contract::plan::PlanStep;

/// The steps' places in the order in which they run.
///
/// # Errors
/// The ids of the steps that wait for each other in a circle, in the plan's order.
pub fn order(steps: &[PlanStep]) -> Result<Vec<usize>, Vec<String>> {
    let place: HashMap<&str, usize> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| (step.id.as_str(), index))
        .collect();
    let mut waits_for = vec![0_usize; steps.len()];
    let mut leads_to = vec![Vec::new(); steps.len()];
    for (index, step) in steps.iter().enumerate() {
        for dependency in &step.dependencies {
            if let Some(&before) = place.get(dependency.as_str()) {
                waits_for[index] += 1;
                leads_to[before].push(index);
            }
        }
    }
    let mut ready: VecDeque<usize> = (0..steps.len()).filter(|&index| waits_for[index] == 0).collect();
    let mut sorted = Vec::with_capacity(steps.len());
    while let Some(index) = ready.pop_front() {
        sorted.push(index);
        for &next in &leads_to[index] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    if sorted.len() == steps.len() {
        return Ok(sorted);
    }
    let circular = (0..steps.len()).filter(|&index| waits_for[index] > 0);
    Err(circular.map(|index| steps[index].id.clone()).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use contract::plan::Tier;
    use indexmap::IndexMap;

    use super::*;

    pub(crate) fn step(id: &str, dependencies: &[&str]) -> PlanStep {
        PlanStep {
            id: id.to_owned(),
            name: None,
            description: format!("does {id}"),
            tools: Vec::new(),
            expected_outcome: "done".to_owned(),
            dependencies: dependencies.iter().map(|&id| id.to_owned()).collect(),
            inputs: Vec::new(),
            model: None,
            tier: Tier::Low,
            args: IndexMap::new(),
        }
    }

    fn check(steps: &[PlanStep], expected: &[&str]) {
        let sorted = order(steps).map(|sorted| {
            sorted
                .into_iter()
                .map(|index| steps[index].id.clone())
                .collect::<Vec<_>>()
        });
        assert_eq!(sorted, Ok(expected.iter().map(|&id| id.to_owned()).collect()));
    }

    #[test]
    fn sorts_the_seeds_example() {
        check(
            &[
                step("A", &[]),
                step("B", &["A"]),
                step("C", &[]),
                step("D", &["B", "C"]),
            ],
            &["A", "C", "B", "D"],
        );
    }

    #[test]
    fn keeps_the_plans_order_among_independent_steps() {
        check(&[step("c", &[]), step("a", &[]), step("b", &[])], &["c", "a", "b"]);
    }

    #[test]
    fn names_the_steps_of_a_circle() {
        let steps = [step("a", &[]), step("b", &["a", "c"]), step("c", &["b"])];
        assert_eq!(order(&steps), Err(vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(order(&[step("a", &["a"])]), Err(vec!["a".to_owned()]));
    }

    #[test]
    fn a_dependency_named_twice_counts_as_often() {
        check(&[step("a", &[]), step("b", &["a", "a"])], &["a", "b"]);
    }
}
