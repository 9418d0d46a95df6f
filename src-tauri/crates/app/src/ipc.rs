//! The command table: every name that a window can call, with what goes in and what comes out.
//!
//! One table makes two things: [`dispatch`], which answers a call, and [`typescript`], from which the window's
//! types are generated. Deliberately not here: what a command does.

use contract::secret::KeyInfo;
use ts_rs::{Config, TS};

use crate::commands::about::{AppInfo, CheckList, ToolList};
use crate::commands::drafts::{Draft, GetDraft, SetDraft};
use crate::commands::files::{
    ArtifactValue, FilePreview, FolderInfo, LookAtFolder, PreviewBefore, PreviewFile, ReadArtifact,
};
use crate::commands::keys::{KeyAccount, SetKey};
use crate::commands::models::{ProviderTest, TestProvider};
use crate::commands::runs::{
    AnswerRun, EventPage, ListRuns, OneRun, ReadEvents, RunPage, RunningText, StartRun, StartedRun,
};
use crate::commands::settings::Settings;
use crate::commands::tasks::{CheckTask, CheckedTask, OpenTask, OpenedTask, SaveTask};
use contract::run::RunSummary;

macro_rules! commands {
    ($($name:ident($request:ty) -> $reply:ty = $function:path;)*) => {
        /// Hands every request and reply to a visitor, and returns the lines of the TypeScript table.
        pub(crate) fn table(config: &Config, visitor: &mut impl ts_rs::TypeVisitor) -> String {
            let mut lines = String::new();
            $(
                visitor.visit::<$request>();
                visitor.visit::<$reply>();
                lines.push_str(&format!(
                    "  {}: [{}, {}];\n",
                    stringify!($name),
                    <$request as TS>::name(config),
                    <$reply as TS>::name(config),
                ));
            )*
            lines
        }
    };
}

commands! {
    app_info(()) -> AppInfo = about::info;
    checks_list(()) -> CheckList = about::checks;
    tools_list(()) -> ToolList = about::tools;

    sample_start(()) -> StartedRun = sample::start;

    task_check(CheckTask) -> CheckedTask = tasks::check;
    task_open(OpenTask) -> OpenedTask = tasks::open;
    task_save(SaveTask) -> () = tasks::save;

    run_start(StartRun) -> StartedRun = runs::start;
    run_list(ListRuns) -> RunPage = runs::list;
    run_get(OneRun) -> RunSummary = runs::get;
    run_events(ReadEvents) -> EventPage = runs::events;
    run_deltas(OneRun) -> Vec<RunningText> = runs::deltas;
    run_answer(AnswerRun) -> () = runs::answer;
    run_stop(OneRun) -> () = runs::stop;
    run_continue(OneRun) -> () = runs::resume;
    run_again(OneRun) -> StartedRun = runs::again;

    artifact_read(ReadArtifact) -> ArtifactValue = files::artifact;
    file_preview(PreviewFile) -> FilePreview = files::preview;
    file_before(PreviewBefore) -> FilePreview = files::before;
    folder_info(LookAtFolder) -> FolderInfo = files::folder;

    settings_get(()) -> Settings = settings::get;
    settings_set(Settings) -> Settings = settings::set;
    key_set(SetKey) -> KeyInfo = keys::set;
    key_info(KeyAccount) -> Option<KeyInfo> = keys::info;
    key_delete(KeyAccount) -> () = keys::delete;
    provider_test(TestProvider) -> ProviderTest = models::test;

    draft_get(GetDraft) -> Draft = drafts::get;
    draft_set(SetDraft) -> () = drafts::set;
}
