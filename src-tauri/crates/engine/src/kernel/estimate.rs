//! What a call used, guessed from its characters, for servers that do not say (goal-pipeline page, "Limits": the budget
//! binds whoever answers). Every guess is marked as one.

use contract::llm::{AttemptStatus, ContentBlock, LlmAttempt, LlmRequest, LlmResponse, Usage};

/// Characters of one token, about, in the languages and formats that plans and files are written in.
const CHARACTERS: usize = 4;

/// Whether an attempt answered without saying what it used.
pub(super) fn is_uncounted(attempt: &LlmAttempt) -> bool {
    attempt.status == AttemptStatus::Success && attempt.usage.is_none_or(|usage| usage.total() == 0)
}

/// What reading a request uses, about.
pub(super) fn of_request(request: &LlmRequest) -> Usage {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let said: usize = blocks.map(block).sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.parameters.to_string().len() + tool.description.len())
        .sum();
    Usage {
        input: tokens(request.system.len() + said + tools),
        estimated: true,
        ..Usage::default()
    }
}

/// What writing a response used, about.
pub(super) fn of_response(response: &LlmResponse) -> u64 {
    let called: usize = response
        .tool_uses
        .iter()
        .map(|called| called.input.to_string().len())
        .sum();
    tokens(response.text.len() + called)
}

fn block(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } => text.len(),
        ContentBlock::ToolUse(called) => called.input.to_string().len(),
        ContentBlock::ToolResult { result, .. } => result.to_string().len(),
    }
}

fn tokens(characters: usize) -> u64 {
    characters.div_ceil(CHARACTERS).max(1) as u64
}
