//! The works: a chain of steps, many at once, a loop of cycles, a flow, large content, and single changes of a file.

use serde_json::{Value, json};
use support::script::{plan_value, thought, tool};

/// How many cycles the loop takes.
const CYCLES: u32 = 3;

/// Says which processes it consists of, and goes on until it may end.
const OWN_COMMAND: &str = "echo begun >> begun; test -e may-end && exit 0; sleep 100000 & \
    printf '%s\\n' $$ $! all > processes; wait";

/// The task of a work.
pub(crate) fn task(work: &str) -> Result<Value, String> {
    let rounds = match work {
        "chain" | "wide" | "large" => 1,
        "cyclic" => CYCLES,
        "write" | "append" | "edit" | "send" => {
            return Ok(json!({
                "goal": "Change it", "context": {}, "expectedOutput": "Words", "models": { "planner": "scripted:m" },
            }));
        }
        "own-command" => {
            let criterion = json!({ "text": "It is right", "check": { "command": OWN_COMMAND } });
            return Ok(json!({
                "goal": "Write it", "models": { "planner": "scripted:m" }, "context": {}, "limits": { "maxCycles": 1 },
                "expectedOutput": [{ "path": "out.txt", "description": "the file", "criteria": [criterion] }],
            }));
        }
        other => return Err(format!("there is no work {other}")),
    };
    let criterion = json!({ "text": "Says the round", "check": { "contains": format!("round {rounds}") } });
    Ok(json!({
        "goal": "Write it", "models": { "planner": "scripted:m" }, "limits": { "maxCycles": CYCLES },
        "context": {}, "expectedOutput": [{ "path": "out.txt", "description": "the rounds", "criteria": [criterion] }],
    }))
}

/// The flow of a work that is one: questions after each other, beside each other and for each of a list, with changes
/// in between.
pub(crate) fn flow(work: &str) -> Option<Value> {
    let ask = |id: &str, prompt: &str| json!({ "id": id, "ask": { "instructions": "", "prompt": prompt } });
    let write = |id: &str, content: &str| {
        let args = json!({ "path": format!("{id}.txt"), "content": content });
        json!({ "id": id, "tool": { "tool": "file_write", "args": args } })
    };
    let group = |id: &str, reads: Value, group: Value| json!({ "id": id, "reads": reads, "group": group });
    let beside = json!([
        ask("one", "One."),
        ask("two", "Two."),
        group(
            "three",
            json!({}),
            json!({ "mode": "sequence", "steps": [ask("think", "Three."), write("third", "{{think}}")] })
        ),
    ]);
    let each = json!([ask("say", "{{item}}"), ask("again", "{{say}}")]);
    (work == "flow").then(|| {
        json!({ "id": "flow", "model": "scripted:m", "steps": [
            ask("a", "Begin."),
            ask("b", "{{a}}"),
            write("kept", "{{b}}"),
            group("beside", json!({}), json!({ "mode": "parallel", "steps": beside })),
            ask("c", "{{a}}"),
            group("each", json!({ "list": ["x", "y", "z"] }), json!({ "mode": "forEach", "items": "{{list}}", "steps": each })),
            write("out", "{{c}}"),
            { "id": "end", "answer": { "text": "done" } },
        ] })
    })
}

/// Which cycle a key is of.
pub(crate) fn cycle_of(key: &str) -> u32 {
    let number = key.split('/').nth(1).unwrap_or_default();
    number.parse().unwrap_or(1)
}

/// The plan of a work in a cycle.
pub(crate) fn plan(work: &str, cycle: u32) -> Value {
    let steps = match work {
        "wide" => wide(),
        "cyclic" => chain(4, cycle),
        "large" => large(),
        "own-command" => vec![write("s", "out.txt", "done\n", &[])],
        "write" => vec![write("s", "target.txt", "new\n", &[])],
        "append" => {
            let args = json!({ "path": "target.txt", "content": "more\n", "mode": "append" });
            vec![tool("s", "file_write", args, &[])]
        }
        "edit" => {
            let args = json!({ "path": "target.txt", "find": "one", "replace": "two and one" });
            vec![tool("s", super::tools::EDIT, args, &[])]
        }
        "send" => vec![tool("s", super::tools::SEND, json!({ "words": "more\n" }), &[])],
        _ => chain(8, cycle),
    };
    plan_value(Value::Array(steps))
}

fn write(id: &str, path: &str, content: &str, dependencies: &[&str]) -> Value {
    tool(
        id,
        "file_write",
        json!({ "path": path, "content": content }),
        dependencies,
    )
}

/// Thoughts and changes in turn, each after the one before.
fn chain(length: u32, cycle: u32) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    for number in 1..length {
        let before: Vec<String> = (number > 1).then(|| format!("s{}", number - 1)).into_iter().collect();
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let id = format!("s{number}");
        steps.push(match number % 2 {
            1 => thought(&id, &before),
            _ => write(&id, &format!("{id}.txt"), &format!("{id} of cycle {cycle}\n"), &before),
        });
    }
    let last = format!("s{}", length - 1);
    steps.push(write("out", "out.txt", &format!("round {cycle}\n"), &[&last]));
    steps
}

/// Thoughts and changes side by side, and one step after them all.
fn wide() -> Vec<Value> {
    let ids: Vec<String> = (1..=10).map(|number| format!("s{number}")).collect();
    let mut steps: Vec<Value> = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        steps.push(match number % 2 {
            0 => thought(id, &[]),
            _ => write(id, &format!("{id}.txt"), &format!("{id}\n"), &[]),
        });
    }
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    steps.push(write("out", "out.txt", "round 1\n", &all));
    steps
}

/// Content that is too large for a row, and that packing does not make small.
fn large() -> Vec<Value> {
    let noise = |seed: u32| {
        let blocks = (0..9_000_u32).map(|number| contract::Hash::of_bytes(format!("{seed} {number}").as_bytes()).0);
        blocks.map(|block| block.replace("sha256:", "")).collect::<String>()
    };
    vec![
        write("a", "large.txt", &noise(1), &[]),
        write("b", "large.txt", &noise(2), &["a"]),
        write("out", "out.txt", "round 1\n", &["b"]),
    ]
}
