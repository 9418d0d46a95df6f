//! How a run of a flow begins: a flow as it was written, what it is given, a folder that a person granted, and the
//! models that are there.

use contract::AppError;
use contract::error::Problem;
use contract::flow::{ChatMessage, Dialect, Flow, FlowRun};
use contract::run::{Roles, RunHeader};
use contract::task::{Approval, ExecutorModels, ExpectedOutput, Limits, Task, TaskModels};
use engine::flow::input::InputSchema;
use engine::flow::reading::{self, Refs};
use serde_json::{Map, Value};

use crate::app::App;
use crate::error::flow_invalid;
use crate::flow_changes::{self, FlowChange};
use crate::flow_models;
use crate::new_run::{RunOptions, assemble, check_limits, check_prices};
use crate::roles;
use crate::{accounts, settings};

/// What a flow is given when it starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowInput {
    /// Its input: an object for a flow that declares keys, any value otherwise; null when messages say it all.
    pub input: Value,
    /// The conversation, the person's last words at its end; may be empty.
    pub messages: Vec<ChatMessage>,
    /// The model for every step that names none, in the place of the flow's own.
    pub model: Option<String>,
}

impl App {
    /// How a run of a flow would begin, in a folder that a person granted; `App::start` then starts it, `App::outcome`
    /// waits for it, and its answer is the output named `answer` of the result.
    ///
    /// `value` is the flow as it was written (either dialect), `refs` the flows and agents that a `ref` in it may name,
    /// by id. The task in the header is the flow's name and its limits.
    ///
    /// # Errors
    /// `flow_invalid` with every problem and its place; `flow_input` when the input is not what the flow declares;
    /// `no_model` when no model is connected and one would be asked; what is wrong with the folder.
    pub async fn flow_header(
        &self,
        value: &Value,
        refs: &Refs,
        given: FlowInput,
        folder: &str,
        title: Option<String>,
    ) -> Result<RunHeader, AppError> {
        let options = RunOptions::default();
        self.flow_header_with(value, refs, given, folder, title, &options).await
    }

    /// The same, with what a person grants for this run.
    ///
    /// # Errors
    /// Those of [`App::flow_header`].
    pub async fn flow_header_with(
        &self,
        value: &Value,
        refs: &Refs,
        given: FlowInput,
        folder: &str,
        title: Option<String>,
        options: &RunOptions,
    ) -> Result<RunHeader, AppError> {
        self.flow_header_by(value, refs, given, folder, title, options, None)
            .await
    }

    /// The same; with a recording, its model and its label stand in the place of every model.
    #[expect(clippy::too_many_arguments, reason = "what the public ones take, and who plays")]
    pub(crate) async fn flow_header_by(
        &self,
        value: &Value,
        refs: &Refs,
        given: FlowInput,
        folder: &str,
        title: Option<String>,
        options: &RunOptions,
        recording: Option<(Roles, String)>,
    ) -> Result<RunHeader, AppError> {
        let read = reading::read(value, Some(refs));
        if !read.is_good() {
            return Err(flow_invalid(read.problems));
        }
        let Some(mut flow) = read.flow else {
            return Err(flow_invalid(read.problems));
        };
        let mut refs = refs.clone();
        let providers = self.known_providers().await?;
        for flow in refs.values_mut().chain([&mut flow]) {
            flow_models::name_all(flow, &providers);
        }
        if let Some(model) = &given.model {
            flow.model = Some(roles::full_name(model, Dialect::Flow, &providers));
        }
        if let Some((roles, _)) = &recording {
            for flow in refs.values_mut().chain([&mut flow]) {
                flow_models::replace_all(flow, &roles.planner);
            }
        }
        check_input(&flow, &given)?;
        let task = self.task_of(&flow).await?;
        let title = title.or_else(|| flow.name.clone()).unwrap_or_else(|| flow.id.clone());
        let run = FlowRun {
            flow,
            refs,
            input: given.input,
            messages: given.messages,
        };
        let (roles, recording) = match (recording, self.roles(&task).await) {
            (Some((roles, label)), _) => (roles, Some(label)),
            // Tools and people do it all.
            (None, Err(error)) if error.code == roles::NO_MODEL && !flow_models::asks_one(&run) => {
                (Roles::all(""), None)
            }
            (None, roles) => (roles?, None),
        };
        let header = assemble(&self.rooms.places, task, folder, Some(title), roles, recording).await?;
        // What no step does need not be granted.
        let write = !flow_changes::of(&run, &self.rooms.tools).is_empty();
        let flow = Some(Box::new(run));
        let mut header = self.complete(RunHeader { flow, ..header }, Vec::new(), &[]).await?;
        header.envelope.write = write;
        header.envelope = self.enveloped(&header, options).await?;
        header.envelope = self.with_kept_grants(&header).await?;
        check_limits(&header.task.limits)?;
        check_prices(&header.task.limits, &header)?;
        self.with_search(self.with_server_tools(header).await?).await
    }

