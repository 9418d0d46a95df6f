//! The rules of plans (seed *tepa-pipeline-in-detail*, "Plan validation"; goal-pipeline page,
//! "Planner"). All problems are collected, so that the planner can be told all of them.

use std::collections::HashSet;

use contract::plan::{Mode, Plan, PlanStep};
use contract::ports::tool::Tool;
use serde_json::{Map, Value, json};

use crate::registry::Registry;
use crate::tool_talk::MOST_ROUNDS;
use crate::{order, references, schema};

/// What a plan may refer to.
pub struct Known<'a> {
    /// The tools.
    pub tools: &'a Registry<dyn Tool>,
    /// The models that a step may name.
    pub models: &'a [String],
    /// Results of earlier cycles, such as `cycle_1.step_3`.
    pub earlier: &'a [String],
}

/// The shape that a planner is asked for.
pub fn plan_schema() -> Value {
    let text = || json!({ "type": "string", "minLength": 1 });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "required": ["reasoning", "estimatedTokens", "steps"],
        "properties": {
            "reasoning": text(),
            "estimatedTokens": { "type": "number", "minimum": 0 },
            "steps": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["id", "description", "tools", "expectedOutcome", "dependencies"],
                "properties": {
                    "id": text(), "name": text(), "description": text(), "tools": texts(),
                    "expectedOutcome": text(), "dependencies": texts(), "inputs": texts(),
                    "model": text(), "tier": { "enum": ["low", "high"] }, "args": { "type": "object" },
                    "mode": { "enum": ["each_once", "free"] },
                    "maxRounds": { "type": "integer", "minimum": 1, "maximum": MOST_ROUNDS },
                },
            } },
        },
    })
}

/// Reads a plan.
///
/// # Errors
/// Everything that is wrong with it, each in a sentence that a planner can act on.
pub fn read(value: &Value, known: &Known<'_>) -> Result<Plan, Vec<String>> {
    read_located(value, known).map_err(|found| Problems { step: None, found }.messages())
}

/// Something that is wrong with a plan, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// The steps that it is about, by their place in the plan, from 0; none when it is about the plan as a whole.
    pub steps: Vec<usize>,
    /// What is wrong, in a sentence.
    pub message: String,
}

/// What was found so far, and the step that is looked at.
#[derive(Default)]
struct Problems {
    step: Option<usize>,
    found: Vec<PlanProblem>,
}

impl Problems {
    fn push(&mut self, message: String) {
        let steps = self.step.into_iter().collect();
        self.found.push(PlanProblem { steps, message });
    }

    fn messages(self) -> Vec<String> {
        self.found.into_iter().map(|problem| problem.message).collect()
    }
}

/// Reads a plan, as [`read`] does.
///
/// # Errors
/// The same problems, each with the steps that it is about: whoever shows a plan shows them there.
pub fn read_located(value: &Value, known: &Known<'_>) -> Result<Plan, Vec<PlanProblem>> {
    let mut problems = Problems::default();
    let Some(map) = value.as_object() else {
        problems.push("Plan must be a JSON object".to_owned());
        return Err(problems.found);
    };
    if !is_text(map.get("reasoning")) {
        problems.push("Plan must have a non-empty \"reasoning\" string".to_owned());
    }
    if !map
        .get("estimatedTokens")
        .and_then(Value::as_f64)
        .is_some_and(|tokens| tokens >= 0.0)
    {
        problems.push("Plan must have a non-negative \"estimatedTokens\" number".to_owned());
    }
    let steps = map
        .get("steps")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if steps.is_empty() {
        problems.push("Plan must have a non-empty \"steps\" array".to_owned());
    }
    let (places, shaped) = shaped(steps, &mut problems);
    let ids = steps.iter().map(|step| step.get("id").and_then(Value::as_str));
    relate(ids, &places, &shaped, known, &mut problems);
    if !problems.found.is_empty() {
        return Err(problems.found);
    }
    serde_json::from_value(without_nulls(value)).map_err(|error| {
        problems.push(error.to_string());
        problems.found
    })
}

/// The steps that have the right shape, with their places. What is wrong with one must not hide what is wrong with
/// another: a planner is told once.
fn shaped(steps: &[Value], problems: &mut Problems) -> (Vec<usize>, Vec<PlanStep>) {
    let mut shaped = (Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len()));
    for (index, step) in steps.iter().enumerate() {
        problems.step = Some(index);
        let before = problems.found.len();
        step_shape(index, step, problems);
        if problems.found.len() > before {
            continue;
        }
        match serde_json::from_value(step_without_nulls(step)) {
            Ok(step) => {
                shaped.0.push(index);
                shaped.1.push(step);
            }
            Err(error) => problems.push(format!("Step number {}: {error}", index + 1)),
        }
    }
    problems.step = None;
    shaped
}

