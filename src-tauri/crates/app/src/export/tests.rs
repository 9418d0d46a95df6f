//! What is written of a run, and that nothing in a run can change what the page is.

use contract::RunId;
use contract::llm::{Effort, FinishReason, LlmRequest, LlmResponse, Message, ToolChoice, Usage};
use contract::run_state::RunState;
use serde_json::{Value, json};

use super::page::Page;
use super::{calls, steps};

/// A script in a page, a formula in a table, markup, a table's border, a way out of a quotation.
const HOSTILE: &str = "=1+1<script>alert(1)</script>\"'&|\n# *bold* ```\n````";

/// The sample's run, which passed in its second cycle; where a text is to be hostile every one of these fields is.
fn state(hostile: bool) -> RunState {
    let file = include_str!("../../../../../tests/fixtures/run_state/passed.json");
    let mut fixture: Value = serde_json::from_str(file).unwrap();
    if hostile {
        poison(&mut fixture["state"]);
    }
    serde_json::from_value(fixture["state"].take()).unwrap()
}

fn poison(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let words = [
                    "goal",
                    "title",
                    "evidence",
                    "reasoning",
                    "feedback",
                    "description",
                    "name",
                    "text",
                    "message",
                ];
                match value {
                    Value::String(text) if words.contains(&name.as_str()) => HOSTILE.clone_into(text),
                    other => poison(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(poison),
        _ => {}
    }
}

fn page(hostile: bool) -> Page {
    let answer = if hostile { HOSTILE } else { "All of it" };
    let answers = vec![("The answer".to_owned(), answer.to_owned())];
    Page::of(&RunId::new("run-1"), &state(hostile), answers)
}

#[test]
fn a_page_says_the_goal_the_verdict_of_every_criterion_the_steps_and_the_files() {
    let (state, html, markdown) = (
        state(false),
        page(false).html().unwrap(),
        page(false).markdown().unwrap(),
    );
    let header = state.header.as_ref().unwrap();
    let mut said = vec![
        header.title.as_str(),
        "Passed",
        "Cycle 1",
        "Cycle 2",
        "All of it",
        "does not hold",
        "holds",
    ];
    let criteria = header.task.criteria();
    said.extend(criteria.iter().map(|criterion| criterion.text.as_str()));
    let plans = state.cycles.iter().filter_map(|cycle| cycle.plan.as_ref());
    said.extend(
        plans
            .flat_map(|plan| &plan.steps)
            .filter_map(|step| step.name.as_deref()),
    );
    said.extend(state.files.iter().map(|file| file.path.as_str()));
    assert!(said.len() > 15, "{said:?}");
    for words in said {
        // Both escape in their own way what is no plain word.
        let plain = words.split(|sign: char| !sign.is_alphanumeric() && sign != ' ');
        for part in plain.map(str::trim) {
            assert!(html.contains(part), "{part} is not in the page");
            assert!(markdown.contains(part), "{part} is not in the text");
        }
    }
}

#[test]
fn nothing_in_a_run_becomes_part_of_the_page() {
    let html = page(true).html().unwrap();
    assert!(!html.contains("<script"), "a script got into the page");
    assert!(html.contains("&lt;script&gt;"));
    let tags = |html: &str| html.matches('<').count();
    let harmless = page(true).html().unwrap().replace(&*html_escaped(), "x");
    assert_eq!(tags(&html), tags(&harmless), "only the page's own tags are there");
    assert!(
        html.contains("default-src 'none'"),
        "whatever it is, it asks for nothing"
    );
}

fn html_escaped() -> String {
    let signs = HOSTILE.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    signs.replace('"', "&quot;").replace('\'', "&#x27;")
}

#[test]
fn nothing_in_a_run_becomes_markup_of_the_text() {
    let markdown = page(true).markdown().unwrap();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("text")),
            None => {
                // What has a backslash before it is a sign and no markup.
                let plain = line.replace("\\<", "").replace("\\*", "").replace("\\|", "");
                assert!(!plain.contains("<script") && !plain.contains("*bold"), "{line}");
                let borders = plain.matches('|').count();
                assert!(borders == 0 || borders == 4, "a row has three cells: {line}");
            }
        }
    }
    assert_eq!(fence, None, "every quotation ends");
}

#[test]
fn the_table_has_a_row_for_every_step_and_no_formula() {
    let state = state(true);
    let table = steps::table(&state).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let plans = state.cycles.iter().filter_map(|cycle| cycle.plan.as_ref());
    assert_eq!(rows.len(), plans.map(|plan| plan.steps.len()).sum::<usize>());
    assert!(rows.len() > 3);
    for row in &rows {
        assert!(row.iter().all(|cell| !cell.starts_with('=')), "{row:?}");
        assert_eq!(&row[2], format!("'{HOSTILE}"));
    }
    let tokens: u64 = rows.iter().map(|row| row[7].parse::<u64>().unwrap()).sum();
    let steps = state.cycles.iter().flat_map(|cycle| cycle.steps.values());
    assert_eq!(tokens, steps.map(|step| step.tokens_used).sum::<u64>());
}

#[test]
fn the_lines_are_all_attempts_without_what_was_said() {
    let state = state(false);
    let request = LlmRequest {
        system: "Say nothing about the expense files.".to_owned(),
        messages: vec![Message::user("Which expense files are there?")],
        tool_choice: ToolChoice::Tool("look".to_owned()),
        effort: Some(Effort::Low),
        ..LlmRequest::default()
    };
    let response = LlmResponse {
        text: "The expense files are three.".to_owned(),
        tool_uses: Vec::new(),
        finish_reason: FinishReason::MaxTokens,
        usage: Usage::default(),
        model: "small-2026".to_owned(),
        request_id: Some("req_7".to_owned()),
    };
    let shape = |key: &String| (key.clone(), calls::shape(&request, Some(&response)));
    let shapes = state.calls.keys().map(shape).collect();
    let lines = calls::lines(&RunId::new("run-1"), &state, &shapes);
    let read: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        read.len(),
        state.calls.values().map(|call| call.attempts.len()).sum::<usize>()
    );
    assert!(read.len() > 3);
    let used = |line: &Value| {
        line["attempt"]["usage"]["input"].as_u64().unwrap() + line["attempt"]["usage"]["output"].as_u64().unwrap()
    };
    assert_eq!(read.iter().map(used).sum::<u64>(), state.tokens_used);
    assert!(read.iter().all(|line| line["requestBytes"].as_u64().unwrap() > 0));
    for line in read {
        let request = &line["request"];
        assert_eq!(
            (&request["messages"], &request["toolChoice"], &request["effort"]),
            (&json!(1), &json!({ "tool": "look" }), &json!("low"))
        );
        let expected = match line["attempt"]["status"].as_str() {
            Some("success") => json!(["max_tokens", "req_7", "small-2026"]),
            _ => json!([null, null, null]),
        };
        let response = &line["response"];
        assert_eq!(
            json!([response["finishReason"], response["requestId"], response["model"]]),
            expected
        );
    }
    assert!(!lines.contains("expense files"), "no word of what was said");
}
