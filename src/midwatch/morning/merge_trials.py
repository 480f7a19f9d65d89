"""Merges and checks sets of branches, each once, to find the largest that passes; bounded in time and runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from midwatch.morning.context import Morning
from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.rules.budget.egress import setup_clients
from midwatch.rules.morning.merge_queue import Branch, Clash, choose, ranked
from midwatch.terms.jobs import Proof
from midwatch.terms.records import ProjectRow

STANDS = frozenset({"green", "still_red", "flaky"})
Order = tuple[str, ...]


class UsedUp(Exception):
    """Time or check runs were used up before there was a result."""


class _Unjoinable(Exception):
    """A part of an order does not merge, though the whole did."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question: which of these branches merge together on this base."""

    stack: str
    project: ProjectRow
    base: str
    branches: tuple[Branch, ...]
    heads: dict[str, str]
    titles: dict[str, str]
    checks: tuple[str, ...]
    paths: tuple[str, ...]
    setup_key: str
    """The jobs' setup, used if the merged tree needs one that was not made."""


@dataclass(slots=True)
class Trials:
    """What was tried, and the results."""

    morning: Morning
    asked: Question
    most_runs: int
    ends: float
    """On the event loop's clock."""
    runs: int = 0
    clashes: list[Clash] = field(default_factory=list)
    candidate: Order = ()
    """The order being tried; the result if time runs out before it is checked."""
    best: Order = ()
    """The longest order that passed the checks."""
    proofs: dict[str, Proof] = field(default_factory=dict)
    """By the checked commit: another order of the same branches may give another tree."""
    commits: dict[Order, str] = field(default_factory=dict)
    other_setup: bool = False
    _earlier: Proof | None = None

    @property
    def _after(self) -> dict[str, frozenset[str]]:
        return {one.id: one.after for one in self.asked.branches}

    async def settle(self) -> Order:
        """Find the largest set that merges and whose checks are no worse; each clash narrows the choice."""
        await self._pairs()
        while True:
            self.candidate = choose(self.asked.branches, self.clashes)
            clash = await self._ordered()
            if clash is None and self.candidate and self.asked.checks and not await self.stands(self.candidate):
                clash = await self._culprit(self.candidate)
            if clash is None:
                return self.candidate
            self.clashes.append(clash)

    async def _pairs(self) -> None:
        """Merge each branch alone, and each pair."""
        order = ranked(self.asked.branches)
        for place, one in enumerate(order):
            if clash := await self.joined((one.id,)):
                self.clashes.append(clash)
                continue
            for other in order[:place]:
                if (other.id,) in self.commits and (clash := await self.joined((other.id, one.id))):
                    self.clashes.append(clash)

    async def _ordered(self) -> Clash | None:
        """Merge the candidate; if only its order fails, as with renames, try each branch first once."""
        clash = await self.joined(self.candidate)
        for first in self.candidate if clash else ():
            order = (first, *(name for name in self.candidate if name != first))
            if not self._after[first] and await self.joined(order) is None:
                self.candidate = order
                return None
        return clash

    async def joined(self, order: Order) -> Clash | None:
        """Merge branches in this order; if one conflicts, return the fewest it conflicts with, and the files."""
        for length in range(1, len(order) + 1):
            files = await self._step(order[:length])
            if files:
                return await self._fewest(order[: length - 1], order[length - 1], files)
        return None

    async def _step(self, order: Order) -> tuple[str, ...]:
        """Merge the last of these onto the others, which are merged already; return the files in conflict."""
        if order in self.commits:
            return ()
        onto, last = self.commit(order[:-1]), order[-1]
        commit, files = await self.morning.merges.join(
            self.asked.project.id, onto, self.asked.heads[last], self.asked.titles[last]
        )
        if commit:
            self.commits[order] = commit
        return files

    async def _fewest(self, before: Order, last: str, files: tuple[str, ...]) -> Clash:
        for one in before if len(before) > 1 else ():
            fewer = tuple(name for name in before if name != one)
            if all([not await self._step(fewer[:length]) for length in range(1, len(fewer) + 1)]):
                still = await self._step((*fewer, last))
                before, files = (fewer, still) if still else (before, files)
        return Clash(members=frozenset((*before, last)), files=files)

    def commit(self, order: Order) -> str:
        return self.commits[order] if order else self.asked.base

    async def stands(self, order: Order) -> bool:
        """Return whether the checks on these together are no worse than without them."""
        if await self.joined(order):
            raise _Unjoinable
        proof = self.proofs.get(self.commit(order)) or await self._proven(order)
        if proof.verdict in STANDS and len(order) > len(self.best):
            self.best = order
        return proof.verdict in STANDS

    async def _proven(self, order: Order) -> Proof:
        left = self.ends - asyncio.get_running_loop().time()
        if self.runs >= self.most_runs or left <= 0:
            raise UsedUp
        self.runs += 1
        asked, commit = self.asked, self.commit(order)
        sandbox = self.morning.books.settings().sandbox
        allowed = setup_clients(sandbox.setup_domains, sandbox.registries)
        key = await self.morning.proofs.setup_key(asked.project.id, commit, asked.project.setup, allowed)
        self.other_setup = self.other_setup or key is None
        request = ProofRequest(
            place=JobPlace(project=asked.project.id, job=asked.stack, epoch=self.runs),
            base=asked.base,
            head=commit,
            checks=asked.checks,
            reruns=self.morning.books.settings().execution.max_check_reruns,
            wall=timedelta(seconds=left),
            paths=asked.paths,
            setup_key=key or asked.setup_key,
            earlier=self._earlier,
            stop=asyncio.Event(),
        )
        try:
            async with asyncio.timeout(left):
                proof = await self.morning.proofs.prove(request)
        except TimeoutError:
            raise UsedUp from None
        self._earlier = proof
        self.proofs[commit] = proof
        return proof

    async def _culprit(self, order: Order) -> Clash:
        """Find by bisection a branch that turns the checks red, and the branches it does so with."""
        length = len(order)
        try:
            length = await self._first_red((), order)
            last, before = order[length - 1], order[: length - 1]
            partners = before[: await self._first_red((last,), before)] if before else ()
            if len(partners) > 1 and not await self.stands((last, partners[-1])):
                partners = partners[-1:]
        except _Unjoinable:
            return Clash(members=frozenset(order[:length]), by_checks=True)
        return Clash(members=frozenset((last, *partners)), by_checks=True)

    async def _first_red(self, first: Order, others: Sequence[str]) -> int:
        """Return how many of the others it takes to turn the checks red; all of them together do."""
        fine, red = (-1 if first else 0), len(others)
        while red - fine > 1:
            middle = (fine + red) // 2
            if await self.stands((*first, *others[:middle])):
                fine = middle
            else:
                red = middle
        return red
