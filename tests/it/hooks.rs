//! Hooks in the whole loop: what each of the eight is given and may change, and the rules that need no code.

use std::sync::{Arc, Mutex};

use app::{App, Config};
use async_trait::async_trait;
use contract::event::RunEvent;
use contract::person::{Answer, Ask};
use contract::ports::hook::{CycleMetadata, Hook, HookContext, HookEvent, HookReply};
use contract::ports::people::People;
use contract::run::{RunStatus, StopReason};
use contract::step::{StepError, StepStatus};
use contract::{Key, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, TOKENS, plan, thought, tool};

use crate::task_loop::{ANSWER, FILE, PLAN_1, PLAN_2, Ran, run, run_as, run_with, write};

/// What a hook does with its data.
type Act = Box<dyn Fn(&Value, &HookContext<'_>) -> Result<HookReply, StepError> + Send + Sync>;

struct Told {
    id: &'static str,
    event: HookEvent,
    forgiving: bool,
    trusted: bool,
    act: Act,
    seen: Mutex<Vec<(Value, CycleMetadata)>>,
}

#[async_trait]
impl Hook for Told {
    fn id(&self) -> &str {
        self.id
    }

    fn event(&self) -> HookEvent {
        self.event
    }

    fn continue_on_error(&self) -> bool {
        self.forgiving
    }

    fn may_change_plans(&self) -> bool {
        self.trusted
    }

    async fn call(&self, data: &Value, context: &HookContext<'_>) -> Result<HookReply, StepError> {
        self.seen.lock().unwrap().push((data.clone(), context.meta));
        (self.act)(data, context)
    }
}

fn hook(
    id: &'static str,
    event: HookEvent,
    act: impl Fn(&Value, &HookContext<'_>) -> Result<HookReply, StepError> + Send + Sync + 'static,
) -> Told {
    Told {
        id,
        event,
        forgiving: false,
        trusted: true,
        act: Box::new(act),
        seen: Mutex::default(),
    }
}

fn changes(event: HookEvent, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Told {
    hook("changes", event, move |data, _| {
        let mut data = data.clone();
        change(&mut data);
        Ok(HookReply::Replaced(data))
    })
}

async fn with_hooks(task: &str, script: &Arc<Script>, people: &Arc<Answers>, hooks: Vec<Arc<Told>>) -> Ran {
    let hooks = hooks.into_iter().map(|hook| hook as Arc<dyn Hook>).collect();
    run_with(task, script, people, |config| Config { hooks, ..config }).await
}

/// A run with one thinking step and one hook.
async fn one(told: Told) -> (Ran, Arc<Script>, Arc<Told>) {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let told = Arc::new(told);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::clone(&told)]).await;
    (ran, script, told)
}

#[tokio::test]
async fn every_event_fires_once_in_the_seeds_order_with_the_seeds_data() {
    let all = [
        (HookEvent::PrePlanner, &["prompt", "feedback"][..]),
        (HookEvent::PostPlanner, &["steps", "reasoning", "estimatedTokens"][..]),
        (
            HookEvent::PreExecutor,
            &["plan", "prompt", "cycle", "scratchpad", "previousResults"][..],
        ),
        (HookEvent::PreStep, &["step", "cycle"][..]),
        (HookEvent::PostStep, &["step", "result", "cycle"][..]),
        (HookEvent::PostExecutor, &["results", "logs", "tokensUsed"][..]),
        (HookEvent::PreEvaluator, &["prompt", "results", "scratchpad"][..]),
        (HookEvent::PostEvaluator, &["verdict", "confidence", "criteria"][..]),
    ];
    let order = Arc::new(Mutex::new(Vec::new()));
    let hooks: Vec<Arc<Told>> = all
        .iter()
        .map(|(event, _)| {
            let (order, event) = (Arc::clone(&order), *event);
            Arc::new(hook("watch", event, move |_, _| {
                order.lock().unwrap().push(event);
                Ok(HookReply::Unchanged)
            }))
        })
        .collect();
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), hooks.clone()).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(*order.lock().unwrap(), all.map(|(event, _)| event));
    for (hook, (event, keys)) in hooks.iter().zip(all) {
        let (data, meta) = hook.seen.lock().unwrap()[0].clone();
        for key in keys {
            assert!(data.get(key).is_some(), "{event:?} has no {key}: {data}");
        }
        assert_eq!((meta.cycle_number, meta.total_cycles_used), (1, 0));
        let calls = match event {
            HookEvent::PrePlanner => 0,
            HookEvent::PostPlanner | HookEvent::PreExecutor | HookEvent::PreStep => 1,
            HookEvent::PostStep | HookEvent::PostExecutor | HookEvent::PreEvaluator => 2,
            HookEvent::PostEvaluator => 3,
        };
        assert_eq!(meta.tokens_used, calls * TOKENS, "{event:?} is told the tokens so far");
    }
}

