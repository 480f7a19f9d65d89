"""What a brain is shown, what it answers and what it may propose, and what each level makes of it."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import Field

from midwatch.terms.figures import joined
from midwatch.terms.orders import Orders
from midwatch.terms.term import Term
from midwatch.terms.trust import GateOutcome, Level


class ActKind(StrEnum):
    """Every act there is; an act outside this list cannot happen."""

    SKIP = "skip"
    REFLECT = "reflect"
    WAIT = "wait"
    SLEEP = "sleep"
    REPORT = "report"
    NOTE = "note"
    ASK_USER = "ask_user"
    NOTIFY = "notify"
    SEARCH = "search"
    RESEARCH = "research"
    UPDATE_WORK_ITEM = "update_work_item"
    START = "start"
    START_RUN = "start_run"
    STOP = "stop"
    RESTART = "restart"
    RESOLVE = "resolve"
    DELEGATE = "delegate"
    SCHEDULE = "schedule"
    CREATE_PROJECT = "create_project"
    MERGE = "merge"
    PUSH_PROTECTED = "push_protected"
    DEPLOY = "deploy"
    PAY = "pay"
    MAIL_STRANGERS = "mail_strangers"


WAITING = frozenset({ActKind.SKIP, ActKind.REFLECT, ActKind.WAIT, ActKind.SLEEP})
"""Acts that only pass time; they count neither as spin nor as work."""

FORBIDDEN = frozenset({ActKind.PUSH_PROTECTED, ActKind.DEPLOY, ActKind.PAY, ActKind.MAIL_STRANGERS})
"""Acts for which no tool exists."""


class Source(StrEnum):
    """Where a search runs."""

    REPO = "repo"
    DOCS = "docs"
    MEMORY = "memory"
    WEB = "web"


class External(StrEnum):
    """How far an effect reaches beyond this machine."""

    NONE = "none"
    LOW = "low"
    HIGH = "high"


class Proposer(StrEnum):
    """Who proposed it."""

    BRAIN = "brain"
    PERSON = "person"


class Proposal(Term):
    """One thing that a brain or a person's command proposes."""

    kind: ActKind
    project: str = ""
    target: str = ""
    """The job, work item, ask or run it is about; empty for the project itself."""
    reason: str = ""
    priority: int = Field(default=3, ge=1, le=5)
    message: str = ""
    prompt: str = ""
    confidence: float = Field(default=0.5, ge=0, le=1)
    tier: int = Field(default=3, ge=1, le=4)
    by: Proposer = Proposer.BRAIN
    source: Source | None = None
    domain: str = "code"
    agent: str = "housekeeper"
    tool: str = ""
    """The contract's name for the tool it needs, such as `repo_write_pr`."""
    paths: tuple[str, ...] = ()
    writes: bool = False
    ordered: bool = True
    """A mission, a work item or signed orders ask for it."""
    external: External = External.NONE
    effect: str = ""
    """The name of an external effect as the orders would allow it, such as `pull_request`."""
    peer: str = ""
    estimated_usd_micros: int = 0
    tainted: bool = False
    """Its context holds untrusted text."""

    @property
    def about(self) -> str:
        """The target that cooldowns and spin are counted by."""
        return self.target or self.project


class ItemSense(Term):
    """One ordered piece of work in its current state."""

    work_item: str
    project: str
    project_name: str
    title: str
    agent: str = "housekeeper"
    state: str = "todo"
    """todo, working, waiting, delivered, nothing_to_do, nothing_delivered, failed, asked (a person decides what to
    do), boxed (its time was over), parked, stopped, declined, said, dropped or refused."""
    job: str = ""
    cause: str = ""
    tries: int = 0
    may_retry: bool = False
    error: str = ""
    """The error of the last failure."""
    advice: str = ""
    """What the next try should do differently."""
    boxes: int = 0
    """How many time boxes it has had."""
    progress: bool = False
    """Whether the last box made progress: new commits, or fewer red checks."""
    held_back: bool = False
    """Whether continuing was proposed since then and not approved."""
    last_stage: str = ""


