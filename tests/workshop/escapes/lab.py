"""A host to escape to: a person's repository, our data folder, an agent's clone, and a mark that must never appear."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.forges.local import LocalForge
from midwatch.rules.checks.discovery import NamedCheck
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Change
from midwatch.terms.trust import Isolation
from midwatch.workshop.checks.checks import Checking, run_check
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.entry import place_inside
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.patience import PATIENCE
from tests.workshop.repository import ENVIRONMENT, Repository

FILES = {
    "README.md": "one\n",
    "src/app.py": "x = 1\n",
    "tests/test_app.py": "def test(): pass\n",
    ".gitignore": "*.o\n",
}
ORDINARY = "git status; git diff HEAD; git log -p -2; git fetch --all; git add -A; git commit -qm z --allow-empty"
AFTERWARDS = "git checkout -q -b other; echo >> README.md; git stash"
SCOPE = ToolScope(allowed_paths=("src/**", "tests/**"), max_files_changed=5, max_diff_lines=100)
WIDE = ToolScope(allowed_paths=("**",))


@dataclass
class Lab:
    """One host, one agent, and everything the product does with what the agent leaves."""

    folder: Path
    isolation: Isolation
    said: list[str] = field(default_factory=list)
    change: Change | None = None

    def __post_init__(self) -> None:
        self.person = Repository.begin(self.folder / "person" / "repo", FILES)
        self.base = self.person.head
        self.home = self.folder / "home"
        self.mirrors = GitMirrors(self.home)
        self.enclosure = Enclosure(isolation=self.isolation, path=os.environ["PATH"])
        self.checkouts = Checkouts(self.home, self.mirrors, enclosure=self.enclosure)
        self.marker = self.folder / "ESCAPED"
        asyncio.run(self._prepare())
        self.agent = Repository(self.checkouts.tree("job_1", 1))

    async def _prepare(self) -> None:
        await self.mirrors.refresh("shop", self.person.path)
        await self.checkouts.private_clone("shop", "job_1", 1, self.base)

    @property
    def arrived(self) -> bool:
        """Whether the work is in the mirror."""
        return "refs/midwatch/jobs/job_1/1" in Repository(self.mirrors.path("shop")).refs()

    def agent_does(self, script: str) -> None:
        """Let the agent write what it likes, in its own tree and as far as the walls let it."""
        walls = SandboxSpec(
            tree=self.agent.path,
            objects=(self.mirrors.path("shop") / "objects",),
            home=self._home_of_agent(),
            environment={**ENVIRONMENT, "PATH": os.environ["PATH"]},
        )
        # A script on the host can be named in a setting although the agent cannot see it under that name.
        outside = [str(self.person.path / ".git"), str(self.mirrors.path("shop"))]
        facts = {
            "W": str(place_inside(walls, self.isolation)),
            "T": str(self.agent.path),
            "M": str(self.marker),
            "BASE": self.base,
            "R": str(self.person.path),
            # Without walls an agent may do all this user may, and no care of ours changes that.
            "GITS": " ".join([".git", *(outside if self.isolation is not Isolation.NONE else ())]),
        }
        head = "".join(f"{name}='{value}'\n" for name, value in facts.items())
        trap = "printf '#!/bin/sh\\ntouch %s\\n[ -t 0 ] || timeout 2 cat\\nexit 0\\n' \"$M\" > x.sh; chmod +x x.sh\n"
        log = self.folder / "agent.log"
        argv = ["/bin/bash", "-c", f"{head}cd $W\n{trap}{script}"]
        asyncio.run(self.enclosure.run(walls, argv, log=log, wall=timedelta(seconds=60)))
        assert not self.marker.exists(), f"the agent's own git sprang the trap: {log.read_text()}"

    def _home_of_agent(self) -> Path:
        place = self.folder / "agent-home"
        place.mkdir(exist_ok=True)
        return place

    def product_does_everything(self, scope: ToolScope = WIDE) -> None:
        """Do with the clone whatever the product ever does, then let the person use git as they always do."""
        before = self.person.picture()
        asyncio.run(self._everything(scope))
        assert self.person.picture() == before, "the person's repository changed"
        self._ordinary(self.person.path, f"{ORDINARY}; {AFTERWARDS}")

    async def _everything(self, scope: ToolScope) -> None:
        head = await self._try(self.checkouts.head("job_1", 1))
        await self._try(self.checkouts.diff_so_far("job_1", 1, self.base))
        await self._try(self.checkouts.standing("job_1"))
        if isinstance(head, str) and await self._try(self.hand_in(head, scope)):
            async with self.checkouts.passing("shop", "job_1", head, "delivered") as tree:
                for command in (ORDINARY, AFTERWARDS):
                    await run_check(self._checking(tree), NamedCheck(command))
            forge = LocalForge(self.mirrors.git, self.mirrors)
            await self._try(forge.deliver(self.person.path, "shop", "job_1", head))
        later = datetime.now(UTC) + timedelta(days=99)
        await self._try(self.checkouts.collect((), timedelta(days=1), 0, later))
        await self._try(self.checkouts.discard("job_1"))

    def _checking(self, tree: Path) -> Checking:
        home = tree.with_name("home")
        home.mkdir(exist_ok=True)
        walls = SandboxSpec(tree=tree, home=home, objects=(self.mirrors.path("shop") / "objects",))
        return Checking(self.enclosure, walls, self.folder / "checks.log", timedelta(minutes=1))

    async def hand_in(self, head: str, scope: ToolScope = SCOPE) -> Change:
        """Bundle inside, then quarantine."""
        bundle = await self.checkouts.bundle("job_1", 1, self.base, head)
        return await self.admit(head, bundle, scope)

    async def admit(self, head: str, bundle: Path, scope: ToolScope = SCOPE) -> Change:
        """Put a bundle through the quarantine."""
        delivery = PackedWork("shop", "job_1", 1, self.base, head, bundle)
        self.change = await admit(self.home, self.mirrors, delivery, scope=scope, do_not_touch=())
        return self.change

    async def _try(self, act: Awaitable[object]) -> object:
        """Do it; a plain refusal is a fine answer, any other error is not."""
        try:
            return await act
        except MidwatchError as error:
            self.said += [str(error), *error.because, "" if error.hint else "NO HINT"]
            return None

    def attempt(self, act: Callable[[], Awaitable[object]]) -> None:
        """Do one thing of the product's."""
        asyncio.run(self._one(act))

    async def _one(self, act: Callable[[], Awaitable[object]]) -> None:
        await self._try(act())

    def naive(self) -> bool:
        """Tell whether a host that runs git in the agent's clone, as we never do, would have been caught."""
        self._ordinary(self.agent.path, f"{ORDINARY}; (cd sub && git status); {AFTERWARDS}")
        return self.marker.exists()

    def _ordinary(self, place: Path, script: str) -> None:
        command = ["/bin/sh", "-c", script]
        subprocess.run(command, cwd=place, env=ENVIRONMENT, capture_output=True, check=False, timeout=PATIENCE)

    def close(self) -> None:
        """Throw the host away."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Escape:
    """One attack: `run` tells whether it succeeded."""

    name: str
    run: Callable[[Lab], bool]
    words: str = ""
    """What the product must have said, where silence would be no proof."""
    live: bool = False
    """Whether naive git in the clone springs the trap, which shows that it is one."""
    script: str = ""
