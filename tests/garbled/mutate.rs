//! Mutations of what a model says: cut, doubled, shuffled, nested without end, of another type, not JSON at all.

use contract::llm::ToolUse;
use fastrand::Rng;
use serde_json::{Value, json};

/// Deeper than any parser should follow.
const DEEP: usize = 100_000;
const LETTERS: &[&str] = &[
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "\u{1F469}\u{200D}\u{1F467}",
    "\\ud800",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "```",
    "{{a}}",
    "{{a.b[9]}}",
    "%00",
    "\n",
    "é",
    "\u{10ffff}",
    "9e999",
    "-",
    "null",
];

/// Another text.
pub(super) fn text(text: &str, random: &mut Rng) -> String {
    let place = boundary(text, random);
    let other = boundary(text, random);
    let (from, to) = (place.min(other), place.max(other));
    match random.u8(..14) {
        0 => text[..place].to_owned(),
        1 => format!("{}{}", &text[..from], &text[to..]),
        2 => format!("{}{}{}", &text[..to], &text[from..to], &text[to..]),
        3 => format!(
            "{}{}{}",
            &text[..place],
            LETTERS[random.usize(..LETTERS.len())],
            &text[place..]
        ),
        4 => {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random.usize(1..10) {
                let place = random.usize(..bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = random.u8(..);
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
        5 => (0..random.usize(..2_000)).map(|_| random.char(..)).collect(),
        6 if random.u8(..4) == 0 => deep(random),
        7 => String::new(),
        8 => format!("Sure! Here it is:\n```json\n{text}\n```\nAnd also {{}} and {{\"x\": 1}}."),
        9 if random.u8(..10) == 0 => format!("{{\"a\": \"{}\"}}", "x".repeat(1_000_000)),
        _ => match serde_json::from_str(text) {
            Ok(mut parsed) => {
                for _ in 0..random.usize(1..4) {
                    value(&mut parsed, random);
                }
                parsed.to_string()
            }
            Err(_) => text.chars().rev().collect(),
        },
    }
}

/// Nesting without end.
fn deep(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => "[".repeat(DEEP),
        1 => "{\"a\":".repeat(DEEP),
        2 => format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
        _ => format!("{}1{}", "{\"steps\":[".repeat(DEEP / 2), "]}".repeat(DEEP / 2)),
    }
}

fn boundary(text: &str, random: &mut Rng) -> usize {
    let mut place = random.usize(..=text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// Changes one place in a value.
pub(super) fn value(value: &mut Value, random: &mut Rng) {
    match value {
        Value::Object(map) if !map.is_empty() && random.u8(..5) > 0 => {
            let key = map.keys().nth(random.usize(..map.len())).cloned().unwrap_or_default();
            match random.u8(..6) {
                0 => {
                    map.remove(&key);
                }
                1 => {
                    let kept = map.remove(&key).unwrap_or_default();
                    map.insert(format!("{key}s"), kept);
                }
                2 => {
                    map.insert("unexpected".to_owned(), strange(random));
                }
                _ => {
                    if let Some(inside) = map.get_mut(&key) {
                        self::value(inside, random);
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() && random.u8(..5) > 0 => {
            let place = random.usize(..items.len());
            match random.u8(..5) {
                0 => {
                    items.remove(place);
                }
                1 => {
                    let twice = items[place].clone();
                    items.push(twice);
                }
                2 => random.shuffle(items),
                _ => self::value(&mut items[place], random),
            }
        }
        Value::String(text) if random.bool() => {
            let place = boundary(text, random);
            text.insert_str(place, LETTERS[random.usize(..LETTERS.len())]);
        }
        _ => *value = strange(random),
    }
}

/// A value that nobody asked for.
fn strange(random: &mut Rng) -> Value {
    match random.u8(..12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!(0.1 + 0.2),
        6 => json!([]),
        7 => json!({}),
        8 => json!([[[[[[[[[[{ "a": [{}] }]]]]]]]]]]),
        9 => json!("../../etc/passwd"),
        10 => json!("a".repeat(random.usize(..5_000))),
        _ => json!({ "": { "__proto__": null, "{{a}}": "{{a}}" } }),
    }
}

/// Other calls of tools.
pub(super) fn calls(calls: &[ToolUse], random: &mut Rng) -> Vec<ToolUse> {
    let mut calls = calls.to_vec();
    match random.u8(..4) {
        0 => calls.clear(),
        1 => calls.extend(calls.clone()),
        2 => calls.iter_mut().for_each(|call| call.name = "teleport".to_owned()),
        _ => calls.iter_mut().for_each(|call| call.id = String::new()),
    }
    calls
}
