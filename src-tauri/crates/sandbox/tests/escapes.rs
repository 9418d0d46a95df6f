//! R6 for commands: programs that try to get out, each held by everything that this system has and by less. After each
//! one the world beside the working folder must be as it was: files with their modes, owners and times, a process that
//! is nobody's business, and whoever listens. Whether this test would notice is seen by letting each run unheld.
//!
//! In short for every day, in full with `TEPA_SECURITY=full`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use contract::ports::commands::{CommandOutput, Commands, Containment};
use sandbox::order::Ways;
use support::{NOTHING, Place, place, sandbox, ways};

/// Words that must never be read.
const SECRET: &str = "the-swan-sleeps-at-noon";

/// Ways out in the words of a shell; `{o}` is the folder beside, `{v}` the process that is nobody's business, `{a}` the
/// app.
const SHELL: &[(&str, &str)] = &[
    ("write a new file", "echo x > {o}/new"),
    ("write over a file", "echo x > {o}/canary"),
    ("add to a file", "echo x >> {o}/canary"),
    ("copy a file out", "echo x > a; cp a {o}/copy"),
    ("move a file out", "echo x > a; mv a {o}/moved"),
    ("take a file away", "mv {o}/canary stolen"),
    ("delete a file", "rm -f {o}/canary"),
    ("make a folder", "mkdir {o}/made"),
    ("delete a folder", "rmdir {o}/empty"),
    ("write through a hard link", "ln {o}/canary hard; echo x > hard"),
    ("write through a link", "ln -s {o}/canary soft; echo x > soft"),
    ("write through a linked folder", "ln -s {o} there; echo x > there/new"),
    ("go there first", "cd {o}; echo x > new"),
    ("go up", "echo x > ../outside/new"),
    ("the root of a process", "echo x > /proc/self/root{o}/new"),
    ("the folder of a process", "echo x > /proc/self/cwd/../outside/new"),
    ("an open file again", "exec 3<{o}/readable; echo x > /proc/self/fd/3"),
    ("write in place", "printf x | dd of={o}/canary conv=notrunc"),
    ("make a pipe", "mkfifo {o}/pipe"),
    ("make a link", "ln -s x {o}/link"),
    ("change a mode", "chmod 777 {o}/canary"),
    ("change a time", "touch -d 2001-01-01 {o}/canary"),
    (
        "unpack upwards",
        "mkdir -p x/y; echo x > x/new; tar cPf t.tar x/y/../new; tar xPf t.tar --transform 's#^.*$#../outside/new#'",
    ),
    ("read a secret", "cat {o}/secret"),
    ("read a secret through a link", "ln -s {o}/secret s; cat s"),
    ("list a folder", "ls {o}"),
    ("hard link a secret", "ln {o}/secret s && cat s"),
    ("another's variables", "cat /proc/{v}/environ"),
    ("another's folder", "cat /proc/{v}/cwd/secret"),
    ("another's root", "cat /proc/{v}/root{o}/secret"),
    ("another's open files", "cat /proc/{v}/fd/0"),
    (
        "what was left open",
        "for n in 3 4 5 6 7 8 9 10 11 12 13 14 15; do cat /proc/self/fd/$n; done",
    ),
    ("end another process", "kill -9 {v}"),
    ("stop another process", "kill -STOP {v}"),
    ("reach the app", "kill -0 {a} && echo ESCAPED"),
    ("reach the keeper", "kill -0 $PPID && echo ESCAPED"),
    (
        "stay in a session of its own",
        "setsid sh -c 'sleep 600' </dev/null >/dev/null 2>&1 &",
    ),
    (
        "stay without a parent",
        "(sh -c 'sleep 600 & exec sleep 600' </dev/null >/dev/null 2>&1 &)",
    ),
    (
        "more rights",
        "grep -q 'NoNewPrivs:.*1' /proc/self/status || echo ESCAPED",
    ),
    ("the app's variables", "env | grep -q CARGO && echo ESCAPED"),
];