#[tokio::test]
async fn in_a_second_cycle_every_event_fires_again_with_what_came_before() {
    let all = [
        HookEvent::PrePlanner,
        HookEvent::PostPlanner,
        HookEvent::PreExecutor,
        HookEvent::PreStep,
        HookEvent::PostStep,
        HookEvent::PostExecutor,
        HookEvent::PreEvaluator,
        HookEvent::PostEvaluator,
    ];
    let order = Arc::new(Mutex::new(Vec::new()));
    let hooks: Vec<Arc<Told>> = all
        .iter()
        .map(|event| {
            let (order, event) = (Arc::clone(&order), *event);
            Arc::new(hook("watch", event, move |data, context| {
                order.lock().unwrap().push((event, context.meta.cycle_number));
                let mut data = data.clone();
                if event != HookEvent::PostExecutor {
                    return Ok(HookReply::Unchanged);
                }
                data["results"][0]["output"] = json!(format!("left so in {}", context.meta.cycle_number));
                Ok(HookReply::Replaced(data))
            }))
        })
        .collect();
    let criteria = ["answer/0", "goal"].map(|id| json!({ "id": id, "verdict": "fail", "evidence": "" }));
    let fails = json!({ "verdict": "fail", "confidence": 1, "feedback": "Kinder.",
        "criteria": criteria });
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ("cycle/1/judge#0/call/0", Reply::Json(fails)),
        (PLAN_2, plan(json!([thought("b", &[])]))),
        ("cycle/2/step/b#0/call/0", Reply::Text("dear")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), hooks.clone()).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let twice: Vec<_> = [1, 2]
        .iter()
        .flat_map(|cycle| all.map(|event| (event, *cycle)))
        .collect();
    assert_eq!(*order.lock().unwrap(), twice);
    assert!(
        script.keys().contains(&"cycle/2/judge#0/call/0".to_owned()),
        "every cycle is judged"
    );
    let seen = |event: HookEvent, cycle: usize| {
        let hook = hooks.iter().find(|hook| hook.event == event).unwrap();
        hook.seen.lock().unwrap()[cycle - 1].clone()
    };
    for event in all {
        let meta = seen(event, 2).1;
        assert_eq!((meta.cycle_number, meta.total_cycles_used), (2, 1), "{event:?}");
    }
    let before = |event| seen(event, 2).0;
    assert_eq!(before(HookEvent::PrePlanner)["feedback"], "Kinder.");
    assert_eq!(before(HookEvent::PreExecutor)["cycle"], 2);
    assert_eq!(before(HookEvent::PreExecutor)["previousResults"][0]["stepId"], "a");
    let pad = |event, cycle| seen(event, cycle).0["scratchpad"]["_execution_summary"].clone();
    assert_eq!(pad(HookEvent::PreExecutor, 1), Value::Null);
    let summary = pad(HookEvent::PreEvaluator, 1);
    assert_eq!(
        (summary.as_array().map(Vec::len), &summary[0]["output"]),
        (Some(1), &json!("left so in 1")),
        "it is written after the hooks behind the steps, and before the judge"
    );
    assert_eq!(pad(HookEvent::PreEvaluator, 2).as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_hook_before_the_planner_changes_the_task_and_the_feedback_that_it_is_told() {
    let (ran, script, _) = one(changes(HookEvent::PrePlanner, |data| {
        data["prompt"]["goal"] = json!("Say something kind");
        data["feedback"] = json!("Be brief");
    }))
    .await;
    let told = script.prompt(PLAN_1);
    assert!(
        told.contains("Say something kind") && told.contains("Be brief"),
        "{told}"
    );
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let thinking = script.prompt("cycle/1/step/a#0/call/0");
    assert!(!thinking.contains("something kind"), "only the planner is told");
}

#[tokio::test]
async fn a_hook_after_the_planner_changes_the_plan_that_is_shown() {
    let (ran, script, _) = one(changes(HookEvent::PostPlanner, |plan| {
        plan["steps"][0]["description"] = json!("Think twice");
    }))
    .await;
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think twice"
    );
    assert!(script.prompt("cycle/1/step/a#0/call/0").contains("Think twice"));
}

