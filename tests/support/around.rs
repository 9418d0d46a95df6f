//! Tools and journals that are another one in everything but what a test changes.

use std::sync::Arc;

use async_trait::async_trait;
use contract::access::Access;
use contract::event::{NamedHash, RunEventRecord};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::tool::{FileEffect, OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::value_ref::Artifact;
use contract::{Hash, RunId};
use serde_json::Value;

/// Makes a tool or a journal of what stands around one.
pub struct Around<T>(pub T);

/// A tool of the app by its name.
pub fn builtin(name: &str) -> Arc<dyn Tool> {
    let named = |tool: &Arc<dyn Tool>| tool.info().name == name;
    tools::all().into_iter().find(named).unwrap()
}

/// What stands around a tool.
#[async_trait]
pub trait AroundTool: Send + Sync {
    /// The tool inside.
    fn tool(&self) -> &dyn Tool;

    /// What it says it will change.
    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.tool().file_effect(args, context).await
    }

    /// What it leaves that cannot be looked up afterwards.
    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        self.tool().outside_effect(args)
    }

    /// What it does.
    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
impl<T: AroundTool> Tool for Around<T> {
    fn info(&self) -> ToolInfo {
        self.0.tool().info()
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        self.0.tool().access(args)
    }

    fn writes_scratchpad(&self) -> bool {
        self.0.tool().writes_scratchpad()
    }

    async fn observe(&self, args: &Value, context: &ToolContext) -> Option<Vec<NamedHash>> {
        self.0.tool().observe(args, context).await
    }

    fn may_be_kept(&self, args: &Value) -> bool {
        self.0.tool().may_be_kept(args)
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.0.file_effect(args, context).await
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        self.0.outside_effect(args)
    }

    fn ends_itself(&self) -> bool {
        self.0.tool().ends_itself()
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.0.execute(args, context).await
    }
}

/// Entries that are to be written together.
pub struct Append {
    /// The number of the first.
    pub first_seq: u64,
    /// The entries.
    pub entries: Vec<NewEntry>,
    /// The values that they name.
    pub artifacts: Vec<Artifact>,
    /// How safe they must be.
    pub durability: Durability,
}

/// What stands around a journal.
#[async_trait]
pub trait AroundJournal: Send + Sync {
    /// The journal inside.
    fn journal(&self) -> &dyn Journal;

    /// What it writes.
    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        append.to(self.journal(), run).await
    }

    /// What it reads.
    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal().read(run, from_seq, limit).await
    }

    /// The value at an address.
    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.journal().artifact(hash).await
    }
}

impl Append {
    /// Hands the entries on to a journal.
    pub async fn to(self, journal: &dyn Journal, run: &RunId) -> Result<(), JournalError> {
        journal
            .append(run, self.first_seq, self.entries, self.artifacts, self.durability)
            .await
    }
}

#[async_trait]
impl<T: AroundJournal> Journal for Around<T> {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let append = Append {
            first_seq,
            entries,
            artifacts,
            durability,
        };
        self.0.append(run, append).await
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.0.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.0.artifact(hash).await
    }
}
