//! MCP servers from end to end: added by pasting, approved by a person, named by a plan, called by a step, and never
//! called when they are not what was approved. The server is a script of the crate `mcp`.

use std::path::Path;
use std::sync::Arc;

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::people::People;
use contract::run::StopReason;
use contract::step::StepStatus;
use contract::{Key, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Script, plan, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

use crate::task_loop::{FILE, PLAN_1, Ran, run_in, write};

const APPROVE: Answer = Answer::Approve { revisions: true };
const TASK: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\nlimits: { maxCycles: 1 }\nmodels: { planner: 'scripted:m' }\npermissions: { servers: [odd] }\n";
const CANARY: &str = "sk-mcp-canary-7041";

fn kept(config: Config) -> Config {
    Config {
        keeper: Some(env!("CARGO_BIN_EXE_keeper").into()),
        ..config
    }
}

fn pasted(how: &[String]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/mcp/tests/servers/odd.py");
    let args: Vec<String> = std::iter::once(script.display().to_string())
        .chain(how.iter().cloned())
        .collect();
    json!({ "mcpServers": { "odd": { "command": "python3", "args": args } } }).to_string()
}

/// A place whose app knows the server, and its tools as they are now.
pub(crate) async fn place(how: &[String]) -> Place {
    let place = Place::default();
    let app = App::open(kept(place.config())).await.unwrap();
    call(&app, "mcp_add", json!({ "text": pasted(how) })).await.unwrap();
    let shown = call(&app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(shown["problem"], Value::Null, "{shown}");
    let request = json!({ "name": "odd", "offered": shown["offered"]["hash"] });
    let approved = call(&app, "mcp_approve", request).await.unwrap();
    assert_eq!(approved["approved"][0]["name"], "odd__echo", "{approved}");
    app.close().await.unwrap();
    place
}

async fn run(place: Place, task: &str, options: Value, people: &Arc<Answers>) -> Ran {
    let echo = tool("say", "odd__echo", json!({ "words": "hello" }), &[]);
    let script = Script::new([(PLAN_1, plan(json!([echo, write("file", "x", &["say"])])))]);
    run_in(place, task, options, &script, people, kept).await
}

fn said(ran: &Ran) -> Option<Value> {
    let output = ran.state.cycles[0].steps["say"].output.as_ref()?;
    output.inline.clone()
}

fn asks(people: &Answers) -> Vec<&'static str> {
    let name = |ask: &Ask| match ask {
        Ask::ApprovePlan { .. } => "plan",
        Ask::Permission { .. } => "permission",
        _ => "else",
    };
    people.asked.lock().unwrap().iter().map(name).collect()
}

#[tokio::test]
async fn an_approved_plan_that_names_a_server_may_call_it() {
    let people = Answers::new([APPROVE]);
    let ran = run(place(&[]).await, TASK, json!({}), &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(said(&ran), Some(json!({ "text": "hello" })));
    assert_eq!(asks(&people), ["plan"]);
    let asked = people.asked.lock().unwrap();
    let Ask::ApprovePlan { envelope, .. } = &asked[0] else {
        panic!("{asked:?}")
    };
    // It is shown with the plan what a yes allows.
    assert_eq!(envelope.mcp_servers, ["odd"]);
}

#[tokio::test]
async fn without_an_approval_or_in_a_careful_run_each_call_is_asked_about() {
    let people = Answers::new([Answer::Allow {
        scope: AllowedFor::Once,
    }]);
    let ran = run(place(&[]).await, TASK, json!({ "approval": "never" }), &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(asks(&people), ["permission"]);
    let yes = || Answer::Allow {
        scope: AllowedFor::Once,
    };
    let people = Answers::new([APPROVE, yes(), yes()]);
    let ran = run(place(&[]).await, TASK, json!({ "preset": "careful" }), &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(asks(&people), ["plan", "permission", "permission"]);
}

#[tokio::test]
async fn what_a_server_may_do_for_a_task_goes_with_the_server() {
    let for_task = || Answer::Allow {
        scope: AllowedFor::Task,
    };
    let never = || json!({ "approval": "never" });
    let people = Answers::new([for_task()]);
    let ran = run(place(&[]).await, TASK, never(), &people).await;
    assert_eq!(
        (ran.stop_reason(), asks(&people)),
        (StopReason::Passed, vec!["permission"])
    );
    // As the window and the terminal keep such an answer.
    let keep = async |ran: &Ran, people: &Answers| {
        let ask = people.asked.lock().unwrap()[0].clone();
        ran.app.keep_if_for_task(&ran.run, &ask, &for_task()).await.unwrap();
    };
    keep(&ran, &people).await;
    ran.app.close().await.unwrap();
    // Its next run calls the server without a question.
    let people = Answers::new([for_task()]);
    let ran = run(ran.place, TASK, never(), &people).await;
    assert_eq!((ran.stop_reason(), asks(&people)), (StopReason::Passed, vec![]));
    let granted = async |app: &App| {
        call(app, "grants_list", json!({}))
            .await
            .unwrap()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(granted(&ran.app).await, 1);
    // Another server of that name has nothing of it, and neither has the same one when it is added again.
    for how in [vec!["other".to_owned()], Vec::new()] {
        let request = json!({ "text": pasted(&how) });
        call(&ran.app, "mcp_add", request.clone()).await.unwrap();
        assert_eq!(granted(&ran.app).await, 0, "{how:?}");
        let shown = call(&ran.app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
        let offered = json!({ "name": "odd", "offered": shown["offered"]["hash"] });
        call(&ran.app, "mcp_approve", offered).await.unwrap();
        // Added again as it is, it stays what it was.
        call(&ran.app, "mcp_add", request).await.unwrap();
    }
    ran.app.close().await.unwrap();
    let people = Answers::new([for_task()]);
    let ran = run(ran.place, TASK, never(), &people).await;
    assert_eq!(asks(&people), ["permission"]);
    keep(&ran, &people).await;
    assert_eq!(granted(&ran.app).await, 1);
    call(&ran.app, "mcp_remove", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(granted(&ran.app).await, 0);
}

#[tokio::test]
async fn a_server_that_is_looked_at_while_a_run_is_at_work_ends_again() {
    let place = place(&[]).await;
    let people = Arc::new(Hesitates {
        asked: Semaphore::new(0),
        decided: Semaphore::new(0),
    });
    let script = Script::new([(PLAN_1, plan(json!([write("file", "x", &[])])))]);
    let app = App::open(kept(Config {
        providers: vec![script as _],
        people: Some(Arc::clone(&people) as _),
        ..place.config()
    }))
    .await
    .unwrap();
    let request = json!({ "source": FILE, "folder": place.folder() });
    let started = call(&app, "run_start", request).await.unwrap();
    people.asked.acquire().await.unwrap().forget();
    let shown = call(&app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(
        (&shown["running"], &shown["problem"]),
        (&json!(false), &Value::Null),
        "{shown}"
    );
    people.decided.add_permits(1);
    let outcome = app.outcome(&RunId::new(started["runId"].as_str().unwrap())).await;
    assert!(matches!(outcome, Ok(Outcome::Finished(_))), "{outcome:?}");
}

/// A person who takes time over a plan: the run is at work meanwhile.
struct Hesitates {
    asked: Semaphore,
    decided: Semaphore,
}

#[async_trait]
impl People for Hesitates {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        self.asked.add_permits(1);
        self.decided.acquire().await.ok()?.forget();
        Some(APPROVE)
    }
}

#[tokio::test]
async fn a_server_that_became_another_one_is_not_called() {
    let marks = tempfile::tempdir().unwrap();
    let mark = marks.path().join("changed");
    let place = place(&[format!("changed-if={}", mark.display())]).await;
    std::fs::write(&mark, "").unwrap();
    let people = Answers::new([APPROVE]);
    let ran = run(place, TASK, json!({}), &people).await;
    let step = &ran.state.cycles[0].steps["say"];
    assert_eq!(step.status, StepStatus::Failed);
    let message = &step.error.as_ref().unwrap().message;
    assert!(
        message.contains("offers other tools than those you approved"),
        "{message}"
    );
    // Its page shows what is different, and a yes to something else than what was shown approves nothing.
    let shown = call(&ran.app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(shown["offered"]["changes"][0]["tool"], "echo");
    assert!(
        shown["offered"]["changes"][0]["after"]["description"]
            .as_str()
            .unwrap()
            .contains("somebody else")
    );
    std::fs::remove_file(&mark).unwrap();
    call(&ran.app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    let request = json!({ "name": "odd", "offered": shown["offered"]["hash"] });
    let refused = call(&ran.app, "mcp_approve", request).await.unwrap_err();
    assert_eq!(refused.code, "mcp_changed");
}

#[tokio::test]
async fn what_a_server_returns_is_a_result_however_strange_it_is() {
    let call = |id: &str, words: &str| tool(id, "odd__echo", json!({ "words": words }), &[]);
    let steps = json!([
        call("odd", "odd"),
        call("huge", "huge"),
        call("die", "die"),
        write("file", "x", &[])
    ]);
    let script = Script::new([(PLAN_1, plan(steps))]);
    let people = Answers::new([APPROVE]);
    let ran = run_in(place(&[]).await, TASK, json!({}), &script, &people, kept).await;
    let step = |id: &str| &ran.state.cycles[0].steps[id];
    assert_eq!(
        (step("odd").status, step("huge").status),
        (StepStatus::Done, StepStatus::Done)
    );
    let message = &step("die").error.as_ref().unwrap().message;
    assert!(message.contains("it ended with 7"), "{message}");
    // The run reaches its verdict, whatever that is.
    assert!(ran.state.result.is_some());
}

#[tokio::test]
async fn nothing_is_offered_that_the_task_does_not_name() {
    let quiet = TASK.replace("permissions: { servers: [odd] }\n", "");
    let echo = tool("say", "odd__echo", json!({ "words": "hello" }), &[]);
    let script = Script::new([
        (PLAN_1, plan(json!([echo]))),
        ("cycle/1/plan#0/call/1", plan(json!([write("file", "x", &[])]))),
    ]);
    let people = Answers::new([APPROVE]);
    let ran = run_in(place(&[]).await, &quiet, json!({}), &script, &people, kept).await;
    // The plan that names it is refused, and the next one does without.
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(ran.statuses(0), [("file", StepStatus::Done)]);
    let named = format!("{quiet}tools: [odd__echo, file_write]\n");
    let ran = run(place(&[]).await, &named, json!({}), &Answers::new([APPROVE])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
}

#[tokio::test]
async fn a_task_that_asks_for_a_server_nobody_has_does_not_begin() {
    let place = Place::default();
    let app = place.open().await;
    let value = json!({ "goal": "g", "context": {}, "expectedOutput": "o", "models": { "planner": "greeter:m" }, "permissions": { "servers": ["odd"] } });
    let refused = app.header(&value, &place.folder(), None).await.unwrap_err();
    assert_eq!(refused.code, "mcp_not_set_up", "{refused:?}");
    call(&app, "mcp_add", json!({ "text": pasted(&[]) })).await.unwrap();
    let refused = app.header(&value, &place.folder(), None).await.unwrap_err();
    assert!(
        refused.message.contains("whose tools nobody approved yet"),
        "{refused:?}"
    );
    let named = json!({ "goal": "g", "context": {}, "expectedOutput": "o", "models": { "planner": "greeter:m" }, "tools": ["odd__echo"] });
    let refused = app.header(&named, &place.folder(), None).await.unwrap_err();
    assert_eq!(refused.code, "mcp_not_set_up", "{refused:?}");
}

#[tokio::test]
async fn a_value_goes_to_the_server_and_nowhere_else() {
    let place = Place::default();
    let app = App::open(kept(place.config())).await.unwrap();
    let mut settings: Value = serde_json::from_str(&pasted(&[])).unwrap();
    settings["mcpServers"]["odd"]["env"] = json!({ "TOKEN": CANARY });
    let args = settings["mcpServers"]["odd"]["args"].as_array_mut().unwrap();
    let given = Path::new(&place.folder()).join("given");
    args.extend([
        json!(format!("started-with={}", given.display())),
        json!("--api-key"),
        json!(CANARY),
    ]);
    let added = call(&app, "mcp_add", json!({ "text": settings.to_string() }))
        .await
        .unwrap();
    assert_eq!(added["names"], json!(["odd"]));
    let shown = call(&app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(
        (&shown["values"], &shown["problem"]),
        (&json!(["TOKEN", "api-key"]), &Value::Null)
    );
    // What stands in the place of a secret is shown; the server is given the secret.
    assert_eq!(
        shown["launch"]["args"].as_array().unwrap().last(),
        Some(&json!("${api-key}"))
    );
    assert!(
        std::fs::read_to_string(&given)
            .unwrap()
            .ends_with(&format!("--api-key {CANARY}"))
    );
    let listed = call(&app, "mcp_list", Value::Null).await.unwrap();
    assert!(!listed.to_string().contains(CANARY) && !shown.to_string().contains(CANARY));
    app.close().await.unwrap();
    let found = files_with(place.data(), CANARY.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    // What was only in memory is gone, and that is said in the place where it is needed.
    let app = App::open(kept(place.config())).await.unwrap();
    let shown = call(&app, "mcp_connect", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(shown["problem"]["code"], "mcp_not_ready", "{shown}");
    call(&app, "mcp_remove", json!({ "name": "odd" })).await.unwrap();
    assert_eq!(call(&app, "mcp_list", Value::Null).await.unwrap()["servers"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_pasted_is_told_without_repeating_it() {
    let place = Place::default();
    let app = place.open().await;
    let text = format!(r#"{{"mcpServers": {{"a": {{"command": "x", "env": {{"K": ["{CANARY}"]}}}}}}}}"#);
    let refused = call(&app, "mcp_add", json!({ "text": text })).await.unwrap_err();
    assert_eq!(refused.problems[0].path, "mcpServers.a.env.K");
    let odd = call(&app, "mcp_add", json!({ "text": [CANARY] })).await.unwrap_err();
    assert!(!format!("{refused:?}{odd:?}").contains(CANARY));
    assert_eq!(call(&app, "mcp_list", Value::Null).await.unwrap()["servers"], json!([]));
}

fn files_with(folder: &Path, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).is_ok_and(|text| text.windows(bytes.len()).any(|window| window == bytes)) {
            found.push(path);
        }
    }
    found
}
