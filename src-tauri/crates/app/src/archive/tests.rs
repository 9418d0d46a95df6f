//! Runs that travel, and files that lie.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use contract::person::{Answer, Ask};
use contract::ports::people::People;
use contract::run::RunSummary;
use contract::{Key, RunId};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, ZipArchive};

use super::unpack;
use super::{ArchiveError, CHECKSUMS, JOURNAL, MANIFEST, MOST_BYTES};
use crate::{App, Config, KeyPlace, Pace};

struct Yes;

#[async_trait]
impl People for Yes {
    async fn answer(&self, _run: &RunId, _key: &Key, _ask: &Ask) -> Option<Answer> {
        Some(Answer::Approve { revisions: true })
    }
}

async fn app(folder: &Path) -> App {
    let config = Config {
        data_folder: Some(folder.join("data")),
        keys: KeyPlace::Memory,
        pace: Pace::Instant,
        people: Some(Arc::new(Yes)),
        ..Config::default()
    };
    App::open(config).await.unwrap()
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
        let error = unpack::read(&rewritten(&file, change, more), MOST_BYTES).map(|(archived, _)| archived);
        let error = error.unwrap_err();
        assert!(matches!(error, ArchiveError::Changed(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    assert!(unpack::read(&rewritten(&file, &whole, ""), MOST_BYTES).is_ok());
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
    let read = |path: &Path, most| unpack::read(path, most).map(|(archived, _)| archived);
    assert_eq!(
        read(&rewritten(&file, &later, ""), MOST_BYTES),
        Err(ArchiveError::UnknownVersion(2))
    );
    assert!(matches!(read(&file, 1_000), Err(ArchiveError::TooLarge(_))));
    std::fs::write(folder.path().join("no.tepa"), "PK\u{3}\u{4}").unwrap();
    assert!(matches!(
        read(&folder.path().join("no.tepa"), MOST_BYTES),
        Err(ArchiveError::NoArchive(_))
    ));
}
