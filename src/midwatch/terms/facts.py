"""The facts the gate decides on, complete, so that a recorded verdict can be checked again."""

from datetime import datetime, timedelta

from midwatch.terms.contract import RunContract
from midwatch.terms.term import Term
from midwatch.terms.trust import Authority, Isolation, Level


class Budget(Term):
    """One thing that runs out. `limit` None means there is no limit."""

    spent: int = 0
    reserved: int = 0
    limit: int | None = None

    def room_for(self, more: int) -> bool:
        """Whether this much more stays within the limit; an empty budget has room for nothing, not even zero."""
        return self.limit is None or (self.spent + self.reserved < self.limit and self.taken + more <= self.limit)

    @property
    def taken(self) -> int:
        """Spent and reserved together."""
        return self.spent + self.reserved

    @property
    def share(self) -> float:
        """The share of the limit that is used, 0 where there is no limit."""
        return self.taken / self.limit if self.limit else 0.0


class Budgets(Term):
    """Everything that runs out during a session."""

    usd_micros: Budget = Budget()
    tokens: Budget = Budget()
    seconds: Budget = Budget()
    rounds: Budget = Budget()
    attention: Budget = Budget()


class RunningJob(Term):
    """The newest job of a project, as far as the gate needs it."""

    id: str
    started_at: datetime
    running: bool
    in_error: bool = False


class ProjectFacts(Term):
    """One project as policy sees it. Text from its files is not here: policy never reads prose."""

    id: str
    name: str = ""
    known: bool = True
    protected: bool = False
    blocked: bool = False
    skipped: bool = False
    job: RunningJob | None = None
    jobs_running: int = 0
    open_pull_request: bool = False
    retries_in_a_row: int = 0

    @property
    def called(self) -> str:
        """The name for a sentence; facts recorded without a name have only the id."""
        return self.name or self.id


class GateLimits(Term):
    """The numbers of SPEC 8 and 9, from the settings (`settings/derived.py`); the defaults are equal."""

    same_action: timedelta = timedelta(minutes=5)
    same_project: timedelta = timedelta(minutes=10)
    young_job: timedelta = timedelta(minutes=30)
    jobs_in_all: int = 5
    jobs_per_project: int = 1
    free_memory_bytes: int = 2 * 1024**3
    free_disk_bytes: int = 5 * 1024**3
    retries: int = 3
    spin: int = 3
    confirm_minutes: float = 5
    guidance_minutes: float = 60
    decision_minutes: float = 0
    """0 means until the end of the next day."""
    objections_that_ask: int = 2
    min_agreement: float = 0.5
    min_confidence: float = 0.4
    forced_isolation: bool = False
    """A person forced model-driven agents to run without isolation."""


class CouncilFacts(Term):
    """How the four voices voted."""

    support: int = 0
    objections: int = 0
    silent: int = 4

    @property
    def agreement(self) -> float | None:
        """Supporting voices out of those with a position; None when no voice had one."""
        spoke = self.support + self.objections
        return self.support / spoke if spoke else None


class Facts(Term):
    """The facts at the moment of the decision."""

    now: datetime
    level: Level = Level.OBSERVE
    authority: Authority = Authority.SUGGEST
    in_session: bool = False
    """An autonomous session, or a signed heartbeat grant, is in force."""
    contract: RunContract | None = None
    project: ProjectFacts | None = None
    target_exists: bool = True
    target_name: str = ""
    """The target as people call it, such as `job 3`; only for sentences."""
    target_for_person: bool = False
    """The ask to resolve is addressed to the person."""
    same_action_at: datetime | None = None
    same_project_at: datetime | None = None
    jobs_running: int = 0
    free_memory_bytes: int = 64 * 1024**3
    free_disk_bytes: int = 64 * 1024**3
    budgets: Budgets = Budgets()
    quiet_hours: bool = False
    isolation: Isolation = Isolation.BUBBLEWRAP
    tainted: bool = False
    retries_of_cause: int = 0
    spin: int = 0
    """Consecutive acts of this kind on this target that brought nothing new."""
    council: CouncilFacts = CouncilFacts()
    limits: GateLimits = GateLimits()
