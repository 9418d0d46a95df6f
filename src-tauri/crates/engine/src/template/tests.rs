use contract::flow::camel_case;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(source: &str, state: Value, expected: &str) {
    let template = Template::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(template.render(&state).unwrap(), expected, "{source} in {state}");
}

fn check_error(source: &str, line: usize, column: usize, words: &str) {
    let Err(error) = Template::parse(source) else {
        panic!("{source} is outside the grammar")
    };
    assert_eq!(error.place, Place { line, column }, "{source}: {error}");
    assert!(error.to_string().contains(words), "{source}: {error}");
}

fn check_mapping(map: Value, state: Value, expected: Value) {
    let mapping = Mapping::parse(&map).unwrap_or_else(|errors| panic!("{map}: {errors:?}"));
    assert_eq!(mapping.value(&state).unwrap(), expected, "{map} in {state}");
}

#[test]
fn puts_in_what_a_path_leads_to() {
    check(
        "{{a}} and {{ b.c[1].d }}",
        json!({"a": "X", "b": {"c": [0, {"d": "Y"}]}}),
        "X and Y",
    );
    check("{{a.0.b}}", json!({"a": [{"b": 7}]}), "7");
    check("{{größe}} {{naïve.x}}", json!({"größe": "L", "naïve": {"x": 1}}), "L 1");
    check("no reference", json!({}), "no reference");
    check("", json!({}), "");
}

#[test]
fn prints_each_kind_of_value_in_its_way() {
    let state =
        json!({"n": null, "t": "x", "f": false, "z": 0, "d": 0.5, "l": [1, "b", null], "o": {"k": {"v": 1}}, "e": []});
    check("[{{n}}]", state.clone(), "[]");
    check("[{{missing}}{{t.x}}{{l[9]}}{{o.k.v.w}}]", state.clone(), "[]");
    check("{{t}} {{f}} {{z}} {{d}}", state.clone(), "x false 0 0.5");
    check("{{l}} {{o}} {{e}}", state, "[1,\"b\",null] {\"k\":{\"v\":1}} []");
    // 1 and 1.0 are one number, so that they read alike.
    let whole = json!({"a": 1.0, "b": -0.0, "c": [2.0, 0.25], "d": 1e20, "e": 1e21, "f": -3.0});
    check(
        "{{a}} {{b}} {{c}} {{d}} {{e}} {{f}}",
        whole,
        "1 0 [2,0.25] 100000000000000000000 1e+21 -3",
    );
}

#[test]
fn what_was_put_in_is_never_looked_at_again() {
    check(
        "{{x}}",
        json!({"x": "{{y}} {{#if y}}z{{/if}} \\{{", "y": "deep"}),
        "{{y}} {{#if y}}z{{/if}} \\{{",
    );
    check(
        "price $& {{x}} \\n",
        json!({"x": "$1 <b>&amp;</b>"}),
        "price $& $1 <b>&amp;</b> \\n",
    );
}

#[test]
fn a_backslash_keeps_braces_as_text() {
    check(
        r"\{{ \}} {{name}} \}} \\}}",
        json!({"name": "Ana"}),
        r"{{ }} Ana }} \}}",
    );
    check(
        "write \\{{name}} for {{name}}",
        json!({"name": "Ana"}),
        "write {{name}} for Ana",
    );
}

#[test]
fn an_example_of_json_is_text() {
    check(
        "Answer {\"a\": {\"b\": 1}} for {{x}}",
        json!({"x": 1}),
        "Answer {\"a\": {\"b\": 1}} for 1",
    );
    check("{\"k\":{{x}}}", json!({"x": [1]}), "{\"k\":[1]}");
    check("{{{x}}}", json!({"x": 1}), "{1}");
}

#[test]
fn a_block_prints_when_its_test_holds() {
    let on = "Start {{#if feedback}}Feedback: {{feedback}}{{/if}} End";
    check(on, json!({"feedback": "ok"}), "Start Feedback: ok End");
    for none in [json!(null), json!(""), json!(0), json!(false), json!([]), json!({})] {
        check(on, json!({ "feedback": none }), "Start  End");
    }
    check(on, json!({}), "Start  End");
    check(
        "{{#if lang == en}}y{{/if}}{{#if lang != en}}n{{/if}}",
        json!({"lang": "en"}),
        "y",
    );
    check("{{#if a == 1}}y{{/if}}", json!({"a": "1"}), "");
    check("{{#if a == '1'}}y{{/if}}", json!({"a": "1"}), "y");
    check("{{#if a == 'x }} y'}}y{{/if}}", json!({"a": "x }} y"}), "y");
    check("{{#if a == b}}y{{/if}}", json!({"a": "b", "b": "zzz"}), "y");
    check("{{#if a == null}}y{{/if}}{{#if a != null}}n{{/if}}", json!({}), "y");
    check("{{#if a != true}}y{{/if}}", json!({"a": "true"}), "y");
    check("{{#if a.b[0]==-2.5}}y{{/if}}", json!({"a": {"b": [-2.5]}}), "y");
    check("{{#if a}}\n{{/if}}", json!({"a": "0"}), "\n");
}

