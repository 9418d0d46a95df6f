use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(source: &str, state: Value, expected: bool) {
    let condition = Condition::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(condition.holds(&state), expected, "{source} in {state}");
}

/// It is wrong, at this character, for a reason with these words.
fn check_error(source: &str, column: usize, words: &str) {
    let Err(error) = Condition::parse(source) else {
        panic!("{source} is outside the grammar")
    };
    assert_eq!(error.place.column, column, "{source}: {error}");
    assert!(error.to_string().contains(words), "{source}: {error}");
}

#[test]
fn a_reference_alone_asks_for_truth() {
    for value in [
        json!(null),
        json!(""),
        json!(0),
        json!(0.0),
        json!(false),
        json!([]),
        json!({}),
    ] {
        check("{{a}}", json!({ "a": value }), false);
    }
    for value in [
        json!("0"),
        json!("false"),
        json!(-1),
        json!(true),
        json!([null]),
        json!({"a": null}),
    ] {
        check("{{a}}", json!({ "a": value }), true);
    }
    check("{{a.b.c}}", json!({}), false);
    check("true", json!({}), true);
    check("false", json!({}), false);
}

#[test]
fn equality_is_strict_by_type() {
    check("{{a}} == 5", json!({"a": 5}), true);
    check("{{a}} == 5", json!({"a": 5.0}), true);
    check("{{a}} == 5", json!({"a": "5"}), false);
    check("{{a}} == '5'", json!({"a": "5"}), true);
    check("{{a}} == true", json!({"a": "true"}), false);
    check("{{a}} == 'true'", json!({"a": true}), false);
    check("{{a}} != 5", json!({"a": "5"}), true);
    check(
        "{{a}} == {{b}}",
        json!({"a": [1, {"x": 2}], "b": [1.0, {"x": 2}]}),
        true,
    );
    check("{{a}} == {{b}}", json!({"a": {"x": 1}, "b": {"x": 1, "y": 1}}), false);
}

#[test]
fn what_is_missing_is_null() {
    check("{{a}} == null", json!({}), true);
    check("{{a}} != null", json!({}), false);
    check("null == {{a.b[3]}}", json!({"a": {"b": []}}), true);
    check("{{a}} == {{b}}", json!({"a": null}), true);
    check("{{a}} == null", json!({"a": 0}), false);
    check("{{a}} == null", json!({"a": "null"}), false);
}

#[test]
fn only_numbers_have_an_order() {
    check("{{a}} > 3", json!({"a": 3.5}), true);
    check("{{a}} > 3", json!({"a": "4"}), true);
    check("{{a}} > 3", json!({"a": "four"}), false);
    check("{{a}} <= 3", json!({"a": "four"}), false);
    for spelled in ["4", " 4.0 ", "+4", "4.", "04", ".4e1"] {
        check("{{a}} > 3", json!({ "a": spelled }), true);
    }
    for none in ["", " ", "four", "4 5", "inf", "NaN", "1e999", "-", "0x10"] {
        check("{{a}} > 3", json!({ "a": none }), false);
    }
    for none in [json!(null), json!(true), json!([1]), json!({}), json!("")] {
        check("{{a}} < 3", json!({ "a": none }), false);
        check("{{a}} >= 0", json!({ "a": none }), false);
    }
    check("{{a}} < 3", json!({}), false);
    check(
        "{{a}} >= {{b}}",
        json!({"a": 9_007_199_254_740_993_i64, "b": 9_007_199_254_740_992_i64}),
        true,
    );
    check(
        "{{a}} <= {{b}}",
        json!({"a": 9_007_199_254_740_993_i64, "b": 9_007_199_254_740_992_i64}),
        false,
    );
    check("-1.5e1<{{a}}", json!({"a": -14}), true);
}

#[test]
fn and_binds_tighter_than_or() {
    for (a, b, c) in [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (0, 1, 1),
        (1, 0, 0),
        (1, 0, 1),
        (1, 1, 0),
        (1, 1, 1),
    ] {
        let state = json!({"a": a, "b": b, "c": c});
        check("{{a}} || {{b}} && {{c}}", state.clone(), a == 1 || b == 1 && c == 1);
        check("{{a}}&&{{b}}||{{c}}", state, a == 1 && b == 1 || c == 1);
    }
}

