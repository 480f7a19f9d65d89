"""Webhooks from forges: a signed message that something changed. It is not trusted; Midwatch only checks the forge."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from midwatch.surfaces.api.access import TheHouse
from midwatch.surfaces.api.ascii_json import AsciiJson

router = APIRouter()


@router.post("/hooks/github/{forge}", include_in_schema=False)
async def github(house: TheHouse, request: Request, forge: str) -> Response:
    """Receive a webhook of GitHub and check that forge's pull requests; a repeated one changes nothing."""
    new = await house.forges.hear(forge, await request.body(), request.headers)
    if new:
        await house.forge_watch.ring(forge)
    return AsciiJson({"status": "heard" if new else "nothing new"}, status_code=202 if new else 200)
