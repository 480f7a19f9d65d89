"""What the invariants are checked against, and how a broken one is reported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from midwatch.journal.entry import Entry
from midwatch.rules.budget.reservation import Held
from midwatch.terms import records as rows
from midwatch.terms.asks import AskState


@dataclass(frozen=True, slots=True)
class RecordsSeen:
    """The rows the rules look at."""

    sessions: tuple[rows.SessionRow, ...] = ()
    acts: tuple[rows.ActRow, ...] = ()
    runs: tuple[rows.RunRow, ...] = ()
    jobs: tuple[rows.JobRow, ...] = ()
    asks: tuple[rows.AskRow, ...] = ()
    pull_requests: tuple[rows.PullRequestRow, ...] = ()
    notices: tuple[rows.NoticeRow, ...] = ()
    deliveries: tuple[rows.DeliveryRow, ...] = ()
    timers: tuple[rows.TimerRow, ...] = ()
    held: tuple[Held, ...] = ()
    """What is set aside for requests under way; not a record, but it counts as money."""

    @property
    def waited_for(self) -> frozenset[str]:
        """What an open ask is about."""
        return frozenset(ask.subject for ask in self.asks if ask.state is AskState.OPEN)


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold: which, how, and at which entry (0 where a record shows it)."""

    rule: str
    text: str
    seq: int = 0


Found = Iterator[tuple[str, int]]
Rule = Callable[[Sequence[Entry], RecordsSeen], Found]