#[tokio::test]
async fn a_hook_after_the_planner_adds_a_step_and_takes_one_out() {
    let told = changes(HookEvent::PostPlanner, |plan| {
        let steps = plan["steps"].as_array_mut().unwrap();
        steps.retain(|step| step["id"] != "b");
        steps.push(thought("c", &["a"]));
    });
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ("cycle/1/step/c#0/call/0", Reply::Text("there")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done), ("c", StepStatus::Done)]);
}

#[tokio::test]
async fn a_hook_before_the_steps_changes_the_plan_and_what_steps_are_told() {
    let (ran, script, _) = one(changes(HookEvent::PreExecutor, |data| {
        data["plan"]["steps"][0]["description"] = json!("Think thrice");
        data["prompt"]["goal"] = json!("Say it in French");
        data["prompt"]["context"] = json!({ "tone": "HOOKCONTEXT" });
        data["scratchpad"]["note"] = json!("from a hook");
    }))
    .await;
    let told = script.prompt("cycle/1/step/a#0/call/0");
    for words in ["Think thrice", "Say it in French", "HOOKCONTEXT", "from a hook"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think thrice"
    );
    let changed = ran.events().await.into_iter().find_map(|record| match record.event {
        RunEvent::PlanChanged { by, steps, .. } => Some((by, steps)),
        _ => None,
    });
    assert_eq!(changed, Some((vec!["changes".to_owned()], vec!["a".to_owned()])));
}

#[tokio::test]
async fn a_plan_that_a_hook_changed_is_asked_about_again() {
    let mut told = changes(HookEvent::PreExecutor, |data| {
        data["plan"]["steps"][0]["description"] = json!("Something else");
    });
    told.trusted = false;
    let script = Script::new([(PLAN_1, plan(json!([thought("a", &[])])))]);
    let people = Answers::new([
        Answer::Approve { revisions: true },
        Answer::Reject {
            reason: Some("not that".to_owned()),
        },
    ]);
    let ran = with_hooks(ANSWER, &script, &people, vec![Arc::new(told)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    let hashes: Vec<_> = people
        .asked
        .lock()
        .unwrap()
        .iter()
        .map(|ask| match ask {
            Ask::ApprovePlan { plan_hash, .. } => plan_hash.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        hashes.len() == 2 && hashes[0] != hashes[1],
        "each plan is shown as it is"
    );
}

#[tokio::test]
async fn a_person_who_wants_to_see_every_plan_sees_what_a_hook_made_of_it_when_nothing_else_is_asked() {
    let asked = async |event: HookEvent, change: fn(&mut Value)| {
        let mut told = changes(event, change);
        told.trusted = false;
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[])]))),
            ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ]);
        let people = Answers::new([]);
        let task = format!("{ANSWER}hooks: [{{ askMe: plan }}]\n");
        let options = json!({ "allowHooks": true, "approval": "never" });
        let hooks: Vec<Arc<dyn Hook>> = vec![Arc::new(told)];
        let ran = run_as(&task, options, &script, &people, |config| Config { hooks, ..config }).await;
        assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
        people.asked.lock().unwrap().len()
    };
    let plan = |data: &mut Value| data["plan"]["steps"][0]["description"] = json!("Something else");
    assert_eq!(
        asked(HookEvent::PreExecutor, plan).await,
        2,
        "the plan, and what became of it"
    );
    let step = |data: &mut Value| data["step"]["description"] = json!("Something else");
    assert_eq!(asked(HookEvent::PreStep, step).await, 2, "the plan, and its step");
    assert_eq!(asked(HookEvent::PreStep, |_| {}).await, 1, "the plan");
}

