"""What doctor reports about forges: their address, and whether their tokens can be fetched and work."""

import asyncio

from midwatch.errors import MidwatchError
from midwatch.surfaces.cli.house.doctor_agents import Finding
from midwatch.surfaces.cli.shell import client


def forge_findings() -> list[Finding]:
    """Check every forge that is set up, one line each; the local one needs nothing."""
    from midwatch.settings import load_settings  # noqa: PLC0415  heavy

    try:
        forges = load_settings(client.home()).settings.forges.by_name()
    except MidwatchError:
        return []  # reported already
    return [asyncio.run(_asked(name)) for name in forges]


async def _asked(name: str) -> Finding:
    """Ask the forge whose token it is, as the server will."""
    from midwatch.compose.local_checks import ask_forge  # noqa: PLC0415  heavy
    from midwatch.settings import load_settings  # noqa: PLC0415

    settings = load_settings(client.home()).settings
    setup = settings.forges.by_name()[name]
    try:
        status = await ask_forge(settings, name)
    except MidwatchError as error:
        return {"state": "look", "text": f"forge {name}: {error.message}", "hint": error.hint}
    hooks = "webhooks taken" if setup.webhook_secret else "no webhooks"
    if status not in {200, 404}:  # an Enterprise without limits does not report them
        return {"state": "look", "text": f"forge {name} answered {status}.", "hint": "Check its base_url."}
    return {"state": "ok", "text": f"forge {name}: {setup.repositories_at} accepts the token; {hooks}", "hint": ""}
