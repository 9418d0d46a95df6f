//! What of the files a command reaches: the kernel's own rules, put on one thread and inherited by everything that is
//! started from it. They cannot be taken off again.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};

use crate::order::Order;

/// What every command may read: the programs of the system and what they need to start. Files of the system that may
/// hold secrets are not among them.
pub(crate) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/libreoffice",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/etc/xdg",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/dev/random",
    "/dev/urandom",
];

/// Devices that are nothing.
const NOTHING: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Whether a command may read what lies here, and so run a program of it.
pub(crate) fn readable(order: &Order, path: &Path) -> bool {
    let granted = order.read.iter().chain(&order.write).map(String::as_str);
    SYSTEM
        .iter()
        .copied()
        .chain(granted)
        .any(|place| path.starts_with(place))
}

/// Puts this thread under the rules of an order, and says which version of them holds; none where there is no Landlock.
pub(crate) fn shut_in(order: &Order, private: &Path) -> Result<Option<u8>, String> {
    let wanted = ABI::from(i32::from(order.ways.landlock.min(7)));
    if wanted == ABI::Unsupported {
        return Ok(None);
    }
    let restricted = rules(order, private, wanted)?.restrict_self().map_err(in_words)?;
    let LandlockStatus::Available { effective_abi, .. } = restricted.landlock else {
        return Ok(None);
    };
    if restricted.ruleset == RulesetStatus::NotEnforced || !restricted.no_new_privs {
        return Ok(None);
    }
    Ok(Some((effective_abi as i32).min(wanted as i32) as u8))
}

fn rules(order: &Order, private: &Path, abi: ABI) -> Result<RulesetCreated, String> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .map_err(in_words)?;
    if !order.network && !AccessNet::from_all(abi).is_empty() {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(in_words)?;
    }
    if abi as i32 >= ABI::V6 as i32 {
        ruleset = ruleset.scope(Scope::from_all(abi)).map_err(in_words)?;
    }
    let read = AccessFs::from_read(abi);
    let change = changes(abi);
    let mut created = ruleset
        .create()
        .map_err(in_words)?
        .add_rules(path_beneath_rules(SYSTEM, read))
        .map_err(in_words)?
        .add_rules(path_beneath_rules(NOTHING, AccessFs::ReadFile | AccessFs::WriteFile))
        .map_err(in_words)?
        .add_rules(path_beneath_rules([private], change))
        .map_err(in_words)?;
    for (places, access) in [(&order.read, read), (&order.write, change)] {
        for place in places {
            let (opened, is_file) = open(place)?;
            let access = if is_file {
                access & AccessFs::from_file(abi)
            } else {
                access
            };
            created = created.add_rule(PathBeneath::new(opened, access)).map_err(in_words)?;
        }
    }
    Ok(created)
}

/// Everything but making devices and sockets, and talking to devices.
fn changes(abi: ABI) -> BitFlags<AccessFs> {
    let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev;
    AccessFs::from_all(abi) & !never
}

/// Opens what was granted. A link in its path means that it is not what was granted any more.
fn open(place: &str) -> Result<(OwnedFd, bool), String> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let opened = openat2(AT_FDCWD, place, how).map_err(|error| format!("\"{place}\" cannot be granted: {error}"))?;
    let is_file = std::fs::symlink_metadata(place).is_ok_and(|there| !there.is_dir());
    Ok((opened, is_file))
}

fn in_words(error: RulesetError) -> String {
    format!("Landlock refused its rules: {error}")
}
