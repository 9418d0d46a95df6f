use std::fs;
use std::sync::Arc;

use contract::Hash;
use contract::ports::files::{DirEntry, FileKind, Files, FilesError};
use tempfile::TempDir;

use super::Folder;

struct Place {
    /// Beside the working folder, not in it.
    around: TempDir,
    folder: Arc<dyn Files>,
}

fn place() -> Place {
    let around = tempfile::tempdir().unwrap();
    fs::create_dir(around.path().join("work")).unwrap();
    fs::write(around.path().join("secret.txt"), "secret").unwrap();
    let folder = Arc::new(Folder::open(around.path().join("work")).unwrap());
    Place { around, folder }
}

impl Place {
    fn at(&self, path: &str) -> std::path::PathBuf {
        self.around.path().join("work").join(path)
    }
}

#[tokio::test]
async fn writes_and_reads_with_parents_made() {
    let place = place();
    place.folder.write("./a/b/c.txt", b"one").await.unwrap();
    place.folder.write("a/b/c.txt", b"two").await.unwrap();
    assert_eq!(place.folder.read("a/b/c.txt", 10).await, Ok(b"two".to_vec()));
    assert_eq!(place.folder.hash("a/b/c.txt").await, Ok(Some(Hash::of_bytes(b"two"))));
    assert_eq!(place.folder.read_range("a/b/c.txt", 1, 1).await, Ok(b"w".to_vec()));
    assert_eq!(place.folder.stat("a/b").await, Ok(Some((FileKind::Folder, 0))));
}

#[tokio::test]
async fn says_what_is_wrong_with_a_folder_that_cannot_be_opened() {
    let place = place();
    let missing = place.around.path().join("nowhere");
    assert_eq!(
        Folder::open(&missing).unwrap_err(),
        FilesError::FolderMissing(missing.display().to_string())
    );
    let file = place.around.path().join("secret.txt");
    let wrong = FilesError::WrongKind {
        path: file.display().to_string(),
        expected: "folder",
    };
    assert_eq!(Folder::open(&file).unwrap_err(), wrong);
}

#[tokio::test]
async fn reads_nothing_where_nothing_is() {
    let place = place();
    assert_eq!(place.folder.stat("a").await, Ok(None));
    assert_eq!(place.folder.hash("a").await, Ok(None));
    assert_eq!(
        place.folder.read("a", 1).await,
        Err(FilesError::NotFound("a".to_owned()))
    );
}

#[tokio::test]
async fn refuses_more_bytes_than_the_limit() {
    let place = place();
    place.folder.write("a", b"four").await.unwrap();
    let refused = FilesError::TooLarge {
        path: "a".to_owned(),
        size: 4,
        limit: 3,
    };
    assert_eq!(place.folder.read("a", 3).await, Err(refused));
}

#[tokio::test]
async fn accepts_an_absolute_path_inside_and_no_other() {
    let place = place();
    place
        .folder
        .write(&place.at("in.txt").display().to_string(), b"x")
        .await
        .unwrap();
    assert_eq!(place.folder.read("in.txt", 9).await, Ok(b"x".to_vec()));
    let outside = place.around.path().join("secret.txt").display().to_string();
    assert_eq!(
        place.folder.read(&outside, 9).await,
        Err(FilesError::Outside(outside.clone()))
    );
    assert_eq!(
        place.folder.write(&outside, b"x").await,
        Err(FilesError::Outside(outside))
    );
}

#[tokio::test]
async fn lists_in_order_and_hides_nothing_for_its_name() {
    let place = place();
    for name in ["b.txt", "a.txt", ".tepa-1-0.part"] {
        fs::write(place.at(name), "xy").unwrap();
    }
    fs::create_dir(place.at("c")).unwrap();
    let entry = |name: &str, kind, size| DirEntry {
        name: name.to_owned(),
        kind,
        size,
    };
    let expected = vec![
        entry(".tepa-1-0.part", FileKind::File, 2),
        entry("a.txt", FileKind::File, 2),
        entry("b.txt", FileKind::File, 2),
        entry("c", FileKind::Folder, 0),
    ];
    assert_eq!(place.folder.list(".").await, Ok(expected));
    assert!(matches!(
        place.folder.list("a.txt").await,
        Err(FilesError::WrongKind { expected: "folder", .. })
    ));
}

