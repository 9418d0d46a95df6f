//! Calling conventions: what the flow hears of a conversation.

use contract::flow::ChatMessage;
use engine::flow::session::Session;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::pipeline::{flow_of, known};
use crate::case::{Case, Outcome};
use crate::expect::equal;
use crate::stage::{Stage, Theatre, Throws, block_on, header, run_of, words_of};

/// Calls a flow as the case says, turn by turn.
pub(crate) fn calling_conventions(case: &Case) -> Result<Outcome, String> {
    known(
        case.value,
        &["how", "turns", "messages", "expect_messages_seen", "expect"],
    )?;
    let how = case.need_text("how")?.to_lowercase();
    let turns: Vec<&str> = case.need_list("turns")?.iter().filter_map(Value::as_str).collect();
    let seen = case.need_list("expect_messages_seen")?;
    let mut stage = Stage::new(Throws::AsPanic);
    let lines: Vec<Value> = (1..=turns.len()).map(|n| json!(format!("<answer {n}>"))).collect();
    let flow = json!({ "phases": [
        { "name": "say", "type": "prompt", "script": lines },
        { "name": "answer", "type": "respond", "returns": "{{outputs.say}}" },
    ] });
    let (flow, tools) = flow_of(&flow, &mut stage)?;
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        let mut session = Session::new(header(run_of(flow, Value::Null, Vec::new())));
        let stop = CancellationToken::new();
        for turn in &turns {
            let (world, run) = (theatre.world(), theatre.new_run());
            let whole = vec![ChatMessage::user(*turn)];
            let outcome = match how.as_str() {
                "ask" => session.ask(world, &run, turn, &stop).await,
                "run" => session.run(world, &run, whole, &stop).await,
                "call" | "callable" | "__call__" | "agent(...)" | "agent()" => {
                    session.call(world, &run, turn, &stop).await
                }
                "stream" => session.stream(world, &run, whole, &stop, |_| {}).await,
                other => return Err(format!("nobody knows how to call by {other}")),
            };
            let outcome = outcome.map_err(|halt| format!("the drive halted: {halt:?}"))?;
            if let Some(error) = outcome.error {
                return Err(format!("the flow failed: {error}"));
            }
        }
        let heard: Vec<Value> = theatre
            .stage()
            .asked()
            .iter()
            .map(|request| json!(words_of(request)))
            .collect();
        equal("expect_messages_seen", &Value::from(seen.clone()), &Value::Array(heard))?;
        Ok(Outcome::Passed)
    })
}
