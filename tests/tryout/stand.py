"""A night as a person has one: a server, the command line, orders at cautious, and the morning."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midwatch.surfaces.cli.shell import client
from tests.agents.model import Model, Say, model_in_a_thread
from tests.agents.nights import MODELS
from tests.tryout.person import planning, steps
from tests.tryout.trees import Tree
from tools.agents import program

LOOK_SECONDS = 2.0
PLANS = "Plan a change to the repository in the current folder."
"""How a prompt for a plan begins; an agent that is tried again gets the steps of its own conversation."""
PLAN_MINUTES = 1
"""How long a plan waits for an objection here; by default it is twenty minutes."""


class StandFailed(Exception):
    """Why no night could begin, as the sentence a person reads."""


@dataclass(frozen=True)
class Pair:
    """One agent and the tree it works on, as a project of its own."""

    agent: str
    tree: Tree

    @property
    def project(self) -> str:
        return f"{self.tree.name}-{self.agent}"


@dataclass(frozen=True)
class Stand:
    """A server with its data folder; everything is done through the command line or read from the API."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        """The surroundings of a person who has the agents on PATH."""
        path = os.pathsep.join([str(program("claude").parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {**os.environ, "PATH": path, "MIDWATCH_HOME": str(self.home), "NO_COLOR": "1", "COLUMNS": "160"}

    def midwatch(self, *words: str, log: str = "", check: bool = True) -> str:
        """Type a command."""
        command = [sys.executable, "-m", "midwatch", *words]
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        if log:
            (self.folder / log).write_text(said)
        if check and done.returncode:
            raise StandFailed(f"midwatch {' '.join(words)} ended with {done.returncode}:\n{said.strip()}")
        return said

    def read(self, path: str, **query: Any) -> Any:
        """Read from the API."""
        os.environ["MIDWATCH_HOME"] = str(self.home)
        return client.get(path, **query)


@contextmanager
def stand(folder: Path, pairs: Sequence[Pair]) -> Iterator[Stand]:
    """Start a server whose settings name the agents, and a model that leads them."""
    one = Stand(folder)
    one.home.mkdir(mode=0o700)
    with model_in_a_thread() as model:
        (one.home / "midwatch.toml").write_text(settings(one, model, pairs))
        rehearse(model, pairs)
        one.midwatch("up", "--detach")
        try:
            yield one
        finally:
            one.midwatch("down", check=False)
            _keep_requests(model, folder / "requests.jsonl")


def rehearse(model: Model, pairs: Sequence[Pair]) -> None:
    """Lay down what the model says: a script for each pair, found by the words of its order."""
    model.tells = {pair.tree.work.title: pair.tree.name for pair in pairs}
    model.offers = dict.fromkeys(MODELS.values(), 1_790_000_000)
    for agent in {pair.agent for pair in pairs}:
        model.play(agent, final=Say("ready"))
    for pair in pairs:
        name, looks = f"{pair.agent}-{pair.tree.name}", len(planning(pair.agent, pair.tree))
        nothing = Say("There is nothing more.")
        model.play(name, *steps(pair.agent, pair.tree), final=nothing, opening=(PLANS, looks))


def settings(stand: Stand, model: Model, pairs: Sequence[Pair]) -> str:
    """What a person writes: registries and compilers by name, and each agent's model and key."""
    text = f"[asks]\napprove_plan_minutes = {PLAN_MINUTES}\n[server]\nport = 0\n"
    lent = {pair.tree.toolchain for pair in pairs if pair.tree.toolchain}
    text += f'[sandbox]\nsetup_domains = ["pip", "npm"]\ntoolchains = {json.dumps(sorted(lent))}\n'
    secrets, tables = "[secrets]\n", ""
    for agent in sorted({pair.agent for pair in pairs}):
        key = stand.folder / f"{agent}.key"
        key.write_text(model.key(agent))
        key.chmod(0o600)
        secrets += f'{agent} = "file:{key}"\n'
        tables += f'[agents.{agent}]\nsecret = "{agent}"\nmodel = "{MODELS[agent]}"\nbase_url = "{model.url}"\n'
    return text + secrets + tables


def orders(pairs: Sequence[Pair]) -> str:
    """The night's orders: one piece of work for each pair."""
    text = 'level = "cautious"\ngoals = ["Small improvements, each shown by a test"]\n'
    text += "\n[limits]\nminutes = 480\nusd = 40\n"
    text += '\n[permissions]\ntools = ["repo_read", "repo_write_pr"]\nexternal = ["pull_request"]\n'
    text += "silence_approves = true\n"
    for pair in pairs:
        title = json.dumps(pair.tree.work.title)
        text += f'\n[[work]]\nproject = "{pair.project}"\ntitle = {title}\nagent = "{pair.agent}"\n'
    return text


def wait_for_morning(stand: Stand, most_minutes: float) -> dict[str, Any]:
    """Look now and then until the brief is there; a night that takes longer is ended."""
    until = time.monotonic() + most_minutes * 60
    while True:
        night: dict[str, Any] = stand.read("/status")["night"]
        if night["state"] != "autonomous":
            return night
        if time.monotonic() > until:
            stand.midwatch("stop")
            until += 600
        time.sleep(LOOK_SECONDS)


def _keep_requests(model: Model, place: Path) -> None:
    """Keep what the agents asked, for whoever wants to know why one did not work."""
    with place.open("w") as out:
        for asked in model.requests():
            out.write(
                json.dumps({"script": asked.name, "path": asked.path, "main": asked.main, "body": asked.body}) + "\n"
            )
