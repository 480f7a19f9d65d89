"""A job: one agent that works in its own checkout."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import SerializerFunctionWrapHandler, model_serializer

from midwatch.terms.term import Term, without_unset


class CheckSource(StrEnum):
    """Who asked for a check."""

    ORDERS = "orders"
    PROJECT = "project"
    FOUND = "found"
    """Discovered in the checkout, because the project names none."""
    DONE_WHEN = "done_when"
    """The orders name it as what passes once the work is done; it may well fail before."""


class SuiteCount(Term):
    """How many tests a check says it ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    expected: int = 0
    """Failed, as the test itself expects."""

    @property
    def ran(self) -> int:
        """Tests that could have failed the check."""
        return self.passed + self.failed


class Doubt(Term):
    """Something about a change that weakens its proof, in plain words."""

    kind: str
    text: str
    path: str = ""
    grave: bool = True
    """Whether the work must not count as green; what the orders allow is only reported."""


class Coverage(Term):
    """How many of the changed lines were covered, by the project's own measurement."""

    covered: int
    measurable: int
    by: str
    """The file that says so."""


class RepairTries(Term):
    """How many repair rounds one failure had: a check command, or the doubts."""

    failure: str
    rounds: int


class Stage(StrEnum):
    """The stages of a job, in order. Each attempt at one of them is one short workflow."""

    MIRROR = "mirror"
    SETUP = "setup"
    PLAN = "plan"
    APPROVE = "approve"
    EXECUTE = "execute"
    BUNDLE = "bundle"
    QUARANTINE = "quarantine"
    VERIFY = "verify"
    REPAIR = "repair"
    DELIVER = "deliver"
    PULL_REQUEST = "pull_request"
    NOTICE = "notice"

    @classmethod
    def _missing_(cls, value: object) -> "Stage | None":
        """Mirror and setup were once one stage: entries from then resume at mirror."""
        return cls.MIRROR if value == "prepare" else None

    @property
    def said(self) -> str:
        return self.value.replace("_", " ")


AGENT_STAGES: Final = frozenset({Stage.PLAN, Stage.EXECUTE, Stage.REPAIR})
"""Stages in which an agent works; in any other stage its last output is about something else."""
DELIVERING: Final = frozenset({Stage.DELIVER, Stage.PULL_REQUEST, Stage.NOTICE})
"""The last stages: a job in them may have pushed its branch, and one that is done in them has delivered work."""


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPING = "stopping"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    DECLINED = "declined"
    NOTHING_DELIVERED = "nothing_delivered"
    """The agent ended without commits, and no rule confirms that none were needed."""

    @property
    def over(self) -> bool:
        """Whether nothing more happens to it without a person."""
        return self in ENDS


ENDS = frozenset({JobState.DONE, JobState.FAILED, JobState.STOPPED, JobState.DECLINED, JobState.NOTHING_DELIVERED})
"""The states in which a job is over."""


class Failure(Term):
    """One failed attempt: where, why, and the error."""

    stage: Stage
    attempt: int
    cause: str
    said: str
    output_blob: str = ""
    """The agent's last output, if it was kept."""
    at: datetime


class Finding(Term):
    """Something an agent found in the code, with its place, whether or not it could be fixed."""

    rule: str
    path: str
    line: int
    message: str
    tool: str
    column: int = 0
    fixable: bool = False
    excerpt: str = ""


class Survey(Term):
    """What an agent without a model read, and what it could have fixed there and did not."""

    files: int
    fixable: int = 0
    """Places that its limits, the checks or an earlier pull request kept it from fixing."""


class Plan(Term):
    """What an agent intends to do, before it may do it."""

    summary: str
    approach: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    estimate_files: int = 0
    estimate_lines: int = 0
    estimate_minutes: int = 0
    blast_radius: str = ""
    """What would be affected if it went wrong."""
    undo: str = ""
    findings: tuple[Finding, ...] = ()
    survey: Survey | None = None


