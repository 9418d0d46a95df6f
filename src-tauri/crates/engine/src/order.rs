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
    use contract::plan::{Mode, Tier};
    use indexmap::IndexMap;
    use proptest::prelude::*;

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
            mode: Mode::EachOnce,
            max_rounds: None,
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

    /// The seed's algorithm as one would do it by hand: take the first that is ready, then look through the
    /// whole plan for what has become ready. The steps that never do are the circle.
    fn by_hand(steps: &[PlanStep]) -> Result<Vec<usize>, Vec<String>> {
        let is_done = |id: &String, done: &[usize]| done.iter().any(|&step| steps[step].id == *id);
        let is_ready = |step: usize, done: &[usize]| steps[step].dependencies.iter().all(|id| is_done(id, done));
        let (mut queue, mut done) = (Vec::new(), Vec::new());
        loop {
            for step in 0..steps.len() {
                if !queue.contains(&step) && is_ready(step, &done) {
                    queue.push(step);
                }
            }
            let Some(&next) = queue.get(done.len()) else {
                break;
            };
            done.push(next);
        }
        if done.len() == steps.len() {
            return Ok(done);
        }
        let left = (0..steps.len()).filter(|step| !done.contains(step));
        Err(left.map(|step| steps[step].id.clone()).collect())
    }

    /// Plans in which a step mostly depends on steps that come before it in some other order; now and then in a circle.
    fn plans() -> impl Strategy<Value = Vec<PlanStep>> {
        (0_usize..25, any::<bool>()).prop_flat_map(|(count, may_be_circular)| {
            let ranks = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
            let edges = proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40);
            (ranks, edges).prop_map(move |(ranks, edges)| {
                let mut steps: Vec<PlanStep> = (0..count).map(|number| step(&format!("s{number}"), &[])).collect();
                for (one, other) in edges.iter().filter(|_| count > 0) {
                    let (one, other) = (one.index(count), other.index(count));
                    if ranks[other] < ranks[one] || (may_be_circular && one.is_multiple_of(7)) {
                        steps[one].dependencies.push(format!("s{other}"));
                    }
                }
                steps
            })
        })
    }

    proptest! {
        #[test]
        fn is_the_seeds_order_and_respects_every_dependency(steps in plans()) {
            let sorted = order(&steps);
            prop_assert_eq!(&sorted, &by_hand(&steps));
            if let Ok(sorted) = sorted {
                let place = |id: &str| sorted.iter().position(|&index| steps[index].id == id);
                for step in &steps {
                    for dependency in &step.dependencies {
                        prop_assert!(place(dependency) < place(&step.id));
                    }
                }
            }
        }
    }

    #[test]
    fn ten_thousand_steps_cost_no_square() {
        let steps: Vec<PlanStep> = (0..10_000_usize)
            .map(|number| match number {
                0 => step("s0", &[]),
                _ => step(&format!("s{number}"), &[&format!("s{}", number - 1), "s0"]),
            })
            .collect();
        assert_eq!(order(&steps), Ok((0..10_000).collect()));
    }
}
