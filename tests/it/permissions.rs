//! The envelope from end to end: what lies outside is asked about in place, what was allowed counts as far as it reaches,
//! and a no reaches the planner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use app::{App, Config, Outcome};
use async_trait::async_trait;
use contract::event::RunEvent;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::people::People;
use contract::run::StopReason;
use contract::run_state::RunState;
use contract::step::StepStatus;
use contract::{Key, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Script, plan, thought, tool};
use support::{Place, call};
use tokio::sync::Semaphore;

use crate::task_loop::{FILE, PLAN_1, PLAN_2, Ran, run_in, write};

const APPROVE: Answer = Answer::Approve { revisions: true };

fn allow(scope: AllowedFor) -> Answer {
    Answer::Allow { scope }
}

/// A folder beside the working folder, with a file in it.
struct Beside(tempfile::TempDir);

impl Beside {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rates.txt"), "1.07").unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        let folder = self.0.path().canonicalize().unwrap();
        folder.join(name).display().to_string()
    }

    fn read(&self, id: &str, after: &[&str]) -> Value {
        tool(id, "file_read", json!({ "path": self.path("rates.txt") }), after)
    }

    fn write(&self, id: &str, after: &[&str]) -> Value {
        let args = json!({ "path": self.path("new.txt"), "content": "x" });
        tool(id, "file_write", args, after)
    }
}

async fn run(steps: Value, options: Value, answers: impl IntoIterator<Item = Answer>) -> (Ran, Arc<Answers>) {
    let again = write("again", "second", &[]);
    let script = Script::new([(PLAN_1, plan(steps)), (PLAN_2, plan(json!([again])))]);
    let people = Answers::new(answers);
    let ran = run_in(Place::default(), FILE, options, &script, &people, |config| config).await;
    (ran, people)
}

/// What people were asked to permit, each with whether it would change something.
fn permissions(people: &Answers) -> Vec<(String, bool)> {
    let asked = people.asked.lock().unwrap();
    let permission = |ask: &Ask| match ask {
        Ask::Permission { step, access, .. } => Some((step.clone(), access.iter().any(|one| one.is_effect()))),
        _ => None,
    };
    asked.iter().filter_map(permission).collect()
}

fn at(step: &str, effect: bool) -> (String, bool) {
    (step.to_owned(), effect)
}

#[tokio::test]
async fn a_file_outside_the_folder_is_read_when_a_person_allows_it_and_each_time_anew() {
    let beside = Beside::new();
    let steps = json!([beside.read("a", &[]), beside.read("b", &["a"]), write("c", "x", &["b"])]);
    let answers = [APPROVE, allow(AllowedFor::Once), allow(AllowedFor::Once)];
    let (ran, people) = run(steps, json!({}), answers).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(permissions(&people), [at("a", false), at("b", false)]);
    let read = ran.state.cycles[0].steps["a"].output.as_ref().unwrap();
    assert!(read.inline.as_ref().unwrap().to_string().contains("1.07"), "{read:?}");
    let asked = people.asked.lock().unwrap();
    let Ask::Permission { wants, tool, .. } = &asked[1] else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (wants.as_str(), tool.as_str()),
        (format!("read \"{}\"", beside.path("rates.txt")).as_str(), "file_read")
    );
}

#[tokio::test]
async fn a_yes_for_the_run_counts_for_the_same_in_the_rest_of_it() {
    let beside = Beside::new();
    let steps = json!([
        beside.read("a", &[]),
        beside.read("b", &["a"]),
        beside.write("c", &["b"]),
        write("d", "x", &[])
    ]);
    let answers = [APPROVE, allow(AllowedFor::Run), allow(AllowedFor::Run)];
    let (ran, people) = run(steps, json!({}), answers).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(permissions(&people), [at("a", false), at("c", true)]);
    assert_eq!(std::fs::read_to_string(beside.path("new.txt")).unwrap(), "x");
}