/// Ways out for which a shell has no words: `escape.py`.
const PYTHON: &[&str] = &[
    "o_tmpfile",
    "link_in",
    "cut_while_reading",
    "exchange",
    "truncate",
    "chown",
    "utime",
    "fchmodat2",
    "fchmod",
    "futimens",
    "xattr",
    "openat2",
    "device",
    "handle",
    "memory",
    "vm_readv",
    "ptrace",
    "traceme",
    "pidfd_getfd",
    "pidfd_signal",
    "tgkill",
    "sigqueue",
    "sigio",
    "limit",
    "nice",
    "affinity",
    "double_fork",
    "fork_chain",
    "mount",
    "umount",
    "chroot",
    "pivot_root",
    "unshare_user",
    "unshare_mount",
    "setns",
    "clone_user",
    "clone3",
    "fsopen",
    "open_tree",
    "mount_setattr",
    "keyctl",
    "add_key",
    "shmget",
    "msgget",
    "semget",
    "mq_open",
    "io_uring",
    "bpf",
    "perf",
    "userfaultfd",
    "module",
    "kexec",
    "reboot",
    "swapon",
    "hostname",
    "clock",
    "quota",
    "fanotify",
    "x32",
    "tcp",
    "tcp6",
    "udp",
    "fast_open",
    "listen",
    "unix",
    "abstract",
    "raw",
    "packet",
    "netlink",
    "vsock",
    "alg",
    "mptcp",
];

/// The world beside the working folder.
struct World {
    place: Place,
    victim: Child,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    unix: [UnixListener; 2],
    socket: String,
}

