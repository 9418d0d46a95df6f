//! The sample that ships with the app: a task, its data, and the recording that answers for the models.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use contract::AppError;
use providers::recording::Recording;
use serde_json::Value;

use crate::error::{ToAppError, internal};
use crate::task_files::{self, Syntax};

const TASK: &str = include_str!("../../../../prompts/samples/expenses.yaml");
const RECORDING: &str = include_str!("../../../../prompts/samples/expenses.recording.json");
/// The data, by file name.
const DATA: &[(&str, &[u8])] = &[
    (
        "2026-07.csv",
        include_bytes!("../../../../prompts/samples/expenses/2026-07.csv"),
    ),
    (
        "2026-08.csv",
        include_bytes!("../../../../prompts/samples/expenses/2026-08.csv"),
    ),
    (
        "2026-09.csv",
        include_bytes!("../../../../prompts/samples/expenses/2026-09.csv"),
    ),
];
/// What a folder for the sample is called.
const FOLDER: &str = "Tepa sample";

/// The sample's task as it is written.
pub(crate) fn task() -> Result<Value, AppError> {
    task_files::parse(TASK, Syntax::Yaml).map_err(ToAppError::to_app_error)
}

/// The sample's recording.
pub(crate) fn recording() -> Result<Recording, AppError> {
    Recording::from_json(RECORDING).map_err(|error| internal(error.to_string()))
}

/// Makes a new folder for the sample with its data in it; a folder that is there is left alone. Blocks.
pub(crate) fn unpack_anew(parent: &Path) -> Result<PathBuf, AppError> {
    let made = std::fs::create_dir_all(parent)
        .and_then(|()| new_folder(parent))
        .map_err(|error| failed(parent, &error))?;
    unpack(&made)?;
    Ok(made)
}

/// Puts the sample's data into a folder; a file that is there already is a person's, and stays as it is. Blocks.
pub(crate) fn unpack(folder: &Path) -> Result<(), AppError> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, bytes) in DATA {
        let path = folder.join(name);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|mut file| file.write_all(bytes))
        {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(&path, &error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn new_folder(parent: &Path) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let name = if number == 1 {
            FOLDER.to_owned()
        } else {
            format!("{FOLDER} {number}")
        };
        let folder = parent.join(name);
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> AppError {
    AppError::new(
        "sample_failed",
        format!("the sample's files cannot be put into \"{}\": {error}", path.display()),
    )
    .hint("Check that the disk has room and that you may write there.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_is_whole() {
        let reading = task_files::read(&task().unwrap());
        assert_eq!(reading.problems, []);
        assert!(!recording().unwrap().calls.is_empty());
        assert!(!DATA.is_empty());
    }

    #[test]
    fn every_start_gets_a_folder_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let names: Vec<PathBuf> = (0..3).map(|_| unpack_anew(parent.path()).unwrap()).collect();
        let expected = ["Tepa sample", "Tepa sample 2", "Tepa sample 3"].map(|name| parent.path().join(name));
        assert_eq!(names, expected);
        for (name, bytes) in DATA {
            assert_eq!(std::fs::read(names[2].join(name)).unwrap(), *bytes);
        }
    }

    #[test]
    fn a_persons_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (name, _) = DATA[0];
        std::fs::write(folder.path().join(name), "mine").unwrap();
        unpack(folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "mine");
    }
}
