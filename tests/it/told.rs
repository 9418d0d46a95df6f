//! What models are told, and what comes of a step: the seed's data contracts, seen in the requests that a scripted
//! model received.

use std::sync::Arc;

use app::{App, Config};
use contract::RunId;
use contract::llm::ToolChoice;
use contract::run::{OutputKind, StopReason};
use contract::run_state::RunState;
use contract::step::StepStatus;
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, TOKENS, plan, thought, tool};
use support::{Place, call};

const TASK: &str = "
goal: Write the greeting for GOALWORD
context: { guest: CONTEXTWORD }
expectedOutput:
  - path: out.txt
    description: A greeting, DESCRIPTIONWORD
    criteria:
      - text: It says hello
        check: { contains: hello }
      - It is polite, CRITERIONWORD
models: { planner: 'scripted:big', executor: { low: 'scripted:small', high: 'scripted:big' } }
limits: { maxCycles: 2, maxParallel: 1 }
";

const PLAN: &str = "cycle/1/plan#0/call/0";

struct Ran {
    script: Arc<Script>,
    state: RunState,
}

async fn run(replies: impl IntoIterator<Item = (&'static str, Reply)>) -> Ran {
    let place = Place::default();
    let script = Script::new(replies);
    let app = opened(&place, &script).await;
    let run = started(&app, &place).await;
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    Ran { script, state }
}

async fn opened(place: &Place, script: &Arc<Script>) -> App {
    let config = Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Answers::new([]) as _),
        ..place.config()
    };
    App::open(config).await.unwrap()
}

async fn started(app: &App, place: &Place) -> RunId {
    let started = call(app, "run_start", json!({ "source": TASK, "folder": place.folder() }))
        .await
        .unwrap();
    RunId::new(started["runId"].as_str().unwrap())
}

impl Ran {
    /// Everything that the request at this key said.
    fn told(&self, key: &str) -> String {
        let asked = self.script.asked.lock().unwrap();
        let request = asked.iter().find(|request| request.key.as_str() == key);
        let request = request.unwrap_or_else(|| panic!("{key} was not asked"));
        let texts = serde_json::to_value(&request.messages).unwrap().to_string();
        format!(
            "{}\n{}",
            request.system,
            texts.replace("\\n", "\n").replace("\\\"", "\"")
        )
    }
}

impl Ran {
    /// The part of the request at this key that is the same for every call of its kind.
    fn system(&self, key: &str) -> String {
        let asked = self.script.asked.lock().unwrap();
        let request = asked.iter().find(|request| request.key.as_str() == key);
        request.unwrap_or_else(|| panic!("{key} was not asked")).system.clone()
    }
}

fn assert_told(told: &str, words: &[&str]) {
    for word in words {
        assert!(told.contains(word), "{word} is missing in {told}");
    }
}

fn write(id: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": "out.txt", "content": content }),
        dependencies,
    )
}

