//! P10: how many characters a task of two cycles sends, on two files of about 60 kB each.
//!
//! The model is scripted: it plans six steps, writes the same texts each time, finds fault with the first cycle and
//! none with the second. What is counted is all that it is sent. The engine that the bound was taken from sends
//! 4.5 million characters for the same task.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::Failed;
use crate::engines::Programs;
use crate::figures::Figure;
use crate::report::{Must, Row};
use crate::server::{Reply, Server};

/// What the second cycle finds out: results that are the same are not judged again.
const JULY: &str = "In July most went to travel.";

/// The size of each file, in bytes.
const FILE: usize = 60_000;
/// What the reference sends.
const REFERENCE: f64 = 4_500_000.0;
/// What the report is to say in the end.
const REPORT: &str = "# Totals\n\nTravel grew, software fell, and two expenses have no receipt.\n";

/// Carries the task out once; nothing in it depends on time.
pub async fn measure(programs: &Programs) -> Result<Vec<Row>, Failed> {
    let folder = tempfile::tempdir().map_err(|error| Failed::at("a folder for the task", error))?;
    let path = folder
        .path()
        .canonicalize()
        .map_err(|error| Failed::at("the folder", error))?;
    let (work, data) = (path.join("work"), path.join("data"));
    let task = lay_out(&work, &path).map_err(|error| Failed::at("the files of the task", error))?;
    let server = Server::start(Duration::ZERO, script()).await?;
    let done = Command::new(&programs.tepa)
        .args([
            "run",
            "--yes",
            "--json",
            "--model",
            "bench",
            "--url",
            &server.url,
            "--folder",
        ])
        .arg(&work)
        .arg(&task)
        .env("TEPA_DATA_DIR", &data)
        .output()
        .await
        .map_err(|error| Failed::at("tepa run", error))?;
    let report = std::fs::read_to_string(work.join("report.md")).unwrap_or_default();
    let said = String::from_utf8_lossy(&done.stdout);
    if !done.status.success() || report != format!("{REPORT}{JULY}") {
        let last = said.lines().last().unwrap_or_default();
        return Err(Failed(format!(
            "the task did not come to its end: {}: {last}",
            done.status
        )));
    }
    let cycles = said.lines().filter(|line| line.contains("\"cycleStarted\"")).count();
    if cycles != 2 {
        return Err(Failed(format!("the task took {cycles} cycles and not two")));
    }
    let sent = server.characters() as f64;
    Ok(vec![
        Row::beside("P10", "characters sent by the reference", Figure::of([REFERENCE]), ""),
        Row::must(
            "P10",
            format!("characters sent, in {} calls", server.steps().len()),
            Figure::of([sent]),
            "",
            Must::AtMost(REFERENCE / 20.0),
        ),
    ])
}

/// The two files in the folder of the task, and the task's own file.
fn lay_out(work: &Path, path: &Path) -> std::io::Result<std::path::PathBuf> {
    std::fs::create_dir_all(work)?;
    for (name, seed) in [("july.csv", 7), ("august.csv", 8)] {
        std::fs::write(work.join(name), table(seed))?;
    }
    let task = path.join("task.json");
    let value = json!({
        "goal": "Look through the expenses of two months and say what stands out",
        "context": {}, "expectedOutput": [{
            "path": "report.md",
            "description": "A short report",
            "criteria": ["Says where spending changed most"],
        }],
        "maxTokens": 10_000_000,
    });
    std::fs::write(&task, value.to_string())?;
    Ok(task)
}

fn table(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = "id,date,employee,category,merchant,amount,receipt\n".to_owned();
    let mut id = 1;
    while text.len() < FILE {
        let category = ["travel", "meals", "software", "hardware"][random.usize(..4)];
        let line = format!(
            "{id},2026-0{seed}-{:02},Employee {},{category},Merchant {},{}.{:02},{}\n",
            random.u8(1..=28),
            random.u8(1..40),
            random.u8(1..90),
            random.u16(1..900),
            random.u8(..100),
            random.bool()
        );
        text.push_str(&line);
        id += 1;
    }
    text
}

/// Answers by what is asked for: a plan, a judgement, or a text.
fn script() -> Reply {
    let judged = AtomicU32::new(0);
    Arc::new(move |body: &Value| {
        let shape = &body["response_format"]["json_schema"]["schema"]["properties"];
        if shape.get("steps").is_some() {
            let told = body["messages"].to_string();
            return plan(told.contains("This is a revision")).to_string();
        }
        if shape.get("verdict").is_some() {
            return judgement(judged.fetch_add(1, Ordering::Relaxed)).to_string();
        }
        let asked = body["messages"].to_string();
        if asked.contains("Write the report") {
            let more = if asked.contains(JULY) { JULY } else { "" };
            return format!("{REPORT}{more}");
        }
        if asked.contains("with its numbers") {
            return JULY.to_owned();
        }
        "Travel grew by a third and software fell; two expenses have no receipt.".to_owned()
    })
}

fn plan(revised: bool) -> Value {
    let step = |id: &str, name: &str, description: &str, tools: Value, dependencies: Value, args: Value| {
        json!({
            "id": id, "name": name, "description": description, "tools": tools, "expectedOutcome": "What it says",
            "dependencies": dependencies, "tier": "low", "args": args,
        })
    };
    let look = match revised {
        true => "Say what stands out in July, with its numbers",
        false => "Say what stands out in July",
    };
    json!({
        "reasoning": "Both months are read, looked at, and put together.",
        "estimatedTokens": 50_000,
        "steps": [
            step("step_1", "Read July", "Read the expenses of July", json!(["file_read"]), json!([]),
                json!({ "file_read": { "path": "july.csv" } })),
            step("step_2", "Read August", "Read the expenses of August", json!(["file_read"]), json!([]),
                json!({ "file_read": { "path": "august.csv" } })),
            step("step_3", "Look at July", look, json!([]), json!(["step_1"]), json!({})),
            step("step_4", "Look at August", "Say what stands out in August", json!([]), json!(["step_2"]), json!({})),
            step("step_5", "Write it up", "Write the report from both", json!([]),
                json!(["step_1", "step_2", "step_3", "step_4"]), json!({})),
            step("step_6", "Keep the report", "Write the report to its file", json!(["file_write"]), json!(["step_5"]),
                json!({ "file_write": { "path": "report.md", "content": "{{step_5}}" } })),
        ],
    })
}

fn judgement(number: u32) -> Value {
    let criterion = |id: &str, verdict: &str| json!({ "id": id, "verdict": verdict, "evidence": "Travel grew" });
    let criteria = |verdict: &str| json!([criterion("report.md/0", verdict), criterion("goal", verdict)]);
    match number {
        0 => json!({
            "verdict": "fail", "confidence": 0.9, "feedback": "Say more about July.", "criteria": criteria("fail"),
        }),
        _ => json!({
            "verdict": "pass", "confidence": 0.9, "summary": "The report is there.", "criteria": criteria("pass"),
        }),
    }
}
