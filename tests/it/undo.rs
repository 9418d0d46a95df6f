//! Undoing what a run changed in files: the whole app on a real folder, with everything that can have happened to the
//! files since.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use app::UndoWish;
use contract::event::RunEvent;
use contract::llm::{LlmError, LlmErrorCode};
use contract::run::{RunStatus, StopReason};
use contract::undo::{ChosenFile, UndoChoice, UndoPreview, UndoResult};
use contract::{AppError, RunId};
use serde_json::{Value, json};
use support::script::{Answers, Doors, Reply, Script, passing, plan, tool};
use support::{Place, call};

use crate::task_loop::{PLAN_1, Ran, run, run_in};

const TASK: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: new/report.md, description: the file }]\nlimits: { maxCycles: 1 }\nmodels: { planner: 'scripted:m' }\n";
const NOTES: &str = "one\ntwo\nthree\nfour\nfive\n";
const CHANGED: &str = "one\nTWO\nthree\nfour\nfive\n";

/// A plan that changes `notes.txt` and makes `new/report.md`.
fn changing() -> Reply {
    let edit = json!({ "path": "notes.txt", "edits": [{ "find": "two", "replace": "TWO" }] });
    let write = json!({ "path": "new/report.md", "content": "# Report\n" });
    plan(json!([
        tool("edit", "file_edit", edit, &[]),
        tool("write", "file_write", write, &["edit"])
    ]))
}

