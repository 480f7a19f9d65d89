"""What model-driven agents do and cost: each settled request, each decided tool call, each limit met."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.agents import Errand, Outcome, Tokens


class ModelCalled(Happening):
    """A request to a model has ended and is paid for; what was set aside for it is given back in the same moment."""

    kind: Literal["model.called"] = "model.called"
    reservation: str
    job: str
    epoch: int
    provider: str
    model: str
    api: str
    status: int
    """What the provider answered; 0 when it did not."""
    tokens: Tokens
    usd_micros: int
    estimated: bool = False
    """Whether some of it is our guess because the provider had not told."""
    cut: bool = False
    ms: int = 0
    why: str = ""


class AgentBegan(Happening):
    """An agent's program is there, and this is what it was told."""

    kind: Literal["agent.began"] = "agent.began"
    job: str
    epoch: int
    agent: str
    version: str
    model: str
    errand: Errand
    conversation: str
    """The agent's own name for it, by which it can be resumed."""
    template: str
    template_version: str
    prompt_blob: str


class ToolCallDecided(Happening):
    """An agent wanted to use a tool, and this is what was decided."""

    kind: Literal["tool_call.decided"] = "tool_call.decided"
    job: str
    epoch: int
    call: str
    tool: str
    shown: str
    """Exactly what would run or be written."""
    verdict: Literal["allow", "deny", "ask"]
    code: str
    why: str
    by: str = ""
    """Who said so where a person was asked."""
    taints: bool = False
    """From here on the run has read strangers' text."""


class AgentLimited(Happening):
    """The provider's usage limit was met; the work waits until it ends."""

    kind: Literal["agent.limited"] = "agent.limited"
    job: str
    epoch: int
    provider: str
    limit: str
    resets_at: datetime | None = None


class AgentEnded(Happening):
    """An agent's run is over, told by what it said and never by its exit code."""

    kind: Literal["agent.ended"] = "agent.ended"
    job: str
    epoch: int
    outcome: Outcome
    why: str
    conversation: str = ""


class FuelRead(Happening):
    """What a provider says is left of one of its limits; written when it moved."""

    kind: Literal["fuel.read"] = "fuel.read"
    provider: str
    limit: str
    remaining: float | None = None
    """The share that is left, 0 to 1."""
    resets_at: datetime | None = None
    rejected: bool = False


CrewEvent = ModelCalled | AgentBegan | ToolCallDecided | AgentLimited | AgentEnded | FuelRead
