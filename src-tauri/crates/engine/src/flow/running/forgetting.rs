//! Which outputs of a chain nobody will ask for again. They are in the journal; in memory a long flow would hold all that
//! was ever said in it.
//!
//! Only where that is certain: steps that follow each other, none of which leads back, no name that is only known when
//! it is looked up, and nothing under a key that several steps have.

use std::collections::HashMap;

use super::paths::{paths, referred};
use super::program::{Leads, Mode, Stage, Way, Work};
use crate::template::{Mapping, Path, Segment};
use contract::flow::Order;

/// For each step, the steps whose outputs are needed no more once it is over; empty where that is not known.
pub(super) fn forgotten_after(
    stages: &[Stage],
    by_key: &HashMap<String, usize>,
    mode: &Mode,
    order: Order,
    output: Option<&Mapping>,
) -> Vec<Vec<usize>> {
    let leads_back = |(at, stage): (usize, &Stage)| {
        let ways = stage.ways.iter().flatten();
        ways.into_iter()
            .any(|way| matches!(way.leads, Leads::To(to) if to <= at))
    };
    let is_chain = matches!(mode, Mode::Sequence { until: None }) && order == Order::Chain;
    // Which steps another flow reads is known when it is looked up.
    let is_known = |stage: &Stage| !matches!(stage.work, Work::Ref(_));
    if !is_chain || stages.iter().enumerate().any(leads_back) || !stages.iter().all(is_known) {
        return Vec::new();
    }
    // What comes after is given the output before it, if nothing else.
    let mut last_use: Vec<usize> = (1..=stages.len()).collect();
    let none = HashMap::new();
    let by_steps = stages.iter().enumerate().flat_map(|(at, stage)| {
        // An answer is given at the end, wherever it stands.
        let is_answer = matches!(stage.work, Work::Answer { .. });
        let when = if is_answer { usize::MAX } else { at };
        let paths = paths(&none, stage).chain(stage.ways.iter().flatten().flat_map(in_way));
        paths.map(move |path| (path, when))
    });
    let at_the_end = referred(output.into_iter()).map(|path| (path, usize::MAX));
    for (path, when) in by_steps.chain(at_the_end) {
        match read(path, by_key) {
            Read::One(step) => last_use[step] = last_use[step].max(when),
            Read::All => return Vec::new(),
            Read::None => {}
        }
    }
    let mut forgotten = vec![Vec::new(); stages.len()];
    let mut named: HashMap<&str, u32> = HashMap::new();
    for stage in stages {
        *named.entry(&stage.key).or_default() += 1;
    }
    for (step, last) in last_use.into_iter().enumerate() {
        if named.get(stages[step].key.as_str()) == Some(&1)
            && let Some(after) = forgotten.get_mut(last)
        {
            after.push(step);
        }
    }
    forgotten
}

enum Read {
    None,
    One(usize),
    All,
}

fn read(path: &Path, by_key: &HashMap<String, usize>) -> Read {
    if let Some(step) = path.root_spellings().find_map(|name| by_key.get(name)) {
        return Read::One(*step);
    }
    if path.root() != "outputs" {
        return Read::None;
    }
    match path.segments().get(1) {
        Some(Segment::Name { name, others }) => {
            let mut names = std::iter::once(name).chain(others);
            names
                .find_map(|name| by_key.get(name))
                .map_or(Read::All, |step| Read::One(*step))
        }
        Some(Segment::Index(_)) | None => Read::All,
    }
}

/// What a route refers to.
fn in_way(way: &Way) -> impl Iterator<Item = &Path> {
    let templates = match &way.leads {
        Leads::To(_) => Vec::new(),
        Leads::Finish { text, rewrite } => {
            let rewrite = rewrite.as_ref().map(|(instructions, _)| instructions);
            [Some(text), rewrite].into_iter().flatten().collect()
        }
    };
    let in_texts = templates.into_iter().chain(&way.log);
    let in_texts = in_texts.flat_map(|template| template.references().map(|reference| &reference.path));
    let in_condition = way.when.iter().flat_map(|when| when.references());
    in_texts
        .chain(in_condition)
        .chain(referred(way.set.iter().map(|(_, mapping)| mapping)))
}

