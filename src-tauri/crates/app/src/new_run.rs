//! How a run begins: a task as it was written, a folder that a person granted, and the models that are there.

use std::path::Path;

use contract::access::key_stores;
use contract::access::{Envelope, Preset, Requests};
use contract::cost::Prices;
use contract::error::Problem;
use contract::ports::files::Files;
use contract::rule::HookRule;
use contract::run::{Fallbacks, Roles, RunHeader};
use contract::task::{Approval, ExecutorModels, Limits, Task, TaskModels};
use contract::{AppError, Hash, RunId};
use engine::{effects, requests};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::app::App;
use crate::archive::{Mark, imported};
use crate::error::{ToAppError, task_invalid, thread_ended};
use crate::paths::Places;
use crate::roles;
use crate::steering::LimitsChange;
use crate::{fitness, flow_models, recordings, sample, settings, task_files, world};

impl App {
    /// How a run of this task would begin, in a folder that a person granted. `value` is the task as it was written.
    pub async fn header(&self, value: &Value, folder: &str, title: Option<String>) -> Result<RunHeader, AppError> {
        self.header_with(value, folder, title, &RunOptions::default()).await
    }

    /// The same, with what a person wants to be different for this run.
    pub async fn header_with(
        &self,
        value: &Value,
        folder: &str,
        title: Option<String>,
        options: &RunOptions,
    ) -> Result<RunHeader, AppError> {
        self.header_by(value, folder, title, options, None).await
    }

    /// The same; with a recording, its roles and its label stand in the place of the models.
    pub(crate) async fn header_by(
        &self,
        value: &Value,
        folder: &str,
        title: Option<String>,
        options: &RunOptions,
        recording: Option<(Roles, String)>,
    ) -> Result<RunHeader, AppError> {
        let mut task = self.read(value).await?;
        if let Some(limits) = &options.limits {
            task.limits = limits.over(task.limits);
        }
        check_limits(&task.limits)?;
        if let Some(approval) = options.approval {
            task.approval = approval;
        }
        if let Some(models) = &options.models {
            task.models = Some(over(task.models.take().unwrap_or_default(), models.clone()));
        }
        let (roles, recording) = match recording {
            Some((roles, label)) => (roles, Some(label)),
            None => (self.roles_with(&task, options.fallbacks.as_ref()).await?, None),
        };
        let title = title
            .map(|title| title.trim().to_owned())
            .filter(|title| !title.is_empty());
        let rules = rules_of_run(&task, options.allow_hooks);
        let mut header = assemble(&self.rooms.places, task, folder, title, roles, recording).await?;
        header.envelope = self.enveloped(&header, options).await?;
        self.complete(header, rules, &options.allow_effects).await
    }

    /// What a run may touch: what the settings say, and what a person grants for it.
    pub(crate) async fn enveloped(&self, header: &RunHeader, options: &RunOptions) -> Result<Envelope, AppError> {
        let usual = settings::read(&self.rooms.store).await?.permissions;
        let mut envelope = Envelope {
            preset: options.preset.unwrap_or(usual.preset),
            commands: usual.commands,
            ..header.envelope.clone()
        };
        if options.allow_permissions {
            envelope = envelope.with(requests::of(&header.task));
        }
        Ok(match &options.grant {
            Some(granted) => envelope.with(granted.clone()),
            None => envelope,
        })
    }

    /// The header with its hooks and with what its models cost. Of what the task brings by itself, what a person allowed
    /// by its content is allowed; the run asks about the rest.
    pub(crate) async fn complete(
        &self,
        mut header: RunHeader,
        rules: Vec<HookRule>,
        allowed: &[Hash],
    ) -> Result<RunHeader, AppError> {
        let catalog = fitness::look(&self.rooms, &models_asked(&header)).await?;
        fitness::check(&header, &catalog)?;
        header.models = self.step_models(&header, &catalog).await?;
        header.prices = catalog.prices(models_named(&header));
        check_prices(&header.task.limits, &header)?;
        header.hooks = self.rooms.hooks.iter().map(|hook| hook.id().to_owned()).collect();
        header
            .hooks
            .extend(engine::rules::hooks(&rules).iter().map(|hook| hook.id().to_owned()));
        // A rule that is called at several events is one.
        header.hooks.dedup();
        header.hooks.push("approval".to_owned());
        header.envelope.effects = effects::asked(&rules, &header.task, &self.rooms.checks, |_, hash| {
            allowed.contains(hash)
        });
        header.rules = rules;
        header.envelope = self.with_kept_grants(&header).await?;
        self.with_search(self.with_server_tools(header).await?).await
    }

