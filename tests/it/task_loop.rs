//! The task loop with a scripted model on the real store, tools and checks: the seed's rules and ends.

use std::sync::{Arc, Mutex};

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::access::Access;
use contract::evaluation::{CriterionVerdict, Verdict};
use contract::event::{ApprovedBy, RunEvent, RunEventRecord};
use contract::llm::{LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo};
use contract::person::{Answer, Ask};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::run::{RunStatus, StopReason};
use contract::run_state::RunState;
use contract::step::StepStatus;
use contract::value_ref::Artifact;
use contract::{Hash, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, TOKENS, plan, plan_value, thought, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

pub(crate) const ANSWER: &str = "goal: Say something\nexpectedOutput: A few words\nmodels: { planner: 'scripted:m' }\n";
pub(crate) const FILE: &str = "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file }]\nlimits: { maxCycles: 2 }\nmodels: { planner: 'scripted:m' }\n";
pub(crate) const PLAN_1: &str = "cycle/1/plan#0/call/0";
pub(crate) const PLAN_2: &str = "cycle/2/plan#0/call/0";

pub(crate) struct Ran {
    pub(crate) place: Place,
    pub(crate) app: App,
    pub(crate) run: RunId,
    pub(crate) state: RunState,
}

pub(crate) async fn run(task: &str, script: &Arc<Script>, people: &Arc<Answers>) -> Ran {
    run_with(task, script, people, |config| config).await
}

pub(crate) async fn run_with(
    task: &str,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    run_as(task, json!({}), script, people, change).await
}

/// The same, with what a person wants to be different for this run.
pub(crate) async fn run_as(
    task: &str,
    options: Value,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    run_in(Place::default(), task, options, script, people, change).await
}

/// The same in a folder that holds something already.
pub(crate) async fn run_in(
    place: Place,
    task: &str,
    options: Value,
    script: &Arc<Script>,
    people: &Arc<Answers>,
    change: impl FnOnce(Config) -> Config,
) -> Ran {
    let config = Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Arc::clone(people) as _),
        ..place.config()
    };
    let app = App::open(change(config)).await.unwrap();
    let request = json!({ "source": task, "folder": place.folder(), "options": options });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    Ran { place, app, run, state }
}

impl Ran {
    /// Waits until the run's latest drive ended, and looks at the run anew.
    pub(crate) async fn again(mut self) -> Self {
        self.app.outcome(&self.run).await.unwrap();
        self.state = self.app.state(&self.run).await.unwrap();
        self
    }

    /// A call about this run, as the window makes it.
    pub(crate) async fn call(&self, name: &str, mut request: Value) -> Result<Value, contract::AppError> {
        request["runId"] = json!(self.run);
        call(&self.app, name, request).await
    }

    pub(crate) fn stop_reason(&self) -> StopReason {
        self.state.result.as_ref().unwrap().stop_reason
    }

    pub(crate) fn feedback(&self) -> &str {
        &self.state.result.as_ref().unwrap().feedback
    }

    pub(crate) fn statuses(&self, cycle: usize) -> Vec<(&str, StepStatus)> {
        self.state.cycles[cycle]
            .steps
            .iter()
            .map(|(id, step)| (id.as_str(), step.status))
            .collect()
    }

    pub(crate) fn error(&self, step: &str) -> String {
        self.state.cycles[0].steps[step].error.as_ref().unwrap().message.clone()
    }

    pub(crate) fn verdict_of(&self, cycle: usize, id: &str) -> CriterionVerdict {
        let evaluation = self.state.cycles[cycle].evaluation.as_ref().unwrap();
        evaluation
            .criteria
            .iter()
            .find(|result| result.id == id)
            .unwrap()
            .verdict
    }

    pub(crate) async fn events(&self) -> Vec<RunEventRecord> {
        let events = call(
            &self.app,
            "run_events",
            json!({ "runId": self.run, "fromSeq": 1, "limit": 500 }),
        )
        .await
        .unwrap();
        serde_json::from_value(events["events"].clone()).unwrap()
    }
}

pub(crate) fn write(id: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": "out.txt", "content": content }),
        dependencies,
    )
}

