"""News from forges: a signed word that something changed there. It is not believed; it only makes us look."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from midwatch.surfaces.api.access import TheHouse
from midwatch.surfaces.api.ascii_json import AsciiJson

router = APIRouter()


@router.post("/hooks/github/{forge}", include_in_schema=False)
async def github(house: TheHouse, request: Request, forge: str) -> Response:
    """Hear a webhook of GitHub and look at that forge's pull requests; what was heard before changes nothing."""
    new = await house.forges.hear(forge, await request.body(), request.headers)
    if new:
        await house.forge_watch.ring(forge)
    return AsciiJson({"status": "heard" if new else "nothing new"}, status_code=202 if new else 200)
