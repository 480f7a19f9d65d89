"""How a held agent ended, in a durable form."""

import contextlib
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from midwatch.workshop.holding import log_file, records

How = Literal["exited", "killed", "wall", "idle", "dead_man", "stopped", "unguarded", "not_started", "no_doors", "lost"]
LAST_WORDS = 4000
SENTENCES: dict[How, str] = {
    "exited": "The agent ended by itself with exit code {exit_code}.",
    "killed": "The agent was killed by signal {signal}, which Midwatch did not send.",
    "wall": "The agent was stopped because its time was up.",
    "idle": "The agent was stopped because it printed nothing for too long.",
    "dead_man": "The agent was stopped because its time was over and the server had not been in touch.",
    "stopped": "The agent was stopped on request.",
    "unguarded": "The agent was stopped because the process that guards its holder was killed.",
    "not_started": "The command could not be started: {why}.",
    "no_doors": "The agent did not begin, because its sandbox did not open its doors: {why}.",
    "lost": "The agent's holder is gone, and how the agent ended is not known: {why}.",
}
# A command that dies of a signal inside its walls ends them with 128 and the signal's number.
WITHIN_WALLS = {
    128 + 9: "The agent was killed inside its walls, most often because memory ran out.",
    128 + 24: "The agent was killed because it had used up its CPU time.",
    128 + 25: "The agent was killed because a file it wrote grew larger than a job's file may be.",
}


@dataclass(frozen=True)
class Ending:
    """How it ended, its last output and what it used."""

    how: How
    why: str = ""
    exit_code: int | None = None
    signal: int | None = None
    last_words: str = ""
    last_errors: str = ""
    out_bytes: int = 0
    err_bytes: int = 0
    seconds: float = 0.0
    ended: float = 0.0
    cpu_seconds: float = 0.0
    max_rss: int = 0
    """Bytes, of the largest process."""
    swept: int = 0
    """How many processes had to be killed."""
    clean: bool = True
    """Nothing of the agent's tree was left when this was written."""

    def sentence(self) -> str:
        if self.how == "exited" and self.exit_code in WITHIN_WALLS:
            return WITHIN_WALLS[self.exit_code]
        return SENTENCES[self.how].format(**asdict(self))


def wall_clock() -> float:
    """Read the machine's clock: the holder uses real time, whatever clock Midwatch uses."""
    return time.clock_gettime(time.CLOCK_REALTIME)


def write_ending(place: Path, ending: Ending, *, over: bool = True) -> None:
    """Write the verdict, on a full disk into the space reserved for it; not `over` an earlier one."""
    with contextlib.suppress(OSError):
        (place / records.RESERVE).unlink()
    records.write_whole(place / records.EXIT, asdict(ending), over=over)


def read_ending(place: Path) -> Ending | None:
    """Read the verdict; None when there is none yet."""
    content = records.read_record(place / records.EXIT)
    try:
        return Ending(**content) if content else None
    except TypeError:
        return None


def lost(place: Path, why: str, *, swept: int = 0, clean: bool = True) -> Ending:
    """Make a verdict from what a vanished holder left on the disk."""
    return Ending(
        how="lost",
        why=why,
        last_words=log_file.last_words(place / records.OUT, LAST_WORDS),
        last_errors=log_file.last_words(place / records.ERR, LAST_WORDS),
        ended=wall_clock(),
        swept=swept,
        clean=clean,
    )
