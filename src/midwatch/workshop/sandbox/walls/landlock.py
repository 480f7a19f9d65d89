"""Weaker walls that need no other program: Landlock for files and TCP ports, a filter for the rest.

Standard library only: `threshold.py` loads it by path. What it does not give: process names are visible, ports are
limited by number and not by address, disk and memory only by rlimits. So it allows `cautious` at most.
"""

import ctypes
import os
import stat
import struct

TYPE_CHECKING = False  # typing's own would have to be imported
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every machine
VERSION, PATH_BENEATH, NET_PORT = 1, 1, 2
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
BIND_TCP, CONNECT_TCP = 1, 2
KNOWN_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many file rights each version knows; 16 since version 5."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
READABLE = ("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/filesystems")

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 22, 2, 24, 38
CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Return the kernel's Landlock version; 0 where it has none."""
    return max(0, int(_libc.syscall(CREATE_RULESET, None, 0, VERSION)))


def confine(read: "Sequence[str]", write: "Sequence[str]", ports: "Sequence[int]", program: bytes) -> None:
    """Drop every right of this process but the named ones, for itself and all it will become or start."""
    known = version()
    if not known:
        raise OSError("this kernel has no Landlock")
    rights = (1 << KNOWN_RIGHTS.get(known, 16)) - 1
    network = BIND_TCP | CONNECT_TCP if known >= 4 else 0
    scopes = 0b11 if known >= 6 else 0  # abstract sockets and signals stay inside
    attributes = struct.pack("=QQQ", rights, network, scopes)[: 24 if scopes else 16 if network else 8]
    rules = _call(CREATE_RULESET, attributes, len(attributes), 0)
    _let(rules, write, rights & ~(MAKE_CHAR | MAKE_BLOCK))
    _let(rules, DEVICES, rights & OF_FILES)
    _let(rules, (*read, *READABLE), rights & READ)
    if network:
        for port in ports:
            _call(ADD_RULE, rules, NET_PORT, struct.pack("=QQ", CONNECT_TCP, port), 0)
    _drop_capabilities()
    _control(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(RESTRICT_SELF, rules, 0)
    os.close(rules)
    _filter_calls(program)


def _let(rules: int, paths: "Iterable[str]", rights: int) -> None:
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110 - pathlib is slow to load
            continue
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        folder = stat.S_ISDIR(os.fstat(place).st_mode)
        _call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights if folder else rights & OF_FILES, place), 0)
        os.close(place)


def _drop_capabilities() -> None:
    if os.geteuid() == 0:
        for capability in range(64):
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails after the last one this kernel has
    header, none = struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)
    if _libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "capabilities could not be dropped")


def _filter_calls(program: bytes) -> None:
    steps = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
    _control(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(head), 0, 0)


def _call(number: int, *arguments: object) -> int:
    answer = int(_libc.syscall(number, *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return answer


def _control(option: int, *arguments: object) -> None:
    if _libc.prctl(option, *arguments) < 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
