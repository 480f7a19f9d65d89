"""Records of requests to models: what each used, and what is left of the provider's limits."""

from dataclasses import dataclass, replace
from datetime import datetime

from midwatch.terms.agents import Tokens


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens by kind, none counted twice: cached ones are not part of the input."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """All cache writes, whatever their lifetime."""
    cache_write_1h: int = 0
    """The part that is kept for an hour, which costs more."""
    terms: str = ""
    """The provider's word for a price other than the usual one: a tier of service, or a region."""
    estimated: bool = False
    """Whether some of it is estimated because the provider had not reported it yet."""

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def tokens(self) -> Tokens:
        """The same as the term that records use."""
        return Tokens(input=self.input, output=self.output, cache_read=self.cache_read, cache_write=self.cache_write)

    def guessing(self, *, input: int | None = None, output: int | None = None) -> "TokenUsage":  # noqa: A002 - its own name
        """Use an estimate where the provider did not report the input or the output."""
        taken, made = self.input if input is None else input, self.output if output is None else output
        return replace(self, input=taken, output=made, estimated=True)


NO_USAGE = TokenUsage()


@dataclass(frozen=True, slots=True)
class MeteredCall:
    """One request that was sent, with its outcome."""

    provider: str
    model: str
    """As the provider named it, or as requested."""
    api: str
    status: int
    """The provider's HTTP status; 0 without an answer."""
    usage: TokenUsage
    usd_micros: int
    ms: int
    cut: bool
    """Whether the answer is incomplete: one side closed the connection, or the time ran out."""
    why: str
    """Why it was cut or failed; empty for a success."""
    request_id: str = ""
    """The provider's own name for it."""
    reservation: str = ""
    """The name of its reservation in the ledger."""


@dataclass(frozen=True, slots=True)
class ProviderQuota:
    """How much of one of the provider's limits is left."""

    provider: str
    limit: str
    """The provider's own name for it: 5h, 7d, requests, input-tokens."""
    remaining: float | None = None
    """The share that is left, 0 to 1; None when it was not reported."""
    most: int | None = None
    """The whole of it, where it is a number of something."""
    resets_at: datetime | None = None
    rejected: bool = False
    """Whether the provider refused this request because of it."""
