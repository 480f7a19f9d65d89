"""What the command line finds out about this machine by itself, with or without a server."""

import logging
from collections.abc import Mapping
from pathlib import Path

from midwatch.channels.by_apprise import AppriseOutlet, look_at
from midwatch.compose.forges import Token
from midwatch.compose.house import House
from midwatch.engine.clocks import ScaledClock, SystemClock
from midwatch.errors import MidwatchError
from midwatch.forges.github.addresses import API
from midwatch.forges.github.asking import GitHubClient
from midwatch.gateway.redaction.redactor import RedactingFilter
from midwatch.gateway.vault import Vault
from midwatch.ports.channel import Destination
from midwatch.ports.clock import Clock
from midwatch.settings import Settings, secret_references
from midwatch.settings.derived import channel_secret, secret_files
from midwatch.terms.secrets import SecretReference
from midwatch.workshop.git.git import Git
from midwatch.workshop.sandbox.disk import weigh
from midwatch.workshop.sandbox.isolation import lendable, stand
from midwatch.workshop.sandbox.walls.probe import IsolationFound
from midwatch.workshop.upkeep import machine

HERE = "this terminal's environment, and the server needs it in its own"
"""Where a secret named as `env:NAME` is looked for by the command line itself."""


def free_memory() -> int:
    return machine.free_memory()


def free_disk(folder: Path) -> int:
    """Return the free bytes on a folder's disk."""
    return machine.free_disk(folder)


def sleep_risk() -> machine.SleepRisk:
    return machine.sleep_risk()


def walls_here(wanted: str) -> IsolationFound:
    """Try which sandbox can be built here."""
    return stand(wanted)


def not_lent(home: Path, settings: Settings) -> dict[str, str]:
    """Say which toolchains of the settings no job gets, and why."""
    tried = {name: lendable(home, (name,), secret_files(settings))[1] for name in settings.sandbox.toolchains}
    return {name: f"{left_out[0].message} {left_out[0].hint}" for name, left_out in tried.items() if left_out}


def kept_bytes(folder: Path) -> int:
    """Measure the size of the checkouts that are kept."""
    return weigh(folder.resolve()).bytes


async def unreadable(references: Mapping[str, SecretReference]) -> dict[str, MidwatchError]:
    """Fetch secrets as the server will; return which are missing, never their values."""
    return dict(await Vault(references, whose=HERE).unlock())


def keep_secrets_out_of_logs(house: House, *handlers: logging.Handler) -> None:
    for handler in handlers:
        handler.addFilter(RedactingFilter(house.redactor))


async def ask_forge(settings: Settings, name: str) -> int:
    """Ask a forge for our account, as the server will; return the status, 200 if the token works."""
    setup = settings.forges.by_name()[name]
    token = Token(Vault(secret_references(settings), whose=HERE), name, setup.secret)
    client = GitHubClient(name, token, SystemClock(), setup.base_url or API)
    try:
        answer = await client.ask("GET", "/rate_limit")
    finally:
        await client.close()
    return 200 if answer.good else answer.status


def read_channel(url: str) -> Destination:
    """Ask Apprise what service a URL is; raise if it is none."""
    return look_at(url)


async def read_channel_secret(name: str, reference: SecretReference) -> Destination:
    """Fetch a channel's URL from its store, and ask Apprise what service it is."""
    return read_channel((await Vault({name: reference}, whose=HERE).secret(name)).reveal())


async def push_from_here(settings: Settings, channel: str, title: str, text: str) -> None:
    """Send one message from this process."""
    vault = Vault(secret_references(settings), whose=HERE)

    async def address(name: str) -> str:
        return (await vault.secret(channel_secret(name))).reveal()

    outlet = AppriseOutlet(address, lambda: settings)
    try:
        await outlet.push(channel, title, text)
    finally:
        outlet.close()


def fast_clock(file: Path, *, scale: float) -> Clock:
    """Make a clock that runs `scale` times as fast and keeps its time in a file."""
    return ScaledClock.kept(file, scale=scale)


async def commit_everything(folder: Path, message: str) -> None:
    git = Git()
    identity = ("-c", "user.name=You", "-c", "user.email=you@example.com", "-c", "commit.gpgsign=false")
    await git.run(folder, "init", "-q", "-b", "main")
    await git.run(folder, "add", "-A")
    await git.run(folder, *identity, "commit", "-q", "-m", message)
