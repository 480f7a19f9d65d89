"""What the tests of the agents share: a sealed network, a stage, and the real programs or no test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.agents.sealed import Sealed, SealingFailed, sealed_network
from tests.agents.stage import Stage, open_stage
from tests.conftest import missing
from tools.agents import program


@pytest.fixture
def sealed() -> Iterator[Sealed]:
    """A network nothing leaves, or no test."""
    try:
        with sealed_network() as network:
            yield network
    except SealingFailed as problem:
        missing("netns", str(problem))


@pytest.fixture
async def stage(tmp_path: Path, sealed: Sealed) -> AsyncIterator[Stage]:
    """A repository, a home and a model for one test; at its end nothing may have looked outside."""
    async with open_stage(tmp_path, sealed) as opened:
        yield opened
    opened.quiet()


def need(name: str) -> None:
    """Go on only where this agent's program is installed."""
    if not program(name).exists():
        missing("agents", f"{name} is not at {program(name)}; `python3 tools/agents.py` brings it")


@pytest.fixture(scope="session")
def claude() -> None:
    """The real Claude Code, or no test."""
    need("claude")


@pytest.fixture(scope="session")
def codex() -> None:
    """The real Codex, or no test."""
    need("codex")


@pytest.fixture(scope="session")
def opencode() -> None:
    """The real opencode, or no test."""
    need("opencode")
