"""The matrix: cases that each agent must pass, run by pytest one by one and by `make agents` as a whole.

Cases live in modules named `<something>_cases.py` beside this file and are found by that name:

    from tests.agents.cases import case

    @case("codex", "plan")
    async def plan(stage: Stage) -> None: ...           # asserts; raises where something is wrong

and `test_<agent>_cli.py` runs them under pytest: `@pytest.mark.parametrize("case", cases_of("codex"))`.
"""

import importlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.agents.sealed import Sealed
from tests.agents.stage import Stage, open_stage

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


ALWAYS = (
    *("plan with structured", "deny", "told beside", "ask, held", "edit and commit", "resume by conversation"),
    *("401 credential", "usage limit", "ceiling"),
)


def cases_of(agent: str, *, always: tuple[str, ...] = ALWAYS, sample: int = 2) -> list[ParameterSet]:
    """Give one agent's cases as parameters: some always, some of the rest by seed, and all of them in a sweep."""
    mine = [one for one in find() if one.agent == agent]
    rest = [one for one in mine if not any(word in one.name for word in always)]
    chosen = random.Random(f"{agent} 4").sample(rest, min(sample, len(rest)))  # noqa: S311 - the same every time
    left = [one for one in rest if one not in chosen]
    return [pytest.param(one, id=one.name, marks=[pytest.mark.sweep] if one in left else []) for one in mine]
