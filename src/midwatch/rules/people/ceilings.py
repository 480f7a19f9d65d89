"""How far the orders, commands and answers of people below an owner, and of programs with a token, may go (SPEC 9)."""

from collections.abc import Iterable, Iterator
from typing import Final

from midwatch.errors import Refused
from midwatch.rules.budget.egress import CLIENTS, WEB_PORTS, HostRule
from midwatch.rules.checks.discovery import FOUND, NONE
from midwatch.rules.tools.command_law import wholly_listed
from midwatch.rules.tools.tool_lists import is_inside
from midwatch.terms.figures import some
from midwatch.terms.orders import Limits, Orders
from midwatch.terms.people import GrantedCeilings
from midwatch.terms.trust import Level

HINT: Final = "An owner can do it, or grant more: midwatch settings propose ceilings.job_usd=... and its like."


def refuse_beyond(orders: Orders, granted: GrantedCeilings) -> None:
    """Raise where orders go beyond what an owner granted."""
    refuse(beyond(orders, granted))


def refuse(found: Iterable[str]) -> None:
    """Raise the first of these sentences, with all of them as reasons."""
    if because := tuple(found):
        raise Refused(because[0], hint=HINT, because=because)


def beyond(orders: Orders, granted: GrantedCeilings) -> tuple[str, ...]:
    """Say where orders go beyond what an owner granted, one sentence each; nothing where they stay inside."""
    return (
        *_level(orders.level, granted.level),
        *_session(orders.limits, granted.session),
        *_jobs(orders, granted),
        *_hosts(orders.permissions.domains, granted.domains),
        *(text for piece in orders.pieces() for text in tools_beyond(piece.tools, granted, needs_list=True)),
        *(text for piece in orders.pieces() for text in commands_beyond((*piece.checks, *piece.done_when), granted)),
    )


def _level(level: Level, granted: Level) -> Iterator[str]:
    if level.rank > granted.rank:
        yield f"The level {level} is above what an owner granted ({granted})."


def _session(limits: Limits, most: Limits) -> Iterator[str]:
    if limits.usd > most.usd:
        yield f"${limits.usd:g} a session is above what an owner granted (${most.usd:g})."
    for name, unit in (("tokens", "token"), ("minutes", "minute"), ("rounds", "round")):
        wanted, may = getattr(limits, name), getattr(most, name)
        if wanted > may:
            yield f"{some(wanted, unit)} a session are above what an owner granted ({may:,})."


def _jobs(orders: Orders, granted: GrantedCeilings) -> Iterator[str]:
    for work in orders.work:
        if work.usd is not None:
            yield from money_beyond(work.usd, granted)
        if work.minutes is not None and work.minutes > granted.job_minutes:
            most = some(granted.job_minutes, "minute")
            yield f"{some(work.minutes, 'minute')} a job are above what an owner granted ({most})."


def money_beyond(usd: float, granted: GrantedCeilings) -> Iterator[str]:
    """Say whether a job would have more than an owner granted."""
    if usd > granted.job_usd:
        yield f"${usd:g} a job is above what an owner granted (${granted.job_usd:g})."


def tools_beyond(tools: Iterable[str], granted: GrantedCeilings, *, needs_list: bool = False) -> Iterator[str]:
    """Say which tools an owner did not grant."""
    if not granted.tools:
        return
    named = tuple(tools)
    other = [one for one in named if not is_inside(one, granted.tools)]
    if other or (needs_list and not named):
        what = ", ".join(other) or "Work without a list of tools"
        yield f"{what} is not among the tools that an owner granted ({', '.join(granted.tools)})."


def commands_beyond(commands: Iterable[str], granted: GrantedCeilings) -> Iterator[str]:
    """Say which checks or setups run what no granted tool means: agents may always run their project's own."""
    if not granted.tools:
        return
    other = [one for one in commands if one not in {"", NONE, FOUND} and not wholly_listed(one, granted.tools)]
    if other:
        yield f"`{'`, `'.join(other)}` is not among the tools that an owner granted ({', '.join(granted.tools)})."


def _hosts(domains: Iterable[str], granted: tuple[str, ...]) -> Iterator[str]:
    other = [one for one in domains if not _covered(one, granted)]
    if other:
        yield f"{', '.join(other)} is not among the hosts that an owner granted."


def _covered(domain: str, granted: Iterable[str]) -> bool:
    if domain in set(granted):
        return True
    if domain in CLIENTS:
        return False
    wanted = HostRule.parse(domain)
    return any(_within(wanted, HostRule.parse(one)) for one in granted if one not in CLIENTS)


def _within(wanted: HostRule, granted: HostRule) -> bool:
    inside = granted.names(wanted.name) or (wanted.under and granted.under and wanted.name == granted.name)
    exact = not wanted.under or granted.under
    return inside and exact and (wanted.port == granted.port or (not granted.port and wanted.port in WEB_PORTS))
