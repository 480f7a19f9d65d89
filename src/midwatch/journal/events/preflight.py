"""A preflight: everything the night needs is tried before the orders are signed; and a signature that waits for it."""

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from midwatch.journal.events.happening import Happening
from midwatch.terms.preflight import LineState, PreflightPlan, What
from midwatch.terms.term import without_unset


class PreflightBegun(Happening):
    """A preflight began."""

    kind: Literal["preflight.begun"] = "preflight.begun"
    preflight: str
    session: str
    """The draft it is for; empty for a single project."""
    orders_hash: str
    plan: PreflightPlan


class PreflightChecked(Happening):
    """One line of a preflight was checked."""

    kind: Literal["preflight.checked"] = "preflight.checked"
    preflight: str
    what: What
    subject: str
    """Which project, agent or channel."""
    state: LineState
    text: str
    fix: str = ""
    seconds: float = 0.0
    commit: str = ""
    """The base commit."""
    settings: dict[str, str] = Field(default_factory=dict)
    """The settings that would allow it: a value, or what is added to a list."""


class PreflightEnded(Happening):
    """A preflight ended, or failed with `error`."""

    kind: Literal["preflight.ended"] = "preflight.ended"
    preflight: str
    error: str = ""


class SigningAsked(Happening):
    """A person signed the sheet that they were shown; it takes effect when the preflight finds nothing bad."""

    kind: Literal["signing.asked"] = "signing.asked"
    session: str
    orders_hash: str
    by: str
    preflight: str
    shown: str = ""
    """The hash of the whole sheet; empty in entries from before it covered more than the orders."""
    capped: bool = False
    """Whether who pressed Sign may sign only what an owner granted: no owner, or a program."""

    @model_serializer(mode="wrap")
    def _as_asked(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_unset(dump(self), ("shown", "capped"))


class SigningDropped(Happening):
    """A signature that waited will not take effect."""

    kind: Literal["signing.dropped"] = "signing.dropped"
    session: str
    why: str


PreflightEvent = PreflightBegun | PreflightChecked | PreflightEnded | SigningAsked | SigningDropped
