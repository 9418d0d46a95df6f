//! Office files and PDF in a whole run: read by tools, computed from, checked, judged, and shown, through the process that
//! reads them. And what tools say that is not made for anybody to read.

use std::path::PathBuf;

use app::Config;
use contract::evaluation::CriterionVerdict;
use contract::run::StopReason;
use contract::step::StepStatus;
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, Worksheet};
use serde_json::{Value, json};
use support::Place;
use support::script::{Answers, Script, plan, tool};

use crate::task_loop::{PLAN_1, Ran, run_in};

/// The same app, whose documents are read by a process as they are in the window's program.
fn reading(config: Config) -> Config {
    Config {
        keeper: Some(PathBuf::from(env!("CARGO_BIN_EXE_beside"))),
        ..config
    }
}

fn write_rows(sheet: &mut Worksheet, rows: &[(&str, &str, f64)]) {
    let day = Format::new().set_num_format("dd.mm.yyyy");
    for (column, name) in (0..).zip(["day", "category", "amount"]) {
        sheet.write(2, column, name).unwrap();
    }
    sheet.write(0, 0, "Travel expenses").unwrap();
    for (row, (date, category, amount)) in (3..).zip(rows) {
        let date = ExcelDateTime::parse_from_str(date).unwrap();
        sheet.write_with_format(row, 0, &date, &day).unwrap();
        sheet.write(row, 1, *category).unwrap();
        sheet.write(row, 2, *amount).unwrap();
    }
}

/// What an accountant has: a workbook with a title, a month a sheet, and a sheet nobody sees.
fn expenses(place: &Place) {
    let mut book = Workbook::new();
    let may = book.add_worksheet().set_name("May").unwrap();
    write_rows(
        may,
        &[
            ("2026-05-02", "Meals", 12.1),
            ("2026-05-09", "Travel", 1234.56),
            ("2026-05-20", "Meals", 0.2),
        ],
    );
    let june = book.add_worksheet().set_name("June").unwrap();
    write_rows(june, &[("2026-06-01", "Meals", 700.0)]);
    let budget = book.add_worksheet().set_name("Budget").unwrap();
    budget.write(0, 0, "secret").unwrap();
    budget.set_hidden(true);
    book.save(place.work().join("expenses.xlsx")).unwrap();
}

fn task(outputs: &str) -> String {
    format!(
        "goal: Sum the expenses\ncontext: {{ year: 2026 }}\nexpectedOutput: [{outputs}]\nlimits: {{ maxCycles: 1 }}\nmodels: {{ planner: 'scripted:m' }}\n"
    )
}

async fn run(place: Place, task: &str, script: &std::sync::Arc<Script>) -> Ran {
    run_in(place, task, json!({}), script, &Answers::new([]), reading).await
}

/// A plan that asks the workbook and writes the answer.
fn sums() -> Value {
    let sql = "SELECT category, printf('%.2f', SUM(amount)) AS total FROM (SELECT * FROM may UNION ALL SELECT * FROM june) GROUP BY category ORDER BY category";
    let files = json!({ "may": "expenses.xlsx", "june": "expenses.xlsx#June" });
    json!([
        tool(
            "ask",
            "data_query",
            json!({ "files": files, "sql": sql, "as": "csv" }),
            &[]
        ),
        tool(
            "write",
            "file_write",
            json!({ "path": "totals.csv", "content": "{{ask}}" }),
            &["ask"]
        ),
    ])
}

#[tokio::test]
async fn a_workbook_is_summed_and_the_sum_is_checked_against_it() {
    let place = Place::default();
    expenses(&place);
    let script = Script::new([(PLAN_1, plan(sums()))]);
    let check = "{ text: The sums agree, check: { query: { files: { t: totals.csv }, sql: SELECT SUM(total) FROM t, \
        equals: { files: { m: expenses.xlsx, j: 'expenses.xlsx#June' }, \
        sql: 'SELECT (SELECT SUM(amount) FROM m) + (SELECT SUM(amount) FROM j)' } } } }";
    let sheet = "{ text: June has one row, check: { query: { files: { j: 'expenses.xlsx#June' }, \
        sql: SELECT COUNT(*) FROM j, equals: 1 } } }";
    let outputs = format!("{{ path: totals.csv, description: the totals, criteria: [{check}, {sheet}] }}");
    let ran = run(place, &task(&outputs), &script).await;
    let written = std::fs::read_to_string(ran.place.work().join("totals.csv")).unwrap();
    assert_eq!(written, "category,total\nMeals,712.30\nTravel,1234.56\n");
    assert_eq!(ran.verdict_of(0, "totals.csv/0"), CriterionVerdict::Pass);
    assert_eq!(ran.verdict_of(0, "totals.csv/1"), CriterionVerdict::Pass);
    assert_eq!(ran.stop_reason(), StopReason::Passed);
}

#[tokio::test]
async fn the_judge_reads_a_workbook_and_quotes_from_it() {
    let place = Place::default();
    expenses(&place);
    let script = Script::new([(
        PLAN_1,
        plan(json!([tool(
            "read",
            "file_read",
            json!({ "path": "expenses.xlsx" }),
            &[]
        )])),
    )]);
    let outputs = "{ path: expenses.xlsx, description: the expenses, criteria: [Travel cost 1234.56, \
        { text: It is a workbook, check: { format: xlsx } }, \
        { text: Three rows, check: { csv: { sheet: May, rows: { min: 3, max: 3 }, types: { day: date } } } }] }";
    let ran = run(place, &task(outputs), &script).await;
    let shown = script.prompt("cycle/1/judge#0/call/0");
    assert!(shown.contains("| 2026-05-09 | Travel | 1234.56 |"), "{shown}");
    assert!(shown.contains("this sheet is hidden in the workbook"), "{shown}");
    for criterion in 0..3 {
        let verdict = ran.verdict_of(0, &format!("expenses.xlsx/{criterion}"));
        assert_eq!(verdict, CriterionVerdict::Pass, "{criterion}");
    }
    let preview = ran
        .call("file_preview", json!({ "path": "expenses.xlsx" }))
        .await
        .unwrap();
    assert_eq!(preview["kind"], "text");
    assert!(preview["text"].as_str().unwrap().contains("## June"), "{preview}");
}

#[tokio::test]
async fn a_workbook_that_is_none_is_said_to_be_none() {
    let place = Place::default();
    std::fs::write(place.work().join("expenses.xlsx"), b"PK\x03\x04 and then nothing").unwrap();
    let script = Script::new([(
        PLAN_1,
        plan(json!([tool(
            "read",
            "file_read",
            json!({ "path": "expenses.xlsx" }),
            &[]
        )])),
    )]);
    let ran = run(place, &task("{ path: out.md, description: words }"), &script).await;
    assert_eq!(ran.statuses(0), [("read", StepStatus::Failed)]);
    let said = ran.error("read");
    assert!(
        said.contains("it is not a readable office file or ZIP archive"),
        "{said}"
    );
}
