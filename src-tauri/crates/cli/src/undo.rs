//! Taking back what a run changed in files.

use app::{App, Config, UndoWish};
use contract::AppError;
use contract::undo::{ChosenFile, Merging, UndoChoice, UndoFile, UndoPreview, UndoResult, UndoStanding};

use crate::Exit;
use crate::arguments::{EditedFiles, UndoArguments};
use crate::history::find;
use crate::paint::{Screen, clean, count};

/// `tepa undo RUN [FILE..]`.
pub(crate) async fn undo(arguments: UndoArguments) -> Result<Exit, AppError> {
    let app = App::open(Config::default()).await?;
    let run = find(&app, &arguments.run).await?;
    let screen = Screen::out();
    if arguments.preview {
        let preview = app.undo_preview(&run, arguments.redo).await?;
        app.close().await?;
        match arguments.json {
            true => screen.document(&preview),
            false => show(screen, &preview),
        }
        return Ok(Exit::Pass);
    }
    let named = |path: &String| ChosenFile {
        path: path.clone(),
        choice: None,
    };
    let wish = UndoWish {
        redo: arguments.redo,
        files: arguments.files.iter().map(named).collect(),
        edited: arguments.edited.map(EditedFiles::choice),
        stamp: None,
    };
    let result = app.undo(&run, &wish).await.map_err(in_terminal_words)?;
    app.close().await?;
    match arguments.json {
        true => screen.document(&result),
        false => tell(screen, &result, run.as_str()),
    }
    Ok(match result.left.is_empty() {
        true => Exit::Pass,
        false => Exit::Fail,
    })
}

impl EditedFiles {
    fn choice(self) -> UndoChoice {
        match self {
            Self::Keep => UndoChoice::Keep,
            Self::Restore => UndoChoice::Restore,
            Self::Merge => UndoChoice::Merge,
        }
    }
}

fn in_terminal_words(error: AppError) -> AppError {
    match error.code.as_str() {
        "edited_since" => error.hint(
            "Nothing was undone. Look with --preview; then say what happens to them: --edited keep, --edited restore or \
             --edited merge.",
        ),
        "changes_overlap" => error.hint("Nothing was undone. Say --edited keep or --edited restore for these files."),
        "not_of_run" => error.hint("See which files it changed: tepa undo RUN --preview"),
        _ => error,
    }
}

fn show(screen: Screen, preview: &UndoPreview) {
    if preview.unfinished {
        screen.wrapped(
            0,
            &screen.yellow("An undo was broken off. The next one finishes it first."),
        );
    }
    if preview.files.is_empty() {
        screen.line("The run changed no files.");
    }
    for file in &preview.files {
        let words = standing(file, preview.redo);
        let words = match file.standing {
            UndoStanding::Edited | UndoStanding::Missing | UndoStanding::NotKept | UndoStanding::Blocked => {
                screen.yellow(words)
            }
            UndoStanding::Unchanged | UndoStanding::Done => screen.dim(words),
            UndoStanding::Restores | UndoStanding::Deletes => words.to_owned(),
        };
        screen.line(&format!("  {}  {words}", clean(&file.path)));
    }
    for folder in preview.folders.iter().filter(|_| !preview.redo) {
        let words = screen.dim("goes when nothing is left in it");
        screen.line(&format!("  {}/  {words}", clean(folder)));
    }
}

fn standing(file: &UndoFile, redo: bool) -> &'static str {
    match (file.standing, file.merging) {
        (UndoStanding::Restores, _) if redo => "gets back what the run left",
        (UndoStanding::Restores, _) => "gets back what it held before the run",
        (UndoStanding::Deletes, _) if redo => "goes: the run had removed it",
        (UndoStanding::Deletes, _) => "goes: the run made it",
        (UndoStanding::Unchanged, _) => "is already so",
        (UndoStanding::Edited, _) if file.is_link => "is a link now",
        (UndoStanding::Edited, Some(Merging::Clean)) => "was edited since; both changes can be had",
        (UndoStanding::Edited, _) => "was edited since",
        (UndoStanding::Missing, _) => "was removed since",
        (UndoStanding::Done, _) if redo => "was not undone",
        (UndoStanding::Done, _) => "is undone already",
        (UndoStanding::NotKept, _) => "was too large to be kept",
        (UndoStanding::Blocked, _) => "is no file now, or may not be opened",
    }
}

fn tell(screen: Screen, result: &UndoResult, run: &str) {
    for (files, words) in [
        (&result.restored, "restored"),
        (&result.deleted, "deleted"),
        (&result.merged, "put together with your changes"),
        (&result.folders, "deleted, for it is empty"),
    ] {
        for path in files {
            screen.line(&format!("  {}  {}", clean(path), screen.green(words)));
        }
    }
    for path in &result.kept {
        screen.line(&format!("  {}  {}", clean(path), screen.dim("stays as it is")));
    }
    for file in &result.left {
        let words = format!("{}  {}", clean(&file.path), screen.yellow(&clean(&file.why)));
        screen.wrapped(2, &words);
    }
    let done = result.restored.len() + result.deleted.len() + result.merged.len();
    let files = count(done as u64, "file", "files");
    match (done, result.redo) {
        (0, _) => screen.line("No file was changed."),
        (_, false) => screen.line(&format!("Undone in {files}. To bring it back: tepa undo {run} --redo")),
        (_, true) => screen.line(&format!("Brought back in {files}. To undo it again: tepa undo {run}")),
    }
}
