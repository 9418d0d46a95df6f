//! Hooks in the whole loop: what each of the eight is given and may change, and the rules that need no code.

mod callbacks;
mod judging;
mod planning;
mod rules;
mod stepping;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::Config;
use async_trait::async_trait;
use contract::event::RunEvent;
use contract::person::{Answer, Ask};
use contract::ports::hook::{CycleMetadata, Hook, HookContext, HookEvent, HookReply};
use contract::ports::people::People;
use contract::run::{RunStatus, StopReason};
use contract::step::{StepError, StepStatus};
use contract::{Key, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Doors, Reply, Script, TOKENS, plan, thought, tool};

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
