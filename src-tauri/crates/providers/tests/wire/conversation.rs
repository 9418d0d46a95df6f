//! What passes from answer to answer of one conversation, also where another vendor goes on with it; and that no part of an
//! answer brings the key back.

use contract::llm::{ContentBlock, LlmRequest, LlmResponse, Message, Role, ToolUse};
use providers::openai_compatible;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::fake::{Fake, answer};
use crate::vendors::{VENDORS, Vendor};
use crate::{CANARY, Heard, Jumping, endpoint, request, stream};

/// The conversation after this answer and the results of its calls.
fn gone_on(request: &LlmRequest, answer: LlmResponse) -> LlmRequest {
    let result = |call: &ToolUse| ContentBlock::ToolResult {
        tool_use_id: call.id.clone(),
        name: call.name.clone(),
        result: json!("seen"),
        is_error: false,
    };
    let results = answer.tool_uses.iter().map(result).collect();
    let calls = answer.tool_uses.into_iter().map(ContentBlock::ToolUse).collect();
    let mut request = request.clone();
    let turn = |role, content| Message { role, content };
    request
        .messages
        .extend([turn(Role::Assistant, calls), turn(Role::User, results)]);
    request
}

async fn called_by(vendor: &Vendor) -> LlmRequest {
    let exchange = vendor.exchange("forced_tool");
    let fake = Fake::playing(vec![vendor.sent(&exchange)]).await;
    let server = vendor.server(endpoint(&fake.url));
    let answer = server
        .complete(exchange.request.clone(), &Heard::default())
        .await
        .unwrap();
    assert!(answer.tool_uses[0].carried.is_some(), "{}", vendor.name);
    gone_on(&exchange.request, answer)
}

/// The body of a conversation's next request to this vendor, asked for this model.
async fn sent_to(vendor: &Vendor, conversation: &LlmRequest, model: &str) -> String {
    let fake = Fake::playing(vec![vendor.sent(&vendor.exchange("text"))]).await;
    let request = LlmRequest {
        model: model.to_owned(),
        ..conversation.clone()
    };
    let server = vendor.server(endpoint(&fake.url));
    server.complete(request, &Heard::default()).await.unwrap();
    fake.seen()[0].body.to_string()
}

const THOUGHTS: [&str; 6] = [
    "\"thinking\"",
    "\"signature\"",
    "\"reasoning\"",
    "encrypted_content",
    "c2ln",
    "b3BhcXVl",
];

#[tokio::test]
async fn thoughts_go_back_to_who_had_them_and_to_nobody_else() {
    for vendor in VENDORS {
        let conversation = called_by(vendor).await;
        for other in VENDORS {
            let is_own = vendor.name == other.name;
            let own_model = &*other.exchange("text").request.model;
            for model in [own_model, "another-model"] {
                let body = sent_to(other, &conversation, model).await;
                let goes_back = THOUGHTS.iter().any(|part| body.contains(part));
                let expected = is_own && model == conversation.model;
                assert_eq!(goes_back, expected, "{} to {} {model}: {body}", vendor.name, other.name);
                // The call itself is told to everybody.
                assert!(body.contains("look"), "{body}");
            }
        }
    }
}

#[tokio::test]
async fn gemini_is_told_that_a_call_of_another_model_has_no_signature() {
    let [anthropic, _, gemini] = VENDORS else { panic!() };
    let conversation = called_by(anthropic).await;
    let fake = Fake::playing(vec![gemini.sent(&gemini.exchange("text"))]).await;
    let request = LlmRequest {
        model: "gemini-3.5-pro".to_owned(),
        ..conversation
    };
    let server = gemini.server(endpoint(&fake.url));
    server.complete(request, &Heard::default()).await.unwrap();
    let turn = &fake.seen()[0].body["contents"][1]["parts"][0];
    assert_eq!(turn["thoughtSignature"], "skip_thought_signature_validator", "{turn}");
}

#[tokio::test]
async fn calls_that_a_server_names_all_the_same_are_told_apart() {
    let piece = json!({"id": "g", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}],
        "tool_calls": [{"index": 0, "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }}]});
    let rounds = 3;
    let fake = Fake::playing(vec![stream(std::slice::from_ref(&piece)); rounds]).await;
    let server = openai_compatible::open("local", endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let mut conversation = request();
    let mut names = Vec::new();
    for _ in 0..rounds {
        let answer = server.complete(conversation.clone(), &Heard::default()).await.unwrap();
        names.push(answer.tool_uses[0].id.clone());
        conversation = gone_on(&conversation, answer);
    }
    let different: std::collections::HashSet<&String> = names.iter().collect();
    assert_eq!(different.len(), rounds, "{names:?}");
    let messages = fake.seen()[2].body["messages"].clone();
    let sent: Vec<&Value> = messages
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message.get("reasoning_details"))
        .collect();
    assert_eq!(
        sent,
        [&json!([{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}]); 2]
    );
}

#[tokio::test]
async fn an_answer_or_a_list_that_repeats_the_key_is_kept_without_it() {
    let said = json!({"id": format!("r-{CANARY}"), "object": "chat.completion.chunk", "created": 1, "model": format!("m-{CANARY}"), "choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {
        "content": format!("Bearer {CANARY}"), "reasoning_content": CANARY,
        "tool_calls": [{"index": 0, "id": CANARY, "function": {"name": "look", "arguments": json!({"at": CANARY}).to_string()}}],
    }}]});
    let list = json!({"data": [{"id": "small", "name": CANARY}, {"id": format!("{CANARY}-model")}]});
    let fake = Fake::playing(vec![stream(&[said]), answer(200, &[], &list.to_string())]).await;
    let server = openai_compatible::open("local", endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let heard = Heard::default();
    let answer = server.complete(request(), &heard).await.unwrap();
    let models = server.models().await.unwrap();
    let shown = format!("{answer:?} {models:?} {:?} {:?}", heard.deltas(), heard.attempts());
    assert!(shown.contains("Bearer [key removed]") && models.len() == 2, "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
}

/// A run opens its servers anew.
#[tokio::test]
async fn a_refusal_is_paid_for_once_for_each_account() {
    let refused = || {
        answer(
            400,
            &[],
            r#"{"error": {"message": "response_format is not supported", "param": "response_format"}}"#,
        )
    };
    let fake = Fake::playing(vec![refused(), refused(), crate::hello(), crate::hello()]).await;
    let account = endpoint(&fake.url);
    for asked in [3, 4] {
        let server = openai_compatible::open("local", account.clone(), Arc::new(Jumping::default())).unwrap();
        server.complete(crate::with_schema(), &Heard::default()).await.unwrap();
        assert_eq!(fake.seen().len(), asked);
    }
}