    /// How a run of the sample begins, in a folder that holds its data.
    async fn sample_header(&self, folder: &str) -> Result<RunHeader, AppError> {
        let task = self.read(&sample::task()?).await?;
        let recorded = format!("{}:{}", providers::replay::NAME, recordings::SAMPLE);
        let roles = Roles::all(recorded);
        assemble(
            &self.rooms.places,
            task,
            folder,
            None,
            roles,
            Some(sample::recording()?.label),
        )
        .await
    }

    /// How a run of the sample begins in a new folder, made for it.
    pub async fn new_sample(&self) -> Result<RunHeader, AppError> {
        let parent = self.rooms.places.samples.clone();
        let folder = tokio::task::spawn_blocking(move || sample::unpack_anew(&parent))
            .await
            .map_err(thread_ended)??;
        self.sample_header(&folder.display().to_string()).await
    }

    /// How a run of the sample begins in a folder that a person chose. Files that are there stay as they are.
    pub async fn sample_in(&self, folder: &Path) -> Result<RunHeader, AppError> {
        let folder = std::path::absolute(folder).map_err(|_| no_folder())?;
        let place = folder.clone();
        tokio::task::spawn_blocking(move || sample::unpack(&place))
            .await
            .map_err(thread_ended)??;
        self.sample_header(&folder.display().to_string()).await
    }

    /// Runs the task of an earlier run again, in the same folder, with the models that are there now.
    pub async fn again(&self, run: &RunId) -> Result<RunId, AppError> {
        self.again_in(run, None).await
    }

    /// The same; for a run that came from another machine in a folder that a person chose here.
    pub async fn again_in(&self, run: &RunId, folder: Option<&str>) -> Result<RunId, AppError> {
        let before = self.header_of(run).await?;
        if self.mark_of(run).await? == Some(Mark::Imported) {
            return self.again_here(before, folder).await;
        }
        self.refuse_imported(run).await?;
        let folder = folder.unwrap_or(&before.envelope.folder);
        let header = if before.flow.is_some() {
            before
        } else if before.recording == Some(sample::recording()?.label) {
            self.sample_header(folder).await?
        } else if before.recording.is_some() {
            before
        } else {
            let roles = self.roles(&before.task).await?;
            let granted = before.envelope.clone();
            let mut header = assemble(&self.rooms.places, before.task, folder, Some(before.title), roles, None).await?;
            header.envelope = Envelope {
                folder: header.envelope.folder,
                ..granted
            };
            // What a person allowed for this task, they allowed for this task.
            let effects = std::mem::take(&mut header.envelope.effects).into_iter();
            let allowed: Vec<Hash> = effects.filter(|asked| asked.allowed).map(|asked| asked.hash).collect();
            self.complete(header, before.rules, &allowed).await?
        };
        // What was revoked since counts no more.
        let envelope = self.with_kept_grants(&header).await?;
        let header = RunHeader { envelope, ..header };
        let header = self.with_server_tools(header).await?;
        self.start(self.with_search(header).await?).await
    }

    /// Another machine's task, with nothing that was granted there: its folder is chosen here, its plans are asked
    /// about, its rules are off, and its models are those of this machine.
    async fn again_here(&self, before: RunHeader, folder: Option<&str>) -> Result<RunId, AppError> {
        let Some(folder) = folder.filter(|_| before.flow.is_none()) else {
            return Err(imported());
        };
        if before.recording.is_some() {
            return self.start(self.sample_in(Path::new(folder)).await?).await;
        }
        let task = Task {
            approval: Approval::EveryPlan,
            models: None,
            working_folder: None,
            ..before.task
        };
        check_limits(&task.limits)?;
        let roles = self.roles(&task).await?;
        let header = assemble(&self.rooms.places, task, folder, Some(before.title), roles, None).await?;
        self.start(self.complete(header, Vec::new(), &[]).await?).await
    }