#[tokio::test]
async fn what_a_hook_makes_of_a_result_can_be_found_by_whoever_was_given_it() {
    let long = "polished ".repeat(700);
    for output in [json!(long), json!("short")] {
        let told = changes(HookEvent::PostExecutor, move |data| {
            if data["results"][0]["stepId"] == "a" {
                data["results"][0]["output"] = output.clone();
            }
        });
        let mut second = thought("b", &[]);
        second["inputs"] = json!(["cycle_1.a"]);
        let fails = json!({ "verdict": "fail", "confidence": 1, "feedback": "More.",
            "criteria": [{ "id": "answer/0", "verdict": "fail", "evidence": "" }, { "id": "goal", "verdict": "fail", "evidence": "" }] });
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[])]))),
            ("cycle/1/step/a#0/call/0", Reply::Text("raw")),
            ("cycle/1/judge#0/call/0", Reply::Json(fails)),
            (PLAN_2, plan(json!([second]))),
            ("cycle/2/step/b#0/call/0", Reply::Text("done")),
        ]);
        let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
        let given = ran.events().await.into_iter().find_map(|record| match record.event {
            RunEvent::StepStarted { step, inputs, .. } if step == "b" => Some(inputs),
            _ => None,
        });
        let hash = given.unwrap()[0].hash.clone();
        let store = store::Store::open(ran.place.data()).await.unwrap();
        let kept = contract::ports::journal::Journal::artifact(&store, &hash)
            .await
            .unwrap();
        assert!(kept.is_some(), "nothing holds {}", hash.as_str());
    }
}

#[tokio::test]
async fn a_hook_before_a_step_changes_the_step() {
    let (ran, script, _) = one(changes(HookEvent::PreStep, |data| {
        data["step"]["description"] = json!("Think harder");
    }))
    .await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert!(script.prompt("cycle/1/step/a#0/call/0").contains("Think harder"));
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think harder"
    );
}

#[tokio::test]
async fn a_hook_after_a_step_changes_its_result() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &["a"])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("raw")),
        ("cycle/1/step/b#0/call/0", Reply::Text("done")),
    ]);
    let told = changes(HookEvent::PostStep, |data| {
        if data["step"]["id"] == "a" {
            data["result"]["output"] = json!("polished");
        }
    });
    with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    let given = script.prompt("cycle/1/step/b#0/call/0");
    assert!(given.contains("polished") && !given.contains("raw"), "{given}");
}

#[tokio::test]
async fn a_hook_after_the_steps_changes_the_results_that_are_judged() {
    let (_, script, _) = one(changes(HookEvent::PostExecutor, |data| {
        data["results"][0]["output"] = json!("goodbye");
    }))
    .await;
    let judged = &script.asked.lock().unwrap();
    let judged = serde_json::to_string(&judged.last().unwrap().messages).unwrap();
    assert!(judged.contains("goodbye") && !judged.contains("hello"), "{judged}");
}

#[tokio::test]
async fn a_hook_before_the_judge_changes_what_is_judged() {
    let (_, script, _) = one(changes(HookEvent::PreEvaluator, |data| {
        data["prompt"]["expectedOutput"] = json!("A few polite words");
        data["results"][0]["output"] = json!("HOOKRESULT");
        data["scratchpad"]["note"] = json!("HOOKNOTE");
    }))
    .await;
    let asked = script.asked.lock().unwrap();
    let judged = serde_json::to_string(&asked.last().unwrap().messages).unwrap();
    for words in ["A few polite words", "HOOKRESULT", "HOOKNOTE"] {
        assert!(judged.contains(words), "{words}: {judged}");
    }
}