#[test]
fn blocks_nest() {
    for (a, b) in [(true, true), (true, false), (false, true), (false, false)] {
        let expected = match (a, b) {
            (true, true) => "<AB>.",
            (true, false) => "<A>.",
            (false, _) => ".",
        };
        check(
            "{{#if a}}<A{{#if b}}B{{/if}}>{{/if}}.",
            json!({"a": a, "b": b}),
            expected,
        );
    }
}

#[test]
fn names_the_place_of_what_is_wrong() {
    check_error("Hello {{name", 1, 7, "unmatched {{");
    check_error("Hello {{name} and {{b}}", 1, 7, "unmatched {{");
    check_error("Hello name}}", 1, 11, "unmatched }}");
    check_error("one\n  two {{#if a}}", 2, 7, "unmatched {{#if}}");
    check_error("{{#if a}}{{#if b}}{{/if}}", 1, 1, "unmatched {{#if}}");
    check_error("ä{{/if}}", 1, 2, "unmatched {{/if}}");
    check_error("{{}}", 1, 3, "no name");
    check_error("{{ a b }}", 1, 5, "cannot stand there");
    check_error("{{a..b}}", 1, 5, "cannot stand there");
    check_error("{{a.}}", 1, 5, "should follow");
    check_error("{{a[x]}}", 1, 4, "no position");
    check_error("{{a[1}}", 1, 4, "nothing closes");
    check_error("{{[1]}}", 1, 3, "cannot stand there");
    check_error("{{a[1]b}}", 1, 7, "cannot stand there");
    check_error("{{#each a}}", 1, 1, "only block");
    check_error("{{#iffy}}", 1, 1, "only block");
    check_error("{{#if a}}{{/each}}", 1, 10, "{{/if}}");
    check_error("{{#if a}}x{{else}}y{{/if}}", 1, 11, "no {{else}}");
    check_error("{{#if}}", 1, 1, "write {{#if path}}");
    check_error("{{#if a ==}}", 1, 11, "must follow");
    check_error("{{#if a == b and c}}", 1, 14, "joins nothing: write &&");
    check_error("{{#if a > 1}}", 1, 9, "== or != only");
    check_error("{{#if a == 1 && b}}", 1, 14, "with signs in it");
    check_error("{{#if a && b}}", 1, 9, "== or != only");
    check_error("{{#if {{a}}}}", 1, 1, "unmatched {{");
}

#[test]
fn a_lone_reference_keeps_its_type_in_a_mapping() {
    let state = json!({"a": {"x": 1}, "z": 0, "t": "5", "n": null, "l": [1]});
    check_mapping(
        json!({"a": "{{ a }}", "z": "{{z}}", "t": "{{t}}", "n": "{{n}}", "m": "{{no.such}}", "l": "{{l}}"}),
        state.clone(),
        json!({"a": {"x": 1}, "z": 0, "t": "5", "n": null, "m": null, "l": [1]}),
    );
    check_mapping(
        json!([" {{a}}", "v={{missing}}", "{{z}}{{t}}", "{{a.x}} {{l}}"]),
        state,
        json!([" {\"x\":1}", "v=", "05", "1 [1]"]),
    );
}

#[test]
fn mappings_nest_and_keep_what_is_no_text() {
    check_mapping(
        json!({"s": {"w": ["{{a}}", {"d": "{{a}}!"}], "k": 1}, "n": 2.5, "b": true, "z": null, "e": [], "{{a}}": "\\{{a}}"}),
        json!({"a": "A"}),
        json!({"s": {"w": ["A", {"d": "A!"}], "k": 1}, "n": 2.5, "b": true, "z": null, "e": [], "{{a}}": "{{a}}"}),
    );
    check_mapping(json!("{{a}}"), json!({"a": [1]}), json!([1]));
}

