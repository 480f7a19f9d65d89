"""Routes about channels: their state, and a test line. Their URLs are only in the data folder.

Its own module: `surfaces/api` has one for each resource.
"""

from fastapi import APIRouter

from midwatch.surfaces.api.access import Operates, Reads, TheCaller, TheHouse
from midwatch.surfaces.queries import channels as ways
from midwatch.surfaces.queries.channels import ChannelStatus, ChannelTried
from midwatch.terms.people import Scope

router = APIRouter()


@router.get("/channels", dependencies=[Reads])
async def channels(house: TheHouse, caller: TheCaller) -> list[ChannelStatus]:
    """List every channel besides the log: its tiers, whether it accepted its last message, how many notices wait."""
    await house.reload_settings()
    return await ways.roll(house, whole=caller.may(Scope.OPERATE), again=caller.way == "socket")


@router.post("/channels/{name}/test", dependencies=[Operates])
async def try_channel(house: TheHouse, name: str) -> ChannelTried:
    """Send one test line to a channel and return the result."""
    await house.reload_settings()
    return await ways.try_out(house, name)
