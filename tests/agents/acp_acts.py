"""What the ACP agent's cases share: its driver, and the shortest way to have it execute a script."""

import json
from typing import Any

from midwatch.crew.drivers.acp.agents import OPENCODE
from midwatch.crew.drivers.acp.driver import AcpDriver
from midwatch.ports.agent import AgentBrief
from tests.agents.model import Step
from tests.agents.stage import Played, Stage

DRIVER = AcpDriver(OPENCODE)


def brief(stage: Stage, **more: Any) -> AgentBrief:
    """Ask for the script `job`; the protocol wants to know the folder."""
    extra = {"folder": str(stage.repository)}
    return stage.brief("job", **({"model": "scripted", "extra": extra} | more))


async def execute(stage: Stage, *steps: Step, decide: Any = None, **more: Any) -> Played:
    """Lay down the script `job`, and have it executed."""
    stage.model.play("job", *steps)
    return await stage.run(DRIVER, brief(stage, **more), decide)


def sent(stage: Stage, number: int) -> str:
    """Give the whole text of the n-th request."""
    return json.dumps(stage.model.requests("job", main=True)[number - 1].body)
