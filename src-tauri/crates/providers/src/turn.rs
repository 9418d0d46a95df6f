//! A model's turn in the order in which it came: thoughts, words and calls, taken apart for the app and put together
//! again for the next request. Vendors want a turn back as it was written, and refuse thoughts in another place.
//!
//! What stood before a call travels with that call ([`ToolUse::carried`]); what stood after the last one travels with
//! that one, behind a mark for the call itself. A turn of nothing but words and then calls needs none of it.

use contract::llm::{ContentBlock, ToolUse};
use serde_json::{Value, json};

/// Where the call stands among the parts that it carries.
const CALL: &str = "the_call";

/// A turn that is being taken apart.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    parts: Vec<Value>,
    calls: Vec<ToolUse>,
    order_matters: bool,
}

impl Turn {
    /// A part that only its provider understands, as it is sent back.
    pub(crate) fn thought(&mut self, part: Value) {
        self.order_matters = true;
        self.parts.push(part);
    }

    /// Words, as they are sent back. `is_marked` is whether the provider wrote something beside them.
    pub(crate) fn said(&mut self, part: Value, is_marked: bool) {
        self.order_matters |= is_marked || !self.calls.is_empty();
        self.parts.push(part);
    }

    /// A call.
    pub(crate) fn called(&mut self, call: ToolUse) {
        let parts = std::mem::take(&mut self.parts);
        let carried = (!parts.is_empty()).then_some(Value::Array(parts));
        self.calls.push(ToolUse { carried, ..call });
    }

    /// The calls, each with what it carries.
    pub(crate) fn into_calls(mut self) -> Vec<ToolUse> {
        if !self.order_matters {
            return self
                .calls
                .into_iter()
                .map(|call| ToolUse { carried: None, ..call })
                .collect();
        }
        if let Some(last) = self.calls.last_mut().filter(|_| !self.parts.is_empty()) {
            let mut parts = match last.carried.take() {
                Some(Value::Array(parts)) => parts,
                _ => Vec::new(),
            };
            parts.push(json!({ "type": CALL }));
            parts.append(&mut self.parts);
            last.carried = Some(Value::Array(parts));
        }
        self.calls
    }
}

/// The turn as it goes back: `texts` are its words for the case that no call carries them, which then stand before the
/// first call and behind the thoughts that led to it.
pub(crate) fn put_together(
    content: &[ContentBlock],
    texts: Vec<Value>,
    call: impl Fn(&ToolUse) -> Value,
) -> Vec<Value> {
    let calls = || {
        content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(call),
            ContentBlock::Text { .. } | ContentBlock::ToolResult { .. } => None,
        })
    };
    let carried = |call| parts_of(call).iter();
    let carries_words = calls().flat_map(carried).any(is_words);
    let mut texts = if carries_words { Vec::new() } else { texts };
    let mut turn = Vec::new();
    for called in calls() {
        let mut parts = parts_of(called).split(|part| part["type"] == CALL);
        turn.extend(parts.next().into_iter().flatten().cloned());
        turn.append(&mut texts);
        turn.push(call(called));
        turn.extend(parts.flatten().cloned());
    }
    turn.append(&mut texts);
    turn
}

fn parts_of(call: &ToolUse) -> &[Value] {
    call.carried
        .as_ref()
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A block of words, or a whole message.
fn is_words(part: &Value) -> bool {
    part["type"] == "text" || part.get("role").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolUse {
        ToolUse {
            id: id.to_owned(),
            name: "look".to_owned(),
            input: json!({}),
            carried: None,
            made_by: None,
        }
    }

    /// `t` a thought, `w` words, `c` a call; the words are what the app keeps of them: all at once, before the calls.
    fn check(kinds: &str) {
        let mut turn = Turn::default();
        let (mut expected, mut words) = (Vec::new(), String::new());
        for (place, kind) in kinds.chars().enumerate() {
            let part = match kind {
                't' => json!({"type": "thinking", "thinking": place}),
                'w' => json!({"type": "text", "text": place.to_string()}),
                _ => json!({"call": place.to_string()}),
            };
            expected.push(part.clone());
            match kind {
                't' => turn.thought(part),
                'w' => {
                    words.push_str(&place.to_string());
                    turn.said(part, false);
                }
                _ => turn.called(call(&place.to_string())),
            }
        }
        let calls = turn.into_calls();
        let content: Vec<ContentBlock> = calls.into_iter().map(ContentBlock::ToolUse).collect();
        let texts = if words.is_empty() {
            Vec::new()
        } else {
            vec![json!({"type": "text", "text": words})]
        };
        let back = put_together(&content, texts, |call| json!({"call": call.id}));
        assert_eq!(back, expected, "{kinds}");
    }

    #[test]
    fn a_turn_goes_back_in_the_order_in_which_it_came() {
        for kinds in [
            "c", "wc", "wcc", "tc", "twc", "wtc", "tctwc", "cw", "tcw", "tctwcwt", "ctc", "cwc",
        ] {
            check(kinds);
        }
    }

    #[test]
    fn a_turn_of_words_and_then_calls_carries_nothing() {
        let mut turn = Turn::default();
        turn.said(json!({"type": "text", "text": "I look."}), false);
        turn.called(call("1"));
        turn.called(call("2"));
        assert_eq!(turn.into_calls(), [call("1"), call("2")]);
    }
}
