//! A run for those who do not have the app: a page, a text, a table of its steps, the lines of its model calls (history
//! page, *Export*; models page, *Retry*: JSONL of the attempts).
//!
//! They say what happened and cannot be read back; the whole of a run is a `.tepa` file (`archive`). What models were
//! asked and what they said is in none of them: it is in the run's own journal.

mod calls;
mod page;
mod steps;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use contract::AppError;
use contract::ids::RunId;
use contract::llm::{LlmRequest, LlmResponse};
use contract::run_state::RunState;
use contract::value_ref::ValueRef;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use self::calls::CallShapes;
use self::page::Page;
use crate::app::App;
use crate::archive::{file_name, write_new};
use crate::error::{ToAppError, internal, thread_ended};

/// An answer is written up to so many bytes.
const MOST_ANSWER: usize = 200_000;

/// As what a run is written for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportForm {
    /// A page for a browser, in one file that asks for nothing else.
    Html,
    /// The same as Markdown.
    Markdown,
    /// Its steps as a table, CSV.
    Steps,
    /// Every attempt to ask a model, a line of JSON each.
    Calls,
}

impl ExportForm {
    /// How its files end.
    fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Steps => "csv",
            Self::Calls => "jsonl",
        }
    }
}

/// A run that was written to a file for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// Which run.
    pub run_id: RunId,
    /// What it is called.
    pub title: String,
    /// The file.
    pub file: PathBuf,
}

impl App {
    /// Writes a run to a file for others; the file must not be there yet. Without a name it is called as the run is, in
    /// `folder`. A run that is not at its end is written as far as it is.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be written.
    pub async fn export_as(
        &self,
        run: &RunId,
        form: ExportForm,
        file: Option<&Path>,
        folder: &Path,
    ) -> Result<Written, AppError> {
        let title = self.summary(run).await?.title;
        let state = self.state(run).await?;
        let text = match form {
            ExportForm::Html => self.page(run, &state).await?.html().map_err(broken)?,
            ExportForm::Markdown => self.page(run, &state).await?.markdown().map_err(broken)?,
            ExportForm::Steps => steps::table(&state).map_err(internal)?,
            ExportForm::Calls => calls::lines(run, &state, &self.call_shapes(&state).await?),
        };
        let file = match file {
            Some(file) => file.to_owned(),
            None => folder.join(file_name(&title, run, form.extension())),
        };
        let to = file.clone();
        let written = tokio::task::spawn_blocking(move || write_new(&to, text.as_bytes()));
        let written = written.await.map_err(thread_ended)?;
        written.map_err(ToAppError::to_app_error)?;
        Ok(Written {
            run_id: run.clone(),
            title,
            file,
        })
    }

    /// What every call of a run looked like, by its key.
    async fn call_shapes(&self, state: &RunState) -> Result<CallShapes, AppError> {
        let mut shapes = CallShapes::new();
        for (key, call) in &state.calls {
            let request: LlmRequest = self.value(&call.request).await?;
            let response: Option<LlmResponse> = match &call.response {
                Some(response) => Some(self.value(response).await?),
                None => None,
            };
            shapes.insert(key.clone(), calls::shape(&request, response.as_ref()));
        }
        Ok(shapes)
    }

    /// The page of a run, with its answers.
    async fn page(&self, run: &RunId, state: &RunState) -> Result<Page, AppError> {
        let mut answers = Vec::new();
        for output in state.result.iter().flat_map(|result| &result.outputs) {
            if let Some(value) = &output.value {
                answers.push((output.description.clone(), self.whole_text(value).await?));
            }
        }
        Ok(Page::of(run, state, answers))
    }

    /// A value as text; a long one is cut, and says so.
    async fn whole_text(&self, value: &ValueRef) -> Result<String, AppError> {
        let whole = match &value.inline {
            Some(value) => value.clone(),
            None => {
                let bytes = self.rooms.journal.artifact(&value.hash).await;
                match bytes.map_err(ToAppError::to_app_error)? {
                    Some(bytes) => serde_json::from_slice(&bytes).map_err(broken)?,
                    None => return Ok(value.excerpt.clone().unwrap_or_default()),
                }
            }
        };
        let mut text = page::text_of(&whole);
        if text.len() > MOST_ANSWER {
            text.truncate(text.floor_char_boundary(MOST_ANSWER));
            text.push_str("\n… (the rest is in the run)");
        }
        Ok(text)
    }
}

fn broken(error: impl std::fmt::Display) -> AppError {
    internal(error.to_string())
}