#[tokio::test]
async fn a_hook_after_the_judge_changes_the_verdict_and_the_judges_stays_visible() {
    let told = hook("changes", HookEvent::PostEvaluator, |data, context| {
        let mut evaluation = data.clone();
        if context.meta.cycle_number == 1 {
            evaluation["verdict"] = json!("fail");
            evaluation["feedback"] = json!("Not kind enough");
        }
        Ok(HookReply::Replaced(evaluation))
    });
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        (PLAN_2, plan(json!([thought("b", &[])]))),
        ("cycle/2/step/b#0/call/0", Reply::Text("dear")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    let cycle = &ran.state.cycles[0];
    assert_eq!(json!(cycle.evaluation.as_ref().unwrap().verdict), json!("pass"));
    let changed = cycle.changed_verdict.as_ref().unwrap();
    assert_eq!(
        (json!(changed.evaluation.verdict), changed.by.as_slice()),
        (json!("fail"), &["changes".to_owned()][..])
    );
    assert!(script.prompt(PLAN_2).contains("Not kind enough"), "the planner is told");
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
}

#[tokio::test]
async fn nonsense_from_a_hook_ends_the_run_in_words() {
    for (event, place) in [
        (HookEvent::PrePlanner, "prompt"),
        (HookEvent::PostPlanner, "steps"),
        (HookEvent::PreExecutor, "plan"),
        (HookEvent::PreStep, "step"),
        (HookEvent::PostStep, "result"),
        (HookEvent::PostExecutor, "results"),
        (HookEvent::PreEvaluator, "results"),
        (HookEvent::PostEvaluator, "verdict"),
    ] {
        let (ran, _, _) = one(changes(event, move |data| data[place] = json!(7))).await;
        assert_eq!(ran.stop_reason(), StopReason::Error, "{event:?}");
        let words = ran.feedback();
        assert!(
            words.contains("the hook \"changes\" returned") && words.contains(event.name()),
            "{words}"
        );
    }
}

#[tokio::test]
async fn the_failure_of_a_bare_hook_ends_the_run_and_the_hook_is_tried_again_when_it_goes_on() {
    let tries = Mutex::new(0);
    let (ran, script, _) = one(hook("fragile", HookEvent::PostStep, move |_, _| {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries == 1 {
            return Err(StepError::new("callback_error", "the log is not reachable"));
        }
        Ok(HookReply::Unchanged)
    }))
    .await;
    assert_eq!(
        (ran.stop_reason(), ran.feedback()),
        (StopReason::Error, "the log is not reachable")
    );
    ran.app.resume(&ran.run).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert_eq!(script.keys().len(), 3, "nothing that was paid for is asked again");
}

#[tokio::test]
async fn a_forgiving_hook_leaves_the_data_as_it_was_and_later_hooks_see_what_earlier_ones_made() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let first = changes(HookEvent::PostPlanner, |plan| plan["reasoning"] = json!("one"));
    let mut broken = hook("broken", HookEvent::PostPlanner, |_, _| panic!("a mistake"));
    broken.forgiving = true;
    let last = Arc::new(hook("last", HookEvent::PostPlanner, |_, _| Ok(HookReply::Unchanged)));
    let ran = with_hooks(
        ANSWER,
        &script,
        &Answers::new([]),
        vec![Arc::new(first), Arc::new(broken), Arc::clone(&last)],
    )
    .await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert_eq!(last.seen.lock().unwrap()[0].0["reasoning"], "one");
    assert_eq!(
        ran.state.header.unwrap().hooks,
        ["changes", "broken", "last", "approval"]
    );
}

