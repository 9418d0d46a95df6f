//! A run is played once more from its history alone: what the folder holds by now changes nothing.

mod broken_off;

use app::App;
use contract::RunId;
use contract::event::RunEvent;
use contract::run::StopReason;
use contract::step::StepStatus;
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, plan, thought};

use crate::task_loop::{FILE, PLAN_1, PLAN_2, Ran, full_once, run, run_with, write};

const PLAN_3: &str = "cycle/3/plan#0/call/0";

/// A judge that fails the file, with these words.
fn fails(feedback: &str) -> Reply {
    Reply::Json(
        json!({ "verdict": "fail", "confidence": 0.9, "feedback": feedback, "criteria": [
        { "id": "out.txt/0", "verdict": "fail", "evidence": "bad" },
        { "id": "goal", "verdict": "fail", "evidence": "bad" },
    ] }),
    )
}

async fn replayed(app: &App, run: &RunId) {
    let replayed = app.replay(run).await.unwrap();
    assert!(replayed.same, "{}", replayed.feedback);
}

#[tokio::test]
async fn a_verdict_on_what_a_file_held_then_is_replayed_whatever_it_holds_now() {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "bad", &[])]))),
        ("cycle/1/judge#0/call/0", fails("Write something good.")),
        (PLAN_2, plan(json!([write("a", "good", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!((ran.stop_reason(), ran.state.cycles.len()), (StopReason::Passed, 2));
    replayed(&ran.app, &ran.run).await;
    std::fs::remove_file(ran.place.work().join("out.txt")).unwrap();
    replayed(&ran.app, &ran.run).await;
}

#[tokio::test]
async fn a_step_that_was_kept_is_kept_in_a_replay_whatever_became_of_its_file() {
    let side = |content: &str| {
        let mut step = write("side", content, &[]);
        step["args"]["file_write"]["path"] = json!("side.txt");
        step
    };
    let cycle = |out: &str, beside: &str| {
        plan(json!([
            thought("think", &[]),
            side(beside),
            write("a", out, &["think", "side"])
        ]))
    };
    let script = Script::new([
        (PLAN_1, cycle("bad", "one")),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
        ("cycle/1/judge#0/call/0", fails("The file is bad; see step a.")),
        (PLAN_2, cycle("also bad", "one")),
        ("cycle/2/judge#0/call/0", fails("The file is bad still; see step a.")),
        (PLAN_3, cycle("good", "two")),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 3"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!((ran.stop_reason(), ran.state.cycles.len()), (StopReason::Passed, 3));
    let kept = |cycle: usize| {
        ran.statuses(cycle)
            .into_iter()
            .filter(|(_, status)| *status == StepStatus::Kept)
            .count()
    };
    assert_eq!([kept(0), kept(1), kept(2)], [0, 2, 1]);
    replayed(&ran.app, &ran.run).await;
    for name in ["side.txt", "out.txt"] {
        std::fs::remove_file(ran.place.work().join(name)).unwrap();
        replayed(&ran.app, &ran.run).await;
    }
}

/// Five files that are too much for one question.
fn large() -> (String, Reply, Vec<String>) {
    let names: Vec<String> = (0..5).map(|n| format!("{n}.txt")).collect();
    let expected: Vec<String> = names
        .iter()
        .map(|name| format!("{{ path: {name}, description: words }}"))
        .collect();
    let task = format!(
        "goal: Write them\ncontext: {{}}\nexpectedOutput: [{}]\nmodels: {{ planner: 'scripted:m' }}\n",
        expected.join(", ")
    );
    let steps: Vec<Value> = names
        .iter()
        .map(|name| {
            let mut step = write(&format!("w{}", &name[..1]), &"many words ".repeat(1_200), &[]);
            step["args"]["file_write"]["path"] = json!(name);
            step
        })
        .collect();
    (task, plan(json!(steps)), names)
}

#[tokio::test]
async fn results_that_were_judged_in_parts_are_replayed_in_these_parts() {
    let (task, steps, names) = large();
    let script = Script::new([(PLAN_1, steps)]);
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    assert!(
        script.keys().contains(&"cycle/1/judge#0/part/2/call/0".to_owned()),
        "{:?}",
        script.keys()
    );
    for name in names {
        std::fs::remove_file(ran.place.work().join(name)).unwrap();
    }
    replayed(&ran.app, &ran.run).await;
}

#[tokio::test]
async fn a_question_goes_on_in_the_part_in_which_it_was_broken_off() {
    let (task, steps, names) = large();
    let script = Script::new([(PLAN_1, steps)]);
    let ran = run_with(&task, &script, &Answers::new([]), |config| {
        full_once(config, |event| {
            matches!(
                event,
                RunEvent::ModelCallStarted {
                    purpose: contract::event::Purpose::Judge,
                    ..
                }
            )
        })
    })
    .await;
    assert_eq!(ran.state.result, None, "a full disk ends nothing");
    for name in names {
        std::fs::write(ran.place.work().join(name), "many words").unwrap();
    }
    ran.app.resume(&ran.run).await.unwrap();
    let ran: Ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    let judged: Vec<String> = script.keys().into_iter().filter(|key| key.contains("judge")).collect();
    assert_eq!(
        judged,
        [0, 1, 2].map(|n| format!("cycle/1/judge#0/part/{n}/call/0")),
        "the parts are those that were begun with"
    );
}
