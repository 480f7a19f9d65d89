"""What Codex's cases share: its driver, and the shortest way to have it execute a script."""

import json
from typing import Any

from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.ports.agent import AgentBrief
from tests.agents.model import Fault, Step
from tests.agents.stage import Played, Stage

DRIVER = CodexDriver()
RESET = 4_070_908_800
"""The first second of 2099."""


def brief(stage: Stage, **more: Any) -> AgentBrief:
    """Ask for the script `job`, of a model that Codex knows."""
    return stage.brief("job", **({"model": "gpt-5.5"} | more))


async def execute(stage: Stage, *steps: Step, decide: Any = None, **more: Any) -> Played:
    """Lay down the script `job`, and have it executed."""
    stage.model.play("job", *steps)
    return await stage.run(DRIVER, brief(stage, **more), decide)


def sent(stage: Stage, number: int) -> str:
    """Give the whole text of the n-th request."""
    return json.dumps(stage.model.requests("job", main=True)[number - 1].body)


def used_up(resets_at: int) -> Fault:
    """Refuse as OpenAI does when a subscription's window is used up."""
    headers = {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(resets_at),
        "x-codex-secondary-used-percent": "40",
        "x-codex-secondary-window-minutes": "10080",
        "x-codex-secondary-reset-at": str(resets_at + 86_400),
    }
    return Fault(429, "The usage limit has been reached", headers, kind="usage_limit_reached")
