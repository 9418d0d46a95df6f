//! Runs that travel, and files that lie.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use contract::event::RunEvent;
use contract::person::{Answer, Ask};
use contract::ports::people::People;
use contract::rule::HookRule;
use contract::run::{RunStatus, RunSummary};
use contract::task::Approval;
use contract::value_ref::{Artifact, artifact_kind};
use contract::{Key, RunId};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, ZipArchive};

use super::pack;
use super::unpack;
use super::{ArchiveError, CHECKSUMS, JOURNAL, MANIFEST};
use crate::commands::settings::Endpoint;
use crate::{App, Config, KeyPlace, Pace};

struct Yes;

#[async_trait]
impl People for Yes {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        Some(Answer::Approve { revisions: true })
    }
}

struct Nobody;

#[async_trait]
impl People for Nobody {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        None
    }
}

async fn app(folder: &Path) -> App {
    app_with(folder, Arc::new(Yes)).await
}

/// The app with these people.
async fn app_with(folder: &Path, people: Arc<dyn People>) -> App {
    let config = Config {
        data_folder: Some(folder.join("data")),
        keys: KeyPlace::Memory,
        pace: Pace::Instant,
        people: Some(people),
        // Nobody listens there.
        endpoint: Some(Endpoint {
            base_url: "http://127.0.0.1:9".to_owned(),
            model: "m".to_owned(),
        }),
        ..Config::default()
    };
    App::open(config).await.unwrap()
}

/// A run of the sample that waits for a person.
async fn waiting(app: &App, folder: &Path) -> RunId {
    let header = app.sample_in(&folder.join("work")).await.unwrap();
    let run = app.start(header).await.unwrap();
    app.outcome(&run).await.unwrap();
    assert_eq!(app.state(&run).await.unwrap().status(), RunStatus::Waiting);
    run
}

/// An exported run of the sample.
async fn exported(folder: &Path) -> (App, RunId, PathBuf) {
    let app = app(folder).await;
    let header = app.sample_in(&folder.join("work")).await.unwrap();
    let run = app.start(header).await.unwrap();
    app.outcome(&run).await.unwrap();
    let file = folder.join("run.tepa");
    app.export(&run, Some(&file), folder).await.unwrap();
    (app, run, file)
}

type Change<'a> = &'a dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>>;