#[tokio::test]
async fn a_no_fails_the_step_and_its_reason_reaches_the_next_planner() {
    let beside = Beside::new();
    let steps = json!([beside.write("a", &[])]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        (PLAN_2, plan(json!([write("again", "second", &[])]))),
    ]);
    let no = Answer::Reject {
        reason: Some("that folder is Ada's".to_owned()),
    };
    let people = Answers::new([APPROVE, no]);
    let ran = run_in(Place::default(), FILE, json!({}), &script, &people, |config| config).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    let error = ran.state.cycles[0].steps["a"].error.as_ref().unwrap();
    assert_eq!(error.code, "permission_denied");
    assert!(!std::path::Path::new(&beside.path("new.txt")).exists());
    let told = script.prompt(PLAN_2);
    assert!(told.contains("that folder is Ada's"), "{told}");
}

#[tokio::test]
async fn a_careful_run_asks_before_it_changes_anything() {
    let steps = json!([thought("t", &[]), write("a", "x", &[]), write("b", "y", &["a"])]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/t#0/call/0", support::script::Reply::Text("hm")),
    ]);
    let people = Answers::new([APPROVE, allow(AllowedFor::Run)]);
    let options = json!({ "preset": "careful" });
    let ran = run_in(Place::default(), FILE, options, &script, &people, |config| config).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(permissions(&people), [at("a", true)], "the second write is the same");
}

#[tokio::test]
async fn a_hands_off_run_refuses_what_lies_outside_without_asking() {
    let beside = Beside::new();
    let (ran, people) = run(json!([beside.write("a", &[])]), json!({ "preset": "handsOff" }), []).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
    assert!(ran.error("a").contains("this run may not change"), "{}", ran.error("a"));
    assert_eq!(permissions(&people), []);
    assert!(!std::path::Path::new(&beside.path("new.txt")).exists());
}

