"""The state of every channel, and a test message: the same for the command line, the API and doctor."""

from datetime import timedelta

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Unknown
from midwatch.settings.derived import channel_secret
from midwatch.settings.named_tables import ChannelSetup
from midwatch.terms.asks import DeliveryState
from midwatch.terms.records import DeliveryRow, NoticeRow, PushRow
from midwatch.terms.term import Term
from midwatch.views.pages.channels import NOTHING_SENT, ChannelShown, channel_shown, unsent_line

RECENT = timedelta(days=7)
"""Older failures to send are not reported."""
HELLO = "This is a test: Midwatch can reach you here."
FOR_OPERATORS = ("kept", "problem", "hint")


class ChannelStatus(Term):
    """A channel: its kind, its tiers, whether it accepted its last message, and how many notices wait."""

    name: str
    kept: str
    tiers: tuple[str, ...]
    quiet: bool
    markdown: bool
    long_texts: str
    state: str = "new"
    said: str = NOTHING_SENT
    last_at: str | None = None
    waiting: int = 0
    failed: int = 0
    unsent: str = ""
    kind: str = ""
    place: str = ""
    problem: str = ""
    hint: str = ""


class ChannelTried(Term):
    """The result of a test line sent to a channel."""

    name: str
    ok: bool
    sentence: str
    hint: str = ""


async def roll(house: House, *, whole: bool, again: bool = False) -> list[ChannelStatus]:
    """List every channel: its kind, its tiers, whether it accepted its last message, and how many notices wait.

    Its URL's place and its problem are only for those who may fix it; only on this machine is the URL fetched again.
    """
    rows = []
    for name, setup in house.loaded.settings.channels.by_name().items():
        if again:
            house.vault.forget(channel_secret(name))
        row = await _status(house, name, setup)
        rows.append(row if whole else row.model_copy(update=dict.fromkeys(FOR_OPERATORS, "")))
    return rows


async def standing(house: House, name: str) -> tuple[ChannelShown, list[DeliveryRow]]:
    """Read the state of one channel, and what could not be sent to it lately."""
    pushes = await house.records.find(PushRow, channel=name)
    since = house.clock.now() - RECENT
    rows = [row for row in await house.records.find(DeliveryRow, channel=name) if row.created_at > since]
    return channel_shown(name, pushes, rows), [row for row in rows if row.state is DeliveryState.FAILED]


def untried(name: str, setup: ChannelSetup) -> ChannelStatus:
    """What the settings alone say about a channel."""
    return ChannelStatus(name=name, kept=setup.url, **setup.model_dump(exclude={"url"}))


async def _status(house: House, name: str, setup: ChannelSetup) -> ChannelStatus:
    shown, failed = await standing(house, name)
    result = await house.records.find(NoticeRow, id=tuple(row.notice for row in failed)) if failed else ()
    known = {
        "state": shown.state,
        "said": shown.said,
        "last_at": shown.at.isoformat() if shown.at else None,
        "waiting": shown.waiting,
        "failed": shown.failed,
        "unsent": unsent_line(name, [one.text for one in result]) if result else "",
    }
    return untried(name, setup).model_copy(update=known | await _service(house, name))


async def _service(house: House, name: str) -> dict[str, str]:
    """Ask Apprise which service its URL names."""
    try:
        service = await house.night.outside.outlet.look(name)
    except MidwatchError as error:
        said = house.redactor.redact(error.message), house.redactor.redact(error.hint)
        return {"problem": said[0], "hint": said[1]}
    return {"kind": service.kind, "place": service.place}


async def try_out(house: House, name: str) -> ChannelTried:
    """Send one test line, and return the result."""
    if name not in house.loaded.settings.channels.by_name():
        raise Unknown(f"There is no channel {name}.", hint=f"Add it: midwatch channel add {name}")
    house.vault.forget(channel_secret(name))
    try:
        await house.night.outside.outlet.push(name, "Midwatch", HELLO)
    except MidwatchError as error:
        said = house.redactor.redact(error.message)
        return ChannelTried(name=name, ok=False, sentence=said, hint=error.hint)
    return taken(name)


def taken(name: str) -> ChannelTried:
    """Report that a test was accepted; only the person can see whether it arrived."""
    return ChannelTried(name=name, ok=True, sentence=f"{name} accepted one line. Check whether it arrived.")
