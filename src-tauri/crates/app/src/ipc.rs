//! The command table: every name that a window can call, with what goes in and what comes out.
//!
//! One table makes two things: [`dispatch`], which answers a call, and [`typescript`], from which the window's
//! types are generated. Deliberately not here: what a command does.

use std::panic::AssertUnwindSafe;

use contract::AppError;
use contract::run::{RunReport, RunResult, RunSummary};
use contract::secret::KeyInfo;
use contract::undo::{UndoPreview, UndoResult};
use futures::FutureExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ts_rs::{Config, TS, TypeVisitor};

use crate::app::App;
use crate::commands::about::{
    self, AppInfo, BackUp, BackedUp, CheckList, DataSize, ProviderList, SaveDiagnostics, ToolList,
};
use crate::commands::drafts::{self, Draft, GetDraft, SetDraft};
use crate::commands::files::{
    self, ArtifactValue, FilePreview, FolderInfo, HandedFile, LookAtFolder, PreviewBefore, PreviewFile, ReadArtifact,
};
use crate::commands::grants::{self, RevokeGrant, TaskGrant};
use crate::commands::keys::{self, KeyAccount, SetKey};
use crate::commands::models::{
    self, FoundServers, ListModels, ModelList, ProviderTest, TestProvider, WideModel, WidenModel,
};
use crate::commands::runs::{
    self, AcceptRun, AnswerRun, AskedModels, CheckPlan, EventPage, ExportRun, ExportedRun, GuideRun, ImportRun,
    ListRuns, OneRun, PlayRecording, RaiseBudget, ReadEvents, RecordRun, RunAgain, RunPage, RunWaits, RunningText,
    SomeRuns, StartRun, StartedRun, WhatGoes,
};
use crate::commands::sample;
use crate::commands::search::{self, SearchKinds, SearchTest};
use crate::commands::servers::{self, AddServers, AddedServers, ApproveServer, McpServer, OneServer, ServerList};
use crate::commands::settings::{self, Settings};
use crate::commands::tasks::{self, CheckTask, CheckedTask, OpenTask, OpenedTask, RecentTasks, SaveTask};
use crate::commands::undo::{self, PreviewUndo, RunFiles, UndoRun};
use crate::diagnostics::WrittenDiagnostics;
use crate::error::internal;
use crate::estimate::Estimate;
use crate::plan_edits::CheckedPlan;
use crate::recordings::Recorded;

/// Answers one call. A name that is not in the table and a request of the wrong shape are errors like any other; a
/// panic below ends the call and nothing else.
pub async fn dispatch(app: &App, name: &str, request: Value) -> Result<Value, AppError> {
    let answering = AssertUnwindSafe(answer(app, name, request)).catch_unwind();
    answering
        .await
        .unwrap_or_else(|_| Err(internal(format!("the command \"{name}\" ended unexpectedly"))))
}

macro_rules! commands {
    ($($name:ident($request:ty) -> $reply:ty = $function:path;)*) => {
        async fn answer(app: &App, name: &str, request: Value) -> Result<Value, AppError> {
            match name {
                $(stringify!($name) => {
                    let request: $request = read(name, request)?;
                    let reply: $reply = Box::pin($function(app, request)).await?;
                    write(&reply)
                })*
                _ => Err(unknown(name)),
            }
        }

        /// The names of all commands.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Hands every request and reply to a visitor, and returns the lines of the TypeScript table.
        pub(crate) fn table(config: &Config, visitor: &mut impl TypeVisitor) -> String {
            let mut lines = String::new();
            $(
                visitor.visit::<$request>();
                visitor.visit::<$reply>();
                let (request, reply) = (<$request as TS>::name(config), <$reply as TS>::name(config));
                lines.push_str(&format!("  {}: [{request}, {reply}];\n", stringify!($name)));
            )*
            lines
        }
    };
}