#[tokio::test]
async fn a_planner_is_told_what_was_wrong_and_tries_once_more() {
    let wrong = plan(json!([tool("a", "teleport", json!({}), &["z"])]));
    let right = plan(json!([thought("a", &[])]));
    let script = Script::new([
        (PLAN_1, wrong),
        ("cycle/1/plan#0/call/1", right),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told = script.prompt("cycle/1/plan#0/call/1");
    assert!(
        told.contains("unknown dependency") && told.contains("unknown tool"),
        "{told}"
    );
    assert!(
        told.contains("teleport"),
        "the reply itself is part of the conversation"
    );
    for words in ["Say something", "one JSON object", "no code fence"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let refused = ran.events().await.into_iter().find_map(|record| match record.event {
        RunEvent::PlanRefused { problems, again, .. } => Some((problems.len(), again)),
        _ => None,
    });
    assert_eq!(refused, Some((2, true)));
}

#[tokio::test]
async fn a_plan_that_is_wrong_twice_ends_the_run_and_can_be_tried_again() {
    let script = Script::new([
        (PLAN_1, Reply::Text("I would rather not.")),
        ("cycle/1/plan#0/call/1", Reply::Text("Still not.")),
        (PLAN_2, plan(json!([thought("a", &[])]))),
        ("cycle/2/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let one_cycle = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    let ran = run(&one_cycle, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::Error)
    );
    assert!(ran.feedback().contains("Still not."), "{}", ran.feedback());
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!((result.stop_reason, result.cycles), (StopReason::Passed, 2));
    let told = script.prompt(PLAN_2);
    assert!(
        told.contains("Still not."),
        "the next planner knows what was wrong: {told}"
    );
    assert_eq!(
        script.keys().iter().filter(|key| *key == PLAN_1).count(),
        1,
        "nothing that was asked is asked again"
    );
}

#[tokio::test]
async fn steps_run_in_the_seeds_order_and_see_only_what_they_declared() {
    let steps = json!([
        thought("A", &[]),
        thought("B", &["A"]),
        thought("C", &[]),
        thought("D", &["B", "C"])
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/A#0/call/0", Reply::Text("apple")),
        ("cycle/1/step/B#0/call/0", Reply::Text("banana")),
        ("cycle/1/step/C#0/call/0", Reply::Text("cherry")),
        ("cycle/1/step/D#0/call/0", Reply::Text("date")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let order: Vec<String> = script.keys().into_iter().filter(|key| key.contains("/step/")).collect();
    assert_eq!(
        order,
        ["A", "C", "B", "D"].map(|id| format!("cycle/1/step/{id}#0/call/0"))
    );
    let given = script.prompt("cycle/1/step/D#0/call/0");
    assert!(
        given.contains("banana") && given.contains("cherry") && !given.contains("apple"),
        "{given}"
    );
}

#[tokio::test]
async fn what_needs_a_failed_step_is_skipped() {
    let steps = json!([
        tool("read", "file_read", json!({ "path": "gone.txt" }), &[]),
        thought("think", &["read"]),
        write("write", "{{think}}", &["think"]),
        thought("other", &[]),
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
        ("cycle/1/step/other#0/call/0", Reply::Text("fine")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    use StepStatus::{Done, Failed, Skipped};
    assert_eq!(
        ran.statuses(0),
        [
            ("read", Failed),
            ("think", Skipped),
            ("write", Skipped),
            ("other", Done)
        ]
    );
    assert_eq!(ran.error("think"), "Skipped: dependency \"read\" failed");
    assert_eq!(ran.error("write"), "Skipped: dependency \"think\" failed");
    assert!(ran.error("read").contains("gone.txt"));
    assert!(
        !script.keys().iter().any(|key| key.contains("judge")),
        "a failed check decides without the model"
    );
}

#[tokio::test]
async fn the_call_that_crosses_the_budget_is_the_last_one_sent() {
    let steps = json!([thought("a", &[]), thought("b", &[]), thought("c", &[])]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        ("cycle/1/step/b#0/call/0", Reply::Text("b")),
        ("cycle/1/step/c#0/call/0", Reply::Text("c")),
    ]);
    let task = format!("{ANSWER}limits: {{ maxTokens: {}, maxParallel: 1 }}\n", 2 * TOKENS);
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Terminated, StopReason::Budget)
    );
    assert_eq!(ran.feedback(), "Token budget exceeded: used 45 of 30 tokens");
    assert_eq!(
        script.keys().len(),
        3,
        "exactly the budget is allowed, and nothing is sent after it is crossed"
    );
    assert_eq!(
        ran.statuses(0),
        [
            ("a", StepStatus::Done),
            ("b", StepStatus::Failed),
            ("c", StepStatus::Waiting)
        ]
    );
}

#[tokio::test]
async fn a_model_that_answers_in_words_where_a_tool_is_needed_fails_the_step() {
    let mut step = tool("a", "file_write", json!({}), &[]);
    step.as_object_mut().unwrap().remove("args");
    let script = Script::new([
        (PLAN_1, plan(json!([step]))),
        ("cycle/1/step/a#0/tool/0/call", Reply::Text("I wrote it.")),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        ran.error("a"),
        "LLM did not call tool \"file_write\" — no tool_use block in response"
    );
}

#[tokio::test]
async fn a_model_makes_the_arguments_that_the_plan_leaves_open() {
    let mut step = write("a", "", &["words"]);
    step.as_object_mut().unwrap().remove("args");
    let script = Script::new([
        (PLAN_1, plan(json!([thought("words", &[]), step]))),
        ("cycle/1/step/words#0/call/0", Reply::Text("hello, file")),
        (
            "cycle/1/step/a#0/tool/0/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "{{words}}!" })),
        ),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(
        std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap(),
        "hello, file!"
    );
    let request = script
        .asked
        .lock()
        .unwrap()
        .iter()
        .find(|request| request.key.as_str().ends_with("tool/0/call"))
        .cloned()
        .unwrap();
    assert_eq!(
        request.tool_choice,
        contract::llm::ToolChoice::Tool("file_write".to_owned())
    );
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_fails_the_step_and_names_it() {
    let steps = json!([
        tool("list", "directory_list", json!({ "path": "." }), &[]),
        write("a", "{{list[7].name}}", &["list"])
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert!(ran.error("a").contains("list[7].name"), "{}", ran.error("a"));
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn a_text_that_was_cut_off_is_no_result() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Cut("It was a dark and")),
    ]);
    let task = ANSWER.to_owned() + "limits: { maxCycles: 1 }\n";
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
}

#[tokio::test]
async fn asking_for_changes_takes_the_words_and_the_plan_back_to_the_planner() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/plan#1/call/0", plan(json!([thought("b", &[])]))),
        ("cycle/1/step/b#0/call/0", Reply::Text("hello")),
    ]);
    let people = Answers::new([Answer::AskForChanges {
        words: "Call it b, please".to_owned(),
    }]);
    let ran = run(ANSWER, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let told = script.prompt("cycle/1/plan#1/call/0");
    assert!(told.contains("Call it b, please") && told.contains("Think a"), "{told}");
    assert_eq!(people.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn rejecting_ends_the_run_before_anything_happens() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let ran = run(
        FILE,
        &script,
        &Answers::new([Answer::Reject {
            reason: Some("too risky".to_owned()),
        }]),
    )
    .await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::Rejected)
    );
    assert!(ran.feedback().contains("too risky"));
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn an_approval_binds_exactly_the_plan_that_was_shown() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let people = Answers::new([]);
    let ran = run(FILE, &script, &people).await;
    let Ask::ApprovePlan {
        plan_hash, envelope, ..
    } = people.asked.lock().unwrap()[0].clone()
    else {
        panic!("no plan was shown")
    };
    let shown: contract::plan::Plan = serde_json::from_value(plan_value(json!([write("a", "x", &[])]))).unwrap();
    assert_eq!(plan_hash, shown.hash().unwrap());
    assert!(envelope.write && !envelope.folder.is_empty());
    assert_eq!(ran.state.cycles[0].approved_by, Some(ApprovedBy::Person));
}

#[tokio::test]
async fn revisions_run_without_asking_when_that_was_allowed() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("a", "file_read", json!({ "path": "gone" }), &[])])),
        ),
        (PLAN_2, plan(json!([write("a", "mended", &[])]))),
    ]);
    let people = Answers::new([Answer::Approve { revisions: true }]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(people.asked.lock().unwrap().len(), 1);
    assert_eq!(ran.state.cycles[1].approved_by, Some(ApprovedBy::EarlierApproval));
    let told = script.prompt(PLAN_2);
    assert!(
        told.contains("out.txt") && told.contains("cycle_1.a: failure"),
        "{told}"
    );
}

#[tokio::test]
async fn a_quotation_that_stands_in_no_result_never_passes() {
    let invented = Reply::Json(json!({ "verdict": "pass", "confidence": 1, "summary": "Great.",
        "criteria": [{ "id": "goal", "verdict": "pass", "evidence": "a passage that the judge made up" }] }));
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "real words", &[])]))),
        ("cycle/1/judge#0/call/0", invented),
        (PLAN_2, plan(json!([write("a", "real words", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.verdict_of(0, "goal"), CriterionVerdict::Unknown);
    assert_eq!(ran.state.cycles[0].evaluation.as_ref().unwrap().verdict, Verdict::Fail);
    assert_eq!(
        ran.stop_reason(),
        StopReason::Passed,
        "the second judge quotes what is there"
    );
}

#[tokio::test]
async fn a_judge_that_cannot_be_read_twice_fails_the_cycle_and_the_loop_goes_on() {
    let long: &'static str = Box::leak(format!("{}LAST and more", "x".repeat(496)).into_boxed_str());
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "x", &[])]))),
        ("cycle/1/judge#0/call/0", Reply::Text("Looks good to me")),
        ("cycle/1/judge#0/call/1", Reply::Text(long)),
        (PLAN_2, plan(json!([write("a", "y", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    let evaluation = ran.state.cycles[0].evaluation.as_ref().unwrap();
    assert_eq!((evaluation.verdict, evaluation.confidence), (Verdict::Fail, 0.0));
    let said = format!(
        "Evaluator produced unparseable response after retry: {}LAST",
        "x".repeat(496)
    );
    assert_eq!(evaluation.feedback.as_ref(), Some(&said));
    assert_eq!(ran.state.cycles.len(), 2);
}

#[tokio::test]
async fn a_plan_that_fails_twice_in_the_same_way_is_not_tried_a_third_time() {
    let nothing = || plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]));
    let script = Script::new([(PLAN_1, nothing()), (PLAN_2, nothing())]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 5"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::NoProgress)
    );
    assert_eq!(ran.state.cycles.len(), 2);
}

#[tokio::test]
async fn a_file_cannot_grant_itself_an_approval() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let people = Answers::new([]);
    let ran = run(&(FILE.to_owned() + "approval: never\n"), &script, &people).await;
    assert_eq!(ran.state.cycles[0].approved_by, Some(ApprovedBy::Person));
    assert_eq!(people.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_cycles_run_out() {
    let nothing = || plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]));
    let script = Script::new([(PLAN_1, plan(json!([write("empty", "", &[])]))), (PLAN_2, nothing())]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::MaxCycles)
    );
    let last = ran.state.cycles[1].evaluation.as_ref().unwrap().feedback.as_deref();
    assert_eq!(Some(ran.feedback()), last, "and not what was said first");
    assert_ne!(
        ran.state.cycles[0].evaluation.as_ref().unwrap().feedback.as_deref(),
        last
    );
    assert!(
        ran.feedback().contains("no step of this plan makes it."),
        "{}",
        ran.feedback()
    );
}

