"""How strongly a job is isolated, what it may reach and what it tried, in plain words."""

from collections.abc import Iterable
from typing import Final

from midwatch.terms.contract import RunContract
from midwatch.terms.figures import size
from midwatch.terms.records import ConnectionRow, JobRow
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation
from midwatch.views.text.plain import ISOLATION_MARKS, clean

FIRST: Final = 10
"""How many refused connections are shown at once; the rest on demand."""


class Walls(Term):
    """One kind of isolation: its mark, whether it is good, and the plain reason."""

    kind: str
    mark: str
    state: str
    """good, half or bad; the mark shows it too, since colour is never the only sign."""
    does: str
    """What an isolated job can and cannot do, as the rest of a sentence about it."""

    @property
    def means(self) -> str:
        return f"It {self.does}."


WALLS: Final[dict[Isolation, Walls]] = {
    Isolation.BUBBLEWRAP: Walls(
        kind="bubblewrap",
        mark=ISOLATION_MARKS["bubblewrap"],
        state="good",
        does="sees its own checkout and what it is lent, nothing else of this machine, and has no network but the "
        "hosts it may reach",
    ),
    Isolation.LANDLOCK: Walls(
        kind="Landlock",
        mark=ISOLATION_MARKS["landlock"],
        state="half",
        does="writes only in its own folders and has no network, but sees this machine's processes and programs",
    ),
    Isolation.SEATBELT: Walls(
        kind="Seatbelt",
        mark=ISOLATION_MARKS["seatbelt"],
        state="half",
        does="writes only in its own folders, but sees this machine's processes",
    ),
    Isolation.NONE: Walls(
        kind="none",
        mark=ISOLATION_MARKS["none"],
        state="bad",
        does="has no sandbox: it can do everything you can do on this machine",
    ),
}


class ReachableHosts(Term):
    """What a job may reach: hosts by name, or why there are none, or all."""

    hosts: tuple[str, ...] = ()
    said: str = ""


class RefusedConnection(Term):
    """A connection a job tried and did not get, with how often."""

    place: str
    verdict: str
    why: str
    times: int


class Connections(Term):
    """Everything a job reached or tried to reach."""

    allowed: int = 0
    traffic: str = ""
    first: tuple[RefusedConnection, ...] = ()
    """What was refused, newest first."""
    more: tuple[RefusedConnection, ...] = ()

    @property
    def none(self) -> bool:
        """Whether it never tried at all."""
        return not self.allowed and not self.first


def walls_of(job: JobRow) -> Walls | None:
    """Return what isolated a job; nothing until a worker has claimed it."""
    return WALLS[job.isolation] if job.worker else None


def reach_of(job: JobRow, contract: RunContract | None, everywhere: Iterable[str]) -> ReachableHosts:
    """Return what a job may reach: hosts named by the settings and the run's contract, if its sandbox has a network."""
    if job.worker and job.isolation is Isolation.NONE:
        return ReachableHosts(said="Everything this machine reaches: there is no sandbox.")
    if job.worker and job.isolation is not Isolation.BUBBLEWRAP:
        return ReachableHosts(said="Nothing: this sandbox has no network.")
    scopes = contract.constraints.tool_policy.scopes.values() if contract else ()
    named = (*everywhere, *(domain for scope in scopes for domain in scope.allowed_domains))
    hosts = tuple(dict.fromkeys(clean(one, 253) for one in named))
    return ReachableHosts(hosts=hosts, said="" if hosts else "Nothing: its orders name no host.")


def connections_shown(rows: Iterable[ConnectionRow]) -> Connections:
    """Count what was reached and group what was not, newest first."""
    ordered = sorted(rows, key=lambda row: int(row.id), reverse=True)
    allowed = [row for row in ordered if row.verdict == "allowed"]
    times: dict[tuple[str, str, str], int] = {}
    for row in ordered:
        if row.verdict != "allowed":
            said = (f"{clean(row.host, 253) or 'nowhere'}:{row.port}", clean(row.verdict, 20), clean(row.why))
            times[said] = times.get(said, 0) + 1
    tried = [
        RefusedConnection(place=place, verdict=verdict, why=why, times=n) for (place, verdict, why), n in times.items()
    ]
    out, back = sum(row.bytes_out for row in ordered), sum(row.bytes_in for row in ordered)
    return Connections(
        allowed=len(allowed),
        traffic=f"{size(out)} out, {size(back)} in",
        first=tuple(tried[:FIRST]),
        more=tuple(tried[FIRST:]),
    )