commands! {
    app_info(()) -> AppInfo = about::info;
    file_handed(()) -> Option<HandedFile> = files::handed;
    diagnostics_save(SaveDiagnostics) -> WrittenDiagnostics = about::diagnostics;
    data_size(()) -> DataSize = about::size;
    data_back_up(BackUp) -> BackedUp = about::back_up;
    checks_list(()) -> CheckList = about::checks;
    tools_list(()) -> ToolList = about::tools;
    providers_list(()) -> ProviderList = about::providers;

    sample_start(()) -> StartedRun = sample::start;

    task_check(CheckTask) -> CheckedTask = tasks::check;
    task_open(OpenTask) -> OpenedTask = tasks::open;
    task_save(SaveTask) -> () = tasks::save;
    task_recent(()) -> RecentTasks = tasks::recent;

    run_start(StartRun) -> StartedRun = runs::start;
    run_list(ListRuns) -> RunPage = runs::list;
    run_models(()) -> AskedModels = runs::models;
    run_get(OneRun) -> RunSummary = runs::get;
    run_events(ReadEvents) -> EventPage = runs::events;
    run_deltas(OneRun) -> Vec<RunningText> = runs::deltas;
    run_answer(AnswerRun) -> () = runs::answer;
    run_stop(OneRun) -> () = runs::stop;
    run_continue(OneRun) -> () = runs::resume;
    run_fork(OneRun) -> StartedRun = runs::fork;
    run_again(RunAgain) -> StartedRun = runs::again;
    run_pause(OneRun) -> () = runs::pause;
    run_guide(GuideRun) -> () = runs::guide;
    run_accept(AcceptRun) -> RunResult = runs::accept;
    run_raise_budget(RaiseBudget) -> () = runs::raise_budget;
    run_report(OneRun) -> RunReport = runs::report;
    run_record(RecordRun) -> Recorded = runs::record;
    recording_play(PlayRecording) -> StartedRun = runs::play;
    run_waits(OneRun) -> RunWaits = runs::waits;
    run_try_now(OneRun) -> () = runs::try_now;
    run_files(OneRun) -> RunFiles = undo::files;
    run_undo_preview(PreviewUndo) -> UndoPreview = undo::preview;
    run_undo(UndoRun) -> UndoResult = undo::undo;
    run_undo_finish(OneRun) -> UndoResult = undo::finish;
    run_estimate(OneRun) -> Option<Estimate> = runs::estimate;
    run_check_plan(CheckPlan) -> CheckedPlan = runs::check_plan;
    run_export(ExportRun) -> ExportedRun = runs::export;
    run_import(ImportRun) -> ExportedRun = runs::import;
    run_deletion(SomeRuns) -> WhatGoes = runs::deletion;
    run_delete(SomeRuns) -> WhatGoes = runs::delete;

    artifact_read(ReadArtifact) -> ArtifactValue = files::artifact;
    file_preview(PreviewFile) -> FilePreview = files::preview;
    file_before(PreviewBefore) -> FilePreview = files::before;
    folder_info(LookAtFolder) -> FolderInfo = files::folder;

    settings_get(()) -> Settings = settings::get;
    settings_set(Settings) -> Settings = settings::set;
    grants_list(()) -> Vec<TaskGrant> = grants::list;
    grant_revoke(RevokeGrant) -> () = grants::revoke;
    mcp_list(()) -> ServerList = servers::list;
    mcp_add(AddServers) -> AddedServers = servers::add;
    mcp_connect(OneServer) -> McpServer = servers::connect;
    mcp_leave(OneServer) -> () = servers::leave;
    mcp_approve(ApproveServer) -> McpServer = servers::approve;
    mcp_remove(OneServer) -> () = servers::remove;
    search_kinds(()) -> SearchKinds = search::kinds;
    search_test(()) -> SearchTest = search::test;
    key_set(SetKey) -> KeyInfo = keys::set;
    key_info(KeyAccount) -> Option<KeyInfo> = keys::info;
    key_delete(KeyAccount) -> () = keys::delete;
    models_list(ListModels) -> ModelList = models::list;
    servers_find(()) -> FoundServers = models::find;
    model_widen(WidenModel) -> WideModel = models::widen;
    provider_test(TestProvider) -> ProviderTest = models::test;

    draft_get(GetDraft) -> Draft = drafts::get;
    draft_set(SetDraft) -> () = drafts::set;
}

fn read<Request: DeserializeOwned>(name: &str, request: Value) -> Result<Request, AppError> {
    // No request at all may be written as an empty object too.
    let request = match request {
        Value::Object(fields) if fields.is_empty() => {
            return serde_json::from_value(Value::Null)
                .or_else(|_| serde_json::from_value(Value::Object(fields)))
                .map_err(|error| malformed(name, &error));
        }
        request => request,
    };
    serde_json::from_value(request).map_err(|error| malformed(name, &error))
}

fn write(reply: &impl Serialize) -> Result<Value, AppError> {
    serde_json::to_value(reply).map_err(|error| internal(error.to_string()))
}

fn unknown(name: &str) -> AppError {
    AppError::new("unknown_command", format!("there is no command \"{}\"", short(name)))
        .hint("The window and the app may be of different versions: start Tepa again.")
}

fn malformed(name: &str, error: &serde_json::Error) -> AppError {
    // The reason may repeat what was sent, which for a key must not be.
    let reason = if name.starts_with("key_") || name == "mcp_add" {
        "it has another shape".to_owned()
    } else {
        short(&error.to_string())
    };
    AppError::new(
        "invalid_request",
        format!("the request for \"{name}\" cannot be read: {reason}"),
    )
    .hint("The window and the app may be of different versions: start Tepa again.")
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
