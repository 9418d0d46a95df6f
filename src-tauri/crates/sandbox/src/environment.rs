//! What a command is told about the world: a list of what may pass, so that no secret of the app's own surroundings
//! does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What passes as it is, besides everything that begins with `LC_`.
const PASSED: &[&str] = &["LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"];

/// Whether a variable may pass to a keeper, and from there to a command.
pub(crate) fn may_pass(name: &str) -> bool {
    PASSED.contains(&name) || name.starts_with("LC_")
}

/// The variables of a keeper: what may pass, and where programs and the temporary folder are.
pub(crate) fn of_keeper() -> Vec<(OsString, OsString)> {
    let passes = |name: &OsString| {
        name.to_str()
            .is_some_and(|name| may_pass(name) || matches!(name, "PATH" | "TMPDIR"))
    };
    std::env::vars_os().filter(|(name, _)| passes(name)).collect()
}

/// The variables of a command: what may pass, a home and a temporary folder of its own, and the folders of programs
/// that it can read. A program that is found but may not be run would stand before one that may.
pub(crate) fn of_command(home: &Path, readable: impl Fn(&Path) -> bool) -> Vec<(OsString, OsString)> {
    let passed = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(may_pass));
    let own = [
        ("HOME", home.as_os_str().to_owned()),
        ("TMPDIR", home.as_os_str().to_owned()),
        ("PATH", programs(std::env::var_os("PATH").unwrap_or_default(), readable)),
        ("TERM", OsString::from("dumb")),
        ("NO_COLOR", OsString::from("1")),
    ];
    passed
        .chain(own.map(|(name, value)| (OsString::from(name), value)))
        .collect()
}

/// What a program that a person chose is told besides: where it is, who they are, where programs are. Windows' own are
/// what programs there cannot start without.
const OF_PROGRAMS: &[&str] = &[
    "HOME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "ProgramData",
    "ProgramFiles",
    "SystemDrive",
    "SystemRoot",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// The variables of a program that is talked to, besides those it was given.
pub(crate) fn of_program() -> Vec<(String, String)> {
    let passes = |name: &str| may_pass(name) || OF_PROGRAMS.contains(&name);
    let readable = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os()
        .filter_map(readable)
        .filter(|(name, _)| passes(name))
        .collect()
}

fn programs(path: OsString, readable: impl Fn(&Path) -> bool) -> OsString {
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && std::fs::canonicalize(folder).is_ok_and(|real| readable(&real)))
        .collect();
    match std::env::join_paths(folders) {
        Ok(joined) if !joined.is_empty() => joined,
        _ => OsString::from("/usr/local/bin:/usr/bin:/bin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lets_no_secret_pass() {
        for name in [
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "LD_PRELOAD",
            "HTTPS_PROXY",
            "HOME",
        ] {
            assert!(!may_pass(name), "{name}");
        }
        assert!(may_pass("LC_ALL") && may_pass("TZ"));
        let told = of_program();
        assert!(
            told.iter()
                .all(|(name, _)| may_pass(name) || OF_PROGRAMS.contains(&name.as_str()))
        );
        assert!(
            OF_PROGRAMS
                .iter()
                .all(|name| !name.contains("KEY") && !name.contains("TOKEN"))
        );
    }

    #[test]
    fn looks_for_programs_only_where_they_can_be_read() {
        let path = OsString::from("/usr/bin:/nowhere/bin:bin:/");
        let kept = programs(path, |folder| folder.starts_with("/usr"));
        assert_eq!(kept, OsString::from("/usr/bin"));
        assert_eq!(
            programs(OsString::new(), |_| true),
            OsString::from("/usr/local/bin:/usr/bin:/bin")
        );
    }
}
