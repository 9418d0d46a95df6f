//! The work of one step of a plan: call its tools in order, or think.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::event::Purpose;
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::{FinishReason, LlmRequest, Message, ToolChoice, ToolSpec};
use contract::plan::{Mode, PlanStep};
use contract::ports::tool::{Tool, ToolInfo};
use contract::run::Part;
use contract::step::{StepError, code};
use indexmap::IndexMap;
use minijinja::context;
use serde_json::{Value, json};

use crate::kernel::driver::Driver;
use crate::kernel::model_call::{ModelAnswer, ModelCall};
use crate::kernel::run_step::{Fault, Step, StepContext, StepReturn, settle};
use crate::kernel::tool_call::ToolCall;
use crate::prompts::{self, Prompt, bound};
use crate::registry::Registry;
use crate::reuse::{self, Trace};
use crate::schedule::{Turn, Use};
use crate::whole::whole;
use crate::{agent_step, references, schema, tool_talk, uses};

/// Values by name, shared.
pub type Values = IndexMap<String, Arc<Value>>;

/// One step of a plan, with what it is given.
pub struct StepWork<'a> {
    pub(crate) step: &'a PlanStep,
    pub(crate) cycle: u32,
    pub(crate) given: Values,
    pub(crate) hashes: BTreeMap<String, Hash>,
    pub(crate) turn: Turn,
    /// What each tool does: at first the most that it may do, then what it does with its arguments.
    uses: Mutex<Vec<Use>>,
    traces: Mutex<Vec<Trace>>,
    tokens_used: AtomicU64,
    has_begun: AtomicBool,
}

/// A question that a step asks a model.
pub(crate) struct Asked<'q> {
    pub(crate) prompt: &'q Prompt,
    pub(crate) purpose: Purpose,
    pub(crate) tools: &'q [ToolInfo],
    pub(crate) choice: ToolChoice,
    pub(crate) given: &'q Values,
    pub(crate) place: &'q str,
}

impl<'a> StepWork<'a> {
    /// The step, its cycle, the values it is given with their addresses, and its turn.
    pub fn new(
        step: &'a PlanStep,
        cycle: u32,
        given: Values,
        hashes: BTreeMap<String, Hash>,
        tools: &Registry<dyn Tool>,
        turn: Turn,
    ) -> Self {
        Self {
            step,
            cycle,
            given,
            hashes,
            turn,
            uses: Mutex::new(uses::of_tools(step, tools)),
            traces: Mutex::default(),
            tokens_used: AtomicU64::new(0),
            has_begun: AtomicBool::new(false),
        }
    }

    /// Whether a model was asked or a tool called, whatever came of it.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    fn note_begun(&self, driver: &Driver, leaf: &Key) {
        if driver.journal.is_recorded(&leaf.mark("started")) {
            self.has_begun.store(true, Ordering::Relaxed);
        }
    }

    /// What its model calls cost so far, whatever became of them.
    pub fn tokens_used(&self) -> u64 {
        self.tokens_used.load(Ordering::Relaxed)
    }

    /// The most that it did to the world, or would have done.
    pub fn uses(&self) -> Use {
        self.rest(0)
    }

    /// What its tools left, in order.
    pub fn into_traces(self) -> Vec<Trace> {
        self.traces.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most that is still to come from this tool on.
    fn rest(&self, index: usize) -> Use {
        let uses = self.known_uses();
        uses.get(index..)
            .unwrap_or_default()
            .iter()
            .copied()
            .max()
            .unwrap_or_default()
    }

    fn known_uses(&self) -> MutexGuard<'_, Vec<Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Step for StepWork<'_> {
    fn name(&self) -> &str {
        &self.step.id
    }

    fn input_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn output_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "output": {} } })
    }

    async fn run(&self, _input: Value, context: &StepContext<'_>) -> Result<StepReturn, Fault> {
        let output = match (self.step.mode, self.step.tools.is_empty()) {
            (Mode::Free, _) => self.act(context).await?,
            (Mode::EachOnce, true) => self.think(context).await?,
            (Mode::EachOnce, false) => self.use_tools(context).await?,
        };
        Ok(StepReturn::output(json!({ "output": output })))
    }
}

