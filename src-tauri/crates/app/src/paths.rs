//! Where things are: the data folder, and the person's documents.

use std::path::{Path, PathBuf};

use contract::AppError;

/// The environment variable that names another data folder.
pub const DATA_FOLDER_VARIABLE: &str = "TEPA_DATA_DIR";

/// Where the app keeps its history, and where it may put new folders for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// Where a new folder for the sample goes.
    pub samples: PathBuf,
}

impl Places {
    /// The folder that was asked for, else the one in the environment, else the platform's own.
    pub fn find(asked: Option<PathBuf>) -> Result<Self, AppError> {
        let variable = std::env::var_os(DATA_FOLDER_VARIABLE).filter(|text| !text.is_empty());
        match asked.or_else(|| variable.map(PathBuf::from)) {
            Some(folder) => {
                let data = absolute(&folder)?;
                Ok(Self {
                    samples: data.join("samples"),
                    data,
                })
            }
            None => Self::of_this_platform(),
        }
    }

    /// Whether runs must keep out of this folder: the app's own data is in it, or it is a part of that. A model
    /// could read the history of everything there, and change what the app believes. `folder` is a real path.
    pub(crate) fn are_in(&self, folder: &Path) -> bool {
        let data = self.data.canonicalize().unwrap_or_else(|_| self.data.clone());
        let is_sample = folder.starts_with(data.join("samples"));
        data.starts_with(folder) || (folder.starts_with(&data) && !is_sample)
    }

    fn of_this_platform() -> Result<Self, AppError> {
        let Some(folder) = dirs::data_dir() else {
            let message = "this system does not say where programs keep their data";
            return Err(AppError::new("no_data_folder", message).hint(format!(
                "Set {DATA_FOLDER_VARIABLE} to a folder of your own, then start again."
            )));
        };
        let data = folder.join(if cfg!(any(windows, target_os = "macos")) {
            "Tepa"
        } else {
            "tepa"
        });
        let documents = dirs::document_dir().filter(|folder| folder.is_dir());
        let samples = documents.unwrap_or_else(|| data.join("samples"));
        Ok(Self { data, samples })
    }
}

fn absolute(folder: &Path) -> Result<PathBuf, AppError> {
    std::path::absolute(folder).map_err(|error| {
        AppError::new(
            "no_data_folder",
            format!("\"{}\" cannot be a data folder: {error}", folder.display()),
        )
        .hint("Name a folder that exists, or one that can be made.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_asked_for_holds_everything() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::find(Some(folder.path().to_owned())).unwrap();
        assert_eq!(
            places,
            Places {
                data: folder.path().to_owned(),
                samples: folder.path().join("samples")
            }
        );
    }

    #[test]
    fn a_relative_folder_is_meant_from_here() {
        let places = Places::find(Some(PathBuf::from("elsewhere"))).unwrap();
        assert_eq!(places.data, std::env::current_dir().unwrap().join("elsewhere"));
    }
}
