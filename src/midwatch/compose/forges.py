"""Builds the forges: the forge of a project, its token, and which webhooks are accepted."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from midwatch.errors import Locked, MidwatchError, Refused, Stranger, Unknown
from midwatch.forges.github.addresses import API
from midwatch.forges.github.asking import GitHubClient
from midwatch.forges.github.dressing import Wishes
from midwatch.forges.github.forge import Deliveries, GitHubForge, genuine, is_news, signed
from midwatch.forges.local import LocalForge
from midwatch.forges.pushing import Pusher
from midwatch.gateway.vault import Vault
from midwatch.night.delivery.forge_watch import place_of
from midwatch.ports.clock import Clock
from midwatch.ports.forge import Forge
from midwatch.ports.journal import Records
from midwatch.settings import Settings
from midwatch.settings.named_tables import ForgeSetup
from midwatch.terms.forges import LOCAL
from midwatch.terms.records import ProjectRow, PullRequestRow
from midwatch.workshop.git.mirrors import GitMirrors

log = logging.getLogger("midwatch.forges")
TOKEN_USER = "x-access-token"  # noqa: S105 - the name GitHub wants beside any token, not a password


@dataclass(frozen=True, slots=True)
class Token:
    """A forge's token, fetched from its store each time it is needed."""

    vault: Vault
    forge: str
    secret: str

    async def reveal(self) -> str:
        """Return the token; a missing one raises `Locked`, because only the person can fix it."""
        if not self.secret:
            raise Locked(f"[forges.{self.forge}] names no secret for its token.", hint="Name one: secret = ...")
        try:
            return (await self.vault.secret(self.secret)).reveal()
        except MidwatchError as error:
            raise Locked(error.message, hint=error.hint) from None

    def refused(self) -> None:
        """Fetch it again next time: the person may have renewed it."""
        self.vault.forget(self.secret)


@dataclass(frozen=True, slots=True)
class Keyring:
    """Gives git the token of the forge a URL belongs to, and of no other."""

    vault: Vault
    settings: Callable[[], Settings]

    async def key_for(self, url: str) -> tuple[str, str]:
        """Return user name and token; both empty if no forge has that host."""
        forges = self.settings().forges
        name = forges.at(url)
        setup = forges.by_name().get(name)
        if setup is None or not setup.secret:
            return "", ""
        return TOKEN_USER, await Token(self.vault, name, setup.secret).reveal()


@dataclass
class ConfiguredForges:
    """Every configured forge; built when first needed, and again when its settings change."""

    mirrors: GitMirrors
    vault: Vault
    clock: Clock
    settings: Callable[[], Settings]
    _made: dict[str, tuple[ForgeSetup, GitHubForge]] = field(default_factory=dict)
    _left: list[GitHubClient] = field(default_factory=list)
    _heard: Deliveries = field(default_factory=Deliveries)

    def __post_init__(self) -> None:
        self.local = LocalForge(self.mirrors.git, self.mirrors)

    def of(self, project: ProjectRow) -> Forge:
        """Choose a project's forge: the one the person named, else the one its address belongs to."""
        return self.named(project.forge or self.settings().forges.at(project.path))

    def named(self, name: str) -> Forge:
        if name == LOCAL:
            return self.local
        setup = self.settings().forges.by_name().get(name)
        if setup is None:
            raise Refused(
                f"No forge is called {name}.",
                hint=f"Set it up as [forges.{name}] in midwatch.toml, or choose another: "
                "midwatch project change NAME --forge local",
            )
        if name not in self._made or self._made[name][0] != setup:
            if name in self._made:
                self._left.append(self._made[name][1].client)
            self._made[name] = setup, self._github(name, setup)
        return self._made[name][1]

    def _github(self, name: str, setup: ForgeSetup) -> GitHubForge:
        if (setup.speaks or name) != "github":
            raise Refused(
                f"The forge {name} is not configured.", hint=f'Add to midwatch.toml: [forges.{name}] speaks = "github"'
            )
        client = GitHubClient(name, Token(self.vault, name, setup.secret), self.clock, setup.base_url or API)
        wishes = Wishes(setup.labels, setup.reviewers, draft=setup.draft)
        return GitHubForge(client, Pusher(self.mirrors), wishes)

    async def hear(self, name: str, body: bytes, headers: Mapping[str, str]) -> bool:
        """Accept a forge's webhook; return whether to look. Its content is not trusted: it only triggers a look."""
        setup = self.settings().forges.by_name().get(name)
        not_accepted = Unknown("Webhooks are not accepted here.", hint="Name one: [forges.NAME] webhook_secret = ...")
        if setup is None or not setup.webhook_secret:
            raise not_accepted
        signature = headers.get("x-hub-signature-256", "")
        stranger = Stranger("The webhook's signature does not match.", hint="Give both sides the same secret.")
        if not signed(signature):
            raise stranger
        try:
            word = await Token(self.vault, name, setup.webhook_secret).reveal()
        except MidwatchError as error:  # where a secret is stored, and what is wrong there, goes to our log only
            log.warning("a webhook of %s was refused: %s %s", name, error.message, error.hint)
            raise not_accepted from None
        if not genuine(word, body, signature):
            raise stranger
        return is_news(headers.get("x-github-event", "")) and self._heard.new(name, body)

    async def close(self) -> None:
        for client in (*self._left, *(forge.client for _, forge in self._made.values())):
            await client.close()


@dataclass(frozen=True, slots=True)
class Comments:
    """Comments on pull requests at remote forges."""

    forges: ConfiguredForges
    records: Records

    async def comment(self, pull_request: PullRequestRow, text: str) -> None:
        await self.forges.named(pull_request.forge).comment(await place_of(self.records, pull_request), text)
