//! Pictures of the folder: what is in it at one moment, so that what a command changes can be told and undone.
//!
//! No link is followed: a link is what it leads to, as text. Nothing is hidden for its name: a command may choose any.
//! Deliberately not here: the comparison, which is
//! `contract::picture`'s.

use std::io::{self, Read, Seek};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata};
use contract::Hash;
use contract::picture::{LEFT_OUT, Picture, PictureLimits, Pictured};
use contract::ports::files::FilesError;

use super::exchange::{face, hash, open, stamp};
use super::{Inner, here, join};

/// A picture while it is taken.
struct Taking<'a> {
    limits: PictureLimits,
    earlier: Option<&'a Picture>,
    picture: Picture,
    hashed: u64,
    kept: u64,
    /// The folders that are still to be walked.
    ahead: Vec<String>,
}

impl Inner {
    pub(super) fn picture(&self, limits: PictureLimits, earlier: Option<&Picture>) -> Result<Picture, FilesError> {
        let mut taking = Taking {
            limits,
            earlier,
            picture: Picture::default(),
            hashed: 0,
            kept: 0,
            ahead: vec![String::new()],
        };
        while let Some(folder) = taking.ahead.pop() {
            let walked = self
                .dir
                .open_dir(here(&folder))
                .and_then(|dir| taking.walk(&dir, &folder));
            match walked {
                Ok(()) => {}
                Err(error) if folder.is_empty() => return Err(self.failed(&folder, &error)),
                // It went away meanwhile, or nobody may look into it: then nobody can undo anything in it either.
                Err(_) => {
                    taking.picture.left_out.insert(folder);
                }
            }
        }
        Ok(taking.picture)
    }
}

