"""The workshop as one place: what a job needs from mirrors, rooms, setups, quarantine and checks."""

import asyncio
import hashlib
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.ports.credentials import GitCredentials
from midwatch.ports.network import RoomNetwork
from midwatch.ports.workspace import JobPlace, ProofRequest, RoomRequest
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Bundle, Change, Proof, RepositoryFacts
from midwatch.terms.trust import Isolation
from midwatch.workshop.checks.proof import CheckPlan, Prover, Work
from midwatch.workshop.git import commits
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.merge import Joiner
from midwatch.workshop.git.mirrors import Mirrors
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import adopt, find_orphans
from midwatch.workshop.holding.ending import read_ending
from midwatch.workshop.holding.held import Held
from midwatch.workshop.holding.putting_away import put_away
from midwatch.workshop.quarantine.quarantine import Delivery, Reveals, admit, reveals_nothing
from midwatch.workshop.rooms.rooms import WALLS, Rooms, Terms
from midwatch.workshop.rooms.setup import Made, Setups
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.upkeep.folders import sha
from midwatch.workshop.upkeep.kept_checkouts import Kept


class Bench:
    """Everything a job touches on disk, under the data folder."""

    def __init__(
        self,
        home: Path,
        enclosure: Enclosure | None = None,
        *,
        reveals: Reveals = reveals_nothing,
        keys: GitCredentials | None = None,
    ) -> None:
        """Stand on a data folder; `reveals` names the house's secrets in what an agent would deliver.

        `keys` are shown to the far hosts they are for, by git, and by nothing that an agent runs.
        """
        self._home = home
        self._reveals = reveals
        self.enclosure = enclosure or Enclosure()
        self.mirrors = Mirrors(home, Git(keys=keys))
        self.checkouts = Checkouts(home, self.mirrors, enclosure=self.enclosure)
        self.rooms = Rooms(home, self.checkouts, self.enclosure)
        self.setups = Setups(home, self.checkouts, self.enclosure)
        self.joiner = Joiner(self.mirrors)

    def refit(self, enclosure: Enclosure) -> None:
        """Take other walls from now on; who is at work keeps the ones he has."""
        self.enclosure = self.checkouts.enclosure = self.rooms.enclosure = self.setups.enclosure = enclosure

    @property
    def isolation(self) -> Isolation:
        """Tell how strongly rooms are kept apart from this machine."""
        return self.enclosure.isolation

    async def inspect(self, path: Path | str) -> RepositoryFacts:
        """Look at a person's repository, a folder or a URL."""
        return await self.mirrors.inspect(path)

    async def refresh(self, project: str, source: Path | str, branch: str) -> str:
        """Bring our mirror up to date and tell the branch's commit."""
        await self.mirrors.refresh(project, source)
        return await self.mirrors.head_of(project, branch)

    async def pin(self, project: str, job: str, commit: str) -> None:
        """Keep a commit for a job, whatever the person deletes."""
        await self.mirrors.pin(project, job, commit)

    async def set_up(
        self,
        place: JobPlace,
        commit: str,
        command: str,
        wall: timedelta,
        doorman: RoomNetwork | None,
        stop: asyncio.Event,
    ) -> tuple[str, bool, float]:
        """Have a project's setup ready; tell its fingerprint, whether it was there already, and the seconds."""
        made, reused, seconds = await self.setups.make(
            place.project,
            place.job,
            commit,
            command,
            log=self.log(place.job, "setup"),
            wall=wall,
            doorman=doorman,
            stop=stop,
        )
        return made.fingerprint, reused, seconds

    async def room(self, lodging: RoomRequest) -> Workplace:
        """Give an agent a room: the one where it is at work since before a restart, or a fresh one."""
        place = lodging.place
        terms = Terms(
            commit=lodging.commit,
            purpose=lodging.purpose,
            paths=lodging.paths if await self._is_large(lodging) else (),
            reads_only=lodging.reads_only,
            takes_over=lodging.takes_over,
            made=self._made(place.project, lodging.setup_key),
        )
        room = await self.rooms.enter(place.project, place.job, place.epoch, terms)
        return Workplace(room, lodging, self.log(place.job, "agent"))

    async def _is_large(self, lodging: RoomRequest) -> bool:
        """Only where a whole checkout would cost much: agents need tests and settings beside what they may change."""
        if not lodging.paths:
            return False
        mirror = self.mirrors.path(lodging.place.project)
        listed = await self.mirrors.git.run(mirror, "ls-tree", "-r", "-z", "--name-only", sha(lodging.commit))
        return listed.count(b"\0") >= lodging.sparse_from

    def _made(self, project: str, setup_key: str) -> Made | None:
        return self.setups.made(project, setup_key)

    async def take_over(self, job: str, epoch: int, *, to: str, at: int) -> None:
        """Give another job the checkout of one that is over; done already, it changes nothing."""
        await self.checkouts.hand_on(job, epoch, to=to, at=at)

    async def put_away(self, job: str) -> None:
        """Forget what ended agents of a job said, once their log holds it: as it came, it may hold secrets."""
        folder = self.rooms.held(job)
        for epoch in await asyncio.to_thread(records.epochs, folder):
            place = records.epoch_folder(folder, epoch)
            if await asyncio.to_thread(read_ending, place) is not None:
                await put_away(place)
                await asyncio.to_thread((place / WALLS).unlink, missing_ok=True)

    async def clear_out(self, job: str, grace: timedelta) -> bool:
        """End whatever still works for a job; tell whether there was anything."""
        found = await adopt(self.rooms.held(job))
        if isinstance(found, Held):
            await found.stop(grace.total_seconds())
            return True
        return False

    async def bundle(self, place: JobPlace, base: str) -> Bundle:
        """Pack an agent's commits inside its walls; the same again packs them anew."""
        head = await self.checkouts.head(place.job, place.epoch)
        packed = await self.checkouts.bundle(place.job, place.epoch, base, head)
        size, digest = await asyncio.to_thread(_weighed, packed)
        return Bundle(head=head, bytes=size, sha256=digest)

    async def collect(
        self, place: JobPlace, base: str, bundle: Bundle, scope: ToolScope, do_not_touch: tuple[str, ...]
    ) -> Change:
        """Take packed work through quarantine into the mirror; the very bundle that was packed, or none."""
        packed = self.checkouts.bundle_of(place.job, place.epoch)
        if await asyncio.to_thread(_weighed, packed) != (bundle.bytes, bundle.sha256):
            bundle = await self.bundle(place, base)
        delivery = Delivery(
            project=place.project, job=place.job, epoch=place.epoch, base=base, head=bundle.head, bundle=packed
        )
        return await admit(
            self._home, self.mirrors, delivery, scope=scope, do_not_touch=do_not_touch, reveals=self._reveals
        )

    async def diff(self, project: str, base: str, head: str) -> str:
        """Show a change as text."""
        return await self.mirrors.diff(project, base, head)

    async def last_subjects(self, project: str, commit: str, most: int) -> tuple[str, ...]:
        """Give the subjects of the last commits up to one, newest first."""
        mirror = self.mirrors.path(project)
        said = await self.mirrors.git.run(mirror, "log", f"--max-count={most}", "--format=%s", sha(commit))
        return tuple(line[:200] for line in said.decode(errors="replace").splitlines() if line)

    async def head_so_far(self, job: str, epoch: int) -> str:
        """Tell the commit an agent at work is at; nothing, while it is at none."""
        try:
            return await self.checkouts.head(job, await self._where(job, epoch))
        except MidwatchError:
            return ""

    async def commits_so_far(self, job: str, epoch: int, base: str) -> tuple[str, tuple[str, ...]]:
        """Tell the commit an agent at work is at, and the subjects since the base, oldest first; no git is run."""
        tree = self.checkouts.tree(job, epoch)
        try:
            head = await self.checkouts.head(job, epoch)
        except MidwatchError:
            return "", ()
        return head, await asyncio.to_thread(commits.subjects_since, tree, head, base)

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        """Commit what an agent that has ended left lying in its checkout; tell whether there was anything."""
        return await self.checkouts.commit_leftovers(job, epoch, message)

    async def diff_so_far(self, job: str, epoch: int, base: str) -> str:
        """Show what an agent at work has committed until now."""
        return await self.checkouts.diff_so_far(job, await self._where(job, epoch), base)

    async def _where(self, job: str, epoch: int) -> int:
        """Tell whose checkout an attempt works in: its own, or the one in which it found its agent at work."""
        if await asyncio.to_thread(self.checkouts.tree(job, epoch).exists):
            return epoch
        return await asyncio.to_thread(self.rooms.newest, job) or epoch

    async def prove(self, request: ProofRequest) -> Proof:
        """Ask fresh checkouts."""
        place = request.place
        work = Work(project=place.project, job=place.job, base=request.base, head=request.head, epoch=place.epoch)
        plan = CheckPlan(
            commands=request.checks,
            wall=request.wall,
            may_change=request.paths,
            made=self._made(place.project, request.setup_key),
            project=request.project_checks,
            finds=request.finds_checks,
            reruns=request.reruns,
            claims=request.claims,
        )
        logs = self.log(place.job, "checks").parent
        prover = Prover(self.checkouts, self.enclosure, logs)
        return await prover.prove(work, plan, earlier=request.earlier, stop=request.stop)

    async def setup_key(self, project: str, commit: str, command: str) -> str:
        """Name the setup that a commit needs, if it was made; nothing otherwise."""
        key = await self.setups.fingerprint(project, commit, command) if command else ""
        return key if self._made(project, key) else ""

    async def living(self) -> tuple[tuple[str, int], ...]:
        """List the jobs, with their attempts, for which something is at work on this machine."""
        found = await asyncio.to_thread(find_orphans, self._home / "held", {})
        return tuple((orphan.place.parent.name, orphan.epoch) for orphan in found)

    async def tidy(
        self, *, keep: tuple[str, ...], older_than: timedelta, disk_share: float, now: datetime
    ) -> tuple[tuple[str, str, int], ...]:
        """Remove old checkouts that hold nothing of their own; tell of each whose, why and how many bytes."""
        most = int(shutil.disk_usage(self._home).total * disk_share)
        entered = await asyncio.to_thread(find_orphans, self._home / "shells", {})
        somebody_inside = {orphan.place.parent.name for orphan in entered}
        done = await self.checkouts.collect({*keep, *somebody_inside}, older_than, most, now)
        return tuple((one.job, one.why, one.bytes) for one in done if one.removed)

    async def standing(self, job: str) -> tuple[Kept, ...]:
        """List a job's checkouts, and what in them is nowhere else."""
        return await self.checkouts.standing(job)

    async def discard(self, job: str, *, force: bool = False) -> int:
        """Throw a job's checkouts away, and tell how many bytes that freed."""
        freed = sum(kept.bytes for kept in await self.checkouts.standing(job))
        await self.checkouts.discard(job, force=force)
        return freed

    def log(self, job: str, name: str) -> Path:
        """Tell where a job's log lies."""
        folder = self._home / "jobs" / job
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"


def _weighed(bundle: Path) -> tuple[int, str]:
    """Tell a bundle's size and what it holds; nothing of either, where there is none (any more)."""
    try:
        with bundle.open("rb") as packed:
            digest = hashlib.file_digest(packed, "sha256").hexdigest()
            return packed.tell(), digest
    except FileNotFoundError:
        return 0, ""
