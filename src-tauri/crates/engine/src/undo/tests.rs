//! The protocol of an undo on doubles of the journal and the folder: what is on the disk before what is touched, and an
//! end at every one of these places.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use contract::Hash;
use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use contract::ports::clock::Clock;
use contract::ports::files::FilesError;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::ports::undo::{Found, Kept, UndoFiles};
use contract::undo::{ChosenFile, FileDelta, FileFace, UndoChoice, UndoResult, UndoStanding};
use contract::value_ref::{Artifact, ValueRef};
use futures::FutureExt;
use serde_json::Value;

use super::*;

/// A journal and a folder in one, with a log of what reaches them, that may end the process at any of these.
#[derive(Default)]
struct World {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    events: Vec<RunEventRecord>,
    artifacts: BTreeMap<Hash, Vec<u8>>,
    files: BTreeMap<String, Kept>,
    log: Vec<String>,
    /// The process ends at this write, counted from 0: before it, or right after it.
    ends_at: Option<(usize, bool)>,
    writes: usize,
    /// What somebody makes of a file between the look at it and the reading of it.
    edited: BTreeMap<String, Kept>,
    /// Files that cannot be written, with why.
    broken: BTreeMap<String, FilesError>,
}

const RUN: &str = "run";

fn text(text: &str) -> Kept {
    Kept {
        face: FileFace::of(Hash::of_bytes(text.as_bytes())),
        bytes: text.as_bytes().to_vec(),
    }
}

impl World {
    /// A folder in which a run made these changes, as `path before after`; nothing is `""`.
    fn after(changes: &[(&str, &str, &str)]) -> Self {
        let world = Self::default();
        for (number, (path, before, after)) in changes.iter().enumerate() {
            let mut artifacts = Vec::new();
            let mut hash = |kind, content: &str| {
                let artifact = Artifact::new(kind, content.as_bytes().to_vec());
                let hash = artifact.hash.clone();
                artifacts.push(artifact);
                hash
            };
            let before = (!before.is_empty()).then(|| hash("file-before", before));
            let hash_after = hash("file-after", after);
            let folders = match path.rsplit_once('/') {
                Some((folder, _)) if before.is_none() => vec![folder.to_owned()],
                _ => Vec::new(),
            };
            let (output, _) = ValueRef::of("tool-output", &Value::Null).unwrap();
            let leaf = Key::new(format!("cycle/1/step/s{number}#0/tool/0/run"));
            let intended = RunEvent::EffectIntended {
                path: (*path).to_owned(),
                before,
                after: Some(hash_after),
                output: output.clone(),
                folders,
            };
            let finished = RunEvent::ToolFinished {
                output: Some(output),
                error: None,
                scratchpad: Vec::new(),
                logs: Vec::new(),
                observed: None,
                duration_ms: 1,
            };
            world.put(path, after);
            let mut inner = world.inner();
            for artifact in artifacts {
                inner.artifacts.insert(artifact.hash, artifact.bytes.to_vec());
            }
            for (key, event) in [(leaf.mark("intended"), intended), (leaf, finished)] {
                let seq = inner.events.len() as u64 + 1;
                inner.events.push(RunEventRecord {
                    run_id: RunId::new(RUN),
                    seq,
                    at_ms: 0,
                    key,
                    event,
                });
            }
        }
        world
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    fn put(&self, path: &str, content: &str) {
        self.inner().files.insert(path.to_owned(), text(content));
    }

    fn remove(&self, path: &str) {
        self.inner().files.remove(path);
    }

    /// What is in the folder, as `path content`.
    fn files(&self) -> Vec<(String, String)> {
        let inner = self.inner();
        let files = inner.files.iter();
        files
            .map(|(path, kept)| (path.clone(), String::from_utf8(kept.bytes.clone()).unwrap()))
            .collect()
    }

    fn does(&self, wish: &Wish) -> Result<UndoResult, UndoError> {
        let run = RunId::new(RUN);
        undo(self.place(&run), wish).now_or_never().unwrap()
    }

    fn standings(&self, redo: bool) -> Vec<UndoStanding> {
        let run = RunId::new(RUN);
        let preview = preview(self.place(&run), redo).now_or_never().unwrap().unwrap();
        preview.files.iter().map(|file| file.standing).collect()
    }

    fn place<'a>(&'a self, run: &'a RunId) -> Place<'a> {
        Place {
            run,
            journal: self,
            files: self,
            clock: self,
        }
    }

    /// Writes a thing down and does it, unless the process ends there.
    async fn write<T>(&self, what: String, act: impl FnOnce(&mut Inner) -> T) -> T {
        let ended = {
            let mut inner = self.inner();
            let number = inner.writes;
            inner.writes += 1;
            match inner.ends_at {
                Some((at, after)) if at == number => {
                    if after {
                        inner.log.push(what);
                        act(&mut inner);
                    }
                    None
                }
                _ => {
                    inner.log.push(what);
                    Some(act(&mut inner))
                }
            }
        };
        match ended {
            Some(done) => done,
            None => futures::future::pending().await,
        }
    }
}

#[async_trait]
impl Journal for World {
    async fn append(
        &self,
        _run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        let what = format!("{durability:?} {}", keys.join(" "));
        self.write(what, |inner| {
            assert_eq!(first_seq, inner.events.len() as u64 + 1);
            for artifact in artifacts {
                inner.artifacts.insert(artifact.hash, artifact.bytes.to_vec());
            }
            for (number, entry) in (first_seq..).zip(entries) {
                assert!(inner.events.iter().all(|record| record.key != entry.key));
                inner.events.push(RunEventRecord {
                    run_id: RunId::new(RUN),
                    seq: number,
                    at_ms: entry.at_ms,
                    key: entry.key,
                    event: (*entry.event).clone(),
                });
            }
            Ok(())
        })
        .await
    }

