//! Writes the recording of the sample that ships with the app. What its models answer is in
//! `prompts/samples/expenses.answers.json`; all else is a run like any other.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool of whoever changes the sample"
)]

use std::path::Path;

#[tokio::main]
async fn main() {
    let recording = support::recorded_sample::record(100).await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prompts/samples/expenses.recording.json");
    let text = serde_json::to_string_pretty(&recording).unwrap() + "\n";
    std::fs::write(&file, text).unwrap();
    println!("{} answers recorded", recording["calls"].as_array().map_or(0, Vec::len));
}
