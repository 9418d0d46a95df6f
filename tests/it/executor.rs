//! The executor with a scripted model on the real store, files and tools: what overlaps, what is kept, what an agent
//! step may do, and what a person is asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::{App, Config};
use async_trait::async_trait;
use contract::RunId;
use contract::access::Access;
use contract::event::{RunEvent, RunEventRecord};
use contract::llm::{ContentBlock, LlmError, LlmErrorCode, LlmRequest};
use contract::person::{Answer, Ask};
use contract::ports::clock::Clock;
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::run::StopReason;
use contract::run_state::{RunState, StepState};
use contract::step::{StepStatus, code};
use serde_json::{Value, json};
use support::script::{Answers, Doors, Gate, Reply, Script, TOKENS, plan, thought, tool};
use support::{Place, call};

const ANSWER: &str = "goal: Say something\nexpectedOutput: A few words\nmodels: { planner: 'scripted:m' }\n";
const GOOD: &str = "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file, criteria: [{ text: Says good, \
    check: { contains: good } }] }]\nlimits: { maxCycles: 2 }\nmodels: { planner: 'scripted:m' }\n";
const PLAN_1: &str = "cycle/1/plan#0/call/0";
const PLAN_2: &str = "cycle/2/plan#0/call/0";

struct Started {
    place: Place,
    app: App,
    run: RunId,
}

struct Ran {
    place: Place,
    app: App,
    run: RunId,
    state: RunState,
}

async fn start(task: &str, place: Place, config: Config) -> Started {
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": task, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    Started { place, app, run }
}

impl Started {
    async fn end(self) -> Ran {
        self.app.outcome(&self.run).await.unwrap();
        let state = self.app.state(&self.run).await.unwrap();
        let Self { place, app, run } = self;
        Ran { place, app, run, state }
    }
}

fn config(place: &Place, script: &Arc<Script>) -> Config {
    Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Answers::new([]) as _),
        ..place.config()
    }
}

async fn run(task: &str, place: Place, script: &Arc<Script>) -> Ran {
    let config = config(&place, script);
    start(task, place, config).await.end().await
}

impl Ran {
    fn step(&self, cycle: usize, id: &str) -> &StepState {
        &self.state.cycles[cycle].steps[id]
    }

    fn statuses(&self, cycle: usize) -> Vec<(&str, StepStatus)> {
        let steps = self.state.cycles[cycle].steps.iter();
        steps.map(|(id, step)| (id.as_str(), step.status)).collect()
    }

    fn stop_reason(&self) -> StopReason {
        self.state.result.as_ref().unwrap().stop_reason
    }

    fn error(&self, id: &str) -> (&str, &str) {
        let error = self.step(0, id).error.as_ref().unwrap();
        (&error.code, &error.message)
    }

    fn written(&self, path: &str) -> String {
        std::fs::read_to_string(self.place.work().join(path)).unwrap()
    }

    async fn events(&self) -> Vec<RunEventRecord> {
        let request = json!({ "runId": self.run, "fromSeq": 1, "limit": 500 });
        let events = call(&self.app, "run_events", request).await.unwrap();
        serde_json::from_value(events["events"].clone()).unwrap()
    }
}

fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::default();
    for (path, text) in files {
        let path = place.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

fn write(id: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": "out.txt", "content": content }),
        dependencies,
    )
}

fn append(id: &str, content: &str, dependencies: &[&str]) -> Value {
    let args = json!({ "path": "out.txt", "content": content, "mode": "append" });
    tool(id, "file_write", args, dependencies)
}

fn read(id: &str, path: &str, dependencies: &[&str]) -> Value {
    tool(id, "file_read", json!({ "path": path }), dependencies)
}

/// The same step without its arguments, which a model makes then.
fn open(mut step: Value) -> Value {
    step.as_object_mut().unwrap().remove("args");
    step
}

fn asked(script: &Script, part: &str) -> usize {
    script.keys().iter().filter(|key| key.contains(part)).count()
}