#[tokio::test]
async fn the_scratchpad_is_one_for_the_run_and_the_summary_accumulates() {
    let note = tool(
        "note",
        "scratchpad",
        json!({ "action": "write", "key": "colour", "value": "blue" }),
        &[],
    );
    let read = tool(
        "read",
        "scratchpad",
        json!({ "action": "read", "key": "colour" }),
        &["note"],
    );
    let script = Script::new([
        (PLAN_1, plan(json!([note]))),
        (
            PLAN_2,
            plan(json!([
                thought("note", &[]),
                read,
                write("a", "{{read.value}}", &["read"]),
                tool("gone", "file_read", json!({ "path": "nowhere.txt" }), &[])
            ])),
        ),
        ("cycle/2/step/note#0/call/0", Reply::Text("noted")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap(),
        "blue"
    );
    assert!(script.prompt("cycle/2/step/note#0/call/0").contains("colour: blue"));
    let mut told: Vec<Value> = Vec::new();
    for name in ["_execution_summary", "_execution_summary/2"] {
        let summary = &ran.state.scratchpad[name];
        let value = call(&ran.app, "artifact_read", json!({ "hash": summary.hash })).await;
        let value = summary
            .inline
            .clone()
            .unwrap_or_else(|| value.unwrap()["value"].clone());
        told.extend(value.as_array().unwrap().clone());
    }
    let output = |cycle: usize, step: &str| ran.state.cycles[cycle].steps[step].output.clone().unwrap().inline;
    let error = ran.state.cycles[1].steps["gone"].error.clone().unwrap().message;
    let done = |cycle: usize, step: &str| {
        let output = output(cycle - 1, step);
        json!({ "cycle": cycle, "stepId": step, "status": "success", "output": output })
    };
    let gone = json!({ "cycle": 2, "stepId": "gone", "status": "failure", "output": null, "error": error });
    assert_eq!(told.len(), 5);
    for entry in [done(1, "note"), done(2, "note"), done(2, "read"), done(2, "a"), gone] {
        assert!(told.contains(&entry), "{entry}: {told:?}");
    }
}

#[tokio::test]
async fn a_model_server_that_is_down_ends_the_run_in_words_and_it_can_be_tried_again() {
    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers at http://127.0.0.1:1");
    let script = Script::new([
        (PLAN_1, Reply::Error(down)),
        ("cycle/1/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.feedback(), "nothing answers at http://127.0.0.1:1");
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
}

/// A disk that is full when this is to be written, once.
struct FullOnce {
    journal: Arc<dyn Journal>,
    armed: Arc<Mutex<bool>>,
    at: fn(&RunEvent) -> bool,
}

pub(crate) fn full_once(config: Config, at: fn(&RunEvent) -> bool) -> Config {
    let armed = Arc::new(Mutex::new(true));
    let before = config.journal;
    let journal = move |journal| -> Arc<dyn Journal> {
        let journal = before.as_ref().map_or(Arc::clone(&journal), |before| before(journal));
        let armed = Arc::clone(&armed);
        Arc::new(FullOnce { journal, armed, at })
    };
    Config {
        journal: Some(Box::new(journal)),
        ..config
    }
}

#[async_trait]
impl Journal for FullOnce {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let here = entries.iter().any(|entry| (self.at)(&entry.event));
        if here && std::mem::take(&mut *self.armed.lock().unwrap()) {
            return Err(JournalError::Storage("the disk is full".to_owned()));
        }
        self.journal
            .append(run, first_seq, entries, artifacts, durability)
            .await
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal.artifact(hash).await
    }
}

/// Leaves a change without its record, lets a person change the file, and goes on.
async fn interrupted_write(meanwhile: Option<&str>, answer: Answer) -> (String, usize, StopReason) {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "intended", &[])]))),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let people = Answers::new([Answer::Approve { revisions: false }, answer]);
    let ran = run_with(FILE, &script, &people, |config| {
        full_once(config, |event| matches!(event, RunEvent::ToolFinished { .. }))
    })
    .await;
    assert_eq!(ran.state.result, None, "a full disk ends nothing");
    let file = ran.place.work().join("out.txt");
    if let Some(text) = meanwhile {
        std::fs::write(&file, text).unwrap();
    }
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    let uncertain = people
        .asked
        .lock()
        .unwrap()
        .iter()
        .filter(|ask| matches!(ask, Ask::UncertainEffect { .. }))
        .count();
    (std::fs::read_to_string(&file).unwrap(), uncertain, result.stop_reason)
}

