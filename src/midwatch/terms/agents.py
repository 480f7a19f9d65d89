"""Words about what a model-driven agent does while it works, the same for every vendor's program."""

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
    """How a run of an agent ended, told by what it said and never by its exit code."""

    OK = "ok"
    FAILED = "failed"
    MAX_TURNS = "max_turns"
    BUDGET = "budget"
    LIMIT = "limit"
    """The provider's usage limit; it names when it ends."""
    AUTH = "auth"
    NETWORK = "network"
    CANCELLED = "cancelled"
    CRASHED = "crashed"


class Tokens(Term):
    """What was counted, in the provider's own kinds."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Everything together."""
        return self.input + self.output + self.cache_read + self.cache_write


class ModelAccess(Term):
    """Which model an agent may ask, and by which secret; the secret itself never comes near it."""

    provider: str
    model: str
    secret: str = ""
    """Its name in the vault."""
    kind: Literal["api_key", "oauth", "none"] = "api_key"
    base_url: str = ""
    """Another address than the provider's own."""


class Met(Term):
    """What went wrong last at the door to a model, as we saw it ourselves."""

    outcome: Outcome
    why: str
    whose: str = ""
    """Whose ceiling it was: the job's, its run's or the session's."""
    resets_at: datetime | None = None


class Access(Term):
    """How a program reaches its model: our proxy's address inside, and a placeholder of the right kind."""

    base_url: str
    placeholder: str
    kind: str = "api_key"
    """`api_key` or `oauth`: an agent behaves differently with each, so the placeholder is of the real one's kind."""


class Decision(Term):
    """What a tool call may do."""

    allowed: bool
    why: str
    """A reason the agent can use."""


class FormerTry(Term):
    """A try at the same work that failed, and what the next one should do differently."""

    stage: str
    cause: str
    """In words."""
    said: str
    differently: str
    tail: str = ""
    """The end of what was printed then."""
    tries: int = 1
    """How many have failed so far."""


class Prompted(Term):
    """What was said to the agent, word for word, and by which template."""

    kind: Literal["prompted"] = "prompted"
    errand: Errand
    text: str
    template: str
    version: str


class RunBegan(Term):
    """The agent is there."""

    kind: Literal["began"] = "began"
    conversation: str
    """The agent's own name for it, by which it can be resumed."""
    model: str = ""
    version: str = ""


class Said(Term):
    """The agent spoke."""

    kind: Literal["said"] = "said"
    text: str


class ToolRequested(Term):
    """The agent wants to use a tool; nothing has happened yet."""

    kind: Literal["tool_requested"] = "tool_requested"
    call: str
    tool: str
    input: dict[str, JsonValue]


class ToolDecided(Term):
    """We said yes or no."""

    kind: Literal["tool_decided"] = "tool_decided"
    call: str
    allowed: bool
    why: str


class ToolEnded(Term):
    """A tool came back."""

    kind: Literal["tool_ended"] = "tool_ended"
    call: str
    ok: bool
    summary: str = ""


class PlanSpoken(Term):
    """The agent says what it would do."""

    kind: Literal["plan"] = "plan"
    text: str = ""
    structured: dict[str, JsonValue] | None = None


class Counted(Term):
    """What the agent itself says it used; a cross-check, since we meter by ourselves."""

    kind: Literal["counted"] = "counted"
    tokens: Tokens
    usd: float | None = None


class ProviderRetried(Term):
    """The provider did not answer well, and the agent tries again."""

    kind: Literal["retried"] = "retried"
    status: int = 0
    attempt: int = 0
    error: str = ""


class LimitMet(Term):
    """The provider said how much is left, or that nothing is."""

    kind: Literal["limit"] = "limit"
    limit: str
    rejected: bool
    resets_at: datetime | None = None


class TurnEnded(Term):
    """One turn of the agent is over."""

    kind: Literal["turn"] = "turn"
    number: int


class RunEnded(Term):
    """The run is over; the last word of every run."""

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