#[tokio::test]
async fn steps_that_do_not_need_each_other_overlap_and_are_summed_up_in_the_plans_order() {
    let keys = ["a", "b", "c"].map(|id| format!("cycle/1/step/{id}#0/call/0"));
    let [a, b, c] = keys.each_ref().map(String::as_str);
    let doors = Doors::at([a, b, c]);
    let steps = json!([thought("a", &[]), thought("b", &[]), thought("c", &[])]);
    let replies = [
        (PLAN_1, plan(steps)),
        ("cycle/1/step/a#0/call/0", Reply::Text("apple")),
        ("cycle/1/step/b#0/call/0", Reply::Text("banana")),
        ("cycle/1/step/c#0/call/0", Reply::Text("cherry")),
    ];
    let script = Script::behind(Arc::clone(&doors) as _, replies);
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(&format!("{ANSWER}limits: {{ maxParallel: 2 }}\n"), place, config).await;
    doors.came([a, b]).await;
    doors.open(b);
    doors.came([c]).await;
    doors.open(c);
    doors.open(a);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let summary = ran.state.scratchpad["_execution_summary"].inline.clone().unwrap();
    let told: Vec<&str> = summary
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["stepId"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["a", "b", "c"]);
}

#[tokio::test]
async fn changes_come_in_the_plans_order_whoever_is_ready_first() {
    let [slow, fast] = ["cycle/1/step/one#0/tool/0/call", "cycle/1/step/three#0/tool/0/call"];
    let doors = Doors::at([slow, fast]);
    let steps = json!([
        open(append("one", "", &[])),
        read("two", "out.txt", &[]),
        open(append("three", "", &[])),
    ]);
    let line = |text: &str| {
        Reply::Tool(
            "file_write",
            json!({ "path": "out.txt", "content": text, "mode": "append" }),
        )
    };
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [(PLAN_1, plan(steps)), (slow, line("good ")), (fast, line("better"))],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(GOOD, place, config).await;
    doors.came([slow, fast]).await;
    doors.open(fast);
    doors.open(slow);
    let ran = started.end().await;
    assert_eq!(ran.written("out.txt"), "good better");
    let seen = ran.step(0, "two").output.as_ref().unwrap().inline.clone();
    assert_eq!(
        seen,
        Some(json!("good ")),
        "the reading stands between the two in the order"
    );
}

#[tokio::test]
async fn what_a_step_sees_of_the_scratchpad_does_not_depend_on_who_is_faster() {
    let before = "cycle/1/step/before#0/call/0";
    let doors = Doors::at([before]);
    let note = json!({ "action": "write", "key": "colour", "value": "blue" });
    let steps = json!([
        thought("before", &[]),
        tool("note", "scratchpad", note, &[]),
        thought("after", &[])
    ]);
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [
            (PLAN_1, plan(steps)),
            (before, Reply::Text("early")),
            ("cycle/1/step/after#0/call/0", Reply::Text("late")),
        ],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(ANSWER, place, config).await;
    doors.came([before]).await;
    doors.open(before);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert!(!script.prompt(before).contains("colour: blue"));
    assert!(script.prompt("cycle/1/step/after#0/call/0").contains("colour: blue"));
    assert_eq!(script.keys()[1..3], [before, "cycle/1/step/after#0/call/0"]);
}

#[tokio::test]
async fn crossing_the_budget_ends_the_calls_in_flight_and_sends_no_other() {
    let keys = [
        "cycle/1/step/a#0/call/0",
        "cycle/1/step/b#0/call/0",
        "cycle/1/step/c#0/call/0",
    ];
    let doors = Doors::at(keys);
    let steps = json!([
        thought("a", &[]),
        thought("b", &[]),
        thought("c", &[]),
        thought("d", &["a"])
    ]);
    let replies = [(PLAN_1, plan(steps)), (keys[0], Reply::Text("a"))];
    let script = Script::behind(Arc::clone(&doors) as _, replies);
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(&format!("{ANSWER}limits: {{ maxTokens: {TOKENS} }}\n"), place, config).await;
    doors.came(keys).await;
    doors.open(keys[0]);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Budget);
    assert_eq!(script.keys().len(), 4, "the plan and three steps");
    assert_eq!(
        ran.step(0, "a").tokens_used,
        TOKENS,
        "what the crossing call cost is told with its step"
    );
    assert_eq!(ran.step(0, "d").status, StepStatus::Waiting);
    for key in &keys[1..] {
        let error = ran.state.calls[*key].error.clone().unwrap();
        assert_eq!(error.code, code::BUDGET_EXCEEDED);
    }
}

