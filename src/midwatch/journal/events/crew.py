"""What agents that use a model do and cost: settled requests, decided tool calls, limits."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening, JobHappening
from midwatch.terms.agents import Errand, Outcome, Tokens


class ModelCalled(Happening):
    """A model request was settled; its reservation is released in the same transaction."""

    kind: Literal["model.called"] = "model.called"
    reservation: str
    job: str
    epoch: int
    provider: str
    model: str
    api: str
    status: int
    """The provider's HTTP status; 0 without an answer."""
    tokens: Tokens
    usd_micros: int
    estimated: bool = False
    """Some counts are estimates because the provider did not report them."""
    cut: bool = False
    ms: int = 0
    why: str = ""


class AgentBegan(JobHappening):
    """An agent's program started with this prompt."""

    kind: Literal["agent.began"] = "agent.began"
    agent: str
    version: str
    model: str
    errand: Errand
    conversation: str
    """The agent's own id of the conversation, for resuming it."""
    template: str
    template_version: str
    prompt_blob: str


class ToolCallDecided(JobHappening):
    """A tool call of an agent was decided."""

    kind: Literal["tool_call.decided"] = "tool_call.decided"
    call: str
    tool: str
    shown: str
    """What would run or be written, exactly."""
    verdict: Literal["allow", "deny", "ask"]
    code: str
    why: str
    by: str = ""
    """Who decided, where a person was asked."""
    taints: bool = False
    """From here on the run has read untrusted text."""


class AgentLimited(JobHappening):
    """The provider's usage limit was reached; the job waits for its reset."""

    kind: Literal["agent.limited"] = "agent.limited"
    provider: str
    limit: str
    resets_at: datetime | None = None


class AgentEnded(JobHappening):
    """An agent's run ended. The outcome comes from its messages, never from its exit code."""

    kind: Literal["agent.ended"] = "agent.ended"
    outcome: Outcome
    why: str
    conversation: str = ""
    turns: int | None = None
    """How many answers of its model it acted on; None if its program does not show them."""


class FuelRead(Happening):
    """A provider reported what is left of a limit; recorded when it changed."""

    kind: Literal["fuel.read"] = "fuel.read"
    provider: str
    limit: str
    remaining: float | None = None
    """The share left, 0 to 1."""
    resets_at: datetime | None = None
    rejected: bool = False


CrewEvent = ModelCalled | AgentBegan | ToolCallDecided | AgentLimited | AgentEnded | FuelRead
