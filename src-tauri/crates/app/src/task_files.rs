//! Tasks as text: YAML or JSON, from a file or from the window.
//!
//! A text that cannot be a task fails in one of four ways, told apart: the file cannot be read, its name does not say
//! what it is, it is not YAML or JSON, or it is not an object. What an object must hold to be a task is decided in
//! `engine::task_rules`, which lists every problem at once.

mod json;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use contract::access::Requests;
use contract::error::Problem;
use contract::rule::{AskMe, HookRule};
use contract::task::Task;
use engine::task_rules::{self, TaskReading};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Larger files are no tasks.
const LIMIT: u64 = 1024 * 1024;
/// How deep a task may be nested, in YAML as in JSON.
const DEPTH: usize = 64;

/// Why a text is no task at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskFileError {
    /// There is no such file, it may not be read, or it is no text.
    #[error("\"{path}\" cannot be read: {reason}")]
    Unreadable {
        /// As it was given.
        path: String,
        /// What the system said, in words.
        reason: String,
    },
    /// Its name does not end in what a task's name ends in.
    #[error("\"{path}\" is not a task file: its name must end in .yaml, .yml or .json")]
    Extension {
        /// As it was given.
        path: String,
    },
    /// It breaks the rules of YAML or JSON.
    #[error("the task is not valid {syntax}: line {line}, column {column}: {reason}")]
    Syntax {
        /// `YAML` or `JSON`.
        syntax: &'static str,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What the parser said.
        reason: String,
    },
    /// It is a list, a word, a number or nothing.
    #[error("a task must have a goal and an expectedOutput, but this is {found}")]
    NotAnObject {
        /// What it is, in words.
        found: &'static str,
    },
}

/// What a task's file asks for beside its folder.
pub fn requests(task: &Task) -> Requests {
    engine::requests::of(task)
}

/// A path as an error names it; of a very long one, the beginning.
pub(crate) fn shown(path: &Path) -> String {
    const MOST: usize = 400;
    let path = path.display().to_string();
    match path.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path,
    }
}

/// How a task is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// YAML 1.2, and JSON as a part of it.
    Yaml,
    /// JSON.
    Json,
}

/// A task's file as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The text.
    pub source: String,
    /// What it says.
    pub value: Value,
}

/// What a task's file name says about how it is written.
pub fn syntax(path: &Path) -> Result<Syntax, TaskFileError> {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "yaml" | "yml" => Ok(Syntax::Yaml),
        "json" => Ok(Syntax::Json),
        _ => Err(TaskFileError::Extension { path: shown(path) }),
    }
}

/// The text of a task's file. Blocks.
pub fn read_text(path: &Path) -> Result<String, TaskFileError> {
    syntax(path)?;
    read_limited(path).map_err(|reason| TaskFileError::Unreadable {
        path: shown(path),
        reason: reason.to_string(),
    })
}

fn read_limited(path: &Path) -> Result<String, Unreadable> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(Unreadable::NotAFile);
    }
    if metadata.len() > LIMIT {
        return Err(Unreadable::TooLarge);
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Unreadable::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::NotText)
}

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("{}", in_words(.0))]
    Io(#[from] io::Error),
    #[error("it is not a file")]
    NotAFile,
    #[error("it is larger than 1 MB")]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
}

pub(crate) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads a task's file, as far as an object. Blocks.
pub fn load(path: &Path) -> Result<TaskFile, TaskFileError> {
    let source = read_text(path)?;
    let value = parse(&source, syntax(path)?)?;
    let path = std::path::absolute(path).map_err(|error| TaskFileError::Unreadable {
        path: shown(path),
        reason: in_words(&error),
    })?;
    Ok(TaskFile { path, source, value })
}

/// The object that a text says.
pub fn parse(source: &str, syntax: Syntax) -> Result<Value, TaskFileError> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let value = match syntax {
        Syntax::Yaml => yaml(source)?,
        Syntax::Json => read_json(source)?,
    };
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Err(TaskFileError::NotAnObject { found: "empty" }),
        Value::Array(_) => Err(TaskFileError::NotAnObject { found: "a list" }),
        Value::String(_) => Err(TaskFileError::NotAnObject { found: "only text" }),
        Value::Number(_) => Err(TaskFileError::NotAnObject { found: "a number" }),
        Value::Bool(_) => Err(TaskFileError::NotAnObject {
            found: "only yes or no",
        }),
    }
}

fn read_json(source: &str) -> Result<Value, TaskFileError> {
    json::read(source).map_err(|error| {
        let said = error.to_string();
        let reason = without_place(&said);
        TaskFileError::Syntax {
            syntax: "JSON",
            line: error.line() as u64,
            column: (error.column() as u64).max(1),
            reason,
        }
    })
}