#[tokio::test]
async fn what_a_person_grants_when_the_run_starts_is_not_asked_about() {
    let beside = Beside::new();
    let folder = json!({ "path": beside.path(""), "write": false });
    let options = json!({ "grant": { "folders": [folder] } });
    let steps = json!([beside.read("a", &[]), beside.write("b", &["a"]), write("c", "x", &[])]);
    let (ran, people) = run(steps, options, [APPROVE, allow(AllowedFor::Once)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(permissions(&people), [at("b", true)]);
}

#[tokio::test]
async fn what_a_file_asks_for_is_no_grant() {
    let beside = Beside::new();
    let task = format!("{FILE}permissions: {{ folders: ['{}'] }}\n", beside.path(""));
    let asked = async |options: Value| {
        let script = Script::new([(PLAN_1, plan(json!([beside.read("a", &[]), write("b", "x", &[])])))]);
        let people = Answers::new([APPROVE, allow(AllowedFor::Once)]);
        let ran = run_in(Place::default(), &task, options, &script, &people, |config| config).await;
        assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
        permissions(&people).len()
    };
    assert_eq!(asked(json!({})).await, 1);
    assert_eq!(asked(json!({ "allowPermissions": true })).await, 0);
}

/// Approves plans; nobody answers anything else.
struct PlansOnly;

#[async_trait]
impl People for PlansOnly {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        matches!(ask, Ask::ApprovePlan { .. }).then_some(APPROVE)
    }
}

struct Waiting {
    place: Place,
    beside: Beside,
    script: Arc<Script>,
    run: RunId,
    key: Key,
}

impl Waiting {
    /// A run that waits for a permission, and an app that was closed meanwhile.
    async fn new(place: Place, beside: Beside) -> Self {
        let steps = json!([beside.read("a", &[]), write("b", "x", &["a"])]);
        let script = Script::new([(PLAN_1, plan(steps))]);
        let people = Arc::new(PlansOnly);
        let app = open(&place, &script, Some(people)).await;
        let (run, outcome) = start(&app, &place).await;
        assert_eq!(outcome, Outcome::Waiting);
        let state = app.state(&run).await.unwrap();
        let waiting = state.waiting.clone().unwrap();
        assert_eq!(state.cycles[0].steps["a"].status, StepStatus::WaitingForPerson);
        assert!(matches!(waiting.ask, Ask::Permission { .. }), "{waiting:?}");
        app.close().await.unwrap();
        Self {
            place,
            beside,
            script,
            run,
            key: waiting.key,
        }
    }

    async fn answer(&self, app: &App, answer: Value) -> RunState {
        let request = json!({ "runId": self.run, "key": self.key, "answer": answer });
        call(app, "run_answer", request).await.unwrap();
        app.outcome(&self.run).await.unwrap();
        app.state(&self.run).await.unwrap()
    }
}

async fn open(place: &Place, script: &Arc<Script>, people: Option<Arc<dyn People>>) -> App {
    let config = Config {
        providers: vec![Arc::clone(script) as _],
        people,
        ..place.config()
    };
    App::open(config).await.unwrap()
}

async fn start(app: &App, place: &Place) -> (RunId, Outcome) {
    start_of(app, place, FILE).await
}

async fn start_of(app: &App, place: &Place, source: &str) -> (RunId, Outcome) {
    let request = json!({ "source": source, "folder": place.folder() });
    let started = call(app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    let outcome = app.outcome(&run).await.unwrap();
    (run, outcome)
}

#[tokio::test]
async fn a_question_waits_through_a_restart_and_is_not_asked_again_in_a_replay() {
    let waiting = Waiting::new(Place::default(), Beside::new()).await;
    let app = open(&waiting.place, &waiting.script, None).await;
    for wrong in [
        json!({ "kind": "approve", "revisions": false }),
        json!({ "kind": "allowedMeanwhile" }),
    ] {
        let request = json!({ "runId": waiting.run, "key": waiting.key, "answer": wrong });
        assert_eq!(
            call(&app, "run_answer", request).await.unwrap_err().code,
            "wrong_answer"
        );
    }
    let state = waiting.answer(&app, json!({ "kind": "allow", "scope": "once" })).await;
    assert_eq!(state.result.unwrap().stop_reason, StopReason::Passed);
    std::fs::remove_file(waiting.beside.path("rates.txt")).unwrap();
    let replayed = app.replay(&waiting.run).await.unwrap();
    assert!(replayed.same, "{replayed:?}");
}

#[tokio::test]
async fn a_yes_for_the_task_counts_in_its_next_runs_until_it_is_revoked() {
    let waiting = Waiting::new(Place::default(), Beside::new()).await;
    let app = open(&waiting.place, &waiting.script, None).await;
    let state = waiting.answer(&app, json!({ "kind": "allow", "scope": "task" })).await;
    assert_eq!(state.result.unwrap().stop_reason, StopReason::Passed);
    let grants = call(&app, "grants_list", json!({})).await.unwrap();
    assert_eq!(grants.as_array().unwrap().len(), 1);
    assert_eq!(
        grants[0]["access"],
        json!({ "kind": "read", "path": waiting.beside.path("rates.txt") })
    );
    app.close().await.unwrap();

    let app = open(&waiting.place, &waiting.script, Some(Arc::new(PlansOnly))).await;
    let (run, outcome) = start(&app, &waiting.place).await;
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    let envelope = app.header_of(&run).await.unwrap().envelope;
    assert_eq!(envelope.kept.len(), 1, "{envelope:?}");

    // The same task under another name is the same; one that says something else is asked about anew.
    let (_, outcome) = start_of(&app, &waiting.place, &format!("{FILE}name: Another name\n")).await;
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    let changed = FILE.replace("context: {}", "context: { month: June }");
    assert_ne!(changed, FILE);
    let (_, outcome) = start_of(&app, &waiting.place, &changed).await;
    assert_eq!(outcome, Outcome::Waiting);

    let id = grants[0]["id"].clone();
    call(&app, "grant_revoke", json!({ "id": id })).await.unwrap();
    assert_eq!(
        call(&app, "grant_revoke", json!({ "id": id })).await.unwrap_err().code,
        "not_found"
    );
    let (_, outcome) = start(&app, &waiting.place).await;
    assert_eq!(outcome, Outcome::Waiting);
    // The run that had it goes on having it; another task never did.
    let other = Place::default();
    let (_, outcome) = start(&app, &other).await;
    assert_eq!(outcome, Outcome::Waiting);
}

/// Answers the first of several permissions for the run when all are asked, and never the others.
struct FirstOf {
    most: usize,
    asked: Mutex<HashMap<String, usize>>,
    all: Semaphore,
}

#[async_trait]
impl People for FirstOf {
    async fn answer(&self, _run: &RunId, key: &Key, ask: &Ask) -> Option<Answer> {
        if matches!(ask, Ask::ApprovePlan { .. }) {
            return Some(APPROVE);
        }
        let place = {
            let mut asked = self.asked.lock().unwrap();
            let place = asked.len();
            asked.insert(key.as_str().to_owned(), place);
            place
        };
        if place + 1 == self.most {
            self.all.add_permits(1);
        }
        if place > 0 {
            std::future::pending::<()>().await;
        }
        let _all = self.all.acquire().await.unwrap();
        Some(allow(AllowedFor::Run))
    }
}

#[tokio::test]
async fn one_answer_for_the_run_settles_everybody_who_asks_the_same() {
    let (place, beside) = (Place::default(), Beside::new());
    let reads = ["a", "b", "c"].map(|id| beside.read(id, &[]));
    let steps = json!([reads[0], reads[1], reads[2], write("d", "x", &["a", "b", "c"])]);
    let script = Script::new([(PLAN_1, plan(steps))]);
    let people = Arc::new(FirstOf {
        most: 3,
        asked: Mutex::default(),
        all: Semaphore::new(0),
    });
    let app = open(&place, &script, Some(people)).await;
    let (run, outcome) = start(&app, &place).await;
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    let events = call(&app, "run_events", json!({ "runId": run, "fromSeq": 1, "limit": 500 }))
        .await
        .unwrap();
    let events: Vec<contract::event::RunEventRecord> = serde_json::from_value(events["events"].clone()).unwrap();
    let answers = events.iter().filter_map(|record| match &record.event {
        RunEvent::PersonAnswered { answer } => Some(answer.clone()),
        _ => None,
    });
    let meanwhile = answers.filter(|answer| *answer == Answer::AllowedMeanwhile).count();
    assert_eq!(meanwhile, 2);
    assert_eq!(app.state(&run).await.unwrap().waiting, None);
}

/// A run whose first step asks a person, and waits, with the app closed meanwhile.
#[tokio::test]
async fn a_question_of_a_step_waits_and_its_answer_is_what_the_step_returns() {
    let place = Place::default();
    let args = json!({ "question": "Which year?", "choices": ["2025", "2026"] });
    let steps = json!([tool("ask", "ask_person", args, &[]), write("b", "{{ask}}", &["ask"])]);
    let script = Script::new([(PLAN_1, plan(steps))]);
    let task = format!("{FILE}tools: [ask_person, file_write]\n");
    let app = open(&place, &script, Some(Arc::new(PlansOnly))).await;
    let request = json!({ "source": task, "folder": place.folder() });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    assert_eq!(app.outcome(&run).await.unwrap(), Outcome::Waiting);
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.cycles[0].steps["ask"].status, StepStatus::WaitingForPerson);
    let waiting = state.waiting.unwrap();
    assert!(
        matches!(&waiting.ask, Ask::Gate { cycle: 1, phase, .. } if phase == "ask"),
        "{waiting:?}"
    );
    app.close().await.unwrap();

    let app = open(&place, &script, None).await;
    let answer =
        |value: &str| json!({ "runId": run, "key": waiting.key, "answer": { "kind": "reply", "value": value } });
    let wrong = call(&app, "run_answer", answer("2024")).await.unwrap_err();
    assert_eq!(wrong.code, "answer_does_not_fit");
    call(&app, "run_answer", answer("2026")).await.unwrap();
    app.outcome(&run).await.unwrap();
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.result.unwrap().stop_reason, StopReason::Passed);
    let output = state.cycles[0].steps["ask"].output.as_ref().unwrap();
    assert_eq!(output.inline, Some(json!("2026")));
    let replayed = app.replay(&run).await.unwrap();
    assert!(replayed.same, "{replayed:?}");
}

#[tokio::test]
async fn whoever_does_not_answer_a_step_tells_the_next_planner_why() {
    let ask = tool("ask", "ask_person", json!({ "question": "Which year?" }), &[]);
    let script = Script::new([
        (PLAN_1, plan(json!([ask]))),
        (PLAN_2, plan(json!([write("again", "second", &[])]))),
    ]);
    let no = Answer::Reject {
        reason: Some("it stands in the file".to_owned()),
    };
    let people = Answers::new([APPROVE, no]);
    let task = format!("{FILE}tools: [ask_person, file_write]\n");
    let ran = run_in(Place::default(), &task, json!({}), &script, &people, |config| config).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(ran.statuses(0), [("ask", StepStatus::Failed)]);
    let told = script.prompt(PLAN_2);
    assert!(told.contains("it stands in the file"), "{told}");
}