#[tokio::test]
async fn a_change_that_was_made_is_recorded_as_done() {
    assert_eq!(
        interrupted_write(None, Answer::StopRun).await,
        ("intended".to_owned(), 0, StopReason::Passed)
    );
}

#[tokio::test]
async fn a_change_that_cannot_be_told_is_a_persons_to_decide() {
    let (edited, again) = ("edited".to_owned(), "intended".to_owned());
    assert_eq!(
        interrupted_write(Some("edited"), Answer::MarkDone).await,
        (edited.clone(), 1, StopReason::Passed)
    );
    assert_eq!(
        interrupted_write(Some("edited"), Answer::RunAgain).await,
        (again, 1, StopReason::Passed)
    );
    assert_eq!(
        interrupted_write(Some("edited"), Answer::StopRun).await,
        (edited, 1, StopReason::Cancelled)
    );
}

#[tokio::test]
async fn a_change_that_a_person_let_run_again_is_not_asked_about_again_and_loses_nothing() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "intended", &[])])))]);
    let people = Answers::new([Answer::Approve { revisions: false }, Answer::RunAgain]);
    // The record is lost twice: at the first time, and after the person's answer.
    let ran = run_with(FILE, &script, &people, |config| {
        let is_record = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { .. });
        full_once(full_once(config, is_record), is_record)
    })
    .await;
    let file = ran.place.work().join("out.txt");
    std::fs::write(&file, "edited by a person").unwrap();
    ran.app.resume(&ran.run).await.unwrap();
    ran.app.outcome(&ran.run).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "intended");
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
    let is_uncertain = |ask: &&Ask| matches!(ask, Ask::UncertainEffect { .. });
    let uncertain = people.asked.lock().unwrap().iter().filter(is_uncertain).count();
    assert_eq!(uncertain, 1);
    let kept = engine_events(&ran)
        .await
        .into_iter()
        .filter_map(|record| match record.event {
            RunEvent::EffectIntended { before, .. } => Some(before),
            _ => None,
        });
    let edited = Hash::of_bytes(b"edited by a person");
    assert_eq!(kept.collect::<Vec<_>>(), [None, Some(edited)]);
}