#[test]
fn a_mapping_has_no_blocks_and_names_every_wrong_text() {
    let Err(errors) = Mapping::parse(&json!({"a": ["ok", "{{#if a}}x{{/if}}"], "b": {"c": "{{x"}})) else {
        panic!("two texts are wrong")
    };
    let paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["a[1]", "b.c"]);
    assert!(errors[0].to_string().contains("for texts"), "{}", errors[0]);
}

#[test]
fn names_what_it_refers_to() {
    let template = Template::parse("{{a.b}} {{#if c == 1}}{{a.b}}{{/if}}").unwrap();
    let names: Vec<_> = template
        .references()
        .map(|reference| reference.path.to_string())
        .collect();
    assert_eq!(names, ["a.b", "c", "a.b"]);
    let mapping = Mapping::parse(&json!({"x": ["{{a[1].b}}", {"y": "{{c}}{{d}}"}]})).unwrap();
    let found = mapping.references();
    let found: Vec<_> = found
        .iter()
        .map(|(at, reference)| format!("{at}={}", reference.path))
        .collect();
    assert_eq!(found, ["x[0]=a[1].b", "x[1].y=c", "x[1].y=d"]);
}

#[test]
fn only_a_hyphen_before_a_small_letter_folds() {
    for (id, key) in [
        ("web-researcher", "webResearcher"),
        ("a-1-b", "a-1B"),
        ("a--b", "a-B"),
        ("a-", "a-"),
        ("-a", "A"),
        ("x-Ä", "x-Ä"),
    ] {
        assert_eq!(camel_case(id), key);
    }
    check(
        "{{web-researcher.x}} {{webResearcher.x}}",
        json!({"webResearcher": {"x": 1}}),
        "1 1",
    );
    check(
        "{{web-researcher.x}} {{webResearcher.x}}",
        json!({"web-researcher": {"x": 1}}),
        "1 1",
    );
    check(
        "{{outputs.web-researcher}}",
        json!({"outputs": {"webResearcher": 1}}),
        "1",
    );
}

#[test]
fn only_ids_have_two_spellings_and_names_in_data_have_one() {
    for (reference, data) in [
        ("a.isAdmin", json!({"is-admin": true})),
        ("a.is-admin", json!({"isAdmin": true})),
    ] {
        let state = json!({"a": data, "outputs": {"a": data}});
        check(&format!("{{{{{reference}}}}}"), state.clone(), "");
        check(&format!("{{{{outputs.{reference}}}}}"), state.clone(), "");
        let condition = crate::condition::Condition::parse(&format!("{{{{{reference}}}}} == true")).unwrap();
        assert!(!condition.holds(&state), "{reference}");
    }
    check("{{a-b}}", json!({"aB": 1, "a-b": 2}), "2");
}

#[test]
fn many_blocks_inside_each_other_need_no_deep_stack() {
    let depth = 100_000;
    let source = format!("{}x{}", "{{#if a}}".repeat(depth), "{{/if}}".repeat(depth));
    check(&source, json!({"a": 1}), "x");
    check(&source, json!({"a": 0}), "");
}

#[test]
fn a_short_text_cannot_become_a_huge_one() {
    let state = json!({"a": "x".repeat(LARGEST / 4)});
    let wide = Template::parse(&"{{a}}".repeat(5)).unwrap();
    assert!(wide.render(&state).unwrap_err().message.contains("larger than 64 MB"));
    for map in [
        json!(["{{a}}", "{{a}}", "{{a}}", ["{{a}}"], {"b": "{{a}}"}]),
        json!(["{{a}}!", "{{a}}!", "{{a}}!", "{{a}}!"]),
    ] {
        assert!(Mapping::parse(&map).unwrap().value(&state).is_err());
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_stumble(text in r"([{}#/if a.=!'\\\[\]0]|\{\{|\}\}|\{\{#if a\}\}|\{\{/if\}\}|\PC){0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let rendered = template.render(&json!({"a": "v"}));
            prop_assert!(rendered.is_ok());
        }
        let _ = Template::parse_value(&text);
    }

    #[test]
    fn a_text_without_braces_stays_as_it_is(text in "[^{}]{0,60}") {
        prop_assert_eq!(Template::parse(&text).unwrap().render(&json!({})).unwrap(), text);
    }

    #[test]
    fn any_value_comes_through_a_lone_reference_as_it_is(text in ".*", number in any::<i64>()) {
        let state = json!({"a": {"text": text, "list": [number, null]}});
        prop_assert_eq!(Mapping::parse(&json!("{{a}}")).unwrap().value(&state).unwrap(), state["a"].clone());
    }
}
