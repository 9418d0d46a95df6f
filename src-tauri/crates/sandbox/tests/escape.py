# Ways out that no shell knows. Prints ESCAPED when the kernel did what was asked, or would have with better arguments.
import ctypes, errno, os, platform, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP)


def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), *arguments), ctypes.get_errno()


def reach(x86, arm, *arguments):
    """A call that no command should get through to; its arguments are harmless."""
    result, error = call(x86 if X86 else arm, *arguments)
    if result >= 0 or error not in REFUSED:
        print("ESCAPED", x86, result, error)


def sock(family, kind, protocol=0):
    s = socket.socket(family, kind, protocol)
    print("ESCAPED: a socket")
    return s


def outside(name):
    return os.path.join(OUTSIDE, name)


def o_tmpfile():
    fd = os.open(OUTSIDE, os.O_TMPFILE | os.O_WRONLY, 0o600)
    os.write(fd, b"x")
    call(265 if X86 else 37, -100, f"/proc/self/fd/{fd}".encode(), -100, outside("new").encode(), 0x400)


def link_in():
    fd = os.open(outside("canary"), os.O_PATH)
    call(265 if X86 else 37, -100, f"/proc/self/fd/{fd}".encode(), -100, b"hard", 0x400)
    open("hard", "w").write("x")


def cut_while_reading():
    os.open(outside("readable"), os.O_RDONLY | os.O_TRUNC)


def exchange():
    open("mine", "w").write("x")
    libc.renameat2(-100, b"mine", -100, outside("canary").encode(), 2)


def device():
    os.mknod("device", 0o600 | 0o060000, os.makedev(7, 0))
    print("ESCAPED: a device")


def memory_of(victim):
    with open(f"/proc/{victim}/maps") as maps:
        print("ESCAPED", maps.readline())


def sigio(victim):
    import fcntl
    read, write = os.pipe()
    fcntl.fcntl(read, 10, 9)  # F_SETSIG: SIGKILL
    fcntl.fcntl(read, fcntl.F_SETOWN, victim)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write, b"x")


def pidfd_signal(victim):
    fd = os.pidfd_open(victim)
    import signal
    signal.pidfd_send_signal(fd, 9)


def limit(victim):
    import resource
    resource.prlimit(victim, resource.RLIMIT_CORE, (123456, 123456))


def send(family, address, kind=socket.SOCK_STREAM):
    s = sock(family, kind)
    s.settimeout(5)
    if kind == socket.SOCK_DGRAM:
        s.sendto(b"x", address)
    else:
        s.connect(address)


def fast_open(port):
    s = sock(socket.AF_INET, socket.SOCK_STREAM)
    s.sendto(b"x", 0x20000000, ("127.0.0.1", port))


def double_fork():
    for _ in range(3):
        if os.fork():
            os._exit(0)
        os.setsid()
    os.close(0), os.close(1), os.close(2)
    import time
    while True:
        time.sleep(600)


def fork_chain():
    if os.fork():
        os._exit(0)
    os.setsid()
    for _ in range(100000):
        if os.fork():
            os._exit(0)


NAME, OUTSIDE, VICTIM, APP, PORT, SOCKET = sys.argv[1:7]
VICTIM, APP, PORT = int(VICTIM), int(APP), int(PORT)
NULL = ctypes.c_void_p(0)

