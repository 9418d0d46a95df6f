//! What a command or an MCP server changed in the working folder: the folder is pictured before and after it, and what differs is
//! recorded, with the bytes of both sides, so that it can be undone like the change of a tool (tools page, "Undo").
//!
//! An app that ends while a command is at work has no second picture: what that command changed is not listed.

use contract::access::Access;
use contract::event::RunEvent;
use contract::picture::{Changes, Picture, PictureLimits, changes};
use contract::ports::journal::Durability;
use contract::task_effect::TaskEffect;
use serde_json::Value;

use super::driver::{Driver, Halt};
use super::keys;
use super::tool_call::ToolCall;

impl Driver {
    /// The folder before a call that runs a command or that a program of somebody else answers; none for other calls, and where nobody can look at it.
    pub(super) async fn picture_before(&self, call: &ToolCall, args: &Value) -> Option<Picture> {
        let by_others = |access: &Access| match access {
            Access::Execute { .. } | Access::Server { .. } => true,
            Access::TaskEffect { effect } => !matches!(effect, TaskEffect::Webhook(_)),
            Access::Read { .. }
            | Access::Write { .. }
            | Access::WriteScratchpad
            | Access::Network { .. }
            | Access::Search => false,
        };
        if !call.tool.access(args).iter().any(by_others) {
            return None;
        }
        self.world.files.picture(PictureLimits::default(), None).await.ok()
    }

    /// Records what is other than in the picture.
    pub(super) async fn record_changes(&self, call: &ToolCall, before: &Picture) -> Result<(), Halt> {
        let found = match self.world.files.picture(PictureLimits::default(), Some(before)).await {
            Ok(after) => changes(before, &after),
            Err(error) => Changes {
                left_out: vec![format!("the folder could not be compared: {error}")],
                ..Changes::default()
            },
        };
        if found.files.is_empty() && found.folders.is_empty() && found.left_out.is_empty() {
            return Ok(());
        }
        let number = self.journal.count(0, |n| keys::folder_changed(&call.key, n));
        let event = RunEvent::FolderChanged {
            files: found.files,
            folders: found.folders,
            left_out: found.left_out,
        };
        let entry = (keys::folder_changed(&call.key, number), event);
        self.journal
            .record_all(vec![entry], found.artifacts, Durability::Commit)
            .await?;
        Ok(())
    }
}
