"""What a model-driven agent does while it works, the same for every vendor's program, and the signals it sends."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from midwatch.terms.term import Term


class Errand(StrEnum):
    """What an agent is asked for."""

    PLAN = "plan"
    EXECUTE = "execute"
    REPAIR = "repair"


class Outcome(StrEnum):
    """How a run of an agent ended, read from its output and never from its exit code."""

    OK = "ok"
    FAILED = "failed"
    MAX_TURNS = "max_turns"
    BUDGET = "budget"
    LIMIT = "limit"
    """The provider's usage limit; the provider says when it resets."""
    AUTH = "auth"
    NETWORK = "network"
    CANCELLED = "cancelled"
    CRASHED = "crashed"


class Tokens(Term):
    """Token counts, in the provider's own kinds."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


class ModelAccess(Term):
    """Which model an agent may ask, and by which secret; the agent never gets the secret itself."""

    provider: str
    model: str
    also: tuple[str, ...] = ()
    """Further models that it may ask, such as a smaller one for titles."""
    secret: str = ""
    """Its name in the vault."""
    kind: Literal["api_key", "oauth", "none"] = "api_key"
    base_url: str = ""
    """Another address than the provider's own."""


class Met(Term):
    """The last error at the door to a model, as Midwatch saw it."""

    outcome: Outcome
    why: str
    whose: str = ""
    """Whose ceiling it was: the job's, its run's or the session's."""
    resets_at: datetime | None = None


class Access(Term):
    """How a program reaches its model: the proxy's address inside the sandbox, and a placeholder of the right kind."""

    base_url: str
    placeholder: str
    kind: str = "api_key"
    """`api_key` or `oauth`: an agent behaves differently with each, so the placeholder has the same kind."""


class Decision(Term):
    """What a tool call may do."""

    allowed: bool
    why: str
    """A reason the agent can use."""


class FormerTry(Term):
    """A failed attempt at the same work, and what the next one should do differently."""

    stage: str
    cause: str
    """The cause in words."""
    said: str
    differently: str
    tail: str = ""
    """The end of the output of that attempt."""
    tries: int = 1
    """How many attempts have failed so far."""


class Prompted(Term):
    """The exact text that was sent to the agent, and the template it came from."""

    kind: Literal["prompted"] = "prompted"
    errand: Errand
    text: str
    template: str
    version: str


class RunBegan(Term):
    """The agent has started."""

    kind: Literal["began"] = "began"
    conversation: str
    """The agent's own id of the session, by which it can be resumed."""
    model: str = ""
    version: str = ""


class Said(Term):
    """The agent wrote a message."""

    kind: Literal["said"] = "said"
    text: str


class Printed(Term):
    """The program wrote a line that is no message of a protocol; only readers of its log see it."""

    kind: Literal["printed"] = "printed"
    text: str


class ToolRequested(Term):
    """The agent wants to use a tool; nothing has happened yet."""

    kind: Literal["tool_requested"] = "tool_requested"
    call: str
    tool: str
    input: dict[str, JsonValue]


class ToolDecided(Term):
    """Midwatch allowed or denied the call."""

    kind: Literal["tool_decided"] = "tool_decided"
    call: str
    allowed: bool
    why: str


class ToolEnded(Term):
    """A tool call returned."""

    kind: Literal["tool_ended"] = "tool_ended"
    call: str
    ok: bool
    summary: str = ""
    """The beginning and the end of what it returned."""
    exit_code: int | None = None
    """Of a command, where the program reports it."""


class PlanSpoken(Term):
    """The agent returned its plan."""

    kind: Literal["plan"] = "plan"
    text: str = ""
    structured: dict[str, JsonValue] | None = None


class Counted(Term):
    """What the agent itself reports as used; a cross-check, since Midwatch meters by itself."""

    kind: Literal["counted"] = "counted"
    tokens: Tokens
    usd: float | None = None


class ProviderRetried(Term):
    """A request to the provider failed, and the agent retries."""

    kind: Literal["retried"] = "retried"
    status: int = 0
    attempt: int = 0
    error: str = ""


class LimitMet(Term):
    """The provider reported how much of a limit is left, or that it is used up."""

    kind: Literal["limit"] = "limit"
    limit: str
    rejected: bool
    resets_at: datetime | None = None


class TurnEnded(Term):
    """One turn of the agent is over: one answer of its model, with the calls in it."""

    kind: Literal["turn"] = "turn"
    number: int


class RunEnded(Term):
    """The run is over; always the last event of a run."""

    kind: Literal["ended"] = "ended"
    outcome: Outcome
    why: str = ""
    """One plain sentence for a person."""
    conversation: str = ""
    structured: dict[str, JsonValue] | None = None
    resets_at: datetime | None = None


AgentEvent = Annotated[
    Prompted
    | RunBegan
    | Said
    | ToolRequested
    | ToolDecided
    | ToolEnded
    | PlanSpoken
    | Counted
    | ProviderRetried
    | LimitMet
    | TurnEnded
    | RunEnded,
    Field(discriminator="kind"),
]


class SignalKind(StrEnum):
    """The kinds of signals; the file has this name, with .json."""

    NEEDS_INPUT = "needs-input"
    ERROR = "error"
    COMPLETED = "completed"

    @property
    def file(self) -> str:
        return f"{self.value}.json"


class SignalState(StrEnum):
    """How a signal was handled."""

    KEPT = "kept"
    """Nothing needs to follow."""
    OPEN = "open"
    """A question without an answer so far."""
    ANSWERED = "answered"
    PASSED = "passed"
    """The agent has received the answer."""


SIGNALS = "signals"
"""The folder in an agent's home where it writes them."""
SIGNALS_VARIABLE = "MIDWATCH_SIGNALS"
IN_CHECKOUT = (".midwatch", ".orchestrator")
"""Folders in the checkout where some agents write them anyway; never part of the work."""
ANSWER_FILE = "answer.json"
WARNING_FILE = "warning.json"
"""Says that the agent's time is nearly over."""
FILES = (*(kind.file for kind in SignalKind), ANSWER_FILE, WARNING_FILE)


class Signal(Term):
    """A signal as it was read: an agent's text, never an instruction."""

    kind: SignalKind
    text: str
    """The question, the error or the summary."""
    detail: str = ""
    """The question's context, or more about the error."""
    options: tuple[str, ...] = ()


class Unreadable(Term):
    """A signal that was refused, and why, in words the agent can use."""

    kind: SignalKind
    why: str


class Claimed(Term):
    """A signal file that was moved out of the agent's reach; its content, or why there is none."""

    number: int
    """Numbered within the job."""
    kind: SignalKind
    raw: bytes = b""
    wrong: str = ""
