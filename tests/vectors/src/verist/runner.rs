//! Commands: read, normalised, and carried out on a real journal that is opened anew for every case of
//! a chain.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use contract::{Key, StepError};
use engine::kernel::Driver;
use engine::kernel::command::{Command, normalise_values};
use engine::kernel::step::{Fault, Step, StepContext, StepReturn};
use engine::kernel::work::{Review, Work, WorkStatus, Workflow};
use serde_json::{Value, json};

use super::stub::Stub;
use crate::case::{Case, Outcome};
use crate::expect::{equal, same};
use crate::prose::{self, Row};
use crate::world::{Place, wait};

/// A command is one of the five, or none.
pub(super) fn commands(case: &Case) -> Result<Outcome, String> {
    let command = case.need("command")?;
    let parsed = Command::parse(command);
    equal("valid", case.need("valid")?, &json!(parsed.is_ok()))?;
    if let (Some(expected), Ok(command)) = (case.get("category"), &parsed) {
        equal("category", expected, &json!(command.category()))?;
    }
    if let Ok(read) = parsed {
        equal("command", command, &json!(read))?;
    }
    Ok(Outcome::Passed)
}

/// Commands as they are compared.
pub(super) fn normalisation(case: &Case) -> Result<Outcome, String> {
    let commands = case.need("commands")?.as_array().cloned().unwrap_or_default();
    let normal = normalise_values(&commands).map_err(|error| error.to_string())?;
    equal("commands", case.need("expect")?, &json!(normal))?;
    Ok(Outcome::Passed)
}

/// A step returns `commands`; then a review is answered (`resolve`) or a suspension ends (`resume`).
pub(super) fn runner(case: &Case) -> Result<Outcome, String> {
    const ROWS: &[Row] = &[
        (
            &["same", "once"],
            "a_command_that_is_delivered_twice_is_carried_out_once",
        ),
        (&["dedupe"], "a_command_that_is_delivered_twice_is_carried_out_once"),
        (&["twice"], "a_command_that_is_delivered_twice_is_carried_out_once"),
        (&["emit", "replay"], "work_survives_a_restart_and_repeats_nothing"),
        (&["atomic"], "work_survives_a_restart_and_repeats_nothing"),
        (&["persist"], "work_survives_a_restart_and_repeats_nothing"),
        (&["concurrent"], "of_two_who_resume_one_wins"),
        (&["resume"], "of_two_who_resume_one_wins"),
        (&["overlay"], "a_correction_survives_what_is_computed_later"),
        (&["blocking"], "at_most_one_command_may_block"),
        (
            &["order"],
            "commands_keep_their_order_and_no_commands_are_not_an_empty_list",
        ),
    ];
    if case.is_prose(&["commands", "after"]) {
        return prose::stated(case, ROWS);
    }
    wait(async {
        let chain = case.chain()?;
        let first = chain[0].need_list("commands")?;
        let bench = Bench::new(first.clone()).await?;
        let mut did = bench.go(&chain[0]).await?;
        for next in &chain[1..] {
            did = bench.answer(next, did).await?;
        }
        bench.check(case, &did).await
    })?;
    Ok(Outcome::Passed)
}

/// A step that is shared between workflows that are made anew.
struct Shared(Arc<Stub>);

#[async_trait]
impl Step for Shared {
    fn name(&self) -> &str {
        Step::<Driver>::name(self.0.as_ref())
    }

    fn input_schema(&self) -> Value {
        // Any input: cases hand on what they like.
        json!({})
    }

    fn output_schema(&self) -> Value {
        json!({ "type": "object", "additionalProperties": true })
    }

    async fn run(&self, input: Value, context: &StepContext<'_>) -> Result<StepReturn, Fault> {
        // Only the first time: a step that is resumed has nothing more to ask for.
        let again = !self.0.given.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        let returned = self.0.run(input, context).await?;
        Ok(if again { StepReturn::output(json!({})) } else { returned })
    }
}

const FIRST: &str = "first";

struct Bench {
    place: Place,
    root: Key,
    steps: Vec<Arc<Stub>>,
}

/// What a case did: the work, or the error of an answer that came too late.
struct Did {
    work: Work,
    before: Option<Work>,
    refused: Option<StepError>,
}