async fn engine_events(ran: &Ran) -> Vec<RunEventRecord> {
    let events = ran
        .call("run_events", json!({ "fromSeq": 1, "limit": 1000 }))
        .await
        .unwrap();
    serde_json::from_value(events["events"].clone()).unwrap()
}

/// A model that thinks for ever.
struct Silent {
    asked: Arc<Semaphore>,
}

#[async_trait]
impl LlmProvider for Silent {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, _request: LlmRequest, _sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.asked.add_permits(1);
        std::future::pending().await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_run_that_was_told_to_stop_stays_stopped_when_the_app_ends_before_it_does() {
    let place = Place::default();
    let asked = Arc::new(Semaphore::new(0));
    let model = Silent {
        asked: Arc::clone(&asked),
    };
    let config = Config {
        providers: vec![Arc::new(model)],
        ..place.config()
    };
    let config = full_once(config, |event| matches!(event, RunEvent::RunFinished { .. }));
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": FILE, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    asked.acquire().await.unwrap().forget();
    app.stop(&run).await.unwrap();
    assert!(matches!(app.outcome(&run).await.unwrap(), Outcome::Interrupted(_)));

    app.resume(&run).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!(asked.available_permits(), 0, "no model was asked again");
}

/// A writer that waits for a word before it writes.
struct SlowWriter {
    tool: Arc<dyn Tool>,
    begun: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl Tool for SlowWriter {
    fn info(&self) -> ToolInfo {
        self.tool.info()
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        self.tool.access(args)
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.tool.file_effect(args, context).await
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.begun.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
        self.tool.execute(args, context).await
    }
}

#[tokio::test]
async fn a_change_that_has_begun_is_finished_and_recorded_when_the_run_is_stopped() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "whole", &[])])))]);
    let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let writer = SlowWriter {
        tool: tools::all()
            .into_iter()
            .find(|tool| tool.info().name == "file_write")
            .unwrap(),
        begun: Arc::clone(&begun),
        go_on: Arc::clone(&go_on),
    };
    let place = Place::default();
    let config = Config {
        providers: vec![script],
        people: Some(Answers::new([])),
        tools: vec![Arc::new(writer)],
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": FILE, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    begun.acquire().await.unwrap().forget();
    app.stop(&run).await.unwrap();
    go_on.add_permits(1);
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.result.unwrap().stop_reason, StopReason::Cancelled);
    assert!(state.files[0].done, "the history does not know of the change");
    assert_eq!(std::fs::read_to_string(place.work().join("out.txt")).unwrap(), "whole");
}

