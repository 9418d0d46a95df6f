//! Servers that behave in every way in which servers do not: each ends as a sentence, and nothing of it stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use mcp::{Launch, McpError};
use serde_json::{Map, json};
use support::{named, stand};

#[tokio::test]
async fn a_server_is_started_when_it_is_needed_and_once_for_all() {
    let stand = stand();
    let started = stand.folder.path().join("started");
    stand.add_odd("odd", &[&format!("started={}", started.display())], &[]);
    assert!(!stand.servers.standing("odd").running && !started.exists());
    let tools = stand.approve("odd").await;
    let echo = named(&tools, "echo");
    let calls = (0..8).map(|n| stand.call(echo, json!({ "words": format!("{n}") })));
    let said = futures::future::join_all(calls).await;
    let said: Vec<_> = said.into_iter().map(Result::unwrap).collect();
    assert_eq!(said[7], json!({ "text": "7" }));
    assert!(stand.servers.standing("odd").running);
    assert_eq!(std::fs::read_to_string(&started).unwrap().lines().count(), 1);
    stand.servers.end_all();
    assert!(!stand.servers.standing("odd").running);
    assert_eq!(
        stand.call(echo, json!({ "words": "again" })).await,
        Ok(json!({ "text": "again" }))
    );
}

#[tokio::test]
async fn what_was_not_approved_or_is_not_as_it_was_is_not_called() {
    let stand = stand();
    stand.add_odd("odd", &[], &[]);
    let offered = stand.servers.look("odd").await.unwrap().offered;
    let echo = named(&offered, "echo");
    let called = stand.call(echo, json!({ "words": "die" })).await;
    assert_eq!(called, Err(McpError::NotApproved("odd".to_owned())));
    let approved = stand.approve("odd").await;
    stand.servers.forget("odd");
    // The same server, which has become another one since.
    stand.add_odd("odd", &["changed"], &[]);
    stand.set_approved("odd", approved.clone());
    stand.servers.look("odd").await.unwrap();
    assert_eq!(stand.servers.changes("odd", &approved)[0].tool, "echo");
    let called = stand.call(named(&approved, "echo"), json!({ "words": "die" })).await;
    assert_eq!(called, Err(McpError::Changed("odd".to_owned())));
    // Approved again, it is called; a run that began before is not.
    let anew = stand.approve("odd").await;
    let called = stand.call(named(&approved, "echo"), json!({ "words": "a" })).await;
    assert!(matches!(called, Err(McpError::NotOfThisRun { .. })), "{called:?}");
    assert!(stand.call(named(&anew, "echo"), json!({ "words": "a" })).await.is_ok());
}

#[tokio::test]
async fn a_server_that_changes_in_the_middle_is_not_called_again() {
    let stand = stand();
    stand.add_odd("odd", &["changes"], &[]);
    let tools = stand.approve("odd").await;
    let echo = named(&tools, "echo");
    assert!(stand.call(echo, json!({ "words": "once" })).await.is_ok());
    // The notice comes right behind the answer; whichever call sees it first, none after it is made.
    let mut last = Ok(json!(null));
    for _ in 0..200 {
        last = stand.call(echo, json!({ "words": "again" })).await;
        if last.is_err() {
            break;
        }
    }
    assert_eq!(last, Err(McpError::Changed("odd".to_owned())));
}

#[tokio::test]
async fn one_that_ends_says_how_and_is_started_again() {
    let stand = stand();
    stand.add_odd("odd", &[], &[("TOKEN", "sk-canary")]);
    let tools = stand.approve("odd").await;
    let echo = named(&tools, "echo");
    let died = stand
        .call(echo, json!({ "words": "die" }))
        .await
        .unwrap_err()
        .to_string();
    assert!(died.contains("ended before it answered: it ended with 7"), "{died}");
    assert!(died.contains("the disk is on fire, [value removed]"), "{died}");
    assert_eq!(
        stand.call(echo, json!({ "words": "a" })).await,
        Ok(json!({ "text": "a" }))
    );
    let log = std::fs::read_to_string(stand.folder.path().join("logs/odd.log")).unwrap();
    assert!(log.contains("on fire") && !log.contains("sk-canary"), "{log}");
}

