"""Levels, authority and verdicts: what may be done, and who allowed it."""

from enum import StrEnum

from midwatch.terms.term import Term


class Level(StrEnum):
    """The level a person grants for a session."""

    OBSERVE = "observe"
    CAUTIOUS = "cautious"
    MODERATE = "moderate"
    FULL = "full"

    @property
    def rank(self) -> int:
        """Position on the scale; a higher level allows more."""
        return list(Level).index(self)


class Authority(StrEnum):
    """The authority a domain has earned by its results."""

    SUGGEST = "suggest"
    RECOMMEND = "recommend"
    ASSERT = "assert"
    AUTONOMOUS_LIMITED = "autonomous_limited"

    @property
    def rank(self) -> int:
        """Position on the scale; higher means firmer wording."""
        return list(Authority).index(self)


class GateOutcome(StrEnum):
    """The five outcomes of the gate, from the least reach to the most."""

    REFUSE = "refuse"
    SAY_ONLY = "say_only"
    ASK_FIRST = "ask_first"
    EXECUTE_AND_TELL = "execute_and_tell"
    EXECUTE = "execute"

    @property
    def reach(self) -> int:
        """How far the act gets without a person: the law 'a lower level never does more' compares this."""
        return {"refuse": 0, "say_only": 0, "ask_first": 1, "execute_and_tell": 2, "execute": 2}[self.value]

    @property
    def acts(self) -> bool:
        """Whether something happens without asking."""
        return self.reach == 2


class Isolation(StrEnum):
    """How strongly a job is isolated from the machine."""

    NONE = "none"
    LANDLOCK = "landlock"
    SEATBELT = "seatbelt"
    BUBBLEWRAP = "bubblewrap"


class Reason(Term):
    """One reason of a decision: a stable code for machines, a sentence for people."""

    code: str
    text: str


class Verdict(Term):
    """What the gate decided, and why, the deciding reason first."""

    outcome: GateOutcome
    reasons: tuple[Reason, ...]
    deadline_minutes: float | None = None
    silence: str = ""

    @property
    def first(self) -> Reason:
        return self.reasons[0]
