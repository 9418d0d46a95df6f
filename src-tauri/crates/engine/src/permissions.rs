//! What the envelope allows: a pure decision. The workspace enforces it again with handles.

use contract::access::{Access, Decision, Envelope, Granted};

/// Whether this access is inside the envelope. Where a path leads is the workspace's to know; it
/// refuses what leaves the folder.
pub fn decide(envelope: &Envelope, access: &Access) -> Decision {
    match access {
        Access::Read { .. } | Access::WriteScratchpad => Decision::Allow,
        Access::Write { .. } if envelope.write => Decision::Allow,
        Access::Write { path } => Decision::Deny(format!(
            "this run may read the folder, but not change files in it (it wanted to write \"{path}\")"
        )),
        Access::Execute { command } => Decision::Deny(format!(
            "this run may not run commands (it wanted to run \"{command}\")"
        )),
        Access::Network { host, .. } => Decision::Deny(format!(
            "this run may not ask other computers (it wanted to ask \"{host}\")"
        )),
    }
}

/// What a run inside this envelope may touch.
pub fn granted(envelope: &Envelope) -> Granted {
    let folder = || vec![envelope.folder.clone()];
    Granted {
        folder: envelope.folder.clone(),
        read: folder(),
        write: if envelope.write { folder() } else { Vec::new() },
        ..Granted::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(write: bool) -> Envelope {
        Envelope {
            folder: "/home/ada/expenses".to_owned(),
            write,
            max_tokens: 1,
            max_cycles: 1,
        }
    }

    #[test]
    fn a_reading_run_may_not_write() {
        let access = Access::Write {
            path: "report.md".to_owned(),
        };
        assert_eq!(decide(&envelope(true), &access), Decision::Allow);
        assert!(matches!(decide(&envelope(false), &access), Decision::Deny(reason) if reason.contains("report.md")));
    }
}