    /// What a run that begins like this could change, step by step; nothing for a task, whose plan is approved.
    pub fn flow_changes(&self, header: &RunHeader) -> Vec<FlowChange> {
        let run = header.flow.as_deref();
        run.map(|run| flow_changes::of(run, &self.rooms.tools))
            .unwrap_or_default()
    }

    /// A flow in the words of a task: its name and its limits.
    async fn task_of(&self, flow: &Flow) -> Result<Task, AppError> {
        let usual = settings::read(&self.rooms.store).await?.limits;
        let limits = settings::limits_of(&Value::Object(Map::new()), &usual);
        let asked = &flow.limits;
        let model = flow.model.clone();
        Ok(Task {
            goal: flow.name.clone().unwrap_or_else(|| flow.id.clone()),
            context: Map::new(),
            expected_output: ExpectedOutput::Text(String::new()),
            name: flow.name.clone(),
            working_folder: None,
            models: model.map(|model| TaskModels {
                planner: Some(model.clone()),
                executor: Some(ExecutorModels {
                    high: Some(model),
                    ..ExecutorModels::default()
                }),
                ..TaskModels::default()
            }),
            limits: Limits {
                max_tokens: asked.max_tokens.unwrap_or(limits.max_tokens),
                tool_timeout: asked.tool_timeout.unwrap_or(limits.tool_timeout),
                max_parallel: asked.max_parallel.unwrap_or(limits.max_parallel),
                ..limits
            },
            approval: Approval::default(),
            tools: None,
            hooks: None,
            extra: Map::new(),
        })
    }

    /// The names that may stand before the colon in `provider:model`.
    pub(crate) async fn known_providers(&self) -> Result<Vec<String>, AppError> {
        let settings = settings::read(&self.rooms.store).await?;
        let named = self.rooms.providers.iter().map(|provider| provider.name().to_owned());
        Ok(named.chain(accounts::names(&settings)).collect())
    }
}

/// Holds what a flow is given against what it declares, before anything begins. The short spelling is held here as well:
/// a name that is missing, misspelt or of another kind would otherwise be paid for and come to nothing.
fn check_input(flow: &Flow, given: &FlowInput) -> Result<(), AppError> {
    let Some(declared) = &flow.input else {
        return Ok(());
    };
    if given.input.is_null() && !given.messages.is_empty() {
        return Ok(());
    }
    let mut schema = InputSchema::to_json_schema(declared);
    let is_short = schema != *declared;
    if let (true, Some(schema)) = (is_short, schema.as_object_mut()) {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let problems = engine::schema::problems(&schema, &given.input);
    if problems.is_empty() {
        return Ok(());
    }
    let error = AppError::new(
        "flow_input",
        "the input does not fit what the flow declares under `input`",
    );
    Err(AppError {
        problems: problems.into_iter().map(|problem| Problem::new("", problem)).collect(),
        ..error.hint("Put right what stands above, then run it again. Nothing was done.")
    })
}
