//! The tools a step can use, each one file. A new tool is a file like the others and a line in
//! [`all`]; its schema comes from its input struct.
//!
//! Outputs are the same for the same files: paths are relative, lists are sorted, there are no times.
//! Deliberately not here: permissions (the engine decides, the working folder enforces) and validation
//! (arguments arrive fitting their schema, defaults applied).

mod ask_person;
mod data_parse;
mod data_query;
mod directory_list;
mod file_edit;
mod file_read;
mod file_search;
mod file_write;
mod http_request;
mod input;
mod log_observe;
mod scratchpad;
mod shell_execute;
mod task_command;
mod task_effects;
mod task_webhook;
mod web_search;

use std::sync::Arc;

use contract::ports::commands::{Commands, NoCommands};
use contract::ports::search::{NoSearch, Search};
use contract::ports::tool::Tool;
use contract::ports::web::{NoWeb, Web};

/// What tools reach beyond the working folder. [`Default`] reaches nothing.
#[derive(Clone)]
pub struct Doors {
    /// Commands.
    pub commands: Arc<dyn Commands>,
    /// Requests to other computers.
    pub web: Arc<dyn Web>,
    /// The search service.
    pub search: Arc<dyn Search>,
}

impl Default for Doors {
    fn default() -> Self {
        Self {
            commands: Arc::new(NoCommands),
            web: Arc::new(NoWeb),
            search: Arc::new(NoSearch),
        }
    }
}

/// The tool that asks the search service.
pub const WEB_SEARCH: &str = "web_search";

/// Whether a tool reaches beyond the working folder, to a host, to a program or to the person. Nobody is offered it
/// without a word about it: a task names it; for a search, a person set up who is asked.
pub fn reaches_out(name: &str) -> bool {
    matches!(name, "shell_execute" | "http_request" | "ask_person" | WEB_SEARCH)
}

/// Every tool with nothing beyond the working folder behind it, to say what there is.
pub fn all() -> Vec<Arc<dyn Tool>> {
    with(&Doors::default())
}

/// Every tool, in the order in which a planner reads them.
pub fn with(doors: &Doors) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(file_read::FileRead),
        Arc::new(file_write::FileWrite),
        Arc::new(file_edit::FileEdit),
        Arc::new(directory_list::DirectoryList),
        Arc::new(file_search::FileSearch),
        Arc::new(data_parse::DataParse),
        Arc::new(data_query::DataQuery),
        Arc::new(shell_execute::ShellExecute {
            commands: Arc::clone(&doors.commands),
        }),
        Arc::new(http_request::HttpRequest {
            web: Arc::clone(&doors.web),
        }),
        Arc::new(web_search::WebSearch {
            search: Arc::clone(&doors.search),
        }),
        Arc::new(scratchpad::Scratchpad),
        Arc::new(log_observe::LogObserve),
        Arc::new(ask_person::AskPerson),
    ]
}

/// What carries out the effects that a task brings by itself. They are in no catalogue: no plan and no model names them.
pub fn of_tasks(doors: &Doors) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(task_command::TaskCommand {
            commands: Arc::clone(&doors.commands),
        }),
        Arc::new(task_webhook::TaskWebhook {
            web: Arc::clone(&doors.web),
        }),
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
            "file_search",
            "data_parse",
            "data_query",
            "shell_execute",
            "http_request",
            "web_search",
            "scratchpad",
            "log_observe",
            "ask_person",
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
        assert_eq!(
            effects,
            ["file_write", "file_edit", "shell_execute", "http_request", "scratchpad"]
        );
    }
}
