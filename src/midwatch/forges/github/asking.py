"""The GitHub client: one request, one response; handles what concerns every request."""

import json
import ssl
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from midwatch.errors import Away, MidwatchError, Refused
from midwatch.forges.github.addresses import API
from midwatch.forges.github.refusals import refusal_anywhere
from midwatch.ports.clock import Clock
from midwatch.ports.credentials import ForgeToken

if TYPE_CHECKING:
    import httpx

VERSION: Final = "2022-11-28"
PATIENCE_SECONDS: Final = 20.0
LARGEST: Final = 8 << 20
MOST_PAGES: Final = 10
REMEMBERED: Final = 500
"""Responses cached by ETag: an unchanged one does not count against the rate limit."""


@dataclass(frozen=True, slots=True)
class GitHubAnswer:
    """What GitHub answered."""

    status: int
    headers: Mapping[str, str]
    body: Any
    """The parsed JSON; None if there was none."""

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """GitHub's error message."""
        said = self.body.get("message") if isinstance(self.body, dict) else None
        return said if isinstance(said, str) else ""


@dataclass(frozen=True)
class GitHubClient:
    """Calls one GitHub with one token. It follows no redirect, keeps no cookie and uses no proxy."""

    name: str
    """The forge's name in the settings."""
    credential: ForgeToken = field(repr=False)
    clock: Clock
    base_url: str = API
    trust: ssl.SSLContext | None = None
    _kept: "OrderedDict[str, GitHubAnswer]" = field(default_factory=OrderedDict, repr=False)

    @cached_property
    def _client(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415 - loaded with the first request: most installations have no remote forge

        trust = self.trust or ssl.create_default_context()
        return httpx.AsyncClient(verify=trust, trust_env=False, follow_redirects=False, timeout=PATIENCE_SECONDS)

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aclose()

    async def ask(self, method: str, path: str, body: object = None, **query: str | int) -> GitHubAnswer:
        """Send one request; raise on a refused token, a limit, an unreachable host or a moved repository."""
        text = f"{path}?{json.dumps(query, sort_keys=True)}"
        before = self._kept.get(text) if method == "GET" else None
        answer = await self._send(method, path, body, query, before)
        if answer.status == 304 and before is not None:
            return before
        if answer.status == 401:
            self.credential.refused()
        if error := refusal_anywhere(self.name, answer.status, answer.headers, answer.message, self.clock.now()):
            raise error
        if method == "GET" and answer.good and answer.headers.get("etag", "").isascii() and "etag" in answer.headers:
            self._kept[text] = answer
            self._kept.move_to_end(text)
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)
        return answer

    async def pages(self, path: str, among: str = "", **query: str | int) -> tuple[GitHubAnswer, list[Any]]:
        """Fetch a whole list, page by page; return the last response and all items."""
        items: list[Any] = []
        page = 0
        while True:
            page += 1
            answer = await self.ask("GET", path, per_page=100, page=page, **query)
            found = answer.body.get(among, []) if among and isinstance(answer.body, dict) else answer.body
            items += found if isinstance(found, list) else []
            if page == MOST_PAGES or not answer.good or 'rel="next"' not in answer.headers.get("link", ""):
                return answer, items

    async def _send(
        self, method: str, path: str, body: object, query: Mapping[str, str | int], before: GitHubAnswer | None
    ) -> GitHubAnswer:
        import httpx  # noqa: PLC0415 - loaded with the first request: most installations have no remote forge

        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {await self.credential.reveal()}",
            "User-Agent": "midwatch",
            "X-GitHub-Api-Version": VERSION,
        }
        if before is not None:
            headers["If-None-Match"] = before.headers["etag"]
        url = self.base_url.rstrip("/") + path
        given = None if body is None else json.dumps(body).encode()
        if given is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with self._client.stream(method, url, headers=headers, content=given, params=query) as response:
                return await _read(response, self.name)
        except httpx.HTTPError as error:
            raise self._unheard(error) from None

    def _unheard(self, error: Exception) -> MidwatchError:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLError):
                return Refused(
                    f"The TLS certificate of {self.base_url} ({self.name}) was not accepted.",
                    hint="Check the host's certificate and this machine's clock; Midwatch never skips the check.",
                )
            cause = cause.__cause__ or cause.__context__
        kind = "did not answer in time" if "Timeout" in type(error).__name__ else "cannot be reached"
        return Away(
            f"{self.base_url} ({self.name}) {kind}.", hint="Check the address and the network; it is tried again."
        )


async def _read(response: "httpx.Response", name: str) -> GitHubAnswer:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > LARGEST:
            raise Away(f"{name} answered with more than {LARGEST >> 20} MiB.", hint="It is tried again.")
    headers = {key.lower(): value for key, value in response.headers.items()}
    try:
        body = json.loads(data) if data.strip() else None
    except (ValueError, RecursionError):  # not JSON, a number of thousands of digits, endless brackets
        if response.status_code < 400:
            raise Away(f"{name} returned something that is not JSON.", hint="Check base_url.") from None
        body = None
    return GitHubAnswer(response.status_code, headers, body)
