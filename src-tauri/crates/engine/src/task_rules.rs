//! What a task must be (seed *tepa-pipeline-in-detail*, "Prompt structure"; goal-pipeline page,
//! "Task"). Every problem is listed at once with its path, in words; unknown keys are warned about
//! and kept.

use contract::criterion::CheckSpec;
use contract::error::Problem;
use contract::hash::Hash;
use contract::rule::HookRule;
use contract::task::Task;
use serde_json::{Map, Value};

use crate::{depth, requests};

/// What became of reading a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskReading {
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings.
    pub problems: Vec<Problem>,
}

const TASK_KEYS: [&str; 11] = [
    "goal",
    "context",
    "expectedOutput",
    "name",
    "workingFolder",
    "models",
    "limits",
    "approval",
    "tools",
    "hooks",
    "permissions",
];
const ITEM_KEYS: [&str; 3] = ["path", "description", "criteria"];
const CRITERION_KEYS: [&str; 4] = ["text", "check", "required", "weight"];
const LIMITS: [(&str, u64); 5] = [
    ("maxCycles", 1),
    ("maxTokens", 1),
    ("toolTimeout", 1),
    ("maxParallel", 1),
    ("retryAttempts", 0),
];
/// How many levels what a task says may have: it is written down inside of other things.
const DEEPEST: usize = 64;
/// A year; who wants more wants no limit.
const MOST_MINUTES: u64 = 527_040;
const NAMED_VALUES: &str = "write named values, such as `month: May`, or {} when there is nothing to say";
const ROLES: [&str; 2] = ["planner", "judge"];
const THINKERS: [&str; 4] = ["planner", "judge", "executorLow", "executorHigh"];

/// Reads a task from a value (of YAML or JSON) and lists every problem at once.
///
/// `check_problems` says what is wrong with a check's name and arguments, for the file that it looks at; without one, for
/// an answer.
pub fn read(value: &Value, check_problems: &dyn Fn(Option<&str>, &CheckSpec) -> Vec<String>) -> TaskReading {
    let mut reader = Reader {
        problems: Vec::new(),
        check_problems,
    };
    let Some(map) = value.as_object() else {
        reader.problem("", "a task is a list of named fields: goal, context, expectedOutput");
        return TaskReading {
            task: None,
            problems: reader.problems,
        };
    };
    reader.task(map);
    let mut problems = reader.problems;
    if problems.iter().any(|problem| !problem.warning) {
        return TaskReading { task: None, problems };
    }
    match serde_json::from_value(value.clone()) {
        Ok(task) => TaskReading {
            task: Some(task),
            problems,
        },
        Err(error) => {
            problems.push(Problem::new("", error.to_string()));
            TaskReading { task: None, problems }
        }
    }
}

struct Reader<'a> {
    problems: Vec<Problem>,
    check_problems: &'a dyn Fn(Option<&str>, &CheckSpec) -> Vec<String>,
}