#[tokio::test]
async fn a_planner_that_is_tried_again_is_told_what_was_wrong() {
    let script = Script::new([
        (PLAN_1, Reply::Text("no")),
        ("cycle/1/plan#0/call/1", plan(json!([thought("a", &["ghost"])]))),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    ran.app.resume(&ran.run).await.unwrap();
    ran.app.outcome(&ran.run).await.unwrap();
    let told = script.prompt(PLAN_2);
    assert!(told.contains("unknown dependency") && told.contains("ghost"), "{told}");
}

#[tokio::test]
async fn plans_that_fail_in_turn_in_the_same_ways_are_no_progress_either() {
    let look = |path: &str| plan(json!([tool("list", "directory_list", json!({ "path": path }), &[])]));
    let script = Script::new([
        (PLAN_1, look(".")),
        (PLAN_2, look("./")),
        ("cycle/3/plan#0/call/0", look(".")),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 9"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!(
        (ran.stop_reason(), ran.state.cycles.len()),
        (StopReason::NoProgress, 3),
        "{}",
        ran.feedback()
    );
}

#[tokio::test]
async fn what_a_person_said_to_a_planner_that_failed_is_said_to_the_next() {
    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers");
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])])),
        ),
        (PLAN_2, Reply::Error(down)),
        ("cycle/2/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 1"),
        &script,
        &Answers::new([]),
    )
    .await;
    ran.call("run_guide", json!({ "words": "Just write it" }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Error, "{}", ran.feedback());
    ran.app.resume(&ran.run).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    for key in [PLAN_2, "cycle/2/plan#1/call/0"] {
        assert!(script.prompt(key).contains("The person says: Just write it"), "{key}");
    }
}

