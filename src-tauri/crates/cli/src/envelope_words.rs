//! What a run may touch, and what its task asks for besides, in words.

use contract::access::{Access, CommandGrant, Envelope, FolderGrant, HostGrant, Preset, Requests};

use crate::paint::{count, number};

/// What a run may touch, in one paragraph.
pub(crate) fn of(envelope: &Envelope) -> String {
    let changes = if envelope.write {
        "read and change files in"
    } else {
        "read files in"
    };
    let tokens = format!("{} tokens", number(envelope.max_tokens));
    let cycles = count(u64::from(envelope.max_cycles), "cycle", "cycles");
    let mut most = vec![tokens, cycles];
    most.extend(envelope.max_cost.map(|cost| format!("{cost} in money")));
    let time = |minutes: u32| format!("{} at work", count(u64::from(minutes), "minute", "minutes"));
    most.extend(envelope.max_minutes.map(time));
    let mut may = vec![format!("{changes} {}", envelope.folder)];
    may.extend(envelope.folders.iter().map(folder));
    if let CommandGrant::Listed { patterns } = &envelope.commands {
        may.push(format!("run {}", quoted(patterns)));
    }
    may.extend(
        envelope
            .command_network
            .then(|| "use the network in commands".to_owned()),
    );
    may.extend(envelope.hosts.iter().map(host));
    may.extend(envelope.search.iter().map(|host| format!("search the web at {host}")));
    may.extend(
        envelope
            .mcp_servers
            .iter()
            .map(|name| format!("use the MCP server \"{name}\"")),
    );
    // What was kept of what the file brings stands among its effects, allowed.
    let kept = envelope.kept.iter();
    may.extend(
        kept.filter(|access| !matches!(access, Access::TaskEffect { .. }))
            .map(Access::wants),
    );
    let (allowed, off): (Vec<_>, Vec<_>) = envelope.effects.iter().partition(|asked| asked.allowed);
    may.extend(allowed.iter().map(|asked| asked.effect.wants()));
    let rest = match envelope.preset {
        Preset::Careful => " It asks before everything that it changes.",
        Preset::Normal => "",
        Preset::HandsOff => " It asks about nothing: what lies outside is refused.",
    };
    let off: Vec<String> = off.iter().map(|asked| asked.effect.wants()).collect();
    let off = match off.is_empty() {
        true => String::new(),
        false => format!(" It may not {}: you did not allow it.", off.join(", or ")),
    };
    format!("It may {}; at most {}.{rest}{off}", may.join(", "), listed(&most))
}

/// Several things in one sentence, with a word before the last.
fn listed(things: &[String]) -> String {
    match things {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => things.concat(),
    }
}

/// What a task's file asks for; none when it asks for nothing.
pub(crate) fn asked(requests: &Requests) -> Option<String> {
    let mut wants: Vec<String> = requests.folders.iter().map(folder).collect();
    if !requests.commands.is_empty() {
        wants.push(format!("run {}", quoted(&requests.commands)));
    }
    wants.extend(
        requests
            .command_network
            .then(|| "use the network in commands".to_owned()),
    );
    wants.extend(requests.hosts.iter().map(host));
    wants.extend(
        requests
            .mcp_servers
            .iter()
            .map(|name| format!("use the MCP server \"{name}\"")),
    );
    (!wants.is_empty()).then(|| wants.join(", "))
}

fn folder(folder: &FolderGrant) -> String {
    let verb = if folder.write { "read and change" } else { "read" };
    format!("{verb} {}", folder.path)
}

fn host(host: &HostGrant) -> String {
    let verb = if host.change { "send to" } else { "read from" };
    format!("{verb} {}", host.host)
}

fn quoted(commands: &[String]) -> String {
    let quoted: Vec<String> = commands.iter().map(|command| format!("\"{command}\"")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_always_said_and_then_what_is_granted_besides() {
        let plain = Envelope {
            folder: "/home/zoe".to_owned(),
            write: true,
            max_tokens: 64_000,
            max_cycles: 5,
            ..Envelope::default()
        };
        assert_eq!(
            of(&plain),
            "It may read and change files in /home/zoe; at most 64,000 tokens and 5 cycles."
        );
        let limited = Envelope {
            max_cost: Some(0.5),
            max_minutes: Some(30),
            search: Some("api.search.brave.com".to_owned()),
            ..plain.clone()
        };
        assert_eq!(
            of(&limited),
            "It may read and change files in /home/zoe, search the web at api.search.brave.com; at most 64,000 tokens, 5 \
             cycles, 0.5 in money and 30 minutes at work."
        );
        let wanted = Requests {
            commands: vec!["git *".to_owned()],
            hosts: vec![HostGrant {
                host: "a.org".to_owned(),
                change: false,
                private: false,
            }],
            ..Requests::default()
        };
        assert_eq!(asked(&wanted).as_deref(), Some("run \"git *\", read from a.org"));
        assert!(of(&plain.with(wanted)).contains("/home/zoe, run \"git *\", read from a.org; at most"));
    }
}