impl Reader<'_> {
    fn problem(&mut self, path: &str, message: &str) {
        self.problems.push(Problem::new(path, message));
    }

    fn task(&mut self, map: &Map<String, Value>) {
        for (key, value) in map {
            self.numbers(key, value);
            if !depth::is_within(value, DEEPEST) {
                let message = format!(
                    "has more than {DEEPEST} levels of lists and named values inside of each other: keep it in a file"
                );
                self.problem(key, &message);
            }
        }
        match map.get("goal") {
            goal if is_text(goal) => {}
            None | Some(Value::Null | Value::String(_)) => self.problem("goal", "write what you want done"),
            Some(_) => self.problem("goal", "write what you want done, as a text"),
        }
        // Seed tepa-pipeline-in-detail, Prompt Structure: it is one of the fields that must be there.
        match map.get("context") {
            Some(Value::Object(_)) => {}
            Some(_) => self.problem("context", NAMED_VALUES),
            None => self.problem("context", &format!("is missing: {NAMED_VALUES}")),
        }
        self.expected_output(map.get("expectedOutput"));
        for key in ["name", "workingFolder"] {
            if !matches!(map.get(key), None | Some(Value::String(_))) {
                self.problem(key, "write a text");
            }
        }
        self.models(map.get("models"));
        self.limits(map.get("limits"));
        match map.get("approval").map(Value::as_str) {
            None | Some(Some("every_plan" | "first_plan" | "never")) => {}
            Some(_) => self.problem("approval", "write every_plan, first_plan or never"),
        }
        let is_texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        if map.get("tools").is_some_and(|tools| !is_texts(tools)) {
            self.problem("tools", "write a list of tool names");
        }
        self.hooks(map.get("hooks"));
        if map.contains_key("permissions") {
            let message = "what a file asks for here is off and kept as it is: a run may do what you allow when you approve its plan";
            self.problems.push(Problem::warning("permissions".to_owned(), message));
            self.problems.extend(
                map.get("permissions")
                    .map(|asked| requests::read(asked).1)
                    .into_iter()
                    .flatten(),
            );
        }
        self.unknown_keys("", map, &TASK_KEYS);
    }

    /// Every number must be one that can be kept exactly.
    fn numbers(&mut self, path: &str, value: &Value) {
        match value {
            Value::Number(_) => {
                if let Err(error) = Hash::of_value(value) {
                    self.problem(path, &format!("{error}; write it as a text"));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.numbers(&format!("{path}[{index}]"), item);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.numbers(&format!("{path}.{name}"), field);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    fn hooks(&mut self, value: Option<&Value>) {
        match value {
            None => {}
            Some(Value::Array(rules)) => {
                for (index, rule) in rules.iter().enumerate() {
                    if let Err(problem) = HookRule::read(rule) {
                        self.problem(&format!("hooks[{index}]"), &problem);
                    }
                }
            }
            Some(_) => self.problem("hooks", "write a list of rules, such as `- maxSteps: 6`"),
        }
    }

    fn expected_output(&mut self, value: Option<&Value>) {
        match value {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::Array(items)) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.item(&format!("expectedOutput[{index}]"), item);
                }
                self.places(items);
            }
            _ => self.problem(
                "expectedOutput",
                "write what should come out: a sentence, or a list of results",
            ),
        }
    }

    /// A criterion is known by its place: of two items with one place, only the first would be checked.
    fn places(&mut self, items: &[Value]) {
        let mut taken: Vec<String> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = item.get("path").and_then(Value::as_str).map(str::trim);
            let place = match path {
                Some(path) => path.trim_start_matches("./").to_owned(),
                // As the criteria of an answer are called.
                None => format!("answer_{}", index + 1),
            };
            if taken.contains(&place) {
                self.problem(
                    &format!("expectedOutput[{index}].path"),
                    &format!("\"{place}\" stands here twice; write all its criteria in one place"),
                );
            }
            taken.push(place);
        }
    }

    fn item(&mut self, path: &str, item: &Value) {
        let Some(map) = item.as_object() else {
            self.problem(path, "write a result with a description, and a path when it is a file");
            return;
        };
        if !is_text(map.get("description")) {
            self.problem(&format!("{path}.description"), "write what this result is");
        }
        if map.contains_key("path") && !is_text(map.get("path")) {
            self.problem(
                &format!("{path}.path"),
                "write where the file should be, or leave it out for an answer",
            );
        }
        if map.get("path").and_then(Value::as_str).is_some_and(leads_out) {
            self.problem(
                &format!("{path}.path"),
                "write a path inside the working folder, such as report.md",
            );
        }
        match map.get("criteria") {
            None => {}
            Some(Value::Array(criteria)) => {
                for (index, criterion) in criteria.iter().enumerate() {
                    let file = map.get("path").and_then(Value::as_str);
                    self.criterion(&format!("{path}.criteria[{index}]"), file, criterion);
                }
            }
            Some(_) => self.problem(&format!("{path}.criteria"), "write a list of sentences"),
        }
        self.unknown_keys(path, map, &ITEM_KEYS);
    }

    fn criterion(&mut self, path: &str, file: Option<&str>, criterion: &Value) {
        let map = match criterion {
            Value::String(text) if !text.trim().is_empty() => return,
            Value::Object(map) => map,
            _ => {
                self.problem(path, "write a sentence that must hold");
                return;
            }
        };
        if !is_text(map.get("text")) {
            self.problem(&format!("{path}.text"), "write a sentence that must hold");
        }
        if !matches!(map.get("required"), None | Some(Value::Bool(_))) {
            self.problem(&format!("{path}.required"), "write true or false");
        }
        if map
            .get("weight")
            .is_some_and(|weight| !weight.as_f64().is_some_and(|weight| weight >= 0.0))
        {
            self.problem(&format!("{path}.weight"), "write a number that is not negative");
        }
        if let Some(check) = map.get("check") {
            self.check(&format!("{path}.check"), file, check);
        }
        self.unknown_keys(path, map, &CRITERION_KEYS);
    }

    fn check(&mut self, path: &str, file: Option<&str>, check: &Value) {
        match CheckSpec::read(check) {
            Err(message) => self.problem(path, &message),
            Ok(spec) => {
                for message in (self.check_problems)(file, &spec) {
                    self.problem(path, &message);
                }
            }
        }
    }

    fn models(&mut self, value: Option<&Value>) {
        let Some(value) = value else { return };
        let Some(map) = value.as_object() else {
            self.problem("models", "write which model does what: planner, judge, executor");
            return;
        };
        for role in ROLES {
            if map.contains_key(role) && !is_text(map.get(role)) {
                self.problem(&format!("models.{role}"), "write the name of a model");
            }
        }
        match map.get("executor") {
            None => {}
            Some(Value::Object(tiers)) => {
                for tier in ["low", "high"] {
                    if tiers.contains_key(tier) && !is_text(tiers.get(tier)) {
                        self.problem(&format!("models.executor.{tier}"), "write the name of a model");
                    }
                }
                self.unknown_keys("models.executor", tiers, &["low", "high"]);
            }
            Some(_) => self.problem("models.executor", "write two models: low and high"),
        }
        match map.get("reasoning") {
            None => {}
            Some(Value::Object(roles)) => {
                for (role, effort) in roles.iter().filter(|(role, _)| THINKERS.contains(&role.as_str())) {
                    if !matches!(effort.as_str(), Some("low" | "medium" | "high")) {
                        self.problem(&format!("models.reasoning.{role}"), "write low, medium or high");
                    }
                }
                self.unknown_keys("models.reasoning", roles, &THINKERS);
            }
            Some(_) => self.problem(
                "models.reasoning",
                "write how much each role thinks, such as `planner: high`",
            ),
        }
        self.unknown_keys("models", map, &["planner", "judge", "executor", "reasoning"]);
    }

    fn limits(&mut self, value: Option<&Value>) {
        let Some(value) = value else { return };
        let Some(map) = value.as_object() else {
            self.problem("limits", "write named limits, such as `maxCycles: 5`");
            return;
        };
        for (key, least) in LIMITS {
            // 2^53: the window counts in JavaScript's numbers; cycles and the like fit 32 bits.
            let most = if key == "maxTokens" || key == "toolTimeout" {
                1 << 53
            } else {
                u64::from(u32::MAX)
            };
            if map
                .get(key)
                .is_some_and(|limit| !limit.as_u64().is_some_and(|limit| (least..=most).contains(&limit)))
            {
                self.problem(
                    &format!("limits.{key}"),
                    &format!("write a whole number, {least} or more"),
                );
            }
        }
        let amount = |limit: &Value| limit.as_f64().is_some_and(|amount| amount.is_finite() && amount >= 0.0);
        if map.get("maxCost").is_some_and(|limit| !amount(limit)) {
            self.problem("limits.maxCost", "write a number that is not negative");
        }
        let minutes = |limit: &Value| limit.as_u64().is_some_and(|limit| (1..=MOST_MINUTES).contains(&limit));
        if map.get("maxMinutes").is_some_and(|limit| !minutes(limit)) {
            self.problem("limits.maxMinutes", "write a whole number of minutes, 1 or more");
        }
        let known: Vec<&str> = LIMITS
            .iter()
            .map(|(key, _)| *key)
            .chain(["maxCost", "maxMinutes"])
            .collect();
        self.unknown_keys("limits", map, &known);
    }

    fn unknown_keys(&mut self, path: &str, map: &Map<String, Value>, known: &[&str]) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let place = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            self.problems.push(Problem::warning(
                place,
                "this version does not know this field; it is kept as it is",
            ));
        }
    }
}

