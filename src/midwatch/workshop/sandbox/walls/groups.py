"""A cgroup around one tree of processes: limits how many there are, and ends them all, however they fork.

Standard library only: `threshold.py` loads it by path, and the holder, which uses it, outlives upgrades. A group is
named for the first process of its tree, by number and start, so that the starter of that process knows the name.
"""

import contextlib
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def join(processes: int, memory: int) -> None:
    """Limit all that this process will start, where this machine allows it: as root, or in a delegated group."""
    above, memory_too = parent()
    if above is None:
        return
    for _ in range(3):  # another threshold may remove our group before we are in it
        with contextlib.suppress(OSError):
            _sweep(above)
            group = above / _name(os.getpid())
            group.mkdir(exist_ok=True)
            (group / "pids.max").write_text(str(processes))
            if memory_too:
                (group / "memory.max").write_text(str(memory))
            (group / "cgroup.procs").write_text(str(os.getpid()))
            return


def group_of(pid: int) -> Path | None:
    """Name the group that a living process of Midwatch has or would join; None where no group can be made."""
    above, _ = parent()
    with contextlib.suppress(OSError):
        return above / _name(pid) if above is not None and os.access(above, os.W_OK) else None
    return None


def shut(group: Path) -> None:
    """Forbid the group to fork, and end all of it where the kernel does that in one step."""
    for name, word in (("pids.max", "0"), ("cgroup.kill", "1")):
        with contextlib.suppress(OSError), (group / name).open("r+") as file:
            file.write(word)


def members(group: Path) -> set[int]:
    """List the processes in the group, and in the groups that one of them made below it."""
    found: set[int] = set()
    for folder, _, _ in os.walk(group):
        with contextlib.suppress(OSError, ValueError):
            found.update(int(line) for line in Path(folder, "cgroup.procs").read_text().split())
    return found - {0}  # 0 is a process of another pid namespace, which we cannot see


def remove(group: Path) -> None:
    """Remove an empty group, and the empty ones below it."""
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def _name(pid: int) -> str:
    stat = Path("/proc", str(pid), "stat").read_bytes()
    return f"midwatch-{pid}-{int(stat[stat.rindex(b')') + 2 :].split()[19])}"


def parent() -> tuple[Path | None, bool]:
    """Find where our groups are, and whether they can limit memory too."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        if "pids" in controllers.split(","):
            return CGROUPS / controllers / path.lstrip("/"), False
    for _, controllers, path in lines:
        # A group with processes cannot have limited groups below it, so ours is beside the one we are in.
        beside = (CGROUPS / path.lstrip("/")).parent if path != "/" else CGROUPS
        switches = beside / "cgroup.subtree_control"
        if not controllers and switches.exists() and "pids" in switches.read_text().split():
            return beside, "memory" in switches.read_text().split()
    return None, False


def _sweep(above: Path) -> None:
    """Remove groups whose processes have all ended while no process waited for them."""
    for group in above.glob("midwatch-*"):
        remove(group)