/// A first cycle that fails the check, and a second one that passes.
fn two_cycles() -> Vec<(&'static str, Reply)> {
    let note = json!({ "action": "write", "key": "note", "value": "PADWORD" });
    vec![
        (
            "cycle/1/plan#0/call/0",
            plan(json!([
                thought("think", &[]),
                tool("note", "scratchpad", note, &[]),
                thought("again", &["note"]),
                write("write", "bye", &["think"])
            ])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("THOUGHTWORD")),
        ("cycle/1/step/again#0/call/0", Reply::Text("SECONDWORD")),
        (
            "cycle/2/plan#0/call/0",
            plan(json!([
                thought("mend", &[]),
                write("write", "hello and welcome", &["mend"])
            ])),
        ),
        ("cycle/2/step/mend#0/call/0", Reply::Text("MENDWORD")),
    ]
}

#[tokio::test]
async fn a_planner_is_told_the_goal_the_expected_output_the_tools_and_the_models() {
    let ran = run(two_cycles()).await;
    let told = ran.told("cycle/1/plan#0/call/0");
    assert_told(
        &told,
        &[
            "GOALWORD",
            "CONTEXTWORD",
            "out.txt",
            "DESCRIPTIONWORD",
            "It says hello",
            "CRITERIONWORD",
        ],
    );
    assert_told(
        &told,
        &[
            "file_write",
            "data_query",
            "\"sql\"",
            "directory_list",
            "scripted:small",
            "scripted:big",
            "distil",
        ],
    );
    assert!(!told.contains("Feedback on the last attempt"), "{told}");
    let system = ran.system("cycle/1/plan#0/call/0");
    for tool in tools::all() {
        let info = tool.info();
        if tools::reaches_out(&info.name) {
            assert!(!system.contains(&info.name), "nobody named {}", info.name);
            continue;
        }
        assert_told(&system, &[&format!("- {}: {}", info.name, info.description)]);
        let parameters = info.parameters["properties"].as_object().unwrap();
        for name in parameters.keys() {
            assert_told(&system, &[&format!("\"{name}\"")]);
        }
        assert_told(&system, &[&info.parameters.to_string()]);
    }
}

#[tokio::test]
async fn a_planner_is_told_what_the_run_may_touch_and_not_where_the_folder_is() {
    let place = Place::default();
    let script = Script::new([(PLAN, plan(json!([thought("a", &[])])))]);
    let app = opened(&place, &script).await;
    let task = format!("{TASK}tools: [shell_execute, http_request]\n");
    let grant = json!({ "commands": ["make *"], "hosts": [{ "host": "rates.example.org" }], "folders": [{ "path": "/srv/rates" }] });
    let options = json!({ "grant": grant, "preset": "handsOff" });
    let request = json!({ "source": task, "folder": place.folder(), "options": options });
    let started = call(&app, "run_start", request).await.unwrap();
    app.outcome(&RunId::new(started["runId"].as_str().unwrap()))
        .await
        .unwrap();
    let told = script.prompt(PLAN);
    assert_told(
        &told,
        &[
            "- Files: the working folder may be read and changed.",
            "these may be read, by their whole paths: \\\"/srv/rates\\\".",
            "- Commands: \\\"make *\\\", where * stands for plain words. They have no network.",
            "- Hosts that may be read from: \\\"rates.example.org\\\".",
            "- Nobody is asked: a step that needs anything else fails.",
        ],
    );
    assert!(!told.contains(&place.folder()), "{told}");
}

#[tokio::test]
async fn a_planner_is_told_which_model_is_for_what_and_that_dependencies_are_direct() {
    let ran = run(two_cycles()).await;
    let rules = [
        "`tier` is `low` for mechanical steps and `high` for steps that need thought.",
        "Reasoning steps are almost always `high`.",
        "A step is given the output of these steps and of no others. List direct dependencies only.",
    ];
    assert_told(&ran.system("cycle/1/plan#0/call/0"), &rules);
}

#[tokio::test]
async fn a_judge_is_told_to_be_strict_and_to_say_what_should_change() {
    let ran = run(two_cycles()).await;
    let rules = [
        "Be strict",
        "`pass` only if every required criterion passes and the goal is fully achieved; otherwise `fail`.",
        "name the steps to change and say precisely what should change",
        "A step's own claim that it succeeded is not evidence.",
    ];
    assert_told(&ran.system("cycle/2/judge#0/call/0"), &rules);
}

#[tokio::test]
async fn a_reasoning_step_and_a_tools_arguments_have_rules_of_their_own() {
    let mut step = write("write", "", &["think"]);
    step.as_object_mut().unwrap().remove("args");
    let note = json!({ "action": "write", "key": "note", "value": "PADWORD" });
    let ran = run([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([
                tool("note", "scratchpad", note, &[]),
                thought("think", &["note"]),
                step
            ])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("THOUGHTWORD")),
        (
            "cycle/1/step/write#0/tool/0/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "hello" })),
        ),
    ])
    .await;
    let thinking = ran.system("cycle/1/step/think#0/call/0");
    assert_told(
        &thinking,
        &["by thinking and writing", "Your answer is the step's result"],
    );
    let calling = ran.system("cycle/1/step/write#0/tool/0/call");
    assert_told(&calling, &["by calling the one tool you are given, once"]);
    assert_told(
        &ran.told("cycle/1/step/write#0/tool/0/call"),
        &[
            "GOALWORD",
            "CONTEXTWORD",
            "PADWORD",
            "THOUGHTWORD",
            "Use file_write",
            "a result",
        ],
    );
}

