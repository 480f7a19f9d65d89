"""Whether one more request to a model may be sent: what its job, run and session may still spend (SPEC 9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from midwatch.terms.contract import Constraints
from midwatch.terms.money import dollars

LEAST_OUTPUT: Final = 4_096
"""Tokens that a request is always allowed for its answer, so that the last one of a budget says something."""
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


@dataclass(frozen=True, slots=True)
class MaySpend:
    """Yes, not yet, or no; with the ceiling that decided and a sentence for the agent."""

    answer: Literal["yes", "wait", "no"]
    why: str = ""
    whose: Whose | None = None
    kind: Kind | None = None
    left: Ceilings = UNLIMITED
    """After a yes: how much of each kind every budget still has."""


YES: Final = MaySpend("yes")


def may_spend(budgets: Iterable[BudgetUse], wanted: Amount) -> MaySpend:
    """A spent ceiling says no; one that is only reserved says wait, until reservations are spent or released.

    What is wanted is the most that a request can cost. A request alone in its budget may be sent while anything is
    left, because most cost far less; its answer is then cut to what is left (`fitting_output`). So each budget is
    exceeded by one request at most, and that one by its input and `LEAST_OUTPUT` at most.
    """
    answer, budgets = YES, tuple(budgets)
    for budget in budgets:
        for kind in KINDS:
            judged = _judged(budget, kind, wanted.of(kind))
            if judged.answer == "no":
                return judged
            if answer.answer == "yes":
                answer = judged
    return answer if answer.answer == "wait" else MaySpend("yes", left=_left(budgets))


def _left(budgets: Iterable[BudgetUse]) -> Ceilings:
    left: dict[Kind, int] = {}
    for budget in budgets:
        for kind in KINDS:
            if (ceiling := budget.ceilings.of(kind)) is not None:
                rest = ceiling - budget.spent.of(kind) - budget.reserved.of(kind)
                left[kind] = max(0, min(rest, left.get(kind, rest)))
    return Ceilings(**left)


def _judged(budget: BudgetUse, kind: Kind, wanted: int) -> MaySpend:
    ceiling = budget.ceilings.of(kind)
    # What costs nothing of this kind is not stopped by it: a subscription has no dollars to run out of.
    if ceiling is None or not wanted:
        return YES
    spent, reserved = budget.spent.of(kind), budget.reserved.of(kind)
    whose = budget.whose
    if spent >= ceiling:
        return MaySpend("no", f"The {whose.value} has used {_said(kind, spent, ceiling)}.", whose, kind)
    if reserved and spent + reserved + wanted > ceiling:
        why = f"Requests under way may use up what the {whose.value} has left of {amount_said(kind, ceiling)}."
        return MaySpend("wait", why, whose, kind)
    return YES


def estimated_tokens(body_bytes: int) -> int:
    """Estimate the input of a request before it is sent: one token per four bytes, at least one."""
    return max(1, -(-body_bytes // BYTES_PER_TOKEN))


def fitting_output(asked: int, answers: int, left: Ceilings, taken: Amount, usd_micros_per_million: int) -> int:
    """Cut the limit of each answer to what is left after the input, but not all together below `LEAST_OUTPUT`."""
    fitting = [asked * answers]
    if left.usd_micros is not None and usd_micros_per_million:
        fitting.append((left.usd_micros - taken.usd_micros) * 1_000_000 // usd_micros_per_million)
    if left.tokens is not None:
        fitting.append(left.tokens - taken.tokens)
    return min(asked, max(1, max(LEAST_OUTPUT, min(fitting)) // answers))


def _said(kind: Kind, spent: int, ceiling: int) -> str:
    return f"{amount_said(kind, spent)} of {amount_said(kind, ceiling)}"


def amount_said(kind: Kind, value: int) -> str:
    if kind == "usd_micros":
        return dollars(value)
    return f"{value} {kind if value != 1 else kind.removesuffix('s')}"
