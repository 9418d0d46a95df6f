//! The outside world of one run: its folder, its models with their keys, and everything that is registered.

use std::sync::Arc;

use contract::AppError;
use contract::ports::files::{Files, FilesError};
use contract::ports::provider::LlmProvider;
use contract::ports::tool::Tool;
use contract::run::RunHeader;
use engine::{Registry, World};
use providers::replay::Replay;
use workspace::Folder;

use crate::app::{Rooms, never_reached};
use crate::config::Pace;
use crate::error::{ToAppError, thread_ended};
use crate::missing_folder::MissingFolder;
use crate::{accounts, flow_tools, new_run, recordings, roles};

/// Everything that a run needs to be driven, or the first thing that is missing.
pub(crate) async fn of(rooms: &Rooms, header: &RunHeader) -> Result<World, AppError> {
    let files = folder(&header.envelope.folder)
        .await
        .map_err(ToAppError::to_app_error)?
        .keeping_out(never_reached(&rooms.places))
        .with_documents(Arc::clone(&rooms.documents));
    let providers = providers(rooms, header).await?;
    Ok(with(rooms, header, Arc::new(files), providers))
}

/// Enough of a world to end a run in it: no model, and no folder where the run's is gone.
pub(crate) async fn for_ending(rooms: &Rooms, header: &RunHeader) -> World {
    let files: Arc<dyn Files> = match folder(&header.envelope.folder).await {
        Ok(folder) => Arc::new(folder),
        Err(_) => Arc::new(MissingFolder(header.envelope.folder.clone())),
    };
    with(rooms, header, files, Vec::new())
}

/// A world in which a run is replayed: no model and no folder. What the run saw is in its history, and its folder may be
/// gone, or on another machine.
pub(crate) fn for_replay(rooms: &Rooms, header: &RunHeader) -> World {
    let nowhere = MissingFolder(header.envelope.folder.clone());
    with(rooms, header, Arc::new(nowhere), Vec::new())
}

/// A world in which models are asked, and nothing else is.
pub(crate) async fn for_asking(rooms: &Rooms, header: &RunHeader) -> Result<World, AppError> {
    let nowhere = MissingFolder(header.envelope.folder.clone());
    let providers = providers(rooms, header).await?;
    Ok(with(rooms, header, Arc::new(nowhere), providers))
}

/// Opens a working folder.
pub(crate) async fn folder(path: &str) -> Result<Folder, FilesError> {
    let (given, path) = (path.to_owned(), path.to_owned());
    let opened = tokio::task::spawn_blocking(move || Folder::open(path)).await;
    opened.unwrap_or_else(|error| {
        Err(FilesError::Io {
            path: given,
            message: thread_ended(error).message,
        })
    })
}

/// The tools of a run: those that its task names or its flow uses, and those of its MCP servers, without those that a rule
/// forbids; a search only where a service is set up.
pub(crate) fn tools(rooms: &Rooms, header: &RunHeader) -> Registry<dyn Tool> {
    let of_flow = header.flow.as_deref().map(flow_tools::of);
    let is_offered = |name: &str| match (&of_flow, &header.task.tools) {
        (Some(named), _) => named.contains(name) || !tools::reaches_out(name),
        (None, Some(wanted)) => wanted.iter().any(|tool| tool == name),
        (None, None) => !tools::reaches_out(name) || name == tools::WEB_SEARCH,
    };
    let may_search = header.envelope.search.is_some();
    let tools = rooms
        .tools
        .only(|name| is_offered(name) && (may_search || name != tools::WEB_SEARCH));
    let tools = with_servers(rooms, header, tools);
    tools.only(|name| !engine::rules::forbidden(&header.rules, name))
}

/// The same with the tools of the run's MCP servers, each as it was approved when the run began.
fn with_servers(rooms: &Rooms, header: &RunHeader, tools: Registry<dyn Tool>) -> Registry<dyn Tool> {
    if header.server_tools.is_empty() {
        return tools;
    }
    // No server can put its tool in the place of one of ours.
    let others = header
        .server_tools
        .iter()
        .filter(|definition| tools.get(&definition.name).is_none());
    let of_servers = others.map(|definition| {
        let tool: Arc<dyn Tool> = Arc::new(mcp::McpTool {
            definition: definition.clone(),
            servers: Arc::clone(&rooms.servers),
        });
        tool
    });
    Registry::of_tools(tools.iter().map(Arc::clone).chain(of_servers).collect())
}

fn with(rooms: &Rooms, header: &RunHeader, files: Arc<dyn Files>, providers: Vec<Arc<dyn LlmProvider>>) -> World {
    World {
        journal: Arc::clone(&rooms.journal),
        providers,
        tools: tools(rooms, header),
        own_tools: rooms.own_tools.clone(),
        checks: rooms.checks.clone(),
        hooks: rooms.hooks.clone(),
        files,
        clock: Arc::clone(&rooms.clock),
        people: Arc::clone(&rooms.people),
        watcher: Arc::clone(&rooms.events) as _,
    }
}

/// The models that the run's roles name, each with what it needs to be asked.
async fn providers(rooms: &Rooms, header: &RunHeader) -> Result<Vec<Arc<dyn LlmProvider>>, AppError> {
    let mut all = rooms.providers.clone();
    let replayed = all.iter().any(|provider| provider.name() == providers::replay::NAME);
    if let Some(label) = header.recording.as_ref().filter(|_| !replayed) {
        all.push(Arc::new(replay(rooms, header, label).await?));
    }
    for name in roles::providers_of(&new_run::models_asked(header)) {
        if all.iter().any(|provider| provider.name() == name) {
            continue;
        }
        let server: Arc<dyn LlmProvider> = accounts::open(rooms, name).await?;
        all.push(server);
    }
    // What only a plan may name is not missed before one does.
    for name in roles::providers_of(&new_run::models_named(header)) {
        if all.iter().any(|provider| provider.name() == name) {
            continue;
        }
        match accounts::open(rooms, name).await {
            Ok(server) => all.push(server),
            Err(error) => tracing::info!(account = name, %error, "no step can name a model of this account"),
        }
    }
    Ok(all)
}

async fn replay(rooms: &Rooms, header: &RunHeader, label: &str) -> Result<Replay, AppError> {
    let recording = recordings::of(rooms, header, label).await?;
    let pace = match rooms.pace {
        Pace::Natural => providers::replay::Pace::Natural(Arc::clone(&rooms.clock)),
        Pace::Instant => providers::replay::Pace::Instant,
    };
    Ok(Replay::new(recording, pace))
}
