"""What a command may see, write, use and reach: the walls before they are built."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from midwatch.errors import Misuse
from midwatch.ports.room import TREE_INSIDE
from midwatch.settings.work import SandboxSettings

HOME_INSIDE: Final = Path("/home/agent")
MIB: Final = 1 << 20
GIB: Final = 1 << 30

_OURS_INSIDE: Final = (TREE_INSIDE, Path("/sbx"))
_KERNEL: Final = tuple(Path(name) for name in ("/proc", "/sys", "/dev", "/run", "/var/run", "/boot"))
_NEVER_LENT: Final = (Path("/etc"), *_KERNEL)
_SYSTEM: Final = Path("/usr")
_BY_DEFAULT: Final = SandboxSettings()


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """How much of the machine one command may use; sizes are in bytes. A person sets processes and memory."""

    processes: int = _BY_DEFAULT.max_processes
    """Threads count too. For root this needs a cgroup: the kernel exempts root from the plain limit."""
    open_files: int = 4096
    file_bytes: int = 2 * GIB
    data_bytes: int = _BY_DEFAULT.memory_mib * MIB
    """Of each process; a limit on addresses instead would break Node."""
    memory_bytes: int = _BY_DEFAULT.memory_mib * MIB
    """Of all together, where a cgroup of version 2 allows it."""
    tmp_bytes: int = 512 * MIB
    home_bytes: int = 256 * MIB
    shm_bytes: int = 64 * MIB
    nice: int = 10
    written_bytes: int = _BY_DEFAULT.check_mib * MIB
    """What one check or setup may write to its checkout, its home and its cache."""
    written_files: int = _BY_DEFAULT.check_max_files
    free_bytes: int = _BY_DEFAULT.min_free_disk_mib * MIB
    """What must stay free on the disk meanwhile."""

    @classmethod
    def of(cls, sandbox: SandboxSettings) -> "SandboxLimits":
        """Take what the person set; one process alone may use the memory of all."""
        memory = sandbox.memory_mib * MIB
        return cls(
            processes=sandbox.max_processes,
            data_bytes=memory,
            memory_bytes=memory,
            written_bytes=sandbox.check_mib * MIB,
            written_files=sandbox.check_max_files,
            free_bytes=sandbox.min_free_disk_mib * MIB,
        )


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """One clone, what it may use, and its doors; everything not named here does not exist inside."""

    tree: Path
    """Writable, and called /ws inside."""
    objects: tuple[Path, ...] = ()
    """The mirror's objects, read-only at the same path, where the clone's alternates look for them."""
    read_only: tuple[Path, ...] = ()
    """Toolchains and setup caches, at the same path."""
    writable: tuple[Path, ...] = ()
    """At the same path: a setup cache while it is being filled."""
    placed: tuple[tuple[Path, str], ...] = ()
    """Read-only, in the tree under these names; only bubblewrap can do that."""
    scratch: tuple[str, ...] = ()
    """Folders in what is placed that can be written, are empty at first and gone at the end."""
    home: Path | None = None
    """The job's own folder; without one, home is in memory and gone at the end."""
    tmp: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """All of it; HOME, PATH, LANG, TMPDIR and USER have defaults."""
    ports: tuple[int, ...] = ()
    """On 127.0.0.1 inside; the server of these ports gets the listeners through `control`."""
    control: Path | None = None
    """The socket on which `doors.py` waits for the listeners."""
    tree_read_only: bool = False
    """For planning: the agent reads and changes nothing."""
    terminal: bool = False
    """For an interactive job whose starter gives it a terminal: it keeps the terminal, and with it job control."""
    limits: SandboxLimits = field(default_factory=SandboxLimits)

    def lent(self) -> Iterator[tuple[Path, bool]]:
        """List what is mounted at its own path, and whether it may be written."""
        for path in (*self.objects, *self.read_only):
            yield path, False
        for path in self.writable:
            yield path, True

    def on_the_tree(self) -> Iterator[tuple[Path, str]]:
        """List what is mounted inside the tree, after the tree itself."""
        for path, name in self.placed:
            if "/" in name or name in {"", ".", "..", ".git"}:
                raise Misuse(f"{name!r} cannot be placed in a tree.", hint="Name one entry at its top.")
            yield path, f"{TREE_INSIDE}/{name}"

    def check(self) -> None:
        """Refuse walls with a hole: a mount that would show or give more than intended."""
        own = [folder for folder in (self.tree, self.home, self.tmp) if folder is not None]
        for path in own:
            _lendable(path)
        for path, writing in self.lent():
            _lendable(path)
            if any(path.is_relative_to(place) or place.is_relative_to(path) for place in _OURS_INSIDE):
                raise Misuse(f"{path} would cover the agent's own folder.", hint="Keep it elsewhere.")
            if any(path.resolve().is_relative_to(folder.resolve()) for folder in own):
                raise Misuse(f"{path} is in a folder that the agent can write.", hint="Put it into another folder.")
            if writing and path.resolve().is_relative_to(_SYSTEM):
                raise Misuse(f"{path} belongs to the system.", hint="Let the agent write elsewhere.")
        if self.ports and self.control is None:
            raise Misuse("Ports were named, but nothing serves them.", hint="Give the control socket's path.")


def _lendable(path: Path) -> None:
    if not path.is_absolute() or not path.exists():
        raise Misuse(
            f"{path} cannot be mounted: it is not an absolute path of an existing file or folder.", hint="Check it."
        )
    real = path.resolve()
    too_much = (Path.home(), *_NEVER_LENT, _SYSTEM / "bin")
    if any(place.is_relative_to(real) for place in too_much) or any(real.is_relative_to(place) for place in _KERNEL):
        raise Misuse(
            f"{path} would show far more than a job needs.", hint="Name the folder that the job needs inside it."
        )