#[tokio::test]
async fn a_written_file_that_is_gone_since_is_no_output() {
    let place = Place::default();
    let gone = place.work().join("draft.txt");
    let mut draft = write("draft", "x", &[]);
    draft["args"]["file_write"]["path"] = json!("draft.txt");
    let script = Script::new([(PLAN_1, plan(json!([draft, write("a", "x", &[])])))]);
    let people = Answers::new([]);
    struct Removes(std::path::PathBuf);
    #[async_trait]
    impl contract::ports::hook::Hook for Removes {
        fn id(&self) -> &str {
            "removes"
        }

        fn event(&self) -> contract::ports::hook::HookEvent {
            contract::ports::hook::HookEvent::PostExecutor
        }

        async fn call(
            &self,
            _data: &Value,
            _context: &contract::ports::hook::HookContext<'_>,
        ) -> Result<contract::ports::hook::HookReply, contract::step::StepError> {
            std::fs::remove_file(&self.0).unwrap();
            Ok(contract::ports::hook::HookReply::Unchanged)
        }
    }
    let ran = run_in(place, FILE, json!({}), &script, &people, |config| Config {
        hooks: vec![Arc::new(Removes(gone))],
        ..config
    })
    .await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    assert_eq!(
        outputs.iter().map(|output| output.path.as_str()).collect::<Vec<_>>(),
        ["out.txt"]
    );
}