impl Taking<'_> {
    fn walk(&mut self, dir: &Dir, folder: &str) -> io::Result<()> {
        let mut entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(cap_std::fs::DirEntry::file_name);
        for entry in entries {
            if self.picture.files.len() + self.picture.folders.len() >= self.limits.most_entries {
                self.picture.is_cut = true;
                self.ahead.clear();
                return Ok(());
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                // No tool could name it, and no entry of the history.
                self.picture.is_cut = true;
                continue;
            };
            let path = join(folder, name);
            let Ok(metadata) = dir.symlink_metadata(name) else {
                continue;
            };
            if metadata.is_dir() {
                if LEFT_OUT.contains(&name) {
                    self.picture.left_out.insert(path);
                } else {
                    self.picture.folders.insert(path.clone());
                    self.ahead.push(path);
                }
            } else if metadata.is_file() || metadata.is_symlink() {
                let pictured = self.look(dir, name, &path, &metadata);
                self.picture.files.insert(path, pictured);
            }
        }
        Ok(())
    }

    fn look(&mut self, dir: &Dir, name: &str, path: &str, metadata: &Metadata) -> Pictured {
        let stamp = stamp(metadata);
        let known = self.earlier.and_then(|earlier| earlier.files.get(path));
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            self.kept += known.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            return known.clone();
        }
        let unread = Pictured {
            stamp,
            face: None,
            bytes: None,
        };
        if metadata.is_symlink() {
            let Ok(target) = dir.read_link_contents(name) else {
                return unread;
            };
            let bytes = target.as_os_str().as_encoded_bytes();
            return Pictured {
                face: Some(face(Hash::of_bytes(bytes), metadata)),
                bytes: Some(Arc::from(bytes)),
                ..unread
            };
        }
        self.hashed = self.hashed.saturating_add(metadata.len());
        if self.hashed > self.limits.most_hashed {
            return unread;
        }
        self.read(dir, name, metadata).unwrap_or(unread)
    }

    fn read(&mut self, dir: &Dir, name: &str, metadata: &Metadata) -> io::Result<Pictured> {
        let mut file = open(dir, name)?;
        let stamp = stamp(metadata);
        let room = self
            .limits
            .most_kept
            .saturating_sub(self.kept)
            .min(self.limits.most_of_one);
        let mut bytes = Vec::new();
        if metadata.len() <= room {
            (&mut file).take(room.saturating_add(1)).read_to_end(&mut bytes)?;
            if bytes.len() as u64 <= room {
                self.kept += bytes.len() as u64;
                return Ok(Pictured {
                    stamp,
                    face: Some(face(Hash::of_bytes(&bytes), metadata)),
                    bytes: Some(bytes.into()),
                });
            }
            file.rewind()?;
        }
        Ok(Pictured {
            stamp,
            face: Some(face(hash(&mut file)?, metadata)),
            bytes: None,
        })
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use contract::picture::{Changes, changes};
    use contract::ports::files::Files;
    use contract::undo::FileDelta;
    use tempfile::TempDir;

    use super::*;
    use crate::Folder;

    fn place(files: &[(&str, &str)]) -> (TempDir, Folder) {
        let work = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = work.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let folder = Folder::open(work.path()).unwrap();
        (work, folder)
    }

    async fn around(folder: &Folder, limits: PictureLimits, act: impl FnOnce()) -> Changes {
        let before = folder.picture(limits, None).await.unwrap();
        act();
        let after = folder.picture(limits, Some(&before)).await.unwrap();
        changes(&before, &after)
    }

    fn told(delta: &FileDelta) -> (&str, bool, bool, bool) {
        (&delta.path, delta.before.is_some(), delta.after.is_some(), delta.kept)
    }

    #[tokio::test]
    async fn tells_what_was_made_changed_and_removed_with_the_bytes_of_both_sides() {
        let (work, folder) = place(&[("a.txt", "one"), ("b/c.txt", "two"), ("same.txt", "same")]);
        let at = |path: &str| work.path().join(path);
        let found = around(&folder, PictureLimits::default(), || {
            fs::write(at("a.txt"), "ONE").unwrap();
            fs::remove_file(at("b/c.txt")).unwrap();
            fs::create_dir(at("d")).unwrap();
            fs::write(at("d/e.txt"), "new").unwrap();
            symlink("a.txt", at("link")).unwrap();
        })
        .await;
        let files: Vec<_> = found.files.iter().map(told).collect();
        let expected = [
            ("a.txt", true, true, true),
            ("b/c.txt", true, false, true),
            ("d/e.txt", false, true, true),
            ("link", false, true, true),
        ];
        assert_eq!(files, expected);
        assert_eq!((found.folders, found.left_out), (vec!["d".to_owned()], vec![]));
        let kept: Vec<&[u8]> = found
            .artifacts
            .iter()
            .map(|artifact| artifact.bytes.as_slice())
            .collect();
        assert_eq!(kept, [&b"one"[..], b"ONE", b"two", b"new", b"a.txt"]);
    }

    #[tokio::test]
    async fn nothing_hides_behind_the_name_of_a_temporary_file() {
        let (work, folder) = place(&[("notes.txt", "mine")]);
        let at = |path: &str| work.path().join(path);
        let ours = format!(".tepa-{}-0.part", std::process::id());
        let found = around(&folder, PictureLimits::default(), || {
            fs::write(at(".tepa-evil.part"), "evil").unwrap();
            fs::write(at(&ours), "evil").unwrap();
            fs::write(at(".tepa-4294967295-7.part"), "left by one that was killed").unwrap();
            fs::rename(at("notes.txt"), at(".tepa-notes.part")).unwrap();
        })
        .await;
        let files: Vec<_> = found.files.iter().map(told).collect();
        let mut expected = vec![
            (ours.as_str(), false, true, true),
            (".tepa-4294967295-7.part", false, true, true),
            (".tepa-evil.part", false, true, true),
            (".tepa-notes.part", false, true, true),
            ("notes.txt", true, false, true),
        ];
        expected.sort_unstable();
        assert_eq!(files, expected);
        // A run that goes on after it was killed lists what it listed before.
        let listed: Vec<String> = folder
            .list(".")
            .await
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(listed, [ours.as_str(), ".tepa-evil.part", ".tepa-notes.part"]);
    }

    #[tokio::test]
    async fn a_change_that_leaves_size_and_time_as_they_were_is_seen() {
        let (work, folder) = place(&[("a.txt", "one")]);
        let path = work.path().join("a.txt");
        let found = around(&folder, PictureLimits::default(), || {
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "two").unwrap();
            fs::File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(modified)
                .unwrap();
        })
        .await;
        assert_eq!(found.files.len(), 1);
    }

    #[tokio::test]
    async fn touching_is_no_change_and_other_permissions_are() {
        let (work, folder) = place(&[("a.txt", "one"), ("b.sh", "two")]);
        let found = around(&folder, PictureLimits::default(), || {
            fs::write(work.path().join("a.txt"), "one").unwrap();
            fs::set_permissions(work.path().join("b.sh"), fs::Permissions::from_mode(0o700)).unwrap();
        })
        .await;
        let files: Vec<_> = found.files.iter().map(told).collect();
        assert_eq!(files, [("b.sh", true, true, true)]);
    }

    #[tokio::test]
    async fn says_what_is_too_large_to_be_kept_or_compared() {
        let (work, folder) = place(&[
            ("large.bin", "0123456789"),
            ("small.txt", "1"),
            ("zz.bin", "0123456789"),
        ]);
        let limits = PictureLimits {
            most_hashed: 15,
            most_of_one: 5,
            ..PictureLimits::default()
        };
        let found = around(&folder, limits, || {
            fs::write(work.path().join("large.bin"), "0123456780").unwrap();
            fs::write(work.path().join("zz.bin"), "0123456780").unwrap();
        })
        .await;
        let files: Vec<_> = found.files.iter().map(told).collect();
        assert_eq!(files, [("large.bin", true, true, false)]);
        assert_eq!(found.artifacts, []);
        assert_eq!(
            found.left_out,
            ["\"zz.bin\" was changed and is too large to be compared and undone"]
        );
    }

    #[tokio::test]
    async fn leaves_a_repository_and_what_programs_install_alone_and_says_so() {
        let (work, folder) = place(&[(".git/index", "x"), ("node_modules/p/i.js", "x"), ("a.txt", "x")]);
        let found = around(&folder, PictureLimits::default(), || {
            fs::write(work.path().join(".git/index"), "y").unwrap();
        })
        .await;
        assert_eq!(found.files, []);
        let expected = [".git", "node_modules"].map(|name| format!("changes inside \"{name}\" are not listed"));
        assert_eq!(found.left_out, expected);
    }

    #[tokio::test]
    async fn stops_at_the_limit_of_entries_and_follows_no_link() {
        let (work, folder) = place(&[("a/1", ""), ("a/2", ""), ("a/3", "")]);
        symlink(work.path(), work.path().join("loop")).unwrap();
        let limits = PictureLimits {
            most_entries: 3,
            ..PictureLimits::default()
        };
        let cut = folder.picture(limits, None).await.unwrap();
        assert!(cut.is_cut && cut.files.len() + cut.folders.len() == 3);
        let whole = folder.picture(PictureLimits::default(), None).await.unwrap();
        assert!(!whole.is_cut);
        assert_eq!(whole.files.keys().collect::<Vec<_>>(), ["a/1", "a/2", "a/3", "loop"]);
    }
}
