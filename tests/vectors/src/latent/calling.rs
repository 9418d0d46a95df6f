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
    let seen = case.need_list("expect_messages_seen")?;
    let mut turns = Vec::new();
    match (case.get("turns"), case.get("messages")) {
        (Some(_), _) => {
            for turn in case.need_list("turns")? {
                turns.push(messages(turn)?);
            }
        }
        // A caller who supplies the whole list calls once.
        (None, Some(whole)) => turns.push(messages(whole)?),
        (None, None) => return Err("the case has neither `turns` nor `messages`".to_owned()),
    }
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
            let whole = turn.clone();
            let last = turn.last().map_or("", |message| message.content.as_str());
            let is_one = turn.len() == 1;
            let outcome = match how.split('(').next().unwrap_or_default().trim() {
                "ask" if is_one => session.ask(world, &run, last, &stop).await,
                "run" | "arun" => session.run(world, &run, whole, &stop).await,
                "call" | "callable" | "__call__" | "agent" if is_one => session.call(world, &run, last, &stop).await,
                "stream" => session.stream(world, &run, whole, &stop, |_| {}).await,
                other => {
                    return Err(format!(
                        "nobody knows how to call by {other} with {} messages",
                        turn.len()
                    ));
                }
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

/// What is said in a turn: words of the user, or messages as `{ role, content }` or `role:words`.
fn messages(turn: &Value) -> Result<Vec<ChatMessage>, String> {
    let read = |message: &Value| -> Result<ChatMessage, String> {
        let Some(text) = message.as_str() else {
            return serde_json::from_value(message.clone()).map_err(|error| format!("{message}: {error}"));
        };
        match text.split_once(':') {
            Some((role @ ("user" | "assistant"), words)) => {
                serde_json::from_value(json!({ "role": role, "content": words })).map_err(|error| error.to_string())
            }
            _ => Ok(ChatMessage::user(text)),
        }
    };
    match turn {
        Value::Array(list) => list.iter().map(read).collect(),
        Value::String(words) => Ok(vec![ChatMessage::user(words)]),
        one => Ok(vec![read(one)?]),
    }
}