impl Bench {
    async fn new(commands: Vec<Value>) -> Result<Self, String> {
        let named = |command: &Value| {
            ["step", "resumeStep"]
                .iter()
                .filter_map(|field| command[*field].as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let names: BTreeSet<String> = commands.iter().flat_map(named).filter(|name| name != FIRST).collect();
        let mut steps = vec![stub(
            FIRST,
            json!({ "output": { "score": 0.5 }, "commands": commands }),
        )?];
        for name in names {
            steps.push(stub(&name, json!({ "output": {} }))?);
        }
        Ok(Self {
            place: Place::new().await?,
            root: Key::new("work"),
            steps,
        })
    }

    /// Takes the work as far as it goes, with a driver that knows only the journal.
    async fn go(&self, _case: &Case<'_>) -> Result<Did, String> {
        let driver = self.place.driver().await?;
        let steps = self
            .steps
            .iter()
            .map(|step| Box::new(Shared(Arc::clone(step))) as Box<dyn Step>);
        let workflow = Workflow::new("vectors", steps.collect()).map_err(|error| error.to_string())?;
        let work = driver.work(&workflow, &self.root, FIRST, json!({})).await;
        Ok(Did {
            work: work.map_err(|halt| format!("it halted: {halt:?}"))?,
            before: None,
            refused: None,
        })
    }

    async fn answer(&self, case: &Case<'_>, before: Did) -> Result<Did, String> {
        let driver = self.place.driver().await?;
        let said = if let Some(words) = case.text("resolve") {
            driver.resolve_review(&self.root, review(words)?).await
        } else if let Some(resolution) = case.get("resolve").and_then(|resolve| resolve.get("override")) {
            let review = Review::Override(resolution.clone());
            driver.resolve_review(&self.root, review).await
        } else {
            driver.resume_work(&self.root, case.need("resume")?).await
        };
        let said = said.map_err(|halt| format!("it halted: {halt:?}"))?;
        let mut did = self.go(case).await?;
        did.before = Some(before.work);
        did.refused = said.err();
        Ok(did)
    }

    async fn check(&self, case: &Case<'_>, did: &Did) -> Result<(), String> {
        let expected = case.need("expect")?.as_object().ok_or("`expect` is no object")?;
        for (name, expected) in expected {
            self.check_one(case, name, expected, did).await?;
        }
        Ok(())
    }

    async fn check_one(&self, case: &Case<'_>, name: &str, expected: &Value, did: &Did) -> Result<(), String> {
        let work = &did.work;
        match name {
            "note" => Ok(()),
            "run_status" => equal(name, expected, &json!(status(&work.status))),
            "state" => {
                let provisional = work.status == WorkStatus::PendingReview;
                equal(
                    name,
                    expected,
                    &json!(if provisional { "provisional" } else { "final" }),
                )
            }
            "executed" => equal(name, expected, &json!(labels(&work.executed))),
            "deferred" => equal(name, expected, &json!(labels(&work.deferred))),
            "discarded" => equal(name, expected, &json!(labels(&work.discarded))),
            "emitted" => {
                let emitted: Vec<String> = labels(&work.executed);
                equal(
                    name,
                    expected,
                    &json!(
                        emitted
                            .iter()
                            .filter(|label| label.starts_with("emit"))
                            .collect::<Vec<_>>()
                    ),
                )
            }
            "overlay" => equal(name, expected, &json!(work.state.overlay)),
            "computed" => equal(name, expected, &json!(work.state.computed)),
            "effective" => equal(name, expected, &work.state.effective()),
            "computed_unchanged" => {
                let unchanged = did
                    .before
                    .as_ref()
                    .is_some_and(|before| before.state.computed == work.state.computed);
                equal(name, expected, &json!(unchanged))
            }
            "suspension" => suspension(expected, work),
            "invoked_with" => {
                let given: Vec<Value> = self.given();
                let found = given.iter().any(|given| same(expected, given));
                if found {
                    Ok(())
                } else {
                    Err(format!("the steps were given {}", json!(given)))
                }
            }
            "error_or_noop" => {
                let before = did.before.as_ref().ok_or("nothing was done before")?;
                let nothing_more = before.executed == work.executed && before.status == work.status;
                equal(name, expected, &json!(did.refused.is_some() && nothing_more))
            }
            "error" => {
                let words = match (&work.status, &did.refused) {
                    (WorkStatus::Failed(error), _) | (_, Some(error)) => error.message.clone(),
                    _ => return Err("there is no error".to_owned()),
                };
                let wanted = expected.as_str().unwrap_or_default();
                if words.contains(wanted) {
                    Ok(())
                } else {
                    Err(format!("the error is \"{words}\", not \"{wanted}\""))
                }
            }
            "equivalent_to" => {
                let commands = expected.as_array().ok_or("`equivalent_to` is no list")?;
                let other = Self::new(commands.clone()).await?;
                other.go(case).await?;
                equal("given", &json!(other.given()), &json!(self.given()))?;
                equal("calls", &json!(commands.len()), &json!(self.given().len()))
            }
            _ => Err(format!("nothing is known about `{name}`")),
        }
    }

    /// What the steps but the first were given; of the first, what it was resumed with.
    fn given(&self) -> Vec<Value> {
        let all = |step: &Arc<Stub>| step.given.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = self.steps[..1].iter().flat_map(|step| all(step).into_iter().skip(1));
        let others = self.steps[1..].iter().flat_map(all);
        first.chain(others).collect()
    }
}

fn stub(name: &str, body: Value) -> Result<Arc<Stub>, String> {
    Ok(Arc::new(Stub::new(&json!({ "name": name }), body)?))
}

fn suspension(expected: &Value, work: &Work) -> Result<(), String> {
    let blocked = work.blocked.first().ok_or("nothing is suspended")?;
    let mut actual = json!(blocked.command);
    let resume = blocked.resume_step.clone().unwrap_or_default();
    let same_step = blocked.step == resume;
    actual["resumeStep"] = json!(if same_step { "<same step>".to_owned() } else { resume });
    let fields = expected.as_object().into_iter().flatten();
    for (name, expected) in fields {
        equal(name, expected, &actual[name])?;
    }
    Ok(())
}

fn status(status: &WorkStatus) -> &'static str {
    match status {
        WorkStatus::PendingReview => "pending_review",
        WorkStatus::Suspended => "suspended",
        WorkStatus::Finished | WorkStatus::Rejected => "terminal",
        WorkStatus::Failed(_) => "failed",
    }
}

/// `invoke a`, `emit topic`, …
fn labels(commands: &[Command]) -> Vec<String> {
    let label = |command: &Command| {
        let value = json!(command);
        let name = ["step", "topic", "reason"]
            .iter()
            .find_map(|field| value[*field].as_str());
        format!(
            "{} {}",
            value["type"].as_str().unwrap_or_default(),
            name.unwrap_or_default()
        )
    };
    commands.iter().map(label).collect()
}

/// `approve`, `reject`, or `override` with an object whose names may stand without quotes.
fn review(words: &str) -> Result<Review, String> {
    match words.split_once(' ').unwrap_or((words, "")) {
        ("approve", _) => Ok(Review::Approve),
        ("reject", _) => Ok(Review::Reject),
        ("override", values) => Ok(Review::Override(loose(values)?)),
        _ => Err(format!("nothing is known about the answer `{words}`")),
    }
}

fn loose(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut quoted = String::new();
    let mut name = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || character == '_' || character == '.' {
            name.push(character);
            continue;
        }
        if character == ':' && !name.is_empty() {
            quoted.push_str(&format!("\"{name}\""));
        } else {
            quoted.push_str(&name);
        }
        name.clear();
        quoted.push(character);
    }
    serde_json::from_str(&quoted).map_err(|error| format!("`{text}`: {error}"))
}