    async fn read(&self, _run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        let inner = self.inner();
        let from = inner.events.iter().filter(|record| record.seq >= from_seq);
        Ok(from.take(limit as usize).cloned().collect())
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        Ok(self.inner().artifacts.get(hash).cloned())
    }
}

#[async_trait]
impl UndoFiles for World {
    async fn look(&self, path: &str) -> Result<Found, FilesError> {
        let inner = self.inner();
        Ok(inner
            .files
            .get(path)
            .map_or(Found::Nothing, |kept| Found::Here(kept.face.clone())))
    }

    async fn keep(&self, path: &str, _limit: u64) -> Result<Option<Kept>, FilesError> {
        let mut inner = self.inner();
        if let Some(edited) = inner.edited.remove(path) {
            inner.files.insert(path.to_owned(), edited);
        }
        Ok(inner.files.get(path).cloned())
    }

    async fn exchange(&self, path: &str, expected: Option<&FileFace>, new: Option<&Kept>) -> Result<bool, FilesError> {
        if let Some(error) = self.inner().broken.get(path) {
            return Err(error.clone());
        }
        if self.inner().files.get(path).map(|kept| &kept.face.hash) != expected.map(|face| &face.hash) {
            return Ok(false);
        }
        self.write(format!("exchange {path}"), |inner| {
            match new {
                Some(new) => inner.files.insert(path.to_owned(), new.clone()),
                None => inner.files.remove(path),
            };
            Ok(true)
        })
        .await
    }

    async fn remove_empty_folder(&self, path: &str) -> Result<bool, FilesError> {
        let inside = format!("{path}/");
        if self.inner().files.keys().any(|file| file.starts_with(&inside)) {
            return Ok(false);
        }
        self.write(format!("remove {path}"), |_| Ok(true)).await
    }
}

#[async_trait]
impl Clock for World {
    fn now_ms(&self) -> i64 {
        7
    }