#[tokio::test]
async fn stopping_ends_everything_in_flight() {
    let keys = ["cycle/1/step/a#0/call/0", "cycle/1/step/b#0/call/0"];
    let doors = Doors::at(keys);
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [(PLAN_1, plan(json!([thought("a", &[]), thought("b", &[])])))],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(ANSWER, place, config).await;
    doors.came(keys).await;
    started.app.stop(&started.run).await.unwrap();
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Cancelled);
    for key in keys {
        assert_eq!(ran.state.calls[key].error.clone().unwrap().code, code::CANCELLED);
    }
}

/// Fails so often with an error that may pass.
struct Flaky {
    tool: Arc<dyn Tool>,
    left: AtomicUsize,
    calls: AtomicUsize,
}

impl Flaky {
    fn of(name: &str, failures: usize) -> Arc<Self> {
        Arc::new(Self {
            tool: builtin(name),
            left: AtomicUsize::new(failures),
            calls: AtomicUsize::new(0),
        })
    }
}

fn builtin(name: &str) -> Arc<dyn Tool> {
    tools::all().into_iter().find(|tool| tool.info().name == name).unwrap()
}

#[async_trait]
impl Tool for Flaky {
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
        self.calls.fetch_add(1, Ordering::SeqCst);
        let fails = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err(ToolError {
                message: "the disk is busy".to_owned(),
                retryable: true,
            });
        }
        self.tool.execute(args, context).await
    }
}

async fn run_flaky(flaky: &Arc<Flaky>, step: Value) -> Ran {
    let script = Script::new([(PLAN_1, plan(json!([step])))]);
    let place = place_with(&[("a.txt", "x")]);
    let config = Config {
        tools: vec![Arc::clone(flaky) as _],
        ..config(&place, &script)
    };
    start(&format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"), place, config)
        .await
        .end()
        .await
}

#[tokio::test]
async fn a_step_that_changes_nothing_is_repeated_after_a_passing_error() {
    let flaky = Flaky::of("file_read", 1);
    let ran = run_flaky(&flaky, read("a", "a.txt", &[])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done)]);
    assert_eq!(flaky.calls.load(Ordering::SeqCst), 2);

    let flaky = Flaky::of("file_read", 9);
    let ran = run_flaky(&flaky, read("a", "a.txt", &[])).await;
    assert_eq!(ran.error("a"), (code::TOOL_FAILED, "the disk is busy"));
    assert_eq!(flaky.calls.load(Ordering::SeqCst), 2, "once more and no oftener");
}

#[tokio::test]
async fn a_person_is_asked_about_a_step_once_however_often_it_is_tried() {
    let flaky = Flaky::of("file_read", 1);
    let people = Answers::new([]);
    let place = place_with(&[("a.txt", "x")]);
    let script = Script::new([(PLAN_1, plan(json!([read("a", "a.txt", &[])])))]);
    let config = Config {
        tools: vec![Arc::clone(&flaky) as _],
        people: Some(Arc::clone(&people) as _),
        ..config(&place, &script)
    };
    let app = App::open(config).await.unwrap();
    let task = format!("{ANSWER}limits: {{ maxCycles: 1 }}\nhooks: [{{ askMe: step }}]\n");
    let request = json!({ "source": task, "folder": place.folder(), "options": { "allowHooks": true } });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = contract::RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    assert_eq!(flaky.calls.load(Ordering::SeqCst), 2);
    let asked = people.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "the plan, and its step: {asked:?}");
}

#[tokio::test]
async fn a_step_that_changes_something_and_a_models_failure_are_not_repeated() {
    let flaky = Flaky::of("file_write", 1);
    let ran = run_flaky(&flaky, write("a", "x", &[])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    assert_eq!(flaky.calls.load(Ordering::SeqCst), 1);

    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers");
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Error(down)),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    assert_eq!(asked(&script, "/step/a"), 1);
}

