//! Arguments as the struct that a tool reads them into.

use contract::access::Access;
use contract::event::LogLine;
use contract::ports::tool::ToolError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use workspace::document;

/// Reads the arguments; they fit the schema, so a failure names what the engine let through.
pub(crate) fn read<T: DeserializeOwned>(args: &Value) -> Result<T, ToolError> {
    T::deserialize(args).map_err(|error| ToolError::new(format!("the arguments do not fit: {error}")))
}

/// The path of the table in this argument, as something that is read.
pub(crate) fn reads_table(args: &Value, name: &str) -> Vec<Access> {
    let source = args.get(name).and_then(Value::as_str);
    source.map(table).into_iter().collect()
}

/// What is read for a table: of a workbook the file, whichever sheet is named behind it.
pub(crate) fn table(source: &str) -> Access {
    Access::Read {
        path: document::source(source).0.to_owned(),
    }
}

/// The path in this argument, as something that is read.
pub(crate) fn reads(args: &Value, name: &str) -> Vec<Access> {
    let path = args.get(name).and_then(Value::as_str);
    path.map(|path| Access::Read { path: path.to_owned() })
        .into_iter()
        .collect()
}

/// What a step's log says of a document that it read: what held the process that opened it.
pub(crate) fn read_apart(path: &str, held: &str) -> LogLine {
    LogLine {
        level: "info".to_owned(),
        message: format!("\"{path}\" was read in a process of its own, held by {held}"),
    }
}
