"""What Claude Code's cases share: its driver, and the shortest way to have it execute a script."""

import json
from typing import Any

from midwatch.crew.drivers.claude.driver import ClaudeDriver
from tests.agents.model import Step
from tests.agents.stage import Played, Stage

DRIVER = ClaudeDriver()
RESET = 4_070_908_800
"""The first second of 2099."""


async def execute(stage: Stage, *steps: Step, decide: Any = None, **brief: Any) -> Played:
    """Lay down the script `job`, and have it executed."""
    stage.model.play("job", *steps)
    return await stage.run(DRIVER, stage.brief("job", **brief), decide)


def sent(stage: Stage, number: int) -> str:
    """Give the whole text of the n-th request."""
    return json.dumps(stage.model.requests("job", main=True)[number - 1].body)
