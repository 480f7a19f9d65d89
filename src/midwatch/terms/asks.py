"""Words about what needs a person, what a person is told, and how a notice reaches them."""

from enum import IntEnum, StrEnum

from midwatch.terms.term import Term


class AskKind(StrEnum):
    """Why a person is wanted."""

    APPROVE_PLAN = "approve_plan"
    CONFIRM_ACT = "confirm_act"
    GUIDANCE_ERROR = "guidance_error"
    GUIDANCE_UNCERTAIN = "guidance_uncertain"
    QUESTION = "question"
    DECISION = "decision"
    MEMORY = "memory"
    CONFLICT = "conflict"
    AUTHORITY = "authority"
    SPEND = "spend"


class AskState(StrEnum):
    """Where an ask stands."""

    OPEN = "open"
    ANSWERED = "answered"
    DEFERRED = "deferred"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    INVALID = "invalid"


class Silence(StrEnum):
    """What it means when nobody answers in time."""

    APPROVED = "approved"
    WAITS = "waits"
    NOT_DONE = "not_done"
    STOP_AND_DEBRIEF = "stop_and_debrief"
    PARKED = "parked"
    TO_BRIEF = "to_brief"
    KEPT = "kept"
    NO = "no"


class Tier(IntEnum):
    """How loudly to speak."""

    URGENT = 1
    ACTION = 2
    SUMMARY = 3
    LOG = 4


class AskDraft(Term):
    """An ask before it has a number: question, options, what we would do, what silence means."""

    kind: AskKind
    question: str
    options: tuple[str, ...] = ("yes", "no")
    recommendation: str = ""
    rationale: str = ""
    priority: int = 5
    deadline_minutes: float | None = None
    silence: Silence = Silence.TO_BRIEF
    blocking: bool = False
    subject: str = ""
    """The job, act, run or session that waits for the answer."""
    project: str = ""
    shown_hash: str = ""
    """The hash of what the person is shown; an answer to something else is refused."""


APPROVE, EDIT, REJECT = "approve", "edit", "reject"
"""What may be said to a plan."""


class Delivery(StrEnum):
    """What a channel does with a notice."""

    NOW = "now"
    AFTER_QUIET = "after_quiet"
    BATCH = "batch"
    DIGEST = "digest"
    LOG = "log"


class DeliveryState(StrEnum):
    """Where a notice stands on its way to one channel."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    LOGGED = "logged"
    """It stays in the log: the channel was taken away meanwhile."""

    @property
    def over(self) -> bool:
        """Whether nothing more is tried."""
        return self not in {DeliveryState.WAITING, DeliveryState.SENDING}


class PushState(StrEnum):
    """What became of one message to a channel."""

    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Whoever sent it was gone before it could say so; what was in it is sent once more."""
