"""Sends notices by Apprise, a library for a hundred services; each service's URL is a secret."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from midwatch.errors import MidwatchError, Misuse, Unavailable, Unknown
from midwatch.ports.channel import Destination
from midwatch.settings import Settings
from midwatch.settings.named_tables import ChannelSetup

T = TypeVar("T")
PATIENCE_SECONDS = 30.0
"""Real seconds for one part of a message, after which Apprise itself times out."""
SLACK_SECONDS = 5.0
SMS = 160
"""A service with this limit or less is like SMS: it splits messages itself, up to a length."""
SHORTEST_SECRET = 4
WHOLE_HOST = re.compile(r"localhost|[\w.-]+\.[\w-]+|\[[0-9a-f:]+\]")


class AppriseOutlet:
    """Sends by the channels in the settings; a service that hangs delays only its own message."""

    def __init__(self, address: Callable[[str], Awaitable[str]], settings: Callable[[], Settings]) -> None:
        self._address = address
        self._settings = settings
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="push")

    async def push(self, channel: str, title: str, text: str) -> None:
        """Send one message, long ones in parts; raise Unavailable with the service's reason if it was refused."""
        settings = self._settings()
        setup = settings.channels.by_name().get(channel)
        if setup is None:
            raise Unknown(f"There is no channel {channel}.", hint="List them: midwatch channel list")
        url = await self._address(channel)
        await self._in_thread(lambda: _send(url, title, text, setup, settings.notices.split_characters))

    async def look(self, channel: str) -> Destination:
        """Return the service behind a channel's URL, without sending anything."""
        url = await self._address(channel)
        return await self._in_thread(lambda: look_at(url))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS + SLACK_SECONDS):
                return await loop.run_in_executor(self._threads, work)
        except TimeoutError:
            raise Unavailable(
                f"The service did not answer within {PATIENCE_SECONDS:g} seconds.", hint="Try again later."
            ) from None

    def close(self) -> None:
        """Close without waiting for threads that hang."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def library() -> ModuleType:
    """Load Apprise, an optional dependency."""
    try:
        import apprise  # noqa: PLC0415  an extra, and slow to load
    except ImportError:
        raise Unavailable(
            "Apprise is not installed, so nothing can be pushed.",
            hint="midwatch channel add NAME installs it, if you agree.",
        ) from None
    logging.getLogger("apprise").propagate = False  # it may name parts of a URL; what we report of it is scrubbed
    return apprise


def look_at(url: str) -> Destination:
    """Check that Apprise understands a URL, and return what may be shown of it; blocking."""
    service = _service(url)
    shown = str(service.url(privacy=True))
    head, colon, rest = shown.partition("://")
    place, path, _ = rest.partition("/")
    # A path may be the secret, as in a webhook's address; Apprise does not hide every one.
    return Destination(kind=str(service.service_name), place=f"{head}{colon}{place.partition('?')[0]}{path and '/…'}")


def _service(url: str) -> Any:
    """Make the one service of a URL; of several in one text, only some might be sent."""
    apprise = library()
    said: list[str] = []
    catcher = _Catcher(said)
    apprise.logger.addHandler(catcher)
    try:
        services = apprise.Apprise(asset=apprise.AppriseAsset(app_id="Midwatch", app_desc="Midwatch", app_url=""))
        understood = services.add(url)
    finally:
        apprise.logger.removeHandler(catcher)
    if not understood or len(services) != 1:
        why = scrubbed(said[-1], url) if said else "The service is unknown."
        raise Misuse(f"Apprise does not understand the URL: {why}", hint="Examples: https://appriseit.com")
    return services[0]


class _Catcher(logging.Handler):
    """Keeps what Apprise logs about a URL."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())


def _send(url: str, title: str, text: str, setup: ChannelSetup, most: int) -> None:
    apprise = library()
    service = _service(url)
    like_sms = service.body_maxlen <= SMS if setup.long_texts == "auto" else setup.long_texts == "split"
    if not like_sms:
        service.overflow_mode = apprise.OverflowMode.SPLIT
    sender = apprise.Apprise()
    sender.add(service)
    style = apprise.NotifyFormat.MARKDOWN if setup.markdown else apprise.NotifyFormat.TEXT
    for part in parts(text, most) if like_sms else [text]:
        result = sender.notify(body=part, title=title, body_format=style, timeout=PATIENCE_SECONDS)
        if not result:
            raise _refused(service, [str(entry.message) for entry in result.logs()], url)


def _refused(service: Any, said: list[str], url: str) -> MidwatchError:
    """Return the reason from Apprise's log; Apprise itself returns only that it failed."""
    why = scrubbed(said[-1], url) if said else "no reason was given."
    return Unavailable(f"{service.service_name} refused it: {why}", hint="Is the service up, and the URL right?")


def parts(text: str, most: int) -> list[str]:
    """Split a long text at line ends or words, and number the parts; a short one stays as it is."""
    if len(text) <= most:
        return [text]
    room = max(1, most - len(" (999/999)"))
    found = []
    left = text
    while len(left) > room:
        cut = max(left.rfind("\n", 0, room + 1), left.rfind(" ", 0, room + 1))
        cut = cut if cut > room // 2 else room
        found.append(left[:cut].rstrip())
        left = left[cut:].lstrip()
    found += [left] if left else []
    return [f"{part} ({number}/{len(found)})" for number, part in enumerate(found, 1)]


def scrubbed(said: str, url: str) -> str:
    """Remove the URL and its parts from a sentence; a plain host name may stay."""
    host = urlsplit(url).hostname or ""
    pieces = {piece for part in (url, unquote(url)) for piece in re.split(r"[:/@?&=,\s]+", part)}
    plain = {host} if WHOLE_HOST.fullmatch(host) else set[str]()
    for piece in sorted({url, *pieces} - plain, key=len, reverse=True):
        if len(piece) >= SHORTEST_SECRET and piece != urlsplit(url).scheme:
            said = re.sub(re.escape(piece), "***", said, flags=re.IGNORECASE)
    return said
