//! The `artifact` and `artifact_ref` tables: content by its address, kept once however many runs use it, and however
//! much other content it stands in ([`parts`]).

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use contract::hash::Hash;
use contract::ids::RunId;
use contract::value_ref::Artifact;
use rusqlite::{Connection, params};
use sqlx::{SqliteConnection, SqlitePool};

use crate::content::{
    ContentFolder, Digest32, Encoding, FILE_LIMIT, digest_of, digest_of_bytes, is_named_by, pack, pack_frame, unpack,
};
use crate::deflate::SMALL;
use crate::error::StoreError;
use crate::open::Store;
use crate::parts::{self, Piece};

/// Content as the table holds it.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
struct ArtifactRow {
    size: i64,
    encoding: i64,
    content: Option<Vec<u8>>,
}

/// An artifact, packed, ready for its rows; what is large is in the content folder already.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedArtifact {
    pub(crate) kind: &'static str,
    content: PackedContent,
    /// The texts that were taken out of it.
    texts: Vec<PackedContent>,
}

/// Content, ready for its row.
#[derive(Debug, Clone, PartialEq)]
struct PackedContent {
    digest: Digest32,
    size: i64,
    stored: Stored,
}

/// What is to stand in the row.
#[derive(Debug, Clone, PartialEq)]
enum Stored {
    /// These bytes; none when they are in the content folder.
    Packed(Encoding, Option<Vec<u8>>),
    /// Content that is packed once it is known that no row has it: most of it has one. It is this part of these bytes.
    Content(Arc<Vec<u8>>, Range<usize>),
    /// The same for a frame.
    Frame(Vec<u8>),
}

impl PackedArtifact {
    /// Checks the address and packs the content. Blocks: large content is written to its file.
    pub(crate) fn new(artifact: Artifact, folder: &ContentFolder) -> Result<Self, StoreError> {
        let digest = digest_of(&artifact.hash)
            .filter(|digest| is_named_by(&artifact.bytes, digest))
            .ok_or_else(|| StoreError::Corrupted(format!("{} is not the address of its content", artifact.hash.0)))?;
        let kind = artifact.kind;
        let places = parts::texts(&artifact.bytes);
        let bytes = artifact.bytes;
        if places.is_empty() {
            let all = 0..bytes.len();
            return Ok(Self {
                kind,
                content: PackedContent::new(digest, &bytes, all, folder)?,
                texts: Vec::new(),
            });
        }
        let texts = places.iter().map(|place| {
            let digest = digest_of_bytes(&bytes[place.clone()]);
            PackedContent::new(digest, &bytes, place.clone(), folder)
        });
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let digests: Vec<Digest32> = texts.iter().map(|text| text.digest).collect();
        Ok(Self {
            kind,
            content: PackedContent::framed(digest, bytes.len(), parts::frame(&bytes, &places, &digests), folder)?,
            texts,
        })
    }
}

impl PackedContent {
    fn new(
        digest: Digest32,
        bytes: &Arc<Vec<u8>>,
        place: Range<usize>,
        folder: &ContentFolder,
    ) -> Result<Self, StoreError> {
        let size = place.len();
        if size <= SMALL {
            return Ok(Self::of(digest, size, Stored::Content(Arc::clone(bytes), place)));
        }
        let (encoding, stored) = pack(&bytes[place]);
        Ok(Self::of(digest, size, placed(&digest, encoding, stored, folder)?))
    }

    /// A frame around texts, of content of this size.
    fn framed(digest: Digest32, size: usize, frame: Vec<u8>, folder: &ContentFolder) -> Result<Self, StoreError> {
        if frame.len() <= SMALL {
            return Ok(Self::of(digest, size, Stored::Frame(frame)));
        }
        let packed = Cow::Owned(packed_frame(&frame)?);
        let stored = placed(&digest, Encoding::Frame, packed, folder)?;
        Ok(Self::of(digest, size, stored))
    }

    fn of(digest: Digest32, size: usize, stored: Stored) -> Self {
        Self {
            digest,
            size: i64::try_from(size).unwrap_or(i64::MAX),
            stored,
        }
    }
}