/// What is wrong with how steps of the right shape stand to each other, to tools and to models. The work grows with the
/// plan, not with its square.
fn relate<'v>(
    ids: impl Iterator<Item = Option<&'v str>>,
    indexes: &[usize],
    steps: &[PlanStep],
    known: &Known<'_>,
    problems: &mut Problems,
) {
    let mut places = Places {
        steps: HashSet::new(),
        earlier: known.earlier.iter().map(String::as_str).collect(),
    };
    for (index, id) in ids.enumerate() {
        let Some(id) = id.filter(|id| !id.trim().is_empty()) else {
            continue;
        };
        if !places.steps.insert(id) {
            problems.step = Some(index);
            problems.push(format!("Duplicate step ID: \"{id}\""));
        }
    }
    for (index, step) in indexes.iter().zip(steps) {
        problems.step = Some(*index);
        relations(step, &places, known, problems);
        arguments(step, &places, known, problems);
        mode(step, problems);
    }
    problems.step = None;
    if let Err(circle) = order::order(steps) {
        let message = format!("Circular dependency between the steps {}", quoted(&circle));
        let circle: HashSet<String> = circle.into_iter().collect();
        let of_circle = indexes.iter().zip(steps).filter(|(_, step)| circle.contains(&step.id));
        problems.found.push(PlanProblem {
            steps: of_circle.map(|(index, _)| *index).collect(),
            message,
        });
    }
}

/// Reads a step that a hook changed while its plan runs: it keeps its id and what it is given.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_step(value: &Value, before: &PlanStep, known: &Known<'_>) -> Result<PlanStep, Vec<String>> {
    let mut problems = Problems::default();
    step_shape(0, value, &mut problems);
    if !problems.found.is_empty() {
        return Err(problems.messages());
    }
    let mut value = value.clone();
    if let Some(step) = value.as_object_mut() {
        step.retain(|_, value| !value.is_null());
    }
    let step: PlanStep = serde_json::from_value(value).map_err(|error| vec![error.to_string()])?;
    let kept = step.id == before.id && step.dependencies == before.dependencies && step.inputs == before.inputs;
    if !kept {
        problems.push(format!(
            "Step \"{}\" must keep its id, its dependencies and its inputs while its plan runs",
            before.id
        ));
    }
    let places = Places {
        steps: step.dependencies.iter().map(String::as_str).collect(),
        earlier: step.inputs.iter().map(String::as_str).collect(),
    };
    relations(&step, &places, known, &mut problems);
    arguments(&step, &places, known, &mut problems);
    if problems.found.is_empty() {
        Ok(step)
    } else {
        Err(problems.messages())
    }
}

/// What a step can refer to.
struct Places<'a> {
    steps: HashSet<&'a str>,
    earlier: HashSet<&'a str>,
}

impl Places<'_> {
    fn contains(&self, name: &str) -> bool {
        self.steps.contains(name) || self.earlier.contains(name)
    }
}

/// Names to choose from, as far as a message has room for them.
fn offered<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const MOST: usize = 40;
    let count = names.len();
    if count == 0 {
        return "none".to_owned();
    }
    let mut text = names.take(MOST).collect::<Vec<_>>().join(", ");
    if count > MOST {
        text.push_str(&format!(" and {} more", count - MOST));
    }
    text
}

fn is_text(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty())
}

/// Whether `{{id.part}}` can name the step, and nothing else: earlier tools of a step are `tool_1`, `tool_2`, …
fn is_referable(id: &str) -> bool {
    id.chars()
        .all(|character| character.is_alphanumeric() || character == '-' || character == '_')
        && !id.starts_with("tool_")
}

/// Models write null for what they leave out.
fn without_nulls(value: &Value) -> Value {
    let mut value = value.clone();
    for step in value
        .get_mut("steps")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        *step = step_without_nulls(step);
    }
    value
}

fn step_without_nulls(step: &Value) -> Value {
    let mut step = step.clone();
    if let Some(map) = step.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    step
}

