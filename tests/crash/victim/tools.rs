//! The app's tools, logged and perhaps deadly; one that edits, and one whose effect nobody can look up.

use std::sync::Arc;

use async_trait::async_trait;
use contract::Hash;
use contract::access::Access;
use contract::ports::tool::{FileEffect, OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use serde_json::{Value, json};
use support::around::{Around, AroundTool};

use super::kill_myself;
use super::log::Log;

/// The tool that edits.
pub(crate) const EDIT: &str = "crash_edit";

/// The tool that sends.
pub(crate) const SEND: &str = "crash_send";

/// Every tool. `die` says when the first change kills the process; blind, they do not say what they will change.
pub(crate) fn all(log: &Arc<Log>, die: Option<&str>, blind: bool) -> Vec<Arc<dyn Tool>> {
    let mut all = tools::all();
    all.push(Arc::new(Edit));
    all.push(Arc::new(Send));
    let logged = all.into_iter().map(|tool| {
        Arc::new(Around(Logged {
            tool,
            log: Arc::clone(log),
            die: die.map(str::to_owned),
            blind,
        })) as Arc<dyn Tool>
    });
    logged.collect()
}

struct Logged {
    tool: Arc<dyn Tool>,
    log: Arc<Log>,
    die: Option<String>,
    blind: bool,
}

#[async_trait]
impl AroundTool for Logged {
    fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        if self.blind {
            return Ok(None);
        }
        self.tool.file_effect(args, context).await
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        self.tool.outside_effect(args).filter(|_| !self.blind)
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        if self.die.as_deref() == Some("before") {
            kill_myself();
        }
        let hash = Hash::of_value(&args).map_err(|error| ToolError::new(error.to_string()))?;
        self.log
            .line(&format!("tool {} {}", self.tool.info().name, hash.as_str()));
        let done = self.tool.execute(args, context).await;
        if self.die.as_deref() == Some("after") {
            kill_myself();
        }
        done
    }
}

/// Replaces the first place where some words stand; done twice it changes twice.
struct Edit;

struct Edited {
    path: String,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Edited {
    async fn of(args: &Value, context: &ToolContext) -> Result<Self, ToolError> {
        let word = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        let path = context.files.relative(&word("path"))?;
        let before = context.files.read(&path, 1 << 20).await?;
        let text = String::from_utf8_lossy(&before);
        let after = text.replacen(&word("find"), &word("replace"), 1).into_bytes();
        Ok(Self { path, before, after })
    }
}

#[async_trait]
impl Tool for Edit {
    fn info(&self) -> ToolInfo {
        let text = json!({ "type": "string" });
        ToolInfo {
            name: EDIT.to_owned(),
            description: "Replaces the first place where some words stand.".to_owned(),
            parameters: json!({
                "type": "object", "required": ["path", "find", "replace"], "additionalProperties": false,
                "properties": { "path": text, "find": text, "replace": text },
            }),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let path = args["path"].as_str().unwrap_or_default().to_owned();
        vec![Access::Write { path }]
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        let edited = Edited::of(args, context).await?;
        Ok(Some(FileEffect {
            path: edited.path,
            before: Some(edited.before),
            after: edited.after,
            output: json!("edited"),
        }))
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let edited = Edited::of(&args, context).await?;
        context.files.write(&edited.path, &edited.after).await?;
        Ok(ToolOutput::value(json!("edited")))
    }
}

/// Sends some words, as a request or a command does: where they arrive the app cannot look. Here that is the end of a
/// file, for the test to look.
struct Send;

#[async_trait]
impl Tool for Send {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: SEND.to_owned(),
            description: "Sends some words.".to_owned(),
            parameters: json!({
                "type": "object", "required": ["words"], "additionalProperties": false,
                "properties": { "words": { "type": "string" } },
            }),
            has_effects: true,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        let path = "target.txt".to_owned();
        vec![Access::Write { path }]
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        Some(OutsideEffect {
            what: format!("send {}", args["words"]),
            output: json!("sent, as a person says"),
        })
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut bytes = context.files.read("target.txt", 1 << 20).await?;
        bytes.extend_from_slice(args["words"].as_str().unwrap_or_default().as_bytes());
        context.files.write("target.txt", &bytes).await?;
        Ok(ToolOutput::value(json!("sent")))
    }
}