#[cfg(test)]
mod tests {
    use contract::event::RunEvent;
    use contract::step::code;

    use super::*;

    fn bench(commands: Value) -> Bench {
        wait(Bench::new(commands.as_array().unwrap().clone())).unwrap()
    }

    fn go(bench: &Bench) -> Work {
        let nothing = json!({});
        let case = Case {
            group: &[],
            value: &nothing,
        };
        wait(bench.go(&case)).unwrap().work
    }

    #[test]
    fn a_command_that_is_delivered_twice_is_carried_out_once() {
        let emit = json!({ "type": "emit", "topic": "t", "payload": 1 });
        let invoke = json!({ "type": "invoke", "step": "a", "input": {} });
        let bench = bench(json!([emit, invoke, emit, invoke]));
        let work = go(&bench);
        assert_eq!(labels(&work.executed), ["emit t", "invoke a"]);
        assert_eq!(labels(&work.repeated), ["emit t", "invoke a"]);
        assert_eq!(bench.given().len(), 1);
    }

    #[test]
    fn work_survives_a_restart_and_repeats_nothing() {
        let bench = bench(json!([
            { "type": "emit", "topic": "t", "payload": 1 },
            { "type": "fanout", "step": "a", "inputs": [1, 2] },
            { "type": "review", "reason": "look" },
        ]));
        let waiting = go(&bench);
        assert_eq!(waiting.status, WorkStatus::PendingReview);
        assert_eq!(labels(&waiting.deferred), ["emit t", "fanout a"]);
        assert_eq!(bench.given().len(), 0, "nothing runs before a person has looked");
        // Every driver from here on knows only the journal.
        let driver = wait(bench.place.driver()).unwrap();
        let review = Review::Override(json!({ "score": 0.9 }));
        wait(driver.resolve_review(&bench.root, review)).unwrap().unwrap();
        drop(driver);
        let done = go(&bench);
        assert_eq!(go(&bench), done);
        assert_eq!(done.status, WorkStatus::Finished);
        assert_eq!(bench.given(), [json!(1), json!(2)]);
        assert_eq!(done.state.effective(), json!({ "score": 0.9 }));
        let driver = wait(bench.place.driver()).unwrap();
        let emitted = driver.journal.recorded(&bench.root.child("command/0"));
        assert!(matches!(emitted.as_deref(), Some(RunEvent::TopicEmitted { topic, .. }) if topic == "t"));
    }