/// Packed bytes where they belong: for the row, or in the folder.
fn placed(
    digest: &Digest32,
    encoding: Encoding,
    stored: Cow<'_, [u8]>,
    folder: &ContentFolder,
) -> Result<Stored, StoreError> {
    if stored.len() <= FILE_LIMIT {
        return Ok(Stored::Packed(encoding, Some(stored.into_owned())));
    }
    folder.put(digest, &stored)?;
    Ok(Stored::Packed(encoding, None))
}

fn packed_frame(frame: &[u8]) -> Result<Vec<u8>, StoreError> {
    pack_frame(frame).map_err(|error| StoreError::Storage(error.to_string()))
}

/// The numbers of the rows of content that a transaction has come by.
pub(crate) type Found = HashMap<Digest32, i64>;

/// Inserts content that is not there yet, and notes which run uses it, as what.
pub(crate) fn write(
    connection: &Connection,
    run: i64,
    artifact: &PackedArtifact,
    kind: i64,
    found: &mut Found,
) -> Result<(), StoreError> {
    for content in artifact.texts.iter().chain([&artifact.content]) {
        if let Entry::Vacant(entry) = found.entry(content.digest) {
            entry.insert(insert(connection, content)?);
        }
    }
    let id = found.get(&artifact.content.digest);
    connection
        .prepare_cached("INSERT INTO artifact_ref (run, artifact, kind) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")?
        .execute(params![run, id, kind])?;
    Ok(())
}

/// The number of the row of this content, which is made when there is none.
fn insert(connection: &Connection, packed: &PackedContent) -> Result<i64, StoreError> {
    let found = connection
        .prepare_cached("SELECT id FROM artifact WHERE hash = ?")?
        .query_row([packed.digest.as_slice()], |row| row.get(0));
    match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            let now;
            let (encoding, content) = match &packed.stored {
                Stored::Packed(encoding, content) => (*encoding, content.as_deref()),
                Stored::Content(bytes, place) => {
                    now = pack(&bytes[place.clone()]);
                    (now.0, Some(&*now.1))
                }
                Stored::Frame(frame) => {
                    now = (Encoding::Frame, Cow::Owned(packed_frame(frame)?));
                    (now.0, Some(&*now.1))
                }
            };
            connection
                .prepare_cached("INSERT INTO artifact (hash, size, encoding, content) VALUES (?, ?, ?, ?)")?
                .execute(params![
                    packed.digest.as_slice(),
                    packed.size,
                    encoding.number(),
                    content
                ])?;
            Ok(connection.last_insert_rowid())
        }
        found => Ok(found?),
    }
}

/// Content that a run uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedArtifact {
    /// Its address.
    pub hash: Hash,
    /// What the run uses it as, such as `tool-output`.
    pub kind: String,
    /// How many bytes it has, unpacked.
    pub size: u64,
}

const USED: &str = "SELECT lower(hex(artifact.hash)), min(name.text), artifact.size
    FROM artifact_ref
    JOIN artifact ON artifact.id = artifact_ref.artifact
    JOIN name ON name.id = artifact_ref.kind
    WHERE artifact_ref.run = (SELECT id FROM run WHERE run_id = ?)
    GROUP BY artifact.id ORDER BY artifact.hash";

impl Store {
    /// The content that a run uses, each once, in the order of the addresses.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn artifacts_of(&self, run: &RunId) -> Result<Vec<UsedArtifact>, StoreError> {
        let rows: Vec<(String, String, i64)> = sqlx::query_as(USED)
            .bind(run.as_str())
            .fetch_all(self.readers())
            .await?;
        let used = rows.into_iter().map(|(digits, kind, size)| UsedArtifact {
            hash: Hash(format!("sha256:{digits}")),
            kind,
            size: size.unsigned_abs(),
        });
        Ok(used.collect())
    }
}

const READ: &str = "SELECT size, encoding, content FROM artifact WHERE hash = ?";

