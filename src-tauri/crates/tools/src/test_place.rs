//! A working folder and a scratchpad for tests.

use std::sync::Arc;

use contract::ports::tool::{Tool, ToolContext, ToolError};
use indexmap::IndexMap;
use serde_json::Value;
use tempfile::TempDir;
use workspace::Folder;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) context: ToolContext,
}

pub(crate) fn place(files: &[(&str, &str)]) -> Place {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let context = ToolContext {
        files: Arc::new(Folder::open(folder.path()).unwrap()),
        scratchpad: Arc::new(IndexMap::new()),
        now_ms: 0,
        limit_ms: 30_000,
        granted: Arc::default(),
    };
    Place { folder, context }
}

impl Place {
    pub(crate) async fn run(&self, tool: &dyn Tool, args: Value) -> Result<Value, ToolError> {
        tool.execute(args, &self.context).await.map(|output| output.value)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}