impl StepWork<'_> {
    /// A reasoning step: the model's text is the output. A text that was cut off is none.
    async fn think(&self, context: &StepContext<'_>) -> Result<Value, Fault> {
        let call = self.question(
            context,
            &Asked {
                prompt: &prompts::REASONING,
                purpose: Purpose::Reasoning,
                tools: &[],
                choice: ToolChoice::None,
                given: &self.given,
                place: "call/0",
            },
        )?;
        let answer = self.ask(context, call).await?;
        whole(&answer.response)?;
        if answer.response.text.trim().is_empty() {
            return Err(StepError::new(code::PROVIDER_ERROR, "the model answered with nothing").into());
        }
        Ok(Value::String(answer.response.text))
    }

    /// A tool step: each tool once, in order, later ones given the results of earlier ones. One
    /// tool: its value; several: an array.
    async fn use_tools(&self, context: &StepContext<'_>) -> Result<Value, Fault> {
        let mut given = self.given.clone();
        for (index, name) in self.step.tools.iter().enumerate() {
            let Some(tool) = context.adapters.world.tools.get(name) else {
                return Err(
                    StepError::new(code::TOOL_NOT_FOUND, format!("Tool \"{name}\" not found in registry")).into(),
                );
            };
            self.turn.expect(self.rest(index));
            let output = self.use_tool(context, index, tool, &given).await?;
            if self.step.tools.len() == 1 {
                return Ok(output);
            }
            given.insert(format!("tool_{}", index + 1), Arc::new(output));
        }
        let outputs = (1..=self.step.tools.len()).filter_map(|number| given.get(&format!("tool_{number}")));
        Ok(Value::Array(outputs.map(|output| (**output).clone()).collect()))
    }

    async fn use_tool(
        &self,
        context: &StepContext<'_>,
        index: usize,
        tool: &Arc<dyn Tool>,
        given: &Values,
    ) -> Result<Value, Fault> {
        let info = tool.info();
        let args = match self.step.args.get(&info.name) {
            Some(args) => args.clone(),
            None => self.ask_for_arguments(context, index, &info, given).await?,
        };
        let args = references::substitute(&args, given)?;
        let args = schema::normalise(&info.parameters, args).map_err(|problems| {
            let message = format!(
                "the arguments for \"{}\" do not fit: {}",
                info.name,
                problems.join("; ")
            );
            StepError::new(code::SCHEMA_ERROR, message)
        })?;
        if let Some(known) = self.known_uses().get_mut(index) {
            *known = uses::of_call(tool.as_ref(), &args);
        }
        self.turn.expect(self.rest(index));
        let call = ToolCall {
            key: context.key.child(format!("tool/{index}/run")),
            cycle: self.cycle,
            step: self.step.id.clone(),
            tool: Arc::clone(tool),
            name: info.name,
            args,
            inputs: self.hashes.clone(),
            turn: Some(self.turn.clone()),
        };
        Ok(self.call_tool(context, call).await??)
    }

    /// Calls a tool, and notes what it left for later cycles.
    pub(crate) async fn call_tool(
        &self,
        context: &StepContext<'_>,
        call: ToolCall,
    ) -> Result<Result<Value, StepError>, Fault> {
        let (key, tool, args) = (call.key.clone(), call.name.clone(), Arc::new(call.args.clone()));
        let outcome = context.adapters.call_tool(call).await;
        self.note_begun(context.adapters, &key);
        let outcome = outcome?;
        let left = reuse::left_by(context.adapters, &key);
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        traces.push(Trace { tool, args, left });
        Ok(outcome)
    }

    /// The most rounds of a free step.
    pub(crate) fn max_rounds(&self) -> u32 {
        let wanted = self.step.max_rounds.unwrap_or(agent_step::MAX_ROUNDS);
        wanted.min(tool_talk::MOST_ROUNDS)
    }

    async fn ask_for_arguments(
        &self,
        context: &StepContext<'_>,
        index: usize,
        info: &ToolInfo,
        given: &Values,
    ) -> Result<Value, Fault> {
        let call = self.question(
            context,
            &Asked {
                prompt: &prompts::ARGUMENTS,
                purpose: Purpose::Arguments,
                tools: std::slice::from_ref(info),
                choice: ToolChoice::Tool(info.name.clone()),
                given,
                place: &format!("tool/{index}/call"),
            },
        )?;
        let answer = self.ask(context, call).await?;
        if answer.response.finish_reason == FinishReason::MaxTokens {
            let message = format!(
                "the model's arguments for \"{}\" were cut off before they were complete",
                info.name
            );
            return Err(StepError::new(code::TRUNCATED, message).into());
        }
        whole(&answer.response)?;
        let called = answer
            .response
            .tool_uses
            .into_iter()
            .find(|called| called.name == info.name);
        called.map(|called| called.input).ok_or_else(|| {
            let message = format!(
                "LLM did not call tool \"{}\" — no tool_use block in response",
                info.name
            );
            StepError::new(code::TOOL_NOT_CALLED, message).into()
        })
    }

    /// A question with everything that it shows.
    pub(crate) fn question(&self, context: &StepContext<'_>, asked: &Asked<'_>) -> Result<ModelCall, StepError> {
        let Asked {
            prompt,
            purpose,
            tools,
            choice,
            given,
            place,
        } = asked;
        let driver = context.adapters;
        let task = driver.shown_task();
        let limit = bound::INPUT.min(bound::INPUTS / given.len().max(1));
        let scratchpad = prompts::scratchpad_text(&driver.scratchpad());
        let rendered = prompt.render(context! {
            goal => task.goal.clone(),
            context => prompts::context_text(&task.context),
            inputs => given.iter().map(|(name, value)| context! {
                name => name.clone(), text => prompts::excerpt(&prompts::text_of(value), limit),
            }).collect::<Vec<_>>(),
            scratchpad => scratchpad.clone(),
            description => self.step.description.clone(),
            expected_outcome => self.step.expected_outcome.clone(),
            tool => tools.first().map(|tool| tool.name.clone()),
            max_rounds => self.max_rounds(),
        })?;
        let mut inputs = self.hashes.clone();
        // What is shown and no more: the app's own entry holds all outputs, and hashing it for every call would cost
        // the square of them.
        inputs.extend(crate::planner::hashes(&[("scratchpad", &Value::String(scratchpad))])?);
        for (name, value) in given.iter().filter(|(name, _)| !self.given.contains_key(*name)) {
            inputs.extend(crate::planner::hashes(&[(name, value)])?);
        }
        Ok(ModelCall {
            key: context.key.child(place),
            cycle: self.cycle,
            purpose: *purpose,
            step: Some(self.step.id.clone()),
            model: model_of(driver, self.step),
            part: Some(Part::of_tier(self.step.tier)),
            request: LlmRequest {
                key: context.key.clone(),
                model: String::new(),
                system: rendered.system,
                messages: vec![Message::user(rendered.user)],
                tools: tools.iter().map(spec).collect(),
                tool_choice: choice.clone(),
                ..LlmRequest::default()
            },
            prompt_hash: prompt.hash(),
            definition: json!({ "purpose": purpose, "step": self.step, "place": place }),
            inputs,
            goes_on: false,
        })
    }

    /// Asks, and counts what that cost even when it halts the run.
    pub(crate) async fn ask(&self, context: &StepContext<'_>, call: ModelCall) -> Result<ModelAnswer, Fault> {
        let key = call.key.clone();
        let answer = context.adapters.ask_model(call).await;
        self.note_begun(context.adapters, &key);
        let tokens = context.adapters.journal.tokens_of(&key);
        self.tokens_used.fetch_add(tokens, Ordering::Relaxed);
        settle(answer)
    }
}

/// The model that does a step: its own, or its tier's.
pub fn model_of(driver: &Driver, step: &PlanStep) -> String {
    let by_tier = driver.header.roles.model(Part::of_tier(step.tier));
    step.model.as_deref().unwrap_or(by_tier).to_owned()
}

fn spec(tool: &ToolInfo) -> ToolSpec {
    ToolSpec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    }
}