/// A run that did that, in a folder with notes of these permissions.
async fn changed() -> Ran {
    let place = Place::default();
    fs::write(place.work().join("notes.txt"), NOTES).unwrap();
    fs::set_permissions(place.work().join("notes.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let script = Script::new([(PLAN_1, changing())]);
    let ran = run_in(place, TASK, json!({}), &script, &Answers::new([]), |config| config).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(
        (ran.text("notes.txt").as_str(), ran.text("new/report.md").as_str()),
        (CHANGED, "# Report\n")
    );
    ran
}

fn with(choice: UndoChoice) -> UndoWish {
    UndoWish {
        edited: Some(choice),
        ..UndoWish::default()
    }
}

fn redo() -> UndoWish {
    UndoWish {
        redo: true,
        ..UndoWish::default()
    }
}

impl Ran {
    fn at(&self, path: &str) -> PathBuf {
        self.place.work().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    async fn undo(&self, wish: &UndoWish) -> Result<UndoResult, AppError> {
        self.app.undo(&self.run, wish).await
    }

    async fn preview(&self, redo: bool) -> UndoPreview {
        self.app.undo_preview(&self.run, redo).await.unwrap()
    }

    /// How each file stands, as `path standing`.
    async fn standings(&self) -> Vec<String> {
        let preview = json!(self.preview(false).await);
        let files = preview["files"].as_array().unwrap().iter();
        files
            .map(|file| {
                format!(
                    "{} {}",
                    file["path"].as_str().unwrap(),
                    file["standing"].as_str().unwrap()
                )
            })
            .collect()
    }
}

#[tokio::test]
async fn the_folder_is_as_it_was_before_the_run_and_again_as_after_it() {
    let ran = changed().await;
    assert_eq!(ran.standings().await, ["notes.txt restores", "new/report.md deletes"]);
    for _ in 0..2 {
        let undone = ran.undo(&UndoWish::default()).await.unwrap();
        assert_eq!(
            (undone.restored, undone.deleted),
            (vec!["notes.txt".to_owned()], vec!["new/report.md".to_owned()])
        );
        assert_eq!(undone.folders, ["new"]);
        let names: Vec<_> = fs::read_dir(ran.place.work())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["notes.txt"]);
        assert_eq!(ran.text("notes.txt"), NOTES);
        ran.undo(&redo()).await.unwrap();
        assert_eq!(
            (ran.text("notes.txt").as_str(), ran.text("new/report.md").as_str()),
            (CHANGED, "# Report\n")
        );
    }
    let mode = fs::metadata(ran.at("notes.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
}

#[tokio::test]
async fn an_undo_is_in_the_history_and_the_runs_end_stays_what_it_was() {
    let ran = changed().await;
    let (events, hash) = (
        ran.events().await.len(),
        engine::final_hash(&ran.events().await).unwrap(),
    );
    ran.undo(&UndoWish::default()).await.unwrap();
    let now = ran.events().await;
    let kinds: Vec<&str> = now[events..].iter().map(|record| record.key.as_str()).collect();
    assert_eq!(kinds, ["undo/0:intended", "undo/0"]);
    assert_eq!(engine::final_hash(&now).unwrap(), hash);
    let state = ran.app.state(&ran.run).await.unwrap();
    assert_eq!((state.status(), state.undos.len()), (RunStatus::Pass, 1));
    assert_eq!(state.undos[0].left.as_deref(), Some(&[][..]));
    let summary = ran.call("run_get", json!({})).await.unwrap();
    assert_eq!(
        (&summary["status"], &summary["driven"]),
        (&json!("pass"), &json!(false))
    );
}

#[tokio::test]
async fn what_a_person_edited_or_removed_since_is_not_overwritten_unasked() {
    let ran = changed().await;
    fs::write(ran.at("notes.txt"), "one\nTWO\nthree\nfour\nmine\n").unwrap();
    fs::remove_file(ran.at("new/report.md")).unwrap();
    assert_eq!(ran.standings().await, ["notes.txt edited", "new/report.md unchanged"]);
    let preview = json!(ran.preview(false).await);
    assert_eq!(preview["files"][0]["merging"], "clean");
    let refused = ran.undo(&UndoWish::default()).await.unwrap_err();
    assert_eq!(
        (refused.code.as_str(), refused.message.as_str()),
        ("edited_since", "a file was edited or removed since the run: notes.txt")
    );
    assert_eq!(ran.text("notes.txt"), "one\nTWO\nthree\nfour\nmine\n");

    let merged = ran.undo(&with(UndoChoice::Merge)).await.unwrap();
    assert_eq!(merged.merged, ["notes.txt"]);
    assert_eq!(ran.text("notes.txt"), "one\ntwo\nthree\nfour\nmine\n");
    ran.undo(&redo()).await.unwrap();
    assert_eq!(ran.text("notes.txt"), "one\nTWO\nthree\nfour\nmine\n");
    ran.undo(&UndoWish::default()).await.unwrap();
    assert_eq!(ran.text("notes.txt"), "one\ntwo\nthree\nfour\nmine\n");
}

#[tokio::test]
async fn a_file_that_was_removed_since_comes_back_only_when_that_is_wanted() {
    let ran = changed().await;
    fs::remove_file(ran.at("notes.txt")).unwrap();
    assert_eq!(ran.standings().await, ["notes.txt missing", "new/report.md deletes"]);
    assert_eq!(ran.undo(&UndoWish::default()).await.unwrap_err().code, "edited_since");
    assert!(
        ran.at("new/report.md").exists(),
        "nothing is undone when something is refused"
    );
    let kept = ran.undo(&with(UndoChoice::Keep)).await.unwrap();
    assert_eq!(
        (kept.kept, kept.deleted),
        (vec!["notes.txt".to_owned()], vec!["new/report.md".to_owned()])
    );
    assert!(!ran.at("notes.txt").exists());
    ran.undo(&with(UndoChoice::Restore)).await.unwrap();
    assert_eq!(ran.text("notes.txt"), NOTES);
}

#[tokio::test]
async fn a_link_that_was_put_in_the_place_of_a_file_is_never_written_through() {
    let ran = changed().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let secret = elsewhere.path().join("secret.txt");
    fs::write(&secret, CHANGED).unwrap();
    fs::write(ran.at("mine.txt"), CHANGED).unwrap();
    for target in [secret.clone(), PathBuf::from("mine.txt")] {
        fs::remove_file(ran.at("notes.txt")).unwrap();
        symlink(&target, ran.at("notes.txt")).unwrap();
        // What it leads to is exactly what the run left, and yet it is not what the run left.
        assert_eq!(ran.standings().await[0], "notes.txt edited");
        assert_eq!(ran.undo(&UndoWish::default()).await.unwrap_err().code, "edited_since");
        ran.undo(&with(UndoChoice::Restore)).await.unwrap();
        assert_eq!(ran.text("notes.txt"), NOTES);
        assert!(!fs::symlink_metadata(ran.at("notes.txt")).unwrap().is_symlink());
        // A redo brings the link back, for that is what was there.
        ran.undo(&redo()).await.unwrap();
        assert_eq!(fs::read_link(ran.at("notes.txt")).unwrap(), target);
    }
    assert_eq!(
        (fs::read_to_string(secret).unwrap(), ran.text("mine.txt")),
        (CHANGED.to_owned(), CHANGED.to_owned())
    );
}

#[tokio::test]
async fn what_may_not_be_written_is_left_and_told() {
    let ran = changed().await;
    fs::set_permissions(ran.at("notes.txt"), fs::Permissions::from_mode(0o440)).unwrap();
    fs::remove_file(ran.at("new/report.md")).unwrap();
    fs::create_dir(ran.at("new/report.md")).unwrap();
    assert_eq!(ran.standings().await, ["notes.txt restores", "new/report.md blocked"]);
    let result = ran.undo(&UndoWish::default()).await.unwrap();
    assert_eq!(result.restored, Vec::<String>::new());
    let mut left: Vec<&str> = result.left.iter().map(|left| left.why.as_str()).collect();
    left.sort_unstable();
    assert_eq!(
        left,
        [
            "\"notes.txt\" cannot be opened: permission denied",
            "it is no file now, or may not be opened"
        ]
    );
    assert_eq!(ran.text("notes.txt"), CHANGED);
    let told = ran.app.state(&ran.run).await.unwrap().undos[0].left.clone().unwrap();
    assert_eq!(told.len(), 1, "what was never intended is not in the history");
}

#[tokio::test]
async fn of_two_runs_that_changed_the_same_file_the_earlier_one_is_a_case_for_a_person() {
    let first = changed().await;
    let edit = json!({ "path": "notes.txt", "edits": [{ "find": "five", "replace": "FIVE" }] });
    let second = plan(json!([tool("edit", "file_edit", edit, &[])]));
    let script = Script::new([(PLAN_1, second)]);
    let config = app::Config {
        providers: vec![script as _],
        people: Some(Answers::new([]) as _),
        ..first.place.config()
    };
    first.app.close().await.unwrap();
    let app = app::App::open(config).await.unwrap();
    let task = TASK.replace("new/report.md", "notes.txt");
    let request = json!({ "source": task, "folder": first.place.folder() });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    let first = Ran { app, ..first };
    assert_eq!(first.text("notes.txt"), "one\nTWO\nthree\nfour\nFIVE\n");

    assert_eq!(first.standings().await, ["notes.txt edited", "new/report.md deletes"]);
    assert_eq!(first.undo(&UndoWish::default()).await.unwrap_err().code, "edited_since");
    first.undo(&with(UndoChoice::Merge)).await.unwrap();
    assert_eq!(first.text("notes.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
    // The later one is now the one that finds its file edited; both together lead back to the beginning.
    assert_eq!(
        first.app.undo(&run, &UndoWish::default()).await.unwrap_err().code,
        "edited_since"
    );
    first.app.undo(&run, &with(UndoChoice::Merge)).await.unwrap();
    assert_eq!(first.text("notes.txt"), NOTES);
}

#[tokio::test]
async fn one_file_is_undone_as_the_window_asks_for_it() {
    let ran = changed().await;
    let preview = ran.call("run_undo_preview", json!({})).await.unwrap();
    let request = json!({ "files": [{ "path": "new/report.md" }], "stamp": preview["stamp"] });
    let result = ran.call("run_undo", request.clone()).await.unwrap();
    assert_eq!(result["deleted"], json!(["new/report.md"]));
    assert_eq!(ran.text("notes.txt"), CHANGED);
    let late = ran.call("run_undo", request).await.unwrap_err();
    assert_eq!(late.code, "changed_meanwhile");
    assert_eq!(
        ran.call("run_undo_finish", json!({})).await.unwrap()["restored"],
        json!([])
    );
    let unknown = UndoWish {
        files: vec![ChosenFile {
            path: "../secret".to_owned(),
            choice: Some(UndoChoice::Restore),
        }],
        ..UndoWish::default()
    };
    assert_eq!(ran.undo(&unknown).await.unwrap_err().code, "not_of_run");
}

#[tokio::test]
async fn the_files_of_a_run_are_listed_with_the_lines_that_came_and_went() {
    let ran = changed().await;
    ran.undo(&UndoWish {
        files: vec![ChosenFile {
            path: "notes.txt".to_owned(),
            choice: None,
        }],
        ..UndoWish::default()
    })
    .await
    .unwrap();
    let files = ran.call("run_files", json!({})).await.unwrap();
    let told: Vec<Value> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| json!([file["path"], file["added"], file["removed"], file["undone"]]))
        .collect();
    assert_eq!(
        json!(told),
        json!([["notes.txt", 1, 1, true], ["new/report.md", 1, 0, false]])
    );
}

#[tokio::test]
async fn says_so_when_the_folder_is_not_there_any_more() {
    let ran = changed().await;
    let moved = tempfile::tempdir().unwrap();
    fs::rename(ran.place.work(), moved.path().join("moved")).unwrap();
    let refused = ran.undo(&UndoWish::default()).await.unwrap_err();
    assert_eq!(refused.code, "folder_missing");
    assert!(
        refused.message.contains("it may have been moved or deleted"),
        "{refused}"
    );
    fs::rename(moved.path().join("moved"), ran.place.work()).unwrap();
    ran.undo(&UndoWish::default()).await.unwrap();
}

#[tokio::test]
async fn nothing_is_undone_while_a_run_in_the_folder_is_at_work() {
    const JUDGE: &str = "cycle/1/judge#0/call/0";
    let ran = changed().await;
    ran.app.close().await.unwrap();
    let doors = Doors::at([JUDGE]);
    let write = json!({ "path": "new/report.md", "content": "# Another\n" });
    let script = Script::behind(
        doors.clone(),
        [(PLAN_1, plan(json!([tool("write", "file_write", write, &[])])))],
    );
    let config = app::Config {
        providers: vec![script as _],
        people: Some(Answers::new([]) as _),
        ..ran.place.config()
    };
    let app = app::App::open(config).await.unwrap();
    let ran = Ran { app, ..ran };
    let request = json!({ "source": TASK, "folder": ran.place.folder() });
    let other = call(&ran.app, "run_start", request).await.unwrap();
    let other = RunId::new(other["runId"].as_str().unwrap());
    doors.came([JUDGE]).await;
    let refused = ran.app.undo(&other, &UndoWish::default()).await.unwrap_err();
    assert_eq!(refused.code, "not_at_end");
    let refused = ran.undo(&UndoWish::default()).await.unwrap_err();
    assert_eq!(refused.code, "folder_busy");
    assert!(refused.message.contains("is at work in this folder"), "{refused}");
    ran.app.stop(&other).await.unwrap();
    ran.app.outcome(&other).await.unwrap();
    ran.app.undo(&other, &UndoWish::default()).await.unwrap();
    ran.undo(&UndoWish::default()).await.unwrap();
    assert_eq!(ran.text("notes.txt"), NOTES);
}

#[tokio::test]
async fn a_run_whose_changes_are_undone_does_not_go_on_where_it_stood() {
    let script = Script::answering(|request| match request.key.as_str() {
        PLAN_1 => changing(),
        key if key.contains("/judge#") => Reply::Error(LlmError::new(LlmErrorCode::Connection, "nothing answers")),
        _ => passing(request),
    });
    let place = Place::default();
    fs::write(place.work().join("notes.txt"), NOTES).unwrap();
    let ran = run_in(place, TASK, json!({}), &script, &Answers::new([]), |config| config).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    ran.undo(&UndoWish::default()).await.unwrap();
    assert_eq!(ran.call("run_continue", json!({})).await.unwrap_err().code, "undone");
    ran.undo(&redo()).await.unwrap();
    ran.call("run_continue", json!({})).await.unwrap();
    ran.again().await;
}

#[tokio::test]
async fn an_undo_travels_with_an_exported_run_and_is_not_possible_where_it_arrives() {
    let ran = changed().await;
    ran.undo(&UndoWish::default()).await.unwrap();
    let file = ran.place.data().join("run.tepa");
    ran.app.export(&ran.run, Some(&file), ran.place.data()).await.unwrap();
    let there = Place::default();
    let app = there.open().await;
    let read = app.import(&file).await.unwrap();
    let events = app.state(&read.run_id).await.unwrap();
    assert_eq!(events.undos.len(), 1);
    assert_eq!(app.undo(&read.run_id, &redo()).await.unwrap_err().code, "run_imported");
}

#[tokio::test]
async fn a_run_that_changed_nothing_has_nothing_to_undo() {
    let nothing = plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]));
    let script = Script::new([(PLAN_1, nothing)]);
    let ran = run(TASK, &script, &Answers::new([])).await;
    assert_eq!(
        ran.undo(&UndoWish::default()).await.unwrap_err().code,
        "nothing_to_undo"
    );
    assert!(
        !ran.events()
            .await
            .iter()
            .any(|record| matches!(record.event, RunEvent::UndoIntended { .. }))
    );
}
