"""Where forges are tried: an agent's finished work in our mirror, and each forge with a repository of its own."""

from dataclasses import dataclass, field
from pathlib import Path

from midwatch.engine.clocks import SystemClock
from midwatch.errors import Unavailable
from midwatch.forges.github.asking import GitHubClient
from midwatch.forges.github.dressing import Wishes
from midwatch.forges.github.forge import GitHubForge
from midwatch.forges.local import LocalForge
from midwatch.forges.pushing import Pusher
from midwatch.ports.forge import Forge
from midwatch.terms.contract import ToolScope
from midwatch.terms.forges import PullRequestDraft, PullRequestPlace
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from tests.forges.github_door import Watched
from tests.forges.github_fake import Hosted, Token
from tests.workshop.repository import Repository

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PROJECT, JOB, BRANCH = "prj_shop", "job_1", "agent/job_1"


NONE = Wishes()


@dataclass
class Kept:
    """A token, as the vault would hand it out, and whether somebody said it was refused."""

    word: str = TOKEN
    refusals: int = 0
    gone: bool = False

    async def reveal(self) -> str:
        """Give it."""
        if self.gone:
            raise Unavailable("The command for the secret github failed with 1.", hint="Try it yourself.")
        return self.word

    def refused(self) -> None:
        """Count."""
        self.refusals += 1

    async def key_for(self, url: str) -> tuple[str, str]:
        """Give it to git as well."""
        return ("x-access-token", await self.reveal()) if url.startswith("http") else ("", "")


@dataclass
class Stand:
    """One forge with a repository that is delivered to."""

    forge: Forge
    source: str
    there: Repository
    """Where the branches arrive."""
    home: Path
    mirrors: GitMirrors
    client: GitHubClient | None = None
    hosted: Hosted | None = None
    kept: Kept = field(default_factory=Kept)

    async def work(self, files: dict[str, str], *, epoch: int = 1, base: str = "") -> str:
        """Let an agent finish something and quarantine admit it; tell its commit."""
        checkouts = Checkouts(self.home, self.mirrors)
        await self.mirrors.refresh(PROJECT, self.source if self.hosted else Path(self.source))
        base = base or self.there.refs()["refs/heads/main"]
        agent = Repository(await checkouts.private_clone(PROJECT, JOB, epoch, base))
        head = agent.commit("Work", files)
        bundle = await checkouts.bundle(JOB, epoch, base, head)
        delivery = PackedWork(PROJECT, JOB, epoch, base, head, bundle)
        await admit(self.home, self.mirrors, delivery, scope=ToolScope(), do_not_touch=())
        return head

    async def deliver(self, head: str) -> str:
        """Hand the branch over."""
        return await self.forge.deliver(self.source, PROJECT, JOB, head)

    def place(self, head: str, *, into: str = "main") -> PullRequestPlace:
        """Where the pull request is."""
        return PullRequestPlace(source=self.source, project=PROJECT, job=JOB, branch=BRANCH, head=head, into=into)

    def draft(self, head: str, *, draft: bool = False, into: str = "main") -> PullRequestDraft:
        """The pull request that is wanted."""
        place = self.place(head, into=into)
        return PullRequestDraft(place=place, title="Greet the visitor", body="**Why.** Ordered.", draft=draft)

    def kept_in_mirror(self, head: str) -> bool:
        """Whether the work is still with us."""
        return head in Repository(self.mirrors.path(PROJECT)).refs().values()


def local_stand(person: Repository, home: Path) -> Stand:
    """The forge that needs no network."""
    mirrors = GitMirrors(home)
    return Stand(LocalForge(mirrors.git, mirrors), str(person.path), person, home, mirrors)


def github_stand(watched: Watched, person: Repository, home: Path, wishes: Wishes = NONE) -> Stand:
    """GitHub, as far as anybody can tell."""
    hosted = watched.fake.host("ada/shop", person)
    watched.fake.tokens[TOKEN] = Token()
    kept = Kept()
    mirrors = GitMirrors(home, Git(keys=kept))
    client = GitHubClient("github", kept, SystemClock(), watched.api)
    forge = GitHubForge(client, Pusher(mirrors), wishes)
    return Stand(forge, watched.fake.url("ada/shop"), hosted.git, home, mirrors, client, hosted, kept)