    async fn read(&self, value: &Value) -> Result<Task, AppError> {
        let reading = task_files::read(value);
        let Some(task) = reading.task else {
            return Err(task_invalid(reading.problems));
        };
        let limits = settings::limits_of(value, &settings::read(&self.rooms.store).await?.limits);
        Ok(Task { limits, ..task })
    }

    pub(crate) async fn roles(&self, task: &Task) -> Result<Roles, AppError> {
        self.roles_with(task, None).await
    }

    /// The same; a person may set other fallbacks for this run.
    async fn roles_with(&self, task: &Task, fallbacks: Option<&Fallbacks>) -> Result<Roles, AppError> {
        let providers = self.known_providers().await?;
        let names: Vec<&str> = providers.iter().map(String::as_str).collect();
        let saved = settings::read(&self.rooms.store).await?;
        // A server that was named for this process stands in the place of everything that the settings say.
        let (endpoint, usual, set) = match &self.rooms.endpoint {
            Some(endpoint) => (Some(endpoint), TaskModels::default(), Fallbacks::default()),
            None => (saved.endpoint.as_ref(), saved.models.clone(), saved.fallbacks.clone()),
        };
        let wishes = over(usual, task.models.clone().unwrap_or_default());
        roles::assign(Some(&wishes), endpoint, &names, fallbacks.unwrap_or(&set))
    }
}

/// What a person wants to be different for one run; what is absent is as the task and the settings have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields = nullable)]
pub struct RunOptions {
    /// Where it stops.
    pub limits: Option<LimitsChange>,
    /// When a plan waits for a person.
    pub approval: Option<Approval>,
    /// Which model does what.
    pub models: Option<TaskModels>,
    /// What is asked when a model does not answer, in the place of what the settings say.
    pub fallbacks: Option<Fallbacks>,
    /// Whether the task's rules are allowed. A task asks; only a person grants. Those that reach out are allowed one by
    /// one, with `allow_effects` or when the run asks.
    pub allow_hooks: bool,
    /// Whether everything that the task's file asks for under `permissions` is granted.
    #[ts(as = "Option<bool>", optional)]
    pub allow_permissions: bool,
    /// What of the effects that the task brings by itself is allowed, by its content: commands and webhooks as rules,
    /// commands as checks.
    #[ts(as = "Option<Vec<Hash>>", optional)]
    pub allow_effects: Vec<Hash>,
    /// What is granted besides.
    pub grant: Option<Requests>,
    /// When a person is asked; as the settings say when absent.
    pub preset: Option<Preset>,
}

/// The rules that a task asks for.
pub(crate) fn rules_asked(task: &Task) -> Vec<HookRule> {
    let asked = task.hooks.iter().flatten();
    asked.filter_map(|rule| HookRule::read(rule).ok()).collect()
}

/// The rules of a run: those that reach out whatever was said of the others, because each of them is allowed for itself.
fn rules_of_run(task: &Task, allowed: bool) -> Vec<HookRule> {
    let mut rules = rules_asked(task);
    rules.retain(|rule| allowed || rule.effect().is_some());
    rules
}

/// A person's models over a task's, or a task's over those of the settings.
fn over(task: TaskModels, person: TaskModels) -> TaskModels {
    let executor = match (task.executor, person.executor) {
        (Some(task), Some(person)) => Some(ExecutorModels {
            low: person.low.or(task.low),
            high: person.high.or(task.high),
            extra: task.extra,
        }),
        (task, person) => person.or(task),
    };
    TaskModels {
        planner: person.planner.or(task.planner),
        judge: person.judge.or(task.judge),
        executor,
        reasoning: person.reasoning.or(task.reasoning),
        extra: task.extra,
    }
}