    async fn sleep(&self, _duration: Duration) {}
}

fn redo() -> Wish {
    Wish {
        redo: true,
        ..Wish::default()
    }
}

fn with(choice: UndoChoice) -> Wish {
    Wish {
        edited: Some(choice),
        ..Wish::default()
    }
}

fn holds(world: &World, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    assert_eq!(world.files(), expected);
}

/// A changed file, a new one in a new folder, and one changed twice.
fn three() -> World {
    World::after(&[
        ("a", "old a", "new a"),
        ("d/b", "", "new b"),
        ("c", "1", "2"),
        ("c", "2", "3"),
    ])
}

const BEFORE: [(&str, &str); 2] = [("a", "old a"), ("c", "1")];
const AFTER: [(&str, &str); 3] = [("a", "new a"), ("c", "3"), ("d/b", "new b")];

#[test]
fn brings_back_exactly_what_was_and_again_what_came_any_number_of_times() {
    let world = three();
    for _ in 0..3 {
        let undone = world.does(&Wish::default()).unwrap();
        assert_eq!(
            (undone.restored, undone.deleted),
            (vec!["a".to_owned(), "c".to_owned()], vec!["d/b".to_owned()])
        );
        assert_eq!(undone.folders, ["d"]);
        holds(&world, &BEFORE);
        assert_eq!(world.does(&Wish::default()).unwrap_err(), UndoError::Nothing(false));
        world.does(&redo()).unwrap();
        holds(&world, &AFTER);
        assert_eq!(world.does(&redo()).unwrap_err(), UndoError::Nothing(true));
    }
}

#[test]
fn everything_is_on_the_disk_before_anything_is_touched() {
    let world = three();
    world.does(&Wish::default()).unwrap();
    let log = world.inner().log.clone();
    let expected = [
        "Barrier undo/0:intended",
        "exchange a",
        "exchange d/b",
        "exchange c",
        "remove d",
        "Barrier undo/0",
    ];
    assert_eq!(log, expected);
    // What was overwritten is in the history, from before it was.
    for kept in ["new a", "new b", "3"] {
        assert!(
            world.inner().artifacts.contains_key(&Hash::of_bytes(kept.as_bytes())),
            "{kept}"
        );
    }
}

#[test]
fn an_end_at_any_write_is_finished_the_next_time() {
    let writes = {
        let world = three();
        world.does(&Wish::default()).unwrap();
        world.inner().writes
    };
    assert_eq!(writes, 6);
    for (at, after) in (0..writes).flat_map(|at| [(at, false), (at, true)]) {
        let world = three();
        world.inner().ends_at = Some((at, after));
        let run = RunId::new(RUN);
        assert!(
            undo(world.place(&run), &Wish::default()).now_or_never().is_none(),
            "at {at}"
        );
        world.inner().ends_at = None;
        let is_open = preview(world.place(&run), false)
            .now_or_never()
            .unwrap()
            .unwrap()
            .unfinished;
        let intended = (at, after) >= (0, true);
        let ended = (at, after) == (writes - 1, true);
        assert_eq!(is_open, intended && !ended, "at {at}, {after}");
        let finished = finish(world.place(&run)).now_or_never().unwrap().unwrap();
        assert_eq!(finished.is_some(), is_open, "at {at}, {after}");
        match intended {
            true => holds(&world, &BEFORE),
            false => holds(&world, &AFTER),
        }
        assert!(finish(world.place(&run)).now_or_never().unwrap().unwrap().is_none());
        if intended {
            world.does(&redo()).unwrap();
            holds(&world, &AFTER);
        }
    }
}

#[test]
fn what_somebody_did_after_an_end_in_the_middle_is_left_and_told() {
    let world = three();
    world.inner().ends_at = Some((1, false));
    let run = RunId::new(RUN);
    assert!(undo(world.place(&run), &Wish::default()).now_or_never().is_none());
    world.inner().ends_at = None;
    world.put("a", "mine");
    let finished = finish(world.place(&run)).now_or_never().unwrap().unwrap().unwrap();
    let left: Vec<&str> = finished.left.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["a"]);
    holds(&world, &[("a", "mine"), ("c", "1")]);
    assert_eq!(
        world.standings(false),
        [UndoStanding::Edited, UndoStanding::Done, UndoStanding::Done]
    );
}