#[cfg(test)]
mod tests {
    use contract::flow::FlowRun;
    use serde_json::{Value, json};

    use super::super::program::Program;
    use crate::flow::reading::{self, Refs};

    /// Steps that ask, each with its prompt and what more is said of it, and what is forgotten after each.
    fn check(steps: &[(&str, &str, Value)], expected: &[&[&str]]) {
        let step = |(id, prompt, more): &(&str, &str, Value)| {
            let mut step = json!({ "id": id });
            match *id {
                "end" => step["answer"] = json!({ "text": prompt }),
                _ => step["ask"] = json!({ "instructions": "", "prompt": prompt }),
            }
            for (name, value) in more.as_object().into_iter().flatten() {
                step[name] = value.clone();
            }
            step
        };
        let steps: Vec<Value> = steps.iter().map(step).collect();
        let read = reading::read(&json!({ "id": "flow", "model": "replay:m", "steps": steps }), None);
        assert!(
            read.problems.iter().all(|problem| problem.warning),
            "{:?}",
            read.problems
        );
        let run = FlowRun {
            flow: read.flow.unwrap(),
            refs: Refs::new(),
            input: Value::Null,
            messages: Vec::new(),
        };
        let body = &Program::of(&run).unwrap().root;
        let names = |steps: &Vec<usize>| steps.iter().map(|step| body.stages[*step].key.as_str()).collect();
        let forgotten: Vec<Vec<&str>> = body.forgotten_after.iter().map(names).collect();
        assert_eq!(forgotten, expected);
    }

    #[test]
    fn an_output_is_forgotten_after_the_last_step_that_asks_for_it() {
        let chain = [
            ("a", "Begin.", json!({})),
            ("b", "{{a}}", json!({})),
            ("c", "{{outputs.b}}", json!({ "when": "{{a}} != \"\"" })),
            ("d", "{{c}}", json!({})),
            ("end", "{{c}}", json!({})),
        ];
        check(&chain, &[&[], &[], &["a", "b"], &[], &["d"]]);
    }

    #[test]
    fn a_route_asks_too_and_one_that_leads_back_keeps_everything() {
        let route = |to: &str| {
            json!({ "routes": [
                { "when": "{{a}} == \"x\"", "finish": { "text": "{{a}} and {{b}}" } },
                { "to": to },
            ] })
        };
        let steps = |to: &str| {
            [
                ("a", "Begin.", json!({})),
                ("b", "{{a}}", json!({})),
                ("c", "{{b}}", route(to)),
                ("d", "Go on.", json!({})),
                ("end", "{{d}}", json!({})),
            ]
        };
        check(&steps("d"), &[&[], &[], &["a", "b"], &["c"], &[]]);
        check(&steps("a"), &[]);
    }

    #[test]
    fn nothing_is_forgotten_under_a_key_that_two_steps_have() {
        let step = |id: &str, words: &str| {
            let model = json!({ "provider": "replay", "name": "m" });
            json!({ "agent": { "id": id, "kind": "llm", "model": model, "instruction": words } })
        };
        let steps = [step("draft", "One."), step("draft", "Two."), step("last", "Three.")];
        let read = reading::read(&json!({ "id": "twice", "kind": "sequential", "steps": steps }), None);
        let run = FlowRun {
            flow: read.flow.unwrap(),
            refs: Refs::new(),
            input: Value::Null,
            messages: Vec::new(),
        };
        let body = &Program::of(&run).unwrap().root;
        assert_eq!(body.stages.iter().filter(|stage| stage.key == "draft").count(), 2);
        assert!(body.forgotten_after.iter().all(Vec::is_empty));
    }

    #[test]
    fn who_asks_for_all_of_them_finds_all() {
        let steps = [
            ("a", "Begin.", json!({})),
            ("b", "{{outputs}}", json!({})),
            ("end", "{{b}}", json!({})),
        ];
        check(&steps, &[]);
    }
}
