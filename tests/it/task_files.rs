//! Task files that cannot be run: each says what is wrong, where, and what would be right.

use serde_json::json;
use support::{Place, call};

async fn check(name: &str, content: &[u8], code: &str, message: &str) {
    let place = Place::default();
    let app = place.open().await;
    let path = place.work().join(name);
    std::fs::write(&path, content).unwrap();
    let error = call(&app, "task_open", json!({ "path": path })).await.unwrap_err();
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.ends_with(message), "{error}");
    assert!(error.hint.is_some(), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_text() {
    check(
        "task.yaml",
        b"\xff\xfe\x00",
        "task_unreadable",
        "cannot be read: it is not UTF-8 text",
    )
    .await;
}

#[tokio::test]
async fn a_file_of_another_kind() {
    check(
        "task.docx",
        b"goal: x",
        "task_extension",
        "its name must end in .yaml, .yml or .json",
    )
    .await;
}

#[tokio::test]
async fn a_file_that_is_not_there() {
    let place = Place::default();
    let app = place.open().await;
    let path = place.work().join("none.yaml");
    let error = call(&app, "task_open", json!({ "path": path })).await.unwrap_err();
    assert_eq!(error.code, "task_unreadable");
    assert!(error.message.ends_with("there is no such file"), "{error}");
}

/// A file that can be read opens, so that it can be put right in the window.
async fn problems(name: &str, content: &str) -> Vec<String> {
    let place = Place::default();
    let app = place.open().await;
    let path = place.work().join(name);
    std::fs::write(&path, content).unwrap();
    let opened = call(&app, "task_open", json!({ "path": path })).await.unwrap();
    assert_eq!(opened["source"], content);
    assert_eq!(opened["folder"], json!(place.work()));
    let problems = opened["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|problem| {
            format!(
                "{}: {}",
                problem["path"].as_str().unwrap(),
                problem["message"].as_str().unwrap()
            )
        })
        .collect()
}

#[tokio::test]
async fn a_text_that_is_not_yaml_has_a_line_and_a_column() {
    let problems = problems("task.yml", "goal: x\ncontext: {}\nexpectedOutput: [\n").await;
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with(": the task is not valid YAML: line "),
        "{problems:?}"
    );
}

#[tokio::test]
async fn a_text_that_is_not_json_has_a_line_and_a_column() {
    let problems = problems("task.json", "{\n  \"goal\": \"x\",\n}").await;
    assert_eq!(
        problems,
        [": the task is not valid JSON: line 3, column 1: trailing comma"]
    );
}

#[tokio::test]
async fn a_list_is_no_task() {
    let problems = problems("task.yaml", "- goal: x\n").await;
    assert_eq!(
        problems,
        [": a task must have a goal and an expectedOutput, but this is a list"]
    );
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once() {
    let task = "goal: ''\ncontext: {}\nexpectedOutput:\n  - path: a.txt\n    description: x\n    criteria: [{ text: y, check: { wrds: {} } }]\n";
    let problems = problems("task.yaml", task).await;
    let places: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.split(": ").next())
        .collect();
    assert_eq!(places, ["goal", "expectedOutput[0].criteria[0].check"]);
}

#[tokio::test]
async fn a_task_that_asks_for_a_folder_elsewhere_is_only_a_request() {
    let problems = problems(
        "task.yaml",
        &format!("{}workingFolder: ../elsewhere\n", support::GREETING),
    )
    .await;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("workingFolder: asks for "), "{problems:?}");
}

#[tokio::test]
async fn a_saved_task_opens_as_it_was_written() {
    let place = Place::default();
    let app = place.open().await;
    let path = place.work().join("task.yaml");
    let source = format!("# A comment stays.\n{}", support::GREETING);
    call(&app, "task_save", json!({ "path": path, "source": source }))
        .await
        .unwrap();
    let opened = call(&app, "task_open", json!({ "path": path })).await.unwrap();
    assert_eq!(opened["source"], json!(source));
    let recent = call(&app, "task_recent", json!(null)).await.unwrap();
    assert_eq!(recent["tasks"][0]["title"], "A greeting");
    assert_eq!(recent["tasks"][0]["path"], json!(path));
}
