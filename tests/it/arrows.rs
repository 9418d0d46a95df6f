//! Keeps the picture in ARCHITECTURE.md true: a room sees the rooms it is drawn with and no other, and what must
//! stay out of a room stays out, however many packages lie between.
//!
//! Dependencies of tests alone are not arrows: they are not in what ships.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cargo::{cargo, metadata};

/// Every package of the workspace, and the rooms it may see. A new package is drawn here first.
const PICTURE: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("engine", &["contract"]),
    ("providers", &["contract"]),
    ("workspace", &["contract"]),
    ("tools", &["contract", "workspace"]),
    ("checks", &["contract", "workspace"]),
    ("store", &["contract"]),
    ("secrets", &["contract"]),
    ("sandbox", &["contract"]),
    ("documents", &["contract"]),
    ("web", &["contract"]),
    // It stands on the two rooms that start programs and ask other computers, and does neither by itself.
    ("mcp", &["contract", "sandbox", "web"]),
    (
        "app",
        &[
            "contract",
            "engine",
            "providers",
            "workspace",
            "tools",
            "checks",
            "store",
            "secrets",
            "sandbox",
            "documents",
            "web",
            "mcp",
        ],
    ),
    ("cli", &["app", "contract"]),
    ("tepa-desktop", &["app", "contract"]),
    ("devserver", &["app", "contract"]),
    ("vectors", &["contract", "engine", "providers", "store", "workspace"]),
    // It starts the terminal program, and sees nothing of it; only the history is asked as the app asks it.
    ("benches", &["contract", "store"]),
    (
        "tests",
        &[
            "app",
            "contract",
            "engine",
            "providers",
            "workspace",
            "tools",
            "checks",
            "store",
            "secrets",
        ],
    ),
];

/// The outside world, and the only rooms that may name it.
const DOORS: &[(&str, &[&str])] = &[
    // The floor that `benches` prints beside us speaks HTTP and keeps a database by itself.
    ("reqwest", &["providers", "web", "benches"]),
    ("sqlx", &["store"]),
    // To append to the journal; and in memory, to ask the tables of a folder.
    ("rusqlite", &["store", "workspace", "benches"]),
    ("cap-std", &["workspace"]),
    ("landlock", &["sandbox", "documents"]),
    ("seccompiler", &["sandbox", "documents"]),
    ("rmcp", &["mcp"]),
    // Parsers of strangers' files.
    ("calamine", &["documents"]),
    ("pdf-extract", &["documents"]),
    ("keyring", &["secrets"]),
    ("keyring-core", &["secrets"]),
    ("tauri", &["tepa-desktop"]),
];

/// What a room never contains, not even through other packages.
const KEPT_OUT: &[(&str, &[&str])] = &[
    (
        "contract",
        &[
            "tokio",
            "tokio-util",
            "async-std",
            "smol",
            "mio",
            "reqwest",
            "hyper",
            "sqlx",
            "tauri",
            "keyring",
        ],
    ),
    (
        "engine",
        &[
            "mio",
            "reqwest",
            "hyper",
            "sqlx",
            "rusqlite",
            "cap-std",
            "tauri",
            "keyring",
            "keyring-core",
        ],
    ),
    ("app", &["tauri"]),
    ("cli", &["tauri"]),
];

/// All of tokio that the engine has: channels and locks. Timers, spawning and files are ports.
const TOKIO_OF_THE_ENGINE: &[&str] = &["default", "sync"];

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The arrows that nobody drew, as sentences.
fn undrawn_arrows(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    for (package, dependencies) in graph {
        let Some(drawn) = allowed(PICTURE, package) else {
            problems.push(format!("{package} is not in the picture"));
            continue;
        };
        for dependency in dependencies {
            if graph.contains_key(dependency) && !drawn.contains(&dependency.as_str()) {
                problems.push(format!("{package} must not see {dependency}"));
            }
            if allowed(DOORS, dependency).is_some_and(|rooms| !rooms.contains(&package.as_str())) {
                problems.push(format!("{package} must not name {dependency}"));
            }
        }
    }
    problems
}

/// What is in a room although it is kept out of it, as sentences.
fn intruders(room: &str, contents: &BTreeSet<String>) -> Vec<String> {
    allowed(KEPT_OUT, room)
        .into_iter()
        .flatten()
        .filter(|kept_out| contents.contains(**kept_out))
        .map(|kept_out| format!("{room} must not contain {kept_out}"))
        .collect()
}

/// The features of a package in the lines of `cargo tree --edges features`: `tokio feature "sync"`.
fn features(package: &str, tree: &str) -> BTreeSet<String> {
    tree.lines()
        .filter_map(|line| line.strip_prefix(package)?.strip_prefix(" feature \""))
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect()
}

fn allowed(table: &'static [(&str, &[&str])], name: &str) -> Option<&'static [&'static str]> {
    table.iter().find(|(key, _)| *key == name).map(|(_, values)| *values)
}

/// The packages of the workspace with what they name, without what only their tests name.
fn workspace_graph() -> Graph {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let shipped = dependencies.filter(|dependency| dependency["kind"] != "dev");
            (name(package), shipped.map(name).collect())
        })
        .collect()
}

