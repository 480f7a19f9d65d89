"""What the housekeeper says: progress in lines of JSON, and one answer in the form of every agent's (`terms/jobs.py`).

Plain dataclasses: loading pydantic would take longer than most of its work, and it starts several times in each job.
Midwatch reads the answer as strictly as any other agent's; a test compares the fields.
"""

import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HousekeeperFinding:
    """A `Finding`."""

    rule: str
    path: str
    line: int
    message: str
    tool: str
    column: int = 0
    fixable: bool = False
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperSurvey:
    """A `Survey`."""

    files: int
    fixable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperPlan:
    """A `Plan`."""

    summary: str
    approach: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    estimate_files: int = 0
    estimate_lines: int = 0
    estimate_minutes: int = 0
    blast_radius: str = ""
    undo: str = ""
    findings: tuple[HousekeeperFinding, ...] = ()
    survey: HousekeeperSurvey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperCheck:
    """A `CheckResult`."""

    command: str
    exit_code: int
    seconds: float = 0.0
    tail: str = ""
    failures: int | None = None

    @property
    def green(self) -> bool:
        return self.exit_code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperCommit:
    """A `Commit`."""

    sha: str
    subject: str
    files: int = 0
    insertions: int = 0
    deletions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperDropped:
    """A `Dropped`."""

    subject: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HousekeeperDone:
    """A `Done`."""

    summary: str
    base: str
    head: str
    commits: tuple[HousekeeperCommit, ...] = ()
    fixed: tuple[HousekeeperFinding, ...] = ()
    left: tuple[HousekeeperFinding, ...] = ()
    checks_before: tuple[HousekeeperCheck, ...] = ()
    checks_after: tuple[HousekeeperCheck, ...] = ()
    dropped: tuple[HousekeeperDropped, ...] = ()
    survey: HousekeeperSurvey | None = None
    risks: tuple[str, ...] | None = None


def written(answer: HousekeeperPlan | HousekeeperDone) -> str:
    return json.dumps(asdict(answer), indent=2, ensure_ascii=False) + "\n"


def planned_files(text: str) -> frozenset[str]:
    """Return the files of an approved plan; ValueError if it is none."""
    plan = json.loads(text)
    files = plan.get("files", []) if isinstance(plan, dict) and "summary" in plan else None
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        raise ValueError("not a plan")
    return frozenset(files)


def say(text: str) -> None:
    _speak("message", text)


def mark(text: str) -> None:
    """Report an event worth recording."""
    _speak("milestone", text)


def _speak(kind: str, text: str) -> None:
    sys.stdout.write(json.dumps({"type": kind, "text": text}) + "\n")
    sys.stdout.flush()


def hand_over(result: HousekeeperPlan | HousekeeperDone, out: Path) -> None:
    """Write the result so that a reader sees all of it or nothing."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(written(result))
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(out)
