//! The keychain against a real Secret Service: each test runs itself again inside a D-Bus session of
//! its own, with a keyring of its own in a temporary folder. A missing program fails the test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use contract::secret::{KeyInfo, KeySource, KeyStore, KeyStoreError};
use secrecy::ExposeSecret;
use secrets::Keychain;
use tempfile::TempDir;

/// Set inside a session, to the part of the test that runs there.
const INSIDE: &str = "TEPA_KEYCHAIN_TEST";
const KEY: &str = "sk-canary-1234567890";
/// The part of the test that is running, if this is inside a session.
fn inside() -> Option<String> {
    std::env::var(INSIDE).ok()
}

/// A home in which nothing of this machine's own keyrings can be seen or changed.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        for (program, package) in [
            ("dbus-run-session", "dbus"),
            ("gnome-keyring-daemon", "gnome-keyring"),
            ("gdbus", "libglib2.0-bin"),
        ] {
            let found = Command::new(program).arg("--version").output();
            assert!(
                found.is_ok(),
                "{program} is missing; install it: apt-get install -y {package}"
            );
        }
        Self(TempDir::new().unwrap())
    }

    /// Runs a part of a test in a new session; the keyring is started and unlocked first where asked.
    fn session(&self, test: &str, part: &str, keyring: bool) {
        let bus = self.0.path().join("bus.conf");
        std::fs::write(&bus, bare_bus(self.0.path())).unwrap();
        let start = if keyring { START } else { "" };
        self.run(
            Command::new("timeout")
                .args(["60", "dbus-run-session", "--config-file"])
                .arg(bus)
                .args([
                    "--",
                    "sh",
                    "-c",
                    &format!("{start} exec \"$0\" --exact {test} --nocapture"),
                ])
                .arg(std::env::current_exe().unwrap()),
            part,
        );
    }

    fn run(&self, command: &mut Command, part: &str) {
        let home = self.0.path();
        let output = command
            .env(INSIDE, part)
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", home)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "inside the session:\n{said}\n{failed}");
        assert!(said.contains("1 passed"), "the part did not run:\n{said}");
    }

    /// Whether any file of the keyring contains this.
    fn contains(&self, text: &str) -> bool {
        contains(self.0.path(), text.as_bytes())
    }
}

/// A bus that starts no service by itself.
fn bare_bus(folder: &Path) -> String {
    format!(
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
         \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\"><busconfig><type>session</type>\
         <listen>unix:tmpdir={}</listen><policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
         <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
        folder.display()
    )
}

fn contains(folder: &Path, needle: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            return contains(&entry.path(), needle);
        }
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle)
    })
}

/// The daemon goes to the background before it can be reached; `gdbus` waits for the bus to know its name.
const START: &str = "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; \
                     gdbus wait --session --timeout 20 org.freedesktop.secrets;";

/// The same, for a keyring that a test started itself.
fn wait_for_the_keyring() {
    let arguments = ["wait", "--session", "--timeout", "20", "org.freedesktop.secrets"];
    assert!(Command::new("gdbus").args(arguments).status().unwrap().success());
}

fn key(keychain: &Keychain, account: &str) -> Option<String> {
    keychain.get(account).unwrap().map(|key| key.expose_secret().to_owned())
}

#[test]
fn keeps_replaces_shows_and_forgets_a_key() {
    if inside().is_none() {
        let home = Home::new();
        home.session("keeps_replaces_shows_and_forgets_a_key", "all", true);
        assert!(!home.contains(KEY), "the key lies in a file as it is");
        return;
    }
    let keychain = Keychain::default();
    assert_eq!(key(&keychain, "a"), None);
    assert_eq!(keychain.info("a").unwrap(), None);
    keychain.delete("a").unwrap();
    keychain.set("a", &"first".into(), 1_000).unwrap();
    keychain.set("b", &"other".into(), 2_000).unwrap();
    keychain.set("a", &KEY.into(), 3_000).unwrap();
    assert_eq!(key(&keychain, "a").as_deref(), Some(KEY));
    // Another connection, as after the app was started again.
    let again = Keychain::default();
    let expected = KeyInfo {
        account: "a".to_owned(),
        last4: Some("7890".to_owned()),
        added_at_ms: Some(3_000),
        source: KeySource::Keychain,
    };
    assert_eq!(again.info("a").unwrap(), Some(expected));
    again.delete("a").unwrap();
    assert_eq!(key(&keychain, "a"), None);
    assert_eq!(key(&keychain, "b").as_deref(), Some("other"));
}

#[test]
fn works_again_when_the_keyring_is_started_later() {
    const NAME: &str = "works_again_when_the_keyring_is_started_later";
    if inside().is_none() {
        return Home::new().session(NAME, "all", false);
    }
    let keychain = Keychain::default();
    let error = keychain.get("a").unwrap_err();
    assert!(matches!(error, KeyStoreError::Unavailable(_)), "{error:?}");
    assert!(error.to_string().contains("no keyring program is running"), "{error}");
    let mut daemon = Command::new("gnome-keyring-daemon")
        .args(["--unlock", "--components=secrets"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    daemon.stdin.take().unwrap().write_all(b"pw").unwrap();
    assert!(daemon.wait().unwrap().success());
    wait_for_the_keyring();
    keychain.set("a", &KEY.into(), 1).unwrap();
    assert_eq!(key(&keychain, "a").as_deref(), Some(KEY));
}

#[test]
fn says_that_the_keyring_is_locked() {
    const NAME: &str = "says_that_the_keyring_is_locked";
    match inside().as_deref() {
        None => {
            let home = Home::new();
            home.session(NAME, "store", true);
            home.session(NAME, "locked", false);
        }
        Some("store") => Keychain::default().set("a", &KEY.into(), 1).unwrap(),
        Some(_) => {
            let started = Command::new("gnome-keyring-daemon")
                .args(["--start", "--components=secrets"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(started.unwrap().success());
            wait_for_the_keyring();
            let keychain = Keychain::default();
            for error in [
                keychain.get("a").map(|_| ()).unwrap_err(),
                keychain.info("a").map(|_| ()).unwrap_err(),
                keychain.set("b", &KEY.into(), 2).unwrap_err(),
                keychain.set("a", &KEY.into(), 2).unwrap_err(),
            ] {
                assert!(matches!(error, KeyStoreError::Locked(_)), "{error:?}");
            }
        }
    }
}

#[test]
fn says_that_there_is_no_bus() {
    const NAME: &str = "says_that_there_is_no_bus";
    if inside().is_none() {
        let home = Home::new();
        let nowhere = format!("unix:path={}", home.0.path().join("nothing").display());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", NAME, "--nocapture"])
            .env("DBUS_SESSION_BUS_ADDRESS", nowhere);
        return home.run(&mut command, "all");
    }
    let error = Keychain::default().get("a").unwrap_err();
    assert!(matches!(error, KeyStoreError::Unavailable(_)), "{error:?}");
    assert!(error.to_string().contains("there is no D-Bus session"), "{error}");
}
