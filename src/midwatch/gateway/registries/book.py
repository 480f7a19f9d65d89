"""Remembers for a while what each package client of this machine is set to, and from where its registries download."""

import asyncio
import json
import re
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from midwatch.gateway.redaction.known_values import long_enough
from midwatch.gateway.registries.client import ClientRegistries, DownloadHost, RegistrySource
from midwatch.gateway.registries.other_clients import cargo, go, npm
from midwatch.gateway.registries.python_clients import pip, uv

FRESH: Final = 600.0
"""Seconds for which an answer is used again."""
PATIENCE: Final = 20.0
LARGEST: Final = 8_000_000
MOST_REDIRECTS: Final = 4
ASKING: Final[Mapping[str, Callable[[], Awaitable[ClientRegistries]]]] = {
    "pip": pip,
    "uv": uv,
    "npm": npm,
    "cargo": cargo,
    "go": go,
}
Further = Callable[[ClientRegistries], Awaitable[tuple[DownloadHost | RegistrySource, ...]]]
"""Finds from where else a client's registries download: further hosts, and further folders of their own."""
_PAGES: Final = {"pip": "pip/", "uv": "pip/", "npm": "npm/latest", "cargo": "config.json"}
"""A page of each kind of registry that names the host of a download; go's proxies serve everything themselves."""
_ACCEPT: Final = "application/vnd.pypi.simple.v1+json, application/json;q=0.9, text/html;q=0.1"


class RegistryBook:
    """Asks each client once in a while; credentials are given to the redactor before anybody else."""

    def __init__(self, know: Callable[[Mapping[str, str]], None], further: Further | None = None) -> None:
        self._know = know
        self._further = further or downloads
        self._known: dict[str, tuple[float, ClientRegistries]] = {}
        self._asking = asyncio.Lock()

    def forget(self, clients: Iterable[str]) -> None:
        """Ask these clients again the next time."""
        for client in clients:
            self._known.pop(client, None)

    async def of(self, client: str) -> ClientRegistries:
        """Return what a client is set to, or raise that it does not say."""
        async with self._asking:
            known = self._known.get(client)
            if known is None or monotonic() - known[0] > FRESH:
                found = await ASKING[client]()
                found = await asyncio.to_thread(_with_files_that_are_there, found)
                secrets = (value for one in found.sources for value in one.secrets if long_enough(value))
                self._know({f"{client} registry {number}": value for number, value in enumerate(secrets, 1)})
                known = (monotonic(), replace(found, downloads=await self._further(found)))
                self._known[client] = known
            return known[1]


def _with_files_that_are_there(found: ClientRegistries) -> ClientRegistries:
    return replace(found, certificates=tuple(file for file in found.certificates if Path(file).is_file()))


async def downloads(found: ClientRegistries) -> tuple[DownloadHost | RegistrySource, ...]:
    """Ask the registries from where packages are downloaded; one that does not answer adds nothing."""
    page = _PAGES.get(found.client)
    if page is None:
        return ()
    trust = ssl.create_default_context()
    for file in found.certificates:
        trust.load_verify_locations(file)
    own = {(one.host, one.port) for one in found.sources}
    beside: list[RegistrySource] = []
    hosts: dict[tuple[str, int], dict[tuple[str, int], None]] = {}
    async with httpx.AsyncClient(verify=trust, timeout=PATIENCE) as web:
        for source in found.sources:
            text = await _page(web, source, page)
            beside += _crates_beside(source, text) if found.client == "cargo" else ()
            for url in links(found.client, text):
                if (at := _download_at(url)) and at not in own:
                    hosts.setdefault(at, {})[source.host, source.port] = None
    return (*beside, *(DownloadHost(*at, tuple(named_by)) for at, named_by in hosts.items()))


def _crates_beside(index: RegistrySource, text: str) -> tuple[RegistrySource, ...]:
    """Find the folder of crates on the index's own host, where cargo shows its token too."""
    (url,) = links("cargo", text) or ("",)
    try:
        crates = RegistrySource.of(url.partition("{")[0])
        same = (crates.host, crates.port, crates.secure) == (index.host, index.port, index.secure)
    except ValueError:
        return ()
    wants_login = same and json.loads(text).get("auth-required") is True
    return (replace(crates, authorization=index.authorization),) if wants_login else ()


def _download_at(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        usual = parts.scheme == "https" and parts.port in {None, 443}
    except ValueError:
        return None
    return (parts.hostname.lower(), 443) if parts.hostname and usual else None


async def _page(web: httpx.AsyncClient, source: RegistrySource, page: str) -> str:
    """Read a page of a registry; a redirect to another host is not followed, as it may lead into this network."""
    headers = {"Accept": _ACCEPT} | ({"Authorization": source.authorization} if source.authorization else {})
    url = httpx.URL(source.url.rstrip("/") + "/" + page)
    try:
        answer = await web.get(url, headers=headers)
        for _ in range(MOST_REDIRECTS):
            further = answer.next_request
            if further is None or (further.url.scheme, further.url.netloc) != (url.scheme, url.netloc):
                break
            answer = await web.get(further.url, headers=headers)
    except (httpx.HTTPError, ValueError):
        return ""
    return answer.text if answer.is_success and len(answer.content) <= LARGEST else ""


def links(client: str, text: str) -> tuple[str, ...]:
    """Find the addresses of downloads on a registry's page; none that only describes a package counts."""
    try:
        page: Any = json.loads(text)
    except ValueError:
        return tuple(re.findall(r"href=[\"'](https?://[^\"'#]+)", text)) if client in {"pip", "uv"} else ()
    if not isinstance(page, dict):
        return ()
    match client:
        case "pip" | "uv":
            files = page.get("files")
            return tuple(str(one.get("url", "")) for one in files if isinstance(one, dict)) if files else ()
        case "npm":
            return (str((page.get("dist") or {}).get("tarball", "")),)
        case _:
            return (str(page.get("dl", "")),)