#[tokio::test]
async fn a_folder_or_a_file_in_the_way_is_not_replaced() {
    let place = place();
    fs::create_dir(place.at("dir")).unwrap();
    fs::write(place.at("file"), "").unwrap();
    assert!(matches!(
        place.folder.write("dir", b"x").await,
        Err(FilesError::WrongKind { expected: "file", .. })
    ));
    assert!(matches!(
        place.folder.write("", b"x").await,
        Err(FilesError::WrongKind { expected: "file", .. })
    ));
    assert!(place.folder.write("file/below", b"x").await.is_err());
    assert!(matches!(
        place.folder.read("dir", 9).await,
        Err(FilesError::WrongKind { expected: "file", .. })
    ));
    assert_eq!(place.folder.list("").await.unwrap().len(), 2);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn no_path_reads_or_writes_outside(parts in prop::collection::vec("up|\\.\\.|\\.|a|secret\\.txt|twin|work|", 1..6), absolute: bool) {
            let place = place();
            symlink("..", place.at("up")).unwrap();
            fs::hard_link(place.around.path().join("secret.txt"), place.at("a")).unwrap();
            symlink("../secret.txt", place.at("twin")).unwrap();
            let start = if absolute { format!("{}/", place.around.path().display()) } else { String::new() };
            let path = start + &parts.join("/");
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let written = place.folder.write(&path, b"mine").await;
                let read = place.folder.read(&path, 99).await;
                assert!(written.is_err() || read == Ok(b"mine".to_vec()));
            });
            prop_assert_eq!(fs::read_to_string(place.around.path().join("secret.txt")).unwrap(), "secret");
            prop_assert_eq!(fs::read_dir(place.around.path()).unwrap().count(), 2);
        }
    }

    #[tokio::test]
    async fn follows_no_link_out_of_the_folder() {
        let place = place();
        symlink(place.around.path().join("secret.txt"), place.at("absolute")).unwrap();
        symlink("../secret.txt", place.at("relative")).unwrap();
        symlink("..", place.at("up")).unwrap();
        for path in ["absolute", "relative", "up/secret.txt"] {
            assert_eq!(
                place.folder.read(path, 99).await,
                Err(FilesError::Outside(path.to_owned())),
                "{path}"
            );
        }
        assert_eq!(place.folder.stat("absolute").await, Ok(Some((FileKind::Other, 0))));
        assert_eq!(place.folder.hash("absolute").await, Ok(None));
        assert_eq!(
            place.folder.write("up/new.txt", b"x").await,
            Err(FilesError::Outside("up/new.txt".to_owned()))
        );
        let deep = place.folder.write("up/work2/new.txt", b"x").await;
        assert_eq!(deep, Err(FilesError::Outside("up/work2/new.txt".to_owned())));
        assert!(place.folder.list("up").await.is_err());
        assert_eq!(fs::read_dir(place.around.path()).unwrap().count(), 2);
    }

    #[tokio::test]
    async fn follows_a_link_that_stays_inside() {
        let place = place();
        place.folder.write("a/real.txt", b"x").await.unwrap();
        symlink("a/real.txt", place.at("link")).unwrap();
        assert_eq!(place.folder.read("link", 9).await, Ok(b"x".to_vec()));
    }

    #[tokio::test]
    async fn replaces_a_link_and_leaves_its_target_alone() {
        let place = place();
        symlink(place.around.path().join("secret.txt"), place.at("link")).unwrap();
        place.folder.write("link", b"mine").await.unwrap();
        assert_eq!(
            fs::read_to_string(place.around.path().join("secret.txt")).unwrap(),
            "secret"
        );
        assert_eq!(fs::read_to_string(place.at("link")).unwrap(), "mine");
        assert!(!fs::symlink_metadata(place.at("link")).unwrap().is_symlink());
    }

    #[tokio::test]
    async fn never_writes_through_a_second_name_of_a_file() {
        let place = place();
        fs::hard_link(place.around.path().join("secret.txt"), place.at("twin")).unwrap();
        place.folder.write("twin", b"mine").await.unwrap();
        assert_eq!(
            fs::read_to_string(place.around.path().join("secret.txt")).unwrap(),
            "secret"
        );
        assert_eq!(fs::metadata(place.at("twin")).unwrap().nlink(), 1);
    }

    #[tokio::test]
    async fn keeps_the_mode_of_a_file() {
        let place = place();
        fs::write(place.at("run.sh"), "old").unwrap();
        fs::set_permissions(place.at("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
        place.folder.write("run.sh", b"new").await.unwrap();
        assert_eq!(fs::metadata(place.at("run.sh")).unwrap().mode() & 0o777, 0o750);
    }

    #[tokio::test]
    async fn leaves_a_read_only_file_as_it_is() {
        let place = place();
        fs::write(place.at("kept"), "old").unwrap();
        fs::set_permissions(place.at("kept"), fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(
            place.folder.write("kept", b"new").await,
            Err(FilesError::Denied("kept".to_owned()))
        );
        assert_eq!(fs::read_to_string(place.at("kept")).unwrap(), "old");
    }

    #[tokio::test]
    async fn neither_waits_for_nor_reads_a_pipe() {
        let place = place();
        let made = std::process::Command::new("mkfifo")
            .arg(place.at("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        assert!(matches!(
            place.folder.read("pipe", 9).await,
            Err(FilesError::WrongKind { expected: "file", .. })
        ));
        assert_eq!(place.folder.stat("pipe").await, Ok(Some((FileKind::Other, 0))));
        assert!(place.folder.write("pipe", b"x").await.is_err());
    }

    #[tokio::test]
    async fn says_so_when_the_folder_is_deleted_meanwhile() {
        let place = place();
        place.folder.write("a", b"x").await.unwrap();
        fs::remove_dir_all(place.at("")).unwrap();
        let gone = FilesError::FolderMissing(place.folder.root().to_owned());
        assert_eq!(place.folder.read("a", 9).await, Err(gone.clone()));
        assert_eq!(place.folder.stat("a").await, Err(gone.clone()));
        assert_eq!(place.folder.write("a", b"y").await, Err(gone));
    }
}

/// What a look at the path would have refused, were it not for a race: the link is put in place behind the look.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_was_opened_is_looked_at_and_not_only_its_path() {
    let place = place();
    for folder in [".ssh", "data", "open"] {
        fs::create_dir(place.at(folder)).unwrap();
        fs::write(place.at(folder).join("file"), folder).unwrap();
    }
    let folder = Folder::open(place.at("")).unwrap().keeping_out(vec![place.at("data")]);
    std::os::unix::fs::symlink("open", place.at("x")).unwrap();
    assert_eq!(folder.inner.read("x/file", 9), Ok(b"open".to_vec()));
    for secret in [".ssh", "data"] {
        fs::remove_file(place.at("x")).unwrap();
        std::os::unix::fs::symlink(secret, place.at("x")).unwrap();
        let denied = |path: &str| FilesError::Denied(path.to_owned());
        assert_eq!(folder.inner.read("x/file", 9), Err(denied("x/file")));
        assert_eq!(folder.inner.hash("x/file"), Err(denied("x/file")));
        assert_eq!(folder.inner.list("x"), Err(denied("x")));
        assert_eq!(folder.inner.write("x/file", b"mine"), Err(denied("x/file")));
        assert_eq!(fs::read_to_string(place.at(secret).join("file")).unwrap(), secret);
    }
}