class CheckResult(Term):
    """How one check command ended on one tree."""

    command: str
    exit_code: int
    seconds: float = 0.0
    tail: str = ""
    failing_line: str = ""
    """The line that says what failed, of a check that failed; empty in what was recorded before this was read."""
    failing_part: str = ""
    """The part of its output around that line."""
    failures: int | None = None
    """Failed tests where the tool counts them; separates 'red' from 'redder'."""
    source: CheckSource = CheckSource.ORDERS
    counted: SuiteCount | None = None
    """Tests by how they ended, where the tool says so."""
    reruns: tuple[int, ...] = ()
    """The results of later runs on the same commit."""
    flaky: bool = False
    """It ended differently on the same commit: it is neither green nor red."""
    rewrote: tuple[str, ...] = ()
    """Committed files that held something else when it had ended."""
    touched: tuple[str, ...] = ()
    """Committed files that it wrote to, and that held the same again when it had ended."""

    @model_serializer(mode="wrap")
    def _as_recorded(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not read: results from before it was read stay as they were recorded."""
        return without_unset(dump(self), ("failing_line", "failing_part", "rewrote", "touched"))

    @property
    def green(self) -> bool:
        return self.exit_code == 0 and not self.flaky

    @property
    def shown(self) -> str:
        """What a reader sees of its output: the failing part, or the last lines where none was recorded."""
        return self.failing_part or self.tail

    @property
    def red(self) -> bool:
        """Whether it failed each time."""
        return self.exit_code != 0 and not self.flaky


class Commit(Term):
    """One commit of the work."""

    sha: str
    subject: str
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    closes: tuple[str, ...] = ()
    """The issues its full message would close once it is on the main branch."""


class Dropped(Term):
    """A piece of work that was reverted, and why."""

    subject: str
    why: str


class Done(Term):
    """What an agent reports as done. Believed only after quarantine and checks."""

    summary: str
    base: str
    head: str
    commits: tuple[Commit, ...] = ()
    fixed: tuple[Finding, ...] = ()
    left: tuple[Finding, ...] = ()
    checks_before: tuple[CheckResult, ...] = ()
    checks_after: tuple[CheckResult, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    survey: Survey | None = None
    risks: tuple[str, ...] | None = None
    """Risks of what was really done; None where the agent names only its plan's."""


class Bundle(Term):
    """An agent's commits, bundled inside its sandbox; not inspected yet."""

    head: str
    bytes: int
    sha256: str


class FileChange(Term):
    """One path of a change, counted as text regardless of its attributes."""

    path: str
    status: str
    insertions: int = 0
    deletions: int = 0


class Change(Term):
    """A branch that passed quarantine: what really arrived."""

    base: str
    head: str
    commits: tuple[Commit, ...] = ()
    files: tuple[FileChange, ...] = ()
    flagged: tuple[str, ...] = ()
    """Paths a person should look at twice (CI, hooks, agent settings, lockfiles)."""

    @property
    def insertions(self) -> int:
        return sum(f.insertions for f in self.files)

    @property
    def deletions(self) -> int:
        return sum(f.deletions for f in self.files)


NOT_DELIVERABLE: Final = frozenset({"worse", "red_when_restored", "doubted", "not_done"})
"""Verdicts that go back for repair, and may leave only as a draft that says so."""


class Proof(Term):
    """The results of fresh checkouts: before, after, and after with the base's own check files restored."""

    before: tuple[CheckResult, ...] = ()
    delivered: tuple[CheckResult, ...] = ()
    restored: tuple[CheckResult, ...] = ()
    verdict: str = "no_checks"
    """green, still_red, worse, red_when_restored, doubted, not_done, flaky or no_checks."""
    doubts: tuple[Doubt, ...] = ()
    """What weakens the proof: weakened tests, fewer tests run, a claim that is not true."""
    new_tests: str = ""
    """What the change's own tests do without it: fail_on_base, pass_on_base, unclear or none; '' means not tried."""
    new_test_files: tuple[str, ...] = ()
    coverage: Coverage | None = None
    notes: tuple[str, ...] = ()
    """Checks that were found and left out, and why."""
    tried: tuple[RepairTries, ...] = ()
    """Repair rounds so far, by failure."""
    head: str = ""
    """The commit it is about: for the same commit the proof is the same."""

    @property
    def flaky(self) -> tuple[str, ...]:
        """Name the checks that ended differently on the same commit."""
        runs = (*self.before, *self.delivered, *self.restored)
        return tuple(dict.fromkeys(one.command for one in runs if one.flaky))

    @property
    def grave(self) -> tuple[Doubt, ...]:
        """Give the doubts that keep the work from being green."""
        return tuple(doubt for doubt in self.doubts if doubt.grave)


class RepositoryFacts(Term):
    """A person's repository as it was found."""

    path: str
    branch: str
    head: str
    dirty: tuple[str, ...] = ()
