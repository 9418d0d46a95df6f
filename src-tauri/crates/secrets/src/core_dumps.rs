//! Memory that a crash must not write to the disk: keys are in it.

/// Forbids the system to write this process, and those that it starts, to a file when it crashes. Where that cannot be
/// forbidden nothing is said: it is the system's own business there.
pub fn forbid() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use nix::sys::resource::{Resource, getrlimit};

    use super::*;

    #[test]
    fn a_crash_writes_no_memory_to_the_disk() {
        forbid();
        assert_eq!(getrlimit(Resource::RLIMIT_CORE), Ok((0, 0)));
    }
}
