//! A program that is talked to: what it hears, what it is told, and that nothing of it stays.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use sandbox::order::Ways;
use sandbox::{Program, Talk};
use support::{place, sandbox};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

fn shell(words: &str) -> Program {
    Program {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), words.to_owned()],
        variables: vec![("GIVEN".to_owned(), "sk-canary".to_owned())],
        folder: "/".to_owned(),
    }
}

async fn talk(words: &str) -> Talk {
    sandbox(Ways::default()).talk(shell(words)).await.unwrap()
}

/// The next line, and what reads the rest.
async fn line(talk: &mut Talk) -> String {
    let mut line = String::new();
    BufReader::new(&mut talk.output).read_line(&mut line).await.unwrap();
    line.trim().to_owned()
}

fn is_there(pid: &str) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn is_heard_and_answered_for_as_long_as_it_is_needed() {
    let mut talk = talk("while read word; do echo \"<$word>\"; done; echo over >&2; exit 3").await;
    for word in ["one", "two"] {
        talk.input.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        assert_eq!(line(&mut talk).await, format!("<{word}>"));
    }
    drop(talk.input);
    assert_eq!(talk.ending.wait().await, Ok(Some(3)));
    let mut errors = String::new();
    talk.errors.read_to_string(&mut errors).await.unwrap();
    assert_eq!(errors, "over\n");
}

#[tokio::test]
async fn nothing_that_it_started_outlives_it() {
    // One that does not care that its input ended, one that left its group, and their parent, who ignores being told.
    let mut talk = talk("trap '' TERM HUP; sleep 1000 & echo $!; setsid sleep 1000 & echo $!; wait").await;
    let mut words = BufReader::new(&mut talk.output).lines();
    let mut started = Vec::new();
    for _ in 0..2 {
        started.push(words.next_line().await.unwrap().unwrap());
    }
    assert!(started.iter().all(|pid| is_there(pid)), "{started:?}");
    drop(talk.input);
    assert_eq!(talk.ending.wait().await, Ok(Some(137)));
    assert!(started.iter().all(|pid| !is_there(pid)), "{started:?}");
}

#[tokio::test]
async fn is_told_what_it_was_given_and_no_secret_of_the_app() {
    // The test's own program stands for the app; cargo tells it a lot.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let mut talk = talk("env | tr '\\n' ' '; echo; cat").await;
    let told = line(&mut talk).await;
    assert!(told.contains("GIVEN=sk-canary") && told.contains("PATH="), "{told}");
    assert!(!told.contains("CARGO_MANIFEST_DIR"), "{told}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let place = place();
    let program = Program {
        program: "tepa-no-such-program".to_owned(),
        args: Vec::new(),
        variables: Vec::new(),
        folder: place.folder.display().to_string(),
    };
    let talk = sandbox(Ways::default()).talk(program).await.unwrap();
    let why = talk.ending.wait().await.unwrap_err();
    assert!(why.contains("\"tepa-no-such-program\" cannot be started"), "{why}");
}