WAYS = {
    # Files.
    "o_tmpfile": o_tmpfile,
    "link_in": link_in,
    "cut_while_reading": cut_while_reading,
    "exchange": exchange,
    "truncate": lambda: os.truncate(outside("canary"), 0),
    "chown": lambda: os.chown(outside("canary"), os.getuid() + 1, -1),
    "utime": lambda: os.utime(outside("canary"), (1, 1)),
    "fchmodat2": lambda: call(452, -100, outside("canary").encode(), 0o777, 0),
    "fchmod": lambda: os.fchmod(os.open(outside("readable"), os.O_RDONLY), 0o777),
    "futimens": lambda: os.utime(os.open(outside("readable"), os.O_RDONLY), (1, 1)),
    "xattr": lambda: os.setxattr(outside("canary"), "user.x", b"x") or print("ESCAPED"),
    "openat2": lambda: call(437, -100, outside("new").encode(), ctypes.create_string_buffer(struct.pack("QQQ", 0o101, 0o600, 0)), 24),
    "device": device,
    "handle": lambda: reach(303, 264, -100, OUTSIDE.encode(), NULL, NULL, 0),
    # Other processes.
    "memory": lambda: memory_of(VICTIM),
    "vm_readv": lambda: reach(310, 270, VICTIM, NULL, 0, NULL, 0, 0),
    "ptrace": lambda: reach(101, 117, 0x4206, VICTIM, NULL, NULL),
    "traceme": lambda: reach(101, 117, 0, 0, NULL, NULL),
    "pidfd_getfd": lambda: reach(438, 438, -1, 0, 0),
    "pidfd_signal": lambda: pidfd_signal(VICTIM),
    "tgkill": lambda: call(234 if X86 else 131, APP, APP, 0)[0] == 0 and print("ESCAPED"),
    "sigqueue": lambda: reach(129, 138, VICTIM, 0, NULL),
    "sigio": lambda: sigio(VICTIM),
    "limit": lambda: limit(VICTIM),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, VICTIM, 7),
    "affinity": lambda: os.sched_setaffinity(VICTIM, {0}) or print("ESCAPED"),
    "double_fork": double_fork,
    "fork_chain": fork_chain,
    # Worlds of one's own.
    "mount": lambda: reach(165, 40, NULL, NULL, NULL, 0, NULL),
    "umount": lambda: reach(166, 39, NULL, 0),
    "chroot": lambda: reach(161, 51, b"/nowhere/at/all"),
    "pivot_root": lambda: reach(155, 41, b"/nowhere", b"/nowhere"),
    "unshare_user": lambda: reach(272, 97, 0x10000000),
    "unshare_mount": lambda: reach(272, 97, 0x00020000),
    "setns": lambda: reach(308, 268, -1, 0),
    "clone_user": lambda: reach(56, 220, 0x10000000 | 0x80000000, 0, 0, 0, 0),
    "clone3": lambda: reach(435, 435, NULL, 0),
    "fsopen": lambda: reach(430, 430, NULL, 0),
    "open_tree": lambda: reach(428, 428, -1, NULL, 0),
    "mount_setattr": lambda: reach(442, 442, -1, NULL, 0, NULL, 0),
    # Keys, shared memory, messages.
    "keyctl": lambda: reach(250, 219, 0, -3, 0),
    "add_key": lambda: reach(248, 217, NULL, NULL, NULL, 0, 0),
    "shmget": lambda: reach(29, 194, 0x7E9A, 4096, 0),
    "msgget": lambda: reach(68, 186, 0x7E9A, 0),
    "semget": lambda: reach(64, 190, 0x7E9A, 1, 0),
    "mq_open": lambda: reach(240, 180, NULL, 0, 0, NULL),
    # The machine.
    "io_uring": lambda: reach(425, 425, 0, NULL),
    "bpf": lambda: reach(321, 280, 9999, NULL, 0),
    "perf": lambda: reach(298, 241, NULL, 0, -1, -1, 0),
    "userfaultfd": lambda: reach(323, 282, 0xFFFF),
    "module": lambda: reach(313, 273, -1, NULL, 0),
    "kexec": lambda: reach(320, 294, -1, -1, 0, NULL, 0xFFFF),
    "reboot": lambda: reach(169, 142, 0, 0, 0, NULL),
    "swapon": lambda: reach(167, 224, NULL, 0),
    "hostname": lambda: reach(170, 161, NULL, -1),
    "clock": lambda: reach(227, 112, 9999, NULL),
    "quota": lambda: reach(179, 60, 0, NULL, 0, NULL),
    "fanotify": lambda: reach(300, 262, 0xFFFFFFF, 0),
    "x32": lambda: X86 and reach(0x40000000 + 41, 0, 2, 1, 0),
    # The network.
    "tcp": lambda: send(socket.AF_INET, ("127.0.0.1", PORT)),
    "tcp6": lambda: send(socket.AF_INET6, ("::1", PORT)),
    "udp": lambda: send(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_DGRAM),
    "fast_open": lambda: fast_open(PORT),
    "listen": lambda: sock(socket.AF_INET, socket.SOCK_STREAM).bind(("127.0.0.1", 0)),
    "unix": lambda: send(socket.AF_UNIX, SOCKET),
    "abstract": lambda: send(socket.AF_UNIX, "\0" + SOCKET),
    "raw": lambda: sock(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet": lambda: sock(socket.AF_PACKET, socket.SOCK_RAW),
    "netlink": lambda: sock(socket.AF_NETLINK, socket.SOCK_RAW, 16),
    "vsock": lambda: sock(40, socket.SOCK_STREAM),
    "alg": lambda: sock(38, 5),
    "mptcp": lambda: sock(socket.AF_INET, socket.SOCK_STREAM, 262),
}
WAYS[NAME]()
