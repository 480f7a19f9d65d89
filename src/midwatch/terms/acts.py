"""Words about what a brain is shown, what it answers and what it may propose."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from midwatch.terms.orders import Orders
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class ActKind(StrEnum):
    """Every act there is; what is not in this list cannot happen."""

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
"""Acts that pass time; they never count as spin and never as work."""

FORBIDDEN = frozenset({ActKind.PUSH_PROTECTED, ActKind.DEPLOY, ActKind.PAY, ActKind.MAIL_STRANGERS})
"""Acts for which no tool exists."""


class Source(StrEnum):
    """Where a search looks."""

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
    """Who wants it."""

    BRAIN = "brain"
    PERSON = "person"


class Proposal(Term):
    """One thing a brain, or a person's command, would like to happen."""

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
    """A mission, work item or signed order stands behind it."""
    external: External = External.NONE
    effect: str = ""
    """The name of an external effect as the orders would allow it, such as `pull_request`."""
    peer: str = ""
    estimated_usd_micros: int = 0
    tainted: bool = False
    """Its context holds text that strangers wrote."""

    @property
    def about(self) -> str:
        """The thing it acts on, for cooldowns and spin."""
        return self.target or self.project


class ItemSense(Term):
    """One ordered piece of work as it stands now."""

    work_item: str
    project: str
    project_name: str
    title: str
    agent: str = "housekeeper"
    state: str = "todo"
    """todo, working, waiting, delivered, nothing_to_do, failed, asked (a person is to say what to do), boxed (its time
    was over), parked, stopped, declined, said, dropped or refused."""
    job: str = ""
    cause: str = ""
    tries: int = 0
    may_retry: bool = False
    error: str = ""
    """What was said when it failed last."""
    advice: str = ""
    """What the next try should do differently."""
    boxes: int = 0
    """How many time boxes it has had."""
    progress: bool = False
    """Whether the last box came to something: new commits, or fewer red checks."""
    held_back: bool = False
    """Whether going on was proposed since, and did not get leave."""
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
    """What a brain says to that."""

    summary: str
    proposals: tuple[Proposal, ...] = ()
    next_in_seconds: int | None = None