fn step_shape(index: usize, step: &Value, problems: &mut Problems) {
    let Some(map) = step.as_object() else {
        problems.push(format!("Each step must be an object; number {} is not", index + 1));
        return;
    };
    let name = match map.get("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty()) {
        Some(id) => {
            if !is_referable(id) {
                problems.push(format!(
                    "Step \"{id}\" needs an id of letters, digits, - and _ that does not begin with \"tool_\""
                ));
            }
            format!("Step \"{id}\"")
        }
        None => {
            problems.push(format!(
                "Each step must have a non-empty \"id\" string; number {} has none",
                index + 1
            ));
            format!("Step number {}", index + 1)
        }
    };
    for key in ["description", "expectedOutcome"] {
        if !is_text(map.get(key)) {
            problems.push(format!("{name} must have a non-empty \"{key}\""));
        }
    }
    for key in ["tools", "dependencies"] {
        text_list(&name, key, map.get(key), true, problems);
    }
    text_list(&name, "inputs", map.get("inputs"), false, problems);
    optional_keys(&name, map, problems);
}

fn text_list(name: &str, key: &str, value: Option<&Value>, required: bool, problems: &mut Problems) {
    match value {
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {}
        Some(Value::Array(_)) => problems.push(format!("{name} {key} must be strings")),
        None | Some(Value::Null) if !required => {}
        _ => problems.push(format!("{name} must have a \"{key}\" array")),
    }
}

fn optional_keys(name: &str, map: &Map<String, Value>, problems: &mut Problems) {
    match map.get("tier") {
        None | Some(Value::Null) => {}
        Some(Value::String(tier)) if tier == "low" || tier == "high" => {}
        Some(other) => problems.push(format!(
            "{name} tier must be \"low\" or \"high\" if provided, got {other}"
        )),
    }
    match map.get("mode") {
        None | Some(Value::Null) => {}
        Some(Value::String(mode)) if mode == "each_once" || mode == "free" => {}
        Some(other) => problems.push(format!(
            "{name} mode must be \"each_once\" or \"free\" if provided, got {other}"
        )),
    }
    match map.get("maxRounds") {
        None | Some(Value::Null) => {}
        Some(rounds)
            if rounds
                .as_u64()
                .is_some_and(|rounds| (1..=u64::from(MOST_ROUNDS)).contains(&rounds)) => {}
        Some(other) => problems.push(format!(
            "{name} maxRounds must be a whole number from 1 to {MOST_ROUNDS} if provided, got {other}"
        )),
    }
    for key in ["name", "model"] {
        if !matches!(map.get(key), None | Some(Value::Null | Value::String(_))) {
            problems.push(format!("{name} {key} must be a string if provided"));
        }
    }
    if !matches!(map.get("args"), None | Some(Value::Null | Value::Object(_))) {
        problems.push(format!(
            "{name} args must be an object of arguments by tool name if provided"
        ));
    }
}

fn relations(step: &PlanStep, places: &Places<'_>, known: &Known<'_>, problems: &mut Problems) {
    let name = format!("Step \"{}\"", step.id);
    for dependency in &step.dependencies {
        if places.steps.contains(dependency.as_str()) {
            continue;
        }
        if places.earlier.contains(dependency.as_str()) {
            problems.push(format!(
                "{name} depends on \"{dependency}\" of an earlier cycle; list it in \"inputs\" instead: dependencies name steps of this plan only"
            ));
        } else {
            problems.push(format!("{name} references unknown dependency \"{dependency}\""));
        }
    }
    for input in step
        .inputs
        .iter()
        .filter(|input| !places.earlier.contains(input.as_str()))
    {
        let offered = offered(known.earlier.iter().map(String::as_str));
        problems.push(format!(
            "{name} references unknown input \"{input}\". Available: {offered}"
        ));
    }
    for tool in step.tools.iter().filter(|tool| known.tools.get(tool).is_none()) {
        let offered = known.tools.names().join(", ");
        problems.push(format!(
            "Plan references unknown tool \"{tool}\" in step \"{}\". Available tools: {offered}",
            step.id
        ));
    }
    if let Some(model) = step.model.as_ref().filter(|model| !known.models.contains(model)) {
        let offered = offered(known.models.iter().map(String::as_str));
        problems.push(format!("{name} names unknown model \"{model}\". Available: {offered}"));
    }
}

/// A free step needs something to be free with.
fn mode(step: &PlanStep, problems: &mut Problems) {
    let name = format!("Step \"{}\"", step.id);
    match step.mode {
        Mode::EachOnce if step.max_rounds.is_some() => {
            problems.push(format!("{name} has maxRounds, which belongs to mode \"free\""));
        }
        Mode::EachOnce => {}
        Mode::Free => {
            if step.tools.is_empty() {
                problems.push(format!("{name} has mode \"free\" and needs at least one tool"));
            }
            if !step.args.is_empty() {
                problems.push(format!(
                    "{name} has mode \"free\": its model makes the arguments, so it cannot have args"
                ));
            }
        }
    }
}

