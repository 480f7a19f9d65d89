"""What a brain is shown, and what it answers."""

from datetime import datetime

from midwatch.terms.acts import Proposal
from midwatch.terms.orders import Orders
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


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


class Answer(Term):
    """What a brain says to that."""

    summary: str
    proposals: tuple[Proposal, ...] = ()
    next_in_seconds: int | None = None
