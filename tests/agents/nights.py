"""Whole nights with real agents behind the real walls, set up as a person would: by settings alone."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from midwatch.journal.events import Event
from midwatch.terms.orders import Limits, OrderedWork, Orders, Permissions
from midwatch.terms.records import JobRow
from midwatch.terms.trust import Isolation, Level
from midwatch.workshop.sandbox.isolation import found
from tests.agents.model import Model, Say, Step, scripted_model
from tests.conftest import missing
from tests.nights.house import EVENING, TestHouse, a_house, sample_repository
from tools.agents import program

PLAN = {
    "summary": "Say good evening.",
    "approach": ["Add evening.py"],
    "files": ["sample/evening.py"],
    "risks": [],
    "checks": [],
    "estimate_files": 1,
    "estimate_lines": 1,
    "estimate_minutes": 5,
    "blast_radius": "One new file.",
    "undo": "Revert the commit.",
}
MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5-codex", "opencode": "gpt-5", "command": "claude-sonnet-4-5"}


@dataclass(frozen=True)
class AgentNight:
    """A night under way, the model it asks, and the repository it works on."""

    house: TestHouse
    model: Model
    source: Path
    agent: str

    async def order(self, **limits: Any) -> None:
        work = OrderedWork(project="sample", title="Say good evening", agent=self.agent)
        given = Limits(**limits) if limits else Limits()
        await self.house.begin(
            Orders(
                level=Level.CAUTIOUS,
                goals=("Be polite",),
                work=(work,),
                limits=given,
                permissions=Permissions(silence_approves=True),
            )
        )

    async def job(self) -> JobRow:
        return (await self.house.house.records.find(JobRow))[-1]

    async def events(self) -> list[Event]:
        return [entry.event for entry in await self.house.house.journal.entries(limit=2000)]

    async def log(self) -> str:
        file = self.house.house.workshop.rooms.log((await self.job()).id, "agent")
        return file.read_text()[-3000:] if file.exists() else ""


@asynccontextmanager
async def agent_night(
    tmp_path: Path,
    agent: str,
    steps: Sequence[Step],
    *,
    more: str = "",
    login: bool = False,
    begins: datetime = EVENING,
) -> AsyncIterator[AgentNight]:
    """Open a house whose settings name one agent, with the model's script laid down as `night`."""
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    source = sample_repository(tmp_path / "sample")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    async with scripted_model() as model:
        secret = tmp_path / "key"
        key = model.play("night", *steps, final=Say("Nothing more."))
        secret.write_text(model.key("night", "sk-ant-oat01-") if login else key)
        secret.chmod(0o600)
        (home / "midwatch.toml").write_text(settings(agent, model, secret, login=login) + more)
        async with a_house(home, begins=begins) as house:
            await house.project(source)
            yield AgentNight(house, model, source, agent)


def settings(agent: str, model: Model, secret: Path, *, login: bool) -> str:
    """What a person writes to have this agent."""
    lines = [f'[secrets]\nmodel = "file:{secret}"', f"[agents.{agent}]", 'secret = "model"']
    lines += [f'model = "{MODELS[agent]}"', f'base_url = "{model.url}"']
    lines += ['credential = "oauth"'] if login else []
    if agent == "command":
        lines += [
            'speaks = "command"',
            'provider = "anthropic"',
            f'program = "{sys.executable}"',
            f"words = {json.dumps(ASKING)}",
        ]
    else:
        lines.append(f'program = "{program(agent)}"')
    return "\n".join(lines) + "\n"


_PROGRAM = """
import json, os, subprocess, sys, urllib.request
prompt = sys.stdin.read()
tools = [{"name": "Bash"}]
body = {"model": "{model}", "max_tokens": 500, "tools": tools, "messages": [{"role": "user", "content": prompt}]}
key = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
while True:
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), key)
    said = json.load(urllib.request.urlopen(request))
    for part in said["content"]:
        if part["type"] == "text":
            print(part["text"], flush=True)
        else:
            subprocess.run(part["input"]["command"], shell=True, check=False)
    if said["stop_reason"] != "tool_use":
        break
    body["messages"].append({"role": "user", "content": "go on"})
"""
ASKING = ["-c", _PROGRAM]
"""The smallest agent there is: it asks the model, runs what it says, and prints its words."""