fn yaml(source: &str) -> Result<Value, TaskFileError> {
    yaml_as(source).map_err(|error| {
        let place = error.location();
        TaskFileError::Syntax {
            syntax: "YAML",
            line: place.map_or(1, |place| place.line()),
            column: place.map_or(1, |place| place.column()),
            reason: without_place(&error.without_snippet().to_string()),
        }
    })
}

/// What a text of YAML says, within the bounds of a small file.
pub(crate) fn yaml_as<T: DeserializeOwned>(source: &str) -> Result<T, serde_saphyr::Error> {
    // Words such as `no` and `1_000` stay words, as the window's own reader of YAML has them.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_nodes: 500_000,
            max_events: 2_000_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_documents: 1,
            max_total_scalar_bytes: 4 * 1024 * 1024,
        },
        // What stands there once and is meant often grows without anybody seeing it.
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 50_000 },
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(source, options)
}

/// The parser's words without the place, which is told on its own, and in one line.
fn without_place(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let reason = line.split(" at line ").next().unwrap_or(line);
    // What follows is for whoever writes programs.
    let reason = reason.split(", set ").next().unwrap_or(reason);
    let reason = reason.trim().trim_end_matches([':', '.']);
    let plainer = PLAINER.iter().find(|(technical, _)| reason.contains(technical));
    plainer.map_or(reason, |(_, plain)| plain).to_owned()
}

/// What to do about a text that cannot be read for this reason.
pub(crate) fn hint(reason: &str) -> &'static str {
    match PLAINER.iter().any(|(_, plain)| *plain == reason) {
        true => "Change what stands there.",
        false => "Look at that line: an indentation, a quotation mark or a bracket is often the reason.",
    }
}

/// What the parsers say of a file that is only too much, and the same in plain words.
const PLAINER: [(&str, &str); 5] = [
    (
        "configured policy",
        ".nan and .inf are no numbers that can be kept; write a number, or a text in quotation marks",
    ),
    (
        "budget breached",
        "there is more in it than a file of this kind may hold",
    ),
    (
        "alias replay",
        "what it repeats by reference is more than a file of this kind may hold",
    ),
    (
        "recursion limit exceeded",
        "its lists and named values lie too deep in each other",
    ),
    ("recursive references", "a part of it refers to itself"),
];

/// What a task's object says, with every problem. The checks know what their arguments must be, the tools which there
/// are.
pub fn read(value: &Value) -> TaskReading {
    let mut reading = task_rules::read(value, &checks::problems);
    let known: Vec<String> = tools::all().iter().map(|tool| tool.info().name).collect();
    let asked = value
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate();
    for (index, name) in asked.filter_map(|(index, name)| Some((index, name.as_str()?))) {
        if !may_be_a_servers(name) && !known.iter().any(|known| known == name) {
            let message = format!("there is no tool \"{name}\"; there are {}", known.join(", "));
            reading.problems.push(Problem::new(format!("tools[{index}]"), message));
            reading.task = None;
        }
    }
    reading.problems.extend(idle_rules(value, &known));
    reading
}

/// A rule about a tool that nobody has guards nothing, and whoever wrote it believes that it does.
fn idle_rules(value: &Value, known: &[String]) -> Vec<Problem> {
    let rules = value.get("hooks").and_then(Value::as_array).into_iter().flatten();
    let about_a_tool = rules
        .enumerate()
        .filter_map(|(index, rule)| match HookRule::read(rule).ok()? {
            HookRule::Forbid(tool) => Some((format!("hooks[{index}].forbid"), tool, "forbids")),
            HookRule::AskMe(AskMe::Tool(tool)) => Some((format!("hooks[{index}].askMe.tool"), tool, "asks about")),
            HookRule::AskMe(_)
            | HookRule::MaxSteps(_)
            | HookRule::Stop(_)
            | HookRule::Accept(_)
            | HookRule::Command(_)
            | HookRule::Webhook(_) => None,
        });
    about_a_tool
        .filter(|(_, tool, _)| !may_be_a_servers(tool) && !known.contains(tool))
        .map(|(path, tool, does)| {
            let message = format!(
                "there is no tool \"{tool}\", so this rule {does} nothing; there are {}",
                known.join(", ")
            );
            Problem::warning(path, message)
        })
        .collect()
}

