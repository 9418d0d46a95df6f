//! `file_edit`: replaces passages of a text file, each exactly once, all of them or none.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::files::{FileKind, FilesError};
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// The largest file that is edited: its bytes are kept so that the change can be undone.
const KEPT: u64 = 50 * 1024 * 1024;

pub(crate) struct FileEdit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the working folder.
    path: String,
    /// The passages to replace, one after the other.
    #[schemars(extend("minItems" = 1))]
    edits: Vec<Edit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The passage as it stands in the file, long enough to stand there only once.
    #[schemars(extend("minLength" = 1))]
    find: String,
    /// What is to stand there instead.
    replace: String,
}

/// An edit worked out: nothing has happened yet.
struct Planned {
    path: String,
    before: Vec<u8>,
    after: String,
    output: Value,
}

impl Planned {
    async fn of(args: &Value, context: &ToolContext) -> Result<Self, ToolError> {
        let input: Input = input::read(args)?;
        let path = context.files.relative(&input.path)?;
        match context.files.stat(&path).await? {
            Some((FileKind::File, _)) => {}
            Some((FileKind::Folder | FileKind::Other, _)) => {
                return Err(FilesError::WrongKind { path, expected: "file" }.into());
            }
            None => return Err(FilesError::NotFound(path).into()),
        }
        let before = context.files.read(&path, KEPT).await?;
        let Ok(text) = std::str::from_utf8(&before) else {
            return Err(ToolError::new(format!(
                "\"{path}\" cannot be edited: it is not a text in UTF-8"
            )));
        };
        let mut after = text.to_owned();
        for edit in &input.edits {
            after = replaced(&path, &after, edit)?;
        }
        Ok(Self {
            output: json!({"path": path, "replacements": input.edits.len()}),
            path,
            before,
            after,
        })
    }
}

fn replaced(path: &str, text: &str, edit: &Edit) -> Result<String, ToolError> {
    let shown: String = edit.find.chars().take(80).collect();
    match text.matches(&edit.find).count() {
        1 => Ok(text.replacen(&edit.find, &edit.replace, 1)),
        0 => Err(ToolError::new(format!("\"{path}\" does not contain \"{shown}\""))),
        count => Err(ToolError::new(format!(
            "\"{path}\" contains \"{shown}\" {count} times; find a longer passage that stands there once"
        ))),
    }
}

#[async_trait]
impl Tool for FileEdit {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "file_edit".to_owned(),
            description:
                "Replaces passages of a text file and returns { path, replacements }. Each passage must stand \
                in the file exactly once; when one does not, nothing is changed."
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
            before: Some(planned.before),
            after: planned.after.into_bytes(),
            output: planned.output,
        }))
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let planned = Planned::of(&args, context).await?;
        context.files.write(&planned.path, planned.after.as_bytes()).await?;
        Ok(ToolOutput::value(planned.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::place;

    fn edit(edits: &[(&str, &str)]) -> Value {
        let edits: Vec<Value> = edits
            .iter()
            .map(|(find, replace)| json!({"find": find, "replace": replace}))
            .collect();
        json!({"path": "a.txt", "edits": edits})
    }

    #[tokio::test]
    async fn replaces_passages_one_after_the_other() {
        let place = place(&[("a.txt", "one two three")]);
        let args = edit(&[("two", "2"), ("2 three", "2, 3")]);
        let effect = FileEdit.file_effect(&args, &place.context).await.unwrap().unwrap();
        assert_eq!(effect.before.as_deref(), Some("one two three".as_bytes()));
        let output = place.run(&FileEdit, args).await;
        assert_eq!(output, Ok(json!({"path": "a.txt", "replacements": 2})));
        assert_eq!(place.text("a.txt"), "one 2, 3");
        assert_eq!(effect.after, b"one 2, 3");
    }

    #[tokio::test]
    async fn changes_nothing_when_one_passage_is_not_there_once() {
        let place = place(&[("a.txt", "na na batman")]);
        let failed = async |edits| place.run(&FileEdit, edit(edits)).await.unwrap_err().message;
        assert_eq!(
            failed(&[("batman", "robin"), ("na", "no")]).await,
            "\"a.txt\" contains \"na\" 2 times; find a longer passage that stands there once"
        );
        assert_eq!(failed(&[("joker", "")]).await, "\"a.txt\" does not contain \"joker\"");
        assert_eq!(place.text("a.txt"), "na na batman");
    }

    #[tokio::test]
    async fn says_what_cannot_be_edited() {
        let place = place(&[("d/x", "")]);
        std::fs::write(place.folder.path().join("a.txt"), b"\xFF\xFE").unwrap();
        let failed = async |path| {
            let args = json!({"path": path, "edits": [{"find": "x", "replace": "y"}]});
            place.run(&FileEdit, args).await.unwrap_err().message
        };
        assert!(failed("a.txt").await.contains("not a text in UTF-8"));
        assert!(failed("gone").await.contains("there is no file"));
        assert_eq!(failed("d").await, "\"d\" is not a file");
        assert!(failed("../x").await.contains("outside the working folder"));
    }
}