    #[test]
    fn of_two_who_resume_one_wins() {
        let bench = bench(json!([{ "type": "suspend", "reason": "doc", "checkpoint": 1 }]));
        assert_eq!(go(&bench).status, WorkStatus::Suspended);
        // Two drivers that have both read the journal before either of them says anything.
        let [one, two] = [(); 2].map(|()| wait(bench.place.driver()).unwrap());
        let first = wait(one.resume_work(&bench.root, &json!("d1"))).unwrap();
        let second = wait(two.resume_work(&bench.root, &json!("d2"))).unwrap();
        assert_eq!(first, Ok(()));
        assert_eq!(second.unwrap_err().code, code::CONFLICT);
        assert_eq!(go(&bench).status, WorkStatus::Finished);
        assert_eq!(bench.given(), [json!({ "checkpoint": 1, "resumeData": "d1" })]);
    }

    #[test]
    fn nobody_answers_what_does_not_wait() {
        let bench = bench(json!([{ "type": "review", "reason": "look" }]));
        go(&bench);
        let driver = wait(bench.place.driver()).unwrap();
        let resumed = wait(driver.resume_work(&bench.root, &json!(1))).unwrap();
        assert_eq!(resumed.unwrap_err().code, code::NOT_FOUND);
    }

    #[test]
    fn a_correction_can_come_at_any_time() {
        let bench = bench(json!([]));
        go(&bench);
        for score in [0.7, 0.8] {
            let driver = wait(bench.place.driver()).unwrap();
            wait(driver.correct(&bench.root, &json!({ "score": score })))
                .unwrap()
                .unwrap();
        }
        let work = go(&bench);
        assert_eq!(work.state.effective(), json!({ "score": 0.8 }));
        assert_eq!(work.state.computed["score"], json!(0.5));
    }

    #[test]
    fn commands_that_go_on_for_ever_are_stopped() {
        let place = wait(Place::new()).unwrap();
        struct Again;
        #[async_trait]
        impl Step for Again {
            fn name(&self) -> &str {
                "again"
            }
            fn input_schema(&self) -> Value {
                json!({})
            }
            fn output_schema(&self) -> Value {
                json!({})
            }
            async fn run(&self, input: Value, _context: &StepContext<'_>) -> Result<StepReturn, Fault> {
                let next = json!(input.as_u64().unwrap_or_default() + 1);
                Ok(StepReturn::output(json!({})).with_commands(vec![Command::invoke("again", next)]))
            }
        }
        let workflow = Workflow::new("w", vec![Box::new(Again)]).unwrap().at_most(5);
        let driver = wait(place.driver()).unwrap();
        let work = wait(driver.work(&workflow, &Key::new("work"), "again", json!(0))).unwrap();
        assert!(matches!(&work.status, WorkStatus::Failed(error) if error.code == code::LOOP_LIMIT));
        assert_eq!(work.executed.len(), 5);
        // After a restart it comes to the same end, and not to five more steps.
        let driver = wait(place.driver()).unwrap();
        let again = wait(driver.work(&workflow, &Key::new("work"), "again", json!(0))).unwrap();
        assert_eq!((again.status, again.executed.len()), (work.status, 5));
    }

    /// A step that says the same whenever it runs, or fails.
    struct Says(&'static str, Result<Value, &'static str>, Value);

