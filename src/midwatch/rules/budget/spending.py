"""Whether one more request to a model may be sent: what its job, run and session may still spend (SPEC 9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from midwatch.terms.contract import Constraints
from midwatch.terms.figures import dollars

LEAST_OUTPUT: Final = 4_096
"""Tokens that a request is always allowed for its answers, so that the last one of a budget says something."""
SHARE: Final = 4
"""A request that names no limit gets this part of what is left, if its model can make so much: others are to come."""
USUAL_OUTPUT: Final = 32_000
"""Tokens that the answers of a request without a limit are not cut below, except at the end of a budget."""
BYTES_PER_TOKEN: Final = 4
"""Of ordinary text; a text made to be expensive has one byte for each token."""


class Whose(StrEnum):
    """Whose ceiling it is."""

    JOB = "job"
    RUN = "run"
    SESSION = "session"


Kind = Literal["usd_micros", "tokens", "requests"]
KINDS: Final[tuple[Kind, ...]] = ("usd_micros", "tokens", "requests")


@dataclass(frozen=True, slots=True)
class Amount:
    """Money, tokens and requests together: what is wanted, set aside or spent."""

    usd_micros: int = 0
    tokens: int = 0
    requests: int = 0

    def __post_init__(self) -> None:
        if any(self.of(kind) < 0 for kind in KINDS):
            raise ValueError("An amount is never negative.")

    def of(self, kind: Kind) -> int:
        value: int = getattr(self, kind)
        return value

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(*(self.of(kind) + other.of(kind) for kind in KINDS))

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(*(self.of(kind) - other.of(kind) for kind in KINDS))


def higher(one: Amount, other: Amount) -> Amount:
    return Amount(*(max(one.of(kind), other.of(kind)) for kind in KINDS))


NOTHING: Final = Amount()
Spent = Amount
"""What was really spent."""
Reserved = Amount
"""The most that requests under way may cost; it is released when they end."""


LEAST_MORE: Final = 1_000_000


def more_for(granted: Constraints, requests: int, planning_usd_micros: int | None = None) -> "Amount":
    """How much more a job asks for at its ceiling: a quarter of it, at least one dollar; likewise for the rest."""
    usd = granted.max_usd_micros if planning_usd_micros is None else planning_usd_micros
    return Amount(max(LEAST_MORE, usd // 4), granted.max_tokens // 4, max(1, requests // 4))


@dataclass(frozen=True, slots=True)
class Ceilings:
    """How much may be spent at most; None where there is no ceiling."""

    usd_micros: int | None = None
    tokens: int | None = None
    requests: int | None = None

    def of(self, kind: Kind) -> int | None:
        value: int | None = getattr(self, kind)
        return value


UNLIMITED: Final = Ceilings()


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """One ceiling's holder, with what it has spent and set aside."""

    whose: Whose
    ceilings: Ceilings = UNLIMITED
    spent: Spent = NOTHING
    reserved: Reserved = NOTHING


MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CostBounds:
    """What a request can cost: its input, and its answers by the token."""

    input: Amount
    """At most; also of a text that was made to be expensive."""
    likely: Amount
    """Of ordinary text."""
    answers: int = 0
    """Tokens of all answers at most."""
    least: int = 0
    """Tokens that its answers may be cut to while other requests are under way: none where it names its own limit."""
    usd_micros: int = 0
    """Millionths of a dollar for a million tokens of answers."""

    def with_answers(self, tokens: int, entry: Amount) -> Amount:
        """Return the cost of this input and so many tokens of answers, rounded up."""
        return entry + Amount(-(-tokens * self.usd_micros // MILLION), tokens)


@dataclass(frozen=True, slots=True)
class MaySpend:
    """Yes, not yet, or no; with the ceiling that decided and a sentence for the agent."""

    answer: Literal["yes", "wait", "no"]
    why: str = ""
    whose: Whose | None = None
    kind: Kind | None = None
    reserve: Amount = NOTHING
    """After a yes: what is set aside."""
    answers: int = 0
    """After a yes: the tokens that its answers may have together."""


def may_spend(budgets: Iterable[BudgetUse], bounds: CostBounds) -> MaySpend:
    """A spent ceiling says no; one that is only reserved says wait, until reservations are spent or released.

    The first request of a job is set aside with its likely input, all others with the most it can be; a request alone
    in its budget may be sent while anything is left, its answers cut to that. So a budget is exceeded by one input of
    each job at most, and by `LEAST_OUTPUT` once.
    """
    budgets = tuple(budgets)
    rooms = [_Room(budget, kind) for budget in budgets for kind in KINDS if budget.ceilings.of(kind) is not None]
    first = all(not budget.reserved.requests for budget in budgets if budget.whose is Whose.JOB)
    entry = bounds.likely if first else bounds.input
    # What costs nothing of a kind is not stopped by it: a subscription has no dollars to run out of.
    rooms = [room for room in rooms if bounds.with_answers(bounds.answers, bounds.input).of(room.kind)]
    for room in rooms:
        if room.spent >= room.ceiling:
            return MaySpend("no", room.is_spent, room.whose, room.kind)
    for room in rooms:
        if room.reserved and room.fits(bounds, entry) < bounds.least:
            return MaySpend("wait", room.is_reserved, room.whose, room.kind)
    answers = bounds.answers
    fits = min((room.fits(bounds, entry) for room in rooms), default=answers)
    if bounds.least < answers:
        answers = min(answers, max(bounds.least, fits // SHARE))
    if fits < answers:
        answers = max(fits, min(answers, LEAST_OUTPUT))
    return MaySpend("yes", reserve=bounds.with_answers(answers, entry), answers=answers)


@dataclass(frozen=True, slots=True)
class _Room:
    """One kind of one budget that has a ceiling."""

    budget: BudgetUse
    kind: Kind

    @property
    def whose(self) -> Whose:
        return self.budget.whose

    @property
    def ceiling(self) -> int:
        return self.budget.ceilings.of(self.kind) or 0

    @property
    def spent(self) -> int:
        return self.budget.spent.of(self.kind)

    @property
    def reserved(self) -> int:
        return self.budget.reserved.of(self.kind)

    def fits(self, bounds: CostBounds, entry: Amount) -> int:
        """Return how many tokens of answers fit after this input; below zero where not even that fits."""
        left = self.ceiling - self.spent - self.reserved - entry.of(self.kind)
        if left < 0 or self.kind == "tokens":
            return left
        if self.kind == "usd_micros" and bounds.usd_micros:
            return left * MILLION // bounds.usd_micros
        return bounds.answers

    @property
    def is_spent(self) -> str:
        return f"The {self.whose.value} has used {_said(self.kind, self.spent, self.ceiling)}."

    @property
    def is_reserved(self) -> str:
        most = amount_said(self.kind, self.ceiling)
        return f"Requests under way may use up what the {self.whose.value} has left of {most}."


def estimated_tokens(body_bytes: int) -> int:
    """Estimate the input of a request before it is sent: one token per four bytes, at least one."""
    return max(1, -(-body_bytes // BYTES_PER_TOKEN))


def _said(kind: Kind, spent: int, ceiling: int) -> str:
    return f"{amount_said(kind, spent)} of {amount_said(kind, ceiling)}"


def amount_said(kind: Kind, value: int) -> str:
    if kind == "usd_micros":
        return dollars(value)
    return f"{value} {kind if value != 1 else kind.removesuffix('s')}"
