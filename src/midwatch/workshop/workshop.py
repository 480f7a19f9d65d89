"""The workshop: everything a job touches on disk, as the parts that the ports ask for."""

import asyncio
import hashlib
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.ports.credentials import GitCredentials
from midwatch.ports.network import RoomNetwork
from midwatch.ports.workspace import JobPlace, ProofRequest, RoomRequest, Tidied
from midwatch.rules.checks.setups import SetupChoice
from midwatch.settings.folder import job_log
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Bundle, Change, CheckResult, Proof
from midwatch.terms.projects import commit_id
from midwatch.terms.trust import Isolation
from midwatch.workshop.checks.proof import Prover
from midwatch.workshop.git.checkouts import Checkouts, subjects_since
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.mirrors import GitMirrors, MirrorMerger
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import adopt, find_orphans, put_away
from midwatch.workshop.holding.ending import read_ending
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.nursery import Nursery
from midwatch.workshop.quarantine.quarantine import PackedWork, Reveals, admit, reveals_nothing
from midwatch.workshop.rooms.rooms import WALLS, RoomFolders
from midwatch.workshop.rooms.setup import Setups
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.upkeep.kept_checkouts import Kept


class Workshop:
    """Mirrors, rooms, quarantine, proofs and upkeep under one data folder."""

    def __init__(
        self,
        home: Path,
        enclosure: Enclosure | None = None,
        *,
        reveals: Reveals = reveals_nothing,
        keys: GitCredentials | None = None,
    ) -> None:
        """`reveals` names known secrets in what an agent would deliver; `keys` are for git alone, never for agents."""
        enclosure = enclosure or Enclosure()
        self.mirrors = GitMirrors(home, Git(keys=keys))
        self.checkouts = Checkouts(home, self.mirrors, enclosure=enclosure)
        self.setups = Setups(home, self.checkouts, enclosure)
        self.nursery = Nursery()
        folders = RoomFolders(home, self.checkouts, enclosure, self.nursery)
        self.rooms = SandboxRooms(home, self.checkouts, self.setups, folders)
        self.quarantine = CheckoutQuarantine(home, self.checkouts, reveals)
        self.proofs = CheckoutProofs(self.rooms, self.checkouts, self.setups)
        self.upkeep = CheckoutUpkeep(home, self.checkouts)
        self.merger = MirrorMerger(self.mirrors)

    @property
    def enclosure(self) -> Enclosure:
        """The sandbox that new programs get."""
        return self.checkouts.enclosure

    def refit(self, enclosure: Enclosure) -> None:
        """Use another sandbox from now on; running programs keep theirs."""
        self.checkouts.enclosure = self.rooms.folders.enclosure = self.setups.enclosure = enclosure


