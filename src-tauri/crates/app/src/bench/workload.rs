//! The workloads as flows: which steps a run has, and whose reply each of them is told. They are data in the words of a
//! flow's file, read and carried out as any file is.

use contract::ids::Key;
use serde::Serialize;
use serde_json::{Value, json};

/// What the first step is told.
pub(super) const BEGINNING: &str = "Begin.";
/// How many rounds of writing and reviewing there are.
const ROUNDS: u32 = 20;
/// How many steps may be at work at once.
const AT_ONCE: u32 = 256;

/// What is carried out. One model call a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Workload {
    /// A chain of 100 steps.
    A,
    /// Independent steps, 64 unless said otherwise, and one that joins them.
    B,
    /// A loop of 20 rounds of writing and reviewing.
    C,
    /// A chain of 1,000 steps.
    D,
    /// 50 runs at once, each a chain of 20 steps.
    E,
    /// A chain of 30 steps, to be killed in the middle of.
    K,
}

impl Workload {
    /// How many runs it has, side by side.
    pub fn runs(self) -> u32 {
        match self {
            Self::A | Self::B | Self::C | Self::D | Self::K => 1,
            Self::E => 50,
        }
    }

    /// How many steps that ask a model all its runs have together.
    pub fn steps(self, width: u32) -> u32 {
        self.runs()
            * match self {
                Self::A => 100,
                Self::B => width.saturating_add(1),
                Self::C => ROUNDS * 2,
                Self::D => 1_000,
                Self::E => 20,
                Self::K => 30,
            }
    }

    /// Its letter, small.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::K => "k",
        }
    }

    /// One of its runs as a flow, whose steps ask this model (`provider:model`).
    pub(super) fn flow(self, width: u32, model: &str) -> Value {
        let steps = self.steps(width) / self.runs();
        let (order, mut list, last) = match self {
            Self::A | Self::D | Self::E | Self::K => ("chain", chain(steps), format!("s{}", steps - 1)),
            Self::B => ("reads", join(width), format!("s{width}")),
            Self::C => ("chain", rounds(), "rounds".to_owned()),
        };
        list.push(json!({ "id": "end", "answer": { "text": format!("{{{{{last}}}}}") } }));
        json!({
            "id": format!("bench-{}", self.name()),
            "model": model,
            "order": order,
            "limits": { "maxTotalPhases": list.len(), "maxParallel": AT_ONCE },
            "steps": list,
        })
    }
}

/// Each is told the reply of the one before it.
fn chain(steps: u32) -> Vec<Value> {
    let told = |number: u32| match number.checked_sub(1) {
        Some(before) => format!("{{{{s{before}}}}}"),
        None => BEGINNING.to_owned(),
    };
    (0..steps)
        .map(|number| ask(format!("s{number}"), told(number)))
        .collect()
}

/// None waits for another; one more is told all their replies.
fn join(steps: u32) -> Vec<Value> {
    let alone = (0..steps).map(|number| ask(format!("s{number}"), BEGINNING.to_owned()));
    let replies: Vec<String> = (0..steps).map(|number| format!("{{{{s{number}}}}}")).collect();
    alone.chain([ask(format!("s{steps}"), replies.join("\n"))]).collect()
}

/// A loop: what is written is reviewed, and the next round writes what the review said.
fn rounds() -> Vec<Value> {
    let write = format!("{{{{#if retries.write == 0}}}}{BEGINNING}{{{{/if}}}}{{{{review}}}}");
    vec![json!({
        "id": "rounds",
        "group": {
            "mode": "sequence",
            "until": format!("{{{{retries.review}}}} >= {}", ROUNDS - 1),
            "max": ROUNDS,
            "steps": [ask("write".to_owned(), write), ask("review".to_owned(), "{{write}}".to_owned())],
        },
    })]
}

fn ask(id: String, prompt: String) -> Value {
    json!({ "id": id, "ask": { "instructions": "", "prompt": prompt } })
}

/// Which step of its run asks with a request of this key: `s0`, `s1`, …; the rounds are counted through.
pub(super) fn step_of(key: &Key) -> Option<String> {
    let mut parts = key.as_str().rsplit("phase/").next()?.split('/');
    let (name, visit) = (parts.next()?, parts.next()?);
    let visit: u32 = visit.split('#').next()?.parse().ok()?;
    let round = visit.checked_sub(1)?;
    Some(match name {
        "write" => format!("s{}", round * 2),
        "review" => format!("s{}", round * 2 + 1),
        step => step.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use contract::flow::{GroupMode, Order, StepKind};
    use engine::flow::reading;

    use super::*;

    const ALL: [Workload; 6] = [
        Workload::A,
        Workload::B,
        Workload::C,
        Workload::D,
        Workload::E,
        Workload::K,
    ];

    #[test]
    fn every_workload_is_a_flow_without_problems() {
        for workload in ALL {
            let reading = reading::read(&workload.flow(64, "fake:bench"), None);
            assert_eq!(reading.problems, [], "{workload:?}");
        }
    }

    #[test]
    fn the_loop_is_a_loop_and_the_independent_steps_are_ordered_by_what_they_read() {
        let read = |workload: Workload| reading::read(&workload.flow(3, "fake:bench"), None).flow.unwrap();
        let StepKind::Group(group) = &read(Workload::C).steps[0].kind else {
            panic!("the rounds are no group");
        };
        assert!(matches!(
            &group.mode,
            GroupMode::Sequence {
                until: Some(_),
                max: Some(20)
            }
        ));
        assert_eq!(group.steps.len(), 2);
        assert_eq!(read(Workload::B).order, Order::Reads);
        assert_eq!(read(Workload::B).steps.len(), 3 + 1 + 1);
    }

    #[test]
    fn a_request_is_named_after_its_step() {
        let check = |key: &str, step: &str| assert_eq!(step_of(&Key::new(key)).as_deref(), Some(step));
        check("phase/s17/1#0/call/0", "s17");
        check("phase/s17/1#2/call/0:started", "s17");
        check("phase/rounds/1#0/phase/write/1#0/call/0", "s0");
        check("phase/rounds/1#0/phase/review/20#0/call/0", "s39");
        assert_eq!(step_of(&Key::new("run:started")), None);
    }
}