#[tokio::test]
async fn a_planner_that_revises_is_told_the_feedback_and_what_became_of_every_step() {
    let ran = run(two_cycles()).await;
    assert_eq!(ran.state.result.as_ref().unwrap().stop_reason, StopReason::Passed);
    let feedback = ran.state.cycles[0]
        .evaluation
        .as_ref()
        .unwrap()
        .feedback
        .clone()
        .unwrap();
    assert!(
        feedback.contains("It says hello") && feedback.contains("write"),
        "{feedback}"
    );
    assert_eq!(ran.state.cycles[1].feedback.as_ref(), Some(&feedback));
    let told = ran.told("cycle/2/plan#0/call/0");
    let fenced = told.split("<data name=\"feedback\">").nth(1).unwrap();
    assert_told(fenced, &feedback.lines().collect::<Vec<_>>());
    assert!(feedback.lines().count() >= 3, "{feedback}");
    assert_told(&told, &["GOALWORD", "DESCRIPTIONWORD", "THOUGHTWORD", "PADWORD"]);
    assert_told(&told, &["Change only what the feedback asks for", "cycle_1"]);
}

#[tokio::test]
async fn what_never_changes_comes_first_in_what_a_planner_is_told() {
    let ran = run(two_cycles()).await;
    let first = ran.system("cycle/1/plan#0/call/0");
    assert!(
        first.contains("file_write") && first.contains("scripted:small"),
        "{first}"
    );
    assert_eq!(first, ran.system("cycle/2/plan#0/call/0"));
}

#[tokio::test]
async fn a_step_is_told_its_part_the_goal_the_scratchpad_and_what_it_depends_on() {
    let ran = run(two_cycles()).await;
    let told = ran.told("cycle/1/step/again#0/call/0");
    assert_told(&told, &["Think again", "words", "GOALWORD", "CONTEXTWORD", "PADWORD"]);
    assert!(!told.contains("THOUGHTWORD"), "what it did not declare: {told}");
    let first = ran.told("cycle/1/step/think#0/call/0");
    assert!(!first.contains("PADWORD"), "what came after it: {first}");
}

#[tokio::test]
async fn a_judge_is_told_the_criteria_what_became_of_every_step_and_the_scratchpad() {
    let ran = run(two_cycles()).await;
    let told = ran.told("cycle/2/judge#0/call/0");
    assert_told(
        &told,
        &[
            "GOALWORD",
            "CONTEXTWORD",
            "DESCRIPTIONWORD",
            "CRITERIONWORD",
            "MENDWORD",
            "hello and welcome",
            "PADWORD",
        ],
    );
    assert_told(&told, &["Step \"mend\": success", "Tokens: 15, duration:"]);

    let gone = tool("gone", "file_read", json!({ "path": "nowhere.txt" }), &[]);
    let ran = run([(
        "cycle/1/plan#0/call/0",
        plan(json!([gone, write("write", "hello", &[])])),
    )])
    .await;
    let told = ran.told("cycle/1/judge#0/call/0");
    let failed = told.split("Step \"gone\": failure").nth(1).unwrap();
    let failed = failed.split("Step \"write\"").next().unwrap();
    assert_told(failed, &["<data name=\"error of gone\">", "nowhere.txt"]);
}

#[tokio::test]
async fn a_judge_is_shown_the_first_five_hundred_characters_of_an_output() {
    let long: &'static str = Box::leak(format!("{}LAST{}", "x".repeat(495) + "y", "NEXT").into_boxed_str());
    let ran = run([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([thought("long", &[]), write("write", "hello", &[])])),
        ),
        ("cycle/1/step/long#0/call/0", Reply::Text(long)),
    ])
    .await;
    let told = ran.told("cycle/1/judge#0/call/0");
    let shown = format!("{}LAST\n[… 4 more characters are not shown]", "x".repeat(495) + "y");
    assert!(told.contains(&shown), "{told}");
    assert!(!told.contains("LASTN"), "{told}");
}

#[tokio::test]
async fn a_tool_is_offered_with_its_schema_and_demanded() {
    let mut step = write("write", "", &[]);
    step.as_object_mut().unwrap().remove("args");
    let ran = run([
        ("cycle/1/plan#0/call/0", plan(json!([step]))),
        (
            "cycle/1/step/write#0/tool/0/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "hello" })),
        ),
    ])
    .await;
    let asked = ran.script.asked.lock().unwrap();
    let request = asked
        .iter()
        .find(|request| request.key.as_str() == "cycle/1/step/write#0/tool/0/call")
        .unwrap();
    assert_eq!(request.tool_choice, ToolChoice::Tool("file_write".to_owned()));
    assert_eq!(request.tools.len(), 1);
    assert!(request.tools[0].parameters["properties"]["content"].is_object());
    assert_eq!(request.model, "small");
}

