"""The kernel calls an agent never needs, refused by a filter that is assembled here."""

import errno
import struct
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from midwatch.errors import Broken

# Kernel calls by number: x86_64, aarch64. None: that machine does not have the call.
CALLS: Final[dict[str, tuple[int | None, int | None]]] = {
    # inspecting or controlling other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # parts of the kernel with many past vulnerabilities
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "modify_ldt": (154, None),
    # keyrings are not part of any namespace
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    # mounts, namespaces, and ways around paths
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "lookup_dcookie": (212, 18),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
}

NAMESPACE_FLAGS: Final = 0x7E020000  # cgroup, uts, ipc, user, pid, net, mount
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # type into, and paste on, the terminal of the viewer
UNIX, INET, INET6, NETLINK, NETLINK_ROUTE = 1, 2, 10, 16, 0
STREAM, TYPE_BITS, TCP = 1, 0xF, 6
X32_CALLS: Final = 0x40000000

ALLOW, ERRNO, KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

Step = tuple[int, int, int, int]
Block = list[Step]


class Net(StrEnum):
    """Which sockets a command may use."""

    OWN = "own"
    """Its own empty network: the usual families, because nothing answers."""
    TCP = "tcp"
    """The host's network with Landlock's port list, which covers only TCP."""
    NONE = "none"
    """The host's network, which may not be used at all."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """How one kind of processor numbers its calls."""

    column: int
    audit: int
    clone: int
    clone3: int
    ioctl: int
    socket: int


MACHINES: Final = {
    "x86_64": Architecture(column=0, audit=0xC000003E, clone=56, clone3=435, ioctl=16, socket=41),
    "aarch64": Architecture(column=1, audit=0xC00000B7, clone=220, clone3=435, ioctl=29, socket=198),
}


def program(machine: str, net: Net = Net.OWN) -> bytes:
    """Assemble the filter for a machine as `uname -m` names it, in the form bwrap and the kernel take."""
    try:
        kind = MACHINES[machine]
    except KeyError:
        raise Broken(
            f"There is no filter of kernel calls for {machine}.", hint="Run on x86_64 or aarch64, or on Landlock alone."
        ) from None
    numbers = [pair[kind.column] for pair in CALLS.values()]
    steps = [
        _step(LOAD, ARCH),
        # Another instruction set has other numbers, so the rules below would match the wrong calls.
        *_unless(EQUAL, kind.audit, [_step(RETURN, KILL_PROCESS)]),
        _step(LOAD, NUMBER),
        *_when(AT_LEAST, X32_CALLS, [_refuse(errno.ENOSYS)]),
        *(step for number in numbers if number is not None for step in _when(EQUAL, number, [_refuse(errno.EPERM)])),
        # The flags of clone3 are in memory, where a filter cannot look; without it the C library uses clone.
        *_when(EQUAL, kind.clone3, [_refuse(errno.ENOSYS)]),
        *_when(EQUAL, kind.clone, _clone()),
        *_when(EQUAL, kind.ioctl, _ioctl()),
        *_when(EQUAL, kind.socket, _socket(net)),
        _step(RETURN, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _clone() -> Block:
    return [_argument(0), *_when(ANY_BIT, NAMESPACE_FLAGS, [_refuse(errno.EPERM)]), _step(RETURN, ALLOW)]


def _ioctl() -> Block:
    refused = [step for command in (TIOCSTI, TIOCLINUX) for step in _when(EQUAL, command, [_refuse(errno.EPERM)])]
    return [_argument(1), *refused, _step(RETURN, ALLOW)]


def _socket(net: Net) -> Block:
    allow = [_step(RETURN, ALLOW)]
    families: dict[int, Block] = {}
    match net:
        case Net.OWN:
            families = {UNIX: allow, INET: allow, INET6: allow}
        case Net.TCP:
            # Multipath TCP is a stream too, and Landlock does not see it connect.
            tcp = [_argument(2), *_when(EQUAL, 0, allow), *_when(EQUAL, TCP, allow), _refuse(errno.EPERM)]
            stream = [_argument(1), _step(AND, TYPE_BITS), *_when(EQUAL, STREAM, tcp), _refuse(errno.EPERM)]
            families = {INET: stream, INET6: stream}
        case Net.NONE:
            pass
    # Without its own network a command would reach the host's sockets by path, past Landlock: no UNIX there.
    families[NETLINK] = [_argument(2), *_when(EQUAL, NETLINK_ROUTE, allow), _refuse(errno.EPERM)]
    chosen = [step for family, block in families.items() for step in _when(EQUAL, family, block)]
    return [_argument(0), *chosen, _refuse(errno.EAFNOSUPPORT)]


def _when(test: int, value: int, block: Block) -> Block:
    return [(test, 0, len(block), value), *block]


def _unless(test: int, value: int, block: Block) -> Block:
    return [(test, len(block), 0, value), *block]


def _step(code: int, value: int) -> Step:
    return code, 0, 0, value


def _argument(index: int) -> Step:
    # The low half, which is all the kernel reads of these four; both machines are little-endian.
    return _step(LOAD, ARGUMENTS + 8 * index)


def _refuse(number: int) -> Step:
    return _step(RETURN, ERRNO | number)