fn arguments(step: &PlanStep, places: &Places<'_>, known: &Known<'_>, problems: &mut Problems) {
    let declared: HashSet<&str> = step
        .dependencies
        .iter()
        .chain(&step.inputs)
        .map(String::as_str)
        .collect();
    for (tool, args) in &step.args {
        if !step.tools.contains(tool) {
            problems.push(format!(
                "Step \"{}\" has args for \"{tool}\", which is not one of its tools",
                step.id
            ));
            continue;
        }
        for root in references::roots_in(args, |name| places.contains(name))
            .into_iter()
            .filter(|root| !declared.contains(root))
        {
            problems.push(format!(
                "Step \"{}\" refers to {{{{{root}}}}} in its args without declaring it in \"dependencies\" or \"inputs\"",
                step.id
            ));
        }
        if let Some(tool_found) = known.tools.get(tool) {
            let found = schema::problems_except(&tool_found.info().parameters, args, &references::has_reference);
            for problem in found {
                problems.push(format!("Step \"{}\" args for \"{tool}\": {problem}", step.id));
            }
        }
    }
}

fn quoted(ids: &[String]) -> String {
    ids.iter().map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &Value, expected: &[&str]) {
        let tools = Registry::of_tools(vec![crate::testing::echo()]);
        let models = ["fast".to_owned()];
        let earlier = ["cycle_1.step_9".to_owned()];
        let known = Known {
            tools: &tools,
            models: &models,
            earlier: &earlier,
        };
        let problems = read(value, &known).err().unwrap_or_default();
        assert_eq!(problems, expected);
    }

    #[test]
    fn says_which_steps_a_problem_is_about() {
        let tools = Registry::of_tools(vec![crate::testing::echo()]);
        let known = Known {
            tools: &tools,
            models: &[],
            earlier: &[],
        };
        let value = plan(json!([
            step("a", json!({ "dependencies": ["b"] })),
            step("x", json!({ "expectedOutcome": "" })),
            step("b", json!({ "dependencies": ["a"] })),
            step("c", json!({ "tools": ["magic"] })),
            step("c", json!({})),
        ]));
        let found = read_located(&value, &known).unwrap_err();
        let places: Vec<&[usize]> = found.iter().map(|problem| problem.steps.as_slice()).collect();
        assert_eq!(places, [&[1][..], &[4], &[3], &[0, 2]]);
        let nothing = read_located(&json!({ "reasoning": "r", "estimatedTokens": 0, "steps": [] }), &known);
        assert_eq!(nothing.unwrap_err()[0].steps, [0_usize; 0]);
    }

    fn plan(steps: Value) -> Value {
        json!({ "reasoning": "because", "estimatedTokens": 0, "steps": steps })
    }

    fn step(id: &str, more: Value) -> Value {
        let mut step = json!({ "id": id, "description": "d", "tools": [], "expectedOutcome": "e", "dependencies": [] });
        if let (Some(step), Some(more)) = (step.as_object_mut(), more.as_object()) {
            step.extend(more.clone());
        }
        step
    }

    #[test]
    fn accepts_a_plan() {
        check(
            &plan(json!([
                step(
                    "a",
                    json!({ "tools": ["echo"], "args": { "echo": { "text": "x" } }, "tier": null })
                ),
                step(
                    "b",
                    json!({ "tools": ["echo"], "dependencies": ["a"], "inputs": ["cycle_1.step_9"], "model": "fast",
                "args": { "echo": { "text": "{{a}} {{cycle_1.step_9}} {{other}}", "count": "{{a.n}}" } } })
                ),
            ])),
            &[],
        );
    }

    #[test]
    fn lists_everything_that_has_the_wrong_shape() {
        check(&json!([]), &["Plan must be a JSON object"]);
        check(
            &json!({ "reasoning": " ", "estimatedTokens": -1, "steps": [] }),
            &[
                "Plan must have a non-empty \"reasoning\" string",
                "Plan must have a non-negative \"estimatedTokens\" number",
                "Plan must have a non-empty \"steps\" array",
            ],
        );
        check(
            &plan(json!([7, { "id": "a", "tools": [1], "dependencies": [2], "tier": "medium", "args": [] }])),
            &[
                "Each step must be an object; number 1 is not",
                "Step \"a\" must have a non-empty \"description\"",
                "Step \"a\" must have a non-empty \"expectedOutcome\"",
                "Step \"a\" tools must be strings",
                "Step \"a\" dependencies must be strings",
                "Step \"a\" tier must be \"low\" or \"high\" if provided, got \"medium\"",
                "Step \"a\" args must be an object of arguments by tool name if provided",
            ],
        );
    }

    #[test]
    fn lists_everything_that_leads_nowhere() {
        check(
            &plan(json!([
                step(
                    "a",
                    json!({ "dependencies": ["z", "cycle_1.step_9"], "tools": ["nope"], "model": "slow", "inputs": ["cycle_7.x"] })
                ),
                step("a", json!({})),
            ])),
            &[
                "Duplicate step ID: \"a\"",
                "Step \"a\" references unknown dependency \"z\"",
                "Step \"a\" depends on \"cycle_1.step_9\" of an earlier cycle; list it in \"inputs\" instead: dependencies name steps of this plan only",
                "Step \"a\" references unknown input \"cycle_7.x\". Available: cycle_1.step_9",
                "Plan references unknown tool \"nope\" in step \"a\". Available tools: echo",
                "Step \"a\" names unknown model \"slow\". Available: fast",
            ],
        );
    }

    #[test]
    fn what_is_wrong_with_one_step_does_not_hide_what_is_wrong_with_another() {
        check(
            &plan(json!([
                step("a", json!({ "expectedOutcome": "" })),
                step("b", json!({ "dependencies": ["a", "z"], "tools": ["nope"] })),
                step("", json!({ "tools": ["nope"] })),
                step("c", json!({ "tools": ["echo"], "args": { "echo": { "text": 1 } } })),
            ])),
            &[
                "Step \"a\" must have a non-empty \"expectedOutcome\"",
                "Each step must have a non-empty \"id\" string; number 3 has none",
                "Step \"b\" references unknown dependency \"z\"",
                "Plan references unknown tool \"nope\" in step \"b\". Available tools: echo",
                "Step \"c\" args for \"echo\": text: 1 is not of type \"string\"",
            ],
        );
    }

    #[test]
    fn an_id_must_be_one_that_references_can_name() {
        let refused = |id: &str| {
            vec![format!(
                "Step \"{id}\" needs an id of letters, digits, - and _ that does not begin with \"tool_\""
            )]
        };
        for id in ["cycle_1.a", "a[0]", "tool_1", "a b"] {
            check(
                &plan(json!([step(id, json!({}))])),
                &refused(id).iter().map(String::as_str).collect::<Vec<_>>(),
            );
        }
        check(&plan(json!([step("Schritt-1_ä", json!({}))])), &[]);
    }

    #[test]
    fn a_free_step_needs_tools_and_makes_its_own_arguments() {
        check(
            &plan(json!([step(
                "a",
                json!({ "tools": ["echo"], "mode": "free", "maxRounds": 3 })
            )])),
            &[],
        );
        check(
            &plan(json!([
                step("a", json!({ "mode": "sometimes" })),
                step("b", json!({ "mode": "free", "tools": ["echo"], "maxRounds": 0 })),
                step("c", json!({ "mode": "free", "tools": ["echo"], "maxRounds": 51 })),
            ])),
            &[
                "Step \"a\" mode must be \"each_once\" or \"free\" if provided, got \"sometimes\"",
                "Step \"b\" maxRounds must be a whole number from 1 to 50 if provided, got 0",
                "Step \"c\" maxRounds must be a whole number from 1 to 50 if provided, got 51",
            ],
        );
        check(
            &plan(json!([
                step("a", json!({ "mode": "free" })),
                step(
                    "b",
                    json!({ "mode": "free", "tools": ["echo"], "args": { "echo": { "text": "x" } } })
                ),
                step("c", json!({ "maxRounds": 2 })),
            ])),
            &[
                "Step \"a\" has mode \"free\" and needs at least one tool",
                "Step \"b\" has mode \"free\": its model makes the arguments, so it cannot have args",
                "Step \"c\" has maxRounds, which belongs to mode \"free\"",
            ],
        );
    }

    #[test]
    fn finds_circles() {
        check(
            &plan(json!([
                step("a", json!({ "dependencies": ["b"] })),
                step("b", json!({ "dependencies": ["a"] }))
            ])),
            &["Circular dependency between the steps \"a\", \"b\""],
        );
    }

    #[test]
    fn arguments_must_fit_and_refer_to_what_is_declared() {
        check(
            &plan(json!([
                step("a", json!({})),
                step(
                    "b",
                    json!({ "tools": ["echo"], "args": { "echo": { "text": "{{a}}", "count": "many" }, "other": {} } })
                ),
            ])),
            &[
                "Step \"b\" refers to {{a}} in its args without declaring it in \"dependencies\" or \"inputs\"",
                "Step \"b\" args for \"echo\": count: \"many\" is not of type \"integer\"",
                "Step \"b\" has args for \"other\", which is not one of its tools",
            ],
        );
    }
}