/// Whether a path is absolute, in the words of any system, or climbs out of the folder it starts in.
fn leads_out(path: &str) -> bool {
    let path = path.trim();
    let has_drive = path.chars().nth(1) == Some(':');
    let mut depth = 0_i32;
    let climbs = path.split(['/', '\\']).any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    });
    path.starts_with(['/', '\\', '~']) || has_drive || climbs
}

fn is_text(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expected: &[&str]) {
        let reading = read(value, &|_, check| match check.name.as_str() {
            "words" => Vec::new(),
            other => vec![format!("there is no check \"{other}\"")],
        });
        let problems: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, expected);
        assert_eq!(
            reading.task.is_some(),
            reading.problems.iter().all(|problem| problem.warning)
        );
    }

    #[test]
    fn accepts_what_tepa_accepts() {
        check(&json!({ "goal": "g", "context": {}, "expectedOutput": "a file" }), &[]);
        check(
            &json!({ "goal": "g", "context": { "a": 1 }, "expectedOutput": [
            { "path": "a.md", "description": "d", "criteria": ["one", { "text": "two", "check": { "words": { "max": 4 } } }] },
            { "description": "an answer" },
        ] }),
            &[],
        );
    }

    #[test]
    fn a_task_says_its_context_even_when_there_is_none() {
        let missing =
            "context: is missing: write named values, such as `month: May`, or {} when there is nothing to say";
        check(&json!({ "goal": "g", "expectedOutput": "o" }), &[missing]);
        let unfit = "context: write named values, such as `month: May`, or {} when there is nothing to say";
        check(
            &json!({ "goal": "g", "context": null, "expectedOutput": "o" }),
            &[unfit],
        );
        check(
            &json!({ "goal": "g", "context": "May", "expectedOutput": "o" }),
            &[unfit],
        );
        check(&json!({ "goal": "g", "context": {}, "expectedOutput": "o" }), &[]);
    }

    #[test]
    fn a_number_that_cannot_be_kept_is_named_with_its_place() {
        let task =
            json!({ "goal": "g", "context": { "ids": [1, 12_345_678_901_234_567_890_u64] }, "expectedOutput": "o" });
        let reading = read(&task, &|_, _| Vec::new());
        let said = reading.problems[0].to_string();
        assert!(
            said.starts_with("context.ids[1]: ") && said.ends_with("; write it as a text"),
            "{said}"
        );
    }

    #[test]
    fn what_a_task_says_is_not_nested_without_end() {
        let nested = |levels: usize| (1..levels).fold(json!("x"), |inner, _| json!({ "in": inner }));
        let task = |levels| json!({ "goal": "g", "context": nested(levels), "expectedOutput": "o" });
        check(&task(64), &[]);
        check(
            &task(65),
            &["context: has more than 64 levels of lists and named values inside of each other: keep it in a file"],
        );
    }

    #[test]
    fn lists_every_problem_with_its_path() {
        check(
            &json!({
                "goal": " ", "context": [], "approval": "sometimes", "limits": { "maxCycles": 0, "maxTokens": "many" },
                "expectedOutput": [7, { "description": "", "path": "", "criteria": ["", { "text": "t", "check": { "a": 1, "b": 2 }, "weight": -1 },
                    { "text": "u", "check": "magic" }] }],
            }),
            &[
                "goal: write what you want done",
                "context: write named values, such as `month: May`, or {} when there is nothing to say",
                "expectedOutput[0]: write a result with a description, and a path when it is a file",
                "expectedOutput[1].description: write what this result is",
                "expectedOutput[1].path: write where the file should be, or leave it out for an answer",
                "expectedOutput[1].criteria[0]: write a sentence that must hold",
                "expectedOutput[1].criteria[1].weight: write a number that is not negative",
                "expectedOutput[1].criteria[1].check: write one check, such as `words: { max: 400 }`",
                "expectedOutput[1].criteria[2].check: there is no check \"magic\"",
                "limits.maxCycles: write a whole number, 1 or more",
                "limits.maxTokens: write a whole number, 1 or more",
                "approval: write every_plan, first_plan or never",
            ],
        );
    }

    #[test]
    fn a_result_stands_in_one_place() {
        check(
            &json!({ "goal": "g", "context": {}, "expectedOutput": [
                { "path": "a.md", "description": "d", "criteria": ["one"] },
                { "path": "./a.md", "description": "d", "criteria": [{ "text": "two", "check": { "words": { "max": 4 } } }] },
                { "description": "an answer" },
                { "path": "answer_3", "description": "d" },
            ] }),
            &[
                "expectedOutput[1].path: \"a.md\" stands here twice; write all its criteria in one place",
                "expectedOutput[3].path: \"answer_3\" stands here twice; write all its criteria in one place",
            ],
        );
    }

    #[test]
    fn an_expected_file_is_inside_the_folder() {
        let task = |path: &str| json!({ "goal": "g", "context": {}, "expectedOutput": [{ "path": path, "description": "d" }] });
        for outside in ["/etc/x.md", "../x.md", "a/../../x.md", "C:\\x.md", "~/x.md", "..\\x.md"] {
            check(
                &task(outside),
                &["expectedOutput[0].path: write a path inside the working folder, such as report.md"],
            );
        }
        for inside in ["x.md", "./a/x.md", "a/../x.md", "..x.md"] {
            check(&task(inside), &[]);
        }
    }

    #[test]
    fn keeps_and_mentions_what_it_does_not_know() {
        check(
            &json!({ "goal": "g", "context": {}, "expectedOutput": "o", "colour": "blue", "permissions": {} }),
            &[
                "permissions: what a file asks for here is off and kept as it is: a run may do what you allow when you approve its plan",
                "colour: this version does not know this field; it is kept as it is",
            ],
        );
    }

    #[test]
    fn what_it_does_not_know_is_there_again_when_it_is_written() {
        let written = json!({
            "goal": "g", "context": {}, "colour": "blue",
            "expectedOutput": [{ "description": "d", "size": 1, "criteria": [{ "text": "t", "because": "so" }] }],
            "models": { "planner": "p", "artist": "a", "executor": { "low": "l", "middle": "m" } },
            "limits": { "maxCycles": 2, "maxSleep": 3 },
        });
        let task = read(&written, &|_, _| Vec::new()).task.unwrap();
        let again = serde_json::to_value(&task).unwrap();
        for place in [
            "/colour",
            "/expectedOutput/0/size",
            "/expectedOutput/0/criteria/0/because",
            "/models/artist",
            "/models/executor/middle",
            "/limits/maxSleep",
        ] {
            assert_eq!(again.pointer(place), written.pointer(place), "{place}");
        }
    }

    #[test]
    fn a_task_without_limits_has_five_cycles_and_64_000_tokens() {
        let task = read(
            &json!({ "goal": "g", "context": {}, "expectedOutput": "o" }),
            &|_, _| Vec::new(),
        )
        .task
        .unwrap();
        assert_eq!((task.limits.max_cycles, task.limits.max_tokens), (5, 64_000));
    }

    #[test]
    fn what_is_no_object_is_no_task() {
        check(
            &json!("do it"),
            &["a task is a list of named fields: goal, context, expectedOutput"],
        );
        check(
            &json!({}),
            &[
                "goal: write what you want done",
                "context: is missing: write named values, such as `month: May`, or {} when there is nothing to say",
                "expectedOutput: write what should come out: a sentence, or a list of results",
            ],
        );
    }
}
