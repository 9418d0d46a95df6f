//! `file_write`: makes, replaces or extends a text file, as a whole or not at all.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::files::{FileKind, FilesError};
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// The largest file that is replaced or extended: its bytes are kept so that the change can be undone.
const KEPT: u64 = 50 * 1024 * 1024;

pub(crate) struct FileWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the working folder. Missing folders are made.
    path: String,
    /// The text to write.
    content: String,
    /// Whether to replace what is there, to add to its end, or to refuse when there is something.
    #[serde(default)]
    mode: Mode,
}

#[derive(Deserialize, Serialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Overwrite,
    Append,
    Create,
}

/// A write worked out: nothing has happened yet.
struct Planned {
    path: String,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    output: Value,
}

impl Planned {
    async fn of(args: &Value, context: &ToolContext) -> Result<Self, ToolError> {
        let input: Input = input::read(args)?;
        let path = context.files.relative(&input.path)?;
        let before = match context.files.stat(&path).await? {
            Some((FileKind::File, _)) => Some(context.files.read(&path, KEPT).await?),
            Some((FileKind::Folder, _)) => return Err(FilesError::WrongKind { path, expected: "file" }.into()),
            Some((FileKind::Other, _)) | None => None,
        };
        let content = input.content.into_bytes();
        let output = json!({"path": path, "bytesWritten": content.len()});
        let after = match (input.mode, &before) {
            (Mode::Create, Some(_)) => return Err(FilesError::Exists(path).into()),
            (Mode::Append, Some(before)) => [before.as_slice(), &content].concat(),
            (Mode::Overwrite, _) | (Mode::Append | Mode::Create, None) => content,
        };
        Ok(Self {
            path,
            before,
            after,
            output,
        })
    }
}

#[async_trait]
impl Tool for FileWrite {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "file_write".to_owned(),
            description: "Writes a text file and returns { path, bytesWritten }. The path is relative to the working \
                folder; missing folders are made."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let path = args.get("path").and_then(Value::as_str);
        path.map(|path| Access::Write { path: path.to_owned() })
            .into_iter()
            .collect()
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        let planned = Planned::of(args, context).await?;
        Ok(Some(FileEffect {
            path: planned.path,
            before: planned.before,
            after: planned.after,
            output: planned.output,
        }))
    }

    fn may_be_kept(&self, args: &Value) -> bool {
        args.get("mode").and_then(Value::as_str) != Some("append")
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let planned = Planned::of(&args, context).await?;
        context.files.write(&planned.path, &planned.after).await?;
        Ok(ToolOutput::value(planned.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{Place, place};

    /// The effect told beforehand is the change that is made.
    async fn check(place: &Place, args: Value, before: Option<&str>, after: &str) {
        let effect = FileWrite.file_effect(&args, &place.context).await.unwrap().unwrap();
        assert_eq!(effect.before.as_deref(), before.map(str::as_bytes));
        let output = place.run(&FileWrite, args).await.unwrap();
        assert_eq!(output, effect.output);
        assert_eq!(place.text(&effect.path), after);
        assert_eq!(effect.after, after.as_bytes());
    }

    #[tokio::test]
    async fn replaces_adds_and_makes() {
        let place = place(&[("a.txt", "old")]);
        check(&place, json!({"path": "a.txt", "content": "new"}), Some("old"), "new").await;
        check(
            &place,
            json!({"path": "a.txt", "content": "er", "mode": "append"}),
            Some("new"),
            "newer",
        )
        .await;
        check(
            &place,
            json!({"path": "b/c.txt", "content": "x", "mode": "create"}),
            None,
            "x",
        )
        .await;
        check(
            &place,
            json!({"path": "d.txt", "content": "y", "mode": "append"}),
            None,
            "y",
        )
        .await;
    }

    #[tokio::test]
    async fn tells_the_path_from_the_working_folder_and_the_bytes() {
        let place = place(&[]);
        let path = place
            .folder
            .path()
            .canonicalize()
            .unwrap()
            .join("r.md")
            .display()
            .to_string();
        let output = place.run(&FileWrite, json!({"path": path, "content": "Zoë"})).await;
        assert_eq!(output, Ok(json!({"path": "r.md", "bytesWritten": 4})));
    }

    #[tokio::test]
    async fn making_refuses_to_replace() {
        let place = place(&[("a.txt", "old")]);
        let args = json!({"path": "a.txt", "content": "new", "mode": "create"});
        assert_eq!(
            place.run(&FileWrite, args.clone()).await.unwrap_err().message,
            "\"a.txt\" exists already"
        );
        assert!(FileWrite.file_effect(&args, &place.context).await.is_err());
        assert_eq!(place.text("a.txt"), "old");
    }

    #[tokio::test]
    async fn refuses_what_is_outside() {
        let place = place(&[]);
        assert!(
            place
                .run(&FileWrite, json!({"path": "../x", "content": ""}))
                .await
                .is_err()
        );
        let access = FileWrite.access(&json!({"path": "../x", "content": ""}));
        assert_eq!(
            access,
            [Access::Write {
                path: "../x".to_owned()
            }]
        );
    }
}