impl World {
    fn new() -> Self {
        let place = place();
        let out = |name: &str| place.outside.join(name);
        std::fs::write(out("canary"), "alive").unwrap();
        std::fs::write(out("readable"), "words").unwrap();
        std::fs::write(out("secret"), SECRET).unwrap();
        std::fs::write(out(&format!("name-{SECRET}")), "").unwrap();
        std::fs::create_dir(out("empty")).unwrap();
        std::fs::write(place.folder.join("escape.py"), include_str!("escape.py")).unwrap();
        let victim = Command::new("sleep")
            .arg("600")
            .env("TOKEN", SECRET)
            .current_dir(&place.outside)
            .stdin(std::fs::File::open(out("secret")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let tcp6 = TcpListener::bind(("::1", port)).ok();
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        let socket = place.all.path().join("socket").display().to_string();
        let hidden = SocketAddr::from_abstract_name(&socket).unwrap();
        let unix = [
            UnixListener::bind(&socket).unwrap(),
            UnixListener::bind_addr(&hidden).unwrap(),
        ];
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        if let Some(tcp6) = &tcp6 {
            tcp6.set_nonblocking(true).unwrap();
        }
        for listener in &unix {
            listener.set_nonblocking(true).unwrap();
        }
        Self {
            place,
            victim,
            tcp,
            tcp6,
            udp,
            unix,
            socket,
        }
    }

    fn shell(&self, words: &str) -> String {
        words
            .replace("{o}", &self.place.outside.display().to_string())
            .replace("{v}", &self.victim.id().to_string())
            .replace("{a}", &std::process::id().to_string())
    }

    fn python(&self, name: &str) -> String {
        let port = self.tcp.local_addr().unwrap().port();
        let words = format!("python3 escape.py {name} {{o}} {{v}} {{a}} {port} {}", self.socket);
        self.shell(&words)
    }

    /// Everything beside the folder, with what can be changed about it.
    fn beside(&self) -> BTreeMap<String, (u32, u32, i64, u64, Vec<u8>)> {
        let mut seen = BTreeMap::new();
        let mut look = |path: &Path| {
            let there = std::fs::symlink_metadata(path).unwrap();
            let bytes = if there.is_file() {
                std::fs::read(path).unwrap()
            } else {
                Vec::new()
            };
            let of = (there.mode(), there.uid(), there.mtime(), there.nlink(), bytes);
            seen.insert(path.display().to_string(), of);
        };
        for entry in std::fs::read_dir(&self.place.outside).unwrap() {
            look(&entry.unwrap().path());
        }
        seen
    }

    /// What of the process that is nobody's business can be changed.
    fn victim_now(&mut self) -> Option<String> {
        if self.victim.try_wait().unwrap().is_some() {
            return None;
        }
        let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", self.victim.id())).unwrap();
        let stat = of("stat");
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let stopped = fields[0] == "T";
        let nice = fields[16];
        let core = of("limits")
            .lines()
            .find(|line| line.contains("core"))
            .unwrap()
            .to_owned();
        let allowed = of("status")
            .lines()
            .find(|line| line.starts_with("Cpus_allowed:"))
            .unwrap()
            .to_owned();
        Some(format!("stopped {stopped}, nice {nice}, {core}, {allowed}"))
    }

    fn visits(&self) -> usize {
        let mut visits = usize::from(self.tcp.accept().is_ok());
        visits += self.tcp6.iter().filter(|listener| listener.accept().is_ok()).count();
        visits += self.unix.iter().filter(|listener| listener.accept().is_ok()).count();
        visits + usize::from(self.udp.recv(&mut [0; 8]).is_ok())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// What a program did that it must not; none when it did nothing.
async fn escaped(ways: Ways, command: impl FnOnce(&World) -> String) -> (Option<String>, Option<CommandOutput>) {
    let mut world = World::new();
    let mut request = world.place.request("");
    request.command = command(&world);
    request.read = vec![world.place.outside.join("readable").display().to_string()];
    request.uncontained = ways == NOTHING;
    let before = (world.beside(), world.victim_now());
    // Left open for whoever is started, as a library of the app's might.
    let left_open = std::fs::File::open(world.place.outside.join("secret")).unwrap();
    nix::fcntl::fcntl(&left_open, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    let done = sandbox(ways).run(request).await;
    let after = (world.beside(), world.victim_now());
    let stayed = world.place.at_work();
    let visits = world.visits();
    let done = match done {
        Ok(done) => done,
        Err(error) => return (Some(format!("it did not run: {error}")), None),
    };
    let said = format!("{}{}", done.stdout, done.stderr);
    // In bubblewrap's own world a program may do what it likes; only what is seen from outside counts.
    let says_so = done.stdout.contains("ESCAPED") && done.containment != Containment::Bubblewrap;
    let held = before == after && stayed.is_empty() && visits == 0 && !said.contains(SECRET) && !says_so;
    let carried = inside(&world.place.folder).contains(SECRET);
    let what = (!held || carried).then(|| {
        format!(
            "beside: {}, victim: {:?}, at work: {stayed:?}, visits: {visits}, said: {said}",
            if before.0 == after.0 { "as it was" } else { "changed" },
            after.1
        )
    });
    (what, Some(done))
}

/// All words in the folder itself.
fn inside(folder: &Path) -> String {
    let mut words = String::new();
    for entry in std::fs::read_dir(folder).unwrap().filter_map(Result::ok) {
        if entry.file_type().unwrap().is_file()
            && let Ok(mut file) = std::fs::File::open(entry.path())
        {
            let mut bytes = Vec::new();
            let _ = file.read_to_end(&mut bytes);
            words.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    words
}

fn full() -> bool {
    std::env::var("TEPA_SECURITY").is_ok_and(|how| how == "full")
}

async fn every_program_is_held(name: &str, ways: Ways) -> usize {
    let mut out = Vec::new();
    for (program, words) in SHELL {
        let (what, _) = escaped(ways, |world| world.shell(words)).await;
        out.extend(what.map(|what| format!("{name}: {program}: {what}")));
    }
    for program in PYTHON {
        let (what, _) = escaped(ways, |world| world.python(program)).await;
        out.extend(what.map(|what| format!("{name}: {program}: {what}")));
    }
    assert!(out.is_empty(), "{}", out.join("\n"));
    SHELL.len() + PYTHON.len()
}

#[tokio::test]
async fn no_program_gets_out() {
    let mut all = ways().await;
    if !full() {
        // The best that there is.
        let best = |(_, _, containment): &(String, Ways, Containment)| match containment {
            Containment::Landlock { abi } => i32::from(*abi),
            Containment::Bubblewrap | Containment::None => -1,
        };
        all = all.into_iter().max_by_key(best).into_iter().collect();
    }
    let mut programs = 0;
    for (name, ways, _) in &all {
        programs += every_program_is_held(name, *ways).await;
    }
    let names: Vec<&str> = all.iter().map(|(name, _, _)| name.as_str()).collect();
    println!("R6 programs: {programs} tries under {}, 0 escapes", names.join(", "));
}

/// What is noticed when nothing holds a program: the others ask for something that an ordinary person's programs do not
/// get from the kernel anyway.
#[tokio::test]
async fn what_gets_out_is_noticed() {
    let mut unnoticed = Vec::new();
    let mut noticed = 0;
    for (program, words) in SHELL {
        match escaped(NOTHING, |world| world.shell(words)).await {
            (Some(_), _) => noticed += 1,
            (None, done) => unnoticed.push(format!("{program}: {done:?}")),
        }
    }
    for program in PYTHON {
        match escaped(NOTHING, |world| world.python(program)).await {
            (Some(_), _) => noticed += 1,
            (None, done) => unnoticed.push(format!("{program}: {done:?}")),
        }
    }
    println!(
        "mutant R6 programs without anything that holds them: {noticed} noticed\n{}",
        unnoticed.join("\n")
    );
    assert!(
        noticed >= 60,
        "only {noticed} are noticed; not these:\n{}",
        unnoticed.join("\n")
    );
}
