"""What the housekeeper answers, in the form that every agent's answer has (`terms/jobs.py`).

Plain dataclasses: loading pydantic would take longer than most of its work, and it starts several times in each job.
Midwatch reads the answer as strictly as any other agent's; a test compares the fields.
"""

import json
from dataclasses import asdict, dataclass


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


def written(answer: HousekeeperPlan | HousekeeperDone) -> str:
    return json.dumps(asdict(answer), indent=2, ensure_ascii=False) + "\n"


def planned_files(text: str) -> frozenset[str]:
    """Return the files of an approved plan; ValueError if it is none."""
    plan = json.loads(text)
    files = plan.get("files", []) if isinstance(plan, dict) and "summary" in plan else None
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        raise ValueError("not a plan")
    return frozenset(files)