/// Whether this may be a tool of an MCP server: whether that is set up here is known where the run begins.
fn may_be_a_servers(name: &str) -> bool {
    name.split_once("__")
        .is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// What a text from the window says. A text that is no object has one problem.
pub fn check(source: &str) -> (Option<Value>, TaskReading) {
    match parse(source, Syntax::Yaml) {
        Ok(value) => {
            let reading = read(&value);
            (Some(value), reading)
        }
        Err(error) => (
            None,
            TaskReading {
                task: None,
                problems: vec![Problem::new("", error.to_string())],
            },
        ),
    }
}

/// The working folder of a task's file: the file's own folder, or the one inside it that the task asks for. The
/// error is the folder outside that it asked for. Blocks.
pub fn folder_of(file: &Path, working_folder: Option<&str>) -> Result<PathBuf, PathBuf> {
    let own = file.parent().unwrap_or(Path::new("/")).to_owned();
    let Some(asked) = working_folder.map(str::trim).filter(|asked| !asked.is_empty()) else {
        return Ok(own);
    };
    let folder = own.join(asked);
    let stays = |folder: &Path, own: &Path| folder.starts_with(own);
    let lexical = contract::access::lexical(&folder);
    if !stays(&lexical, &own) {
        return Err(lexical);
    }
    // A link inside the folder may lead out of it.
    match (std::fs::canonicalize(&lexical), std::fs::canonicalize(&own)) {
        (Ok(real), Ok(real_own)) if !stays(&real, &real_own) => Err(real),
        _ => Ok(lexical),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_error(source: &str, syntax: Syntax, expected: &str) {
        let error = parse(source, syntax).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn reads_yaml_and_json_alike() {
        let expected = json!({ "goal": "x", "context": { "n": 1, "answer": "no", "list": [true, null] } });
        let yaml = "goal: x\ncontext:\n  n: 1\n  answer: no\n  list: [true, null]\n";
        assert_eq!(parse(yaml, Syntax::Yaml).unwrap(), expected);
        assert_eq!(parse(&expected.to_string(), Syntax::Json).unwrap(), expected);
        assert_eq!(parse(&expected.to_string(), Syntax::Yaml).unwrap(), expected);
        assert_eq!(parse(&format!("\u{feff}{yaml}"), Syntax::Yaml).unwrap(), expected);
    }

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let task =
            |tool: &str| json!({ "goal": "g", "context": {}, "expectedOutput": "o", "tools": ["file_read", tool] });
        assert!(read(&task("file_write")).task.is_some());
        let reading = read(&task("file_wrte"));
        assert_eq!(reading.task, None);
        let problem = reading.problems[0].to_string();
        assert!(
            problem.starts_with("tools[1]: there is no tool \"file_wrte\"; there are file_read,"),
            "{problem}"
        );
    }

    #[test]
    fn a_rule_about_a_tool_that_nobody_has_is_warned_about_with_its_place() {
        let task = |rules: Value| json!({ "goal": "g", "context": {}, "expectedOutput": "o", "hooks": rules });
        let said = |rules: Value| -> Vec<String> {
            let reading = read(&task(rules));
            assert!(reading.task.is_some(), "it is a warning: {:?}", reading.problems);
            let warnings = reading.problems.iter().filter(|problem| problem.warning);
            warnings.map(|problem| problem.to_string()).collect()
        };
        let typos = said(json!([{ "maxSteps": 3 }, { "forbid": "directory_lst" }, { "askMe": { "tool": "shell_x" } }]));
        let begin = [
            "hooks[1].forbid: there is no tool \"directory_lst\", so this rule forbids nothing; there are ",
            "hooks[2].askMe.tool: there is no tool \"shell_x\", so this rule asks about nothing; there are ",
        ];
        assert_eq!(typos.len(), begin.len(), "{typos:?}");
        assert!(
            typos.iter().zip(begin).all(|(said, begin)| said.starts_with(begin)),
            "{typos:?}"
        );
        let fine =
            json!([{ "forbid": "directory_list" }, { "askMe": { "tool": "server__tool" } }, { "askMe": "step" }]);
        assert_eq!(said(fine), [""; 0]);
    }

    #[test]
    fn says_where_yaml_breaks() {
        check_error(
            "goal: x\n  bad: [1, 2\n",
            Syntax::Yaml,
            "the task is not valid YAML: line 2, column ",
        );
        check_error("goal: 'x\n", Syntax::Yaml, "the task is not valid YAML: line ");
        check_error(
            "goal: x\ngoal: y\n",
            Syntax::Yaml,
            "the task is not valid YAML: line 2, column 1: duplicate",
        );
    }

    #[test]
    fn says_of_what_is_no_number_that_it_is_none() {
        for word in [".nan", ".inf", "-.inf"] {
            let error = parse(&format!("goal: x\ncontext: {{ n: {word} }}\n"), Syntax::Yaml).unwrap_err();
            let error = crate::error::explain(error);
            assert!(error.message.contains("are no numbers"), "{error}");
            assert_eq!(error.hint.as_deref(), Some("Change what stands there."), "{error}");
        }
    }

    #[test]
    fn says_where_json_breaks() {
        check_error(
            "{\"goal\": \"x\",\n}",
            Syntax::Json,
            "the task is not valid JSON: line 2, column 1: trailing comma",
        );
        check_error("", Syntax::Json, "the task is not valid JSON: line 1, column 1: ");
    }

    #[test]
    fn says_what_it_is_instead_of_an_object() {
        check_error(
            "- a\n- b\n",
            Syntax::Yaml,
            "a task must have a goal and an expectedOutput, but this is a list",
        );
        check_error(
            "just words",
            Syntax::Yaml,
            "a task must have a goal and an expectedOutput, but this is only text",
        );
        check_error(
            "",
            Syntax::Yaml,
            "a task must have a goal and an expectedOutput, but this is empty",
        );
        check_error(
            "7",
            Syntax::Json,
            "a task must have a goal and an expectedOutput, but this is a number",
        );
    }

    #[test]
    fn refuses_a_small_text_that_would_grow_without_end() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let before = format!("*a{},", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(',')));
        }
        let refused = parse(&bomb, Syntax::Yaml).unwrap_err().to_string();
        assert!(refused.contains("may hold"), "{refused}");
    }

    #[test]
    fn reads_a_file_of_ten_thousand_steps() {
        let step = |n: usize| format!("  - id: s{n}\n    ask: {{ instructions: Say it, maxTokens: 10 }}\n");
        let file: String = "id: long\nsteps:\n"
            .chars()
            .chain((0..10_000).flat_map(|n| step(n).chars().collect::<Vec<_>>()))
            .collect();
        let read = parse(&file, Syntax::Yaml).unwrap();
        assert_eq!(read["steps"].as_array().unwrap().len(), 10_000);
    }

    #[test]
    fn refuses_what_is_nested_too_deeply() {
        let deep = format!("goal: {}{}", "[".repeat(5000), "]".repeat(5000));
        let too_deep = |text: &str, syntax| {
            let refused = parse(text, syntax).unwrap_err().to_string();
            assert!(refused.contains("too deep in each other"), "{refused}");
        };
        too_deep(&deep, Syntax::Yaml);
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        too_deep(&deep, Syntax::Json);
    }

    #[test]
    fn tells_four_kinds_of_bad_files_apart() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let missing = load(&folder.path().join("none.yaml")).unwrap_err().to_string();
        assert!(missing.ends_with("cannot be read: there is no such file"), "{missing}");
        let picture = load(&write("picture.yaml", b"\xff\xfe\x00")).unwrap_err().to_string();
        assert!(picture.ends_with("cannot be read: it is not UTF-8 text"), "{picture}");
        let own = load(folder.path()).unwrap_err();
        assert!(matches!(own, TaskFileError::Extension { .. }), "{own}");
        let named = folder.path().join("folder.yaml");
        std::fs::create_dir(&named).unwrap();
        let a_folder = load(&named).unwrap_err().to_string();
        assert!(a_folder.ends_with("cannot be read: it is not a file"), "{a_folder}");
        let word = load(&write("task.txt", b"goal: x")).unwrap_err();
        assert!(matches!(word, TaskFileError::Extension { .. }), "{word}");
        let broken = load(&write("broken.yml", b"goal: [")).unwrap_err();
        assert!(matches!(broken, TaskFileError::Syntax { .. }), "{broken}");
        let list = load(&write("list.json", b"[]")).unwrap_err();
        assert_eq!(list, TaskFileError::NotAnObject { found: "a list" });
        let large = load(&write("large.yaml", &vec![b'#'; LIMIT as usize + 1]))
            .unwrap_err()
            .to_string();
        assert!(large.ends_with("it is larger than 1 MB"), "{large}");
    }

    #[test]
    fn a_task_works_in_its_own_folder_or_inside_it() {
        let file = Path::new("/home/ana/tasks/june.yaml");
        let folder = |asked| folder_of(file, asked);
        assert_eq!(folder(None), Ok(PathBuf::from("/home/ana/tasks")));
        assert_eq!(folder(Some(" ")), Ok(PathBuf::from("/home/ana/tasks")));
        assert_eq!(
            folder(Some("june/./data")),
            Ok(PathBuf::from("/home/ana/tasks/june/data"))
        );
        assert_eq!(folder(Some("june/../data")), Ok(PathBuf::from("/home/ana/tasks/data")));
        assert_eq!(folder(Some("../other")), Err(PathBuf::from("/home/ana/other")));
        assert_eq!(folder(Some("/etc")), Err(PathBuf::from("/etc")));
        assert_eq!(folder(Some("../tasks2")), Err(PathBuf::from("/home/ana/tasks2")));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_a_task_out_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("inside")).unwrap();
        let file = folder.path().join("task.yaml");
        assert_eq!(
            folder_of(&file, Some("inside")),
            Err(outside.path().canonicalize().unwrap())
        );
    }
}