#[tokio::test]
async fn a_planner_that_answered_in_words_is_asked_for_a_plan_once_more() {
    let script = Script::new([
        (PLAN_1, Reply::Text("I would begin by looking around.")),
        ("cycle/1/plan#0/call/1", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told = script.prompt("cycle/1/plan#0/call/1");
    assert!(told.contains("I would begin by looking around."), "{told}");
}

#[tokio::test]
async fn a_plan_that_goes_in_a_circle_runs_no_step() {
    let circle = || {
        plan(json!([
            thought("first", &[]),
            thought("a", &["b"]),
            thought("b", &["a"])
        ]))
    };
    let script = Script::new([(PLAN_1, circle()), ("cycle/1/plan#0/call/1", circle())]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    assert!(ran.feedback().contains("Circular dependency"), "{}", ran.feedback());
    assert_eq!(script.keys().len(), 2, "{:?}", script.keys());
}

#[tokio::test]
async fn the_budget_binds_planner_tool_call_and_judge_alike() {
    let mut open = write("a", "", &[]);
    open.as_object_mut().unwrap().remove("args");
    let call = Reply::Tool("file_write", json!({ "path": "out.txt", "content": "x" }));
    for (calls, last) in [
        (1, PLAN_1),
        (2, "cycle/1/step/a#0/tool/0/call"),
        (3, "cycle/1/judge#0/call/0"),
    ] {
        let script = Script::new([
            (PLAN_1, plan(json!([open]))),
            ("cycle/1/step/a#0/tool/0/call", call.clone()),
        ]);
        let limits = format!("limits: {{ maxTokens: {} }}", calls * TOKENS - 1);
        let ran = run(
            &FILE.replace("limits: { maxCycles: 2 }", &limits),
            &script,
            &Answers::new([]),
        )
        .await;
        assert_eq!(ran.stop_reason(), StopReason::Budget, "{last}");
        assert_eq!(script.keys().last().map(String::as_str), Some(last));
    }
}

#[tokio::test]
async fn only_the_tool_that_was_asked_for_is_called() {
    let mut open = tool("a", "file_read", json!({}), &[]);
    open.as_object_mut().unwrap().remove("args");
    let other = Reply::Tool("file_write", json!({ "path": "out.txt", "content": "x" }));
    let script = Script::new([(PLAN_1, plan(json!([open]))), ("cycle/1/step/a#0/tool/0/call", other)]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 1"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert!(
        ran.error("a").starts_with("LLM did not call tool \"file_read\""),
        "{}",
        ran.error("a")
    );
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn the_answer_to_a_sentence_is_a_report() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    let told: Vec<_> = outputs
        .iter()
        .map(|output| (output.path.as_str(), output.kind, output.value.clone().unwrap().inline))
        .collect();
    assert_eq!(
        told,
        [("answer", contract::run::OutputKind::Report, Some(json!("hello")))]
    );
}

#[tokio::test]
async fn an_answer_that_is_more_than_words_is_data() {
    let look = json!({ "id": "look", "description": "Look around", "tools": ["directory_list"], "dependencies": [],
        "expectedOutcome": "What is there", "args": { "directory_list": { "path": "." } } });
    let script = Script::new([(PLAN_1, plan(json!([look])))]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    let answer = outputs.iter().find(|output| output.path == "answer").unwrap();
    assert_eq!(answer.kind, contract::run::OutputKind::Data);
    let value = answer.value.clone().unwrap().inline.unwrap();
    assert!(!value.is_string(), "{value}");
}

#[tokio::test]
async fn a_report_is_the_seeds_result_and_its_lines_are_whole() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([thought("think", &[]), write("a", "x", &["think"])])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    let report = ran.call("run_report", json!({})).await.unwrap();
    for key in [
        "status",
        "cycles",
        "tokensUsed",
        "cost",
        "outputs",
        "logs",
        "feedback",
        "stopReason",
    ] {
        assert!(report.get(key).is_some(), "{key}: {report}");
    }
    let line = |message: &str| {
        let lines = report["logs"].as_array().unwrap();
        let line = lines.iter().find(|line| line["message"] == message);
        line.unwrap_or_else(|| panic!("{message}: {lines:?}")).clone()
    };
    let step = line("Step \"think\" completed");
    assert!(
        step["timestampMs"].is_number() && step["durationMs"].is_number(),
        "{step}"
    );
    assert_eq!(
        (&step["cycle"], &step["step"], &step["tool"], &step["tokensUsed"]),
        (&json!(1), &json!("think"), &Value::Null, &json!(TOKENS))
    );
    let tool = line("\"file_write\" finished");
    assert!(
        tool["timestampMs"].is_number() && tool["durationMs"].is_number(),
        "{tool}"
    );
    assert_eq!(
        (&tool["cycle"], &tool["step"], &tool["tool"]),
        (&json!(1), &json!("a"), &json!("file_write"))
    );
}
