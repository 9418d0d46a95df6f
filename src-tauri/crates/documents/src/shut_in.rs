//! What the process gives up before it looks at anything: all files, the network, other programs, and more memory and
//! time than it may have. What of this a kernel does not know is left out, and said.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, Scope,
};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::close;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use crate::order::Held;

/// One of the units in which limits of memory are given, in bytes.
const MEGABYTE: u64 = 1024 * 1024;

/// The order itself can only lower limits that are this high, in MB and seconds: tests ask for more than the app does.
const BEFORE_THE_ORDER: (u64, u64) = (16 * 1024, 120);

/// The addresses that the program takes before it reads anything, in bytes.
static ADDRESSES: OnceLock<u64> = OnceLock::new();

/// Gives up everything that reading bytes does not need.
pub(crate) fn shut_in() -> Held {
    close_what_is_not_ours();
    ADDRESSES.get_or_init(address_space);
    // The rules themselves are opened like a file, so that they come first.
    let landlock = no_files().unwrap_or_default();
    let mut nothing_opens = true;
    for resource in [Resource::RLIMIT_CORE, Resource::RLIMIT_FSIZE, Resource::RLIMIT_NOFILE] {
        nothing_opens &= limit(resource, 0, 0);
    }
    let limits = lower(BEFORE_THE_ORDER.0, BEFORE_THE_ORDER.1) && nothing_opens;
    Held {
        limits,
        landlock,
        system_calls: no_calls().is_ok(),
    }
}

/// Lowers memory and time to what an order allows, and says whether they are counted. The filter lets this pass.
pub(crate) fn lower(megabytes: u64, seconds: u64) -> bool {
    let memory = megabytes.saturating_mul(MEGABYTE);
    let addresses = ADDRESSES.get().copied().unwrap_or_default();
    // What the program is made of counts as addresses, and not as what it uses: of addresses there are more.
    let data = limit(Resource::RLIMIT_DATA, memory, memory);
    let most = addresses.saturating_add(memory.saturating_mul(2));
    let all = limit(Resource::RLIMIT_AS, most, most);
    // Of the time the first limit tells, and the second one kills.
    let time = limit(Resource::RLIMIT_CPU, seconds, seconds.saturating_add(1));
    data && all && time
}

/// A limit can only be lowered.
fn limit(resource: Resource, soft: u64, hard: u64) -> bool {
    let hard = getrlimit(resource).map_or(hard, |(_, before)| before.min(hard));
    setrlimit(resource, soft.min(hard), hard).is_ok()
}

/// The addresses that are taken, in bytes.
fn address_space() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    // Where it is not known, as much as programs with a window take.
    pages.map_or(8 * 1024 * MEGABYTE, |pages| pages.saturating_mul(4096))
}

/// Whatever the app had open and forgot to keep to itself.
fn close_what_is_not_ours() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers: Vec<i32> = open
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        // One of them was the list's own, which is closed by now.
        let _ = close(number);
    }
}

/// No file, no connection, no signal to others; says which version of Landlock's rules holds.
fn no_files() -> Option<u8> {
    let abi = ABI::V6;
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(|rules| rules.create())
        .and_then(|rules| rules.restrict_self())
        .ok()?;
    match restricted.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some((effective_abi as i32).min(abi as i32) as u8),
        _ => None,
    }
}

/// Nothing of the kernel but memory, reading and writing what is open, and its own end. Everything else fails as if it
/// were forbidden, so that a library that only tries something goes on without it.
fn no_calls() -> Result<(), String> {
    let failed = |error: seccompiler::Error| error.to_string();
    let program = program().map_err(|error| error.to_string())?;
    apply_filter(&program).map_err(failed)
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut calls: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    // Memory that can be written is never run.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let not_run = condition(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0)?;
        calls.insert(call, vec![SeccompRule::new(vec![not_run])?]);
    }
    // A process ends itself by a signal to itself.
    let own = u64::from(std::process::id());
    for call in [libc::SYS_tgkill, libc::SYS_kill, libc::SYS_prlimit64] {
        let mut rules = vec![SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, own)?])?];
        if call == libc::SYS_prlimit64 {
            // Zero is one's own.
            rules.push(SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, 0)?])?);
        }
        calls.insert(call, rules);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let forbid = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(calls, forbid, SeccompAction::Allow, arch)?.try_into()
}

fn condition(argument: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, value)
}

const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_filter_can_be_built() {
        assert!(super::program().unwrap().len() > 30);
    }
}
