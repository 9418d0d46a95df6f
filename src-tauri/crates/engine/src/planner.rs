//! The planner: from a goal, and what failed before, to a plan (seed *tepa-pipeline-in-detail*,
//! "Planner"). An extraction step with one retry that tells the model what was wrong.

use std::collections::BTreeMap;

use async_trait::async_trait;
use contract::audit::AuditEvent;
use contract::event::{Purpose, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::{FinishReason, LlmRequest, LlmResponse, Message, ResponseSchema, ToolChoice};
use contract::plan::Plan;
use contract::run::Part;
use contract::step::{StepError, code};
use contract::task::Task;
use minijinja::context;
use serde_json::{Value, json};

use crate::envelope_text;
use crate::executor::StepOutcome;
use crate::json_reply;
use crate::kernel::driver::{Driver, Outcome};
use crate::kernel::extract;
use crate::kernel::model_call::ModelCall;
use crate::kernel::run_step::{Fault, Step, StepContext, StepReturn, settle};
use crate::plan_rules::{self, Known};
use crate::prompts::{self, bound};
use crate::whole::whole_or_cut_off;

/// What a planner starts from.
#[derive(Debug, Clone, PartialEq)]
pub struct Planning {
    /// Which cycle.
    pub cycle: u32,
    /// The task, as hooks left it.
    pub task: Task,
    /// The judge's feedback, or a person's words.
    pub feedback: Option<String>,
    /// The end of `feedback` that a person said, word for word; empty when nobody did.
    pub said: String,
    /// The plan before this one.
    pub previous: Option<Plan>,
    /// Results of earlier cycles that a step may read, such as `cycle_1.step_3`.
    pub earlier: Vec<String>,
    /// The steps of the plan before that succeeded, by the names that `inputs` take.
    pub kept: Vec<String>,
}

impl Planning {
    /// The feedback in two: what a judge or the program wrote, which may quote files, and what a person said.
    fn told(&self) -> (&str, &str) {
        let all = self.feedback.as_deref().unwrap_or_default();
        match all.strip_suffix(&self.said) {
            Some(feedback) => (feedback.trim_end(), &self.said),
            // A hook put something else in its place.
            None => (all, ""),
        }
    }
}

/// The names of results that a later plan can build on.
pub fn succeeded(cycle: u32, outcomes: &[StepOutcome]) -> Vec<String> {
    let good = outcomes.iter().filter(|outcome| outcome.status.is_success());
    good.map(|outcome| format!("cycle_{cycle}.{}", outcome.step_id))
        .collect()
}

/// Makes the plan at this address, with what the planner noted. That planning began stands in the journal already.
pub async fn plan(driver: &Driver, key: &Key, planning: &Planning) -> Outcome<(Plan, Vec<AuditEvent>)> {
    let input = json!({ "cycle": planning.cycle, "feedback": planning.feedback });
    let result = driver.run_step(&Planner { planning }, input, key).await?;
    Ok(result.and_then(|result| {
        let plan = serde_json::from_value(result.output);
        let plan = plan.map_err(|error| StepError::new(code::PLAN_INVALID, error.to_string()))?;
        Ok((plan, result.events))
    }))
}

/// How many models a planner is shown; a person who edits a plan may name any that the run knows.
const MODELS_SHOWN: usize = 12;

struct Planner<'a> {
    planning: &'a Planning,
}