/// Refuses limits that no run could keep.
pub(crate) fn check_limits(limits: &Limits) -> Result<(), AppError> {
    let least = [
        ("maxCycles", u64::from(limits.max_cycles)),
        ("maxTokens", limits.max_tokens),
        ("toolTimeout", limits.tool_timeout),
        ("maxParallel", u64::from(limits.max_parallel)),
    ];
    let mut problems: Vec<Problem> = least
        .iter()
        .filter(|(_, value)| *value == 0)
        .map(|(name, _)| Problem::new(format!("limits.{name}"), "must be 1 or more"))
        .collect();
    if limits.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        problems.push(Problem::new("limits.maxCost", "must be a number that is not negative"));
    }
    if limits.max_minutes == Some(0) {
        problems.push(Problem::new("limits.maxMinutes", "must be 1 or more"));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(task_invalid(problems))
    }
}

/// Every model that a run may ask, written `provider:model`.
pub(crate) fn models_asked(header: &RunHeader) -> Vec<&str> {
    let of_flow = header.flow.as_deref().map(flow_models::named_in).unwrap_or_default();
    roles::with_fallbacks(&header.roles, of_flow)
}

/// The same, and those that a step of a plan may name beside them.
pub(crate) fn models_named(header: &RunHeader) -> Vec<&str> {
    let mut models = models_asked(header);
    models.extend(header.models.iter().map(String::as_str));
    models
}

/// A budget of money binds only when every price is known.
pub(crate) fn check_prices(limits: &Limits, header: &RunHeader) -> Result<(), AppError> {
    if limits.max_cost.is_none() || header.recording.is_some() {
        return Ok(());
    }
    let mut unpriced = models_asked(header);
    unpriced.retain(|model| header.prices.of(model).is_none());
    unpriced.sort_unstable();
    unpriced.dedup();
    if unpriced.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the run may cost so much at most, but what {} costs is not known",
        unpriced.join(", ")
    );
    Err(AppError::new("no_price", message).hint("Enter the model's prices in Settings, or take the limit away."))
}

pub(crate) async fn assemble(
    places: &Places,
    task: Task,
    folder: &str,
    title: Option<String>,
    roles: Roles,
    recording: Option<String>,
) -> Result<RunHeader, AppError> {
    let folder = folder.trim();
    if !Path::new(folder).is_absolute() {
        return Err(no_folder());
    }
    let folder = world::folder(folder).await.map_err(ToAppError::to_app_error)?;
    if places.are_in(Path::new(folder.root())) {
        return Err(own_data(folder.root()));
    }
    if keys_are_around(Path::new(folder.root())) {
        return Err(folder_of_keys(folder.root()));
    }
    let envelope = Envelope {
        folder: folder.root().to_owned(),
        write: true,
        max_tokens: task.limits.max_tokens,
        max_cycles: task.limits.max_cycles,
        max_cost: task.limits.max_cost,
        max_minutes: task.limits.max_minutes,
        ..Envelope::default()
    };
    Ok(RunHeader {
        title: title.unwrap_or_else(|| task.title()),
        task,
        envelope,
        roles,
        hooks: vec!["approval".to_owned()],
        rules: Vec::new(),
        prices: Prices::default(),
        recording,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
        server_tools: Vec::new(),
        models: Vec::new(),
        flow: None,
    })
}

/// Whether a folder lies where programs keep keys.
fn keys_are_around(folder: &Path) -> bool {
    let of_home = dirs::home_dir()
        .map(|home| key_stores::of_home(&home))
        .unwrap_or_default();
    key_stores::leads_into_one(folder) || of_home.iter().any(|store| folder.starts_with(store))
}

fn folder_of_keys(folder: &str) -> AppError {
    AppError::new(
        "folder_of_keys",
        format!("programs keep keys in \"{folder}\", so a run must not work there"),
    )
    .hint("Choose a folder that holds only what the task is about.")
}

/// The folder holds what the app remembers.
pub(crate) fn own_data(folder: &str) -> AppError {
    AppError::new(
        "folder_of_tepa",
        format!("Tepa keeps its own history and settings in \"{folder}\", so a run must not work there"),
    )
    .hint("Choose a folder that holds only what the task is about.")
}

fn no_folder() -> AppError {
    AppError::new("no_folder", "no working folder was chosen")
        .hint("Choose the folder that the run may read and change.")
}
