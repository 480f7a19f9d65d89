"""Routes about channels: how each stands, and one line to try it. Where they lead is said in the data folder only."""

from fastapi import APIRouter

from midwatch.surfaces.api.access import Operates, Reads, TheCaller, TheHouse
from midwatch.surfaces.api.day import Shown
from midwatch.surfaces.queries import channels as ways
from midwatch.terms.people import Scope
from midwatch.terms.term import Term

router = APIRouter()


class ChannelStatus(Term):
    """A channel: what it is, what it takes, whether its last message was taken, and what waits."""

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
    """What happened to one line that was sent to try a channel."""

    name: str
    ok: bool
    sentence: str
    hint: str


@router.get("/channels", dependencies=[Reads], response_model=list[ChannelStatus])
async def channels(house: TheHouse, caller: TheCaller) -> list[Shown]:
    """List every channel besides the log: what it takes, whether its last message was taken, what waits."""
    await house.reload_settings()
    return await ways.roll(house, whole=caller.may(Scope.OPERATE), anew=caller.way == "socket")


@router.post("/channels/{name}/test", dependencies=[Operates], response_model=ChannelTried)
async def try_channel(house: TheHouse, name: str) -> Shown:
    """Send one line over a channel and say what happened."""
    await house.reload_settings()
    return await ways.try_out(house, name)