#[async_trait]
impl Step for Planner<'_> {
    fn name(&self) -> &str {
        "planner"
    }

    fn input_schema(&self) -> Value {
        json!({ "type": "object", "required": ["cycle"], "properties": {
            "cycle": { "type": "integer", "minimum": 1 }, "feedback": { "type": ["string", "null"] },
        } })
    }

    fn output_schema(&self) -> Value {
        plan_rules::plan_schema()
    }

    async fn run(&self, _input: Value, context: &StepContext<'_>) -> Result<StepReturn, Fault> {
        let driver = context.adapters;
        let mut call = self.question(driver, context.key)?;
        let (answer, trace) = settle(extract::ask_model(context, call).await)?;
        whole_or_cut_off(&answer.response)?;
        let problems = match self.read(driver, &answer.response) {
            Ok(plan) => {
                extract::note(context, &trace);
                return plan_output(&plan);
            }
            Err(problems) => problems,
        };
        self.refuse(context, 0, &problems, true).await?;
        call = self.question_again(driver, context.key, &answer.request, &answer.response, &problems)?;
        let (answer, trace) = settle(extract::ask_model(context, call).await)?;
        whole_or_cut_off(&answer.response)?;
        let problems = match self.read(driver, &answer.response) {
            Ok(plan) => {
                extract::note(context, &trace);
                return plan_output(&plan);
            }
            Err(problems) => problems,
        };
        self.refuse(context, 1, &problems, false).await?;
        let what = match json_reply::object_in(&answer.response.text, "steps") {
            Ok(_) => "The plan cannot be run, also after the planner was told why",
            Err(_) => "Failed to parse plan from LLM after retry",
        };
        let message = format!("{what}: {}", problems.join("; "));
        Err(StepError::new(code::PLAN_INVALID, message)
            .cause(json!(problems))
            .into())
    }
}

fn plan_output(plan: &Plan) -> Result<StepReturn, Fault> {
    let value = serde_json::to_value(plan).map_err(|error| StepError::new(code::PLAN_INVALID, error.to_string()))?;
    Ok(StepReturn::output(value))
}

impl Planner<'_> {
    fn question(&self, driver: &Driver, key: &Key) -> Result<ModelCall, StepError> {
        let task = &self.planning.task;
        let scratchpad = driver.scratchpad();
        let earlier = scratchpad.get(crate::scratchpad::EXECUTION_SUMMARY);
        let (feedback, said) = self.planning.told();
        let rendered = prompts::PLAN.render(context! {
            goal => task.goal.clone(),
            context => prompts::context_text(&task.context),
            expected_output => prompts::expected_text(task),
            tools => driver.world.tools.infos().iter().map(|tool| context! {
                name => tool.name.clone(), description => prompts::inert(&tool.description),
                parameters => prompts::inert(&tool.parameters.to_string()),
            }).collect::<Vec<_>>(),
            models => models(driver).into_iter().take(MODELS_SHOWN).collect::<Vec<_>>(),
            may => envelope_text::of(&driver.envelope(), |name| driver.world.tools.get(name).is_some()),
            revising => self.planning.feedback.is_some(),
            said => said,
            previous_plan => self.planning.previous.as_ref().map(|plan| {
                prompts::cut(&serde_json::to_string(plan).unwrap_or_default(), bound::PREVIOUS_PLAN)
            }),
            earlier => earlier.map(earlier_text),
            kept => prompts::excerpt(&self.planning.kept.join(", "), bound::KEPT),
            scratchpad => prompts::scratchpad_text(&scratchpad),
            feedback => prompts::inert(feedback),
        })?;
        let inputs = hashes(&[
            ("task", &json!(Driver::known_task(task))),
            ("feedback", &json!(self.planning.feedback)),
            ("previous", &json!(self.planning.previous)),
            ("earlier", earlier.unwrap_or(&Value::Null)),
        ])?;
        Ok(ModelCall {
            key: key.child("call/0"),
            cycle: self.planning.cycle,
            purpose: Purpose::Plan,
            step: None,
            model: driver.header.roles.planner.clone(),
            part: Some(Part::Planner),
            request: LlmRequest {
                key: key.clone(),
                model: String::new(),
                system: rendered.system,
                messages: vec![Message::user(rendered.user)],
                tool_choice: ToolChoice::None,
                response_schema: Some(ResponseSchema {
                    name: "plan".to_owned(),
                    schema: plan_rules::plan_schema(),
                }),
                ..LlmRequest::default()
            },
            prompt_hash: prompts::PLAN.hash(),
            definition: json!({ "purpose": "plan", "cycle": self.planning.cycle, "call": 0 }),
            inputs,
            goes_on: false,
        })
    }

    /// The same conversation, with the reply and what is wrong with it.
    fn question_again(
        &self,
        driver: &Driver,
        key: &Key,
        before: &LlmRequest,
        reply: &LlmResponse,
        problems: &[String],
    ) -> Result<ModelCall, StepError> {
        let rendered =
            prompts::PLAN_RETRY.render(context! { problems => prompts::first_lines(problems, bound::PROBLEMS) })?;
        let mut request = before.clone();
        request.messages.push(Message::assistant(reply.text.clone()));
        request.messages.push(Message::user(rendered.user));
        Ok(ModelCall {
            key: key.child("call/1"),
            cycle: self.planning.cycle,
            purpose: Purpose::Plan,
            step: None,
            model: driver.header.roles.planner.clone(),
            part: Some(Part::Planner),
            request,
            prompt_hash: prompts::PLAN_RETRY.hash(),
            definition: json!({ "purpose": "plan", "cycle": self.planning.cycle, "call": 1 }),
            inputs: hashes(&[("reply", &json!(reply.text)), ("problems", &json!(problems))])?,
            goes_on: false,
        })
    }

    fn read(&self, driver: &Driver, response: &LlmResponse) -> Result<Plan, Vec<String>> {
        if response.finish_reason == FinishReason::MaxTokens {
            return Err(vec![
                "The reply was cut off before the plan was complete; make a shorter plan".to_owned(),
            ]);
        }
        let value = json_reply::object_in(&response.text, "steps").map_err(|problem| vec![problem])?;
        plan_rules::read(&value, &known(driver, &models(driver), &self.planning.earlier))
    }

    async fn refuse(&self, context: &StepContext<'_>, n: u32, problems: &[String], again: bool) -> Result<(), Fault> {
        let event = RunEvent::PlanRefused {
            cycle: self.planning.cycle,
            problems: problems.to_vec(),
            again,
        };
        let recorded = context
            .adapters
            .journal
            .record(context.key.mark(format!("refused-{n}")), event)
            .await;
        recorded.map_err(|error| Fault::Halt(error.into()))
    }
}