class Sense(Term):
    """The world as one round sees it."""

    now: datetime
    session: str
    round: int
    level: Level
    orders: Orders
    items: tuple[ItemSense, ...]
    open_asks: int = 0
    answers: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    state_version: int = 0
    budget_left: bool = True


class BrainAnswer(Term):
    """The brain's answer to a situation."""

    summary: str
    proposals: tuple[Proposal, ...] = ()
    next_in_seconds: int | None = None


_SIGN: Final = {
    "X": GateOutcome.EXECUTE,
    "T": GateOutcome.EXECUTE_AND_TELL,
    "A": GateOutcome.ASK_FIRST,
    "S": GateOutcome.SAY_ONLY,
    "-": GateOutcome.REFUSE,
}

# One letter per level: observe, cautious, moderate, full.
_ROWS: Final = {
    ActKind.SKIP: "XXXX",
    ActKind.REFLECT: "XXXX",
    ActKind.WAIT: "XXXX",
    ActKind.SLEEP: "XXXX",
    ActKind.REPORT: "XXXX",
    ActKind.NOTE: "XXXX",
    ActKind.ASK_USER: "XXXX",
    ActKind.NOTIFY: "XXXX",
    ActKind.SEARCH: "XXXX",
    ActKind.RESEARCH: "XXXX",
    ActKind.UPDATE_WORK_ITEM: "STXX",
    ActKind.START: "STXX",
    ActKind.START_RUN: "STXX",
    ActKind.STOP: "SATX",
    ActKind.RESTART: "SAXX",
    ActKind.RESOLVE: "SATX",
    ActKind.DELEGATE: "SATX",
    ActKind.SCHEDULE: "SATX",
    ActKind.CREATE_PROJECT: "SAAT",
    ActKind.MERGE: "AAAA",
    ActKind.PUSH_PROTECTED: "----",
    ActKind.DEPLOY: "----",
    ActKind.PAY: "----",
    ActKind.MAIL_STRANGERS: "----",
}
_WEB_ROW: Final = "SXXX"

MATRIX: Final[dict[tuple[ActKind, Level], GateOutcome]] = {
    (kind, level): _SIGN[sign] for kind, row in _ROWS.items() for level, sign in zip(Level, row, strict=True)
}
"""What each act becomes at each level. Notices at observe are held to tiers 3 and 4 by a condition of the gate."""

WEB: Final[dict[Level, GateOutcome]] = {level: _SIGN[sign] for level, sign in zip(Level, _WEB_ROW, strict=True)}
"""Searching and researching the web, which read untrusted text."""

_DOES: Final = {
    ActKind.START: ("start", "ordered work"),
    ActKind.RESTART: ("restart", "jobs"),
    ActKind.STOP: ("stop", "jobs"),
    ActKind.RESOLVE: ("answer", "the questions of jobs"),
    ActKind.UPDATE_WORK_ITEM: ("move", "work items"),
}
"""The acts that differ between levels and exist, as verb and object."""


def _means(level: Level) -> str:
    """Say what the table says about a level."""
    by = {outcome: [_DOES[kind] for kind in _DOES if MATRIX[kind, level] is outcome] for outcome in GateOutcome}
    said = []
    if alone := by[GateOutcome.EXECUTE]:
        said.append(f"It {_listed(alone)} by itself.")
    if told := by[GateOutcome.EXECUTE_AND_TELL]:
        said.append(f"It {_listed(told)}, and tells you.")
    if asked := by[GateOutcome.ASK_FIRST]:
        said.append(f"It {_listed(asked)} only after you said yes.")
    if by[GateOutcome.SAY_ONLY]:
        said.append("It looks and suggests. It starts nothing and writes nothing.")
    return " ".join(said)


def _listed(acts: list[tuple[str, str]]) -> str:
    return joined(f"{verb}s {thing}" for verb, thing in acts)


LEVEL_MEANS: Final[dict[Level, str]] = {level: _means(level) for level in Level} | {
    Level.FULL: f"{_means(Level.FULL)} Plans inside the orders do not wait for you."
}
"""Each level in words, out of the same table that the gate reads."""
