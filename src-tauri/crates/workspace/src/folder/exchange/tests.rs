#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use contract::Hash;
use contract::ports::files::FilesError;
use contract::ports::undo::{Found, Kept, UndoFiles};
use contract::undo::FileFace;
use tempfile::TempDir;

use crate::Folder;

struct Place {
    around: TempDir,
    folder: Folder,
}

fn place(files: &[(&str, &str)]) -> Place {
    let around = tempfile::tempdir().unwrap();
    fs::create_dir(around.path().join("work")).unwrap();
    fs::write(around.path().join("secret.txt"), "secret").unwrap();
    let folder = Folder::open(around.path().join("work")).unwrap();
    let place = Place { around, folder };
    for (path, text) in files {
        fs::write(place.at(path), text).unwrap();
    }
    place
}

impl Place {
    fn at(&self, path: &str) -> PathBuf {
        self.around.path().join("work").join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn mode(&self, path: &str) -> u32 {
        fs::symlink_metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    async fn exchange(&self, path: &str, expected: Option<&str>, new: Option<&Kept>) -> Result<bool, FilesError> {
        let expected = expected.map(|text| FileFace::of(Hash::of_bytes(text.as_bytes())));
        self.folder.exchange(path, expected.as_ref(), new).await
    }
}

fn file(text: &str) -> Kept {
    Kept {
        face: FileFace::of(Hash::of_bytes(text.as_bytes())),
        bytes: text.as_bytes().to_vec(),
    }
}

#[tokio::test]
async fn exchanges_what_is_there_and_keeps_its_permissions() {
    let place = place(&[("a.txt", "run")]);
    fs::set_permissions(place.at("a.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        place.exchange("a.txt", Some("run"), Some(&file("before"))).await,
        Ok(true)
    );
    assert_eq!((place.text("a.txt").as_str(), place.mode("a.txt")), ("before", 0o640));
    assert_eq!(place.names(), ["a.txt"]);
}

#[tokio::test]
async fn makes_and_removes_with_parents_and_permissions() {
    let place = place(&[]);
    let mut script = file("#!");
    script.face.mode = Some(0o750);
    assert_eq!(place.exchange("a/b.sh", None, Some(&script)).await, Ok(true));
    assert_eq!(place.mode("a/b.sh"), 0o750);
    assert_eq!(place.exchange("a/b.sh", Some("#!"), None).await, Ok(true));
    assert_eq!(place.folder.look("a/b.sh").await, Ok(Found::Nothing));
    assert_eq!(place.folder.remove_empty_folder("a").await, Ok(true));
    assert_eq!(place.names(), Vec::<String>::new());
}

#[tokio::test]
async fn leaves_alone_what_is_not_what_was_expected() {
    let place = place(&[("a.txt", "edited")]);
    for (expected, new) in [
        (Some("run"), Some(file("x"))),
        (Some("run"), None),
        (None, Some(file("x"))),
        (None, None),
    ] {
        assert_eq!(place.exchange("a.txt", expected, new.as_ref()).await, Ok(false));
    }
    assert_eq!(
        place.exchange("none/a.txt", Some("run"), Some(&file("x"))).await,
        Ok(false)
    );
    assert_eq!(place.text("a.txt"), "edited");
    assert_eq!(place.names(), ["a.txt"]);
}

#[tokio::test]
async fn a_link_is_replaced_and_never_written_through() {
    let place = place(&[("real.txt", "mine")]);
    let outside = place.around.path().join("secret.txt");
    for target in [PathBuf::from("real.txt"), outside.clone()] {
        symlink(&target, place.at("a.txt")).unwrap();
        let seen = place.folder.keep("a.txt", 1_000).await.unwrap().unwrap();
        assert!(seen.face.link);
        assert_eq!(seen.bytes, target.display().to_string().as_bytes());
        // The bytes behind a link are not what is under the name.
        assert_eq!(place.exchange("a.txt", Some("mine"), Some(&file("x"))).await, Ok(false));
        // Nor is a file that says the same as a link.
        let words = target.display().to_string();
        assert_eq!(place.exchange("a.txt", Some(&words), Some(&file("x"))).await, Ok(false));
        let back = file("back");
        assert_eq!(
            place.folder.exchange("a.txt", Some(&seen.face), Some(&back)).await,
            Ok(true)
        );
        assert_eq!(place.text("a.txt"), "back");
        // And back again: the link that was there.
        assert_eq!(place.exchange("a.txt", Some("back"), Some(&seen)).await, Ok(true));
        assert_eq!(fs::read_link(place.at("a.txt")).unwrap(), target);
        assert_eq!(place.folder.exchange("a.txt", Some(&seen.face), None).await, Ok(true));
    }
    assert_eq!(place.text("real.txt"), "mine");
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
}

#[tokio::test]
async fn a_file_with_another_name_elsewhere_is_not_written_through() {
    let place = place(&[("a.txt", "run")]);
    fs::hard_link(place.at("a.txt"), place.around.path().join("other.txt")).unwrap();
    assert_eq!(
        place.exchange("a.txt", Some("run"), Some(&file("before"))).await,
        Ok(true)
    );
    assert_eq!(
        fs::read_to_string(place.around.path().join("other.txt")).unwrap(),
        "run"
    );
}

#[tokio::test]
async fn nothing_outside_is_reachable() {
    let place = place(&[]);
    symlink(place.around.path(), place.at("out")).unwrap();
    for path in ["../secret.txt", "out/secret.txt"] {
        assert!(
            place.exchange(path, Some("secret"), Some(&file("x"))).await.is_err(),
            "{path}"
        );
        assert!(place.exchange(path, Some("secret"), None).await.is_err(), "{path}");
        assert!(place.folder.keep(path, 1_000).await.is_err(), "{path}");
    }
    assert!(place.exchange("out/new.txt", None, Some(&file("x"))).await.is_err());
    assert_eq!(place.folder.remove_empty_folder("out").await, Ok(false));
    assert_eq!(
        fs::read_to_string(place.around.path().join("secret.txt")).unwrap(),
        "secret"
    );
    assert!(!place.around.path().join("new.txt").exists());
}

#[tokio::test]
async fn what_must_not_be_changed_is_not() {
    let place = place(&[("a.txt", "run")]);
    fs::set_permissions(place.at("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let denied = Err(FilesError::Denied("a.txt".to_owned()));
    assert_eq!(
        place.exchange("a.txt", Some("run"), Some(&file("before"))).await,
        denied
    );
    assert_eq!(place.exchange("a.txt", Some("run"), None).await, denied);
    fs::create_dir(place.at("b")).unwrap();
    assert!(place.exchange("b", None, Some(&file("x"))).await.is_err());
    assert_eq!(place.folder.look("b").await, Ok(Found::Other));
    assert_eq!(
        (place.text("a.txt").as_str(), place.names()),
        ("run", vec!["a.txt".to_owned(), "b".to_owned()])
    );
}

#[tokio::test]
async fn a_folder_with_something_in_it_stays() {
    let place = place(&[]);
    fs::create_dir(place.at("a")).unwrap();
    fs::write(place.at("a/mine.txt"), "mine").unwrap();
    assert_eq!(place.folder.remove_empty_folder("a").await, Ok(false));
    assert_eq!(place.folder.remove_empty_folder("none").await, Ok(false));
    assert_eq!(place.text("a/mine.txt"), "mine");
}

#[tokio::test]
async fn more_bytes_than_can_be_kept_are_refused() {
    let place = place(&[("a.txt", "four")]);
    assert!(matches!(
        place.folder.keep("a.txt", 3).await,
        Err(FilesError::TooLarge { size: 4, limit: 3, .. })
    ));
}
