"""What a holder gets at its start: one command, its environment and its limits."""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class HolderLimits:
    """When to end an agent that does not end by itself; seconds of the machine's clocks."""

    wall: float = 7200.0
    idle: float = 600.0
    counts_work: bool = False
    """While its processes use the processor or wait for it, an agent that prints nothing is not idle."""
    grace: float = 5.0
    """Time between TERM and STOP with KILL."""
    night_ends: float | None = None
    """Unix time of the night's end; until then a silent server is assumed to be restarting."""
    dead_man: float = 900.0
    """After the night's end, how long the server may be silent."""
    doors: float = 120.0
    """How long a sandbox may take to open its doors: a second, and many on a busy machine."""


@dataclass(frozen=True)
class Caps:
    """How many bytes of each stream are kept on disk: the first and the last."""

    head: int = 8 * MEBIBYTE
    tail: int = 8 * MEBIBYTE


@dataclass(frozen=True)
class Spec:
    """One agent to hold."""

    folder: Path
    """The job's own folder; each epoch gets a folder inside."""
    epoch: int
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    """The agent's whole environment, except for the mark by which its lost processes are found."""
    fds: Mapping[int, bytes] = field(default_factory=dict)
    """Files the command finds open under these numbers (a seccomp filter, bwrap's --args), recreated by the holder."""
    takes_input: bool = False
    """Keep stdin open for `say`; otherwise it is closed from the start."""
    joined: bool = False
    """Errors go into the same stream as the output, in the order of writing; `err` stays empty."""
    terminal: tuple[int, int] | None = None
    """Rows and columns, for an interactive job: one PTY instead of three pipes."""
    control: Path | None = None
    """The control socket of this command's bubblewrap walls; the holder waits there for `ports`."""
    ports: tuple[int, ...] = ()
    """The ports of those walls; the holder keeps their listeners, and `HeldProgram.doors` lends them."""
    limits: HolderLimits = field(default_factory=HolderLimits)
    caps: Caps = field(default_factory=Caps)

    def to_bytes(self, nonce: str) -> bytes:
        """Serialize the spec for the holder, which reads it from a pipe: it is never on the disk."""
        plain: dict[str, Any] = asdict(self)
        plain["folder"], plain["cwd"] = str(self.folder), str(self.cwd)
        plain["control"] = str(self.control) if self.control else None
        plain["fds"] = {str(number): base64.b64encode(data).decode() for number, data in self.fds.items()}
        return json.dumps({"nonce": nonce, "spec": plain}).encode()


def from_bytes(data: bytes) -> tuple[Spec, str]:
    """Read a spec and its nonce back."""
    result = json.loads(data)
    plain = dict(result["spec"])
    plain["folder"], plain["cwd"] = Path(plain["folder"]), Path(plain["cwd"])
    plain["argv"], plain["ports"] = tuple(plain["argv"]), tuple(plain["ports"])
    plain["control"] = Path(plain["control"]) if plain["control"] else None
    plain["fds"] = {int(number): base64.b64decode(text) for number, text in plain["fds"].items()}
    plain["terminal"] = tuple(plain["terminal"]) if plain["terminal"] else None
    plain["limits"], plain["caps"] = HolderLimits(**plain["limits"]), Caps(**plain["caps"])
    return Spec(**plain), result["nonce"]
