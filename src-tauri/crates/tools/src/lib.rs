//! The tools a step can use, each one file. A new tool is a file like the others and a line in
//! [`all`]; its schema comes from its input struct.
//!
//! Outputs are the same for the same files: paths are relative, lists are sorted, there are no times.
//! Deliberately not here: permissions (the engine decides, the working folder enforces) and validation
//! (arguments arrive fitting their schema, defaults applied).

mod data_parse;
mod data_query;
mod directory_list;
mod file_edit;
mod file_read;
mod file_write;
mod input;
mod log_observe;
mod scratchpad;

use std::sync::Arc;

use contract::ports::tool::Tool;

/// Every tool, in the order in which a planner reads them.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(file_read::FileRead),
        Arc::new(file_write::FileWrite),
        Arc::new(file_edit::FileEdit),
        Arc::new(directory_list::DirectoryList),
        Arc::new(data_parse::DataParse),
        Arc::new(data_query::DataQuery),
        Arc::new(scratchpad::Scratchpad),
        Arc::new(log_observe::LogObserve),
    ]
}

#[cfg(test)]
mod test_place;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_schema_is_closed_and_valid() {
        for tool in all() {
            let info = tool.info();
            assert!(jsonschema::draft202012::new(&info.parameters).is_ok(), "{}", info.name);
            assert_eq!(info.parameters["type"], "object", "{}", info.name);
            assert_eq!(info.parameters["additionalProperties"], false, "{}", info.name);
            for (name, property) in info.parameters["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{}.{name}", info.name);
            }
        }
    }

    #[test]
    fn has_these_tools_in_this_order() {
        let names: Vec<String> = all().iter().map(|tool| tool.info().name).collect();
        let expected = [
            "file_read",
            "file_write",
            "file_edit",
            "directory_list",
            "data_parse",
            "data_query",
            "scratchpad",
            "log_observe",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn describes_defaults_and_choices() {
        let schema = file_write::FileWrite.info().parameters;
        assert_eq!(schema["properties"]["mode"]["default"], "overwrite");
        assert_eq!(
            schema["properties"]["mode"]["enum"],
            json!(["overwrite", "append", "create"])
        );
        assert_eq!(schema["required"], json!(["path", "content"]));
    }

    #[test]
    fn only_what_changes_something_has_effects() {
        let effects: Vec<String> = all()
            .iter()
            .map(|tool| tool.info())
            .filter(|info| info.has_effects)
            .map(|info| info.name)
            .collect();
        assert_eq!(effects, ["file_write", "file_edit", "scratchpad"]);
    }
}
