//! Guardrails: one rule around a small flow.

use serde_json::{Value, json};

use super::defaults::defaults;
use super::pipeline::{flow_of, guardrail, known};
use crate::case::{Case, Outcome};
use crate::stage::{Played, Stage, Theatre, Throws, block_on, run_of};
use contract::event::RunEvent;
use contract::flow::{BLOCKED, ChatMessage, GuardrailResult};

const ANSWER: &str = "the answer";
const MESSAGE: &str = "the message of the rule";

/// Runs a flow with the case's rule and holds what happened against its words.
pub(crate) fn guardrails(case: &Case) -> Result<Outcome, String> {
    known(
        case.value,
        &[
            "timing",
            "outcome",
            "result",
            "threshold",
            "rule_throws",
            "on_error",
            "rules",
            "message",
            "what",
            "expect",
        ],
    )?;
    let runs = [
        "timing",
        "outcome",
        "result",
        "threshold",
        "rule_throws",
        "on_error",
        "rules",
        "message",
    ];
    if case.is_prose(&runs) {
        return defaults(case);
    }
    let expect = case.need_text("expect")?.to_lowercase();
    if let Some(rules) = case.get("rules") {
        let count = rules.as_u64().ok_or("`rules` is no number")?;
        let says_so = ["concurrent", "at once", "parallel", "together", "simultaneous"];
        if !says_so.iter().any(|word| expect.contains(word)) {
            return Err(format!("nobody knows what \"{expect}\" means"));
        }
        return at_once(count as usize);
    }
    let has_message = case.text("message").is_some();
    let speaks_of_default = expect.contains("default message") || expect.contains(&BLOCKED.to_lowercase());
    let mut rail = case.value.clone();
    for field in [
        "id",
        "authority",
        "note",
        "expect",
        "what",
        "conflict",
        "seed_reading",
        "source",
    ] {
        rail.as_object_mut().map(|rail| rail.remove(field));
    }
    if !has_message {
        rail.as_object_mut().map(|rail| rail.remove("message"));
    }
    if !has_message && !speaks_of_default {
        rail["message"] = json!(MESSAGE);
    }
    if rail.get("result").is_none() && rail.get("rule_throws").is_none() {
        rail["result"] = json!(true);
    }
    let message = rail["message"].as_str().unwrap_or(BLOCKED).to_owned();
    let played = play(&[rail.clone()], Throws::AsError)?;
    let result = results(&played).into_iter().next().ok_or("no guardrail looked")?;
    let is_message = played.outcome.text.as_deref() == Some(message.as_str());
    let is_answer = played.outcome.text.as_deref() == Some(ANSWER) && played.outcome.error.is_none();
    let ran = !played.outcome.phase_history.is_empty();
    let negated = |word: &str| {
        [format!("no {word}"), format!("not {word}"), format!("not a {word}")]
            .iter()
            .any(|negated| expect.contains(negated))
    };
    let mut checked = false;
    let mut check = |holds: bool, what: &str| {
        checked = true;
        if holds {
            Ok(())
        } else {
            Err(format!("{what}: {:?}, {result:?}", played.outcome))
        }
    };
    if expect.contains("violation") {
        let wanted = !negated("violation");
        check(result.violated == wanted, "violated or not")?;
    }
    if expect.contains("blocked") {
        if negated("blocked") {
            check(is_answer, "the answer is given")?;
        } else {
            check(is_message, "the message is the answer")?;
            check(rail["timing"] == "post" || !ran, "nothing ran")?;
        }
    }
    if expect.contains("retracted") {
        if negated("retracted") {
            check(is_answer, "the answer stands")?;
        } else {
            check(
                is_message && ran && was_taken_back(&played),
                "the answer was taken back",
            )?;
        }
    }
    if expect.contains("message") && !expect.contains("no message") && !negated("blocked") {
        check(is_message, "the message is shown")?;
    }
    if speaks_of_default {
        check(is_message, "the default message is shown")?;
    }
    let goes_on = [
        "record",
        "passes",
        "pass through",
        "continues",
        "goes on",
        "proceeds",
        "allowed",
        "ignored",
        "answer kept",
        "answer stands",
        "answer returned",
        "unchanged",
        "delivered",
        "skipped",
        "logged",
        "flagged",
    ];
    if goes_on.iter().any(|word| expect.contains(word)) {
        check(is_answer, "the run goes on")?;
    }
    if ["record", "logged", "flagged"].iter().any(|word| expect.contains(word)) {
        check(result.violated, "the violation is recorded")?;
    }
    if expect.contains("run error") || expect.contains("raise") && !expect.contains("not raise") {
        let error = played.outcome.error.as_ref();
        check(
            error.is_some() && error == result.error.as_ref(),
            "the rule's error ends the run",
        )?;
    }
    if checked {
        Ok(Outcome::Passed)
    } else {
        Err(format!("nobody knows what \"{expect}\" means"))
    }
}

fn play(rails: &[Value], throws: Throws) -> Result<Played, String> {
    let mut stage = Stage::new(throws);
    let flow = json!({
        "phases": [
            { "name": "work", "type": "function", "script": ["work"] },
            { "name": "say", "type": "respond", "returns": ANSWER },
        ],
        "guardrails": rails,
    });
    let (flow, tools) = flow_of(&flow, &mut stage)?;
    block_on(async {
        let theatre = Theatre::open(stage, &tools).await?;
        theatre
            .play(run_of(flow, Value::Null, vec![ChatMessage::user("a question")]))
            .await
    })
}

fn results(played: &Played) -> Vec<GuardrailResult> {
    let judged = played.journal.iter().filter_map(|record| match &record.event {
        RunEvent::GuardrailJudged { result } => Some(result.clone()),
        _ => None,
    });
    judged.collect()
}

fn was_taken_back(played: &Played) -> bool {
    played.journal.iter().any(|record| match &record.event {
        RunEvent::AnswerGiven { instead_of, .. } => {
            instead_of.as_ref().and_then(|text| text.inline.as_ref()) == Some(&json!(ANSWER))
        }
        _ => false,
    })
}

/// Rules of one time wait for each other: were they asked one after the other, none would ever answer.
fn at_once(count: usize) -> Result<Outcome, String> {
    let mut stage = Stage::new(Throws::AsError);
    stage.together(count);
    let mut rails = Vec::new();
    for timing in ["pre", "post"] {
        for _ in 0..count {
            let rail = json!({ "timing": timing, "outcome": "passive", "result": true });
            rails.push(guardrail(&rail, "guard-0", &mut stage)?);
        }
    }
    let flow = json!({
        "id": "pipeline",
        "model": "script:guard-0",
        "steps": [
            { "id": "work", "tool": { "tool": "work" } },
            { "id": "say", "answer": { "text": ANSWER } },
        ],
        "guardrails": rails,
    });
    let flow = serde_json::from_value(flow).map_err(|error| error.to_string())?;
    stage.cast("work", &[json!("work")], false)?;
    block_on(async {
        let theatre = Theatre::open(stage, &[("work".to_owned(), "work".to_owned())]).await?;
        let play = theatre.play(run_of(flow, Value::Null, Vec::new()));
        let patience = std::time::Duration::from_secs(20);
        let played = tokio::time::timeout(patience, play)
            .await
            .map_err(|_| "the rules are not asked at once".to_owned())??;
        if results(&played).len() == 2 * count && played.outcome.text.as_deref() == Some(ANSWER) {
            Ok(Outcome::Passed)
        } else {
            Err(format!("{:?}", played.outcome))
        }
    })
}
