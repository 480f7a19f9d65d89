"""Builds the bubblewrap command line for the walls."""

import functools
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from midwatch.errors import Unavailable
from midwatch.ports.room import TREE_INSIDE
from midwatch.workshop.sandbox.walls import inside, seccomp
from midwatch.workshop.sandbox.walls.spec import HOME_INSIDE, SandboxLimits, SandboxSpec

CONTROL_FD, ARGS_FD, FILTER_FD, FIRST_FILE_FD = 19, 20, 21, 22
INSIDE: Final = "/sbx/inside.py"

SYSTEM: Final = ("/usr", "/nix/store")
LINKS: Final = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
# Never all of /etc/ssl or /etc/pki: where the server runs as root, its private keys would be the agent's to read.
ETC: Final = tuple(
    f"/etc/{name}"
    for name in (
        *("ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ca-certificates", "pki/ca-trust", "pki/tls/certs"),
        *("pki/tls/cert.pem", "pki/tls/openssl.cnf", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
        *("localtime", "crypto-policies"),
    )
)
FILES: Final = {
    "/etc/passwd": f"agent:x:1000:1000:agent:{HOME_INSIDE}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "agent:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sbx\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
# To the kernel, a server that runs as root owns these, whatever its number inside. bwrap covers what it thinks it could
# write, but tests only the folder: /proc/sys is not writable, so core_pattern in it, a way out as root, stayed open.
MASKED_FOLDERS: Final = ("acpi", "asound", "bus", "driver", "dynamic_debug", "fs", "irq", "pressure", "scsi", "tty")
MASKED_FILES: Final = (
    *("kcore", "keys", "key-users", "kmsg", "kpagecount", "kpageflags", "kpagecgroup", "latency_stats", "mtrr"),
    *("sched_debug", "slabinfo", "timer_list", "timer_stats", "vmallocinfo", "swaps", "config.gz", "kallsyms"),
)


@dataclass(frozen=True, slots=True)
class BubblewrapPlan:
    """A command line for bwrap, and the content of each descriptor it reads."""

    argv: tuple[str, ...]
    files: dict[int, bytes]


@functools.cache
def program() -> str:
    """Find bwrap, or raise Unavailable."""
    found = shutil.which("bwrap")
    if found is None:
        raise Unavailable("bubblewrap is not installed.", hint="Install the package `bubblewrap` and start again.")
    return found


@functools.cache
def _can_disable_namespaces(bwrap: str) -> bool:
    """Return whether this bwrap is new enough (0.8), and not setuid, where it cannot."""
    if Path(bwrap).stat().st_mode & stat.S_ISUID:
        return False
    said = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False, timeout=60, env={}, cwd="/")
    return "--disable-userns" in said.stdout + said.stderr


def plan(walls: SandboxSpec, argv: Sequence[str], *, machine: str, environment: dict[str, str]) -> BubblewrapPlan:
    """Build the walls; host paths and the environment go through a descriptor, so that no process list shows them."""
    bwrap = program()
    files = {FILTER_FD: seccomp.program(machine), FIRST_FILE_FD: Path(inside.__file__).read_bytes()}
    files |= {FIRST_FILE_FD + 1 + number: text.encode() for number, text in enumerate(FILES.values())}
    python, python_folder = _python()
    words = [
        *_apart(bwrap, terminal=walls.terminal),
        *(word for key, value in environment.items() for word in ("--setenv", key, value)),
        *_system(),
        *_kernel_files(),
        *_rooms(walls),
        *("--perms", "0444", "--ro-bind-data", str(FIRST_FILE_FD), INSIDE),
        *_etc(),
        *(("--ro-bind", python_folder, python_folder) if python_folder else ()),
        *_lent(walls),
        # /proc too: who can write /proc/1/mem, or the memory of the shell between, says how a command ended.
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", str(TREE_INSIDE), "--seccomp", str(FILTER_FD)),
    ]
    files[ARGS_FD] = b"".join(word.encode() + b"\0" for word in words)
    control = CONTROL_FD if walls.ports else -1
    first = [python, "-I", "-S", INSIDE, str(control), ",".join(map(str, walls.ports)), str(walls.limits.processes)]
    return BubblewrapPlan(argv=(bwrap, "--args", str(ARGS_FD), "--", *first, "--", *argv), files=files)


def _apart(bwrap: str, *, terminal: bool) -> tuple[str, ...]:
    """Share no namespace, keep no capability, and end with the starter (which must not be a short-lived thread)."""
    closed = ("--disable-userns", "--assert-userns-disabled") if _can_disable_namespaces(bwrap) else ()
    person = ("--uid", "1000", "--gid", "1000", "--hostname", "sbx")
    bounds = ("--die-with-parent", "--cap-drop", "ALL", "--clearenv")
    # Only the job can type into its own terminal, and the filter refuses even that.
    session = () if terminal else ("--new-session",)
    return ("--unshare-all", "--unshare-user", *closed, *person, *bounds, *session)


def _system() -> Iterator[str]:
    for folder in SYSTEM:
        yield from ("--ro-bind-try", folder, folder)
    for name in LINKS:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    for name in ETC:
        yield from ("--ro-bind-try", name, name)


def _kernel_files() -> Iterator[str]:
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
    for name in MASKED_FOLDERS:
        if Path("/proc", name).is_dir():
            yield from ("--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")
    for name in MASKED_FILES:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")


def _rooms(walls: SandboxSpec) -> Iterator[str]:
    limits: SandboxLimits = walls.limits
    for own, place, size in ((walls.tmp, "/tmp", limits.tmp_bytes), (walls.home, str(HOME_INSIDE), limits.home_bytes)):  # noqa: S108 - inside
        yield from ("--bind", str(own.resolve()), place) if own else ("--size", str(size), "--tmpfs", place)
    yield from ("--size", str(limits.shm_bytes), "--tmpfs", "/dev/shm")  # noqa: S108 - inside
    yield from ("--ro-bind" if walls.tree_read_only else "--bind", str(walls.tree.resolve()), str(TREE_INSIDE))
    for path, place in walls.on_the_tree():
        yield from ("--ro-bind", str(path.resolve()), place)
    for name in walls.scratch:
        yield from ("--size", str(limits.tmp_bytes), "--tmpfs", f"{TREE_INSIDE}/{name}")


def _etc() -> Iterator[str]:
    for number, name in enumerate(FILES):
        yield from ("--perms", "0444", "--ro-bind-data", str(FIRST_FILE_FD + 1 + number), name)


def _lent(walls: SandboxSpec) -> Iterator[str]:
    for path, writing in walls.lent():
        if not path.is_relative_to("/usr"):
            yield from ("--bind" if writing else "--ro-bind", str(path.resolve()), str(path))


def _python() -> tuple[str, str]:
    """Choose the Python for the first process, and the folder to mount if it is not the system's."""
    system = Path("/usr/bin/python3")
    return (str(system), "") if system.exists() else (str(Path(sys.executable).resolve()), sys.base_prefix)
