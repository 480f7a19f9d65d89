"""The matrix: cases that each agent must pass, run by pytest one by one and by `make agents` as a whole.

Cases live in modules named `<something>_cases.py` beside this file and are found by that name:

    from tests.agents.cases import case

    @case("codex", "plan")
    async def plan(stage: Stage) -> None: ...           # asserts; raises where something is wrong

and `test_<agent>_cli.py` runs them under pytest: `@pytest.mark.parametrize("case", cases_of("codex"))`.
"""

import importlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from _pytest.mark.structures import ParameterSet

from tests.agents.sealed import Sealed
from tests.agents.stage import Stage, open_stage
from tests.walks import walk

Act = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """One agent, one thing that happens to it."""

    agent: str
    name: str
    act: Act
    files: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    async def run(self, folder: Path, sealed: Sealed) -> None:
        """Play it; also when everything went well, nothing may have looked outside."""
        async with open_stage(folder, sealed, self.files) as stage:
            await self.act(stage)
        stage.quiet()


CASES: list[Case] = []


def case(agent: str, name: str, files: Mapping[str, str] | None = None) -> Callable[[Act], Act]:
    """Enter a case into the matrix."""

    def enter(act: Act) -> Act:
        CASES.append(Case(agent, name, act, files or {}))
        return act

    return enter


def find() -> list[Case]:
    """Import every agent's cases, and give them all."""
    for path in sorted(Path(__file__).parent.glob("*_cases.py")):
        importlib.import_module(f"tests.agents.{path.stem}")
    return CASES


TESTED = {
    "claude": (
        *("plan with structured output", "deny, then allow", "told beside a call", "ask, held, then allowed"),
        *("edit and commit", "resume by conversation", "401 credential refused", "usage limit with reset"),
        *("ceiling in mid-stream", "as many turns as it may", "SIGKILL in the middle, then resumed"),
    ),
    "codex": (
        *("plan with structured output", "deny, then allow", "told beside a call", "ask, held, then allowed"),
        *("edit and commit", "resume by conversation", "401 credential refused", "usage limit with reset"),
        *("ceiling in mid-stream", "SIGKILL in the middle, then resumed", "a question for the person has no answer"),
        *("exec: edit and commit, nobody is asked", "exec: resume by conversation", "exec: 401 credential refused"),
        "exec: usage limit",
    ),
    "opencode": ("deny ends its turn, is explained, then allow", "a repository with settings of its own"),
    "command": (
        *("prompt on stdin", "prompt in a file", "plan with structured output", "the exit code is the outcome"),
        "SIGKILL and stop in the middle",
    ),
}
"""What `make test` plays with each agent: talk, decisions, the commonest faults. `make agents` plays all.

opencode needs six seconds of processor to start: its night in test_crew_nights plans, resumes, is denied and commits.
"""


def cases_of(agent: str) -> list[ParameterSet]:
    """Give one agent's cases as parameters; of a long list `make test` runs the fixed part above."""
    mine = [one for one in find() if one.agent == agent]
    return walk(mine, TESTED[agent], name=lambda one: one.name)
