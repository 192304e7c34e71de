"""unit - runs the program of a systemd unit as the unit says, without systemd.

    unit.py UNIT BIN ROOT group:NAME=GID... NAME=UID... [-- MORE ARGUMENTS]

Of the unit it takes the command, user, group, mask, limits, capabilities,
writable paths, address families and the filter of system calls, and puts
them in force with libseccomp and a mount namespace of its own.  Programs are
those of the folder BIN; /var/lib and /etc are those under ROOT.  What the
unit ends in EPERM kills the program here, so that nothing is hidden by a
program that goes on without.
SPDX-License-Identifier: MIT
"""
import ctypes
import errno
import os
import resource
import shlex
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p

KILL, ALLOW = 0x80000000, 0x7FFF0000
NOT_EQUAL, MASKED_EQUAL = 1, 7
PROT_WRITE, PROT_EXEC = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
NEWNS, BIND, REMOUNT, RDONLY, REC, PRIVATE = 0x20000, 4096, 32, 1, 16384, 1 << 18


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def read_unit(path):
    """Each setting with the list of its values."""
    settings = {}
    for line in open(path, encoding="ascii"):
        line = line.strip()
        if not line or line[0] in "#[":
            continue
        name, value = line.split("=", 1)
        settings.setdefault(name, []).append(value)
    return settings


def groups_of(user):
    """Which systemd adds, because the user is a member."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/systemd")
    lines = [line.split() for name in os.listdir(folder) if name.endswith(".sysusers")
             for line in open(os.path.join(folder, name), encoding="ascii")]
    return [words[2] for words in lines if words[:2] == ["m", user]]


def members(group):
    """The system calls of a group of systemd's."""
    out = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter", group],
                         capture_output=True, text=True, check=True).stdout
    names = set()
    for line in out.splitlines()[1:]:
        word = line.strip()
        if word.startswith("#") or not word:
            continue
        names |= members(word) if word.startswith("@") else {word}
    return names


def allowed_calls(settings):
    names = members("@default")
    for value in settings["SystemCallFilter"]:
        remove = value.startswith("~")
        for word in value.lstrip("~").split():
            some = members(word) if word.startswith("@") else {word}
            names = names - some if remove else names | some
    return names


def check(rc, what):
    if rc != 0:
        raise OSError(ctypes.get_errno() or -rc, what)


def add(ctx, action, name, *compares):
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return False  # of another architecture
    array = (Compare * max(1, len(compares)))(*compares)
    check(seccomp.seccomp_rule_add_array(ctypes.c_void_p(ctx), ctypes.c_uint32(action),
                                         number, len(compares), array), name)
    return True


def filter_of(settings):
    ctx = seccomp.seccomp_init(ctypes.c_uint32(KILL))
    names = allowed_calls(settings)
    count = 0
    for name in sorted(names):
        if name == "socket" and "RestrictAddressFamilies" in settings:
            for family in settings["RestrictAddressFamilies"][0].split():
                add(ctx, ALLOW, name, Compare(0, 4, FAMILIES[family], 0))
        elif name in ("mmap", "mprotect") and settings.get("MemoryDenyWriteExecute") == ["yes"]:
            both = PROT_EXEC | (PROT_WRITE if name == "mmap" else 0)
            for bits in range(0, both + 1):
                if bits & both == bits and bits != both:
                    add(ctx, ALLOW, name, Compare(2, MASKED_EQUAL, both, bits))
        elif name == "clone3":
            # Its flags cannot be looked at, so systemd says that it is not there.
            add(ctx, 0x00050000 | errno.ENOSYS, name)
        else:
            count += add(ctx, ALLOW, name)
    return ctx, count


def mount(source, target, flags):
    check(libc.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None),
          f"mount {target}")


def close_file_system(writable):
    """Everything read-only, but for these."""
    check(libc.unshare(NEWNS), "unshare")
    mount("none", "/", REC | PRIVATE)
    for path in writable:
        mount(path, path, BIND | REC)
    mount("/", "/", BIND | REMOUNT | RDONLY)


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    unit, programs, root, *users = sys.argv[1:end]
    settings = read_unit(unit)
    uids = dict(pair.split("=") for pair in users)

    def here(path):
        return root + path if path.startswith(("/var/lib/", "/etc/")) else path

    words = shlex.split(settings["ExecStart"][0])
    argv = [os.path.join(programs, os.path.basename(words[0]))]
    argv += [here(word) for word in words[1:]] + sys.argv[end + 1:]
    # Its group has no name here.
    argv = [uids.get("group:" + word, word) for word in argv]
    context, count = filter_of(settings)
    print(f"{os.path.basename(unit)}: {count} system calls", file=sys.stderr, flush=True)
    close_file_system([here(path) for path in settings["ReadWritePaths"][0].split()])
    files = int(settings["LimitNOFILE"][0])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, hard), min(files, hard)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    assert settings["CapabilityBoundingSet"] == [""]
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    os.umask(int(settings["UMask"][0], 8))
    os.setgroups([int(uids["group:" + name]) for name in groups_of(settings["User"][0])])
    os.setgid(int(uids["group:" + settings["Group"][0]]))
    os.setuid(int(uids[settings["User"][0]]))
    check(libc.prctl(38, 1, 0, 0, 0), "no new privileges")
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    for name in ("NOTIFY_SOCKET", "POOLSCOPE_MAP_BYTES"):
        if name in os.environ:
            environment[name] = os.environ[name]
    if "NOTIFY_SOCKET" in environment:
        environment["WATCHDOG_USEC"] = "200000"
        environment["WATCHDOG_PID"] = str(os.getpid())
    check(seccomp.seccomp_load(ctypes.c_void_p(context)), "seccomp")
    os.execve(argv[0], argv, environment)


main()