#[tokio::test]
async fn preventing_the_default_leaves_out_the_line_and_nothing_else() {
    let lines = async |ran: &Ran| -> Vec<String> {
        let report = ran.call("run_report", json!({})).await.unwrap();
        let logs = report["logs"].as_array().unwrap().clone();
        logs.iter()
            .map(|line| line["message"].as_str().unwrap().to_owned())
            .collect()
    };
    let (plain, _, _) = one(hook("quiet", HookEvent::PostStep, |_, _| Ok(HookReply::Unchanged))).await;
    let (quiet, _, _) = one(hook("quiet", HookEvent::PostStep, |_, context| {
        context.prevent_default();
        Ok(HookReply::Unchanged)
    }))
    .await;
    let line = "Step \"a\" completed".to_owned();
    assert!(lines(&plain).await.contains(&line), "{:?}", lines(&plain).await);
    assert!(!lines(&quiet).await.contains(&line));
    assert_eq!(quiet.statuses(0), [("a", StepStatus::Done)]);
    assert_eq!(lines(&plain).await.len(), lines(&quiet).await.len() + 1);
}

#[tokio::test]
async fn the_judges_events_fire_when_a_check_decides_too() {
    let before = Arc::new(hook("before", HookEvent::PreEvaluator, |_, _| Ok(HookReply::Unchanged)));
    let after = Arc::new(hook("after", HookEvent::PostEvaluator, |_, _| Ok(HookReply::Unchanged)));
    let script = Script::new([(
        PLAN_1,
        plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])])),
    )]);
    let task = FILE.replace("maxCycles: 2", "maxCycles: 1");
    with_hooks(
        &task,
        &script,
        &Answers::new([]),
        vec![Arc::clone(&before), Arc::clone(&after)],
    )
    .await;
    assert_eq!(script.keys().len(), 1, "no judge was asked");
    assert_eq!(before.seen.lock().unwrap().len(), 1);
    assert_eq!(after.seen.lock().unwrap()[0].0["confidence"], 1.0);
}

/// A run of a task with these rules, allowed.
async fn ruled(rules: &str, script: &Arc<Script>, people: &Arc<Answers>) -> Ran {
    let task = format!("{FILE}hooks: [{rules}]\n");
    run_as(&task, json!({ "allowHooks": true }), script, people, |config| config).await
}

#[tokio::test]
async fn rules_are_off_until_a_person_allows_them() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let task = format!("{FILE}hooks: [{{ forbid: file_write }}]\n");
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let checked = support::call(&ran.app, "task_check", json!({ "source": task }))
        .await
        .unwrap();
    assert_eq!(checked["hooks"], json!(["Never use \"file_write\""]));
}

#[tokio::test]
async fn a_file_that_asks_for_a_command_is_told_that_there_are_none_yet() {
    let script = Script::new([]);
    let config = Config {
        providers: vec![script],
        ..support::Place::default().config()
    };
    let app = App::open(config).await.unwrap();
    let task = format!("{FILE}hooks: [{{ command: ./look.sh }}]\n");
    let checked = support::call(&app, "task_check", json!({ "source": task }))
        .await
        .unwrap();
    let problem = checked["problems"][0]["message"].as_str().unwrap();
    assert!(problem.contains("cannot run commands as hooks yet"), "{problem}");
    assert_eq!(checked["problems"][0]["path"], "hooks[0]");
}