#[test]
fn operators_between_quotes_are_text() {
    check("{{a}} == 'b && c'", json!({"a": "b && c"}), true);
    check(
        "{{a}} == \"x || y == z\" && {{b}}",
        json!({"a": "x || y == z", "b": 1}),
        true,
    );
    check(r#"{{a}} == "she said \"no\"""#, json!({"a": "she said \"no\""}), true);
    check("{{a}} == \"it's\"", json!({"a": "it's"}), true);
    check("{{a}} == ''", json!({"a": ""}), true);
    check("{{a}} == '{{b}}'", json!({"a": "{{b}}", "b": 1}), true);
}

#[test]
fn a_bare_word_is_a_text() {
    check("{{lang}} == en", json!({"lang": "en"}), true);
    check("{{a}} == 2024-01-31", json!({"a": "2024-01-31"}), true);
    // Numbers as people write them are numbers; an identifier has its quotation marks.
    check("{{a}} == 007", json!({"a": "007"}), false);
    check("{{a}} == \"007\"", json!({"a": "007"}), true);
    check(
        "{{a}} == .5 && {{b}} == 05 && {{c}} == +5",
        json!({"a": 0.5, "b": 5, "c": 5}),
        true,
    );
    check("en == {{lang}}", json!({"lang": "de"}), false);
}

#[test]
fn bare_words_are_one_text_up_to_the_next_sign() {
    check("{{a}} == in review", json!({"a": "in review"}), true);
    check(
        "{{a}} ==  in  review  && {{b}}",
        json!({"a": "in  review", "b": 1}),
        true,
    );
    check("very good == {{a}}", json!({"a": "very good"}), true);
    check("{{a}} == 1 2", json!({"a": "1 2"}), true);
    check("{{a}} != Zürich West || {{b}}", json!({"a": "Zürich West"}), false);
}

#[test]
fn a_name_with_hyphens_has_two_spellings() {
    check("{{fact-check.ok}}", json!({"factCheck": {"ok": true}}), true);
    check("{{factCheck.ok}}", json!({"fact-check": {"ok": true}}), true);
}

#[test]
fn what_is_outside_the_grammar_is_an_error_with_its_place() {
    check_error("!{{a}}", 1, "there is no !");
    check_error("{{a}} && !{{b}}", 10, "there is no !");
    check_error("not {{a}}", 5, "an operator is missing");
    check_error("({{a}} || {{b}}) && {{c}}", 1, "parentheses");
    check_error("{{a}} && ({{b}})", 10, "parentheses");
    check_error("{{a}} = 5", 7, "single =");
    check_error("{{a}} === 5", 7, "there is no ===");
    check_error("{{a}} !== 5", 7, "there is no !==");
    check_error("{{a}} & {{b}}", 7, "single &");
    check_error("{{a}} | {{b}}", 7, "single & or |");
    check_error("{{a}} {{b}}", 7, "an operator is missing");
    check_error("{{a}} == in {{review}}", 13, "an operator is missing");
    check_error("{{a}} == 1 or 2", 12, "\"or\" joins nothing: write ||");
    check_error("{{a}} == b AND c", 12, "write &&");
    check_error("not ready", 1, "\"not\" joins nothing");
    check_error("in review", 1, "alone are only words");
    check_error("{{a}} and {{b}}", 7, "an operator is missing");
    check_error("{{a}} == 1 == 2", 12, "a second ==");
    check_error("{{a}} ==", 9, "ends where");
    check_error("{{a}} && ", 9, "ends where");
    check_error("{{a}} ||", 9, "ends where");
    check_error("== 5", 1, "should stand before ==");
    check_error("{{a}} && || {{b}}", 10, "should stand before ||");
    check_error("{{a}} == == 5", 10, "should stand before ==");
    check_error("", 1, "empty");
    check_error("  ", 1, "empty");
    check_error("approved", 1, "write {{approved}}");
    check_error("5", 1, "5 alone decides nothing");
    check_error("'yes'", 1, "alone decides nothing");
    check_error("'true'", 1, "alone decides nothing");
    check_error("{{a == 5", 1, "unmatched {{");
    check_error("{{a}", 1, "unmatched {{");
    check_error("a}} == 5", 2, "unmatched brace");
    check_error("{a} == 5", 1, "unmatched brace");
    check_error("{{}} == 5", 3, "no name");
    check_error("{{a b}} == 5", 4, "cannot stand there");
    check_error("{{#if a}}", 3, "cannot stand there");
    check_error("{{a}} == 'open", 10, "not closed");
    check_error("{{a}}.b == 5", 6, "an operator is missing");
}

fn side() -> impl Strategy<Value = Side> {
    let name = "[a-z_ä][a-zA-Z0-9_-]{0,6}";
    let segment = prop_oneof![
        name.prop_map(|name| format!(".{name}")),
        (0_usize..20).prop_map(|at| format!("[{at}]"))
    ];
    let path = (name, prop::collection::vec(segment, 0..4))
        .prop_map(|(root, rest)| Path::parse(&(root + &rest.concat())).unwrap());
    prop_oneof![
        path.prop_map(Side::Reference),
        any::<String>().prop_map(|text| Side::Literal(json!(text))),
        any::<i64>().prop_map(|number| Side::Literal(json!(number))),
        any::<f64>().prop_map(|number| Side::Literal(json!(if number.is_finite() { number } else { 0.5 }))),
        any::<bool>().prop_map(|flag| Side::Literal(json!(flag))),
        Just(Side::Literal(Value::Null)),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let comparison = prop_oneof![
        Just(Comparison::Equal),
        Just(Comparison::Unequal),
        Just(Comparison::More),
        Just(Comparison::Less),
        Just(Comparison::AtLeast),
        Just(Comparison::AtMost)
    ];
    let alone = side().prop_map(|side| match side {
        Side::Reference(_) | Side::Literal(Value::Bool(_)) => Test::Truthy(side),
        literal => Test::Compare(literal, Comparison::Unequal, Side::Literal(Value::Null)),
    });
    let test = prop_oneof![
        alone,
        (side(), comparison, side()).prop_map(|(left, comparison, right)| Test::Compare(left, comparison, right))
    ];
    prop::collection::vec(prop::collection::vec(test, 1..4), 1..4).prop_map(|alternatives| Condition { alternatives })
}

proptest! {
    #[test]
    fn a_condition_reads_back_as_it_prints(condition in condition()) {
        let printed = condition.to_string();
        prop_assert_eq!(Condition::parse(&printed).map_err(|error| format!("{printed}: {error}")), Ok(condition));
    }

    #[test]
    fn no_text_makes_the_reader_stumble(text in r#"([{}!=<>&|()'" \\a1.\[\]#-]|true|null|\PC){0,40}"#) {
        if let Ok(condition) = Condition::parse(&text) {
            let again = Condition::parse(&condition.to_string());
            prop_assert_eq!(again, Ok(condition));
        }
    }
}

#[test]
fn a_long_condition_is_read_and_decided_in_one_go() {
    let long = vec!["{{a}} == 1"; 20_000].join(" && ");
    check(&long, json!({"a": 1}), true);
    check(&long.replace("&&", "||"), json!({"a": 2}), false);
}
