"""From an approved plan to the agent's process: a room given and entered, beside bare bwrap and a bare spawn.

The same mounts and the same filter are given to the bare bwrap; what it lacks is what a room adds: a clone of its own,
a holder that outlives the server, a door, limits and a log.
"""

import asyncio
import base64
import fcntl
import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.figure import Figure, median
from midwatch.ports.network import HostRefused
from midwatch.ports.workspace import JobPlace, RoomRequest
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.rooms import WALLS
from midwatch.workshop.sandbox.isolation import enclosure, found
from midwatch.workshop.sandbox.walls.spec import SandboxLimits
from midwatch.workshop.workshop import Workshop

ROUNDS = 20
START_BAR, WHOLE_BAR = 5.0, 30.0
HIGH = 500
CLOCK = ("/bin/date", "+%s.%N")
_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    **{f"GIT_{who}_{what}": "bench@localhost.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@dataclass(frozen=True)
class NoNetwork:
    """Stands at the usual door and lets nobody out."""

    ports: tuple[int, ...] = (8118,)
    lent: tuple[Path, ...] = ()

    @property
    def environment(self) -> Mapping[str, str]:
        """Tell nothing."""
        return {}

    @property
    def only_repeats(self) -> asyncio.Event:
        """Never set."""
        return asyncio.Event()

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:  # noqa: ARG002 - as the port
        """Name nothing."""
        return ()

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Wait until nobody needs the door."""
        try:
            await asyncio.Event().wait()
        finally:
            for listener in listeners:
                listener.close()


@dataclass(frozen=True)
class Start:
    """How long it took until the room was there, until the agent ran in it, and until it had ended."""

    room: float
    agent: float
    ended: float


async def run() -> list[Figure]:
    """Start in a room, in bare walls and bare, in turns."""
    if found().isolation is not Isolation.BUBBLEWRAP:
        return [
            Figure(
                "approve to agent process",
                "not measured",
                "no bubblewrap here",
                f"≤ {START_BAR:.0f} times bare bwrap",
                met=True,
            )
        ]
    with TemporaryDirectory(prefix="midwatch-startup-") as name:
        home = Path(name) / "home"
        workshop = Workshop(home, enclosure(Isolation.BUBBLEWRAP, home, (), limits=SandboxLimits()))
        await asyncio.to_thread(workshop.nursery.open)  # as a server does
        head = await workshop.mirrors.update("bench", _repository(Path(name) / "person"), "main")
        ours, walled, bare = [], [], []
        for number in range(ROUNDS + 1):
            start, note = await _start(workshop, head, f"job_{number}")
            ours.append(start)
            walled.append(_in_bare_walls(note))
            bare.append(_spawned(["true"]))
        await asyncio.to_thread(workshop.nursery.close)
    return _figures(ours[1:], walled[1:], bare[1:])


def _figures(ours: list[Start], walled: list[float], bare: list[float]) -> list[Figure]:
    """The first round of each is left out: it filled the caches for all the others."""
    agent, whole = (median([getattr(start, part) for start in ours]) for part in ("agent", "ended"))
    room = median([start.room for start in ours])
    walls, spawn = median(walled), median(bare)
    return [
        Figure(
            "approve to agent process, our share, p50",
            f"{agent * 1000:.0f} ms, of it {room * 1000:.0f} for the clone",
            f"{walls * 1000:.1f} ms bare bwrap ({agent / walls:.0f}x)",
            f"≤ {START_BAR:.0f} times bare bwrap",
            agent <= START_BAR * walls,
        ),
        Figure(
            "a room for `true`, from asking to its end",
            f"{whole * 1000:.0f} ms",
            f"{walls * 1000:.1f} bwrap ({whole / walls:.0f}x), {spawn * 1000:.1f} spawn ({whole / spawn:.0f}x)",
            f"≤ {WHOLE_BAR:.0f} times bare bwrap",
            whole <= WHOLE_BAR * walls,
        ),
    ]


async def _start(workshop: Workshop, head: str, job: str) -> tuple[Start, dict[str, Any]]:
    request = RoomRequest(
        place=JobPlace(project="bench", job=job, epoch=1),
        commit=head,
        purpose="execute.1",
        wall=timedelta(minutes=2),
        idle=timedelta(minutes=1),
        grace=timedelta(seconds=1),
        network=NoNetwork(),
    )
    began, by_the_clock = time.perf_counter(), time.time()
    room = await workshop.rooms.enter(request)
    entered = time.perf_counter() - began
    left = await room.run(CLOCK)
    ended = time.perf_counter() - began
    if left.exit_code:
        raise SystemExit(f"{left.sentence} {left.tail}")
    note = json.loads((workshop.rooms.folders.held(job) / "epoch-000001" / WALLS).read_bytes())
    return Start(entered, float(left.tail) - by_the_clock, ended), note


def _in_bare_walls(note: dict[str, Any]) -> float:
    """Run a plain `true` in the same walls, without our own first process in them."""
    held = {int(number): _in_memory(base64.b64decode(content)) for number, content in note["files"].items()}
    argv = [*note["argv"][: note["argv"].index("--")], "--", "true"]

    def bring() -> None:
        for number, file in held.items():
            os.lseek(file, 0, os.SEEK_SET)
            os.dup2(file, number, inheritable=True)

    try:
        return _spawned(argv, preexec_fn=bring, close_fds=False)
    finally:
        for file in held.values():
            os.close(file)


def _in_memory(content: bytes) -> int:
    """Keep a file under a number that no walls name."""
    file = os.memfd_create("bench")
    os.write(file, content)
    high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(file)
    return high


def _spawned(argv: list[str], **how: Any) -> float:
    began = time.perf_counter()
    done = subprocess.run(argv, env={"PATH": os.defpath}, check=False, capture_output=True, **how)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{argv[0]} failed: {done.stderr.decode(errors='replace')}")
    return seconds


def _repository(place: Path) -> Path:
    """A hundred small files, as in a small project."""
    for number in range(100):
        file = place / f"part{number % 10}" / f"file{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"x = {number}\n" * 20)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *words], cwd=place, env=_ENVIRONMENT, check=True, capture_output=True)
    return place
