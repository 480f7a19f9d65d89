"""What a scripted model answers: the words of a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from midwatch.terms.agents import Tokens

USUAL = Tokens(input=100, output=20)
FOREVER = 1_000_000
"""For `times`: this answer is never used up."""


@dataclass(frozen=True)
class Shell:
    """The agent's way to run a command."""

    command: str


@dataclass(frozen=True)
class Write:
    """The agent's way to write a whole file."""

    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """The agent's way to replace one piece of text, of whole lines, by another."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Read:
    """The agent's way to read a file, or some sixty lines of it from one on."""

    path: str
    line: int = 0


@dataclass(frozen=True)
class Use:
    """Exactly this tool, whether the agent offered it or not."""

    tool: str
    given: Mapping[str, Any] = field(default_factory=dict)


Action = Shell | Write | Edit | Read | Use


@dataclass(frozen=True)
class Say:
    """A good answer, perhaps slow, held back or cut."""

    text: str = ""
    do: tuple[Action, ...] = ()
    thinking: str = ""
    usage: Tokens = USUAL
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    drip: float = 0.0
    """Seconds between the bytes of the body, which then come one by one."""
    cut: int | None = None
    """Close the connection after so many bytes of the body."""
    hold: int | None = None
    """After so many bytes of the body wait for `model.release(name)`."""
    encoding: str = ""
    """`gzip`, or as it is."""


@dataclass(frozen=True)
class Fault:
    """A refusal with an HTTP status, in the words of whichever API was asked."""

    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    """The provider's word for it, where the usual one for this status is not meant."""
    times: int = FOREVER


@dataclass(frozen=True)
class Hang:
    """Take the request and never answer, until the other side leaves or `model.release(name)`."""

    times: int = FOREVER


@dataclass(frozen=True)
class HangUp:
    """Take the request and close the connection without a word."""

    times: int = FOREVER


@dataclass(frozen=True)
class Garbage:
    """Status 200 and something that no API would say."""

    body: bytes = b"<html>this is not the model you are looking for</html>\x00\xff"
    content_type: str = "text/event-stream"
    times: int = FOREVER


Step = Say | Fault | Hang | HangUp | Garbage


def usage_limit(resets_at: int, *, claim: str = "five_hour", times: int = FOREVER) -> Fault:
    """Refuse as Anthropic does when a subscription's window is used up; `resets_at` is in epoch seconds."""
    window = {"five_hour": "5h", "seven_day": "7d"}[claim]
    headers = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(resets_at),
        "anthropic-ratelimit-unified-representative-claim": claim,
        f"anthropic-ratelimit-unified-{window}-status": "rejected",
        f"anthropic-ratelimit-unified-{window}-reset": str(resets_at),
        f"anthropic-ratelimit-unified-{window}-utilization": "1.0",
        "anthropic-ratelimit-unified-fallback-percentage": "0.5",
        "anthropic-ratelimit-unified-overage-status": "rejected",
        "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
        "x-should-retry": "false",
    }
    return Fault(429, "This request would exceed your account's rate limit.", headers, times=times)


def fuel(used: float, resets_at: int, *, window: str = "5h") -> dict[str, str]:
    """Give the headers by which Anthropic says how much of a window is used; for `Say.headers`."""
    return {
        "anthropic-ratelimit-unified-status": "allowed",
        "anthropic-ratelimit-unified-reset": str(resets_at),
        "anthropic-ratelimit-unified-representative-claim": {"5h": "five_hour", "7d": "seven_day"}[window],
        f"anthropic-ratelimit-unified-{window}-status": "allowed",
        f"anthropic-ratelimit-unified-{window}-reset": str(resets_at),
        f"anthropic-ratelimit-unified-{window}-utilization": str(used),
    }
