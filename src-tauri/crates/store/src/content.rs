//! Content by its address: how it is packed, and the folder for what is too large for a row.
//!
//! A file is on disk, synced, before the row that names it is written. A file without a row is what a
//! crash in between leaves behind; it is collected at the next start.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use contract::hash::Hash;
use sha2::{Digest, Sha256};

use crate::deflate::deflate;
use crate::error::StoreError;
use crate::inflate::inflate;
use crate::migration::sync_folder;
use crate::private;

/// Packed content above this many bytes is a file.
pub(crate) const FILE_LIMIT: usize = 256 * 1024;
/// Content below this many bytes is not worth packing.
const PACK_LIMIT: usize = 128;

/// The 32 bytes of a SHA-256.
pub(crate) type Digest32 = [u8; 32];

/// How stored bytes stand for content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As they are.
    Plain,
    /// Packed with zstd.
    Zstd,
    /// A frame around texts that are content of their own (see `parts`), packed with zstd.
    Frame,
}

impl Encoding {
    /// The number in the database.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Plain => 0,
            Self::Zstd => 1,
            Self::Frame => 2,
        }
    }

    /// What the number stands for.
    pub(crate) fn from_number(number: i64) -> Result<Self, StoreError> {
        match number {
            0 => Ok(Self::Plain),
            1 => Ok(Self::Zstd),
            2 => Ok(Self::Frame),
            _ => Err(StoreError::Corrupted(format!(
                "content is packed in an unknown way ({number})"
            ))),
        }
    }
}

/// The digest in an address.
pub(crate) fn digest_of(hash: &Hash) -> Option<Digest32> {
    let digits = hash.as_str().strip_prefix("sha256:")?;
    let mut digest = [0; 32];
    hex::decode_to_slice(digits, &mut digest).ok()?;
    Some(digest)
}

/// The address of these bytes, as a digest.
pub(crate) fn digest_of_bytes(bytes: &[u8]) -> Digest32 {
    Sha256::digest(bytes).into()
}

/// Whether the bytes are the ones that the digest names.
pub(crate) fn is_named_by(bytes: &[u8], digest: &Digest32) -> bool {
    Sha256::digest(bytes).as_slice() == digest
}

/// Packs content when that makes it smaller.
pub(crate) fn pack(bytes: &[u8]) -> (Encoding, Cow<'_, [u8]>) {
    if bytes.len() < PACK_LIMIT {
        return (Encoding::Plain, Cow::Borrowed(bytes));
    }
    match deflate(bytes) {
        Ok(packed) if packed.len() < bytes.len() => (Encoding::Zstd, Cow::Owned(packed)),
        Ok(_) | Err(_) => (Encoding::Plain, Cow::Borrowed(bytes)),
    }
}

/// Packs a frame.
pub(crate) fn pack_frame(frame: &[u8]) -> io::Result<Vec<u8>> {
    deflate(frame)
}

/// The content again, or the frame around its texts; never more than `size` bytes of it.
pub(crate) fn unpack(encoding: Encoding, stored: Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    match encoding {
        Encoding::Plain => Ok(stored),
        Encoding::Zstd | Encoding::Frame => inflate(&stored, size),
    }
}

/// The folder for large content.
#[derive(Debug, Clone)]
pub(crate) struct ContentFolder {
    path: PathBuf,
}

impl ContentFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes a file so that it is still there after a power cut.
    pub(crate) fn put(&self, digest: &Digest32, stored: &[u8]) -> Result<(), StoreError> {
        let path = self.file(digest);
        self.put_at(&path, stored).map_err(|error| StoreError::io(&path, error))
    }

    fn put_at(&self, path: &Path, stored: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.path);
        if !folder.is_dir() {
            private::own_folder(&self.path)?;
            fs::create_dir_all(folder)?;
            sync_folder(&self.path)?;
            self.path.parent().map_or(Ok(()), sync_folder)?;
        }
        // Two writers of the same content may be at work: each has a file of its own until the rename.
        let unfinished = path.with_extension(unique());
        let written = File::create_new(&unfinished).and_then(|mut file| {
            file.write_all(stored)?;
            file.sync_all()
        });
        if let Err(error) = written.and_then(|()| fs::rename(&unfinished, path)) {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        sync_folder(folder)
    }

    /// The stored bytes; none when the file is gone.
    pub(crate) fn get(&self, digest: &Digest32) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.file(digest);
        match fs::read(&path) {
            Ok(stored) => Ok(Some(stored)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    /// Removes every file that `keep` does not name, unfinished ones too, and says how many.
    pub(crate) fn retain(&self, keep: impl Fn(&Digest32) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        for folder in entries(&self.path)? {
            for file in entries(&folder)? {
                if !digest_in_name(&folder, &file).is_some_and(|digest| keep(&digest)) {
                    fs::remove_file(&file)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// How many bytes all files have together.
    pub(crate) fn bytes(&self) -> Result<u64, StoreError> {
        let count = || -> io::Result<u64> {
            let mut bytes = 0;
            for folder in entries(&self.path)? {
                for file in entries(&folder)? {
                    bytes += fs::metadata(file)?.len();
                }
            }
            Ok(bytes)
        };
        count().map_err(|error| StoreError::io(&self.path, error))
    }

    fn file(&self, digest: &Digest32) -> PathBuf {
        let name = hex::encode(digest);
        self.path.join(&name[..2]).join(&name[2..])
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn digest_in_name(folder: &Path, file: &Path) -> Option<Digest32> {
    let name = format!("{}{}", folder.file_name()?.to_str()?, file.file_name()?.to_str()?);
    digest_of(&Hash(format!("sha256:{name}")))
}

fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_round_trip(bytes: Vec<u8>, expected: Encoding) {
        let (encoding, stored) = pack(&bytes);
        assert_eq!(encoding, expected);
        assert_eq!(unpack(encoding, stored.into_owned(), bytes.len()).unwrap(), bytes);
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in 0..length.div_ceil(32) {
            bytes.extend(Sha256::digest(number.to_le_bytes()));
        }
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn packs_only_when_it_helps() {
        check_round_trip(vec![b'a'; 5000], Encoding::Zstd);
        check_round_trip(noise(5000), Encoding::Plain);
        check_round_trip(vec![b'a'; 20], Encoding::Plain);
        check_round_trip(Vec::new(), Encoding::Plain);
    }

    #[test]
    fn unpacks_no_more_than_was_packed() {
        let (encoding, bomb) = pack(&[0; 1_000_000]);
        assert!(unpack(encoding, bomb.into_owned(), 1000).is_err());
    }

    #[test]
    fn keeps_what_is_named_and_removes_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let content = ContentFolder::new(folder.path().join("content"));
        assert_eq!(content.retain(|_| false).unwrap(), 0);
        let (kept, orphan) = ([1; 32], [2; 32]);
        content.put(&kept, b"kept").unwrap();
        content.put(&kept, b"kept").unwrap();
        content.put(&orphan, b"orphan").unwrap();
        fs::write(content.file(&kept).with_extension("1-2.part"), "half").unwrap();
        assert_eq!(content.retain(|digest| *digest == kept).unwrap(), 2);
        assert_eq!(content.get(&kept).unwrap().as_deref(), Some(b"kept".as_slice()));
        assert_eq!(content.get(&orphan).unwrap(), None);
    }
}
