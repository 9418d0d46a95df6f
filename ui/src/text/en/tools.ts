// The tools, as people would say what they do. Where a server brought one, it is called as the server calls it.

export const tools = {
  file_read: "Read a file",
  file_write: "Write a file",
  file_edit: "Edit a file",
  file_search: "Search files",
  directory_list: "List a folder",
  data_parse: "Read data",
  data_query: "Query data",
  shell_execute: "Run a command",
  http_request: "Ask a web address",
  web_search: "Search the web",
  scratchpad: "Keep a note",
  log_observe: "Say something",
  ask_person: "Ask you",
} as const;
