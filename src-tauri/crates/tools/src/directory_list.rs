//! `directory_list`: what is in a folder.

use async_trait::async_trait;
use contract::Hash;
use contract::access::Access;
use contract::event::NamedHash;
use contract::ports::files::{FileKind, Files};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

/// More entries than this are refused.
const LIMIT: usize = 10_000;

pub(crate) struct DirectoryList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The folder, relative to the working folder; "." is the working folder itself.
    path: String,
    /// How many levels to show; 1 is the folder's own entries.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 32))]
    max_depth: u32,
}

fn one() -> u32 {
    1
}

#[async_trait]
impl Tool for DirectoryList {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "directory_list".to_owned(),
            description: "Lists a folder, sorted by name: [{ name, type, size, children? }] with type \"file\", \
                \"directory\" or \"other\" and size in bytes, for files."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        input::reads(args, "path")
    }

    async fn observe(&self, args: &Value, context: &ToolContext) -> Option<Vec<NamedHash>> {
        let listed = self.execute(args.clone(), context).await.ok()?;
        let hash = Hash::of_value(&listed.value).ok()?;
        let name = args.get("path").and_then(Value::as_str)?.to_owned();
        Some(vec![NamedHash { name, hash }])
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let path = context.files.relative(&input.path)?;
        let mut left = LIMIT;
        let listed = list(context.files.as_ref(), path, input.max_depth, &mut left).await?;
        Ok(ToolOutput::value(Value::Array(listed)))
    }
}

async fn list(files: &dyn Files, path: String, depth: u32, left: &mut usize) -> Result<Vec<Value>, ToolError> {
    let mut listed = Vec::new();
    for entry in files.list(&path).await? {
        *left = left.checked_sub(1).ok_or_else(|| {
            ToolError::new(format!(
                "there are more than {LIMIT} entries; list a folder below, or fewer levels"
            ))
        })?;
        listed.push(match entry.kind {
            FileKind::File => json!({"name": entry.name, "type": "file", "size": entry.size}),
            FileKind::Other => json!({"name": entry.name, "type": "other"}),
            FileKind::Folder if depth <= 1 => json!({"name": entry.name, "type": "directory"}),
            FileKind::Folder => {
                let below = if path.is_empty() {
                    entry.name.clone()
                } else {
                    format!("{path}/{}", entry.name)
                };
                let children = Box::pin(list(files, below, depth - 1, left)).await?;
                json!({"name": entry.name, "type": "directory", "children": children})
            }
        });
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::place;

    #[tokio::test]
    async fn one_level_is_one_level() {
        let place = place(&[("b.csv", "abc"), ("a/deep/x.txt", ""), ("a/y.txt", "1")]);
        let expected = json!([{"name": "a", "type": "directory"}, {"name": "b.csv", "type": "file", "size": 3}]);
        assert_eq!(place.run(&DirectoryList, json!({"path": "."})).await, Ok(expected));
        let expected = json!([
            {"name": "deep", "type": "directory"},
            {"name": "y.txt", "type": "file", "size": 1},
        ]);
        let listed = place
            .run(&DirectoryList, json!({"path": ".", "maxDepth": 2}))
            .await
            .unwrap();
        assert_eq!(listed[0]["children"], expected);
    }

    #[tokio::test]
    async fn refuses_a_file_and_what_is_not_there() {
        let place = place(&[("b.csv", "")]);
        let failed = async |path| {
            place
                .run(&DirectoryList, json!({"path": path}))
                .await
                .unwrap_err()
                .message
        };
        assert_eq!(failed("b.csv").await, "\"b.csv\" is not a folder");
        assert!(failed("nowhere").await.contains("there is no file or folder"));
    }

    #[tokio::test]
    async fn says_so_when_there_is_too_much() {
        let place = place(&[]);
        let mut left = 1;
        let files = place.context.files.as_ref();
        files.write("a", b"").await.unwrap();
        assert_eq!(list(files, String::new(), 1, &mut left).await.unwrap().len(), 1);
        assert!(list(files, String::new(), 1, &mut left).await.is_err());
    }
}
