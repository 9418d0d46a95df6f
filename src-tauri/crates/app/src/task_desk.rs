//! Task files as a person handles them: opened, saved, remembered.

use std::path::{Path, PathBuf};

use contract::AppError;
use contract::error::Problem;
use engine::task_rules::TaskReading;
use store::SaveTask;

use crate::app::App;
use crate::commands::tasks::OpenedTask;
use crate::error::ToAppError;
use crate::task_files::{self, TaskFileError};

/// A task's file with every problem; a text that is no object has one. Blocks.
pub(crate) fn open(path: &Path) -> Result<OpenedTask, TaskFileError> {
    let source = task_files::read_text(path)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let TaskReading { task, mut problems } = match task_files::parse(&source, task_files::syntax(&path)?) {
        Ok(value) => task_files::read(&value),
        Err(error) => TaskReading {
            task: None,
            problems: vec![Problem::new("", error.to_string())],
        },
    };
    let asked = task.as_ref().and_then(|task| task.working_folder.as_deref());
    let folder = task_files::folder_of(&path, asked).unwrap_or_else(|outside| {
        let message = format!(
            "asks for \"{}\", which is outside the task's own folder; choose a folder yourself",
            outside.display()
        );
        problems.push(Problem::warning("workingFolder", message));
        own_folder(&path)
    });
    let (path, folder) = (path.display().to_string(), folder.display().to_string());
    Ok(OpenedTask {
        source,
        path,
        folder,
        task,
        problems,
    })
}

/// Writes a task's file: what was there before stays whole until the new text is safe on the disk. Blocks.
pub(crate) fn write(path: &Path, source: &str) -> Result<(), AppError> {
    task_files::syntax(path).map_err(ToAppError::to_app_error)?;
    workspace::save(path, source.as_bytes()).map_err(|error| {
        let message = format!(
            "the task cannot be saved to \"{}\": {}",
            path.display(),
            task_files::in_words(&error)
        );
        AppError::new("task_save_failed", message)
            .hint("Choose another place; your text is still here.")
            .retryable()
    })
}

/// Keeps a version of a task's file, for the list of recent ones.
pub(crate) async fn remember(app: &App, title: String, path: &str, source: &str) -> Result<(), AppError> {
    let save = SaveTask {
        task: None,
        title,
        source: source.to_owned(),
        path: Some(path.to_owned()),
    };
    let saved = app
        .rooms
        .store
        .tasks()
        .save_version(save, app.rooms.clock.now_ms())
        .await;
    saved.map(|_| ()).map_err(ToAppError::to_app_error)
}

/// What a task without a readable goal is called.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn own_folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn saving_replaces_the_text_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.yaml");
        write(&path, "goal: a\n").unwrap();
        write(&path, "goal: b\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "goal: b\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn saving_says_why_it_failed_and_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let gone = write(&folder.path().join("gone/task.yaml"), "goal: a").unwrap_err();
        assert_eq!(gone.code, "task_save_failed");
        let path = folder.path().join("task.yaml");
        write(&path, "goal: a").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let refused = write(&path, "goal: b").unwrap_err();
        assert!(refused.message.ends_with("permission denied"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "goal: a");
        assert_eq!(
            write(&folder.path().join("task.txt"), "").unwrap_err().code,
            "task_extension"
        );
    }

    #[test]
    fn a_broken_file_opens_with_its_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.yaml");
        fs::write(&path, "goal: [").unwrap();
        let opened = open(&path).unwrap();
        assert_eq!((opened.source.as_str(), opened.task), ("goal: [", None));
        assert!(
            opened.problems[0]
                .message
                .starts_with("the task is not valid YAML: line 1"),
            "{:?}",
            opened.problems
        );
    }
}