class SandboxRooms:
    """Rooms in the sandbox, the programs in them, and the checkouts they leave."""

    def __init__(self, home: Path, checkouts: Checkouts, setups: Setups, folders: RoomFolders) -> None:
        self._home = home
        self._checkouts = checkouts
        self._setups = setups
        self.folders = folders

    @property
    def isolation(self) -> Isolation:
        return self.folders.enclosure.isolation

    async def set_up(
        self, place: JobPlace, commit: str, command: str, wall: timedelta, network: RoomNetwork, stop: asyncio.Event
    ) -> tuple[str, bool, float]:
        made, reused, seconds = await self._setups.make(
            place.project,
            place.job,
            commit,
            command,
            log=self.log(place.job, "setup"),
            wall=wall,
            network=network,
            stop=stop,
        )
        return made.fingerprint, reused, seconds

    async def setup_choice(self, project: str, commit: str, named: str, allowed: tuple[str, ...]) -> SetupChoice:
        return await self._setups.choice(project, commit, named, allowed)

    async def missing_programs(
        self, place: JobPlace, commit: str, programs: tuple[str, ...], wall: timedelta
    ) -> tuple[CheckResult, ...]:
        log = self.log(place.job, "setup")
        return await self._setups.missing_programs(place.project, place.job, commit, programs, log=log, wall=wall)

    async def enter(self, request: RoomRequest) -> Workplace:
        paths = request.paths if await self._is_large(request) else ()
        made = self._setups.made(request.place.project, request.setup_key)
        room = await self.folders.enter(request, paths, made)
        return Workplace(room, request, self.log(request.place.job, "agent"))

    async def _is_large(self, request: RoomRequest) -> bool:
        """Only where a whole checkout would cost much: agents need tests and settings beside what they may change."""
        if not request.paths:
            return False
        mirrors = self._checkouts.mirrors
        mirror = mirrors.path(request.place.project)
        listed = await mirrors.git.run(mirror, "ls-tree", "-r", "-z", "--name-only", commit_id(request.commit))
        return listed.count(b"\0") >= request.sparse_from

    async def take_over(self, job: str, epoch: int, *, to: str, at: int) -> None:
        await self._checkouts.hand_on(job, epoch, to=to, at=at)

    async def put_away(self, job: str) -> None:
        """Remove the output of a job's ended agents, once their log holds it: unredacted, it may hold secrets."""
        await asyncio.to_thread(_put_away, self.folders.held(job))

    async def clear_out(self, job: str, grace: timedelta) -> bool:
        found = await adopt(self.folders.held(job))
        if isinstance(found, HeldProgram):
            await found.stop(grace.total_seconds())
            return True
        return False

    async def living(self) -> tuple[tuple[str, int], ...]:
        found = await asyncio.to_thread(find_orphans, self._home / "held", {})
        return tuple((orphan.place.parent.name, orphan.epoch) for orphan in found)

    async def head_so_far(self, job: str, epoch: int) -> str:
        try:
            return await self._checkouts.head(job, await self._where(job, epoch))
        except MidwatchError:
            return ""

    async def commits_so_far(self, job: str, epoch: int, base: str) -> tuple[str, tuple[str, ...]]:
        """Return the commit of a running agent, and the subjects since the base, oldest first; no git is run."""
        tree = self._checkouts.tree(job, epoch)
        try:
            head = await self._checkouts.head(job, epoch)
        except MidwatchError:
            return "", ()
        return head, await asyncio.to_thread(subjects_since, tree, head, base)

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        return await self._checkouts.commit_leftovers(job, epoch, message)

    async def diff_so_far(self, job: str, epoch: int, base: str) -> str:
        """Show what a running agent has committed so far."""
        return await self._checkouts.diff_so_far(job, await self._where(job, epoch), base)

    async def _where(self, job: str, epoch: int) -> int:
        """Find the checkout of an attempt: its own, or the one in which it found its agent running."""
        if await asyncio.to_thread(self._checkouts.tree(job, epoch).exists):
            return epoch
        return await asyncio.to_thread(self.folders.newest, job) or epoch

    def log(self, job: str, name: str) -> Path:
        path = job_log(self._home, job, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class CheckoutQuarantine:
    """Packs what agents committed, and admits it into the mirror."""

    def __init__(self, home: Path, checkouts: Checkouts, reveals: Reveals) -> None:
        self._home = home
        self._checkouts = checkouts
        self._reveals = reveals

    async def bundle(self, place: JobPlace, base: str) -> Bundle:
        head = await self._checkouts.head(place.job, place.epoch)
        packed = await self._checkouts.bundle(place.job, place.epoch, base, head)
        size, digest = await asyncio.to_thread(_weighed, packed)
        return Bundle(head=head, bytes=size, sha256=digest)

    async def collect(
        self, place: JobPlace, base: str, bundle: Bundle, scope: ToolScope, do_not_touch: tuple[str, ...]
    ) -> Change:
        """Take packed work through quarantine into the mirror; exactly the bundle that was packed, or none."""
        packed = self._checkouts.bundle_of(place.job, place.epoch)
        if await asyncio.to_thread(_weighed, packed) != (bundle.bytes, bundle.sha256):
            bundle = await self.bundle(place, base)
        delivery = PackedWork(
            project=place.project, job=place.job, epoch=place.epoch, base=base, head=bundle.head, bundle=packed
        )
        return await admit(
            self._home,
            self._checkouts.mirrors,
            delivery,
            scope=scope,
            do_not_touch=do_not_touch,
            reveals=self._reveals,
        )


class CheckoutProofs:
    """Runs checks in fresh checkouts."""

    def __init__(self, rooms: SandboxRooms, checkouts: Checkouts, setups: Setups) -> None:
        self._rooms = rooms
        self._checkouts = checkouts
        self._setups = setups

    async def prove(self, request: ProofRequest) -> Proof:
        return await self._prover(request).prove(request)

    async def baseline(self, request: ProofRequest, *alike: ProofRequest) -> tuple[CheckResult, ...]:
        return await self._prover(request).baseline(request, *alike)

    async def commands(self, request: ProofRequest) -> tuple[str, ...]:
        return tuple(check.command for check in await self._prover(request).checks(request))

    def _prover(self, request: ProofRequest) -> Prover:
        made = self._setups.made(request.place.project, request.setup_key)
        logs = self._rooms.log(request.place.job, "checks").parent
        return Prover(self._checkouts, self._checkouts.enclosure, logs, made)

    async def setup_key(self, project: str, commit: str, named: str, allowed: tuple[str, ...]) -> str | None:
        choice = await self._setups.choice(project, commit, named, allowed)
        if not choice.command:
            return ""
        key = await self._setups.fingerprint(project, commit, choice.command)
        return key if self._setups.made(project, key) else None


class CheckoutUpkeep:
    """Removes checkouts that are no longer needed."""

    def __init__(self, home: Path, checkouts: Checkouts) -> None:
        self._home = home
        self._checkouts = checkouts

    async def tidy(
        self, *, keep: tuple[str, ...], older_than: timedelta, disk_share: float, now: datetime
    ) -> tuple[Tidied, ...]:
        most = int(shutil.disk_usage(self._home).total * disk_share)
        entered = await asyncio.to_thread(find_orphans, self._home / "shells", {})
        with_a_shell = {orphan.place.parent.name for orphan in entered}
        done = await self._checkouts.collect({*keep, *with_a_shell}, older_than, most, now)
        return tuple(Tidied(one.job, one.why, one.bytes, one.failed) for one in done if one.removed or one.failed)

    async def standing(self, job: str) -> tuple[Kept, ...]:
        """List a job's checkouts, and what in them exists nowhere else."""
        return await self._checkouts.standing(job)

    async def discard(self, job: str, *, force: bool = False) -> int:
        freed = sum(kept.bytes for kept in await self._checkouts.standing(job))
        await self._checkouts.discard(job, force=force)
        return freed


def _put_away(held: Path) -> None:
    for epoch in records.epochs(held):
        place = records.epoch_folder(held, epoch)
        if read_ending(place) is not None:
            put_away(place)
            (place / WALLS).unlink(missing_ok=True)


def _weighed(bundle: Path) -> tuple[int, str]:
    """Return a bundle's size and hash; 0 and empty, where there is none (any more)."""
    try:
        with bundle.open("rb") as packed:
            digest = hashlib.file_digest(packed, "sha256").hexdigest()
            return packed.tell(), digest
    except FileNotFoundError:
        return 0, ""
