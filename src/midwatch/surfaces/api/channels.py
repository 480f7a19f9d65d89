"""Routes about channels: their state, and a test line. Their URLs are only in the data folder.

Its own module: `surfaces/api` has one for each resource.
"""

from fastapi import APIRouter

from midwatch.surfaces.api.access import Operates, Reads, TheCaller, TheHouse
from midwatch.surfaces.api.day import Shown
from midwatch.surfaces.queries import channels as ways
from midwatch.terms.people import Scope
from midwatch.terms.term import Term

router = APIRouter()


class ChannelStatus(Term):
    """A channel: its kind, its tiers, whether it accepted its last message, and how many notices wait."""

    name: str
    kept: str
    tiers: tuple[str, ...]
    quiet: bool
    markdown: bool
    long_texts: str
    state: str
    said: str
    last_at: str | None
    waiting: int
    failed: int
    unsent: str
    kind: str
    place: str
    problem: str
    hint: str


class ChannelTried(Term):
    """The result of a test line sent to a channel."""

    name: str
    ok: bool
    sentence: str
    hint: str


@router.get("/channels", dependencies=[Reads], response_model=list[ChannelStatus])
async def channels(house: TheHouse, caller: TheCaller) -> list[Shown]:
    """List every channel besides the log: its tiers, whether it accepted its last message, how many notices wait."""
    await house.reload_settings()
    return await ways.roll(house, whole=caller.may(Scope.OPERATE), again=caller.way == "socket")


@router.post("/channels/{name}/test", dependencies=[Operates], response_model=ChannelTried)
async def try_channel(house: TheHouse, name: str) -> Shown:
    """Send one test line to a channel and return the result."""
    await house.reload_settings()
    return await ways.try_out(house, name)