    #[async_trait]
    impl Step for Says {
        fn name(&self) -> &str {
            self.0
        }
        fn input_schema(&self) -> Value {
            json!({})
        }
        fn output_schema(&self) -> Value {
            json!({ "type": "object", "additionalProperties": true })
        }
        async fn run(&self, _input: Value, _context: &StepContext<'_>) -> Result<StepReturn, Fault> {
            let output = self.1.clone().map_err(|code| StepError::new(code, "it failed"))?;
            let commands = self
                .2
                .as_array()
                .unwrap()
                .iter()
                .map(|command| Command::parse(command).unwrap());
            Ok(StepReturn::output(output).with_commands(commands.collect()))
        }
    }

    fn walk(place: &Place, steps: Vec<Says>) -> Work {
        let steps = steps.into_iter().map(|step| Box::new(step) as Box<dyn Step>);
        let workflow = Workflow::new("w", steps.collect()).unwrap();
        let driver = wait(place.driver()).unwrap();
        wait(driver.work(&workflow, &Key::new("work"), "first", json!(0))).unwrap()
    }

    fn invoke(step: &str) -> Value {
        json!({ "type": "invoke", "step": step, "input": 1 })
    }

    /// `b` asks for a review of its call of `d`; `c` runs meanwhile.
    fn reviewed() -> Vec<Says> {
        vec![
            Says("first", Ok(json!({})), json!([invoke("b"), invoke("c")])),
            Says(
                "b",
                Ok(json!({ "b": 1 })),
                json!([invoke("d"), { "type": "review", "reason": "look" }]),
            ),
            Says("c", Ok(json!({ "c": 2 })), json!([])),
            Says("d", Ok(json!({ "d": 3 })), json!([])),
        ]
    }

    #[test]
    fn a_rejection_takes_nothing_from_the_other_branches() {
        let place = wait(Place::new()).unwrap();
        let waiting = walk(&place, reviewed());
        assert_eq!(waiting.status, WorkStatus::PendingReview);
        let driver = wait(place.driver()).unwrap();
        let rejected = wait(driver.resolve_review(&waiting.blocked[0].key, Review::Reject)).unwrap();
        rejected.unwrap();
        drop(driver);
        let done = walk(&place, reviewed());
        assert_eq!(done.status, WorkStatus::Rejected);
        assert_eq!(done.state.computed, waiting.state.computed, "what was made stays made");
        assert_eq!(labels(&done.executed), ["invoke b", "invoke c"]);
        assert_eq!(labels(&done.discarded), ["invoke d"]);
    }

    #[test]
    fn what_a_failure_leaves_undone_is_discarded_and_not_called_done() {
        let place = wait(Place::new()).unwrap();
        let steps = || {
            vec![
                Says(
                    "first",
                    Ok(json!({})),
                    json!([
                        invoke("a"), invoke("b"), { "type": "fanout", "step": "c", "inputs": [1, 2] },
                    ]),
                ),
                Says("a", Ok(json!({ "a": 1 })), json!([invoke("d")])),
                Says("b", Err("broken"), json!([])),
                Says("c", Ok(json!({ "c": 1 })), json!([])),
                Says("d", Ok(json!({ "d": 1 })), json!([])),
            ]
        };
        let work = walk(&place, steps());
        assert!(
            matches!(&work.status, WorkStatus::Failed(error) if error.code == "broken"),
            "{work:?}"
        );
        assert_eq!(labels(&work.executed), ["invoke a", "invoke b"]);
        assert_eq!(labels(&work.discarded), ["fanout c", "invoke d"]);
        assert_eq!(walk(&place, steps()), work, "after a restart it is the same");
    }

    #[test]
    fn a_result_that_cannot_be_recorded_fails_now_and_after_a_restart() {
        let place = wait(Place::new()).unwrap();
        let steps = || {
            vec![
                Says(
                    "first",
                    Ok(json!({ "n": 9_007_199_254_740_993_u64 })),
                    json!([invoke("b")]),
                ),
                Says("b", Ok(json!({})), json!([])),
            ]
        };
        let work = walk(&place, steps());
        assert!(
            matches!(&work.status, WorkStatus::Failed(error) if error.code == code::OUTPUT_VALIDATION),
            "{work:?}"
        );
        assert_eq!(walk(&place, steps()), work);
    }

    #[test]
    fn two_steps_of_one_name_are_no_workflow() {
        let twice = ["a", "a"].map(|name| Box::new(Says(name, Ok(json!({})), json!([]))) as Box<dyn Step>);
        let refused = Workflow::new("w", twice.into()).err().unwrap();
        assert_eq!(refused.code, code::CONFLICT);
    }
}
