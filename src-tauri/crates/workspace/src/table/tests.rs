use serde_json::json;

use super::*;

fn kinds(text: &str) -> Vec<ColumnKind> {
    Table::from_csv(text)
        .unwrap()
        .columns
        .into_iter()
        .map(|column| column.kind)
        .collect()
}

fn skipped(text: &str) -> Vec<(u64, String)> {
    Table::from_csv(text)
        .unwrap()
        .skipped
        .into_iter()
        .map(|skipped| (skipped.line, skipped.reason))
        .collect()
}

#[test]
fn a_column_is_numbers_only_when_every_value_is() {
    let text = "id,amount,code,day,mixed\n1,12.50,007,2026-07-01,1\n2,-3,012,2026-07-02,n/a\n,,,,\n";
    let expected = [
        ColumnKind::Integer,
        ColumnKind::Number,
        ColumnKind::Text,
        ColumnKind::Text,
        ColumnKind::Text,
    ];
    assert_eq!(kinds(text), expected);
}

#[test]
fn does_not_take_names_for_numbers() {
    for value in [
        "12e4",
        "+5",
        "1.",
        "0x10",
        "inf",
        "NaN",
        "1,5",
        "9007199254740993",
        "1_000",
        "-",
    ] {
        assert_eq!(kinds(&format!("a\n\"{value}\"\n")), [ColumnKind::Text], "{value}");
    }
    for value in ["1.5e-7", "2e+3", "0.5", "-0.5", "1.0"] {
        assert_eq!(kinds(&format!("a\n{value}\n")), [ColumnKind::Number], "{value}");
    }
}

#[test]
fn an_empty_cell_is_null() {
    let table = Table::from_csv("a,b\n1,\n,x\n").unwrap();
    assert_eq!(table.rows[0].cells, [Cell::Integer(1), Cell::Null]);
    assert_eq!(table.rows[1].cells, [Cell::Null, Cell::Text("x".to_owned())]);
}

#[test]
fn reports_each_line_that_does_not_fit_and_keeps_the_rest() {
    let text = "a,b\n1,2\n3\n4,5,6\n7,\"open\n8,9\n";
    let expected = [
        (3, "1 value instead of 2".to_owned()),
        (4, "3 values instead of 2".to_owned()),
        (5, "a quotation mark is never closed".to_owned()),
    ];
    assert_eq!(skipped(text), expected);
    let numbers: Vec<u64> = Table::from_csv(text)
        .unwrap()
        .rows
        .iter()
        .map(|row| row.number)
        .collect();
    assert_eq!(numbers, [2, 6]);
}

#[test]
fn names_columns_that_have_no_name_of_their_own() {
    let table = Table::from_csv("a,,A\n1,2,3\n").unwrap();
    let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a", "column_2", "A_2"]);
}

#[test]
fn says_why_a_text_is_no_table() {
    assert_eq!(Table::from_csv(""), Err("it is empty".to_owned()));
    assert!(Table::from_csv("\"a,b\n1,2\n").is_err());
    assert!(Table::from_json(&json!({"a": 1})).is_err());
    assert!(Table::from_json(&json!([])).is_err());
}

#[test]
fn reads_a_list_of_objects_with_the_columns_in_order_of_appearance() {
    let table = Table::from_json(&json!([{"id": 1, "ok": true}, 7, {"amount": 2.5, "id": 2}])).unwrap();
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.kind))
        .collect();
    assert_eq!(
        columns,
        [
            ("id", ColumnKind::Integer),
            ("ok", ColumnKind::Boolean),
            ("amount", ColumnKind::Number)
        ]
    );
    assert_eq!(table.rows[1].cells, [Cell::Integer(2), Cell::Null, Cell::Number(2.5)]);
    assert_eq!(
        table.skipped,
        [Skipped {
            line: 2,
            reason: "it is not an object".to_owned()
        }]
    );
}

#[test]
fn a_whole_number_looks_the_same_after_the_journal() {
    assert_eq!(Cell::Number(120.0).to_json(), json!(120));
    assert_eq!(Cell::Number(-0.0).to_json(), json!(0));
    assert_eq!(Cell::Number(12.5).to_json(), json!(12.5));
    assert_eq!(Cell::Number(120.0).to_text(), "120");
    assert_eq!(
        Cell::of(&json!(9_007_199_254_740_993_i64)),
        Cell::Text("9007199254740993".to_owned())
    );
}

#[test]
fn reads_a_cell_on_its_own() {
    assert_eq!(Cell::read(" 12.5 "), Cell::Number(12.5));
    assert_eq!(Cell::read("007"), Cell::Text("007".to_owned()));
    assert_eq!(Cell::read(" "), Cell::Null);
}

#[test]
fn a_small_file_cannot_become_a_huge_table() {
    let error = |read: Result<Table, String>| read.unwrap_err();
    let objects = |count: u32| (0..count).map(|number| json!({ format!("k{number}"): 1 })).collect();
    assert_eq!(
        error(Table::from_json(&objects(100_000))),
        "it has more than 2000 columns"
    );
    let mut sparse = vec![(0..2_000).map(|number| (format!("k{number}"), json!(1))).collect()];
    sparse.resize(100_000, json!({}));
    let many_cells = "it has more than 5000000 cells; split it into smaller files";
    assert_eq!(error(Table::from_json(&json!(sparse))), many_cells);
    assert_eq!(
        error(Table::from_csv(&"a,".repeat(300_000))),
        "it has more than 2000 columns"
    );
}
