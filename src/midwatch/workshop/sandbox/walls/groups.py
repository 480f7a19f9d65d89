"""A cgroup around one tree of processes: limits how many there are, and ends them all, however they fork.

Standard library only: `threshold.py` loads it by path, and the holder, which uses it, outlives upgrades. A group is
named for the first process of its tree, by number and start, so that the starter of that process knows the name.
Paths are plain text: every step into the walls would have to load `pathlib` first.
"""

import os

CGROUPS = "/sys/fs/cgroup"


def join(processes: int, memory: int) -> None:
    """Limit all that this process will start, where this machine allows it: as root, or in a delegated group."""
    above, memory_too = parent()
    if above is None:
        return
    for _ in range(3):  # another threshold may remove our group before we are in it
        try:
            _sweep(above)
            group = f"{above}/{_name(os.getpid())}"
            if not os.path.isdir(group):  # noqa: PTH112
                os.mkdir(group)  # noqa: PTH102
            _write(group, "pids.max", processes)
            if memory_too:
                _write(group, "memory.max", memory)
            _write(group, "cgroup.procs", os.getpid())
        except OSError:
            continue
        return


def group_of(pid: int) -> str | None:
    """Name the group that a living process of Midwatch has or would join; None where no group can be made."""
    above, _ = parent()
    try:
        return f"{above}/{_name(pid)}" if above is not None and os.access(above, os.W_OK) else None
    except OSError:
        return None


def shut(group: str) -> None:
    """Forbid the group to fork, and end all of it where the kernel does that in one step."""
    for name, word in (("pids.max", 0), ("cgroup.kill", 1)):
        try:
            _write(group, name, word)
        except OSError:
            continue


def members(group: str) -> set[int]:
    """List the processes in the group, and in the groups that one of them made below it."""
    found: set[int] = set()
    for folder in _with_all_below(group):
        try:
            found.update(int(line) for line in _read(f"{folder}/cgroup.procs").split())
        except (OSError, ValueError):
            continue
    return found - {0}  # 0 is a process of another pid namespace, which we cannot see


def remove(group: str) -> None:
    """Remove an empty group, and the empty ones below it."""
    for folder in reversed(_with_all_below(group)):
        try:
            os.rmdir(folder)  # noqa: PTH106
        except OSError:
            continue


def _with_all_below(group: str) -> list[str]:
    """List a group and those below it, each after the one above; not by recursion, because a process may nest them."""
    groups = [group]
    for folder in groups:  # it grows while we read it
        try:
            with os.scandir(folder) as found:
                groups += [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return groups


def _name(pid: int) -> str:
    stat = _read(f"/proc/{pid}/stat")
    return f"midwatch-{pid}-{int(stat[stat.rindex(')') + 2 :].split()[19])}"


def parent() -> tuple[str | None, bool]:
    """Find where our groups are, and whether they can limit memory too."""
    lines = [line.split(":", 2) for line in _read("/proc/self/cgroup").splitlines()]
    for _, controllers, path in lines:
        if "pids" in controllers.split(","):
            return f"{CGROUPS}/{controllers}{path}".rstrip("/"), False
    for _, controllers, path in lines:
        # A group with processes cannot have limited groups below it, so ours is beside the one we are in.
        beside = f"{CGROUPS}{path}".rpartition("/")[0] if path != "/" else CGROUPS
        switches = f"{beside}/cgroup.subtree_control"
        if not controllers and os.path.exists(switches):  # noqa: PTH110
            on = _read(switches).split()
            if "pids" in on:
                return beside, "memory" in on
    return None, False


def _sweep(above: str) -> None:
    """Remove groups whose processes have all ended while no process waited for them."""
    for name in os.listdir(above):  # noqa: PTH208
        if name.startswith("midwatch-"):
            remove(f"{above}/{name}")


def _read(place: str) -> str:
    with open(place, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        return file.read()


def _write(group: str, name: str, value: int) -> None:
    with open(f"{group}/{name}", "r+", encoding="ascii") as file:  # noqa: PTH123
        file.write(str(value))