#[tokio::test]
async fn a_forbidden_tool_is_not_there() {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "x", &[])]))),
        ("cycle/1/plan#0/call/1", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = ruled("{ forbid: file_write }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    assert!(
        ran.feedback().contains("unknown tool \"file_write\""),
        "{}",
        ran.feedback()
    );
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn a_plan_with_too_many_steps_goes_back_to_the_planner_once() {
    let long = || plan(json!([write("a", "x", &[]), thought("b", &[]), thought("c", &[])]));
    let script = Script::new([
        (PLAN_1, long()),
        ("cycle/1/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = ruled("{ maxSteps: 2 }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert!(script.prompt("cycle/1/plan#1/call/0").contains("at most 2 are allowed"));
    let script = Script::new([(PLAN_1, long()), ("cycle/1/plan#1/call/0", long())]);
    let ran = ruled("{ maxSteps: 2 }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
}

#[tokio::test]
async fn a_person_is_asked_before_a_step_that_uses_a_tool() {
    let steps = || plan(json!([thought("think", &[]), write("a", "x", &["think"])]));
    let script = || Script::new([(PLAN_1, steps()), ("cycle/1/step/think#0/call/0", Reply::Text("hm"))]);
    let people = Answers::new([
        Answer::Approve { revisions: false },
        Answer::Reject {
            reason: Some("do not write".to_owned()),
        },
    ]);
    let ran = ruled("{ askMe: { tool: file_write } }", &script(), &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().contains("do not write"), "{}", ran.feedback());
    assert!(!ran.place.work().join("out.txt").exists());
    let asked = people.asked.lock().unwrap();
    assert!(
        asked.len() == 2 && matches!(&asked[1], Ask::RunStep { step, .. } if step == "a"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_person_is_asked_before_every_step_and_every_plan() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("a", "file_read", json!({ "path": "gone" }), &[])])),
        ),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let people = Answers::new([Answer::Approve { revisions: true }]);
    let ran = ruled("{ askMe: plan }, { askMe: step }", &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let asked = people.asked.lock().unwrap();
    let plans = asked
        .iter()
        .filter(|ask| matches!(ask, Ask::ApprovePlan { .. }))
        .count();
    assert_eq!(
        (plans, asked.len() - plans),
        (2, 2),
        "what was allowed before does not count: {asked:?}"
    );
}

/// Says yes to a plan at once; to a step only when a model was asked what the third step asks.
struct AfterThought(Arc<Script>);

#[async_trait]
impl People for AfterThought {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        let thinks = || self.0.keys().iter().any(|key| key.starts_with("cycle/1/step/c#0"));
        if matches!(ask, Ask::RunStep { .. }) {
            for _ in 0..100_000 {
                if thinks() {
                    return Some(Answer::Approve { revisions: false });
                }
                tokio::task::yield_now().await;
            }
            return None;
        }
        Some(Answer::Approve { revisions: false })
    }
}

#[tokio::test]
async fn a_step_that_waits_for_a_person_keeps_no_other_from_working() {
    let steps = json!([write("a", "x", &[]), write("b", "x", &[]), thought("c", &[])]);
    let script = Script::new([(PLAN_1, plan(steps)), ("cycle/1/step/c#0/call/0", Reply::Text("hm"))]);
    let task =
        FILE.replace("maxCycles: 2", "maxCycles: 2, maxParallel: 2") + "hooks: [{ askMe: { tool: file_write } }]\n";
    let people = Arc::new(AfterThought(Arc::clone(&script)));
    let ran = run_as(
        &task,
        json!({ "allowHooks": true }),
        &script,
        &Answers::new([]),
        |config| Config {
            people: Some(people),
            ..config
        },
    )
    .await;
    assert_eq!(
        ran.state.result.as_ref().map(|result| result.stop_reason),
        Some(StopReason::Passed)
    );
}

fn doubtful(confidence: f64) -> Reply {
    Reply::Json(
        json!({ "verdict": "fail", "confidence": confidence, "feedback": "Too dull.",
        "criteria": [{ "id": "goal", "verdict": "fail", "evidence": "x" }, { "id": "out.txt/0", "verdict": "pass", "evidence": "x" }] }),
    )
}

#[tokio::test]
async fn a_verdict_of_low_confidence_stops_the_run() {
    let judge = "cycle/1/judge#0/call/0";
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, doubtful(0.2))]);
    let ran = ruled("{ stop: { below: 0.3 } }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().contains("Too dull."), "{}", ran.feedback());
    assert_eq!(ran.state.cycles.len(), 1);
}

#[tokio::test]
async fn a_failed_verdict_of_high_confidence_is_accepted_when_a_rule_says_so() {
    let judge = "cycle/1/judge#0/call/0";
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, doubtful(0.95))]);
    let ran = ruled("{ accept: { above: 0.9 } }", &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Pass, StopReason::Accepted)
    );
    assert_eq!(
        json!(ran.state.cycles[0].evaluation.as_ref().unwrap().verdict),
        json!("fail")
    );
}