/// The content under an address, checked against it.
pub(crate) async fn read(
    readers: &SqlitePool,
    folder: &ContentFolder,
    hash: &Hash,
) -> Result<Option<Vec<u8>>, StoreError> {
    let digest = digest_of(hash).ok_or_else(|| damaged(hash, "has no proper address"))?;
    let Some(row) = row(readers, &digest).await? else {
        return Ok(None);
    };
    let size = row.size;
    let (encoding, bytes) = unpacked(row, &digest, hash, folder).await?;
    let bytes = match encoding {
        Encoding::Plain | Encoding::Zstd => bytes,
        Encoding::Frame => filled(&bytes, size, readers, folder, hash).await?,
    };
    if !is_named_by(&bytes, &digest) {
        return Err(damaged(hash, "is not what was stored"));
    }
    Ok(Some(bytes))
}

fn damaged(hash: &Hash, why: &str) -> StoreError {
    StoreError::Corrupted(format!("the content under {} {why}", hash.as_str()))
}

async fn row(readers: &SqlitePool, digest: &Digest32) -> Result<Option<ArtifactRow>, StoreError> {
    let found = sqlx::query_as(READ).bind(digest.as_slice()).fetch_optional(readers);
    Ok(found.await?)
}

/// What a row stands for: content, or a frame around its texts.
async fn unpacked(
    row: ArtifactRow,
    digest: &Digest32,
    of: &Hash,
    folder: &ContentFolder,
) -> Result<(Encoding, Vec<u8>), StoreError> {
    let stored = match row.content {
        Some(stored) => stored,
        None => read_file(folder, *digest)
            .await?
            .ok_or_else(|| damaged(of, "is missing from the content folder"))?,
    };
    let encoding = Encoding::from_number(row.encoding)?;
    let size = usize::try_from(row.size).map_err(|_| damaged(of, "has no proper size"))?;
    let bytes = unpack(encoding, stored, size).map_err(|_| damaged(of, "cannot be unpacked"))?;
    Ok((encoding, bytes))
}

/// A frame with its texts in it again, as long as it is to be.
async fn filled(
    frame: &[u8],
    size: i64,
    readers: &SqlitePool,
    folder: &ContentFolder,
    of: &Hash,
) -> Result<Vec<u8>, StoreError> {
    let size = usize::try_from(size).map_err(|_| damaged(of, "has no proper size"))?;
    let mut bytes = Vec::new();
    for piece in parts::pieces(frame).ok_or_else(|| damaged(of, "cannot be put together"))? {
        match piece {
            Piece::Literal(literal) => bytes.extend(literal),
            Piece::Text(digest) => {
                let row = row(readers, &digest).await?;
                let row = row.ok_or_else(|| damaged(of, "has lost a text"))?;
                match unpacked(row, &digest, of, folder).await? {
                    (Encoding::Plain | Encoding::Zstd, text) => bytes.extend(text),
                    (Encoding::Frame, _) => return Err(damaged(of, "cannot be put together")),
                }
            }
        }
        if bytes.len() > size {
            return Err(damaged(of, "is longer than what was stored"));
        }
    }
    Ok(bytes)
}

/// The addresses of the texts that stand in a frame; `stored` is none when it is kept in a file.
pub(crate) fn texts_in_frame(
    digest: &[u8],
    size: i64,
    stored: Option<Vec<u8>>,
    folder: &ContentFolder,
) -> Result<Vec<Digest32>, StoreError> {
    let of = Hash(format!("sha256:{}", hex::encode(digest)));
    let stored = match (stored, digest_of(&of)) {
        (Some(stored), _) => Some(stored),
        (None, Some(digest)) => folder.get(&digest)?,
        (None, None) => None,
    };
    let stored = stored.ok_or_else(|| damaged(&of, "is missing from the content folder"))?;
    let size = usize::try_from(size).map_err(|_| damaged(&of, "has no proper size"))?;
    let frame = unpack(Encoding::Frame, stored, size).map_err(|_| damaged(&of, "cannot be unpacked"))?;
    let pieces = parts::pieces(&frame).ok_or_else(|| damaged(&of, "cannot be put together"))?;
    Ok(pieces
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Text(digest) => Some(digest),
            Piece::Literal(_) => None,
        })
        .collect())
}

