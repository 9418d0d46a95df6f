//! Tepa's `ToolSchema`: parameters by their names, each with type, description, `required` and `default` (seed
//! *tepa-pipeline-in-detail*, "ToolSchema Interface"; goal-pipeline page, *Differs from the seed*). It is accepted, and a
//! JSON Schema from the registry on: a parameter without `required: true` is optional.

use std::sync::Arc;

use async_trait::async_trait;
use contract::access::Access;
use contract::event::NamedHash;
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use serde_json::{Map, Value, json};

/// The types that a parameter of Tepa can have.
const TYPES: [&str; 5] = ["string", "number", "boolean", "object", "array"];

/// The same tool, its parameters as JSON Schema.
pub fn with_json_schema(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
    match json_schema(&tool.info().parameters) {
        Some(parameters) => Arc::new(Converted { tool, parameters }),
        None => tool,
    }
}

/// Parameters as Tepa lists them, as a JSON Schema; none when they are none of Tepa's.
pub fn json_schema(parameters: &Value) -> Option<Value> {
    let listed = parameters.as_object()?;
    let is_parameter = |definition: &Value| {
        let kind = definition.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| TYPES.contains(&kind))
    };
    // A schema has words of its own at its top; `{}` is one that allows anything.
    if listed.is_empty() || !listed.values().all(is_parameter) {
        return None;
    }
    let is_required = |definition: &Value| definition.get("required") == Some(&Value::Bool(true));
    let required: Vec<&String> = listed
        .iter()
        .filter(|(_, definition)| is_required(definition) && definition.get("default").is_none())
        .map(|(name, _)| name)
        .collect();
    let properties: Map<String, Value> = listed
        .iter()
        .map(|(name, definition)| (name.clone(), without_required(definition)))
        .collect();
    Some(json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

/// In JSON Schema the list of what is required stands beside the properties.
fn without_required(definition: &Value) -> Value {
    let mut definition = definition.clone();
    if let Some(definition) = definition.as_object_mut()
        && definition.get("required").is_some_and(Value::is_boolean)
    {
        definition.shift_remove("required");
    }
    definition
}

/// A tool with other words for its parameters.
struct Converted {
    tool: Arc<dyn Tool>,
    parameters: Value,
}

#[async_trait]
impl Tool for Converted {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            parameters: self.parameters.clone(),
            ..self.tool.info()
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        self.tool.access(args)
    }

    fn writes_scratchpad(&self) -> bool {
        self.tool.writes_scratchpad()
    }

    async fn observe(&self, args: &Value, context: &ToolContext) -> Option<Vec<NamedHash>> {
        self.tool.observe(args, context).await
    }

    fn may_be_kept(&self, args: &Value) -> bool {
        self.tool.may_be_kept(args)
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.tool.file_effect(args, context).await
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.tool.execute(args, context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::schema;

    struct Listed(Value);

    #[async_trait]
    impl Tool for Listed {
        fn info(&self) -> ToolInfo {
            ToolInfo {
                name: "listed".to_owned(),
                description: "lists its parameters as Tepa does".to_owned(),
                parameters: self.0.clone(),
                has_effects: false,
            }
        }

        fn access(&self, _args: &Value) -> Vec<Access> {
            Vec::new()
        }

        async fn execute(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::value(args))
        }
    }

    fn parameters(listed: Value) -> Value {
        let registry = Registry::of_tools(vec![Arc::new(Listed(listed))]);
        registry.infos().remove(0).parameters
    }

    #[test]
    fn a_tool_schema_of_tepa_is_accepted_and_what_is_not_required_is_optional() {
        let schema = parameters(json!({
            "path": { "type": "string", "description": "which file", "required": true },
            "encoding": { "type": "string", "description": "how it is written", "default": "utf-8" },
            "lines": { "type": "number", "description": "how many" },
            "deep": { "type": "boolean", "description": "or not", "required": false },
        }));
        let filled = schema::normalise(&schema, json!({ "path": "a.txt", "colour": "blue" }));
        assert_eq!(filled, Ok(json!({ "path": "a.txt", "encoding": "utf-8" })));
        let wrong = schema::normalise(&schema, json!({ "lines": "many" }))
            .unwrap_err()
            .join("; ");
        assert!(wrong.contains("path") && wrong.contains("lines"), "{wrong}");
        assert_eq!(schema["properties"]["path"].get("required"), None);
    }

    #[test]
    fn a_json_schema_stays_as_it_is() {
        for schema in [
            json!({}),
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
            json!({ "properties": { "type": { "type": "string" } } }),
        ] {
            assert_eq!(parameters(schema.clone()), schema);
        }
    }
}