#[tokio::test]
async fn several_tools_are_called_in_their_order_and_their_results_are_a_list() {
    let several = json!({ "id": "both", "description": "Write and read", "tools": ["file_write", "file_read"],
        "expectedOutcome": "the text", "dependencies": [],
        "args": { "file_write": { "path": "out.txt", "content": "hello" }, "file_read": { "path": "out.txt" } } });
    let ran = run([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([several, thought("then", &["both"])])),
        ),
        ("cycle/1/step/then#0/call/0", Reply::Text("ok")),
    ])
    .await;
    let output = ran.state.cycles[0].steps["both"]
        .output
        .clone()
        .unwrap()
        .inline
        .unwrap();
    let results = output.as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["path"], "out.txt");
    assert!(results[1].to_string().contains("hello"), "{output}");
    let tools: Vec<&str> = ran.state.tools.values().map(|tool| tool.tool.as_str()).collect();
    assert_eq!(tools, ["file_write", "file_read"]);
}

#[tokio::test]
async fn a_model_of_its_own_wins_over_the_tier_for_that_step_alone() {
    let mut own = thought("own", &[]);
    own["model"] = json!("scripted:big");
    let mut high = thought("high", &[]);
    high["tier"] = json!("high");
    let ran = run([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([own, high, thought("low", &[]), write("write", "hello", &[])])),
        ),
        ("cycle/1/step/own#0/call/0", Reply::Text("a")),
        ("cycle/1/step/high#0/call/0", Reply::Text("b")),
        ("cycle/1/step/low#0/call/0", Reply::Text("c")),
    ])
    .await;
    let asked = ran.script.asked.lock().unwrap();
    let model = |step: &str| {
        let key = format!("cycle/1/step/{step}#0/call/0");
        asked
            .iter()
            .find(|request| request.key.as_str() == key)
            .unwrap()
            .model
            .clone()
    };
    assert_eq!([model("own"), model("high"), model("low")], ["big", "big", "small"]);
}

#[tokio::test]
async fn a_result_says_how_it_ended_what_it_cost_and_why_it_failed() {
    let missing = tool("read", "file_read", json!({ "path": "nowhere.txt" }), &[]);
    let ran = run([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([thought("think", &[]), missing, write("write", "hello", &[])])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("words")),
    ])
    .await;
    let steps = &ran.state.cycles[0].steps;
    assert_eq!(steps["think"].status, StepStatus::Done);
    assert_eq!(steps["think"].tokens_used, TOKENS);
    assert!(steps["think"].duration_ms.is_some() && steps["think"].error.is_none());
    assert_eq!(steps["read"].status, StepStatus::Failed);
    assert_eq!((steps["read"].output.as_ref(), steps["read"].tokens_used), (None, 0));
    assert!(steps["read"].error.as_ref().unwrap().message.contains("nowhere.txt"));
    let result = ran.state.result.as_ref().unwrap();
    assert_eq!(
        result.tokens_used,
        ran.script.asked.lock().unwrap().len() as u64 * TOKENS
    );
    let twice = self::run(two_cycles()).await;
    let (all, spent) = (
        twice.script.asked.lock().unwrap().len() as u64,
        twice.state.result.unwrap(),
    );
    assert_eq!((spent.cycles, spent.tokens_used), (2, all * TOKENS));
    assert_eq!(result.cycles, 1);
    assert_eq!(result.outputs.len(), 1);
    assert_eq!(
        (result.outputs[0].path.as_str(), result.outputs[0].kind),
        ("out.txt", OutputKind::File)
    );
    assert!(result.outputs[0].description.contains("DESCRIPTIONWORD"));
}

#[tokio::test]
async fn every_run_begins_with_an_empty_scratchpad() {
    let place = Place::default();
    let note = json!({ "action": "write", "key": "note", "value": "PADWORD" });
    let script = Script::new([
        (
            "cycle/1/plan#0/call/0",
            plan(json!([
                thought("look", &[]),
                tool("note", "scratchpad", note, &["look"]),
                write("write", "hello", &["note"])
            ])),
        ),
        ("cycle/1/step/look#0/call/0", Reply::Text("nothing there")),
    ]);
    let app = opened(&place, &script).await;
    for _ in 0..2 {
        let run = started(&app, &place).await;
        app.outcome(&run).await.unwrap();
        assert!(app.state(&run).await.unwrap().scratchpad.contains_key("note"));
    }
    let asked = script.asked.lock().unwrap();
    let looked = asked
        .iter()
        .filter(|request| request.key.as_str() == "cycle/1/step/look#0/call/0");
    let told: Vec<String> = looked.map(|request| json!(request.messages).to_string()).collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|told| !told.contains("PADWORD")), "{told:?}");
}
