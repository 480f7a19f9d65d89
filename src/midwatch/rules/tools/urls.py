"""May this address be read? Only a plain web address whose host is on the list."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from midwatch.errors import Misuse
from midwatch.rules.budget.egress import WEB_PORTS, HostRule, may_reach
from midwatch.rules.tools.tool_case import PartDecision, deny
from midwatch.terms.visible import hidden, named

_SCHEMES: Final = {"http": min(WEB_PORTS), "https": max(WEB_PORTS)}
LONGEST: Final = 8192


def host_rules(domains: Iterable[str]) -> tuple[HostRule, ...]:
    """Read the list of hosts; an invalid line allows nothing."""
    rules: list[HostRule] = []
    for domain in domains:
        try:
            rules.append(HostRule.parse(domain))
        except Misuse:
            continue
    return tuple(rules)


def judge_url(url: str, rules: Iterable[HostRule]) -> PartDecision | None:
    """Say why an address may not be read; nothing when it may."""
    host, port = _host_and_port(url)
    if not host:
        return deny("call.fetch_unclear", url=named(url) or "An empty address")
    reach = may_reach(host, port, rules)
    return None if reach.allowed else deny("call.fetch_unlisted", why=reach.why)


def _host_and_port(url: str) -> tuple[str, int]:
    """Programs disagree about backslashes, blanks and users in an address, so none of these is read at all."""
    if len(url) > LONGEST or "\\" in url or any(one.isspace() or hidden(one) for one in url):
        return "", 0
    try:
        parts = urlsplit(url)
        port = parts.port or _SCHEMES.get(parts.scheme, 0)
    except ValueError:
        return "", 0
    plain = parts.scheme in _SCHEMES and "@" not in parts.netloc
    return (parts.hostname or "", port) if plain else ("", 0)