#[test]
fn refuses_as_a_whole_when_somebody_edited_a_file_and_nobody_chose() {
    let world = three();
    world.put("a", "mine");
    world.remove("c");
    assert_eq!(
        world.standings(false),
        [UndoStanding::Edited, UndoStanding::Deletes, UndoStanding::Missing]
    );
    let refused = world.does(&Wish::default()).unwrap_err();
    assert_eq!(refused, UndoError::Edited(vec!["a".to_owned(), "c".to_owned()]));
    assert_eq!(refused.to_string(), "files were edited or removed since the run: a, c");
    holds(&world, &[("a", "mine"), ("d/b", "new b")]);
    assert_eq!(world.inner().log, Vec::<String>::new());
}

#[test]
fn each_choice_does_what_it_says_and_can_be_taken_back() {
    let edited = || {
        let world = World::after(&[("a", "1\n2\n3\n4\n5\n", "1\nRUN\n3\n4\n5\n")]);
        world.put("a", "1\nRUN\n3\n4\nmine\n");
        world
    };
    for (choice, expected) in [
        (UndoChoice::Keep, "1\nRUN\n3\n4\nmine\n"),
        (UndoChoice::Restore, "1\n2\n3\n4\n5\n"),
        (UndoChoice::Merge, "1\n2\n3\n4\nmine\n"),
    ] {
        let world = edited();
        world.does(&with(choice)).unwrap();
        holds(&world, &[("a", expected)]);
        if choice != UndoChoice::Keep {
            world.does(&redo()).unwrap();
            holds(&world, &[("a", "1\nRUN\n3\n4\nmine\n")]);
            world.does(&Wish::default()).unwrap();
            holds(&world, &[("a", expected)]);
        }
    }
}

#[test]
fn changes_that_overlap_are_not_put_together() {
    let world = World::after(&[("a", "1\n", "RUN\n")]);
    world.put("a", "mine\n");
    let refused = world.does(&with(UndoChoice::Merge)).unwrap_err();
    assert_eq!(refused, UndoError::Overlapping(vec!["a".to_owned()]));
    holds(&world, &[("a", "mine\n")]);
}

#[test]
fn a_redo_does_not_overwrite_what_somebody_edited_since_the_undo() {
    let world = three();
    world.does(&Wish::default()).unwrap();
    world.put("a", "mine");
    world.put("d/b", "mine");
    assert_eq!(
        world.standings(true),
        [UndoStanding::Edited, UndoStanding::Edited, UndoStanding::Restores]
    );
    let refused = world.does(&redo()).unwrap_err();
    assert_eq!(refused, UndoError::Edited(vec!["a".to_owned(), "d/b".to_owned()]));
}

#[test]
fn one_file_is_undone_without_the_others() {
    let world = three();
    let file = |path: &str| Wish {
        files: vec![ChosenFile {
            path: path.to_owned(),
            choice: None,
        }],
        ..Wish::default()
    };
    world.does(&file("c")).unwrap();
    holds(&world, &[("a", "new a"), ("c", "1"), ("d/b", "new b")]);
    assert_eq!(world.does(&file("x")).unwrap_err(), UndoError::NotOfRun("x".to_owned()));
    world.does(&Wish::default()).unwrap();
    holds(&world, &BEFORE);
}

#[test]
fn what_changed_since_it_was_looked_at_is_not_undone() {
    let world = three();
    let run = RunId::new(RUN);
    let seen = preview(world.place(&run), false).now_or_never().unwrap().unwrap().stamp;
    let wish = Wish {
        stamp: Some(seen),
        ..with(UndoChoice::Restore)
    };
    world.put("a", "mine");
    assert_eq!(world.does(&wish).unwrap_err(), UndoError::ChangedMeanwhile);
    world.put("a", "new a");
    world.does(&wish).unwrap();
}

#[test]
fn an_edit_between_the_look_and_the_intention_is_not_overwritten() {
    let world = three();
    world.inner().edited.insert("a".to_owned(), text("mine"));
    let result = world.does(&Wish::default()).unwrap();
    assert_eq!(
        (result.left[0].path.as_str(), result.left[0].why.as_str()),
        ("a", "somebody changed it just now")
    );
    holds(&world, &[("a", "mine"), ("c", "1")]);
}

