"""Real agents: how long until the model has their first request, and their whole errand, through us beside direct."""

import asyncio
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.figure import Figure, NotMeasured
from bench.model_doors import serving
from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.ports.agent import AgentBrief, Driver, Launch
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, Outcome, RunEnded
from tests.agents.model import FOREVER, Model, Say, scripted_model
from tests.agents.plain_talk import PlainTalk
from tests.gateway.metering.night import JOBS, Elsewhere
from tools.agents import program

RUNS = 5
PATIENCE = 60.0
BAR_MS = 250.0
"""An agent takes seconds to wake up, give or take more than a door ever adds."""
AGENTS: tuple[tuple[Driver, str, str], ...] = (
    (ClaudeDriver(), "anthropic", "claude-sonnet-4-5"),
    (CodexDriver(), "openai", "gpt-5"),
)


async def _decide(tool: str, given: Mapping[str, Any]) -> Decision:  # noqa: ARG001 - whatever it is
    return Decision(allowed=True, why="Nothing is asked for.")


async def _tell(event: AgentEvent) -> None: ...


async def _errand(driver: Driver, model: Model, brief: AgentBrief) -> tuple[float, float]:
    """Run one errand in a fresh home; give the seconds to the model's first request, and to the end."""
    model.play(JOBS[0], Say("Hello.", times=FOREVER), every=True)
    launch = driver.launch(brief, str(program(driver.name)))
    with TemporaryDirectory(dir="/tmp") as folder:
        repository = _prepared(Path(folder), launch)
        plain = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
        argv = ("env", "-C", str(repository), *launch.argv)
        began = time.perf_counter()
        talk = await PlainTalk.begin(argv, plain | dict(launch.environment))
        leading = asyncio.create_task(driver.drive(talk, brief, _decide, _tell))
        try:
            async with asyncio.timeout(PATIENCE):
                await _first_request(model, leading)
                first = time.perf_counter() - began
                ended = await leading
                whole = time.perf_counter() - began
        except TimeoutError:
            heard = b"".join(talk.heard[-3:]).decode(errors="replace")
            raise NotMeasured(f"{driver.name} was not done after {PATIENCE:.0f} s. It last said: {heard}") from None
        finally:
            leading.cancel()
            await talk.clear()
        if ended.outcome is not Outcome.OK:
            raise NotMeasured(f"{driver.name} ended with {ended.outcome}: {ended.why}")
        return first, whole


async def _first_request(model: Model, leading: asyncio.Task[RunEnded]) -> None:
    """Wait for it, or for the end of an agent that never got so far: it would be refused on its way to the model."""
    asked = asyncio.create_task(model.asked(JOBS[0]))
    try:
        await asyncio.wait({asked, leading}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()


def _prepared(home: Path, launch: Launch) -> Path:
    """Lay down what the agent wants at home, and give it a repository to work in."""
    for name, content in launch.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content)
    repository = home / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    return repository


async def _measured(driver: Driver, provider: str, named: str) -> Figure:
    async with scripted_model() as model:
        at = Elsewhere(int(model.url.rpartition(":")[2]), provider, named)
        async with serving(at) as (doors, _):
            url, key = doors[JOBS[0]]
            ways = {"straight": (model.address(JOBS[0]), "sk-ant-api03-nothing"), "through": (url, key)}
            took: dict[str, list[tuple[float, float]]] = {"straight": [], "through": []}
            for turn in range(RUNS + 1):
                for way, (base, shown) in ways.items():
                    access = Access(base_url=base, placeholder=shown)
                    done = await _errand(driver, model, AgentBrief(Errand.EXECUTE, "Say hello.", named, access))
                    took[way] += [done] if turn else []  # the first reads the program from the disk
    first = {way: min(one[0] for one in runs) for way, runs in took.items()}
    whole = {way: min(one[1] for one in runs) for way, runs in took.items()}
    added = (first["through"] - first["straight"]) * 1000
    return Figure(
        f"{driver.name}, first request through us",
        f"{first['through']:.2f} s ({added:+.0f} ms), errand {whole['through']:.2f} s",
        f"{first['straight']:.2f} s straight, errand {whole['straight']:.2f} s",
        f"< {BAR_MS:.0f} ms added",
        added < BAR_MS,
    )


async def run() -> list[Figure]:
    """Measure every agent whose program is here; the least of several runs, since others only ever add to it."""
    return [await _measured(*one) for one in AGENTS if os.access(program(one[0].name), os.X_OK)]
