//! The order of steps (seed *tepa-pipeline-in-detail*, "Topological sorting"): Kahn's algorithm,
//! first in, first out, the plan's order among steps that are ready together.

use std::collections::{HashMap, VecDeque};

use contract::plan::PlanStep;

/// The places in the order in which they run, of things that come `after` others.
///
/// # Errors
/// The places of those that wait for each other in a circle, ascending.
pub fn kahn(after: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits_for: Vec<usize> = after.iter().map(Vec::len).collect();
    let mut leads_to = vec![Vec::new(); after.len()];
    for (place, before) in after.iter().enumerate() {
        for &before in before {
            leads_to[before].push(place);
        }
    }
    let mut ready: VecDeque<usize> = (0..after.len()).filter(|&place| waits_for[place] == 0).collect();
    let mut sorted = Vec::with_capacity(after.len());
    while let Some(place) = ready.pop_front() {
        sorted.push(place);
        for &next in &leads_to[place] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    if sorted.len() == after.len() {
        return Ok(sorted);
    }
    Err((0..after.len()).filter(|&place| waits_for[place] > 0).collect())
}

/// The places of the steps that each step depends on; names of no step are left out.
pub fn needs(steps: &[PlanStep]) -> Vec<Vec<usize>> {
    let place: HashMap<&str, usize> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| (step.id.as_str(), index))
        .collect();
    let needs = |step: &PlanStep| {
        let named = step.dependencies.iter();
        named.filter_map(|id| place.get(id.as_str()).copied()).collect()
    };
    steps.iter().map(needs).collect()
}

/// The steps' places in the order in which they run.
///
/// # Errors
/// The ids of the steps that wait for each other in a circle, in the plan's order.
pub fn order(steps: &[PlanStep]) -> Result<Vec<usize>, Vec<String>> {
    kahn(&needs(steps)).map_err(|circle| circle.into_iter().map(|place| steps[place].id.clone()).collect())
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