/// What plans of this run may refer to.
pub fn known<'a>(driver: &'a Driver, models: &'a [String], earlier: &'a [String]) -> Known<'a> {
    Known {
        tools: &driver.world.tools,
        models,
        earlier,
    }
}

/// The models that a step may name.
pub fn models(driver: &Driver) -> Vec<String> {
    driver.header.step_models()
}

/// What happened so far, bounded: one line a step, failures first, the latest cycle before the ones before it.
fn earlier_text(summary: &Value) -> String {
    let entries: Vec<&Value> = summary.as_array().into_iter().flatten().rev().collect();
    let failed = |entry: &&Value| entry.get("status").and_then(Value::as_str) != Some("success");
    let (bad, good): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(|entry| failed(entry));
    let room = (bound::EARLIER / entries.len().max(1)).clamp(bound::EARLIER_LEAST, bound::EARLIER_OUTPUT);
    let mut lines = String::new();
    for (shown, entry) in bad.iter().chain(&good).enumerate() {
        let line = earlier_line(entry, room);
        if lines.len() + line.len() > bound::EARLIER {
            lines.push_str(&format!("[… {} more steps are not shown]", entries.len() - shown));
            break;
        }
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

fn earlier_line(entry: &Value, room: usize) -> String {
    let text = |key: &str| entry.get(key).map(prompts::text_of).unwrap_or_default();
    let error = entry
        .get("error")
        .map(|error| {
            format!(
                " Error: {}",
                prompts::excerpt(&prompts::text_of(error), bound::EARLIER_OUTPUT)
            )
        })
        .unwrap_or_default();
    let output = prompts::excerpt(&text("output"), room);
    format!(
        "cycle_{}.{}: {}.{error} Output: {output}",
        text("cycle"),
        text("stepId"),
        text("status")
    )
}

/// The address of each value by name.
pub(crate) fn hashes(values: &[(&str, &Value)]) -> Result<BTreeMap<String, Hash>, StepError> {
    let named = values
        .iter()
        .map(|(name, value)| Ok(((*name).to_owned(), Hash::of_value(value)?)));
    named
        .collect::<Result<_, contract::hash::NotCanonical>>()
        .map_err(|error| StepError::new(code::INPUT_VALIDATION, error.to_string()))
}
