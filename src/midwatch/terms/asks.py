"""Asks and notices: what needs a person, what a person is notified of, and how a notice reaches them."""

from enum import IntEnum, StrEnum

from midwatch.terms.term import Term


class AskKind(StrEnum):
    """Why a person is needed."""

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
    """The state of an ask."""

    OPEN = "open"
    ANSWERED = "answered"
    DEFERRED = "deferred"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    INVALID = "invalid"


class Silence(StrEnum):
    """What happens when an ask is not answered in time."""

    APPROVED = "approved"
    WAITS = "waits"
    NOT_DONE = "not_done"
    STOP_AND_DEBRIEF = "stop_and_debrief"
    PARKED = "parked"
    TO_BRIEF = "to_brief"
    KEPT = "kept"
    NO = "no"


class Tier(IntEnum):
    """How urgent a notice is."""

    URGENT = 1
    ACTION = 2
    SUMMARY = 3
    LOG = 4


class AskDraft(Term):
    """An ask before it has a number: question, options, the recommended answer, what silence means."""

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
"""The possible answers to a plan."""


ALWAYS = "always allow here"
"""The answer to a held call that also allows its like in the project from now on; what exactly follows a colon."""


def always_option(tools: tuple[str, ...]) -> str:
    """Write the option so that a person sees what it would add."""
    return f"{ALWAYS}: {', '.join(tools)}"


def always_tools(answer: str) -> tuple[str, ...]:
    """Read from an answer what is always allowed from now on; nothing for any other answer."""
    said, _, tools = answer.partition(": ")
    return tuple(tools.split(", ")) if said == ALWAYS and tools else ()


class Delivery(StrEnum):
    """What a channel does with a notice."""

    NOW = "now"
    AFTER_QUIET = "after_quiet"
    BATCH = "batch"
    DIGEST = "digest"
    LOG = "log"


class DeliveryState(StrEnum):
    """The state of a notice on its way to one channel."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    LOGGED = "logged"
    """It stays in the log: the channel was removed in between."""

    @property
    def over(self) -> bool:
        """Whether no further attempt is made."""
        return self not in {DeliveryState.WAITING, DeliveryState.SENDING}


class PushState(StrEnum):
    """How one message to a channel ended."""

    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The sender stopped before it could record the result; the content is sent once more."""


def held_question(job: int, tool: str, exactly: str) -> str:
    """Ask about a tool call: the question in the first line, then all of what would happen."""
    return f"Allow job {job} to use {' '.join(tool.split())}?\n{exactly}"


def held_parts(question: str) -> tuple[str, str]:
    """Split the question about a tool call from what would happen."""
    asked, _, exactly = question.partition("\n")
    return asked, exactly