#[test]
fn what_a_command_changed_is_undone_like_what_a_tool_did() {
    let world = World::default();
    let delta = |path: &str, before: Option<&str>, after: Option<&str>, kept| {
        let face = |side: Option<&str>| {
            let text = text(side?);
            world.inner().artifacts.insert(text.face.hash.clone(), text.bytes);
            Some(FileFace {
                mode: Some(0o700),
                ..text.face
            })
        };
        FileDelta {
            path: path.to_owned(),
            before: face(before),
            after: face(after),
            kept,
        }
    };
    let files = vec![
        delta("gone.txt", Some("old"), None, true),
        delta("large.bin", Some("large"), Some("larger"), false),
        delta("out/made.txt", None, Some("made"), true),
    ];
    let event = RunEvent::FolderChanged {
        files,
        folders: vec!["out".to_owned()],
        left_out: Vec::new(),
    };
    world.inner().events.push(RunEventRecord {
        run_id: RunId::new(RUN),
        seq: 1,
        at_ms: 0,
        key: Key::new("cycle/1/step/s#0/tool/0/run:changed"),
        event,
    });
    world.put("large.bin", "larger");
    world.put("out/made.txt", "made");
    let expected = [UndoStanding::Restores, UndoStanding::NotKept, UndoStanding::Deletes];
    assert_eq!(world.standings(false), expected);
    let result = world.does(&Wish::default()).unwrap();
    assert_eq!(
        (result.restored, result.deleted),
        (vec!["gone.txt".to_owned()], vec!["out/made.txt".to_owned()])
    );
    assert_eq!(result.folders, ["out"]);
    assert_eq!(result.left[0].path, "large.bin");
    assert_eq!(world.inner().files["gone.txt"].face.mode, Some(0o700));
    world.does(&redo()).unwrap();
    holds(&world, &[("large.bin", "larger"), ("out/made.txt", "made")]);
}

#[test]
fn a_full_disk_or_a_folder_that_must_not_be_changed_leaves_its_file_and_says_so() {
    let world = three();
    let full = FilesError::Io {
        path: "a".to_owned(),
        message: "the disk is full".to_owned(),
    };
    world.inner().broken.insert("a".to_owned(), full);
    world
        .inner()
        .broken
        .insert("d/b".to_owned(), FilesError::Denied("d/b".to_owned()));
    let result = world.does(&Wish::default()).unwrap();
    assert_eq!(result.restored, ["c"]);
    let left: Vec<&str> = result.left.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(
        left,
        ["\"a\": the disk is full", "\"d/b\" cannot be opened: permission denied"]
    );
    // With room again, the rest is undone.
    world.inner().broken.clear();
    world.does(&Wish::default()).unwrap();
    holds(&world, &BEFORE);
}

#[test]
fn many_files_are_taken_in_portions_each_with_its_own_intention() {
    let paths: Vec<String> = (0..150).map(|number| format!("f{number:03}")).collect();
    let changes: Vec<_> = paths.iter().map(|path| (path.as_str(), "old", "new")).collect();
    let world = World::after(&changes);
    assert_eq!(world.does(&Wish::default()).unwrap().restored.len(), 150);
    let log = world.inner().log.clone();
    assert_eq!(log.iter().filter(|line| line.ends_with(":intended")).count(), 3);
    assert!(world.files().iter().all(|(_, content)| content == "old"));
    world.does(&redo()).unwrap();
    assert!(world.files().iter().all(|(_, content)| content == "new"));
}

#[test]
fn what_a_run_changes_after_an_undo_counts_from_there() {
    let world = three();
    world.does(&Wish::default()).unwrap();
    let again = World::after(&[("a", "old a", "newer a")]);
    let mut event = again.inner().events[0].clone();
    event.seq = world.inner().events.len() as u64 + 1;
    event.key = Key::new("cycle/2/step/s0#0/tool/0/run:intended");
    world.inner().events.push(event);
    world.put("a", "newer a");
    world.does(&Wish::default()).unwrap();
    holds(&world, &BEFORE);
}
