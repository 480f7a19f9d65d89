"""The state of every channel, and a test message: the same for the command line, the API and doctor."""

from datetime import timedelta
from typing import Any

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Unknown
from midwatch.settings.derived import channel_secret
from midwatch.settings.named_tables import ChannelSetup
from midwatch.terms.asks import DeliveryState
from midwatch.terms.records import DeliveryRow, NoticeRow, PushRow
from midwatch.views.pages.channels import ChannelShown, channel_shown, unsent_line

RECENT = timedelta(days=7)
"""Older failures to send are not reported."""
HELLO = "This is a test: Midwatch can reach you here."
FOR_OPERATORS = ("kept", "problem", "hint")
Shown = dict[str, Any]


async def roll(house: House, *, whole: bool, again: bool = False) -> list[Shown]:
    """List every channel: its kind, its tiers, whether it accepted its last message, and how many notices wait.

    Its URL's place and its problem are only for those who may fix it; only on this machine is the URL fetched again.
    """
    rows = []
    for name, setup in house.loaded.settings.channels.by_name().items():
        if again:
            house.vault.forget(channel_secret(name))
        row = await _stands(house, name, setup)
        rows.append(row if whole else row | dict.fromkeys(FOR_OPERATORS, ""))
    return rows


async def standing(house: House, name: str) -> tuple[ChannelShown, list[DeliveryRow]]:
    """Read the state of one channel, and what could not be sent to it lately."""
    pushes = await house.records.find(PushRow, channel=name)
    since = house.clock.now() - RECENT
    rows = [row for row in await house.records.find(DeliveryRow, channel=name) if row.created_at > since]
    return channel_shown(name, pushes, rows), [row for row in rows if row.state is DeliveryState.FAILED]


async def _stands(house: House, name: str, setup: ChannelSetup) -> Shown:
    shown, failed = await standing(house, name)
    result = await house.records.find(NoticeRow, id=tuple(row.notice for row in failed)) if failed else ()
    about = {
        "name": name,
        "kept": setup.url,
        "tiers": list(setup.tiers),
        "quiet": setup.quiet,
        "markdown": setup.markdown,
        "long_texts": setup.long_texts,
        "state": shown.state,
        "said": shown.said,
        "last_at": shown.at.isoformat() if shown.at else None,
        "waiting": shown.waiting,
        "failed": shown.failed,
        "unsent": unsent_line(name, [one.text for one in result]) if result else "",
    }
    return about | await _looked_at(house, name)


async def _looked_at(house: House, name: str) -> Shown:
    """Ask Apprise which service its URL names."""
    try:
        service = await house.night.outside.outlet.look(name)
    except MidwatchError as error:
        said = house.redactor.redact(error.message), house.redactor.redact(error.hint)
        return {"kind": "", "place": "", "problem": said[0], "hint": said[1]}
    return {"kind": service.kind, "place": service.place, "problem": "", "hint": ""}


async def try_out(house: House, name: str) -> Shown:
    """Send one test line, and return the result."""
    if name not in house.loaded.settings.channels.by_name():
        raise Unknown(f"There is no channel {name}.", hint=f"Add it: midwatch channel add {name}")
    house.vault.forget(channel_secret(name))
    try:
        await house.night.outside.outlet.push(name, "Midwatch", HELLO)
    except MidwatchError as error:
        said = house.redactor.redact(error.message)
        return {"name": name, "ok": False, "sentence": said, "hint": error.hint}
    return taken(name)


def taken(name: str) -> Shown:
    """Report that a test was accepted; only the person can see whether it arrived."""
    return {"name": name, "ok": True, "sentence": f"{name} accepted one line. Check whether it arrived.", "hint": ""}
