//! R6 for files: paths that try to leave the working folder, and links that change while a path is followed. Nothing
//! outside is read or changed. Whether this test would notice is seen by asking the system without the folder's handle.
//!
//! In short for every day, in full with `TEPA_SECURITY=full`. `TEPA_SEED` chooses another seed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract::ports::files::Files;
use tempfile::TempDir;
use workspace::Folder;

/// Words that must never be read.
const SECRET: &str = "the-swan-sleeps-at-noon";

struct Place {
    _all: TempDir,
    folder: PathBuf,
    outside: PathBuf,
}

fn place() -> Place {
    let all = tempfile::tempdir().unwrap();
    let real = all.path().canonicalize().unwrap();
    let (folder, outside) = (real.join("folder"), real.join("outside"));
    std::fs::create_dir_all(folder.join("a/b")).unwrap();
    std::fs::create_dir_all(outside.join("b")).unwrap();
    std::fs::write(outside.join("secret.txt"), SECRET).unwrap();
    std::fs::write(outside.join("b/secret.txt"), SECRET).unwrap();
    // A name that no list may show.
    std::fs::write(real.join(SECRET), "").unwrap();
    std::fs::write(outside.join(SECRET), "").unwrap();
    std::fs::write(folder.join("a/secret.txt"), "mine").unwrap();
    symlink("..", folder.join("up")).unwrap();
    symlink("../outside", folder.join("there")).unwrap();
    symlink(&outside, folder.join("far")).unwrap();
    symlink("../outside/secret.txt", folder.join("soft")).unwrap();
    symlink("/", folder.join("a/root")).unwrap();
    symlink("/proc/self/root", folder.join("proc")).unwrap();
    symlink("loop", folder.join("loop")).unwrap();
    symlink("there/b", folder.join("a/twice")).unwrap();
    Place {
        _all: all,
        folder,
        outside,
    }
}

/// Everything outside by its path.
fn outside(place: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(outside(&path)),
            false => drop(all.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    all
}

fn full() -> bool {
    std::env::var("TEPA_SECURITY").is_ok_and(|how| how == "full")
}

fn seed() -> u64 {
    let chosen = std::env::var("TEPA_SEED").ok();
    chosen.and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121)
}

/// A path that somebody might think of to get out; each tenth would, were there no handle.
fn path(random: &mut fastrand::Rng, place: &Place) -> String {
    if random.u8(..10) == 0 {
        let around = ["", "./", "a/../", "a/b/../../", "a//.././"];
        let out = format!("{}../outside/secret.txt", around[random.usize(..around.len())]);
        return [out, place.outside.join("secret.txt").display().to_string()][random.usize(..2)].clone();
    }
    let parts = [
        "..",
        "..",
        "...",
        ".",
        "",
        "up",
        "there",
        "far",
        "soft",
        "a",
        "b",
        "a/root",
        "proc",
        "loop",
        "twice",
        "folder",
        "outside",
        "secret.txt",
        "new.txt",
        "%2e%2e",
        "..%2f",
        "..\\",
        "\\..",
        "．．",
        "‥",
        "~",
        "$HOME",
        "a\u{202e}b",
        "con",
        "nul",
        "a:b",
        " ",
        "..;",
        "-rf",
        "*",
    ];
    let out = place.outside.display().to_string();
    let begin = [
        "",
        "",
        "",
        "./",
        "/",
        "//",
        "file://",
        out.as_str(),
        "/proc/self/cwd/",
        "/proc/self/root",
        "/dev/fd/",
        "\\\\?\\",
    ];
    let mut path = begin[random.usize(..begin.len())].to_owned();
    for _ in 0..random.usize(1..7) {
        path.push_str(parts[random.usize(..parts.len())]);
        path.push_str(["/", "/", "/", "//", "/./", ""][random.usize(..6)]);
    }
    if random.u8(..20) == 0 {
        path.push('\0');
    }
    path.push_str(["", "secret.txt", "b/secret.txt", "new.txt"][random.usize(..4)]);
    path
}