#[tokio::test]
async fn one_that_does_not_start_says_what_it_said() {
    let stand = stand();
    stand.add_odd("odd", &["quits"], &[]);
    let error = stand.servers.look("odd").await.unwrap_err().to_string();
    assert!(
        error.contains("it ended with 4; the last thing it said was \"a key is missing\""),
        "{error}"
    );
    stand.add_odd("refuses", &["refuses"], &[]);
    let error = stand.servers.look("refuses").await.unwrap_err().to_string();
    assert!(error.contains("it refused: not today"), "{error}");
    let launch = Launch::Program {
        command: "tepa-no-such-program".to_owned(),
        args: Vec::new(),
        variables: Vec::new(),
        folder: None,
        hidden: Vec::new(),
    };
    stand.add("missing", launch, &[]);
    let error = stand.servers.look("missing").await.unwrap_err().to_string();
    assert!(error.contains("\"tepa-no-such-program\" cannot be started"), "{error}");
    assert_eq!(stand.servers.standing("missing").problem.unwrap().to_string(), error);
    assert_eq!(
        stand.servers.look("nobody").await,
        Err(McpError::Unknown("nobody".to_owned()))
    );
}

#[tokio::test]
async fn one_that_hangs_is_given_up_and_is_gone() {
    let stand = stand();
    let started = stand.folder.path().join("started");
    stand.add_odd("odd", &[&format!("started={}", started.display())], &[]);
    let tools = stand.approve("odd").await;
    let args = Map::from_iter([("words".to_owned(), json!("hang"))]);
    let limit = Duration::from_millis(300);
    let hung = stand.servers.call(named(&tools, "echo"), args, limit).await;
    assert!(matches!(hung, Err(McpError::TimedOut { .. })), "{hung:?}");
    assert!(!stand.servers.standing("odd").running);
    // A new one answers, and then the old one's number is nobody's: its keeper ends it before it ends itself.
    assert!(stand.call(named(&tools, "echo"), json!({ "words": "a" })).await.is_ok());
    let first = std::fs::read_to_string(&started)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let process = format!("/proc/{first}");
    while cfg!(target_os = "linux") && std::path::Path::new(&process).exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn floods_and_nonsense_stop_nothing() {
    let stand = stand();
    stand.add_odd("odd", &["floods"], &[]);
    let tools = stand.approve("odd").await;
    let echo = named(&tools, "echo");
    assert_eq!(
        stand.call(echo, json!({ "words": "a" })).await,
        Ok(json!({ "text": "a" }))
    );
    let huge = stand.call(echo, json!({ "words": "huge" })).await.unwrap();
    assert!(huge["text"].as_str().unwrap().len() < 1_000_100);
    let odd = stand.call(echo, json!({ "words": "odd" })).await.unwrap();
    assert!(
        odd["structured"].is_string() && contract::hash::canonical(&odd).is_ok(),
        "{odd}"
    );
    let failed = stand.call(echo, json!({ "words": "fail" })).await.unwrap_err();
    assert_eq!(failed.to_string(), "the tool says that it failed: no such zone");
    assert!(stand.call(echo, json!({ "words": "nonsense" })).await.is_err());
    assert!(stand.servers.standing("odd").log.len() <= 40);
}

#[tokio::test]
async fn a_message_that_is_too_long_is_no_answer() {
    let stand = stand();
    stand.add_odd("odd", &[], &[]);
    let tools = stand.approve("odd").await;
    let args = Map::from_iter([("words".to_owned(), json!("oversized"))]);
    let done = stand
        .servers
        .call(named(&tools, "echo"), args, Duration::from_secs(600))
        .await;
    assert_eq!(done, Err(McpError::TooLong("odd".to_owned())));
    assert!(!stand.servers.standing("odd").running);
}

#[tokio::test]
async fn one_that_never_ends_a_line_is_ended_and_told_so() {
    let stand = stand();
    let started = stand.folder.path().join("started");
    stand.add_odd(
        "odd",
        &["never-ends-a-line", &format!("started={}", started.display())],
        &[],
    );
    let looked = stand.servers.look("odd").await.unwrap_err();
    assert_eq!(looked, McpError::TooLong("odd".to_owned()));
    assert!(
        looked.to_string().contains("more than 16 MB without an end of line"),
        "{looked}"
    );
    // It is not begun with a second time.
    assert_eq!(std::fs::read_to_string(&started).unwrap().lines().count(), 1);
    assert_eq!(stand.servers.standing("odd").problem, Some(looked));
}

#[tokio::test]
async fn a_person_who_does_not_want_to_wait_leaves_at_once() {
    let stand = stand();
    let started = stand.folder.path().join("started");
    stand.add_odd("odd", &["says-nothing", &format!("started={}", started.display())], &[]);
    let leaving = async {
        while !started.exists() {
            tokio::task::yield_now().await;
        }
        stand.servers.leave("odd");
    };
    let (looked, ()) = tokio::join!(stand.servers.look("odd"), leaving);
    assert_eq!(looked, Err(McpError::Left("odd".to_owned())));
    let standing = stand.servers.standing("odd");
    assert!(!standing.running && standing.problem.is_none(), "{standing:?}");
    let process = format!("/proc/{}", std::fs::read_to_string(&started).unwrap().trim());
    while cfg!(target_os = "linux") && std::path::Path::new(&process).exists() {
        tokio::task::yield_now().await;
    }
    // Whoever looks again is not left by that.
    stand.add_odd("odd", &[], &[]);
    assert!(stand.servers.look("odd").await.is_ok());
}

#[tokio::test]
async fn a_call_that_takes_too_long_ends_no_other_call() {
    let stand = stand();
    let at = |name: &str| stand.folder.path().join(name);
    let told = |name: &str| format!("{name}={}", at(name).display());
    let how = ["threads", &told("holds"), &told("until"), &told("cancelled")];
    stand.add_odd("odd", &how, &[]);
    let tools = stand.approve("odd").await;
    let echo = named(&tools, "echo");
    let args = Map::from_iter([("words".to_owned(), json!("hold"))]);
    let short = async {
        // The other call is at work when this one is given up.
        while std::fs::read_to_string(at("holds")).unwrap_or_default().is_empty() {
            tokio::task::yield_now().await;
        }
        let given_up = stand.servers.call(echo, args, Duration::from_millis(200)).await;
        let running = stand.servers.standing("odd").running;
        std::fs::write(at("until"), "").unwrap();
        (given_up, running)
    };
    let (other, (given_up, running)) = tokio::join!(stand.call(echo, json!({ "words": "hold" })), short);
    assert!(matches!(given_up, Err(McpError::TimedOut { .. })), "{given_up:?}");
    assert_eq!(other, Ok(json!({ "text": "hold" })));
    assert!(running);
    while !at("cancelled").exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_was_only_looked_at_ends_and_one_that_a_step_called_does_not() {
    let stand = stand();
    let started = stand.folder.path().join("started");
    stand.add_odd("odd", &[&format!("started={}", started.display())], &[]);
    let offered = stand.servers.look("odd").await.unwrap().offered;
    stand.servers.end_unless_called("odd");
    assert!(!stand.servers.standing("odd").running);
    // What nobody approved is not started by a call either.
    let echo = named(&offered, "echo");
    let called = stand.call(echo, json!({ "words": "a" })).await;
    assert_eq!(called, Err(McpError::NotApproved("odd".to_owned())));
    assert_eq!(std::fs::read_to_string(&started).unwrap().lines().count(), 1);
    stand.set_approved("odd", offered.clone());
    assert!(stand.call(echo, json!({ "words": "a" })).await.is_ok());
    stand.servers.look("odd").await.unwrap();
    stand.servers.end_unless_called("odd");
    assert!(stand.servers.standing("odd").running);
}

#[tokio::test]
async fn lists_without_an_end_have_one() {
    let stand = stand();
    stand.add_odd("many", &["many"], &[]);
    let looked = stand.servers.look("many").await.unwrap();
    assert_eq!(looked.offered.len(), 200);
    assert!(looked.left_out.len() > 200);
    stand.add_odd("endless", &["endless"], &[]);
    assert_eq!(stand.servers.look("endless").await.unwrap().offered.len(), 2);
}

#[tokio::test]
async fn speaks_with_servers_of_every_version_that_begins_with_initialize() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let stand = stand();
        stand.add_odd("odd", &[&format!("version={version}")], &[]);
        let tools = stand.approve("odd").await;
        assert_eq!(stand.servers.look("odd").await.unwrap().protocol, version);
        let said = stand.call(named(&tools, "echo"), json!({ "words": version })).await;
        assert_eq!(said, Ok(json!({ "text": version })));
    }
    // One that ends when it is asked in the newest way is begun with anew.
    let stand = stand();
    stand.add_odd("odd", &["dies-unknown"], &[]);
    assert_eq!(stand.servers.look("odd").await.unwrap().protocol, "2025-11-25");
}

#[tokio::test]
async fn is_told_what_it_was_given_and_no_more() {
    let stand = stand();
    stand.add_odd("odd", &[], &[("TOKEN", "sk-canary"), ("LANG", "xx")]);
    let tools = stand.approve("odd").await;
    let environment = named(&tools, "environment");
    assert!(environment.says_read_only);
    let said = stand.call(environment, json!({})).await.unwrap();
    let told: Map<String, serde_json::Value> = serde_json::from_str(said["text"].as_str().unwrap()).unwrap();
    assert_eq!((&told["TOKEN"], &told["LANG"]), (&json!("sk-canary"), &json!("xx")));
    let surplus: Vec<&String> = told.keys().filter(|name| name.starts_with("CARGO")).collect();
    assert!(surplus.is_empty(), "{surplus:?}");
}