#[tokio::test]
async fn a_note_that_a_hook_took_out_of_the_scratchpad_is_gone() {
    let told = changes(HookEvent::PreExecutor, |data| {
        if data["cycle"] == 2 {
            data["scratchpad"].as_object_mut().unwrap().remove("note");
        }
    });
    let note = json!({ "action": "write", "key": "note", "value": "PADWORD" });
    let script = Script::new([
        (PLAN_1, plan(json!([tool("note", "scratchpad", note, &[])]))),
        (
            PLAN_2,
            plan(json!([thought("think", &[]), write("a", "x", &["think"])])),
        ),
        ("cycle/2/step/think#0/call/0", Reply::Text("hm")),
    ]);
    let ran = with_hooks(FILE, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert!(script.prompt(PLAN_2).contains("PADWORD"), "it was there");
    let thinking = script.prompt("cycle/2/step/think#0/call/0");
    assert!(!thinking.contains("PADWORD"), "{thinking}");
}

/// Two cycles of a thought and a file, in which the file is mended.
fn mended() -> Arc<Script> {
    let steps = |content: &str| {
        let gone = tool("gone", "file_read", json!({ "path": "nowhere.txt" }), &[]);
        plan(json!([
            thought("think", &[]),
            gone,
            thought("after", &["gone"]),
            write("a", content, &[])
        ]))
    };
    Script::new([
        (PLAN_1, steps("bye")),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
        (PLAN_2, steps("hello")),
        ("cycle/2/step/think#0/call/0", Reply::Text("hm")),
    ])
}

const HELLO: &str = "goal: Write it\nexpectedOutput: [{ path: out.txt, description: the file, \
    criteria: [{ text: It says hello, check: { contains: hello } }] }]\nlimits: { maxCycles: 2 }\n\
    models: { planner: 'scripted:m' }\n";

#[tokio::test]
async fn what_steps_are_told_by_a_hook_counts_for_what_is_kept() {
    let statuses = async |hooks: Vec<Arc<Told>>| {
        let ran = with_hooks(HELLO, &mended(), &Answers::new([]), hooks).await;
        assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
        ran.state.cycles[1].steps["think"].status
    };
    assert_eq!(statuses(vec![]).await, StepStatus::Kept);
    let french = changes(HookEvent::PreExecutor, |data| {
        if data["cycle"] == 2 {
            data["prompt"]["goal"] = json!("Say it in French");
        }
    });
    assert_eq!(statuses(vec![Arc::new(french)]).await, StepStatus::Done);
}

#[tokio::test]
async fn a_step_that_is_kept_or_skipped_is_shown_to_the_hooks_after_steps() {
    let seen = Arc::new(hook("watch", HookEvent::PostStep, |_, _| Ok(HookReply::Unchanged)));
    let ran = with_hooks(HELLO, &mended(), &Answers::new([]), vec![Arc::clone(&seen)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told: Vec<String> = seen
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(data, _)| format!("{} {} {}", data["cycle"], data["step"]["id"], data["result"]["status"]))
        .collect();
    for cycle in [1, 2] {
        for (id, status) in [
            ("think", "success"),
            ("gone", "failure"),
            ("after", "failure"),
            ("a", "success"),
        ] {
            let line = format!("{cycle} \"{id}\" \"{status}\"");
            assert_eq!(told.iter().filter(|told| **told == line).count(), 1, "{line}: {told:?}");
        }
    }
}

#[tokio::test]
async fn a_judge_that_is_hardly_sure_stops_the_run_although_it_passes() {
    let judge = "cycle/1/judge#0/call/0";
    let criteria = ["goal", "out.txt/0"].map(|id| json!({ "id": id, "verdict": "pass", "evidence": "x" }));
    let passes = json!({ "verdict": "pass", "confidence": 0.1, "summary": "Maybe.", "criteria": criteria });
    let script = || {
        let passes = Reply::Json(passes.clone());
        Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, passes)])
    };
    let ran = ruled("{ stop: { below: 0.3 } }", &script(), &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().ends_with("(your rule). Maybe."), "{}", ran.feedback());
    let ran = ruled("{ stop: { above: 0.05 } }", &script(), &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
}