/// What a path leads to when everything is tried with it; whether any of it was outside.
async fn gets_out(files: &dyn Files, path: &str) -> bool {
    let read = files.read(path, 1 << 20).await.unwrap_or_default();
    let part = files.read_range(path, 0, 100).await.unwrap_or_default();
    let listed = files.list(path).await.unwrap_or_default();
    let hash = files.hash(path).await.ok().flatten();
    let _ = files.write(path, b"overwritten").await;
    let secret = SECRET.as_bytes();
    read == secret
        || part == secret
        || hash == Some(contract::Hash::of_bytes(secret))
        || listed.iter().any(|entry| entry.name == SECRET)
}

#[tokio::test]
async fn no_path_leads_out() {
    let mut random = fastrand::Rng::with_seed(seed());
    let mut tried = 0;
    let mut would = 0;
    for _ in 0..10 {
        let place = place();
        let before = outside(&place.outside);
        let files = Folder::open(&place.folder).unwrap();
        for _ in 0..100 {
            let path = path(&mut random, &place);
            // Without the folder's handle, some of them lead out.
            would += usize::from(std::fs::read(place.folder.join(&path)).is_ok_and(|read| read == SECRET.as_bytes()));
            assert!(!gets_out(&files, &path).await, "{path:?}, seed {}", seed());
            tried += 1;
        }
        assert_eq!(outside(&place.outside), before, "seed {}", seed());
    }
    println!("R6 paths: {tried} tried, 0 escapes, seed {}", seed());
    println!("mutant R6 paths without the folder's handle: {would} lead out");
    assert!(would >= 10, "{would}");
}

/// Exchanges a folder for a link to the outside and back, for as long as it may. A write that comes between two renames
/// makes the folder anew: that one is taken away.
fn exchange(place: &Path, over: &AtomicBool) {
    let (d, real, link) = (place.join("d"), place.join("real"), place.join("link"));
    let swap = |away: &Path, back: &Path| {
        if std::fs::rename(&d, away).is_err() {
            return;
        }
        while std::fs::rename(back, &d).is_err() && !over.load(Ordering::Relaxed) {
            let _ = std::fs::remove_dir_all(&d);
        }
    };
    while !over.load(Ordering::Relaxed) {
        swap(&real, &link);
        swap(&link, &real);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_link_that_changes_meanwhile_leads_out() {
    let place = place();
    std::fs::create_dir(place.folder.join("d")).unwrap();
    std::fs::write(place.folder.join("d/secret.txt"), "mine").unwrap();
    symlink("../outside", place.folder.join("link")).unwrap();
    let before = outside(&place.outside);
    let over = Arc::new(AtomicBool::new(false));
    let (folder, end) = (place.folder.clone(), Arc::clone(&over));
    let racer = std::thread::spawn(move || exchange(&folder, &end));
    let files = Folder::open(&place.folder).unwrap();
    let tries = if full() { 10_000 } else { 500 };
    let (mut fooled, mut mine) = (0, 0);
    for number in 0..tries {
        match files.read("d/secret.txt", 1 << 20).await {
            Ok(read) if read == SECRET.as_bytes() => fooled += 1,
            Ok(_) => mine += 1,
            Err(_) => {}
        }
        let _ = files.write(&format!("d/new-{}.txt", number % 10), b"x").await;
    }
    // The same without the handle, until it is fooled: the race is a real one.
    let mut system = 0_u64;
    while !std::fs::read(place.folder.join("d/secret.txt")).is_ok_and(|read| read == SECRET.as_bytes()) {
        system += 1;
        assert!(system < 10_000_000, "nobody exchanges anything");
        tokio::task::yield_now().await;
    }
    over.store(true, Ordering::Relaxed);
    racer.join().unwrap();
    assert_eq!(fooled, 0);
    assert_eq!(outside(&place.outside), before);
    println!("R6 races: {tries} reads and writes, {mine} read what is inside, 0 escapes");
    println!(
        "mutant R6 races without the folder's handle: fooled after {} reads",
        system + 1
    );
}
