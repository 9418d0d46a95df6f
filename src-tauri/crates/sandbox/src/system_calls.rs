//! What a command may ask of the kernel: everything that ordinary programs ask, without what leads out of the sandbox
//! past its rules for files.
//!
//! Landlock knows nothing of modes, owners and times of files, nor of sockets other than TCP's. So changes of the former
//! do nothing and say that they did: copying and unpacking set them as a matter of course, and would fail over it.
//! Sockets cannot be had at all without the network; those of this machine (D-Bus, agents of keys, the window) never.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// What the filter depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Whether the network is granted.
    pub(crate) network: bool,
    /// The version of Landlock's rules that hold besides.
    pub(crate) landlock: u8,
    /// The process of the app.
    pub(crate) app: u32,
    /// This process.
    pub(crate) keeper: u32,
}

/// System calls by number, each with the conditions of which one must hold; none hold always.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// Puts the filter on this thread and everything that is started from it.
pub(crate) fn filter(rules: Rules) -> Result<(), String> {
    for program in programs(rules).map_err(|error| error.to_string())? {
        apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn programs(rules: Rules) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut programs = Vec::new();
    if cfg!(target_arch = "x86_64") {
        programs.push(no_other_numbers());
    }
    for (calls, errno) in [
        (refused(rules)?, libc::EPERM),
        (unknown(rules), libc::ENOSYS),
        (unsupported()?, libc::EOPNOTSUPP),
        (without_effect(), 0),
    ] {
        let refuse = SeccompAction::Errno(errno.unsigned_abs());
        programs.push(SeccompFilter::new(calls, SeccompAction::Allow, refuse, arch)?.try_into()?);
    }
    Ok(programs)
}

/// A second set of numbers for the same calls, which the other filters would not recognise: x86-64's x32.
fn no_other_numbers() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const IS_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, 0),
        step(IS_AT_LEAST, 0, 1, 0x4000_0000),
        step(RETURN, 0, 0, ERRNO | libc::ENOSYS as u32),
        step(RETURN, 0, 0, ALLOW),
    ]
}

fn always(calls: &[i64]) -> Calls {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// What programs find missing on older kernels too, and then do otherwise.
fn unknown(rules: Rules) -> Calls {
    let mut calls = vec![
        // What it asks for lies in memory, where a filter cannot look; `clone` does the same in the open.
        libc::SYS_clone3,
        // Sockets and more, past every filter.
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ];
    if rules.landlock < 3 {
        calls.push(libc::SYS_openat2);
    }
    always(&calls)
}

/// Changes of modes, owners and times.
fn without_effect() -> Calls {
    let mut calls = vec![
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        FCHMODAT2,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
    ]);
    calls.sort_unstable();
    always(&calls)
}

/// Attributes of files, which many file systems do not have.
fn unsupported() -> Result<Calls, seccompiler::BackendError> {
    let mut calls = always(&[
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        SETXATTRAT,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        REMOVEXATTRAT,
        FILE_SETATTR,
    ]);
    // Flags of files (as chattr sets them) and sealing them for good.
    let flags = [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4080_6685];
    calls.insert(libc::SYS_ioctl, any(1, &flags)?);
    Ok(calls)
}

fn refused(rules: Rules) -> Result<Calls, seccompiler::BackendError> {
    let mut calls = always(REFUSED);
    calls.insert(libc::SYS_clone, flags(0, NAMESPACES)?);
    // Words put into somebody else's terminal.
    calls.insert(libc::SYS_ioctl, any(1, &[0x5412, 0x541c])?);
    // Other processes' limits and turns; 0 is one's own.
    for (call, whose) in [
        (libc::SYS_prlimit64, 0),
        (libc::SYS_sched_setscheduler, 0),
        (libc::SYS_sched_setparam, 0),
        (libc::SYS_sched_setattr, 0),
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_setpriority, 1),
        (libc::SYS_ioprio_set, 1),
    ] {
        calls.insert(call, vec![SeccompRule::new(vec![is_not(whose, 0)?])?]);
    }
    calls.insert(libc::SYS_socket, sockets(rules.network)?);
    if rules.landlock < 3 {
        no_cutting(&mut calls)?;
    }
    if rules.landlock < 6 {
        no_signals(&mut calls, rules)?;
    }
    Ok(calls)
}