/// The same file with its things changed or left out, and one more thing when it has a name.
fn rewritten(file: &Path, change: Change<'_>, more: &str) -> PathBuf {
    let mut old = ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let path = file.with_extension("changed");
    let mut new = ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let (name, mut bytes) = (entry.name().unwrap().into_owned(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        if let Some(bytes) = change(&name, bytes) {
            new.start_file(name, options).unwrap();
            new.write_all(&bytes).unwrap();
        }
    }
    if !more.is_empty() {
        new.start_file(more, options).unwrap();
    }
    new.finish().unwrap();
    path
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(text.contains(from), "{from} is not in it");
    text.replacen(from, to, 1).into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_the_same_on_another_machine() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, run, file) = exported(here.path()).await;
    let second = app(there.path()).await;
    let archived = second.import(&file).await.unwrap();
    assert_eq!(archived.run_id, run);
    assert_eq!(second.state(&run).await.unwrap(), first.state(&run).await.unwrap());
    // Whether somebody drives it is of a machine, and not of the run.
    let undriven = |summary| RunSummary {
        driven: false,
        ..summary
    };
    assert_eq!(
        second.summary(&run).await.map(undriven).unwrap(),
        first.summary(&run).await.map(undriven).unwrap()
    );
    assert_eq!(
        second.rooms.store.artifacts_of(&run).await.unwrap(),
        first.rooms.store.artifacts_of(&run).await.unwrap()
    );
    let again = there.path().join("again.tepa");
    let exported = second.export(&run, Some(&again), there.path()).await.unwrap();
    assert_eq!(exported.final_hash, archived.final_hash);
    assert_eq!(second.import(&file).await.unwrap_err().code, "run_exists");
    let approve = Answer::Approve { revisions: false };
    let refused = [
        second.resume(&run).await.unwrap_err(),
        second
            .answer(&run, &Key::new("cycle/1/plan#0"), approve)
            .await
            .unwrap_err(),
        second.stop(&run).await.unwrap_err(),
        second.accept(&run, None).await.unwrap_err(),
        second.again(&run).await.unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.code == "run_imported"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_was_changed_in_a_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (_app, _run, file) = exported(folder.path()).await;
    let whole = |_: &str, bytes: Vec<u8>| Some(bytes);
    let check = |change: Change<'_>, more: &str, expected: &str| {
        let error = unpack::read(&rewritten(&file, change, more)).map(|(archived, _)| archived);
        let error = error.unwrap_err();
        assert!(matches!(error, ArchiveError::Changed(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    assert!(unpack::read(&rewritten(&file, &whole, "")).is_ok());
    let without = |wanted: &'static str| move |name: &str, bytes: Vec<u8>| (!name.starts_with(wanted)).then_some(bytes);
    check(&without(JOURNAL), "", "\"journal.jsonl\" is missing");
    check(&without(CHECKSUMS), "", "\"checksums.txt\" is missing");
    check(&without("artifacts/"), "", "is missing");
    check(&whole, "more.txt", "\"more.txt\" does not belong in it");
    let edited = |wanted: &'static str, from: &'static str, to: &'static str| {
        move |name: &str, bytes: Vec<u8>| {
            Some(if name == wanted {
                replaced(&bytes, from, to)
            } else {
                bytes
            })
        }
    };
    check(
        &edited(JOURNAL, "Quarterly", "Monthly"),
        "",
        "the journal is not the one",
    );
    check(
        &edited(MANIFEST, "Quarterly", "Monthly"),
        "",
        "its checksums are not right",
    );
    check(
        &edited(CHECKSUMS, "journal", "diary"),
        "",
        "its checksums are not right",
    );
    let artifact = |name: &str, mut bytes: Vec<u8>| {
        if name.starts_with("artifacts/") {
            bytes.push(b' ');
        }
        Some(bytes)
    };
    check(&artifact, "", "is not what it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_version_and_too_large_a_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_app, _run, file) = exported(folder.path()).await;
    let later = |name: &str, bytes: Vec<u8>| {
        Some(if name == MANIFEST {
            replaced(&bytes, "\"version\": 1", "\"version\": 2")
        } else {
            bytes
        })
    };
    let read = |path: &Path| unpack::read(path).map(|(archived, _)| archived);
    assert_eq!(
        read(&rewritten(&file, &later, "")),
        Err(ArchiveError::UnknownVersion(2))
    );
    let bomb = |name: &str, bytes: Vec<u8>| {
        Some(if name == MANIFEST {
            b"[],".repeat(11_500_000)
        } else {
            bytes
        })
    };
    let bomb = rewritten(&file, &bomb, "");
    assert!(matches!(read(&bomb), Err(ArchiveError::TooLarge(_))));
    // The same with a size that is a lie.
    let mut bytes = std::fs::read(&bomb).unwrap();
    let entry = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    assert_eq!(&bytes[entry + 46..][..MANIFEST.len()], MANIFEST.as_bytes());
    bytes[entry + 24..][..4].copy_from_slice(&10_u32.to_le_bytes());
    std::fs::write(&bomb, bytes).unwrap();
    let refused = read(&bomb);
    assert!(matches!(refused, Err(ArchiveError::Changed(_))), "{refused:?}");
    std::fs::write(folder.path().join("no.tepa"), "PK\u{3}\u{4}").unwrap();
    assert!(matches!(
        read(&folder.path().join("no.tepa")),
        Err(ArchiveError::NoArchive(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_not_at_its_end_is_not_imported() {
    let folder = tempfile::tempdir().unwrap();
    let app = app_with(folder.path(), Arc::new(Nobody)).await;
    let run = waiting(&app, folder.path()).await;
    let file = folder.path().join("open.tepa");
    pack::write(app.content_of(&run).await.unwrap(), &file, 0).unwrap();
    let error = unpack::read(&file).map(|(archived, _)| archived).unwrap_err();
    assert!(error.to_string().contains("not at its end"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_shrinks_like_a_bomb_can_still_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (app, run, _) = exported(folder.path()).await;
    let mut content = app.content_of(&run).await.unwrap();
    content
        .artifacts
        .push(Artifact::new("tool-output", vec![b' '; 40_000_000]));
    let file = folder.path().join("blank.tepa");
    pack::write(content, &file, 0).unwrap();
    let (archived, content) = unpack::read(&file).unwrap();
    assert_eq!(archived.artifacts, content.artifacts.len() as u64);
    assert!(
        content
            .artifacts
            .iter()
            .any(|artifact| artifact.bytes.len() == 40_000_000)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_task_runs_again_with_nothing_that_was_granted_elsewhere() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, run, _) = exported(here.path()).await;
    let mut content = first.content_of(&run).await.unwrap();
    let RunEvent::RunStarted { header } = &mut content.events[0].event else {
        panic!("it begins")
    };
    header.recording = None;
    header.task.approval = Approval::Never;
    header.rules = vec![HookRule::Accept(contract::rule::Confidence::Above(0.0))];
    let file = here.path().join("sly.tepa");
    pack::write(content, &file, 0).unwrap();
    let second = app_with(there.path(), Arc::new(Nobody)).await;
    second.import(&file).await.unwrap();
    assert_eq!(second.again(&run).await.unwrap_err().code, "run_imported");
    let folder = there.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    let again = second.again_in(&run, Some(folder.to_str().unwrap())).await.unwrap();
    second.leave(&again).await;
    let header = second.header_of(&again).await.unwrap();
    assert_eq!(
        (header.task.approval, header.rules, Path::new(&header.envelope.folder)),
        (
            Approval::EveryPlan,
            Vec::new(),
            folder.canonicalize().unwrap().as_path()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_replayed_where_its_folder_is_not() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_first, run, file) = exported(here.path()).await;
    std::fs::remove_dir_all(here.path().join("work")).unwrap();
    let second = app(there.path()).await;
    second.import(&file).await.unwrap();
    let replayed = second.replay(&run).await.unwrap();
    assert!(replayed.same, "{replayed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_exported_with_what_it_took_over_from_another_run() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, run, _) = exported(here.path()).await;
    let replay = first.replay(&run).await.unwrap().run_id;
    let file = here.path().join("replay.tepa");
    first.export(&replay, Some(&file), here.path()).await.unwrap();
    let imported = app(there.path()).await.import(&file).await.unwrap();
    assert_eq!(imported.run_id, replay);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_was_cut_short_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let app = app_with(folder.path(), Arc::new(Nobody)).await;
    let run = waiting(&app, folder.path()).await;
    let found = app.find_unfinished_sample(None).await.unwrap();
    assert_eq!(found.map(|summary| summary.run_id), Some(run.clone()));
    app.mark_as_replay(&run).await.unwrap();
    assert_eq!(app.find_unfinished_sample(None).await.unwrap(), None);
    assert_eq!(app.stop(&run).await.unwrap_err().code, "run_replayed");
}

#[test]
fn every_kind_of_artifact_that_the_engine_makes_is_on_the_list() {
    fn look(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
                continue;
            }
            if path.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for call in ["name_value(\"", "Artifact::new(\"", "ValueRef::of(\""] {
                let kinds = text.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                found.extend(kinds.map(str::to_owned));
            }
        }
    }
    let mut found = Vec::new();
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src"), &mut found);
    assert!(
        found.len() > 10,
        "the engine names its artifacts in another way: {found:?}"
    );
    for kind in found {
        assert_eq!(artifact_kind(&kind), kind, "contract's list lacks it");
    }
}
