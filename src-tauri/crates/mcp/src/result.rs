//! What a call returned, as a value of ours: words, structured content, and that there were pictures or files. Their
//! bytes are not kept.

use contract::hash::canonical;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use crate::error::McpError;

/// How much of the words of a result is kept, in bytes; half of it from the beginning.
const KEPT: usize = 1_000_000;
/// How many things besides words are named.
const NAMED: usize = 200;

/// The value of a result, or the failure that it tells.
pub(crate) fn value(result: CallToolResult) -> Result<Value, McpError> {
    let mut words: Vec<String> = Vec::new();
    let mut others = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Text(text) => words.push(text.text),
            ContentBlock::Image(image) => others.push(bytes("image", Some(image.mime_type), None, &image.data)),
            ContentBlock::Audio(audio) => others.push(bytes("audio", Some(audio.mime_type), None, &audio.data)),
            ContentBlock::ResourceLink(link) => {
                others.push(json!({ "kind": "link", "uri": short(&link.uri), "name": short(&link.name) }));
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    words.push(text);
                    others.push(json!({ "kind": "text", "uri": short(&uri) }));
                }
                ResourceContents::BlobResourceContents {
                    uri, mime_type, blob, ..
                } => others.push(bytes("file", mime_type, Some(&uri), &blob)),
                _ => others.push(json!({ "kind": "unknown" })),
            },
            _ => others.push(json!({ "kind": "unknown" })),
        }
    }
    let text = bounded(&words.join("\n"));
    if result.is_error == Some(true) {
        let said = if text.trim().is_empty() {
            "it did not say why"
        } else {
            &text
        };
        return Err(McpError::Failed(format!("the tool says that it failed: {said}")));
    }
    let mut fields = Map::from_iter([("text".to_owned(), json!(text))]);
    if let Some(structured) = result.structured_content {
        fields.insert("structured".to_owned(), structured_of(structured));
    }
    let left_out = others.len().saturating_sub(NAMED);
    if !others.is_empty() {
        others.truncate(NAMED);
        if left_out > 0 {
            others.push(json!({ "kind": "more", "count": left_out }));
        }
        fields.insert("others".to_owned(), Value::Array(others));
    }
    Ok(Value::Object(fields))
}

/// Structured content as it is, where it has a form that can be kept; otherwise its text.
fn structured_of(structured: Value) -> Value {
    match canonical(&structured) {
        Ok(text) if text.len() <= KEPT => structured,
        Ok(text) => json!(bounded(&text)),
        Err(_) => json!(bounded(&structured.to_string())),
    }
}

fn bytes(kind: &str, mime: Option<String>, uri: Option<&str>, encoded: &str) -> Value {
    json!({
        "kind": kind,
        "mimeType": mime.as_deref().map(short),
        "uri": uri.map(short),
        "bytes": encoded.len() / 4 * 3,
        "note": "its content is not kept",
    })
}

fn short(text: &str) -> String {
    text.chars().take(500).collect()
}

/// Of more than is kept the beginning and the end.
fn bounded(text: &str) -> String {
    if text.len() <= KEPT {
        return text.to_owned();
    }
    let (head, tail) = (
        text.floor_char_boundary(KEPT / 2),
        text.ceil_char_boundary(text.len() - KEPT / 2),
    );
    format!(
        "{}\n... ({} bytes are left out here) ...\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expected: Value) {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        assert_eq!(value(result).unwrap(), expected);
    }

    #[test]
    fn words_structure_and_the_names_of_the_rest_are_kept() {
        check(
            json!({ "content": [
                { "type": "text", "text": "a" }, { "type": "text", "text": "b" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                { "type": "resource_link", "uri": "file:///x", "name": "x" },
                { "type": "resource", "resource": { "uri": "file:///y", "text": "c" } } ],
              "structuredContent": { "n": 1 } }),
            json!({ "text": "a\nb\nc", "structured": { "n": 1 }, "others": [
                { "kind": "image", "mimeType": "image/png", "uri": null, "bytes": 3, "note": "its content is not kept" },
                { "kind": "link", "uri": "file:///x", "name": "x" }, { "kind": "text", "uri": "file:///y" } ] }),
        );
        check(json!({ "content": [] }), json!({ "text": "" }));
    }

    #[test]
    fn a_failure_says_why() {
        let failed = json!({ "content": [{ "type": "text", "text": "no such zone" }], "isError": true });
        let error = value(serde_json::from_value(failed).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the tool says that it failed: no such zone");
    }

    #[test]
    fn what_is_too_long_is_cut_and_what_cannot_be_kept_is_text() {
        let long = json!({ "content": [{ "type": "text", "text": "ä".repeat(2_000_000) }] });
        let kept = value(serde_json::from_value(long).unwrap()).unwrap();
        let text = kept["text"].as_str().unwrap();
        assert!(text.len() < KEPT + 100 && text.contains("bytes are left out here"));
        let large = json!({ "content": [], "structuredContent": { "n": 123_456_789_012_345_678_u64 } });
        let kept = value(serde_json::from_value(large).unwrap()).unwrap();
        assert_eq!(kept["structured"], json!("{\"n\":123456789012345678}"));
    }
}