/// Without the network there are no sockets; with it those of the Internet, and the one that resolving names needs.
fn sockets(network: bool) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    if !network {
        return Ok(Vec::new());
    }
    let (four, six, link) = (libc::AF_INET as u64, libc::AF_INET6 as u64, libc::AF_NETLINK as u64);
    let mut rules = vec![
        SeccompRule::new(vec![is_not(0, four)?, is_not(0, six)?, is_not(0, link)?])?,
        SeccompRule::new(vec![is(0, link)?, is_not(2, libc::NETLINK_ROUTE as u64)?])?,
    ];
    for family in [four, six] {
        // Raw packets and what nobody asks for: anything but streams (1) and datagrams (2).
        for kind in [0, 3, 4, 5, 6, 10] {
            rules.push(SeccompRule::new(vec![is(0, family)?, masked(1, 0xf, kind)?])?);
        }
    }
    Ok(rules)
}

/// Cutting a file short: older rules of Landlock do not see it when the file is opened for reading.
fn no_cutting(calls: &mut Calls) -> Result<(), seccompiler::BackendError> {
    let mask = (libc::O_ACCMODE | libc::O_TRUNC) as u64;
    let cut = libc::O_TRUNC as u64;
    calls.insert(libc::SYS_truncate, Vec::new());
    calls.insert(libc::SYS_openat, vec![SeccompRule::new(vec![masked(2, mask, cut)?])?]);
    #[cfg(target_arch = "x86_64")]
    calls.insert(libc::SYS_open, vec![SeccompRule::new(vec![masked(1, mask, cut)?])?]);
    Ok(())
}

/// Signals to others: older rules of Landlock do not see them. What is left are a group's to itself and a process's to
/// its own threads; a process cannot be told from another here, so that only app and keeper are out of reach for sure.
fn no_signals(calls: &mut Calls, rules: Rules) -> Result<(), seccompiler::BackendError> {
    calls.insert(libc::SYS_kill, vec![SeccompRule::new(vec![is_not(0, 0)?])?]);
    for call in [libc::SYS_tkill, libc::SYS_pidfd_send_signal] {
        calls.insert(call, Vec::new());
    }
    let ours = [u64::from(rules.app), u64::from(rules.keeper)];
    calls.insert(libc::SYS_tgkill, any(0, &ours)?);
    calls.insert(libc::SYS_rt_tgsigqueueinfo, any(0, &ours)?);
    // Signals about files, sent to whom one likes.
    let owners = [libc::F_SETOWN as u64, 15, 10];
    calls.insert(libc::SYS_fcntl, any(1, &owners)?);
    Ok(())
}

fn condition(argument: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, value)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// One of these values.
fn any(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    values
        .iter()
        .map(|value| SeccompRule::new(vec![is(argument, *value)?]))
        .collect()
}

/// One of these bits.
fn flags(argument: u8, bits: &[u64]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    bits.iter()
        .map(|bit| SeccompRule::new(vec![masked(argument, *bit, *bit)?]))
        .collect()
}

/// Bits of `clone` that make a world of one's own: mounts, control groups, names, messages, users, processes, network.
const NAMESPACES: &[u64] = &[
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];

// Calls that are younger than the tables of numbers; they are the same on every architecture.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// What no ordinary program asks for.
const REFUSED: &[i64] = &[
    // Looking into and steering other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    // A signal that says it comes from somebody else.
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    // Other views of the files.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Keys that the kernel keeps, and memory and messages that are shared by number.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgctl,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // The machine itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    #[cfg(not(target_arch = "riscv64"))]
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_can_be_built() {
        for network in [false, true] {
            for landlock in 0..8 {
                let rules = Rules {
                    network,
                    landlock,
                    app: 1,
                    keeper: 2,
                };
                assert!(programs(rules).unwrap().len() >= 4);
            }
        }
    }
}