async fn read_file(folder: &ContentFolder, digest: Digest32) -> Result<Option<Vec<u8>>, StoreError> {
    let folder = folder.clone();
    let reading = tokio::task::spawn_blocking(move || folder.get(&digest));
    reading.await.map_err(|error| StoreError::Storage(error.to_string()))?
}

/// Removes the files that no row names. Only for the one who has the folder alone: a file that another
/// process is about to name has no row either.
pub(crate) async fn collect_orphans(
    connection: &mut SqliteConnection,
    folder: &ContentFolder,
) -> Result<(), StoreError> {
    let named: Vec<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM artifact WHERE content IS NULL")
        .fetch_all(connection)
        .await?;
    let named: HashSet<Vec<u8>> = named.into_iter().collect();
    match folder.retain(|digest| named.contains(digest.as_slice())) {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed content that nothing uses"),
        // Leftovers only take up room; they are no reason not to start.
        Err(error) => tracing::warn!(%error, "could not remove content that nothing uses"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use contract::ports::journal::{Durability, Journal, JournalError};

    use super::*;
    use crate::open::Store;
    use crate::testing::{count, explain, incompressible, open, run_id, started};

    async fn keep(store: &Store, run: u32, artifacts: Vec<Artifact>) {
        store
            .append(
                &run_id(run),
                1,
                vec![started("Artifacts")],
                artifacts,
                Durability::Commit,
            )
            .await
            .unwrap();
    }

    async fn check_round_trip(bytes: Vec<u8>, files: usize) {
        let (folder, store) = open().await;
        let artifact = Artifact::new("tool-output", bytes.clone());
        keep(&store, 1, vec![artifact.clone()]).await;
        assert_eq!(files_in(folder.path()), files);
        assert_eq!(store.artifact(&artifact.hash).await.unwrap(), Some(bytes));
    }

    fn files_in(folder: &std::path::Path) -> usize {
        let mut count = 0;
        for part in fs::read_dir(folder.join("content")).into_iter().flatten() {
            count += fs::read_dir(part.unwrap().path()).unwrap().count();
        }
        count
    }

    #[tokio::test]
    async fn returns_what_was_stored() {
        check_round_trip(Vec::new(), 0).await;
        check_round_trip(b"short".to_vec(), 0).await;
        check_round_trip(b"again and again, ".repeat(10_000), 0).await;
    }

    #[tokio::test]
    async fn keeps_large_content_in_a_file() {
        check_round_trip(incompressible(FILE_LIMIT), 0).await;
        check_round_trip(incompressible(FILE_LIMIT + 1), 1).await;
        check_round_trip(incompressible(5_000_000), 1).await;
    }

    #[tokio::test]
    async fn keeps_equal_content_once_for_all_runs() {
        let (folder, store) = open().await;
        let small = Artifact::new("tool-output", b"the same ".repeat(500));
        let large = Artifact::new("file-before", incompressible(FILE_LIMIT * 2));
        for run in 0..10 {
            keep(&store, run, vec![small.clone(), large.clone(), small.clone()]).await;
        }
        assert_eq!(count(&store, "artifact").await, 2);
        assert_eq!(count(&store, "artifact_ref").await, 20);
        assert_eq!(files_in(folder.path()), 1);
    }

    #[tokio::test]
    async fn keeps_a_text_once_however_much_it_stands_in() {
        for length in [2_000, FILE_LIMIT * 2] {
            let (folder, store) = open().await;
            let words: String = incompressible(length)
                .iter()
                .map(|byte| char::from(b' ' + byte % 90))
                .collect();
            let text = serde_json::json!(words).to_string();
            let question = serde_json::json!({ "messages": [{ "content": words, "role": "user" }], "again": words });
            let answer = serde_json::json!({ "text": words, "model": "m" });
            let all = [text, question.to_string(), answer.to_string()];
            for (run, content) in all.iter().enumerate() {
                keep(
                    &store,
                    run as u32,
                    vec![Artifact::new("tool-output", content.clone().into_bytes())],
                )
                .await;
            }
            for content in &all {
                let hash = Hash::of_bytes(content.as_bytes());
                assert_eq!(store.artifact(&hash).await.unwrap().unwrap(), content.as_bytes());
            }
            assert_eq!(count(&store, "artifact").await, 3);
            assert_eq!(count(&store, "artifact_ref").await, 3);
            let bytes = store.bytes_on_disk().unwrap() as usize;
            store.close().await.unwrap();
            let kept = store.bytes_on_disk().unwrap() as usize;
            assert!(kept < length * 3 / 2 + 200_000, "{kept} of {bytes} bytes for {length}");
            assert!(files_in(folder.path()) <= 1);
        }
    }

    #[tokio::test]
    async fn a_frame_whose_text_is_lost_is_damaged() {
        let (_folder, store) = open().await;
        let words = "words ".repeat(500);
        let framed = Artifact::new(
            "llm-input",
            serde_json::json!({ "text": words }).to_string().into_bytes(),
        );
        keep(&store, 1, vec![framed.clone()]).await;
        store
            .writer()
            .write(Durability::Commit, |connection| {
                Box::pin(async move {
                    sqlx::query("UPDATE artifact SET hash = zeroblob(32) WHERE encoding <> 2")
                        .execute(connection)
                        .await?;
                    Ok(())
                })
            })
            .await
            .unwrap();
        let error = store.artifact(&framed.hash).await.unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");
    }

    #[tokio::test]
    async fn knows_nothing_of_content_that_was_never_stored() {
        let (_folder, store) = open().await;
        assert_eq!(store.artifact(&Hash::of_bytes(b"never")).await.unwrap(), None);
        let error = store.artifact(&Hash("sha256:xyz".to_owned())).await.unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");
    }

    #[tokio::test]
    async fn refuses_content_that_is_not_what_its_address_says() {
        let (_folder, store) = open().await;
        let lie = Artifact {
            hash: Hash::of_bytes(b"one"),
            kind: "tool-output",
            bytes: Arc::new(b"other".to_vec()),
        };
        let error = store
            .append(&run_id(1), 1, vec![started("Lie")], vec![lie], Durability::Commit)
            .await
            .unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");
        assert_eq!(count(&store, "event").await, 0);
    }

    #[tokio::test]
    async fn notices_content_that_changed_on_disk() {
        let (folder, store) = open().await;
        let small = Artifact::new("tool-output", incompressible(1000));
        let large = Artifact::new("tool-output", incompressible(FILE_LIMIT + 1));
        keep(&store, 1, vec![small.clone(), large.clone()]).await;
        store
            .writer()
            .write(Durability::Commit, |connection| {
                Box::pin(async move {
                    sqlx::query("UPDATE artifact SET content = zeroblob(1000) WHERE content IS NOT NULL")
                        .execute(connection)
                        .await?;
                    Ok(())
                })
            })
            .await
            .unwrap();
        let error = store.artifact(&small.hash).await.unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");

        let name = large.hash.as_str().trim_start_matches("sha256:");
        let file = folder.path().join("content").join(&name[..2]).join(&name[2..]);
        fs::write(&file, incompressible(FILE_LIMIT)).unwrap();
        let error = store.artifact(&large.hash).await.unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");
        fs::remove_file(&file).unwrap();
        let error = store.artifact(&large.hash).await.unwrap_err();
        assert!(matches!(error, JournalError::Corrupted(_)), "{error}");
    }

    #[tokio::test]
    async fn collects_at_the_start_what_a_crash_left_without_a_row() {
        let (folder, store) = open().await;
        let kept = Artifact::new("tool-output", incompressible(FILE_LIMIT + 1));
        keep(&store, 1, vec![kept.clone()]).await;
        store.content().put(&[7; 32], b"orphan").unwrap();
        assert_eq!(files_in(folder.path()), 2);
        store.close().await.unwrap();

        let store = Store::open(folder.path()).await.unwrap();
        assert_eq!(files_in(folder.path()), 1);
        assert_eq!(store.artifact(&kept.hash).await.unwrap(), Some(kept.bytes.to_vec()));
    }

    #[tokio::test]
    async fn finds_content_by_its_index() {
        let (_folder, store) = open().await;
        let plan = explain(&store, READ, &["x"]).await;
        assert!(plan.contains("SEARCH artifact USING INDEX"), "{plan}");
    }
}