#[tokio::test]
async fn arguments_that_were_cut_off_are_none() {
    let script = Script::new([
        (PLAN_1, plan(json!([open(write("a", "", &[]))]))),
        ("cycle/1/step/a#0/tool/0/call", Reply::Cut("")),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    assert_eq!(ran.error("a").0, code::TRUNCATED);
}

/// Does something to the folder when a question comes.
struct At<F>(&'static str, F);

#[async_trait]
impl<F: Fn() + Send + Sync> Gate for At<F> {
    async fn pass(&self, key: &str) {
        if key == self.0 {
            (self.1)();
        }
    }
}

/// Two cycles: the first one's file is not good, the second's is.
async fn revise(
    first: Value,
    second: Value,
    meanwhile: impl Fn(&std::path::Path) + Send + Sync + 'static,
) -> (Ran, Arc<Script>) {
    let place = place_with(&[("notes/a.txt", "alpha")]);
    let work = place.work().to_owned();
    let script = Script::behind(
        Arc::new(At(PLAN_2, move || meanwhile(&work))),
        [
            (PLAN_1, plan(first)),
            (PLAN_2, plan(second)),
            ("cycle/1/step/think#0/call/0", Reply::Text("thought over")),
            ("cycle/2/step/think#0/call/0", Reply::Text("thought again")),
            ("cycle/2/step/again#0/call/0", Reply::Text("thought again")),
        ],
    );
    let ran = run(GOOD, place, &script).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    (ran, script)
}

#[tokio::test]
async fn equal_steps_of_a_revised_plan_are_kept_and_cost_nothing() {
    let list = |id: &str| tool(id, "directory_list", json!({ "path": "notes" }), &[]);
    let first = json!([
        list("list"),
        read("read", "notes/a.txt", &[]),
        thought("think", &["read"]),
        write("w", "bad", &[])
    ]);
    let mut again = thought("think", &["r"]);
    again["id"] = json!("again");
    let second = json!([
        list("l"),
        read("r", "notes/a.txt", &[]),
        again,
        write("w", "good {{again}}, {{cycle_1.think}}", &["again"]),
    ]);
    let mut second = second;
    second[3]["inputs"] = json!(["cycle_1.think"]);
    let (ran, script) = revise(first, second, |_| {}).await;
    use StepStatus::{Done, Kept};
    assert_eq!(
        ran.statuses(1),
        [("l", Kept), ("r", Kept), ("again", Kept), ("w", Done)]
    );
    assert_eq!(ran.written("out.txt"), "good thought over, thought over");
    assert_eq!(asked(&script, "cycle/2/step"), 0);
    let kept = ran.step(1, "again");
    assert_eq!(
        (kept.kept_from.as_deref(), kept.tokens_used),
        (Some("cycle_1.think"), 0)
    );
}

#[tokio::test]
async fn what_has_changed_since_is_read_again_and_thought_over_again() {
    let steps = |content: &str| {
        json!([
            read("read", "notes/a.txt", &[]),
            thought("think", &["read"]),
            write("w", content, &["think"])
        ])
    };
    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("notes/a.txt"), "beta").unwrap();
    })
    .await;
    let done = |id: &str| ran.step(1, id).status;
    assert_eq!((done("read"), done("think")), (StepStatus::Done, StepStatus::Done));
}

#[tokio::test]
async fn a_folder_with_another_file_is_listed_again() {
    let steps = |content: &str| {
        json!([
            tool("list", "directory_list", json!({ "path": ".", "maxDepth": 2 }), &[]),
            write("w", content, &[])
        ])
    };
    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("notes/b.txt"), "").unwrap();
    })
    .await;
    assert_eq!(ran.step(1, "list").status, StepStatus::Done);
}

fn side(content: &str, mode: &str) -> Value {
    let args = json!({ "path": "side.txt", "content": content, "mode": mode });
    tool("side", "file_write", args, &[])
}

#[tokio::test]
async fn a_file_that_is_as_it_was_left_is_not_written_again() {
    let steps = |content: &str| json!([side("aside", "overwrite"), write("w", content, &[])]);
    let (ran, _) = revise(steps("bad"), steps("good"), |_| {}).await;
    assert_eq!(ran.step(1, "side").status, StepStatus::Kept);

    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("side.txt"), "a person's words").unwrap();
    })
    .await;
    assert_eq!(
        (ran.step(1, "side").status, ran.written("side.txt")),
        (StepStatus::Done, "aside".to_owned())
    );
}

