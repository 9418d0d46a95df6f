//! What an undo or a redo would do, file by file. Nothing is changed, and nothing is written down.

use contract::Hash;
use contract::ports::files::FilesError;
use contract::ports::undo::Found;
use contract::undo::{FileFace, Merging, UndoFile, UndoPreview, UndoStanding};
use serde_json::json;

use super::history::{History, Touched};
use super::standing::{Standing, standing};
use super::{MOST_BYTES, Place, UndoError, merging};

/// A file with all that is to be known before it is touched.
pub(super) struct Looked {
    pub(super) path: String,
    pub(super) standing: Standing,
    pub(super) now: Option<FileFace>,
}

/// What an undo, or a redo, would do.
///
/// # Errors
/// Those of the journal, and of the folder as a whole.
pub async fn preview(place: Place<'_>, redo: bool) -> Result<UndoPreview, UndoError> {
    let history = History::of(place.journal, place.run).await?;
    let looked = look(place, &history, redo).await?;
    let stamp = stamp(&looked);
    let mut files = Vec::with_capacity(looked.len());
    for one in looked {
        let merging = match one.standing.standing {
            UndoStanding::Edited => Some(put_together(place, &one).await?.err().unwrap_or(Merging::Clean)),
            _ => None,
        };
        files.push(UndoFile {
            path: one.path,
            standing: one.standing.standing,
            to: one.standing.to.map(|face| face.hash),
            left: one.standing.left.map(|face| face.hash),
            is_link: one.now.as_ref().is_some_and(|face| face.link),
            now: one.now.map(|face| face.hash),
            merging,
        });
    }
    Ok(UndoPreview {
        redo,
        files,
        folders: history.folders.into_iter().collect(),
        stamp,
        unfinished: history.open.is_some(),
    })
}

/// Looks at every file that the run changed.
pub(super) async fn look(place: Place<'_>, history: &History, redo: bool) -> Result<Vec<Looked>, UndoError> {
    let mut looked = Vec::with_capacity(history.files.len());
    for (path, touched) in &history.files {
        looked.push(look_at(place, path, touched, redo).await?);
    }
    Ok(looked)
}

async fn look_at(place: Place<'_>, path: &str, touched: &Touched, redo: bool) -> Result<Looked, UndoError> {
    let found = match place.files.look(path).await {
        Ok(found) => found,
        Err(gone @ FilesError::FolderMissing(_)) => return Err(gone.into()),
        // It is there, and nobody may look at it.
        Err(_) => Found::Other,
    };
    let standing = standing(touched, &found, redo);
    let now = match found {
        Found::Here(face) => Some(face),
        Found::Nothing | Found::Other => None,
    };
    Ok(Looked {
        path: path.to_owned(),
        standing,
        now,
    })
}

/// The address of what was seen.
pub(super) fn stamp(looked: &[Looked]) -> Hash {
    let seen: Vec<_> = looked
        .iter()
        .map(|one| json!([one.path, one.standing.standing, one.now]))
        .collect();
    let text = serde_json::to_vec(&seen).unwrap_or_default();
    Hash::of_bytes(&text)
}

/// The file with what was edited since and without what the run changed.
pub(super) async fn put_together(place: Place<'_>, one: &Looked) -> Result<Result<Vec<u8>, Merging>, UndoError> {
    let Standing {
        to: Some(to),
        left: Some(left),
        may_merge: true,
        ..
    } = &one.standing
    else {
        return Ok(Err(Merging::Impossible));
    };
    if to.link || left.link || one.now.as_ref().is_none_or(|now| now.link) {
        return Ok(Err(Merging::Impossible));
    }
    let (to, left) = (
        place.journal.artifact(&to.hash).await?,
        place.journal.artifact(&left.hash).await?,
    );
    let now = place.files.keep(&one.path, MOST_BYTES).await;
    let (Some(to), Some(left), Ok(Some(now))) = (to, left, now) else {
        return Ok(Err(Merging::Impossible));
    };
    Ok(merging::merged(&left, &now.bytes, &to))
}
