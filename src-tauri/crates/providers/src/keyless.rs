//! What a server answers, without the key: a server may repeat it in an answer as well as in a refusal, and an answer is
//! kept and shown.

use std::sync::{Mutex, PoisonError};

use contract::llm::{Delta, LlmAttempt, LlmResponse, ModelInfo, ToolUse};
use contract::ports::provider::Sink;
use secrecy::SecretString;
use serde_json::Value;

use crate::redact::Forms;

/// Takes the key out of what arrives. The end of a piece is held back while it may be the beginning of the key.
pub(crate) struct Keyless<'a> {
    sink: &'a dyn Sink,
    forms: Forms,
    held: Mutex<Option<Delta>>,
}

impl<'a> Keyless<'a> {
    /// Passes on to this sink what is no part of this key.
    pub(crate) fn new(sink: &'a dyn Sink, key: Option<&SecretString>) -> Self {
        Self {
            sink,
            forms: Forms::of(key),
            held: Mutex::default(),
        }
    }

    /// The whole answer. What was held back is passed on before.
    pub(crate) fn answer(&self, answer: LlmResponse) -> LlmResponse {
        if let Some(held) = self.take() {
            self.sink.delta(held);
        }
        if self.forms.is_empty() {
            return answer;
        }
        let clean = |text: String| self.forms.without(&text);
        LlmResponse {
            text: clean(answer.text),
            model: clean(answer.model),
            request_id: answer.request_id.map(clean),
            tool_uses: answer.tool_uses.into_iter().map(|call| self.call(call)).collect(),
            ..answer
        }
    }

    fn call(&self, call: ToolUse) -> ToolUse {
        ToolUse {
            id: self.forms.without(&call.id),
            name: self.forms.without(&call.name),
            input: clean_value(&self.forms, call.input),
            carried: call.carried.map(|carried| clean_value(&self.forms, carried)),
            ..call
        }
    }

    fn take(&self) -> Option<Delta> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A list of models without the key.
pub(crate) fn clean_models(models: Vec<ModelInfo>, key: Option<&SecretString>) -> Vec<ModelInfo> {
    let forms = Forms::of(key);
    let clean = |model: ModelInfo| ModelInfo {
        id: forms.without(&model.id),
        description: model.description.map(|words| forms.without(&words)),
        ..model
    };
    models.into_iter().map(clean).collect()
}

fn clean_value(forms: &Forms, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(forms.without(&text)),
        Value::Array(values) => values.into_iter().map(|value| clean_value(forms, value)).collect(),
        Value::Object(fields) => {
            let clean = |(name, value): (String, Value)| (forms.without(&name), clean_value(forms, value));
            fields.into_iter().map(clean).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn text_of(delta: &mut Delta) -> Option<&mut String> {
    match delta {
        Delta::Text { text } | Delta::Reasoning { text } | Delta::ToolArguments { text } => Some(text),
        Delta::Restart => None,
    }
}

impl Sink for Keyless<'_> {
    fn delta(&self, mut delta: Delta) {
        if self.forms.is_empty() {
            return self.sink.delta(delta);
        }
        let is_same = |held: &Delta| std::mem::discriminant(held) == std::mem::discriminant(&delta);
        let mut held = match self.take() {
            Some(held) if !is_same(&held) && delta != Delta::Restart => {
                self.sink.delta(held);
                None
            }
            held => held,
        };
        let Some(text) = text_of(&mut delta) else {
            // What was held back no longer counts.
            return self.sink.delta(delta);
        };
        if let Some(before) = held.as_mut().and_then(text_of) {
            text.insert_str(0, before);
        }
        let mut clean = self.forms.without(text);
        let end = clean.split_off(clean.len() - self.forms.begun(&clean));
        if !end.is_empty() {
            let mut kept = delta.clone();
            if let Some(text) = text_of(&mut kept) {
                *text = end;
            }
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
        if clean.is_empty() {
            return;
        }
        if let Some(text) = text_of(&mut delta) {
            *text = clean;
        }
        self.sink.delta(delta);
    }

    fn attempt(&self, attempt: LlmAttempt) {
        self.sink.attempt(attempt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::REMOVED;
    use crate::testing::Heard;

    const CANARY: &str = "sk-canary-93d1a7b2c4e8";

    fn said(heard: &Heard) -> String {
        let mut all = String::new();
        for mut delta in heard.deltas() {
            all.push_str(text_of(&mut delta).map_or("|", |text| text));
        }
        all
    }

    #[test]
    fn a_key_in_pieces_is_taken_out_wherever_it_was_cut() {
        let words = format!("it is {CANARY}, as you see: sk");
        for cut in 0..=words.len() {
            let (heard, key) = (Heard::default(), SecretString::from(CANARY));
            let keyless = Keyless::new(&heard, Some(&key));
            for piece in [&words[..cut], &words[cut..]] {
                keyless.delta(Delta::Text { text: piece.to_owned() });
            }
            keyless.answer(answer());
            assert_eq!(said(&heard), format!("it is {REMOVED}, as you see: sk"), "cut at {cut}");
        }
    }

    #[test]
    fn what_is_held_back_comes_before_what_is_of_another_kind_and_never_after_a_restart() {
        let (heard, key) = (Heard::default(), SecretString::from(CANARY));
        let keyless = Keyless::new(&heard, Some(&key));
        keyless.delta(Delta::Reasoning { text: "ask".to_owned() });
        keyless.delta(Delta::Text {
            text: "a sk-".to_owned(),
        });
        keyless.delta(Delta::Restart);
        keyless.delta(Delta::Text { text: "b".to_owned() });
        assert_eq!(said(&heard), "aska |b");
    }

    fn answer() -> LlmResponse {
        let input = serde_json::json!({ CANARY: ["x", CANARY, 1] });
        LlmResponse {
            text: format!("Bearer {CANARY}"),
            tool_uses: vec![ToolUse {
                id: CANARY.to_owned(),
                name: CANARY.to_owned(),
                input: input.clone(),
                carried: Some(input),
                made_by: None,
            }],
            finish_reason: contract::llm::FinishReason::ToolUse,
            usage: contract::llm::Usage::default(),
            model: format!("m-{CANARY}"),
            request_id: Some(CANARY.to_owned()),
        }
    }

    #[test]
    fn nothing_of_an_answer_or_a_list_contains_the_key() {
        let (heard, key) = (Heard::default(), SecretString::from(CANARY));
        let clean = Keyless::new(&heard, Some(&key)).answer(answer());
        let listed = ModelInfo {
            description: Some(CANARY.to_owned()),
            ..ModelInfo::named(format!("{CANARY}-model"))
        };
        let models = clean_models(vec![listed], Some(&key));
        let shown = format!("{clean:?} {models:?}");
        assert!(
            !shown.contains("canary") && shown.matches(REMOVED).count() >= 9,
            "{shown}"
        );
        assert_eq!(Keyless::new(&heard, None).answer(answer()), answer());
    }
}