#[tokio::test]
async fn adding_to_a_file_is_never_kept() {
    let steps = |content: &str| json!([side("more", "append"), write("w", content, &[])]);
    let (ran, _) = revise(steps("bad"), steps("good"), |_| {}).await;
    assert_eq!(
        (ran.step(1, "side").status, ran.written("side.txt")),
        (StepStatus::Done, "moremore".to_owned())
    );
}

#[tokio::test]
async fn what_the_feedback_names_is_done_again() {
    let steps = |content: &str| json!([thought("think", &[]), write("w", content, &["think"])]);
    let (ran, script) = revise(steps("bad"), steps("good"), |_| {}).await;
    let told = script.prompt(PLAN_2);
    assert!(told.contains("Made by w from think"), "{told}");
    assert_eq!(ran.step(1, "think").status, StepStatus::Done);
}

#[tokio::test]
async fn another_expectation_or_tier_is_another_step() {
    let steps = |content: &str, change: (&str, Value)| {
        let mut think = thought("think", &[]);
        think[change.0] = change.1;
        json!([think, write("w", content, &[])])
    };
    let low = || ("tier", json!("low"));
    let (ran, _) = revise(steps("bad", low()), steps("good", low()), |_| {}).await;
    assert_eq!(ran.step(1, "think").status, StepStatus::Kept);
    let other = ("expectedOutcome", json!("many words"));
    let (ran, _) = revise(steps("bad", low()), steps("good", other), |_| {}).await;
    assert_eq!(ran.step(1, "think").status, StepStatus::Done);
}

fn agent(id: &str, tools: &[&str], rounds: Option<u32>) -> Value {
    let mut step = thought(id, &[]);
    step["tools"] = json!(tools);
    step["mode"] = json!("free");
    if let Some(rounds) = rounds {
        step["maxRounds"] = json!(rounds);
    }
    step
}

#[tokio::test]
async fn an_agent_step_looks_acts_and_looks_again_until_it_answers() {
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["file_read", "file_write"], None)]))),
        (
            "cycle/1/step/a#0/round/0/call",
            Reply::Tool("file_read", json!({ "path": "gone.txt" })),
        ),
        (
            "cycle/1/step/a#0/round/1/call",
            Reply::Tool("file_read", json!({ "path": "notes/a.txt" })),
        ),
        (
            "cycle/1/step/a#0/round/2/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "good {{tool_2}}" })),
        ),
        ("cycle/1/step/a#0/round/3/call", Reply::Text("It is written.")),
    ]);
    let ran = run(GOOD, place_with(&[("notes/a.txt", "alpha")]), &script).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    assert_eq!(ran.written("out.txt"), "good alpha");
    let step = ran.step(0, "a");
    assert_eq!(step.output.as_ref().unwrap().inline, Some(json!("It is written.")));
    assert_eq!(step.tokens_used, 4 * TOKENS);
    let told = script.prompt("cycle/1/step/a#0/round/3/call");
    assert!(
        told.contains("gone.txt") && told.contains("tool_2") && told.contains("alpha"),
        "{told}"
    );
    let failed = results(&script, "cycle/1/step/a#0/round/1/call");
    assert_eq!(failed, [true], "a tool's failure goes back to the model");
    assert!(ran.state.files[0].done, "its change is recorded like any other");
}

/// Whether each tool result that this request showed is an error.
fn results(script: &Script, key: &str) -> Vec<bool> {
    let asked = script.asked.lock().unwrap();
    let request: &LlmRequest = asked.iter().find(|request| request.key.as_str() == key).unwrap();
    let content = request.messages.iter().flat_map(|message| &message.content);
    let result = |block: &ContentBlock| match block {
        ContentBlock::ToolResult { is_error, .. } => Some(*is_error),
        ContentBlock::Text { .. } | ContentBlock::ToolUse(_) => None,
    };
    content.filter_map(result).collect()
}

