"""Whether one more request to a model may be sent: what its job, run and session may still spend (SPEC 9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from midwatch.terms.contract import Constraints
from midwatch.terms.money import dollars

USUAL_OUTPUT: Final = 16_000
"""Tokens set aside for the answer to a request that names no limit."""
BYTES_PER_TOKEN: Final = 4


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


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """One ceiling's holder, with what it has spent and set aside."""

    whose: Whose
    ceilings: Ceilings = Ceilings()
    spent: Spent = NOTHING
    reserved: Reserved = NOTHING


@dataclass(frozen=True, slots=True)
class MaySpend:
    """Yes, not yet, or no; with the ceiling that decided and a sentence for the agent."""

    answer: Literal["yes", "wait", "no"]
    why: str = ""
    whose: Whose | None = None
    kind: Kind | None = None


YES: Final = MaySpend("yes")


def may_spend(budgets: Iterable[BudgetUse], wanted: Amount) -> MaySpend:
    """A spent ceiling says no; one that is only reserved says wait, until reservations are spent or released.

    A request alone in its budget may be sent while anything is left: its cost is known only afterwards, and
    estimates are far too high. So each budget is exceeded by one request at most.
    """
    answer = YES
    for budget in budgets:
        for kind in KINDS:
            judged = _judged(budget, kind, wanted.of(kind))
            if judged.answer == "no":
                return judged
            if answer.answer == "yes":
                answer = judged
    return answer


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


def expected_output(asked: int | None, answers: int = 1) -> int:
    """Estimate the output of a request: all it asked for, or the usual amount, for each answer it wants."""
    return (asked if asked is not None and asked > 0 else USUAL_OUTPUT) * max(1, answers)


def _said(kind: Kind, spent: int, ceiling: int) -> str:
    return f"{amount_said(kind, spent)} of {amount_said(kind, ceiling)}"


def amount_said(kind: Kind, value: int) -> str:
    if kind == "usd_micros":
        return dollars(value)
    return f"{value} {kind if value != 1 else kind.removesuffix('s')}"
