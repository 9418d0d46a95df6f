//! What a command may do, how it ends, and what is said about it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::time::Duration;

use contract::ports::commands::{CommandError, Commands, Containment};
use sandbox::order::Ways;
use support::{NOTHING, place, sandbox, ways};

#[tokio::test]
async fn runs_a_command_in_the_folder_and_says_what_it_said() {
    let place = place();
    let done = sandbox(Ways::default())
        .run(place.request(
            "echo hello; echo oh >&2; mkdir -p a/b; echo new > a/b/c; cat a/b/c; cp a/b/c d; mv d e; ls; exit 3",
        ))
        .await
        .unwrap();
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("hello\nnew\na\ne\n", "oh\n")
    );
    assert_eq!((done.exit_code, done.timed_out), (3, false));
    assert!(matches!(
        done.containment,
        Containment::Landlock { .. } | Containment::Bubblewrap
    ));
}

#[tokio::test]
async fn says_what_holds_a_command() {
    for (name, ways, expected) in ways().await {
        let place = place();
        let sandbox = sandbox(ways);
        let done = sandbox.run(place.request("echo x > new && cat new")).await.unwrap();
        assert_eq!(
            (done.stdout.as_str(), done.containment),
            ("x\n", expected),
            "{name}: {}",
            done.stderr
        );
        assert_eq!(sandbox.containment().await, expected);
    }
}

#[tokio::test]
async fn runs_nothing_that_nothing_holds_unless_a_person_said_so() {
    let place = place();
    let sandbox = sandbox(NOTHING);
    assert_eq!(sandbox.containment().await, Containment::None);
    assert_eq!(
        sandbox.run(place.request("echo x > new")).await,
        Err(CommandError::Uncontained)
    );
    assert!(!place.folder.join("new").exists());
    let mut request = place.request("echo x");
    request.uncontained = true;
    let done = sandbox.run(request).await.unwrap();
    assert_eq!((done.stdout.as_str(), done.containment), ("x\n", Containment::None));
}

#[tokio::test]
async fn a_command_has_nothing_to_read_and_a_home_of_its_own() {
    let place = place();
    let done = sandbox(Ways::default())
        .run(place.request("cat; env; echo x > $HOME/a && cat $HOME/a && cp $HOME/a $TMPDIR/b && echo $HOME"))
        .await
        .unwrap();
    for secret in ["CARGO", "DBUS", "SSH_AUTH"] {
        assert!(!done.stdout.contains(secret), "{}", done.stdout);
    }
    let home = done.stdout.lines().last().unwrap();
    assert!(home.contains("tepa-"), "{}", done.stdout);
    assert!(!std::path::Path::new(home).exists(), "it is left behind");
}

#[tokio::test]
async fn a_command_reads_its_input_to_the_end_whatever_holds_it() {
    for (name, ways, _) in ways().await {
        let place = place();
        let mut request = place.request("head -c 5; echo; wc -c");
        request.input = format!("Zoë\n{}", "x".repeat(3_000_000));
        let done = sandbox(ways).run(request).await.unwrap();
        assert_eq!(done.stdout, "Zoë\n\n3000000\n", "{name}: {}", done.stderr);
    }
}

#[tokio::test]
async fn what_does_not_read_its_input_ends_all_the_same() {
    let place = place();
    let mut request = place.request("exit 4");
    request.input = "x".repeat(3_000_000);
    assert_eq!(sandbox(Ways::default()).run(request).await.unwrap().exit_code, 4);
}