fn name(value: &serde_json::Value) -> String {
    value["name"].as_str().unwrap().to_owned()
}

/// Everything that is built for a room, by name.
fn contents(room: &str) -> BTreeSet<String> {
    let tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        room,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{lib}",
    ]);
    let names = tree.lines().map(|line| line.replace('_', "-"));
    names.filter(|name| *name != room).collect()
}

#[test]
fn every_arrow_is_in_the_picture() {
    assert_eq!(undrawn_arrows(&workspace_graph()), Vec::<String>::new());
}

#[test]
fn what_is_kept_out_of_a_room_is_not_in_it() {
    for (room, _) in KEPT_OUT {
        let contents = contents(room);
        assert!(
            room == &"contract" || contents.contains("contract"),
            "{room} was not read: {contents:?}"
        );
        assert_eq!(intruders(room, &contents), Vec::<String>::new());
    }
}

#[test]
fn the_engine_has_no_runtime() {
    let tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        "engine",
        "--edges",
        "normal,features",
        "--prefix",
        "none",
    ]);
    let found = features("tokio", &tree);
    let surplus: Vec<_> = found
        .iter()
        .filter(|feature| !TOKIO_OF_THE_ENGINE.contains(&feature.as_str()))
        .collect();
    assert!(found.contains("sync"), "the tree was not read:\n{tree}");
    assert!(surplus.is_empty(), "the engine must not have tokio's {surplus:?}");
}

/// What leads to the outside without a port.
const OUTSIDE: [&str; 14] = [
    "std::env",
    "std::fs",
    "std::io::stdin",
    "std::net",
    "std::os",
    "std::process",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
    "tokio::time",
];

/// Which of these a program names, also in the braces of a `use`.
fn named_outside(program: &str) -> Vec<&'static str> {
    let code = program.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code
        .flat_map(str::chars)
        .filter(|character| !character.is_whitespace())
        .collect();
    let names = |path: &str| {
        let (around, last) = path.rsplit_once("::").unwrap_or_default();
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let direct = code
            .match_indices(path)
            .any(|(at, found)| ends(&code[at + found.len()..]));
        let opened = format!("{around}::{{");
        let groups = code.split(opened.as_str()).skip(1);
        let mut groups = groups.map(|group| group.split(';').next().unwrap_or_default());
        let in_group = |group: &str| {
            group
                .split(['{', '}', ','])
                .any(|name| name.strip_prefix(last).is_some_and(ends))
        };
        direct || groups.any(in_group)
    };
    OUTSIDE.into_iter().filter(|path| names(path)).collect()
}

#[test]
fn steps_reach_the_outside_through_ports_alone() {
    let mut read = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/engine/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let found = named_outside(&std::fs::read_to_string(&path).unwrap());
                assert!(found.is_empty(), "{} names {found:?}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 100, "only {read} files were read");
}

#[test]
fn finds_who_reaches_out_by_themselves() {
    for (program, expected) in [
        ("let text = std::fs::read(path);", &["std::fs"][..]),
        (
            "use std::{collections::HashMap, net::TcpStream, env};",
            &["std::env", "std::net"],
        ),
        ("use std::time::{Duration, SystemTime};", &["std::time::SystemTime"]),
        ("tokio::\n    time::sleep(limit).await", &["tokio::time"]),
        ("std::thread::Result<()>; std::fsx::y(); use std::time::Duration;", &[]),
        ("// as std::fs does", &[]),
    ] {
        assert_eq!(named_outside(program), expected, "{program}");
    }
}

fn check(arrows: &[(&str, &[&str])], expected: &[&str]) {
    let graph = arrows.iter().map(|(from, to)| ((*from).to_owned(), set(to))).collect();
    assert_eq!(undrawn_arrows(&graph), expected);
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn finds_an_arrow_that_nobody_drew() {
    check(
        &[
            ("contract", &["serde"]),
            ("store", &["contract"]),
            ("engine", &["contract", "store"]),
        ],
        &["engine must not see store"],
    );
}

#[test]
fn finds_a_room_that_nobody_drew() {
    check(&[("cellar", &[])], &["cellar is not in the picture"]);
}

#[test]
fn finds_a_door_to_the_outside_in_the_wrong_room() {
    check(
        &[("engine", &["reqwest"]), ("providers", &["reqwest"])],
        &["engine must not name reqwest"],
    );
}

#[test]
fn finds_an_intruder_however_deep() {
    assert_eq!(
        intruders("engine", &set(&["serde", "hyper"])),
        ["engine must not contain hyper"]
    );
}

#[test]
fn reads_the_features_of_one_package_only() {
    let tree = "tokio feature \"rt\"\ntokio v1.50.0\ntokio-util feature \"codec\"\ntokio feature \"sync\" (*)\n";
    assert_eq!(features("tokio", tree), set(&["rt", "sync"]));
}