#[tokio::test]
async fn an_agent_step_ends_when_its_rounds_do() {
    let list = |path: &str| Reply::Tool("directory_list", json!({ "path": path }));
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], Some(2))]))),
        ("cycle/1/step/a#0/round/0/call", list(".")),
        ("cycle/1/step/a#0/round/1/call", list("notes")),
    ]);
    let task = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    let ran = run(&task, place_with(&[("notes/a.txt", "")]), &script).await;
    assert_eq!(
        ran.error("a"),
        (code::ROUND_LIMIT, "the model was not done after 2 rounds")
    );
}

#[tokio::test]
async fn an_agent_step_that_goes_in_circles_is_stopped() {
    let list = || Reply::Tool("directory_list", json!({ "path": "." }));
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], None)]))),
        ("cycle/1/step/a#0/round/0/call", list()),
        ("cycle/1/step/a#0/round/1/call", list()),
        ("cycle/1/step/a#0/round/2/call", list()),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    let (code, message) = ran.error("a");
    assert_eq!(code, code::ROUND_LIMIT);
    assert!(message.contains("3 times in a row"), "{message}");
}

#[tokio::test]
async fn an_agent_step_has_only_its_own_tools() {
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], None)]))),
        (
            "cycle/1/step/a#0/round/0/call",
            Reply::Tool("file_write", json!({ "path": "x", "content": "y" })),
        ),
        ("cycle/1/step/a#0/round/1/call", Reply::Text("then not")),
    ]);
    let ran = run(ANSWER, Place::default(), &script).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done)]);
    assert!(!ran.place.work().join("x").exists());
    assert!(
        script
            .prompt("cycle/1/step/a#0/round/1/call")
            .contains("it has directory_list")
    );
}

/// All time passes at once.
struct NoTime;

#[async_trait]
impl Clock for NoTime {
    fn now_ms(&self) -> i64 {
        0
    }

    async fn sleep(&self, _duration: Duration) {}
}

/// Never ends.
struct Hanging(Arc<dyn Tool>);

#[async_trait]
impl Tool for Hanging {
    fn info(&self) -> ToolInfo {
        self.0.info()
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        self.0.access(args)
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.0.file_effect(args, context).await
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        std::future::pending().await
    }
}

async fn run_hanging(name: &str, step: Value, answers: &[Answer]) -> (Ran, Arc<Answers>) {
    let script = Script::new([(PLAN_1, plan(json!([step])))]);
    let place = place_with(&[("a.txt", "x")]);
    let first = [Answer::Approve { revisions: false }];
    let people = Answers::new(first.into_iter().chain(answers.iter().cloned()));
    let config = Config {
        tools: vec![Arc::new(Hanging(builtin(name)))],
        people: Some(Arc::clone(&people) as _),
        clock: Some(Arc::new(NoTime)),
        ..config(&place, &script)
    };
    let ran = start(&format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"), place, config)
        .await
        .end()
        .await;
    (ran, people)
}

fn uncertain(people: &Mutex<Vec<Ask>>) -> usize {
    let asked = people.lock().unwrap();
    asked
        .iter()
        .filter(|ask| matches!(ask, Ask::UncertainEffect { .. }))
        .count()
}

#[tokio::test]
async fn a_change_that_does_not_end_in_its_time_is_a_persons_to_decide() {
    let (ran, people) = run_hanging("file_write", write("a", "x", &[]), &[Answer::MarkDone]).await;
    assert_eq!(
        (ran.statuses(0), uncertain(&people.asked)),
        (vec![("a", StepStatus::Done)], 1)
    );

    let again = [Answer::RunAgain, Answer::StopRun];
    let (ran, people) = run_hanging("file_write", write("a", "x", &[]), &again).await;
    assert_eq!(
        (ran.stop_reason(), uncertain(&people.asked)),
        (StopReason::Cancelled, 2)
    );
}

#[tokio::test]
async fn a_reading_that_does_not_end_in_its_time_has_failed() {
    let (ran, people) = run_hanging("file_read", read("a", "a.txt", &[]), &[]).await;
    assert_eq!((ran.error("a").0, uncertain(&people.asked)), (code::TOOL_TIMEOUT, 0));
    let opened = ran.events().await;
    let attempts = opened
        .iter()
        .filter(|record| matches!(record.event, RunEvent::AttemptOpened { .. }));
    assert_eq!(attempts.count(), 1, "it was tried once more");
}