#[tokio::test]
async fn ends_everything_when_the_time_is_over() {
    for (name, ways, _) in ways().await {
        let place = place();
        let mut request = place.request("echo begun; (setsid sleep 600 &); sleep 600");
        request.timeout = Duration::from_millis(300);
        let done = sandbox(ways).run(request).await.unwrap();
        assert_eq!(
            (done.stdout.as_str(), done.timed_out, done.exit_code),
            ("begun\n", true, 137),
            "{name}"
        );
        assert_eq!(place.at_work(), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn ends_what_a_command_leaves_behind() {
    let place = place();
    let left = "(setsid sh -c 'sleep 600 & sleep 600' </dev/null >/dev/null 2>&1 &); nohup sleep 600 & echo done";
    let done = sandbox(Ways::default()).run(place.request(left)).await.unwrap();
    assert_eq!((done.stdout.as_str(), done.exit_code), ("done\n", 0));
    assert_eq!(place.at_work(), Vec::<String>::new());
}

#[tokio::test]
async fn ends_everything_when_nobody_waits_any_more() {
    let place = place();
    let begun = place.folder.join("begun");
    let sandbox = sandbox(Ways::default());
    let run = sandbox.run(place.request("(setsid sleep 600 &); echo x > begun; sleep 600"));
    let has_begun = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = run => panic!("it ended by itself: {done:?}"),
        () = has_begun => {}
    }
    // The future is dropped; the keeper sees it and ends.
    while !place.at_work().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn keeps_beginning_and_end_of_a_flood() {
    let place = place();
    let done = sandbox(Ways::default())
        .run(place.request("echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"))
        .await
        .unwrap();
    assert!(done.stdout.starts_with("first\nxxx") && done.stdout.ends_with("xxx\nlast\n"));
    assert!(done.stdout.len() < 1_001_000, "{}", done.stdout.len());
}

#[tokio::test]
async fn refuses_a_folder_around_what_no_command_may_reach() {
    let place = place();
    let mut sandbox = sandbox(Ways::default());
    sandbox.never = vec![place.folder.join("data")];
    let refused = sandbox.run(place.request("echo x > new")).await;
    assert!(matches!(refused, Err(CommandError::NotStarted(reason)) if reason.contains("no command may reach")));
    assert!(!place.folder.join("new").exists());
}

#[tokio::test]
async fn refuses_a_granted_folder_that_became_a_link() {
    let place = place();
    let mut request = place.request("echo x > link/new");
    std::os::unix::fs::symlink(&place.outside, place.folder.join("link")).unwrap();
    request.write.push(place.folder.join("link").display().to_string());
    let refused = sandbox(Ways::default()).run(request).await;
    assert!(matches!(refused, Err(CommandError::NotStarted(_))), "{refused:?}");
    assert!(!place.outside.join("new").exists());
}

#[tokio::test]
async fn a_folder_that_is_granted_for_reading_is_only_read() {
    for (name, ways, _) in ways().await {
        let place = place();
        std::fs::write(place.outside.join("a"), "words").unwrap();
        let outside = place.outside.display().to_string();
        let mut request = place.request(&format!("cat {outside}/a; echo x > {outside}/a; echo x > {outside}/b"));
        request.read.push(outside);
        let done = sandbox(ways).run(request).await.unwrap();
        assert_eq!(done.stdout, "words", "{name}: {}", done.stderr);
        assert_eq!(
            std::fs::read_to_string(place.outside.join("a")).unwrap(),
            "words",
            "{name}"
        );
        assert!(!place.outside.join("b").exists(), "{name}");
    }
}

#[tokio::test]
async fn the_network_is_one_grant() {
    let place = place();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(1)'");
    for (name, ways, _) in ways().await {
        let sandbox = sandbox(ways);
        let mut request = place.request(&connect);
        assert_eq!(sandbox.run(request.clone()).await.unwrap().stdout, "", "{name}");
        request.network = true;
        let done = sandbox.run(request).await.unwrap();
        assert_eq!(done.stdout, "1\n", "{name}: {}", done.stderr);
    }
}

#[tokio::test]
async fn ordinary_programs_work() {
    let place = place();
    let work = "set -e
        mkdir src && echo one > src/a && printf 'x = 1\\nprint(x)\\n' > src/b.py
        tar cf all.tar src && mkdir out && tar xf all.tar -C out && diff -r src out/src
        cp -rp src copy && mv copy renamed && chmod +x renamed/a && touch -d 2001-01-01 renamed/a
        python3 - <<'END'
import shutil, subprocess, tempfile, os, threading, hashlib
shutil.copytree('src', 'tree'); shutil.copy2('src/a', 'a2')
with tempfile.TemporaryDirectory() as d: open(os.path.join(d, 'f'), 'w').write('x')
assert subprocess.run(['sh', '-c', 'exit 4']).returncode == 4
t = threading.Thread(target=lambda: None); t.start(); t.join()
END
        find . -name '*.py' | sort | xargs cat | sort | uniq -c | awk '{ print $1 }' && timeout 5 true && rm -r src";
    let done = sandbox(Ways::default()).run(place.request(work)).await.unwrap();
    assert_eq!((done.exit_code, done.stderr.as_str()), (0, ""), "{}", done.stdout);
    assert_eq!(done.stdout, "4\n4\n");
}
